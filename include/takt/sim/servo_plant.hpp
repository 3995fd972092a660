// The physics behind one simulated joint, and the position servo that a drive closes around it. The joint is
// an inertia with viscous and Coulomb friction, a torque limit and an encoder that counts whole steps; the
// servo sees the counts, nothing else. Deterministic, real-time safe, tens of nanoseconds a step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"

namespace takt::sim {

/// The period of the loop that runs inside every simulated drive.
inline constexpr Duration servo_period{1'000'000};
inline constexpr double servo_seconds = 1e-3;

/// One joint: inertia J, viscous friction b, Coulomb friction c, constant load l. Between two steps its
/// velocity is constant.
///
///     J dv/dt = torque - l - b v - c sign(v)
///
/// is integrated by backward Euler in the velocity: the friction of a step is the one that the *new* velocity
/// causes. The equation has a closed solution, in which friction can stop the joint but never reverse it; so
/// a joint at rest stays exactly at rest until more than c pushes it. (Moreau's time stepping for one
/// coordinate.)
class JointPlant {
 public:
  /// All of `plant` must be finite, its inertia and torque limit positive, its friction not negative.
  explicit JointPlant(const robot::PlantDescription& plant) noexcept
      : position_(plant.start),
        torque_limit_(plant.torque_limit),
        damping_(1 / (1 + servo_seconds * plant.viscous_friction / plant.inertia)),
        velocity_per_torque_(servo_seconds / plant.inertia * damping_),
        friction_(plant.coulomb_friction * velocity_per_torque_) {}

  /// Moves on by one servo period, then lets `torque` (N m) act from there on. The torque is limited to what
  /// the motor can give; one that is not a number is none.
  void step(double torque) noexcept {
    arrive();
    act(torque);
  }

  /// First half of a step: the joint arrives where its velocity takes it.
  void arrive() noexcept { position_ += velocity_ * servo_seconds; }

  /// Second half of a step: the torque that acts until the next one.
  void act(double torque) noexcept {
    if (jammed_) {
      velocity_ = 0;
      return;
    }
    const double wanted = std::isfinite(torque) ? torque : 0;
    const double given = std::clamp(wanted, -torque_limit_, torque_limit_) - load_;
    const double without_friction = velocity_ * damping_ + given * velocity_per_torque_;
    velocity_ = without_friction - std::clamp(without_friction, -friction_, friction_);
  }

  /// rad, `since` after the last step (0 to one servo period).
  [[nodiscard]] double position(Duration since = Duration{0}) const noexcept {
    return position_ + velocity_ * to_seconds(since);
  }
  /// rad/s
  [[nodiscard]] double velocity() const noexcept { return velocity_; }
  [[nodiscard]] double torque_limit() const noexcept { return torque_limit_; }

  /// A constant torque against the motor, N m: gravity, a weight in the hand. Ignored when not finite.
  void set_load(double torque) noexcept {
    if (std::isfinite(torque)) load_ = torque;
  }
  /// A jammed joint does not move, whatever pushes.
  void set_jammed(bool jammed) noexcept { jammed_ = jammed; }

 private:
  double position_;
  double velocity_ = 0;
  double torque_limit_;
  double damping_;              // factor on the velocity per step
  double velocity_per_torque_;  // what one N m adds to the velocity in one step
  double friction_;             // the most velocity that Coulomb friction takes away in one step
  double load_ = 0;
  bool jammed_ = false;
};

/// The encoder: whole counts, as real ones give them.
class Encoder {
 public:
  explicit Encoder(double counts_per_radian) noexcept
      : counts_per_radian_(counts_per_radian), radians_per_count_(1 / counts_per_radian) {}

  /// The count at a position, saturated at 32 bits.
  [[nodiscard]] std::int32_t count(double position) const noexcept {
    constexpr double edge = 2147483647.0;
    return static_cast<std::int32_t>(
        std::lrint(std::clamp(position * counts_per_radian_ - zero_, -edge, edge)));
  }
  /// The position in the middle of a count, which need not be a whole one.
  [[nodiscard]] double position(double count) const noexcept { return (count + zero_) * radians_per_count_; }
  /// Makes `position` the one that counts as zero.
  void set_zero(double position) noexcept { zero_ = std::nearbyint(position * counts_per_radian_); }

 private:
  double counts_per_radian_;
  double radians_per_count_;
  double zero_ = 0;
};

/// What the servo of a drive is to follow, in radians.
struct ServoReference {
  double position = 0;
  double velocity = 0;  ///< feed-forward
  double torque = 0;    ///< feed-forward
};

/// The position servo inside a drive: PID on the measured position with velocity feed-forward. The gains put
/// all three poles of the joint without friction at the bandwidth w: kp = 3 J w^2, ki = J w^3, kd = 3 J w -
/// b. Both velocities of the D term pass the same first-order filter, so that quantisation noise is smoothed
/// and the feed-forward is not late against the measurement.
class PositionServo {
 public:
  /// Beyond this bandwidth (rad/s) a servo that runs at 1 kHz would ring; a higher one is taken as this.
  static constexpr double highest_bandwidth = 150;

  explicit PositionServo(const robot::PlantDescription& plant) noexcept {
    const double w = std::min(plant.bandwidth, highest_bandwidth);
    proportional_ = 3 * plant.inertia * w * w;
    integral_per_step_ = plant.inertia * w * w * w * servo_seconds;
    derivative_ = std::max(0.0, 3 * plant.inertia * w - plant.viscous_friction);
    viscous_ = plant.viscous_friction;
    torque_limit_ = plant.torque_limit;
    smoothing_ = 1 - std::exp(-filter_ratio * w * servo_seconds);
  }

  /// Begins at rest at a measured position: no kick when the drive is switched on.
  void reset(double measured) noexcept {
    last_measured_ = measured;
    velocity_error_ = 0;
    integral_ = 0;
  }

  /// One step at 1 kHz: the torque in N m, within the limit.
  [[nodiscard]] double step(const ServoReference& reference, double measured) noexcept {
    const double error = reference.position - measured;
    const double velocity = (measured - last_measured_) / servo_seconds;
    last_measured_ = measured;
    velocity_error_ += smoothing_ * (reference.velocity - velocity - velocity_error_);
    const double wanted = proportional_ * error + integral_ + derivative_ * velocity_error_ +
                          viscous_ * reference.velocity + reference.torque;
    const double given = std::clamp(wanted, -torque_limit_, torque_limit_);
    // The integral grows only while it can still do something: not into a saturated output.
    if (given == wanted || (error > 0) != (wanted > 0)) {
      integral_ = std::clamp(integral_ + integral_per_step_ * error, -torque_limit_, torque_limit_);
    }
    return given;
  }

 private:
  static constexpr double filter_ratio = 8;  // the filter's corner frequency, in bandwidths

  double proportional_ = 0;
  double integral_per_step_ = 0;
  double derivative_ = 0;
  double viscous_ = 0;
  double torque_limit_ = 0;
  double smoothing_ = 0;
  double last_measured_ = 0;
  double velocity_error_ = 0;
  double integral_ = 0;
};

}  // namespace takt::sim
