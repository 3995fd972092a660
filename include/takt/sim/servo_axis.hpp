// One motor of a simulated drive: the joint, its encoder, the servo that moves it, and what can go wrong with
// it. The drives of all protocols are made of these; they differ only in what they say on the bus.
#pragma once

#include <cmath>
#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/joint_fault.hpp"
#include "takt/sim/servo_plant.hpp"

namespace takt::sim {

/// A motor with its joint. Real-time safe after construction.
class ServoAxis {
 public:
  /// How far off its reference, in following errors of the description, a drive lets its joint go before it
  /// gives up. More than one, so that the robot's own supervision has the first word.
  static constexpr double largest_error = 3;

  explicit ServoAxis(const robot::JointDescription& joint) noexcept
      : plant_(joint.plant),
        servo_(joint.plant),
        encoder_(joint.counts_per_radian),
        largest_error_(largest_error * joint.following_error) {
    measure();
  }

  /// The servo begins to hold the joint where it is, unless it holds it already.
  void switch_on() noexcept {
    if (on_) return;
    on_ = true;
    servo_.reset(measured_);
  }
  /// The motor is without torque from the next step on.
  void switch_off() noexcept { on_ = false; }
  [[nodiscard]] bool on() const noexcept { return on_; }

  /// One servo period: the joint arrives, is measured, and gets its next torque. False when the servo is on
  /// and the joint too far from its reference.
  [[nodiscard]] bool step(const ServoReference& reference) noexcept {
    arrive();
    torque_ = on_ ? servo_.step(reference, measured_) : 0;
    plant_.act(torque_);
    return !on_ || std::abs(reference.position - measured_) <= largest_error_;
  }

  /// One servo period in which the motor, if it is on, gives a torque (N m) without looking at its position.
  void push(double torque) noexcept {
    arrive();
    torque_ = on_ ? torque : 0;
    plant_.act(torque_);
    servo_.reset(measured_);
  }

  /// What the encoder shows `since` after the last step.
  [[nodiscard]] std::int32_t count(Duration since) const noexcept {
    return fault_ == JointFault::encoder ? frozen_count_ : encoder_.count(plant_.position(since));
  }
  [[nodiscard]] const Encoder& encoder() const noexcept { return encoder_; }
  /// Makes the present position the encoder's zero.
  void zero_encoder(Duration since) noexcept {
    encoder_.set_zero(plant_.position(since));
    measure();
    servo_.reset(measured_);
  }
  /// What the servo measured in the last step, in radians by the encoder's zero.
  [[nodiscard]] double measured() const noexcept { return measured_; }
  /// The difference of the last two measurements, rad/s: as coarse as the encoder's counts.
  [[nodiscard]] double measured_velocity() const noexcept { return measured_velocity_; }
  /// The torque that acts since the last step, N m.
  [[nodiscard]] double torque() const noexcept { return torque_; }
  /// The joint itself: where it really is.
  [[nodiscard]] const JointPlant& plant() const noexcept { return plant_; }

  [[nodiscard]] JointFault fault() const noexcept { return fault_; }
  /// See JointFault. `since` the last step.
  void inject(JointFault fault, Duration since) noexcept {
    frozen_count_ = count(since);
    fault_ = fault;
    plant_.set_jammed(fault == JointFault::jammed);
    if (fault == JointFault::silent) switch_off();
  }
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

/// The instants at which the servo of a drive runs. The loops of different drives are not in step with one
/// another: each has its own phase, fixed by the drive's number.
class ServoTicks {
 public:
  ServoTicks(Time start, std::uint8_t number) noexcept : next_(start + phase(number)) {}

  /// The next one.
  [[nodiscard]] Time next() const noexcept { return next_; }
  /// It has come: on to the one after it.
  void pass() noexcept { next_ += servo_period; }
  /// How long ago the last one was, at a time up to which all have passed.
  [[nodiscard]] Duration since(Time now) const noexcept { return now - (next_ - servo_period); }

 private:
  [[nodiscard]] static constexpr Duration phase(std::uint8_t number) noexcept {
    return Duration(1 + (number * 137'000) % servo_period.count());
  }
  Time next_;
};

}  // namespace takt::sim
