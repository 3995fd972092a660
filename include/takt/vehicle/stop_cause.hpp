// Why a vehicle was stopped, or may not start.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/vehicle/systems.hpp"

namespace takt::vehicle {

/// Numbers are part of the C API.
enum class StopCause : std::uint8_t {
  none = 0,
  told = 1,                ///< somebody asked for it
  command_timeout = 2,     ///< no new command came in time
  disconnected = 3,        ///< the channel has no session with the vehicle
  telemetry_silent = 4,    ///< the vehicle says nothing, or nothing that is still true
  system_stale = 5,        ///< of a required system nothing was heard for too long
  system_not_running = 6,  ///< a required system is cold, starting or halted
  clock_went_back = 7,     ///< the caller's: nobody knows how old anything is
  speed_contradicted = 8,  ///< the vehicle's speed and its wheels are at odds: nobody knows how fast it is
};

/// For people. Real-time safe.
[[nodiscard]] constexpr std::string_view to_string(StopCause cause) noexcept {
  switch (cause) {
    case StopCause::none:
      return "none";
    case StopCause::told:
      return "told to stop";
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
      return "the clock went back";
    case StopCause::speed_contradicted:
      return "the vehicle's speed is not that of its wheels";
  }
  return "unknown";
}

struct StopReason {
  StopCause cause = StopCause::none;
  System system{};  ///< of a cause that is a system's

  friend constexpr bool operator==(const StopReason&, const StopReason&) = default;
};

}  // namespace takt::vehicle
