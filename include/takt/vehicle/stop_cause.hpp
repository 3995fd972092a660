// Why a vehicle was stopped, or cannot start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "takt/vehicle/systems.hpp"

namespace takt::vehicle {

/// Why a vehicle was stopped, or cannot start. The numbers are part of the C API.
enum class StopCause : std::uint8_t {
  none = 0,
  requested = 1,           ///< the program requested it
  command_timeout = 2,     ///< no new command came in time
  disconnected = 3,        ///< the channel has no session with the vehicle
  telemetry_silent = 4,    ///< no status frame that is fresh enough
  system_stale = 5,        ///< no fresh block of a required system
  system_not_running = 6,  ///< a required system is cold, starting or halted
  clock_went_back = 7,     ///< the caller's clock: the age of all data is unknown
  speed_contradicted = 8,  ///< the vehicle's speed contradicts its wheels: the speed is unknown
};
/// The number of causes.
inline constexpr std::size_t stop_causes = 9;

/// The text for people, without a final period. Real-time safe.
[[nodiscard]] constexpr std::string_view to_string(StopCause cause) noexcept {
  switch (cause) {
    case StopCause::none:
      return "none";
    case StopCause::requested:
      return "stop requested";
    case StopCause::command_timeout:
      return "no new command in time";
    case StopCause::disconnected:
      return "no session with the vehicle";
    case StopCause::telemetry_silent:
      return "the vehicle is silent";
    case StopCause::system_stale:
      return "a required system is silent";
    case StopCause::system_not_running:
      return "a required system is not running";
    case StopCause::clock_went_back:
      return "the clock went backwards";
    case StopCause::speed_contradicted:
      return "the vehicle's speed contradicts the speeds of its wheels";
  }
  return "unknown";
}

/// A cause, and the system that it concerns.
struct StopReason {
  StopCause cause = StopCause::none;
  System system{};  ///< of the system_… causes

  friend constexpr bool operator==(const StopReason&, const StopReason&) = default;
};

}  // namespace takt::vehicle
