// When a time limit of a caller ends.
#pragma once

#include <algorithm>
#include <chrono>

#include "takt/core/time.hpp"

namespace takt::platform::detail {

/// A limit that is too long to be added to a time is 31 years; one below zero is none.
[[nodiscard]] inline Time deadline_after(Time now, Duration limit) noexcept {
  constexpr Duration longest = std::chrono::seconds(1'000'000'000);
  return now + std::clamp(limit, Duration(0), longest);
}

}  // namespace takt::platform::detail
