// A planted mistake: uses std::array without including it. It must not compile alone.
#pragma once

inline std::array<int, 3> leans_on_its_includer() { return {1, 2, 3}; }
