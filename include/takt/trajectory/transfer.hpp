// The motion of one joint from one state to another, within limits of velocity, acceleration and jerk. A
// transfer knows its possible durations, the shortest first, and the motion for each. Many joints together:
// point_to_point.hpp.
//
//     const auto transfer = Transfer::between({0, 0, 0}, {1, 0, 0}, {-2, 2, -5, 5, 50}).value();
//     const JerkProfile fastest = transfer.profile(transfer.shortest());
//     MotionState reference = fastest.at(0.1);
//
// The jerks that keep the limits form a convex set, and the final state depends linearly on the jerk. So in T
// seconds a joint can reach every distance between two extremes, the furthest forward and the furthest
// backward (furthest_motion.hpp). A mixture of the extremes' jerks leads to each of these distances and keeps
// the limits. The shortest duration is the first one whose extremes enclose the target. So no search over
// kinds of profiles is needed, and none can be missed.
//
// The possible durations may have gaps: a fast joint arrives at once, or only after it has turned back.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/brake.hpp"
#include "takt/trajectory/directional_limits.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/furthest_motion.hpp"
#include "takt/trajectory/jerk_profile.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/possible_durations.hpp"

namespace takt::trajectory {
namespace detail {

/// The magnitudes of velocities and positions in one joint's motion. The numbers themselves count. If they
/// are small (near rest, near zero), values that the limits make typical count, at most 1 SI unit.
template <class Scalar>
struct Scales {
  Scalar velocity;
  Scalar position;

  Scales(const BasicMotionState<Scalar>& a, const BasicMotionState<Scalar>& b,
         const BasicDirectionalLimits<Scalar>& limits) noexcept {
    const Scalar fastest = std::max(limits.velocity_max, -limits.velocity_min);
    const Scalar hardest = std::max(limits.acceleration_max, -limits.acceleration_min);
    const Scalar usual_time = fastest / hardest + hardest / limits.jerk;
    const Scalar squares = a.acceleration * a.acceleration + b.acceleration * b.acceleration;
    velocity =
        std::abs(a.velocity) + std::abs(b.velocity) + squares / limits.jerk + std::min(fastest, Scalar(1));
    position = std::abs(a.position) + std::abs(b.position) + std::min(fastest * usual_time, Scalar(1));
  }
};

}  // namespace detail

/// The possible motions of one joint between two states. A value; every function is real-time safe and takes
/// a bounded number of steps.
template <class Scalar>
class BasicTransfer {
 public:
  using State = BasicMotionState<Scalar>;
  using Limits = BasicDirectionalLimits<Scalar>;

  BasicTransfer() = default;

  /// Plans the motion between two states. Both states may exceed a limit by the fraction limit_slack. Errors:
  /// * not_finite, limit_not_positive: from check_state() and check_limits().
  /// * out_of_domain: also from them, or the return inside the limits takes more than max_duration.
  /// * target_outside_limits: the target is outside the limits, or the velocity must have exceeded its limit
  ///   before it.
  [[nodiscard]] static Result<BasicTransfer> between(const State& start, const State& target,
                                                     const Limits& limits) noexcept {
    if (Status status = check_state(start); !status) return fail(status.error());
    if (Status status = check_state(target); !status) return fail(status.error());
    if (Status status = check_limits(limits); !status) return fail(status.error());
    const Limits slack = with_slack_for(start, 1, with_slack_for(target, -1, limits));
    if (!inside(target, -1, slack)) return fail(Errc::target_outside_limits);
    const detail::Brake<Scalar> brake(start, slack);
    if (!(brake.duration() <= static_cast<Scalar>(max_duration))) return fail(Errc::out_of_domain);
    return BasicTransfer(start, target, slack, brake);
  }

  /// False if the start is outside the limits or cannot stay inside. The motion then begins with the least
  /// violation.
  [[nodiscard]] bool fits() const noexcept { return brake_size_ == 0; }

  /// The shortest duration in seconds.
  [[nodiscard]] Scalar shortest() const noexcept { return brake_duration_ + next_possible(0); }

