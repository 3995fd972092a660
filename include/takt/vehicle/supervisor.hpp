// The supervisor decides whether a vehicle may be driven, and with which command. It is the state machine
// between the commander and the wire.
//
// * starting -> ready: all required systems run.
// * ready -> driving: drive().
// * ready -> stopping: stop(), or a cause for a stop.
// * driving -> stopping: the same, or no new command within the command timeout.
// * stopping -> stopped: the vehicle stands. Back if it moves again.
// * stopped -> ready: recover().
//
// In the states starting and ready the full brake holds the vehicle; only a command releases it. A command
// lasts until the next one, and at most for the command timeout. A stop is latched (emergency_stop.hpp). Only
// recover() ends it, while the vehicle is known to stand and no cause remains. stop() may be called in any
// state.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string_view>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/vehicle/emergency_stop.hpp"
#include "takt/vehicle/error.hpp"
#include "takt/vehicle/stop_cause.hpp"
#include "takt/vehicle/twist_law.hpp"

namespace takt::vehicle {

/// The state of the supervisor; see above. The numbers are part of the C API.
enum class SupervisorState : std::uint8_t { starting = 0, ready = 1, driving = 2, stopping = 3, stopped = 4 };

/// The word for people. Real-time safe.
[[nodiscard]] constexpr std::string_view to_string(SupervisorState state) noexcept {
  switch (state) {
    case SupervisorState::starting:
      return "starting";
    case SupervisorState::ready:
      return "ready";
    case SupervisorState::driving:
      return "driving";
    case SupervisorState::stopping:
      return "stopping";
    case SupervisorState::stopped:
      return "stopped";
  }
  return "unknown";
}

/// The limits of a command. The supervisor reduces a larger command to them, and counts it.
struct DriveLimits {
  double steering = 0.5;  ///< rad to each side, above 0 and below pi/2
  double throttle = 1;    ///< 0..1 forwards
  double reverse = 1;     ///< 0..1 backwards
};

/// Counters since the start.
struct DriveCounters {
  std::uint64_t commands = 0;          ///< accepted commands
  std::uint64_t limited = 0;           ///< of these, commands that were reduced to the limits
  std::uint64_t refused = 0;           ///< invalid commands, and commands in a state without driving
  std::uint64_t command_timeouts = 0;  ///< stops by the command timeout
  std::uint64_t stops = 0;             ///< all stops

  friend constexpr bool operator==(const DriveCounters&, const DriveCounters&) = default;
};

/// A value; every function is real-time safe. Times: see StampOrder.
class DriveSupervisor {
 public:
  /// The parameters of the supervisor.
  struct Configuration {
    DriveLimits limits{};
    /// A command without a successor within this time stops the vehicle. Above zero, at most an hour.
    Duration command_timeout = std::chrono::milliseconds(200);
    StopCategory on_command_timeout = StopCategory::category_1;
    StopCategory on_fault = StopCategory::category_1;  ///< a fault of the vehicle or of its connection
    EmergencyStop::Configuration stop{};
  };

  /// Checks the configuration. Errors: not_finite; out_of_range (limits or command_timeout); those of
  /// EmergencyStop::make().
  [[nodiscard]] static Result<DriveSupervisor> make(const Configuration& c) noexcept {
    for (const double limit : {c.limits.steering, c.limits.throttle, c.limits.reverse}) {
      if (!std::isfinite(limit)) return fail(Errc::not_finite);
      if (limit < 0) return fail(Errc::out_of_range);
    }
    if (!(c.limits.steering > 0 && c.limits.steering < std::numbers::pi / 2) || c.limits.throttle > 1 ||
        c.limits.reverse > 1 || c.command_timeout <= Duration(0) || c.command_timeout > std::chrono::hours(1))
      return fail(Errc::out_of_range);
    const auto stop = EmergencyStop::make(c.stop);
    if (!stop) return fail(stop.error());
    return DriveSupervisor(c, *stop);
  }

  /// Advances the state; call it every cycle. Argument `wrong`: the present cause for a stop, or
  /// StopCause::none. Argument `speed`: m/s, or nothing if unknown.
  void update(StopReason wrong, std::optional<double> speed, Time now) noexcept {
    if (stop_.active()) {
      command_ = stop_.step(speed, now);
      state_ = stop_.standing() ? SupervisorState::stopped : SupervisorState::stopping;
    } else if (state_ == SupervisorState::starting) {
      if (wrong.cause == StopCause::none) state_ = SupervisorState::ready;
    } else if (wrong.cause != StopCause::none) {
      begin(c_.on_fault, wrong, now);
    } else if (state_ == SupervisorState::driving && now - commanded_ > c_.command_timeout) {
      ++counters_.command_timeouts;
      begin(c_.on_command_timeout, {StopCause::command_timeout, {}}, now);
    }
  }

