// Jerk-limited motion of many joints from any state to any other in the shortest time, all of them arriving together: planned
// within a control period, without heap, in a bounded number of steps.
//
//     PointToPoint<7> motion;                                    // or PointToPoint<> motion(joints): sized at set-up
//     std::array<MotionState, 7> from = ..., to = ...;           // moving or at rest
//     std::array<DirectionalLimits, 7> limits = ...;             // both_ways(joint_limits), or different ones
//     if (Status status = motion.plan(from, to, limits); !status) ...
//     motion.sample(t, position, velocity, acceleration);        // t = 0 .. motion.duration()
//
// The duration is the shortest that is possible for every joint, or, where one is asked for that is possible, exactly that.
// Joints that could be faster move with less jerk, not at once and then wait. Positions between start and target are not limited:
// joint(j).position_extrema() has them exactly, and keep_in_range() lets joints that would leave their range turn back earlier.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/directional_limits.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/jerk_profile.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/transfer.hpp"

namespace takt::trajectory {

/// How joints that move together keep together.
enum class Synchronisation : std::uint8_t {
  time,   ///< they start and arrive together
  phase,  ///< they also move in proportion, along the straight line from start to target
};

namespace detail {

/// The straight line through start and target that all joints move along in phase: joint j goes ratio(j) times as far as the one
/// that goes furthest, which stands for all.
template <class Scalar>
class StraightLine {
 public:
  using State = BasicMotionState<Scalar>;
  using Limits = BasicDirectionalLimits<Scalar>;

  /// What is not parallel by no more than this part of it is parallel.
  static constexpr Scalar tolerance = slack<Scalar>;

  StraightLine(std::span<const State> start, std::span<const State> target) noexcept
      : start_(start), target_(target) {
    for (std::size_t quantity = 0; quantity < quantities; ++quantity) {
      leader_ = furthest(quantity);
      if (std::abs(component(quantity, leader_)) * tolerance <= rounding(quantity, leader_)) continue;
      direction_ = quantity;
      break;
    }
    leader_ = furthest(direction_);
    if (const Scalar most = component(direction_, leader_); most != 0) per_leader_ = 1 / most;
  }

  /// The joint that stands for all.
  [[nodiscard]] std::size_t leader() const noexcept { return leader_; }

  [[nodiscard]] Scalar ratio(std::size_t joint) const noexcept {
    return component(direction_, joint) * per_leader_;
  }

  /// Whether the velocities and accelerations at both ends point along the line.
  [[nodiscard]] bool exists() const noexcept {
    for (std::size_t quantity = 0; quantity < quantities; ++quantity) {
      const Scalar most = std::abs(component(quantity, furthest(quantity)));
      const Scalar leading = component(quantity, leader_);
      for (std::size_t j = 0; j < start_.size(); ++j) {
        const Scalar allowed = tolerance * most + rounding(quantity, j);
        if (!(std::abs(component(quantity, j) - ratio(j) * leading) <= allowed)) return false;
      }
    }
    return true;
  }

  /// What the leader may do so that no joint exceeds its limits.
  [[nodiscard]] Limits limits(std::span<const Limits> limits) const noexcept {
    Limits common = limits[leader_];
    for (std::size_t j = 0; j < start_.size(); ++j) {
      const Scalar scale = std::abs(ratio(j));
      if (scale == 0) continue;
      const Limits own = ratio(j) > 0 ? limits[j] : limits[j].mirrored();
      common.velocity_min = std::max(common.velocity_min, own.velocity_min / scale);
      common.velocity_max = std::min(common.velocity_max, own.velocity_max / scale);
      common.acceleration_min = std::max(common.acceleration_min, own.acceleration_min / scale);
      common.acceleration_max = std::min(common.acceleration_max, own.acceleration_max / scale);
      common.jerk = std::min(common.jerk, own.jerk / scale);
    }
    return common;
  }

 private:
  static constexpr std::size_t quantities = 5;

  [[nodiscard]] Scalar component(std::size_t quantity, std::size_t joint) const noexcept {
    switch (quantity) {
      case 0:
        return target_[joint].position - start_[joint].position;
      case 1:
        return start_[joint].velocity;
      case 2:
        return target_[joint].velocity;
      case 3:
        return start_[joint].acceleration;
      default:
        return target_[joint].acceleration;
    }
  }

  /// Of the difference of two positions; the rest is as it was given.
  [[nodiscard]] Scalar rounding(std::size_t quantity, std::size_t joint) const noexcept {
    if (quantity != 0) return 0;
    return 4 * std::numeric_limits<Scalar>::epsilon() *
           (std::abs(start_[joint].position) + std::abs(target_[joint].position));
  }

  [[nodiscard]] std::size_t furthest(std::size_t quantity) const noexcept {
    std::size_t most = 0;
    for (std::size_t j = 1; j < start_.size(); ++j) {
      if (std::abs(component(quantity, j)) > std::abs(component(quantity, most))) most = j;
    }
    return most;
  }

