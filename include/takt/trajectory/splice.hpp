// Joins a running trajectory to another one, without a step and within the limits. It suits callers who send
// trajectories with time stamps. Both trajectories use the clock of the running one, and the part of the next
// one that is already past is dropped.
//
//     Splice spliced = splice<double>(running, now, next, start_of_next, limits).value();
//
//     if (spliced.delay > 0) report(spliced.delay);           // s by which the rest of `next` is late
//     if (spliced.violation) report(*spliced.violation);      // the bridge exceeds this limit
//
//     follow(spliced.trajectory);  // same clock: `running` until now, then the bridge, then `next`
//
// The bridge leads to the first waypoint that is not past, and arrives there at its time if the limits allow
// it. If they do not, the joints arrive there late, and the rest of `next` is delayed by the same time.
// Waypoints are not simply skipped. One case joins a later waypoint: waypoints so dense that a later one can
// be reached in time before the first one could be reached.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/assemble.hpp"
#include "takt/trajectory/directional_limits.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::trajectory {

/// The result of splice(). Times are seconds on the running trajectory's clock.
template <class Scalar>
struct BasicSplice {
  /// `running` until the splice, then the bridge, then `next`.
  BasicTrajectory<Scalar> trajectory;
  std::size_t waypoint = 0;  ///< waypoint of `next` at the end of the bridge
  Scalar joins = 0;          ///< time of arrival there
  Scalar delay = 0;          ///< s by which this waypoint and the rest of `next` are late
  /// The worst violation on the bridge; nothing if it keeps all limits. It exceeds a position limit between
  /// its ends, or any limit that the state at the splice exceeds or must exceed. In that case the bridge
  /// returns with the least violation.
  std::optional<BasicViolation<Scalar>> violation;
};
using Splice = BasicSplice<double>;

namespace detail {

/// Searches for the bridge from one state of all joints to the waypoints of a trajectory.
template <class Scalar>
class BridgeSearch {
 public:
  using State = BasicMotionState<Scalar>;
  using Violation = std::optional<BasicViolation<Scalar>>;

  struct Bridge {
    BasicPointToPoint<Scalar> motion;
    std::size_t waypoint = 0;
    Scalar delay = 0;
    Violation violation;
  };

  /// `limits` must outlive this object. `waypoint` is the first waypoint that is not past; it must exist.
  BridgeSearch(std::vector<State> start, const BasicTrajectory<Scalar>& next, Scalar elapsed,
               std::span<const BasicJointLimits<Scalar>> limits)
      : start_(std::move(start)), next_(next), elapsed_(elapsed), limits_(limits) {
    for (const auto& limit : limits) {
      planned_.push_back(both_ways(limit));
      positions_.emplace_back();
      positions_.back().position_min = limit.position_min;
      positions_.back().position_max = limit.position_max;
    }
  }

  [[nodiscard]] Result<Bridge> run(std::size_t first) const {
    auto bridge = lead_to(first);
    if (!bridge || keeps(*bridge)) return bridge;
    const Scalar latest = elapsed_ + bridge->motion.duration();
    for (std::size_t further = 1; next_.knot_time(first + further) <= latest; further *= 2) {
      if (first + further > next_.segments()) break;
      if (auto other = lead_to(first + further); other && keeps(*other)) return other;
    }
    return bridge;
  }

 private:
  [[nodiscard]] static bool keeps(const Bridge& bridge) noexcept {
    return bridge.delay == 0 && !bridge.violation;
  }

  /// The bridge to one waypoint, which arrives at its time or as soon after it as possible.
  [[nodiscard]] Result<Bridge> lead_to(std::size_t waypoint) const {
    const Scalar time = next_.knot_time(waypoint) - elapsed_;
    std::vector<State> target;
    for (std::size_t j = 0; j < start_.size(); ++j) target.push_back(next_.knot(waypoint, j));
    Bridge bridge{BasicPointToPoint<Scalar>(start_.size()), waypoint, 0, {}};
    if (Status status = bridge.motion.plan(start_, target, planned_, Synchronisation::time, time); !status)
      return fail(status.error());
    const Scalar late = bridge.motion.duration() - time;
    if (late > same_time(next_.knot_time(waypoint))) bridge.delay = late;
    // A start within the limits leaves only positions to check; the other limits are kept up to rounding.
    bridge.violation = find_violation(bridge.motion, bridge.motion.fits() ? positions_ : limits_);
    return bridge;
  }

