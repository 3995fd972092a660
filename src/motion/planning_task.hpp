// The joints, limits and tolerances of a request for a motion, checked against the robot. Not real-time safe.
#pragma once

#include <algorithm>
#include <cstddef>
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
/// Names the joint, the time, the value and the limit; with a motion also its segment.
tl::unexpected<Rejection> reject(const Task& task, const Violation& violation);
tl::unexpected<Rejection> reject(const Task& task, const Trajectory& motion, const Violation& violation);

/// Finds the joints of a request. Errors: unknown_group, unknown_joint, duplicate_joint.
Outcome<Columns> find_joints(const JointSelection& selection, const RobotDescription& robot);

/// Returns the task of a motion from the present references, with the limits of robot and request. Errors: of
/// find_joints(), robot_not_ready, wrong_size, limit_above_robot.
Outcome<Task> begin(const JointSelection& selection, const LimitsMessage& limits, bool fit,
                    const RobotDescription& robot, const Snapshot& state);

/// The limits of a motion from the present state. Where that state exceeds a limit, the motion brakes first.
std::vector<JointLimits> raised_for_start(const Task& task);

/// Checks the number of entries of the list named `what`. Error: wrong_size.
Outcome<void> check_size(const Task& task, std::size_t size, std::string_view what);

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
