// One motor of a simulated drive: the joint, its encoder, its servo, and its faults. The simulated drives of
// all protocols consist of these; they differ only in their frames.
#pragma once

#include <cmath>
#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/joint_fault.hpp"
#include "takt/sim/servo_plant.hpp"

namespace takt::sim {

/// A motor with its joint. Torques are N m. Real-time safe after construction.
class ServoAxis {
 public:
  /// The drive reports an error beyond this deviation from its reference, in following errors of the
  /// description. It is more than 1, so that the robot's own supervision acts first.
  static constexpr double largest_error = 3;

  /// The joint is at rest at its start position; the servo is off.
  explicit ServoAxis(const robot::JointDescription& joint) noexcept
      : plant_(joint.plant),
        servo_(joint.plant),
        encoder_(joint.counts_per_radian),
        largest_error_(largest_error * joint.following_error) {
    measure();
  }

  /// Switches the servo on: it holds the present position. No effect if it is on already.
  void switch_on() noexcept {
    if (on_) return;
    on_ = true;
    servo_.reset(measured_);
  }
  /// Switches the servo off: the motor gives no torque from the next step on.
  void switch_off() noexcept { on_ = false; }
  [[nodiscard]] bool on() const noexcept { return on_; }

  /// Executes one servo period: moves the joint, measures it, and computes the next torque. Returns false if
  /// the servo is on and the joint is more than largest_error from its reference.
  [[nodiscard]] bool step(const ServoReference& reference) noexcept {
    arrive();
    torque_ = on_ ? servo_.step(reference, measured_) : 0;
    plant_.act(torque_, !on_);
    return !on_ || std::abs(reference.position - measured_) <= largest_error_;
  }

  /// Executes one servo period with a fixed torque instead of the position control. No torque if the servo is
  /// off.
  void push(double torque) noexcept {
    arrive();
    torque_ = on_ ? torque : 0;
    plant_.act(torque_, !on_);
    servo_.reset(measured_);
  }

  /// The encoder's count at `since` after the last step.
  [[nodiscard]] std::int32_t count(Duration since) const noexcept {
    return fault_ == JointFault::encoder ? frozen_count_ : encoder_.count(plant_.position(since));
  }
  /// Returns the axis's encoder.
  [[nodiscard]] const Encoder& encoder() const noexcept { return encoder_; }
  /// Makes the position at `since` after the last step the encoder's zero.
  void zero_encoder(Duration since) noexcept {
    encoder_.set_zero(plant_.position(since));
    measure();
    servo_.reset(measured_);
  }
  /// The position that the servo measured in the last step, rad from the encoder's zero.
  [[nodiscard]] double measured() const noexcept { return measured_; }
  /// The difference of the last two measurements, rad/s, with the resolution of the encoder.
  [[nodiscard]] double measured_velocity() const noexcept { return measured_velocity_; }
  /// The torque since the last step, N m.
  [[nodiscard]] double torque() const noexcept { return torque_; }
  /// The joint itself, with its true position.
  [[nodiscard]] const JointPlant& plant() const noexcept { return plant_; }

  /// Returns the fault of the axis.
  [[nodiscard]] JointFault fault() const noexcept { return fault_; }
  /// Injects or ends a fault, at `since` after the last step.
  void inject(JointFault fault, Duration since) noexcept {
    frozen_count_ = count(since);
    fault_ = fault;
    plant_.set_jammed(fault == JointFault::jammed);
    if (fault == JointFault::silent) switch_off();
  }
  /// From now on, physics move the joint (JointPlant::attach()).
  void attach(PhysicsJoint& physics) noexcept { plant_.attach(physics); }
  /// Sets a constant torque against the motor, N m.
  void set_load(double torque) noexcept { plant_.set_load(torque); }

 private:
  void arrive() noexcept {
    plant_.arrive();
    const double before = measured_;
    measure();
    measured_velocity_ = (measured_ - before) / servo_seconds;
  }
  void measure() noexcept { measured_ = encoder_.position(count(Duration{0})); }

  JointPlant plant_;
  PositionServo servo_;
  Encoder encoder_;
  double largest_error_;
  double measured_ = 0;
  double measured_velocity_ = 0;
  double torque_ = 0;
  std::int32_t frozen_count_ = 0;
  JointFault fault_ = JointFault::none;
  bool on_ = false;
};

/// The times at which the servo of a drive runs. The servos of different drives are not synchronised: each
/// has its own phase, which depends on the drive's number.
class ServoTicks {
 public:
  /// The servo of the drive with this number, from time `start` on.
  ServoTicks(Time start, std::uint8_t number) noexcept : next_(start + phase(number)) {}

  /// The time of the next servo step.
  [[nodiscard]] Time next() const noexcept { return next_; }
  /// Goes on to the next step.
  void pass() noexcept { next_ += servo_period; }
  /// Time since the last step. All steps up to `now` must have been passed.
  [[nodiscard]] Duration since(Time now) const noexcept { return now - (next_ - servo_period); }

 private:
  [[nodiscard]] static constexpr Duration phase(std::uint8_t number) noexcept {
    return Duration(1 + (number * 137'000) % servo_period.count());
  }
  Time next_;
};

}  // namespace takt::sim
