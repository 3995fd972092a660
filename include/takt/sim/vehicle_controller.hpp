// The electronics of a simulated vehicle: they start it up, make its pedals follow the control frames, stop it when none come any
// more, and report all its systems. Time passes in whole milliseconds and only when told; what happens depends on nothing else
// but on what was told when. Real-time safe: an advance takes as long as the time that it makes up for, an hour at most.
//
//     COLD --> INIT --> RUNNING --> HALTED        for lack of frames, or because the battery is empty
//                ^-------recover()-----+
//
// COLD lasts for the options' time. INIT lasts until the hydraulics have their pressure, all corners stand at ride height, the
// forks are in, and the vehicle stands. In RUNNING the frames are obeyed, but driven is only after one without throttle, a stop too
// unless it is old. In every other state, and before the first frame, the brakes are on, the throttle is off, and the
// steering stays where it is.
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

/// The period in which a vehicle tells of itself, and in which its wheels' speeds are measured.
inline constexpr Duration status_period{10'000'000};

struct VehicleOptions {
  VehicleParameters plant{};                                         ///< its wheelbase must be given
  vehicle::Units::Configuration units = vehicle::provisional_units;  ///< of the frames' counts
  /// Of the status frames; kept: it lives longer. Not nullptr. A system or field that it does not have is not told of; of a system
  /// that no Furbot has, the state.
  const vehicle::Layouts* layouts = &vehicle::furbot_layouts;
  mobile::Pose start{};                   ///< where it stands
  double charge = 0.8;                    ///< of its battery, 0..1
  Duration command_timeout{200'000'000};  ///< without a control frame for so long, it halts
  Duration cold{200'000'000};             ///< so long it is COLD
};

/// What a vehicle counts, from its start on.
struct VehicleCounters {
  std::uint64_t obeyed = 0;  ///< control frames that steering and pedals follow
  std::uint64_t held =
      0;  ///< while the vehicle holds its own brake: not RUNNING, or no frame without throttle yet
  std::uint64_t outdated = 0;   ///< no newer than one before: overtaken, or sent twice
  std::uint64_t overruled = 0;  ///< by a stop, until the vehicle stood
  std::uint64_t timeouts = 0;   ///< halts for lack of frames
};

/// A value.
class VehicleController {
 public:
  /// Begins to start up. Errors: bad_vehicle (as of VehiclePlant::make(); a charge outside 0..1; a time that is not above zero), and
  /// those of Units::make().
  [[nodiscard]] static Result<VehicleController> make(const VehicleOptions& options, Time start) noexcept;

  /// A control frame came at this time. Of ordinary ones, those count that are newer than all before since the last halt. One that
  /// asks for a stop counts however old it is, and until the vehicle stands no ordinary one does.
  void obey(const vehicle::ControlFrame& frame, secure::Urgency urgency, Time now) noexcept;

  /// Lets time pass; a time in the past changes nothing. Of more than an hour at once, only the last hour happens.
  void advance(Time to) noexcept {
    to = within_reach(to);
    if (to - now_ > longest_advance) now_ += (to - now_ - longest_advance) / status_period * status_period;
    while (to - now_ >= vehicle_period) tick();
  }

  /// Somebody at the vehicle looked after it and lets it start again; without effect unless it is HALTED.
  void recover() noexcept {
    if (state_ == vehicle::SystemState::halted) state_ = vehicle::SystemState::init;
  }

  /// These systems are broken from now on, until others are or none: they say HALTED. Traction then gives no throttle, the steering
  /// stays where it is, and without hydraulics springs press the brakes; the rest only says so. Once one of these three is well
  /// again, the brakes are on until a frame without throttle comes: no vehicle goes on by itself.
  void set_halted(vehicle::SystemSet systems) noexcept;

  /// Of the vehicle as a whole.
  [[nodiscard]] vehicle::SystemState state() const noexcept { return state_; }
  /// What the vehicle says of itself; the stamp is left to the sender.
  [[nodiscard]] vehicle::StatusFrame status() const noexcept;

  /// The time up to which everything has happened.
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
  /// Whether control frames decide on what the vehicle does.
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
  std::optional<std::uint32_t> newest_;  // stamp of the frames that counted, unless the last is too long ago
  Time heard_at_{};
  vehicle::DriveCommand command_;
  bool stopping_ = false;   // until it stands: it was asked for a stop
  bool may_drive_ = false;  // a frame without throttle was heard since it is RUNNING and well
  std::array<std::int64_t, 2>
      wheel_counts_{};  // left, right: as encoders that count one step a period at the least speed
  std::array<std::int32_t, 2> wheel_speeds_{};  // the last of them
  VehicleCounters counters_;
};

}  // namespace takt::sim
