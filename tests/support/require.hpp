// The failure check of fuzz targets.
#pragma once

#include <cstdlib>

namespace takt::test {

/// Ends the program on failure, as a fuzzer expects.
inline void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace takt::test
