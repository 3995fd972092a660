// Jerk-limited motion of many joints from any state to any other in the shortest time; all joints arrive
// together. The motion is planned within a control period, without heap, in a bounded number of steps.
//
//     PointToPoint<7> motion;                              // or PointToPoint<> motion(joints)
//     std::array<MotionState, 7> from{}, to{};             // rad, rad/s, rad/s^2; in motion or at rest
//
//     std::array<DirectionalLimits, 7> limits;
//     limits.fill({-2, 2, -5, 5, 50});                     // both_ways() converts JointLimits
//
//     if (Status status = motion.plan(from, to, limits); !status) return status;
//
//     motion.sample(t, position, velocity, acceleration);  // each period, t = 0 .. motion.duration()
//
// The duration is the shortest that all joints can have. If the caller asks for a longer duration that is
// possible, it is exactly that. Faster joints move with less jerk; they do not arrive early and wait.
// Positions between start and target are not limited. joint(j).position_extrema() returns them exactly, and
// keep_in_range() lets joints that would leave their range turn back earlier.
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

/// How the joints of one motion are coordinated.
enum class Synchronisation : std::uint8_t {
  time,   ///< all joints start and arrive together
  phase,  ///< they also move in proportion, along the straight line from start to target
};

namespace detail {

/// The straight line through start and target, along which all joints move in phase. Joint j moves ratio(j)
/// times as far as the joint that moves furthest, the leader.
template <class Scalar>
class StraightLine {
 public:
  using State = BasicMotionState<Scalar>;
  using Limits = BasicDirectionalLimits<Scalar>;

  /// Directions that differ by at most this fraction count as parallel.
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

  /// The joint that moves furthest.
  [[nodiscard]] std::size_t leader() const noexcept { return leader_; }

  [[nodiscard]] Scalar ratio(std::size_t joint) const noexcept {
    return component(direction_, joint) * per_leader_;
  }

  /// The first joint whose velocity or acceleration at an end points off the line.
  [[nodiscard]] std::optional<std::size_t> joint_off() const noexcept {
    for (std::size_t quantity = 0; quantity < quantities; ++quantity) {
      const Scalar most = std::abs(component(quantity, furthest(quantity)));
      const Scalar leading = component(quantity, leader_);
      for (std::size_t j = 0; j < start_.size(); ++j) {
        const Scalar allowed = tolerance * most + rounding(quantity, j);
        if (!(std::abs(component(quantity, j) - ratio(j) * leading) <= allowed)) return j;
      }
    }
    return std::nullopt;
  }

  /// Limits for the leader that keep every joint within its own limits.
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

  /// The rounding error of the difference of two positions. The other quantities are given exactly.
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
  std::size_t direction_ = 0;  // the first quantity that defines the direction of the line
  std::size_t leader_ = 0;
  Scalar per_leader_ = 0;
};

}  // namespace detail

/// Extent for motions in borrowed memory: the number of joints is the size of that memory.
inline constexpr std::size_t borrowed_extent = std::dynamic_extent - 1;

/// The motion of `Joints` joints, a value without heap. With std::dynamic_extent the constructor sizes it;
/// nothing else allocates. With borrowed_extent it lies in memory that must outlive it, and its copies share
/// that memory. plan() and all other functions are real-time safe.
template <class Scalar, std::size_t Joints = std::dynamic_extent>
class BasicPointToPoint {
 public:
  using State = BasicMotionState<Scalar>;
  using Limits = BasicDirectionalLimits<Scalar>;
  using Transfer = BasicTransfer<Scalar>;
  using Profile = BasicJerkProfile<Scalar>;
  struct Cursor {};  ///< holds nothing; the interface of a path requires it

  /// Rests at zero.
  BasicPointToPoint() = default;
  /// Sizes the motion for `joints` joints, at rest at zero. Allocates.
  explicit BasicPointToPoint(std::size_t joints) requires(Joints == std::dynamic_extent)
      : transfers_(joints), profiles_(joints) {}
  /// Uses the caller's memory: one transfer and one profile per joint.
  BasicPointToPoint(std::span<Transfer> transfers, std::span<Profile> profiles) noexcept
      requires(Joints == borrowed_extent)
      : transfers_(transfers.first(std::min(transfers.size(), profiles.size()))),
        profiles_(profiles.first(transfers_.size())) {}

  /// Returns the number of joints.
  [[nodiscard]] std::size_t joints() const noexcept { return profiles_.size(); }

  /// In seconds.
  [[nodiscard]] Scalar duration() const noexcept { return duration_; }