  std::span<const State> start_;
  std::span<const State> target_;
  std::size_t direction_ = 0;  // the first quantity that says where the line leads
  std::size_t leader_ = 0;
  Scalar per_leader_ = 0;
};

}  // namespace detail

/// Instead of a number of joints: of as many as there is room for in memory that belongs to someone else.
inline constexpr std::size_t borrowed_extent = std::dynamic_extent - 1;

/// The motion of `Joints` joints, a value without heap; with std::dynamic_extent of as many as it is constructed for, the only
/// time that it allocates; with borrowed_extent in memory that must outlive it, and that its copies share. plan() and everything
/// else is real-time safe.
template <class Scalar, std::size_t Joints = std::dynamic_extent>
class BasicPointToPoint {
 public:
  using State = BasicMotionState<Scalar>;
  using Limits = BasicDirectionalLimits<Scalar>;
  using Transfer = BasicTransfer<Scalar>;
  using Profile = BasicJerkProfile<Scalar>;
  struct Cursor {};  ///< nothing to remember

  /// Stands still at zero.
  BasicPointToPoint() = default;
  explicit BasicPointToPoint(std::size_t joints) requires(Joints == std::dynamic_extent)
      : transfers_(joints), profiles_(joints) {}
  /// One of each for each joint.
  BasicPointToPoint(std::span<Transfer> transfers, std::span<Profile> profiles) noexcept
      requires(Joints == borrowed_extent)
      : transfers_(transfers.first(std::min(transfers.size(), profiles.size()))),
        profiles_(profiles.first(transfers_.size())) {}

  [[nodiscard]] std::size_t joints() const noexcept { return profiles_.size(); }

  /// Seconds.
  [[nodiscard]] Scalar duration() const noexcept { return duration_; }

  /// False if a joint starts outside its limits, or cannot stay inside: it then comes back with the least violation first.
  [[nodiscard]] bool fits() const noexcept { return fits_; }

  /// One joint's motion; `joint` < joints().
  [[nodiscard]] const Profile& joint(std::size_t joint) const noexcept { return profiles_[joint]; }

  /// Plans the motion from `start` to `target`, one state and one set of limits for each joint, in the shortest duration that is
  /// possible for all and not below `at_least` seconds (zero or less: the shortest). duration() is exactly `at_least` where that
  /// is possible; there may be gaps above it too, see transfer.hpp. In O(joints) for most problems, in O(joints^2) at worst, as
  /// joints may rule out durations for each other. Errors: wrong_size, not_finite, those of BasicTransfer::between(),
  /// out_of_domain (it would last longer than max_duration), not_in_phase; the old motion then stands.
  [[nodiscard]] Status plan(std::span<const State> start, std::span<const State> target,
                            std::span<const Limits> limits,
                            Synchronisation synchronisation = Synchronisation::time,
                            Scalar at_least = 0) noexcept {
    if (start.size() != joints() || target.size() != joints() || limits.size() != joints())
      return fail(Errc::wrong_size);
    if (!std::isfinite(at_least)) return fail(Errc::not_finite);
    if (joints() == 0) return {};
    return synchronisation == Synchronisation::phase ? plan_in_phase(start, target, limits, at_least)
                                                     : plan_in_time(start, target, limits, at_least);
  }

  /// Lets a joint be as fast as it can alone, and wait at its target for the others: it then turns back as early as it can, too.
  /// Changes nothing where the joints are in phase, and for a joint whose target does not rest.
  void arrive_early(std::size_t joint) noexcept {
    if (!in_time_ || joint >= joints()) return;
    const State target = profiles_[joint].end();
    if (target.velocity != 0 || target.acceleration != 0) return;
    const Scalar shortest = transfers_[joint].shortest();
    if (!(shortest < duration_)) return;
    profiles_[joint] = transfers_[joint].profile(shortest);
    profiles_[joint].append({duration_ - shortest, 0, 0});
    profiles_[joint].end_at(target, duration_);
  }

  /// Position, velocity and acceleration of all joints at t seconds from the start; before it the start's state, at the end and
  /// after it exactly the target's. A span shorter than joints() gets that many joints.
  void sample(Scalar t, std::span<Scalar> position, std::span<Scalar> velocity,
              std::span<Scalar> acceleration) const noexcept {
    const std::size_t count = std::min({joints(), position.size(), velocity.size(), acceleration.size()});
    for (std::size_t j = 0; j < count; ++j) {
      const State state = profiles_[j].at(t);
      position[j] = state.position;
      velocity[j] = state.velocity;
      acceleration[j] = state.acceleration;
    }
  }

  /// Calls visit(joint, velocity, acceleration, jerk) for each joint with its derivatives at t; after the end for none.
  template <class Visit>
  void derivatives(Scalar t, const Cursor&, Visit&& visit) const noexcept {
    if (t >= duration_) return;
    for (std::size_t j = 0; j < joints(); ++j) {
      const State state = profiles_[j].at(t);
      visit(j, state.velocity, state.acceleration, profiles_[j].jerk_at(t));
    }
  }

