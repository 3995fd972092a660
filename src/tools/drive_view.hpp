// The vehicle's state at one moment, as known to its driver, and its text for a terminal or a log.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "takt/core/time.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/vehicle/client.hpp"
#include "takt/vehicle/stop_cause.hpp"
#include "takt/vehicle/supervisor.hpp"
#include "takt/vehicle/systems.hpp"
#include "takt/vehicle/telemetry.hpp"
#include "takt/vehicle/twist_law.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

namespace takt::tools {

struct DriveView {
  Time time{};  ///< of the system's steady clock
  vehicle::SupervisorState state = vehicle::SupervisorState::starting;
  vehicle::StopReason reason{};
  std::string_view system{};       ///< of a cause that is a system, with its name in the vehicle's layouts
  bool halted = false;             ///< that system has halted, until recovery
  Duration age = Duration::max();  ///< of the last received telemetry; Duration::max(): none
  vehicle::OdometryEstimate estimate{};
  mobile::Twist commanded{};  ///< by keys or the script; zero while nothing is driven
  vehicle::DriveCommand command{};
  std::optional<double> speed{};     ///< m/s, as reported; std::nullopt if too old
  std::optional<double> steering{};  ///< rad, likewise
  std::optional<double> charge{};    ///< of the battery, 0..1, likewise
  vehicle::ClientCounters sent{};
  vehicle::TelemetryCounters heard{};
};

/// Real-time safe.
template <class Drive>
[[nodiscard]] DriveView view_of(const Drive& drive, Time now) noexcept {
  const auto& client = drive.client();
  const auto& telemetry = client.telemetry();
  DriveView view{.time = now,
                 .state = client.state(),
                 .reason = client.reason(),
                 .age = telemetry.age(now),
                 .estimate = drive.estimate(),
                 .command = client.command(),
                 .sent = client.counters(),
                 .heard = telemetry.counters()};
  const bool of_a_system = view.reason.cause == vehicle::StopCause::system_stale ||
                           view.reason.cause == vehicle::StopCause::system_not_running;
  const auto* const layout = telemetry.last().layouts().find(view.reason.system);
  if (of_a_system && layout != nullptr) view.system = layout->name;
  view.halted = view.reason.cause == vehicle::StopCause::system_not_running &&
                telemetry.state(view.reason.system) == vehicle::SystemState::halted;
  if (const auto traction = telemetry.fresh_traction(now)) view.speed = client.units().speed(*traction);
  if (const auto steering = telemetry.fresh_steering(now)) view.steering = client.units().angle(*steering);
  if (const auto battery = telemetry.fresh_battery(now))
    view.charge = client.units().reading(*battery).charge;
  return view;
}

/// Age in s; infinite without telemetry.
[[nodiscard]] double seconds_old(const DriveView& view);

/// "stopped: the vehicle is silent"; a system is named. If no key helps, it tells what to do.
[[nodiscard]] std::string situation_text(const DriveView& view);

/// The vehicle's state in one line. The most important stands first: the end is cut off at `columns`.
[[nodiscard]] std::string live_line(const DriveView& view, std::size_t columns);

/// The columns of the log, comma-separated; it has one line for each cycle.
inline constexpr std::string_view drive_log_columns =
    "time,state,cause,age_ms,x,y,heading,speed,rotation,commanded_speed,commanded_rotation,steering,throttle,"
    "brake,sent,taken,lost,late,duplicated,malformed,refused\n";
[[nodiscard]] std::string log_line(const DriveView& view);

}  // namespace takt::tools