  /// The shortest possible duration that is at least `duration` (s).
  [[nodiscard]] Scalar not_less_than(Scalar duration) const noexcept {
    const Scalar rest = std::max(duration - brake_duration_, Scalar(0));
    const Scalar next = next_possible(rest);
    return next > rest ? brake_duration_ + next : std::max(duration, brake_duration_);
  }

  /// The motion of this duration, which must come from shortest() or not_less_than(). The shortest motion
  /// from within the limits has at most seven phases.
  [[nodiscard]] BasicJerkProfile<Scalar> profile(Scalar duration) const noexcept {
    BasicJerkProfile<Scalar> profile(start_);
    for (std::size_t k = 0; k < brake_size_; ++k) profile.append(brake_[k]);
    append_motion(profile, std::max(duration - brake_duration_, Scalar(0)));
    profile.end_at(target_, duration);
    return profile;
  }

 private:
  using Furthest = detail::FurthestMotion<Scalar>;

  BasicTransfer(const State& start, const State& target, const Limits& limits,
                const detail::Brake<Scalar>& brake) noexcept
      : start_(start),
        target_(target),
        brake_size_(brake.size()),
        brake_duration_(brake.duration()),
        distance_(target.position - brake.end().position) {
    for (std::size_t k = 0; k < brake_size_; ++k) brake_[k] = brake[k];
    const detail::Boundary<Scalar> ends{brake.end().velocity, brake.end().acceleration, target.velocity,
                                        target.acceleration};
    const detail::Scales<Scalar> scales(brake.end(), target, limits);
    possible_ = detail::PossibleDurations<Scalar>(ends, limits, scales.velocity);
    forward_ = Furthest(ends, limits);
    backward_ = Furthest(ends.mirrored(), limits.mirrored());
    scale_ = scales.position + forward_.scale();
  }

  /// The velocity that is inevitable after the state (`time` = 1) or before it (`time` = -1).
  [[nodiscard]] static Scalar inevitable(const State& state, Scalar time, const Limits& limits) noexcept {
    return detail::inevitable_velocity(state.velocity, time * state.acceleration, limits.jerk);
  }

  [[nodiscard]] static bool inside(const State& state, Scalar time, const Limits& limits) noexcept {
    const Scalar ahead = inevitable(state, time, limits);
    return state.acceleration >= limits.acceleration_min && state.acceleration <= limits.acceleration_max &&
           std::min(state.velocity, ahead) >= limits.velocity_min &&
           std::max(state.velocity, ahead) <= limits.velocity_max;
  }

  /// The limits, extended to the state by at most the slack.
  [[nodiscard]] static Limits with_slack_for(const State& state, Scalar time, Limits limits) noexcept {
    const Scalar ahead = inevitable(state, time, limits);
    const auto stretch = [](Scalar& limit, Scalar value) {
      const Scalar least = limit * (1 + detail::slack<Scalar>);
      limit = limit > 0 ? std::max(limit, std::min(value, least)) : std::min(limit, std::max(value, least));
    };
    stretch(limits.acceleration_min, state.acceleration);
    stretch(limits.acceleration_max, state.acceleration);
    stretch(limits.velocity_min, std::min(state.velocity, ahead));
    stretch(limits.velocity_max, std::max(state.velocity, ahead));
    return limits;
  }

  /// The shortest possible duration of the motion after the brake that is at least `least`.
  [[nodiscard]] Scalar next_possible(Scalar least) const noexcept {
    Scalar t = least;
    for (const auto& interval : possible_.intervals) {
      if (t > interval.end + detail::exactness<Scalar> * interval.end) continue;
      if (t < interval.begin - detail::exactness<Scalar> * interval.begin) t = interval.begin;
      const Scalar found = first_enclosing(std::min(t, interval.end), interval.end);
      if (found <= interval.end) return found;
      // Both extremes meet at the end of an interval, so rounding can miss a solution there.
      t = std::max(t, interval.end);
      if (Extremes(*this, t).enclose(distance_)) return t;
    }
    return t;
  }

