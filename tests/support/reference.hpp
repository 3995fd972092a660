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
  std::uint8_t unused[7]{};
};

}  // namespace takt::test

template <>
struct takt::shm::Schema<takt::test::Reference> {
  static constexpr std::string_view text = "position f64[2], stamp i64, mode u8, _ u8[7]";
};
