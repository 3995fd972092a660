// How a goal begins: the motion that joins the joints' present reference to its trajectory.
#include "takt/motion/joint_trajectory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "takt/trajectory/limits.hpp"

namespace takt::motion {
namespace {

/// If dense waypoints leave no time to join the first one, a waypoint this many knots later is tried.
constexpr std::array<std::size_t, 3> lead_steps{0, 3, 15};

}  // namespace

/// The trajectory's time for which the present reference was computed.
double JointTrajectoryController::time_at_last_reference(const Request& request) const noexcept {
  return request.start ? to_seconds(now_ - period_ - *request.start) : 0;
}

/// Returns why the trajectory cannot be joined; no reason if it can.
JointTrajectoryController::Fault JointTrajectoryController::join_present_motion(Request& request,
                                                                                Lead& lead) noexcept {
  std::size_t columns = 0;
  bool moved = false;
  bool at_rest = true;
  request.joints.for_each([&](std::size_t joint) noexcept {
    const MotionState& start = starts_[columns] = axes_[joint].joint->reference();
    moved = moved || !(start == request.trajectory.knot(0, columns));
    at_rest = at_rest && start.velocity == 0 && start.acceleration == 0;
    ++columns;
  });
  const double time = time_at_last_reference(request);
  lead = {0, time};
  if (!moved && (time == 0 || (time < 0 && at_rest))) return {};
  if (const Fault left = start_mismatch(request); time <= 0 && left.reason != Errc{}) return left;
  for (std::size_t c = 0; c < columns; ++c) {
    limits_[c] = trajectory::raised_for(starts_[c], request.limits[c]);
    limits_[c].position_min = std::min(limits_[c].position_min, starts_[c].position);
    limits_[c].position_max = std::max(limits_[c].position_max, starts_[c].position);
    bounds_[c] = trajectory::both_ways(request.limits[c]);
  }
  return find_lead(request, lead);
}

/// Which joint has left the first waypoint since validation, for a trajectory that has to start there.
JointTrajectoryController::Fault JointTrajectoryController::start_mismatch(
    const Request& request) const noexcept {
  Fault fault;
  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) noexcept {
    const double distance =
        std::abs(axes_[joint].joint->reference().position - request.trajectory.knot(0, column++).position);
    if (request.starts_here && !(distance <= axes_[joint].goal_tolerance)) {
      fault = {Errc::start_mismatch, joint, distance, axes_[joint].goal_tolerance};
    }
  });
  return fault;
}

/// Plans the lead to the first of a few waypoints that is reachable in time. If no waypoint is, and the goal
/// may be late, it plans the lead with the least delay.
JointTrajectoryController::Fault JointTrajectoryController::find_lead(Request& request, Lead& lead) noexcept {
  const std::size_t last = request.trajectory.segments();
  const double now = time_at_last_reference(request);
  const auto time_to = [&](std::size_t knot) noexcept {
    return std::max(request.trajectory.knot_time(knot) - request.may_gain, 0.0) - now;
  };
  std::size_t first = request.first_waypoint;
  // bisection: the first waypoint that has not passed
  for (std::size_t past_last = last + 1; first < past_last;) {
    const std::size_t middle = first + (past_last - first) / 2;
    if (time_to(middle) < 0) {
      first = middle + 1;
    } else {
      past_last = middle;
    }
  }
  if (first > last) return {Errc::start_too_far, 0, now, request.trajectory.duration()};
  std::size_t best = 0;
  double least_delay = std::numeric_limits<double>::infinity();
  std::size_t knot = 0;
  Fault fault;
  for (const std::size_t step : lead_steps) {
    const std::size_t next = std::min(first + step, last);
    if (next == knot) break;
    knot = next;
    fault = plan_lead(request, knot, time_to(knot));
    if (fault.reason != Errc{}) continue;
    const double delay = request.lead.duration() - time_to(knot);
    if (delay < least_delay) {
      least_delay = delay;
      best = knot;
    }
    if (delay <= 0) break;
    if (!request.may_be_late) fault = missing_time(request, time_to(knot));
  }
  if (best == 0 || (least_delay > 0 && !request.may_be_late)) return fault;
  if (best != knot) fault = plan_lead(request, best, time_to(best));
  lead = {request.lead.duration(), request.trajectory.knot_time(best)};
  return {};
}

/// Plans a lead from starts_ to a waypoint.
JointTrajectoryController::Fault JointTrajectoryController::plan_lead(Request& request, std::size_t knot,
                                                                      double at_least) noexcept {
  const std::size_t columns = request.joints.size();
  planned_ += columns;
  for (std::size_t c = 0; c < columns; ++c) ends_[c] = request.trajectory.knot(knot, c);
  const Status planned =
      request.lead.plan(std::span<const MotionState>(starts_).first(columns),
                        std::span<const MotionState>(ends_).first(columns),
                        std::span<const trajectory::DirectionalLimits>(bounds_).first(columns),
                        request.synchronisation, at_least);
  if (!planned) {
    const bool leaves_the_line = planned.error() == trajectory::Errc::not_in_phase;
    return {leaves_the_line ? Errc::not_in_phase : Errc::out_of_domain, 0, 0, 0};
  }
  const auto violation =
      trajectory::keep_in_range(request.lead, std::span<const JointLimits>(limits_).first(columns));
  if (!violation) return {};
  return {limit_of(violation->quantity), request.joints.at(violation->joint), violation->value,
          violation->limit};
}

/// The joint that prevents the latest lead from ending in time, and that joint's shortest duration.
JointTrajectoryController::Fault JointTrajectoryController::missing_time(const Request& request,
                                                                         double time) const noexcept {
  Fault fault{Errc::joint_already_moving, 0, 0, time};
  for (std::size_t c = 0; c < request.joints.size(); ++c) {
    const auto transfer = trajectory::Transfer::between(starts_[c], ends_[c], bounds_[c]);
    const double needed = transfer ? transfer->not_less_than(time) : 0;
    if (needed <= fault.value) continue;
    fault.joint = request.joints.at(c);
    fault.value = needed;
  }
  return fault;
}

/// The worst limit that the joints' present motion inevitably exceeds; no reason if there is none.
JointTrajectoryController::Fault JointTrajectoryController::unavoidable_excess(
    const Request& request) const noexcept {
  Fault worst;
  double worst_ratio = 1 + trajectory::limit_slack;
  std::size_t column = 0;
  request.joints.for_each([&](std::size_t joint) noexcept {
    const JointLimits& limits = request.limits[column++];
    const JointLimits raised = trajectory::raised_for(axes_[joint].joint->reference(), limits);
    const auto look_at = [&](trajectory::Quantity quantity, double value, double limit) noexcept {
      if (!(value > worst_ratio * limit)) return;
      worst_ratio = value / limit;
      worst = {limit_of(quantity), joint, value, limit, quantity};
    };
    look_at(trajectory::Quantity::velocity, raised.velocity, limits.velocity);
    look_at(trajectory::Quantity::acceleration, raised.acceleration, limits.acceleration);
  });
  return worst;
}

}  // namespace takt::motion
