// A type for tests of shared memory: a reference, with its schema.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/shm/schema.hpp"

namespace takt::test {

struct Reference {
  double position[2]{};
  std::int64_t stamp = 0;
  std::uint8_t mode = 0;

  TAKT_FIELDS(Reference, position, stamp, mode)
};

}  // namespace takt::test
