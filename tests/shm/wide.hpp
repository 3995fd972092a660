// A value of several cache lines that detects a torn copy.
#pragma once

#include <array>
#include <cstdint>

#include "takt/core/fields.hpp"

namespace takt::test {

struct Wide {
  std::array<std::uint64_t, 20> words{};

  TAKT_FIELDS(Wide, words)
  static Wide of(std::uint64_t value) {
    Wide wide;
    wide.words.fill(value);
    return wide;
  }
  [[nodiscard]] bool whole() const { return words == of(words[0]).words; }
};

}  // namespace takt::test
