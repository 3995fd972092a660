// How a fuzz target says that something is wrong.
#pragma once

#include <cstdlib>

namespace takt::test {

/// Ends the program, as a fuzzer expects it of a failure.
inline void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace takt::test