  /// The first duration from t to `until` whose extremes enclose the target; infinity if there is none.
  [[nodiscard]] Scalar first_enclosing(Scalar t, Scalar until) const noexcept {
    // At the end of the search one extreme is the target and the other lies beyond it. The third round allows
    // for rounding.
    for (int round = 0; round < 3; ++round) {
      const Extremes extremes(*this, t);
      if (extremes.enclose(distance_)) break;
      t = extremes.forward < distance_ ? forward_.first_to_go(distance_, t, until)
                                       : backward_.first_to_go(-distance_, t, until);
      if (!(t <= until)) break;
    }
    return t;
  }

  /// The furthest motions in both directions.
  struct Extremes {
    Scalar forward;
    Scalar backward;
    Scalar slack;

    Extremes(const BasicTransfer& transfer, Scalar duration) noexcept
        : forward(transfer.forward_.reach(duration).distance),
          backward(-transfer.backward_.reach(duration).distance),
          slack(detail::exactness<Scalar> * (transfer.scale_ + std::abs(forward) + std::abs(backward))) {}

    [[nodiscard]] bool enclose(Scalar distance) const noexcept {
      return distance <= forward + slack && distance >= backward - slack;
    }

    /// The fraction of the forward extreme in the mixture that goes this distance.
    [[nodiscard]] Scalar part(Scalar distance) const noexcept {
      if (distance >= forward - slack) return 1;
      if (distance <= backward + slack) return 0;
      return (distance - backward) / (forward - backward);
    }
  };

  void append_motion(BasicJerkProfile<Scalar>& profile, Scalar duration) const noexcept {
    const Scalar part = Extremes(*this, duration).part(distance_);
    if (part == 1) {
      for (const auto& phase : forward_.phases(duration)) profile.append(phase);
    } else if (part == 0) {
      for (const auto& phase : backward_.phases(duration)) {
        profile.append({phase.duration, -phase.jerk, -phase.acceleration});
      }
    } else {
      append_mixture(profile, duration, part);
    }
  }

  /// Mixes both motions, cut wherever one of them enters its next phase.
  void append_mixture(BasicJerkProfile<Scalar>& profile, Scalar duration, Scalar part) const noexcept {
    Walk forward(forward_.phases(duration));
    Walk backward(backward_.phases(duration));
    const Scalar nothing = 2 * std::numeric_limits<Scalar>::epsilon() * duration;
    while (forward.skip(nothing) && backward.skip(nothing)) {
      const Scalar step = std::min(forward.left, backward.left);
      profile.append({step, part * forward.jerk() - (1 - part) * backward.jerk(),
                      part * forward.acceleration() - (1 - part) * backward.acceleration()});
      forward.left -= step;
      backward.left -= step;
    }
  }

  struct Walk {
    typename Furthest::Phases phases;
    std::size_t phase = 0;
    Scalar left = phases[0].duration;

    explicit Walk(const typename Furthest::Phases& of) noexcept : phases(of) {}

    [[nodiscard]] Scalar jerk() const noexcept { return phases[phase].jerk; }
    [[nodiscard]] Scalar acceleration() const noexcept {
      return phases[phase].acceleration + (phases[phase].duration - left) * jerk();
    }

    /// Advances to the next phase of positive duration. It adds the rounding residue of the phases before, so
    /// that no time is lost.
    [[nodiscard]] bool skip(Scalar nothing) noexcept {
      while (left <= nothing) {
        if (phase + 1 == phases.size()) return false;
        left += phases[++phase].duration;
      }
      return true;
    }
  };

  State start_;
  State target_;
  std::size_t brake_size_ = 0;
  std::array<BasicJerkPhase<Scalar>, 3> brake_{};
  Scalar brake_duration_ = 0;
  Scalar distance_ = 0;  // after the brake
  Scalar scale_ = 0;     // magnitude of the terms that distances sum up
  detail::PossibleDurations<Scalar> possible_;
  Furthest forward_;
  Furthest backward_;
};
using Transfer = BasicTransfer<double>;

}  // namespace takt::trajectory
