// From a trajectory that is running into another one, without a step and within the limits. Times are those of a user who sends
// trajectories with time stamps: both are given on the clock of the running one, and what of the next one is past then is dropped.
//
//     auto spliced = splice(running, now, next, start_of_next, limits).value();   // or for some of the joints only
//     if (spliced.delay > 0) ...      // the rest of `next` is that much later than its time stamps say
//     if (spliced.violation) ...      // the way to it had to leave a limit: which, where and by how much
//     follow(spliced.trajectory);     // on the same clock as before: `running` until now, then the way to `next`, then `next`
//
// The way leads to the first waypoint that is left and arrives there at its time, if the limits allow that. If not, waypoints
// are still not simply skipped: who cannot be in time at the first is late there, and the rest of `next` is delayed by as much.
// Only where waypoints are so dense that another one can be joined in time before even the first could have been reached, that
// one is joined.
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

/// What became of it. Times are seconds on the running trajectory's clock.
template <class Scalar>
struct BasicSplice {
  BasicTrajectory<Scalar> trajectory;
  std::size_t waypoint = 0;  ///< of `next`, to which the bridge leads
  Scalar joins = 0;          ///< when it arrives there
  Scalar delay = 0;          ///< by how much that and all that follows is later than asked for
  /// The worst of the bridge: of a position limit between its ends, or of any limit that the state at the splice does not keep or
  /// cannot keep any more; the bridge then comes back with the least violation. Nothing: the bridge keeps all limits.
  std::optional<BasicViolation<Scalar>> violation;
};
using Splice = BasicSplice<double>;

namespace detail {

/// Looks for the way from one state of all joints to the waypoints of a trajectory.
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

  /// `limits` must outlive it. The first waypoint that is not past is `waypoint`, which must exist.
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

  /// To one waypoint, at its time or else as soon after it as possible.
  [[nodiscard]] Result<Bridge> lead_to(std::size_t waypoint) const {
    const Scalar time = next_.knot_time(waypoint) - elapsed_;
    std::vector<State> target;
    for (std::size_t j = 0; j < start_.size(); ++j) target.push_back(next_.knot(waypoint, j));
    Bridge bridge{BasicPointToPoint<Scalar>(start_.size()), waypoint, 0, {}};
    if (Status status = bridge.motion.plan(start_, target, planned_, Synchronisation::time, time); !status)
      return fail(status.error());
    const Scalar late = bridge.motion.duration() - time;
    if (late > same_time(next_.knot_time(waypoint))) bridge.delay = late;
    // From within the limits only those of positions are left to be checked: the others are kept but for rounding.
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

/// Which joints of the running trajectory those of the next one are.
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

/// The first waypoint that is not past when so much time has elapsed on the trajectory's own clock.
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

/// Follows `running` until `at`, from its state there a jerk-limited bridge to the first waypoint of `next` that is not past then,
/// and from that on `next`, whose first waypoint has its time `start`. `next` may be about some of the joints only: `joints` says
/// about which of `running`, in the order of `next`; the others go on with `running`. Empty, it is about all. One entry of
/// `limits` for each joint of `running`: the bridge keeps velocity, acceleration and jerk, which must be finite, and is checked for
/// positions; what is left of `next` is the caller's to check. When the bridge cannot arrive in time: see the top of this file.
///
/// After the end of `running` the joints stand at its end; a splice at 0 keeps nothing of it. The past stays in the result: who
/// splices again and again drops it by part().
///
/// At set-up only: allocates; O(waypoints x joints). Errors: wrong_size (limits; joints that `running` does not have, that are
/// named twice, or of another number than those of `next`), not_finite, out_of_domain (`at` before the start of `running`; times
/// beyond domain.hpp), no_waypoints (all of `next` is past), not_at_rest_at_end (of `running` after whose end the splice is, or of
/// joints that end in motion while others go on), and those of BasicPointToPoint::plan(), as of a waypoint beyond the limits.
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
