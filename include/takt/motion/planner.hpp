// From what a client asked for to what the loop can execute: joints are looked up, columns put into the robot's order, the motion
// is joined to the present reference and checked against every limit between the waypoints too. Nothing that leaves here can
// exceed a limit of the robot. Pure functions: the same message, robot and state give the same answer.
//
// Limits are the robot's, or tighter ones of the request. A joint that stands outside its position limits (an encoder's
// rounding, a limit that was changed) may stay where it is and move back, and no farther out. One that moves beyond the request's
// own velocity or acceleration comes back within them first, by the shortest way that they and its jerk allow: no other exceeds
// them less. Where it would leave a position limit meanwhile, or miss a waypoint, it is refused.
//
// Where a motion starts. A first waypoint later than time 0 is reached from the present reference, with its position, velocity
// and acceleration. A first waypoint at time 0 must be within the joint's goal tolerance of the present reference, which then
// takes its place, so that nothing steps. The reference may move on until the loop takes the request; the loop then leads from
// it to the first waypoint, or a later one, by a jerk-limited motion within the same limits, or refuses (engine.hpp).
//
// With a start of its own (on the loop's clock) a first waypoint at time 0 is not held against the present reference: the loop
// sees, when that time has come.
//
// A move without a duration is jerk-limited (trajectory/point_to_point.hpp) and the fastest that there is within its limits of
// velocity, acceleration and jerk. Where joints move, it may leave a position limit: then it is refused.
//
// `fit`. From rest the whole motion is slowed down uniformly by the smallest sufficient factor, which keeps its path. From a
// moving start that is done with the motion from the first waypoint on, and a jerk-limited motion leads to that waypoint: at its
// time, or as soon after it as the limits allow. Where that motion or the stop after the last waypoint would leave a position
// limit, the rest is slowed down further, in steps of 5 %. A position out of range cannot be cured by going slower.
//
// Continuous joints turn without end: their targets are those nearest to where the joint comes from, so that it never turns by
// more than half a turn from one waypoint to the next (exactly half a turn: as the positions say). The reference goes on
// counting turns, and so does the state, as the drive's encoder does.
//
// Tolerances of a request take the place of the robot's own (goal_tolerance, goal_time), and may be wider.
//
// Allocates, costs time in proportion to waypoints times joints, and is for the side without deadlines.
#pragma once

#include <memory>
#include <optional>
#include <tl/expected.hpp>

#include "takt/motion/request.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/motion/wire.hpp"
#include "takt/robot/description.hpp"

namespace takt::motion {

/// A request for the loop (goal number and time stamps are still to be set), or why there is none.
using Plan = tl::expected<std::unique_ptr<Request>, Rejection>;

/// Rejections: robot_not_ready, unknown_joint (a tolerance's, too), unknown_group, wrong_size, limit_above_robot, start_mismatch,
/// out_of_domain, position_limit, velocity_limit, acceleration_limit, jerk_limit, not_at_rest_at_end, joint_already_moving (a
/// moving start from which nothing fits), not_in_phase.
[[nodiscard]] Plan plan(const TrajectoryMessage& message, const robot::RobotDescription& robot,
                        const Snapshot& state);
[[nodiscard]] Plan plan(const MoveMessage& message, const robot::RobotDescription& robot,
                        const Snapshot& state);
/// A set-point must lie within the position limits, and its velocity within the velocity limits; how the joint gets there is the
/// loop's.
[[nodiscard]] Plan plan(const SetpointMessage& message, const robot::RobotDescription& robot,
                        const Snapshot& state);

/// What is wrong with a request whatever the robot does when it is planned: a joint, a size or a target. Nothing, if it may be
/// planned later.
[[nodiscard]] std::optional<Rejection> find_mistake(const TrajectoryMessage& message,
                                                    const robot::RobotDescription& robot);
[[nodiscard]] std::optional<Rejection> find_mistake(const MoveMessage& message,
                                                    const robot::RobotDescription& robot);
[[nodiscard]] std::optional<Rejection> find_mistake(const SetpointMessage& message,
                                                    const robot::RobotDescription& robot);

}  // namespace takt::motion
