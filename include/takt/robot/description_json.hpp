// A robot description as a JSON file. Loading is strict: a key that is not in the schema below is a mistake.
// Loading lists all mistakes, each with a JSON pointer and a reason.
//
// {
//   "name": "one_joint",              the robot's name
//   "rate": 200,                      Hz, 1..10000: the control loop. Its frames may use 90 % of each bus
//   "overrun": "skip",                optional, what a late loop does. "skip": go on at the next period; the
//                                     motion is late by the missed periods. "catch_up": run the late periods
//                                     at once, for simulations and for drives that accept bursts of commands.
//                                     The reference moves one period per executed cycle: it never jumps
//   "overrun_limit": 20,              periods, 0..1000000, optional: missing more in a row stops the robot
//                                     (loop_overrun); 0: missing any. Drives must outlast a pause of this
//                                     length. Servo drives outlast 255 ms, CiA 402 drives 45 s. A larger
//                                     limit is a mistake, except with "catch_up"
//   "feedback_timeout": 0.05,         s, 2 periods..10, optional: a drive that leaves the requests of this
//                                     time unanswered stops the robot. A loop that paused sent no requests,
//                                     so this may be shorter than overrun_limit
//   "goal_time": 1.0,                 s, optional: a goal may take so long to settle after its last waypoint
//   "devices": "real",                optional: drives on the buses below. "simulated": simulated ones, on
//                                     virtual buses. "recorded:run.mcap": what a recording read. Its path
//                                     begins at the folder of this file. app::replay() plays it
//   "power": "on",                    optional. "off": no drive ever gets power, the robot never becomes
//                                     ready, and angles are live while joints are turned by hand
//   "buses": [{
//     "name": "arm",
//     "protocol": "hubo",             of its drives: a folder of src/drives/ ("cia402", "hubo", "mit",
//                                     "odrive", "servo")
//     "interface": "can0",            optional: SocketCAN's "can0", a serial adapter's "slcan:/dev/ttyACM0",
//                                     or "virtual", the default: a bus in memory, with simulated drives
//     "bit_rate": 1000000,            bit/s: 125000, 250000, 500000, 800000 or 1000000
//     "data_bit_rate": 5000000        bit/s, protocols with FD frames only: from bit_rate to 8000000
//   }],
//   "joints": [{                      1..64 of them; their order is the robot's joint order
//     "name": "elbow",
//     "kind": "rotary",               optional; or "linear": read m for rad and N for N m below; or
//                                     "continuous": it turns without end, and takes the shorter direction
//     "limits": {
//       "position": [-2.6, 0.1],      rad: least, most. A continuous joint has none: the position words of
//                                     its bus are its limits; servo drives have 20 turns each way
//       "velocity": 2.5,              rad/s     \  magnitudes, all above 0:
//       "acceleration": 8,            rad/s^2    | a joint with a limit of 0
//       "jerk": 200,                  rad/s^3   /  cannot move, so 0 is a mistake
//       "effort": 60                  N m, optional
//     },
//     "safe": "hold",                 optional, after a stop of the robot. "hold": the drive stays on,
//     holding
//                                     the joint. "release": it is switched off. With both, a drive that is
//                                     silent for feedback_timeout, faulty or off its reference again is
//                                     switched off at once: a loaded arm without a brake falls.
//                                     "keep_commanding": as "hold", but a silent drive keeps power, and stops
//                                     at once at its last position: for arms that must not fall because of a
//                                     lost answer. Nothing shows whether it obeys. All joints of one hubo
//                                     board have the same, since it is powered as a whole
//     "counts_per_radian": 63662,     encoder counts; negative reverses the direction. Optional for
//                                     mit and odrive
//     "zero_offset": 0.3,             rad, optional: the joint's position where its drive reports 0. Not for
//                                     joints
//                                     of transmissions, which have an "offset". It becomes a "simple" one
//     "rated_effort": 50,             N m at the joint, optional. cia402: at the drive's rated torque; it
//                                     allows commands of velocity and effort, and doubles the bus time. hubo
//                                     fingers, required: at their largest command (0.1 A, or full duty)
//     "bus": "arm", "board": 15,      board number (hubo 0..47) or node id (servo 1..48, cia402 1..126)
//     "channel": 1,                   motor on that board (hubo 0..1); drives have only 0; optional
//     "drive": {                      further settings of its protocol: see drives/README.md. For hubo:
//       "board_kind": "two_channel"   optional, the same for all joints of a board; or "hybrid" (DRC-Hubo's
//     },                              wrists: channel 0 the roll, 1 and 2 fingers), "neck" (its neck, board
//                                     34: channels 0..2) or "hand" (Hubo2+'s hands: channels 0..4 fingers).
//                                     Motions are of positions; only efforts move a finger.
//                                     "homing": the drive searches its home at each start, before the robot
//                                     is ready. This moves the joint for seconds: keep its path free. hubo:
//                                     "at_start", two_channel boards, one motor after the other. cia402: the
//                                     method of 6098h, 37: here is 0. Optional with it: "homing_speed" and
//                                     "homing_zero_speed" (rad/s, 6099h), "homing_acceleration" (609Ah),
//                                     "homing_offset" (rad, 607Ch), "homing_timeout" (s, default 60)
//     "following_error": 0.2,         rad, optional: |reference - measured| beyond this stops the robot
//     "goal_tolerance": 0.02,         rad, optional: a goal has succeeded when its joints are this close
//     "plant": {                      optional: the joint behind a simulated drive, ignored on real buses
//       "inertia": 0.1, "viscous_friction": 0.2, "coulomb_friction": 0.2,     kg m^2, N m s/rad, N m
//       "torque_limit": 50, "bandwidth": 60, "start": 0                       N m, rad/s, rad (default: the
//     }                                                                       allowed position nearest to 0)
//   }],
//   "groups": {"arm": ["elbow"]},     optional: names for sets of joints
//   "mimics": [{                      optional: joints without a drive, each with a name of its own
//     "name": "right_finger",
//     "kind": "linear",               optional, as above
//     "joint": "left_finger",         the joint that it follows:
//     "multiplier": 1, "offset": 0    position = multiplier * position of that joint + offset; optional
//   }],
//   "transmissions": [{               optional: mechanisms between joints and actuators. The drive of a joint
//                                     moves the actuator in its place, and its counts are per rad of it
//     "name": "wrist",
//     "type": "differential",         or "four_bar", with two joints and two actuators each; or "simple"
//     "joints": [                     with one of each. A joint is in at most one transmission
//       {"name": "flex", "reduction": 1, "offset": 0},     optional: 1; rad at actuator position 0: 0.
//       {"name": "roll", "reduction": -1}],                A negative reduction reverses; 0 is a mistake
//     "actuators": [{"name": "left_motor", "reduction": 60}, {"name": "right_motor", "reduction": 60}]
//   }],
//   "vehicles": [{                    optional: up to 4 bases that are driven over datagrams, as devices
//     "name": "base",                 (robot/vehicle_device.hpp); named like a controller. A robot with a
//                                     vehicle may be without "buses" and "joints"
//     "file": "furbot.json",          robot/vehicle_description.hpp. Paths begin at the folder of this file
//     "local": "10.0.0.1:18003",      own address and that of the vehicle. Without them, and with simulated
//     "peer": "10.0.0.2:18004",       drives, the vehicle is simulated
//     "send_to": "10.0.0.2:18005",    optional: where it receives, if not there
//     "key": "vehicle.key",           of takt key, with its number at the vehicle; or "plain": true for
//     "key_id": 1                     frames without authentication
//   }],
//   "controllers": [{                 optional: up to 64, besides the trajectory controller
//     "name": "tip",                  1 to 31 letters, digits, '_', '-' or '.'; no joint's name
//     "type": "PidController",        looked up when the robot is assembled
//     "divisor": 2, "phase": 0,       optional: it runs in each second cycle. The phase is below the divisor
//     "budget_us": 200,               optional: for one execution
//     "over_budget": "count",         optional: or "deactivate", or "error"
//     "fallbacks": ["hold"],          optional: controllers that start when it fails; listed before it
//     "parameters": {"gain": 2},      optional: values of its parameters
//     "start": true                   optional: false loads it only
//   }]
// }
//
// Other names are 1 to 128 bytes of UTF-8 without control characters.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "takt/robot/description.hpp"

