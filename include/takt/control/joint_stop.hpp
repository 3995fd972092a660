// Brings the reference of one joint to rest: within its limits, and within its range where that is possible.
//
//     JointStop stop;
//     stop.begin(reference, limits);                       // at the reference of the last period
//     if (stop.moving()) stop.step(reference, limits, period);  // every period
//
// The stop has bounded jerk (trajectory/stop.hpp). If it would end outside the range, the joint brakes at its
// acceleration limit instead. A motion that obeyed that limit and has to stay inside always leaves room for
// it. Every function is real-time safe.
#pragma once

#include <cstdint>
#include <limits>

#include "takt/control/setpoint_follower.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/stop.hpp"

namespace takt::control {

/// The stop of one joint.
class JointStop {
 public:
  /// Begins at `present`, the reference at the end of the last period. A joint at rest is not moving().
  void begin(const MotionState& present, const JointLimits& limits) noexcept {
    kind_ = Kind::none;
    if (present.velocity == 0 && present.acceleration == 0) return;
    stop_ = trajectory::plan_stop(present, limits);
    periods_ = 0;
    kind_ = Kind::bounded_jerk;
    const double end = present.position + stop_.distance;
    const double rounding = trajectory::limit_slack * (limits.position_max - limits.position_min);
    if (end < limits.position_min - rounding || end > limits.position_max + rounding) {
      follower_ = SetpointFollower(present);
      kind_ = Kind::brake;
    }
  }

  /// Ends the stop where the reference is.
  void end() noexcept { kind_ = Kind::none; }

  /// Whether the stop is under way.
  [[nodiscard]] bool moving() const noexcept { return kind_ != Kind::none; }

  /// Advances `reference` by one period of a stop under way. At its end the reference is at rest.
  void step(MotionState& reference, const JointLimits& limits, Duration period) noexcept {
    if (kind_ == Kind::bounded_jerk) {
      const double elapsed = to_seconds(period * static_cast<Duration::rep>(++periods_));
      reference = stop_.at(elapsed);
      if (elapsed >= stop_.duration) finish(reference);
    } else if (kind_ == Kind::brake) {
      // A follower without a target brakes.
      const Target none{std::numeric_limits<double>::quiet_NaN(), 0};
      reference = follower_.step(none, limits, to_seconds(period));
      if (reference.velocity == 0) finish(reference);
    }
  }

 private:
  enum class Kind : std::uint8_t { none, bounded_jerk, brake };

  void finish(MotionState& reference) noexcept {
    reference.velocity = 0;
    reference.acceleration = 0;
    kind_ = Kind::none;
  }

  Kind kind_ = Kind::none;
  std::uint64_t periods_ = 0;
  trajectory::StopMotion stop_;
  SetpointFollower follower_;
};

}  // namespace takt::control
