// The electronics of a simulated vehicle. They start it up, make its pedals follow the control frames, stop
// it when the frames end, and report all its systems. Time passes in whole milliseconds, and only in
// advance() and obey(). The behaviour depends on these calls alone. Real-time safe: an advance takes time in
// proportion to its length, at most one hour.
//
//   COLD --> INIT --> RUNNING --> HALTED        no frames, or the battery is empty
//              ^-------recover()-----+
//
// COLD lasts for the time in the options. INIT lasts until the hydraulics have pressure, all corners are at
// ride height, the forks are in, and the vehicle stands. In RUNNING the vehicle obeys frames, but it drives
// only after a frame without throttle. A stop counts as one, unless it is outdated. In every other state, and
// before the first frame, the brakes are on, the throttle is off, and the steering does not move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/secure/channel.hpp"
#include "takt/sim/vehicle_auxiliaries.hpp"
#include "takt/sim/vehicle_plant.hpp"
#include "takt/vehicle/control_frame.hpp"
#include "takt/vehicle/status_frame.hpp"
#include "takt/vehicle/systems.hpp"
#include "takt/vehicle/twist_law.hpp"
#include "takt/vehicle/units.hpp"

namespace takt::sim {

/// The period of status frames and of wheel-speed measurements.
inline constexpr Duration status_period{10'000'000};

/// Options of a simulated vehicle.
struct VehicleOptions {
  VehicleParameters plant{};                                         ///< its wheelbase is required
  vehicle::Units::Configuration units = vehicle::provisional_units;  ///< of the frames' counts
  /// Of the status frames; not null, and must outlive the vehicle. The status has only the systems and fields
  /// in it. Of a system that no Furbot has, it reports the state alone.
  const vehicle::Layouts* layouts = &vehicle::furbot_layouts;
  mobile::Pose start{};                   ///< initial pose
  double charge = 0.8;                    ///< of its battery, 0..1
  Duration command_timeout{200'000'000};  ///< it halts after this time without a control frame
  Duration cold{200'000'000};             ///< duration of COLD
};

/// Counters of control frames, from the start on.
struct VehicleCounters {
  std::uint64_t obeyed = 0;     ///< control frames that steering and pedals follow
  std::uint64_t held = 0;       ///< not RUNNING, or no frame without throttle yet
  std::uint64_t outdated = 0;   ///< not newer than an earlier frame: overtaken, or sent twice
  std::uint64_t overruled = 0;  ///< by a stop, until the vehicle stands
  std::uint64_t timeouts = 0;   ///< halts by command timeout
};

/// The controller with its plant and auxiliaries. Copyable.
class VehicleController {
 public:
  /// Creates a vehicle that starts up at `start`. Errors: bad_vehicle (those of VehiclePlant::make(); a
  /// charge outside 0..1; a time that is not positive), and those of Units::make().
  [[nodiscard]] static Result<VehicleController> make(const VehicleOptions& options, Time start) noexcept;

  /// Handles a control frame received at `now`. An ordinary frame counts if it is newer than all others since
  /// the last halt. A frame that asks for a stop counts even if it is older. From then on no ordinary frame
  /// counts until the vehicle stands.
  void obey(const vehicle::ControlFrame& frame, secure::Urgency urgency, Time now) noexcept;

  /// Lets time pass; a time in the past changes nothing. If it is more than an hour ahead, only the last hour
  /// is simulated.
  void advance(Time to) noexcept {
    to = within_reach(to);
    if (to - now_ > longest_advance) now_ += (to - now_ - longest_advance) / status_period * status_period;
    while (to - now_ >= vehicle_period) tick();
  }

  /// Lets the vehicle start again, as a person at the vehicle would. No effect unless it is HALTED.
  void recover() noexcept {
    if (state_ == vehicle::SystemState::halted) state_ = vehicle::SystemState::init;
  }

  /// Sets the failed systems; it replaces the set of the last call. They report HALTED. A failed traction
  /// gives no throttle. Failed steering does not move. Failed hydraulics apply the brakes by springs. Other
  /// systems only report. When one of these three recovers, the brakes stay on until a frame without
  /// throttle: no vehicle starts by itself.
  void set_halted(vehicle::SystemSet systems) noexcept;

  /// The state of the vehicle as a whole.
  [[nodiscard]] vehicle::SystemState state() const noexcept { return state_; }
  /// The vehicle's status frame; the sender adds the stamp.
  [[nodiscard]] vehicle::StatusFrame status() const noexcept;

  /// The time up to which it was simulated.
  [[nodiscard]] Time now() const noexcept { return now_; }
  [[nodiscard]] const VehiclePlant& plant() const noexcept { return plant_; }
  [[nodiscard]] const SimulatedBattery& battery() const noexcept { return battery_; }
  [[nodiscard]] const VehicleCounters& counters() const noexcept { return counters_; }

 private:
  static constexpr Duration longest_advance = std::chrono::hours(1);
  /// Rear left, rear right, front left, front right; as the systems are numbered.
  static constexpr std::size_t corners = 4;

  VehicleController(const VehicleOptions& options, const vehicle::Units& units, const VehiclePlant& plant,
                    Time start) noexcept
      : options_(options),
        units_(units),
        start_(within_reach(start)),
        now_(start_),
        plant_(plant),
        battery_(options.charge) {}

  void tick() noexcept;
  void watch() noexcept;
  void change_state() noexcept;
  void halt() noexcept;
  void step_auxiliaries(double steering_before) noexcept;
  void measure_wheels() noexcept;
  [[nodiscard]] bool is_ready() const noexcept;
  /// Whether control frames determine what the vehicle does.
  [[nodiscard]] bool is_driven() const noexcept { return state_ == vehicle::SystemState::running && newest_; }
  [[nodiscard]] vehicle::DriveCommand effective() const noexcept;
  [[nodiscard]] vehicle::SystemState state_of(vehicle::System system) const noexcept;
  void report_drive(vehicle::StatusFrame& status) const noexcept;
  void report_auxiliaries(vehicle::StatusFrame& status) const noexcept;

  VehicleOptions options_;
  vehicle::Units units_;
  Time start_;
  Time now_;
  VehiclePlant plant_;
  SimulatedBattery battery_;
  SimulatedHydraulics hydraulics_;
  std::array<SimulatedSuspension, corners> suspension_;
  std::array<SimulatedFork, 2> forks_;  // rear, front
  vehicle::SystemState state_ = vehicle::SystemState::cold;
  vehicle::SystemSet broken_;
  std::optional<std::uint32_t> newest_;  // newest stamp that counted; empty after a timeout
  Time heard_at_{};
  vehicle::DriveCommand command_;
  bool stopping_ = false;   // a stop was requested, and the vehicle still moves
  bool may_drive_ = false;  // a frame without throttle came since it was RUNNING without failures
  std::array<std::int64_t, 2> wheel_counts_{};  // left, right; 1 count per period at the least speed
  std::array<std::int32_t, 2> wheel_speeds_{};  // the last measurement
  VehicleCounters counters_;
};

}  // namespace takt::sim
