// What of a motion a limit or a tolerance is about.
#pragma once

#include <cstdint>
#include <string_view>

namespace takt::trajectory {

enum class Quantity : std::uint8_t { position, velocity, acceleration, jerk };

/// The word for people. Real-time safe.
[[nodiscard]] constexpr std::string_view quantity_name(Quantity quantity) noexcept {
  switch (quantity) {
    case Quantity::position:
      return "position";
    case Quantity::velocity:
      return "velocity";
    case Quantity::acceleration:
      return "acceleration";
    case Quantity::jerk:
      return "jerk";
  }
  return "unknown";
}

}  // namespace takt::trajectory
