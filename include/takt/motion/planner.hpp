// The planner turns a client's message into a request that the loop can execute. It looks up the joints, puts
// columns into the robot's order, and joins the motion to the present reference. It checks every limit,
// between the waypoints too. No plan exceeds a limit of the robot. The functions are pure: the same message,
// robot and state give the same answer.
//
// Limits. They are the robot's, or tighter ones of the request. A joint outside its position limits, by
// encoder rounding or a changed limit, may stay there and move back, but not farther out. A joint beyond the
// request's own velocity or acceleration limit first returns within it. It does so with the least excess that
// these limits and its jerk limit allow. The planner rejects the request if that motion leaves a position
// limit or misses a waypoint.
//
// Start. A first waypoint later than time 0 is reached from the present reference, with its position,
// velocity and acceleration. A first waypoint at time 0 must be within the joint's goal tolerance of the
// present reference. The reference then replaces it, so the command does not step. The reference may move
// until the loop takes the request. The loop then plans a jerk-limited motion to the first waypoint, or a
// later one, within the same limits, or rejects the request (joint_trajectory.hpp). If the request has a
// start time on the loop's clock, the planner does not compare a first waypoint at time 0 with the reference.
// The loop compares them at the start time.
//
// Moves. A move without a duration is jerk-limited (trajectory/point_to_point.hpp) and the fastest within its
// limits of velocity, acceleration and jerk. From moving joints it may leave a position limit; then it is
// rejected.
//
// Option `fit`. From rest, the planner slows the whole motion down by the smallest sufficient factor, which
// keeps its path. From a moving start, it slows down the motion from the first waypoint on. A jerk-limited
// motion leads to that waypoint, at its time or as soon after it as the limits allow. If that motion, or the
// stop after the last waypoint, leaves a position limit, the planner slows the rest down further. Each step
// is 5 %. A lower speed cannot bring a waypoint back into its position range.
//
// Continuous joints. Each target is the angle nearest to where the joint comes from. So the joint turns by at
// most half a turn between waypoints. For exactly half a turn, the sign of the given positions decides. The
// reference and the state keep counting turns, as the drive's encoder does.
//
// Tolerances of a request replace the robot's goal_tolerance and goal_time, and may be wider.
//
// Not real-time safe: it allocates, and its cost grows with waypoints times joints.
#pragma once

#include <memory>
#include <optional>
#include <tl/expected.hpp>

#include "takt/motion/request.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/motion/wire.hpp"
#include "takt/robot/description.hpp"

namespace takt::motion {

/// A request for the loop, without goal number and time stamps, or the rejection.
using Plan = tl::expected<std::unique_ptr<Request>, Rejection>;

/// Plans a trajectory or a move from the robot's present state. Rejections: robot_not_ready, unknown_joint
/// (also of a tolerance), unknown_group, wrong_size, limit_above_robot, start_mismatch, out_of_domain,
/// position_limit, velocity_limit, acceleration_limit, jerk_limit, not_at_rest_at_end, joint_already_moving
/// (no motion fits the moving start), not_in_phase. A rejection names the joint if it is one joint's. One of
/// wrong_size begins with the list's place: "/trajectory/points/3/positions: has 5 entries for 6 joints".
[[nodiscard]] Plan plan(const TrajectoryMessage& message, const robot::RobotDescription& robot,
                        const Snapshot& state);
[[nodiscard]] Plan plan(const MoveMessage& message, const robot::RobotDescription& robot,
                        const Snapshot& state);
/// Checks one setpoint. It must lie within the position limits, and its velocity within the velocity limits.
/// The loop plans how the joint gets there.
[[nodiscard]] Plan plan(const SetpointMessage& message, const robot::RobotDescription& robot,
                        const Snapshot& state);

/// Finds an error that does not depend on the robot's state: an unknown joint, a wrong size or a target out
/// of range. Returns nothing if the message can be planned later.
[[nodiscard]] std::optional<Rejection> find_mistake(const TrajectoryMessage& message,
                                                    const robot::RobotDescription& robot);
[[nodiscard]] std::optional<Rejection> find_mistake(const MoveMessage& message,
                                                    const robot::RobotDescription& robot);
[[nodiscard]] std::optional<Rejection> find_mistake(const SetpointMessage& message,
                                                    const robot::RobotDescription& robot);

}  // namespace takt::motion
