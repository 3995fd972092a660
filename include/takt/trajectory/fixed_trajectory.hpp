// Trajectories without heap, for loops on microcontrollers: the coefficients lie in the object, so that the loop itself may make,
// check, sample and replace a motion. FixedTrajectory is BasicTrajectory with two bounds, and FixedQuinticSegment is
// BasicQuinticSegment with its number of joints: the same functions, and the same bits in every sample.
//
//     constinit FixedTrajectory<3, 8> move;                  // up to 3 joints and 8 segments; static memory, zeros until used
//
//     const std::array times{0.0, 1.0, 2.5};                 // s
//     const std::array positions{0.0, 0.0, 0.0,              // rad, a row for each time
//                                0.3, -0.2, 0.1,
//                                0.5, 0.4, 0.0};
//     if (auto status = move.assign_stops({3, times, positions, {}, {}}); !status) return status;  // at rest at each waypoint
//     if (find_violation(move, limits)) return refuse();     // limits.hpp: exact, between the waypoints too
//
//     Cursor cursor;                                         // then each period
//     move.sample(t, cursor, position, velocity, acceleration);
//
// Four ways to make a motion:
//   assign_stops(waypoints)        at rest at each waypoint
//   assign(waypoints)              with velocities and accelerations that are given; monotone.hpp finds velocities without heap
//   restart(states), append(states, duration)                from state to state
//   restart(states), append(quintics, states)                from polynomials
// through() and its smooth splines, assemble() and splice() make trajectories on the heap: call them where there is one, and
// hand over knots (times, positions, velocities, accelerations) for assign().
//
// Errors: those of BasicTrajectory, and too_many_joints or too_many_segments where the bounds do not suffice. The motion is then
// as it was.
// Real-time safety: no heap, lock, system call or exception in any function. Making and find_violation() cost O(joints x segments),
// a sample O(joints), and O(log segments) more where time jumps. find_violation() takes 1.7 kB of stack in float and 3.6 kB in
// double (Cortex-M4F, g++ 12).
// Memory: 6 x joints x segments numbers and little more: on a Cortex-M 928 bytes for 3 joints and 8 segments in float, 2632 bytes
// for 6 joints and 8 segments in double. Rows of several joints are padded to 64 bytes for vector loads, on
// microcontrollers to 8 bytes. A copy copies all of it.
#pragma once

#include <cstddef>

#include "takt/trajectory/quintic.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::trajectory {

/// A motion of at most so many joints and segments, in the object's own memory.
template <class Scalar, std::size_t MaxJoints, std::size_t MaxSegments>
using BasicFixedTrajectory = BasicTrajectory<Scalar, MaxJoints, MaxSegments>;
template <std::size_t MaxJoints, std::size_t MaxSegments>
using FixedTrajectory = BasicFixedTrajectory<double, MaxJoints, MaxSegments>;

/// One quintic for each of exactly `Joints` joints, with one duration, in the object's own memory.
template <class Scalar, std::size_t Joints>
using BasicFixedQuinticSegment = BasicQuinticSegment<Scalar, Joints>;
template <std::size_t Joints>
using FixedQuinticSegment = BasicFixedQuinticSegment<double, Joints>;

}  // namespace takt::trajectory
