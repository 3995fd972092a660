#include "motion/planning_task.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "takt/trajectory/brake.hpp"
#include "takt/trajectory/wrap.hpp"

namespace takt::motion::planning {

tl::unexpected<Rejection> reject(Rejection why) { return tl::unexpected<Rejection>(std::move(why)); }

tl::unexpected<Rejection> reject(Errc reason, std::string message, std::string joint) {
  Rejection why;
  why.reason = reason;
  why.message = std::move(message);
  why.joint = std::move(joint);
  return reject(std::move(why));
}

Outcome<Columns> find_joints(const JointSelection& selection, const RobotDescription& robot) {
  std::vector<std::size_t> named;
  if (!selection.group.empty()) {
    const robot::GroupDescription* group = robot.find_group(selection.group);
    if (group == nullptr)
      return reject(Errc::unknown_group, fmt::format("the robot has no group {}", selection.group));
    named = group->joints;
  }
  for (const std::string& name : selection.names) {
    const auto joint = robot.find_joint(name);
    if (!joint) return reject(Errc::unknown_joint, fmt::format("the robot has no joint {}", name), name);
    named.push_back(*joint);
  }
  Columns columns;
  for (const std::size_t joint : named) {
    if (columns.joints.contains(joint)) {
      return reject(Errc::duplicate_joint, fmt::format("{} is named twice", robot.joints[joint].name),
                    robot.joints[joint].name);
    }
    columns.joints.insert(joint);
  }
  columns.joints.for_each([&](std::size_t joint) {
    columns.joint.push_back(joint);
    columns.from_message.push_back(
        static_cast<std::size_t>(std::find(named.begin(), named.end(), joint) - named.begin()));
  });
  return columns;
}

std::vector<JointLimits> raised_for_start(const Task& task) {
  std::vector<JointLimits> limits = task.limits;
  for (std::size_t c = 0; c < limits.size(); ++c)
    limits[c] = trajectory::raised_for(task.start[c], limits[c]);
  return limits;
}

namespace {

/// Tightens one limit of every column by the message's list: no entry, one for all, or one per joint.
Outcome<void> tighten(Task& task, const std::vector<double>& wanted, double JointLimits::*member,
                      std::string_view name) {
  if (wanted.empty()) return {};
  if (wanted.size() != 1 && wanted.size() != task.columns.size()) {
    return reject(Errc::wrong_size, fmt::format("/{}/limits/{}: has {} entries for {} joints", task.place,
                                                name, wanted.size(), task.columns.size()));
  }
  for (std::size_t c = 0; c < task.columns.size(); ++c) {
    const double limit = wanted.size() == 1 ? wanted.front() : wanted[task.columns.from_message[c]];
    double& own = task.limits[c].*member;
    if (!(limit <= own) && wanted.size() > 1) {
      Rejection why;
      why.reason = Errc::limit_above_robot;
      why.joint = task.joint(c).name;
      why.message = fmt::format(
          "{0}: the requested {1} limit {3} is above the robot's limit {2}; a request may only lower it",
          why.joint, name, own, limit);
      why.value = limit;
      why.limit = own;
      return reject(std::move(why));
    }
    own = std::min(own, limit);
  }
  if (wanted.size() == 1) {
    const bool above_all =
        std::none_of(task.limits.begin(), task.limits.end(),
                     [&](const JointLimits& limits) { return limits.*member == wanted.front(); });
    if (above_all) {
      double largest = 0;
      for (const JointLimits& limits : task.limits) largest = std::max(largest, limits.*member);
      Rejection why;
      why.reason = Errc::limit_above_robot;
      why.message = fmt::format(
          "/{}/limits/{}: {} is above the limit of every joint (at most {}), so it would limit nothing",
          task.place, name, wanted.front(), largest);
      why.value = wanted.front();
      why.limit = largest;
      return reject(std::move(why));
    }
  }
  return {};
}

}  // namespace

Outcome<Task> begin(std::string_view place, const JointSelection& selection, const LimitsMessage& limits,
                    bool fit, const RobotDescription& robot, const Snapshot& state) {
  auto columns = find_joints(selection, robot);
  if (!columns) return reject(std::move(columns).error());
  if (state.state != RobotState::ready || state.joint_count != robot.joints.size()) {
    const bool has_power = state.reason != Errc::power_off;
    return reject(has_power ? Errc::robot_not_ready : Errc::power_off,
                  "the robot is " + describe_state(state, robot));
  }
  Task task{&robot, place, std::move(*columns), {}, {}, fit};
  for (const std::size_t joint : task.columns.joint) {
    const MotionState& reference = state.joints[joint].reference;
    task.start.push_back(reference);
    task.limits.push_back(robot.joints[joint].limits);
  }
  if (auto done = tighten(task, limits.velocity, &JointLimits::velocity, "velocity"); !done)
    return reject(done.error());
  if (auto done = tighten(task, limits.acceleration, &JointLimits::acceleration, "acceleration"); !done) {
    return reject(done.error());
  }
  if (auto done = tighten(task, limits.jerk, &JointLimits::jerk, "jerk"); !done) return reject(done.error());
  for (std::size_t c = 0; c < task.columns.size(); ++c) {
    task.limits[c].position_min = std::min(task.limits[c].position_min, task.start[c].position);
    task.limits[c].position_max = std::max(task.limits[c].position_max, task.start[c].position);
  }
  return task;
}

Outcome<void> check_size(const Task& task, std::size_t size, std::string_view name) {
  if (size == task.columns.size()) return {};
  return reject(Errc::wrong_size, fmt::format("/{}/{}: has {} entries for {} joints", task.place, name, size,
                                              task.columns.size()));
}

Outcome<void> check_sizes(const Task& task, const PointMessage& point, std::size_t index) {
  const auto check = [&](const std::vector<double>& list, std::string_view name) -> Outcome<void> {
    if (list.size() == task.columns.size()) return {};
    return check_size(task, list.size(), fmt::format("points/{}/{}", index, name));
  };
  if (auto done = check(point.positions, "positions"); !done) return done;
  if (!point.velocities.empty()) {
    if (auto done = check(point.velocities, "velocities"); !done) return done;
  }
  return point.accelerations.empty() ? Outcome<void>{} : check(point.accelerations, "accelerations");
}

namespace {

/// Replaces tolerances by those that the request gives by joint name: 0 keeps the default, negative is no
/// limit.
Outcome<void> replace(const Task& task, const std::vector<ToleranceMessage>& wanted, std::string_view where,
                      std::vector<JointTolerance>& tolerances) {
  const auto replace_one = [](double& tolerance, double by) {
    if (by != 0) tolerance = std::max(by, 0.0);
  };
  for (const ToleranceMessage& message : wanted) {
    std::size_t c = 0;
    while (c < task.columns.size() && task.joint(c).name != message.name) ++c;
    if (c == task.columns.size()) {
      return reject(
          Errc::unknown_joint,
          fmt::format("/{}/{}: {} is not one of the joints that move", task.place, where, message.name),
          message.name);
    }
    replace_one(tolerances[c].position, message.position);
    replace_one(tolerances[c].velocity, message.velocity);
  }
  return {};
}

}  // namespace

Outcome<void> set_tolerances(Task& task, const TolerancesMessage& message) {
  task.path_tolerance.assign(message.path.empty() ? 0 : task.columns.size(), {});  // no path tolerances
  task.goal_tolerance.clear();
  for (std::size_t c = 0; c < task.columns.size(); ++c)
    task.goal_tolerance.push_back({task.joint(c).goal_tolerance, 0, 0});
  task.goal_time = message.goal_time > 0   ? message.goal_time
                   : message.goal_time < 0 ? std::numeric_limits<double>::infinity()
                                           : to_seconds(task.robot->goal_time);
  if (auto done = replace(task, message.path, "path_tolerance", task.path_tolerance); !done) return done;
  return replace(task, message.goal, "goal_tolerance", task.goal_tolerance);
}

double target(const Task& task, std::size_t column, double position, double from) {
  const bool wraps = task.joint(column).kind == robot::JointKind::continuous &&
                     std::abs(position) <= trajectory::max_magnitude;  // beyond it the turns are not exact
  return wraps ? trajectory::nearest_equivalent(position, from) : position;
}

Outcome<void> check_target(const Task& task, std::size_t column, double position, double time) {
  const robot::JointDescription& joint = task.joint(column);
  const bool above = position > joint.limits.position_max;
  if (!above && position >= joint.limits.position_min) return {};
  Rejection why;
  why.reason = Errc::position_limit;
  why.joint = joint.name;
  why.time = time;
  why.value = position;
  why.limit = above ? joint.limits.position_max : joint.limits.position_min;
  why.message = fmt::format("{}: position {:.6g} is outside {:.6g} .. {:.6g}", joint.name, position,
                            joint.limits.position_min, joint.limits.position_max);
  return reject(std::move(why));
}

tl::unexpected<Rejection> reject(const Task& task, const Violation& violation) {
  Rejection why;
  why.reason = limit_of(violation.quantity);
  why.joint = task.joint(violation.joint).name;
  why.time = violation.time;
  why.value = violation.value;
  why.limit = violation.limit;
  why.message =
      fmt::format("{}: {} {:.6g} at {:.6g} s is beyond the limit of {:.6g}", why.joint,
                  quantity_name(violation.quantity), violation.value, violation.time, violation.limit);
  return reject(std::move(why));
}

tl::unexpected<Rejection> reject(const Task& task, const Trajectory& motion, const Violation& violation) {
  std::size_t after = 0;
  while (after + 1 < motion.segments() && motion.knot_time(after + 1) <= violation.time) ++after;
  auto why = reject(task, violation);
  why.value().message += fmt::format(" (in the segment from {:.6g} s to {:.6g} s)", motion.knot_time(after),
                                     motion.knot_time(after + 1));
  return why;
}

tl::unexpected<Rejection> reject(Error error) {
  if (error == trajectory::Errc::times_not_increasing) {
    return reject(Errc::times_not_increasing, std::string(describe(Errc::times_not_increasing)));
  }
  if (error == trajectory::Errc::not_in_phase)
    return reject(Errc::not_in_phase, std::string(describe(Errc::not_in_phase)));
  return reject(Errc::out_of_domain, std::string(describe(static_cast<trajectory::Errc>(error.code))));
}

tl::unexpected<Rejection> reject(const Task& task, Error error, std::optional<std::size_t> at_fault) {
  auto why = reject(error);
  if (!at_fault) return why;
  why.value().joint = task.joint(*at_fault).name;
  why.value().message = fmt::format("{}: {}", why.value().joint, why.value().message);
  return why;
}

Outcome<void> start_at(Task& task, const PointMessage& point) {
  if (auto done = check_sizes(task, point, 0); !done) return done;
  for (std::size_t c = 0; c < task.columns.size(); ++c) {
    const std::size_t from = task.columns.from_message[c];
    const double position = target(task, c, point.positions[from], task.start[c].position);
    if (auto done = check_target(task, c, position, point.time); !done) return done;
    task.start[c] = {position, point.velocities.empty() ? 0 : point.velocities[from],
                     point.accelerations.empty() ? 0 : point.accelerations[from]};
  }
  return {};
}

}  // namespace takt::motion::planning
