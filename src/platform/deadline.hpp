// Converts a timeout to a deadline.
#pragma once

#include <algorithm>
#include <chrono>

#include "takt/core/time.hpp"

namespace takt::platform::detail {

/// `now` plus `limit`. A limit too long for the sum becomes 31 years; a negative one becomes 0.
[[nodiscard]] inline Time deadline_after(Time now, Duration limit) noexcept {
  constexpr Duration longest = std::chrono::seconds(1'000'000'000);
  return now + std::clamp(limit, Duration(0), longest);
}

}  // namespace takt::platform::detail
