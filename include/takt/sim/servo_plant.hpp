// The physics of one simulated joint, and the position servo inside its drive. The joint is an inertia with
// viscous and Coulomb friction, a torque limit, and an encoder with whole counts. The servo sees only the
// counts. Deterministic, real-time safe, tens of nanoseconds a step.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/joint_physics.hpp"

namespace takt::sim {

/// The period of the servo loop inside every simulated drive.
inline constexpr Duration servo_period{1'000'000};
inline constexpr double servo_seconds = 1e-3;

/// One joint: inertia J, viscous friction b, Coulomb friction c, constant load l. Between two steps its
/// velocity is constant.
///
///   J dv/dt = torque - l - b v - c sign(v)
///
/// is integrated by backward Euler in the velocity: the *new* velocity determines the friction of a step. The
/// equation has a closed solution, in which friction can stop the joint but never reverse it. Hence a joint
/// at rest stays exactly at rest until more than c acts on it. (Moreau's time stepping for one coordinate.)
class JointPlant {
 public:
  /// Requires finite parameters, a positive inertia and torque limit, and friction that is not negative.
  explicit JointPlant(const robot::PlantDescription& plant) noexcept
      : position_(plant.start),
        torque_limit_(plant.torque_limit),
        damping_(1 / (1 + servo_seconds * plant.viscous_friction / plant.inertia)),
        velocity_per_torque_(servo_seconds / plant.inertia * damping_),
        friction_(plant.coulomb_friction * velocity_per_torque_) {}

  /// Moves the joint by one servo period, then applies `torque` (N m), limited to the torque limit. NaN and
  /// infinity count as 0.
  void step(double torque) noexcept {
    arrive();
    act(torque);
  }

  /// From now on, physics move the joint. They have its inertia and friction; the torque limit stays. They
  /// must outlive the plant.
  void attach(PhysicsJoint& physics) noexcept { physics_ = &physics; }

  /// First half of a step: moves the joint at its velocity, or takes what the last step of the physics gave.
  void arrive() noexcept {
    position_ += velocity_ * servo_seconds;
    if (physics_ == nullptr) return;
    position_ = physics_->position;
    velocity_ = physics_->velocity;
  }

  /// Second half of a step: applies the torque (N m) until the next one. Physics may have a brake, which
  /// holds the joint while `braked`.
  void act(double torque, bool braked = false) noexcept {
    if (physics_ != nullptr) {
      physics_->torque =
          std::isfinite(torque) ? std::clamp(torque, -torque_limit_, torque_limit_) - load_ : 0;
      physics_->braked = braked || jammed_;
      return;
    }
    if (jammed_) {
      velocity_ = 0;
      return;
    }
    const double wanted = std::isfinite(torque) ? torque : 0;
    const double given = std::clamp(wanted, -torque_limit_, torque_limit_) - load_;
    const double without_friction = velocity_ * damping_ + given * velocity_per_torque_;
    velocity_ = without_friction - std::clamp(without_friction, -friction_, friction_);
  }

  /// rad, at `since` after the last step (0 to one servo period).
  [[nodiscard]] double position(Duration since = Duration{0}) const noexcept {
    return position_ + velocity_ * to_seconds(since);
  }
  /// rad/s
  [[nodiscard]] double velocity() const noexcept { return velocity_; }
  [[nodiscard]] double torque_limit() const noexcept { return torque_limit_; }

  /// A constant torque against the motor, N m, such as gravity or a payload. Ignored if not finite.
  void set_load(double torque) noexcept {
    if (std::isfinite(torque)) load_ = torque;
  }
  /// A jammed joint does not move, whatever the torque.
  void set_jammed(bool jammed) noexcept { jammed_ = jammed; }

 private:
  double position_;
  double velocity_ = 0;
  double torque_limit_;
  double damping_;              // velocity factor per step
  double velocity_per_torque_;  // velocity change by 1 N m in one step
  double friction_;             // largest velocity change by Coulomb friction in one step
  double load_ = 0;
  bool jammed_ = false;
  PhysicsJoint* physics_ = nullptr;  ///< null: the joint is as described above
};

/// An encoder with whole counts.
class Encoder {
 public:
  /// Counts per rad; a negative number reverses the direction.
  explicit Encoder(double counts_per_radian) noexcept
      : counts_per_radian_(counts_per_radian), radians_per_count_(1 / counts_per_radian) {}

  /// The count at a position (rad), saturated at 32 bits.
  [[nodiscard]] std::int32_t count(double position) const noexcept {
    constexpr double edge = 2147483647.0;
    return static_cast<std::int32_t>(
        std::lrint(std::clamp(position * counts_per_radian_ - zero_, -edge, edge)));
  }
  /// The position (rad) at the middle of a count. The count may be fractional.
  [[nodiscard]] double position(double count) const noexcept { return (count + zero_) * radians_per_count_; }
  /// Makes `position` (rad) the zero of the count, rounded to a whole count.
  void set_zero(double position) noexcept { zero_ = std::nearbyint(position * counts_per_radian_); }

 private:
  double counts_per_radian_;
  double radians_per_count_;
  double zero_ = 0;
};

/// The reference of a drive's servo: rad, rad/s, N m.
struct ServoReference {
  double position = 0;
  double velocity = 0;  ///< feed-forward
  double torque = 0;    ///< feed-forward
};

/// The position servo inside a drive: PID on the measured position, with velocity feed-forward. The gains
/// place all three poles of the frictionless joint at the bandwidth w. They are kp = 3 J w^2, ki = J w^3, kd
/// = 3 J w - b. Both velocities of the D term pass the same first-order filter. It smooths quantisation
/// noise, and delays feed-forward and measurement equally.
class PositionServo {
 public:
  /// A servo at 1 kHz would ring beyond this bandwidth, rad/s. A higher one is reduced to it.
  static constexpr double highest_bandwidth = 150;

  /// Computes the gains from the plant.
  explicit PositionServo(const robot::PlantDescription& plant) noexcept {
    const double w = std::min(plant.bandwidth, highest_bandwidth);
    proportional_ = 3 * plant.inertia * w * w;
    integral_per_step_ = plant.inertia * w * w * w * servo_seconds;
    derivative_ = std::max(0.0, 3 * plant.inertia * w - plant.viscous_friction);
    viscous_ = plant.viscous_friction;
    torque_limit_ = plant.torque_limit;
    smoothing_ = 1 - std::exp(-filter_ratio * w * servo_seconds);
  }

  /// Starts at rest at a measured position (rad), so that switching on causes no jump.
  void reset(double measured) noexcept {
    last_measured_ = measured;
    velocity_error_ = 0;
    integral_ = 0;
  }

  /// Executes one step at 1 kHz. Returns the torque, N m, within the limit.
  [[nodiscard]] double step(const ServoReference& reference, double measured) noexcept {
    const double error = reference.position - measured;
    const double velocity = (measured - last_measured_) / servo_seconds;
    last_measured_ = measured;
    velocity_error_ += smoothing_ * (reference.velocity - velocity - velocity_error_);
    const double wanted = proportional_ * error + integral_ + derivative_ * velocity_error_ +
                          viscous_ * reference.velocity + reference.torque;
    const double given = std::clamp(wanted, -torque_limit_, torque_limit_);
    // Anti-windup: the integral grows only while the output is not saturated in its direction.
    if (given == wanted || (error > 0) != (wanted > 0)) {
      integral_ = std::clamp(integral_ + integral_per_step_ * error, -torque_limit_, torque_limit_);
    }
    return given;
  }

 private:
  static constexpr double filter_ratio = 8;  // corner frequency of the filter, in bandwidths

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