 private:
  template <class T>
  using Storage =
      std::conditional_t<Joints == std::dynamic_extent, std::vector<T>,
                         std::conditional_t<Joints == borrowed_extent, std::span<T>, std::array<T, Joints>>>;

  [[nodiscard]] Status plan_in_time(std::span<const State> start, std::span<const State> target,
                                    std::span<const Limits> limits, Scalar at_least) noexcept {
    in_time_ = false;
    for (std::size_t j = 0; j < joints(); ++j) {
      auto transfer = Transfer::between(start[j], target[j], limits[j]);
      if (!transfer) return fail(transfer.error());
      transfers_[j] = *transfer;
    }
    const Scalar duration = common_duration(at_least);
    if (!(duration <= static_cast<Scalar>(max_duration))) return fail(Errc::out_of_domain);
    duration_ = duration;
    in_time_ = true;
    fits_ = true;
    for (std::size_t j = 0; j < joints(); ++j) {
      profiles_[j] = transfers_[j].profile(duration);
      fits_ = fits_ && transfers_[j].fits();
    }
    return {};
  }

  /// The shortest that is possible for all and not less than this. Each round but the last passes a gap between the possible
  /// durations of one joint, and no joint has more than three.
  [[nodiscard]] Scalar common_duration(Scalar duration) const noexcept {
    for (std::size_t round = 0; round <= 4 * joints(); ++round) {
      const Scalar before = duration;
      for (const Transfer& transfer : transfers_) duration = transfer.not_less_than(duration);
      if (duration == before) break;
    }
    return duration;
  }

  [[nodiscard]] Status plan_in_phase(std::span<const State> start, std::span<const State> target,
                                     std::span<const Limits> limits, Scalar at_least) noexcept {
    for (std::size_t j = 0; j < joints(); ++j) {
      for (const State& state : {start[j], target[j]}) {
        if (Status status = check_state(state); !status) return status;
      }
      if (Status status = check_limits(limits[j]); !status) return status;
    }
    const detail::StraightLine<Scalar> line(start, target);
    if (!line.exists()) return fail(Errc::not_in_phase);
    const auto transfer = Transfer::between(start[line.leader()], target[line.leader()], line.limits(limits));
    if (!transfer) return fail(transfer.error());
    const Scalar duration = transfer->not_less_than(at_least);
    if (!(duration <= static_cast<Scalar>(max_duration))) return fail(Errc::out_of_domain);
    duration_ = duration;
    in_time_ = false;
    fits_ = transfer->fits();
    const Profile leading = transfer->profile(duration);
    for (std::size_t j = 0; j < joints(); ++j)
      profiles_[j] = leading.in_phase(line.ratio(j), start[j], target[j]);
    return {};
  }

  Scalar duration_ = 0;
  bool fits_ = true;
  bool in_time_ = false;  // transfers_ are those of the motion
  Storage<Transfer> transfers_{};
  Storage<Profile> profiles_{};
};
template <std::size_t Joints = std::dynamic_extent>
using PointToPoint = BasicPointToPoint<double, Joints>;

/// The worst violation of the limits (limits.hpp) anywhere in a motion that was planned with their velocities, accelerations and
/// jerks: of a position, or of what the start makes unavoidable. Exact, from the extrema. Real-time safe.
template <class Scalar, std::size_t Joints>
[[nodiscard]] std::optional<BasicViolation<Scalar>> find_violation(
    const BasicPointToPoint<Scalar, Joints>& motion,
    std::span<const std::type_identity_t<BasicJointLimits<Scalar>>> limits) noexcept {
  detail::WorstViolation<Scalar> worst;
  for (std::size_t j = 0; j < motion.joints(); ++j)
    worst.check(motion.joint(j), j, detail::limits_of(limits, j));
  return worst.result();
}

/// Lets joints that would leave their position limits arrive early (BasicPointToPoint::arrive_early). The worst violation that is
/// left, if any. Real-time safe.
template <class Scalar, std::size_t Joints>
[[nodiscard]] std::optional<BasicViolation<Scalar>> keep_in_range(
    BasicPointToPoint<Scalar, Joints>& motion,
    std::span<const std::type_identity_t<BasicJointLimits<Scalar>>> limits) noexcept {
  detail::WorstViolation<Scalar> worst;
  for (std::size_t j = 0; j < motion.joints(); ++j) {
    const auto check = [&] {
      detail::WorstViolation<Scalar> own;
      own.check(motion.joint(j), j, detail::limits_of(limits, j));
      return own;
    };
    auto own = check();
    if (own.result() && own.result()->quantity == Quantity::position) {
      motion.arrive_early(j);
      own = check();
    }
    worst.include(own);
  }
  return worst.result();
}

}  // namespace takt::trajectory