  /// False if a joint starts outside its limits or cannot stay inside. The joint then first returns inside
  /// the limits, with the least violation.
  [[nodiscard]] bool fits() const noexcept { return fits_; }

  /// The motion of one joint; `joint` must be less than joints().
  [[nodiscard]] const Profile& joint(std::size_t joint) const noexcept { return profiles_[joint]; }

  /// Plans the motion from `start` to `target`; each has one state per joint, and `limits` one entry per
  /// joint (SI units). The duration is the shortest that all joints can have and that is at least `at_least`
  /// seconds. A value <= 0 asks for the shortest. duration() is exactly `at_least` if that is possible.
  /// Durations above it may be impossible too: see transfer.hpp. Errors: wrong_size, not_finite, those of
  /// BasicTransfer::between(), out_of_domain (longer than max_duration), not_in_phase. After an error the old
  /// motion stays. Real-time safe. O(joints) for most problems, O(joints^2) at worst, because joints may
  /// exclude durations for each other. joint_at_fault() names the joint of an error.
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

  /// Finds the joint for which plan() failed with these arguments. In phase, it is also the first joint off
  /// the straight line. Nothing if the sizes or the asked duration are at fault. Real-time safe. O(joints).
  [[nodiscard]] static std::optional<std::size_t> joint_at_fault(
      std::span<const State> start, std::span<const State> target, std::span<const Limits> limits,
      Synchronisation synchronisation = Synchronisation::time) noexcept {
    const std::size_t joints = start.size();
    if (joints == 0 || target.size() != joints || limits.size() != joints) return std::nullopt;
    for (std::size_t j = 0; j < joints; ++j) {
      const auto alone = Transfer::between(start[j], target[j], limits[j]);
      if (!alone || !(alone->shortest() <= static_cast<Scalar>(max_duration))) return j;
    }
    if (synchronisation == Synchronisation::time) return std::nullopt;
    return detail::StraightLine<Scalar>(start, target).joint_off();
  }

  /// Lets a joint move as fast as it can, and wait at its target for the others. So it also turns back as
  /// early as it can. Does nothing if the joints move in phase or if the joint's target is not at rest.
  /// Real-time safe.
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

  /// Writes position, velocity and acceleration of all joints at t seconds. Before the start they are those
  /// of the start, from the end on exactly those of the target. A span shorter than joints() receives that
  /// many joints. Real-time safe.
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

  /// Calls visit(joint, velocity, acceleration, jerk) for each joint at t seconds. Makes no calls after the
  /// end. Real-time safe.
  template <class Visit>
  void derivatives(Scalar t, const Cursor&, Visit&& visit) const noexcept {
    if (t >= duration_) return;
    for (std::size_t j = 0; j < joints(); ++j) {
      const State state = profiles_[j].at(t);
      visit(j, state.velocity, state.acceleration, profiles_[j].jerk_at(t));
    }
  }

  /// The first time after t seconds at which a joint's jerk may step, the end included; infinite after the
  /// end. Real-time safe.
  [[nodiscard]] Scalar next_knot(Scalar t, const Cursor&) const noexcept {
    if (t >= duration_) return std::numeric_limits<Scalar>::infinity();
    Scalar next = duration_;
    for (const Profile& profile : profiles_) next = std::min(next, profile.next_knot(t));
    return next;
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

  /// The shortest duration that all joints can have and that is at least `duration`. Each round except the
  /// last passes a gap in the possible durations of one joint. No joint has more than three gaps.
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
    if (line.joint_off()) return fail(Errc::not_in_phase);
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
  bool in_time_ = false;  // transfers_ belong to the present motion
  Storage<Transfer> transfers_{};
  Storage<Profile> profiles_{};
};
template <std::size_t Joints = std::dynamic_extent>
using PointToPoint = BasicPointToPoint<double, Joints>;

/// Finds the worst violation of the limits (limits.hpp) in a motion that was planned with their velocities,
/// accelerations and jerks. It can be a violation of a position, or one that the start makes inevitable.
/// Exact, from the extrema. Real-time safe.
template <class Scalar, std::size_t Joints>
[[nodiscard]] std::optional<BasicViolation<Scalar>> find_violation(
    const BasicPointToPoint<Scalar, Joints>& motion,
    std::span<const std::type_identity_t<BasicJointLimits<Scalar>>> limits) noexcept {
  detail::WorstViolation<Scalar> worst;
  for (std::size_t j = 0; j < motion.joints(); ++j)
    worst.check(motion.joint(j), j, detail::limits_of(limits, j));
  return worst.result();
}

/// Lets joints that would leave their position limits arrive early (BasicPointToPoint::arrive_early()).
/// Returns the worst remaining violation, if any. Real-time safe.
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
