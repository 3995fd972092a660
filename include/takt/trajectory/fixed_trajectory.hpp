// Trajectories without heap, for loops on microcontrollers. The coefficients lie in the object, so the loop
// itself may make, check, sample and replace a motion. FixedTrajectory is BasicTrajectory with bounds on
// joints and segments. FixedQuinticSegment is BasicQuinticSegment with a fixed number of joints. Both have
// the same functions as those types, and every sample has the same bits.
//
//     constinit FixedTrajectory<3, 8> move;           // 3 joints and 8 segments at most; static memory
//
//     const std::array times{0.0, 1.0, 2.5};          // s
//     const std::array positions{0.0, 0.0, 0.0,       // rad, a row for each time
//                                0.3, -0.2, 0.1,
//                                0.5, 0.4, 0.0};
//
//     // Stops at each waypoint. Limits are checked between the waypoints too (limits.hpp).
//     if (auto status = move.assign_stops({3, times, positions, {}, {}}); !status) return status;
//     if (find_violation(move, limits)) return refuse();
//
//     Cursor cursor;                                  // then, each period:
//     move.sample(t, cursor, position, velocity, acceleration);
//
// Four ways to make a motion:
// * assign_stops(waypoints): stops at each waypoint.
// * assign(waypoints): given velocities and accelerations; monotone.hpp finds velocities without heap.
// * restart(states), append(states, duration): from state to state.
// * restart(states), append(quintics, states): from polynomials.
//
// through() and its smooth splines, assemble() and splice() allocate. Call them where a heap exists, and pass
// their knots (times, positions, velocities, accelerations) to assign().
//
// Errors: those of BasicTrajectory, and too_many_joints or too_many_segments if the motion exceeds the
// bounds. After an error the motion is unchanged. Real-time safety: no function uses the heap, a lock, a
// system call or an exception. Making a motion and find_violation() cost O(joints x segments). A sample costs
// O(joints), and O(log segments) more after a jump in time. A call of find_violation() takes 1.7 kB of stack
// in float and 3.6 kB in double (Cortex-M4F, g++ 12). Memory: slightly more than 6 x joints x segments
// numbers. On a Cortex-M 3 joints and 8 segments take 928 bytes in float; 6 joints and 8 segments take 2632
// bytes in double. Rows of several joints are padded to 64 bytes for vector loads, on microcontrollers to 8
// bytes. A copy copies all memory.
#pragma once

#include <cstddef>

#include "takt/trajectory/quintic.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::trajectory {

/// A motion of at most `MaxJoints` joints and `MaxSegments` segments, stored in the object itself.
template <class Scalar, std::size_t MaxJoints, std::size_t MaxSegments>
using BasicFixedTrajectory = BasicTrajectory<Scalar, MaxJoints, MaxSegments>;
template <std::size_t MaxJoints, std::size_t MaxSegments>
using FixedTrajectory = BasicFixedTrajectory<double, MaxJoints, MaxSegments>;

/// One quintic per joint for exactly `Joints` joints, all with the same duration, stored in the object
/// itself.
template <class Scalar, std::size_t Joints>
using BasicFixedQuinticSegment = BasicQuinticSegment<Scalar, Joints>;
template <std::size_t Joints>
using FixedQuinticSegment = BasicFixedQuinticSegment<double, Joints>;

}  // namespace takt::trajectory
