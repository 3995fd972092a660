// The joints, limits and tolerances of a request for a motion, checked against the robot. Not real-time safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "takt/motion/planner.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/tolerances.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::motion::planning {

using robot::RobotDescription;
using trajectory::JointTolerance;
using trajectory::Trajectory;
using trajectory::Violation;

/// A value, or why the request is rejected.
template <class T>
using Outcome = tl::expected<T, Rejection>;

/// The joints of a request as a set, and the order of the message's columns.
struct Columns {
  JointSet joints;
  std::vector<std::size_t> joint;  ///< the robot's joint index of each column of the request, rising
  /// The message's column for each column of the request.
  std::vector<std::size_t> from_message;

  [[nodiscard]] std::size_t size() const { return joint.size(); }
};

/// The data that every kind of motion needs.
struct Task {
  const RobotDescription* robot;
  std::string_view place;  ///< the request's key in the protocol, for messages: "move"
  Columns columns;
  std::vector<JointLimits> limits;  ///< one per column
  std::vector<MotionState> start;   ///< the present references
  bool fit = false;
  std::vector<JointTolerance> path_tolerance{};  ///< one per column, as the two below
  std::vector<JointTolerance> goal_tolerance{};
  double goal_time = 0;  ///< s

  [[nodiscard]] const robot::JointDescription& joint(std::size_t column) const {
    return robot->joints[columns.joint[column]];
  }
  [[nodiscard]] bool starts_at_rest() const {
    return std::all_of(start.begin(), start.end(), [](const MotionState& state) {
      return state.velocity == 0 && state.acceleration == 0;
    });
  }
};

/// Return the rejection of a request.
tl::unexpected<Rejection> reject(Rejection why);
tl::unexpected<Rejection> reject(Errc reason, std::string message, std::string joint = {});
tl::unexpected<Rejection> reject(Error error);
/// Names the joint of the column at fault, if it is one joint's.
tl::unexpected<Rejection> reject(const Task& task, Error error, std::optional<std::size_t> at_fault);
/// Names the joint, the time, the value and the limit; with a motion also its segment.
tl::unexpected<Rejection> reject(const Task& task, const Violation& violation);
tl::unexpected<Rejection> reject(const Task& task, const Trajectory& motion, const Violation& violation);

/// Finds the joints of a request. Errors: unknown_group, unknown_joint, duplicate_joint.
Outcome<Columns> find_joints(const JointSelection& selection, const RobotDescription& robot);

/// Returns the task of a motion from the present references, with the limits of robot and request. Errors: of
/// find_joints(), robot_not_ready, wrong_size, limit_above_robot.
Outcome<Task> begin(std::string_view place, const JointSelection& selection, const LimitsMessage& limits,
                    bool fit, const RobotDescription& robot, const Snapshot& state);

/// The limits of a motion from the present state. Where that state exceeds a limit, the motion brakes first.
std::vector<JointLimits> raised_for_start(const Task& task);

/// Checks that the list `name` of the request has one entry per joint. Error: wrong_size, with its place.
Outcome<void> check_size(const Task& task, std::size_t size, std::string_view name);
/// Checks the lists of a point, the `index`-th of its request; velocities and accelerations may be missing.
Outcome<void> check_sizes(const Task& task, const PointMessage& point, std::size_t index);

/// Sets the tolerances of the request, or the robot's. Error: unknown_joint.
Outcome<void> set_tolerances(Task& task, const TolerancesMessage& message);

/// The target of a joint that comes from `from`: `position`, or for a continuous joint its nearest
/// equivalent.
double target(const Task& task, std::size_t column, double position, double from);

/// Checks a target against the robot's own limits, independent of the joint's position. Error:
/// position_limit.
Outcome<void> check_target(const Task& task, std::size_t column, double position, double time);

/// Starts a motion at its first waypoint. The controller checks at the start time whether the joints are
/// there.
Outcome<void> start_at(Task& task, const PointMessage& point);

}  // namespace takt::motion::planning