  /// Drives with this command from now on. Errors:
  /// - not_finite;
  /// - out_of_range: steering beyond a quarter turn, throttle beyond -1..1, or brake beyond 0..1;
  /// - both_pedals: throttle and brake at once;
  /// - not_ready; stopped (call recover() first).
  ///
  /// On error nothing changes: the last command stays, and its age grows.
  Status drive(const DriveCommand& command, Time now) noexcept {
    if (const Status fit = judge(command); !fit) {
      ++counters_.refused;
      return fit;
    }
    const DriveCommand allowed = limited(command);
    ++counters_.commands;
    if (allowed != command) ++counters_.limited;
    command_ = allowed;
    commanded_ = now;
    state_ = SupervisorState::driving;
    return {};
  }

  /// Stops the vehicle. During a stop only a more urgent category has an effect, and the first cause stays.
  void stop(StopCategory category, Time now, StopCause cause = StopCause::requested) noexcept {
    begin(category, {cause, {}}, now);
  }

  /// Ends a stop. The vehicle is then ready, and the full brake holds it until the next command. Errors:
  /// cause_remains, not_standing. In other states it does nothing.
  Status recover(StopReason wrong) noexcept {
    if (!stop_.active()) return {};
    if (wrong.cause != StopCause::none) return fail(Errc::cause_remains);
    if (const Status ended = stop_.recover(); !ended) return ended;
    command_ = {command_.steering, 0, 1};
    reason_ = {};
    state_ = SupervisorState::ready;
    return {};
  }

  /// The present state.
  [[nodiscard]] SupervisorState state() const noexcept { return state_; }
  /// The reason of the active stop.
  [[nodiscard]] StopReason reason() const noexcept { return reason_; }
  /// The category of the active stop; nothing without a stop.
  [[nodiscard]] std::optional<StopCategory> category() const noexcept { return stop_.category(); }
  /// The present command to the vehicle. It is within the limits, and never has throttle and brake at once.
  [[nodiscard]] const DriveCommand& command() const noexcept { return command_; }
  /// Confirms that the present command was sent. A stop continues from the last sent command.
  void told() noexcept { told_ = command_; }
  /// The counters since the start.
  [[nodiscard]] const DriveCounters& counters() const noexcept { return counters_; }

 private:
  DriveSupervisor(const Configuration& c, const EmergencyStop& stop) noexcept : c_(c), stop_(stop) {}

  [[nodiscard]] Status judge(const DriveCommand& command) const noexcept {
    for (const double number : {command.steering, command.throttle, command.brake})
      if (!std::isfinite(number)) return fail(Errc::not_finite);
    if (std::abs(command.steering) > std::numbers::pi / 2 || std::abs(command.throttle) > 1 ||
        command.brake < 0 || command.brake > 1)
      return fail(Errc::out_of_range);
    if (command.throttle != 0 && command.brake != 0) return fail(Errc::both_pedals);
    if (stop_.active()) return fail(Errc::stopped);
    if (state_ == SupervisorState::starting) return fail(Errc::not_ready);
    return {};
  }

  [[nodiscard]] DriveCommand limited(const DriveCommand& command) const noexcept {
    return {std::clamp(command.steering, -c_.limits.steering, c_.limits.steering),
            std::clamp(command.throttle, -c_.limits.reverse, c_.limits.throttle), command.brake};
  }

  void begin(StopCategory category, StopReason reason, Time now) noexcept {
    if (!stop_.active()) {
      ++counters_.stops;
      reason_ = reason;
      state_ = SupervisorState::stopping;
    }
    if (stop_.trigger(category, told_, now)) command_ = stop_.command();
  }

  Configuration c_;
  EmergencyStop stop_;
  SupervisorState state_ = SupervisorState::starting;
  StopReason reason_;
  DriveCommand command_{0, 0, 1};
  DriveCommand told_ = command_;
  Time commanded_{};
  DriveCounters counters_;
};

}  // namespace takt::vehicle
