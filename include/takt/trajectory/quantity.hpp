// The quantities of motion that limits and tolerances apply to.
#pragma once

#include <cstdint>
#include <string_view>

namespace takt::trajectory {

/// A quantity of a motion that has a limit.
enum class Quantity : std::uint8_t { position, velocity, acceleration, jerk };

/// The name for messages. Real-time safe.
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