  std::vector<State> start_;
  const BasicTrajectory<Scalar>& next_;
  Scalar elapsed_;
  std::span<const BasicJointLimits<Scalar>> limits_;
  std::vector<BasicJointLimits<Scalar>> positions_;
  std::vector<BasicDirectionalLimits<Scalar>> planned_;
};

/// Maps the joints of the next trajectory to those of the running one.
template <class Scalar>
[[nodiscard]] Result<std::vector<std::size_t>> columns_of(const BasicTrajectory<Scalar>& running,
                                                          const BasicTrajectory<Scalar>& next,
                                                          std::span<const std::size_t> joints) {
  std::vector<std::size_t> columns(joints.begin(), joints.end());
  if (columns.empty()) {
    columns.resize(running.joints());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
  }
  std::vector<bool> named(running.joints());
  for (const std::size_t joint : columns) {
    if (joint >= named.size() || named[joint]) return fail(Errc::wrong_size);
    named[joint] = true;
  }
  if (columns.empty() || columns.size() != next.joints()) return fail(Errc::wrong_size);
  return columns;
}

/// The first waypoint that is not past when the trajectory's own clock shows this time (s).
template <class Scalar>
[[nodiscard]] std::optional<std::size_t> first_left(const BasicTrajectory<Scalar>& trajectory,
                                                    Scalar elapsed) noexcept {
  const Scalar time = elapsed - same_time(trajectory.duration());
  for (std::size_t k = 0; k <= trajectory.segments(); ++k) {
    if (trajectory.knot_time(k) >= time) return k;
  }
  return std::nullopt;
}

}  // namespace detail

/// Follows `running` until time `at`, then a jerk-limited bridge to the first waypoint of `next` that is not
/// past, then `next`.
/// * `at` and `start`: seconds on the clock of `running`. `start` is the time of the first waypoint of
///   `next`.
/// * `limits`: one entry per joint of `running`. The bridge keeps velocity, acceleration and jerk, which must
///   be finite. It is checked for positions. The rest of `next` is not checked.
/// * `joints`: the joint of `running` for each joint of `next`, in the order of `next`. The other joints
///   continue with `running`. An empty list means all joints.
///
/// The top of this file says what happens if the bridge cannot arrive in time. After the end of `running` the
/// joints rest at its end. A splice at 0 keeps no part of `running`. The past stays in the result: a caller
/// who splices repeatedly drops it with part().
/// Errors:
/// * wrong_size: of `limits`, or `joints` names a joint that does not exist, repeats one, or has another
///   number of joints than `next`.
/// * not_finite, out_of_domain: `at` is before the start of `running`, or a time is outside domain.hpp.
/// * no_waypoints: all waypoints of `next` are past.
/// * not_at_rest_at_end: the splice is after the end of `running`, which does not end at rest; or joints end
///   in motion while others continue.
/// * Those of BasicPointToPoint::plan(), for example for a waypoint outside the limits.
///
/// For set-up only: allocates; O(waypoints x joints).
template <class Scalar>
[[nodiscard]] Result<BasicSplice<Scalar>> splice(
    const BasicTrajectory<Scalar>& running, std::type_identity_t<Scalar> at,
    const BasicTrajectory<Scalar>& next, std::type_identity_t<Scalar> start,
    std::span<const std::type_identity_t<BasicJointLimits<Scalar>>> limits,
    std::span<const std::size_t> joints = {}) {
  const auto columns = detail::columns_of(running, next, joints);
  if (!columns) return fail(columns.error());
  if (limits.size() != running.joints()) return fail(Errc::wrong_size);
  if (!std::isfinite(at) || !std::isfinite(start)) return fail(Errc::not_finite);
  if (at < 0) return fail(Errc::out_of_domain);
  const auto first = detail::first_left(next, at - start);
  if (!first) return fail(Errc::no_waypoints);

  std::vector<BasicMotionState<Scalar>> from;
  std::vector<BasicJointLimits<Scalar>> own;
  for (const std::size_t joint : *columns) {
    from.push_back(running.at(at, joint));
    own.push_back(limits[joint]);
  }
  auto bridge = detail::BridgeSearch<Scalar>(from, next, at - start, own).run(*first);
  if (!bridge) return fail(bridge.error());

  const bool waits = at - running.duration() > detail::same_time(at);
  std::vector<BasicJointMotion<Scalar>> motions;
  for (std::size_t j = 0; j < running.joints(); ++j) {
    const auto column = std::find(columns->begin(), columns->end(), j);
    motions.emplace_back(running.at(0, j));
    if (column == columns->end()) {
      motions[j].append(running, j, 0);
      continue;
    }
    const auto i = static_cast<std::size_t>(column - columns->begin());
    motions[j].append(running, j, 0, at);
    if (waits) {
      if (!detail::at_rest(motions[j].end())) return fail(Errc::not_at_rest_at_end);
      motions[j].hold(at - running.duration());
    }
    motions[j].append(bridge->motion.joint(i)).append(next, i, next.knot_time(bridge->waypoint));
  }
  auto trajectory = assemble<Scalar>(motions);
  if (!trajectory) return fail(trajectory.error());
  if (bridge->violation) {
    bridge->violation->joint = (*columns)[bridge->violation->joint];
    bridge->violation->time += at;
  }
  return BasicSplice<Scalar>{*std::move(trajectory), bridge->waypoint, at + bridge->motion.duration(),
                             bridge->delay, bridge->violation};
}

}  // namespace takt::trajectory