namespace takt::robot {

/// One mistake in a robot file, or one note on it.
struct Mistake {
  std::string where;     ///< JSON pointer (RFC 6901) to the value; empty for the whole file
  std::string reason;    ///< for people: what is wrong, and what is allowed
  std::size_t line = 0;  ///< line of a syntax error, from 1; 0 if the text is JSON
};

/// Loads a description whose buses have some of these protocols. Returns the description, or all mistakes
/// that were found (at least one). `json`: any bytes are safe. Allocates; not real-time safe.
[[nodiscard]] tl::expected<RobotDescription, std::vector<Mistake>> load_robot(
    std::string_view json, std::span<const DriveProtocol* const> protocols);

/// The same from a file. A file that cannot be read, or is larger than 4 MiB, is a mistake too.
[[nodiscard]] tl::expected<RobotDescription, std::vector<Mistake>> load_robot_file(
    const std::string& path, std::span<const DriveProtocol* const> protocols);

/// Notes on a loaded robot, for programs to show. Each is about a continuous joint that turns less than once,
/// because the position words of its bus hold no more. Allocates; not real-time safe.
[[nodiscard]] std::vector<Mistake> notes_on(const RobotDescription& robot);

/// The description as a file of the schema above. Loading it gives the same description again.
/// `robot` must be one that a file can express. Allocates; not real-time safe.
[[nodiscard]] std::string to_json(const RobotDescription& robot);

/// One mistake as a line of text: "/joints/3/limits/velocity: -1 is not above 0", or "line 12: ..." for a
/// syntax error.
[[nodiscard]] std::string to_string(const Mistake& mistake);
/// All mistakes of a file, a line for each: "arm.json: /joints/3/limits/velocity: -1 is not above 0".
[[nodiscard]] std::string lines_of(const std::string& file, const std::vector<Mistake>& mistakes);

}  // namespace takt::robot
