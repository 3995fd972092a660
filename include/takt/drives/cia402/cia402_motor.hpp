// The motor of a simulated CiA 402 drive: the state machine of the profile, its modes, and the servo that
// follows them. It reads and writes the drive's object dictionary, and does not know the bus.
//
// Cyclic position moves linearly to each new target within the interpolation period 60C2h. Profile position
// and velocity use the ramps of 6083h; profile torque acts at once. Cyclic velocity and torque exist too.
// Homing methods are 33 and 34 (to the next index pulse, one per turn, downwards or upwards), and 35 and 37
// (here). In ready_to_switch_on, 0x0F makes two steps at once, as in most drives. Real-time safe.
#pragma once

#include <cstdint>

#include "takt/can/cia402/state.hpp"
#include "takt/drives/cia402/cia402_objects.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/servo_axis.hpp"

namespace takt::drives {

/// Fault codes of object 603Fh.
namespace cia402_error {
inline constexpr std::uint16_t over_current = 0x2310;
inline constexpr std::uint16_t encoder = 0x7305;
inline constexpr std::uint16_t connection_lost = 0x8130;
inline constexpr std::uint16_t following = 0x8611;
}  // namespace cia402_error

/// A simulated motor.
class Cia402Motor {
 public:
  explicit Cia402Motor(const robot::JointDescription& joint) noexcept;

  /// Resets to the power-on state. The axis stays where it is.
  void reset() noexcept;
  /// Ends the start-up.
  void started() noexcept {
    state_ = can::cia402::State::switch_on_disabled;
    notice_faults();
  }
  /// Applies the control word and targets that the master wrote.
  void obey(Cia402Objects& objects) noexcept;
  /// Executes one servo period: moves, measures, and updates the objects.
  void tick(Cia402Objects& objects) noexcept;
  /// Updates status word, mode and measurements in the objects, at `since` after the last tick.
  void report(Cia402Objects& objects, Duration since) noexcept;
  /// Handles a lost connection to the master: brakes, then faults.
  void lose_connection() noexcept;

  /// Injects a fault at `since` after the last tick, or ends it with JointFault::none.
  void inject(sim::JointFault fault, Duration since) noexcept;
  /// While set, the motor ignores new modes and stays in its present one.
  void set_refuses_mode(bool refuses) noexcept { refuses_mode_ = refuses; }
  /// The state of the profile's state machine.
  [[nodiscard]] can::cia402::State state() const noexcept { return state_; }
  /// The fault code, 0 for none; it stays until it is reset.
  [[nodiscard]] std::uint16_t error() const noexcept { return error_; }
  /// The joint with its servo and encoder.
  [[nodiscard]] sim::ServoAxis& axis() noexcept { return axis_; }
  [[nodiscard]] const sim::ServoAxis& axis() const noexcept { return axis_; }

 private:
  void obey_control_word(const Cia402Objects& objects) noexcept;
  void leave(can::cia402::State to) noexcept;
  void enable() noexcept;
  void fail(std::uint16_t error) noexcept;
  void start_what_is_new(Cia402Objects& objects) noexcept;
  void follow_mode(Cia402Objects& objects) noexcept;
  void move(Cia402Objects& objects) noexcept;
  void move_to(double target, double speed, double step) noexcept;
  void move_at(double velocity, double step) noexcept;
  void move_home(Cia402Objects& objects) noexcept;
  void brake(const Cia402Objects& objects) noexcept;
  void notice_faults() noexcept;
  [[nodiscard]] std::uint16_t mode_bits(const Cia402Objects& objects) const noexcept;
  [[nodiscard]] double radians(double counts) const noexcept { return counts / counts_per_radian_; }

  sim::ServoAxis axis_;
  double counts_per_radian_;
  double torque_limit_;
  sim::ServoReference reference_{};
  double increment_ = 0;         ///< rad per servo period, cyclic position
  std::int32_t steps_left_ = 0;  ///< servo periods until the cyclic target
  double profile_target_ = 0;    ///< rad
  double home_ = 0;              ///< rad: the index pulse at which homing ends
  std::uint16_t control_ = 0;
  std::uint16_t error_ = 0;
  can::cia402::State state_ = can::cia402::State::not_ready_to_switch_on;
  can::cia402::Mode mode_ = can::cia402::Mode::none;
  can::cia402::Homing homing_ = can::cia402::Homing::interrupted;
  bool acknowledged_ = false;
  bool refuses_mode_ = false;
};

}  // namespace takt::drives
