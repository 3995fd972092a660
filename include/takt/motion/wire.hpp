// The wire protocol of the motion server. This comment is its manual. Client and server exchange JSON
// objects, one per line (UTF-8, ended by '\n'), over any byte stream. Python's standard library is enough, or
// a shell with OpenBSD's `nc`:
//
//   echo '{"move":{"joint_names":["elbow_joint"],"positions":[1.2]}}' | nc -N 127.0.0.1 7470
//
// A client may end its input (-N does) and keep reading. The connection then stays open until every answer
// has arrived, including results of goals. With a subscription it stays open until the client closes it. A
// client that closes the connection has vanished (see "on_disconnect"). To detect this, the server sends a
// space before its next line.
//
// Units are SI: rad, rad/s, s; m for linear joints. Latencies are in microseconds, as their names say.
//
// Greeting. The server sends it on connection:
//
//   {"takt":{"version":"0.1.0","protocol":1,"robot":"arm6","period":0.001,
//            "joints":["shoulder_pan_joint",...],"groups":{"arm":["shoulder_pan_joint",...]},
//            "limits":[{"unit":"rad","position":[-6.28,6.28],"velocity":3.14,"acceleration":8,
//                       "jerk":500,"effort":150},...]}}
//
// "limits" are those of the robot's description, in the order of "joints". They are the least and the
// greatest position, then magnitudes of velocity, acceleration and jerk. The unit of "effort" is N m, or N if
// "unit" is "m". A joint without an effort limit lacks the key.
//
// Requests. A request has exactly one of the keys below. It may have an "id" (string or number), which every
// answer to it repeats. Unknown keys, duplicate keys, wrong types and trailing bytes are rejected.
//
// Trajectory: a motion through waypoints.
//
//   {"id":1,"trajectory":{"joint_names":["elbow"],"points":[{"time_from_start":0.5,"positions":[1.2],
//       "velocities":[0],"accelerations":[0]},...],
//
//       "through":"given","fit":false,"at_end":"rest","on_disconnect":"stop","when_busy":"splice",
//       "start":12.5,"limits":{"velocity":1,"acceleration":[5],"jerk":100},
//
//       "path_tolerance":[{"name":"elbow","position":0.1,"velocity":0,"acceleration":0}],
//       "goal_tolerance":[{"name":"elbow","position":0.01}],"goal_time_tolerance":0.5}}
//
// * "joint_names", or "group":"arm". All columns follow the order of the joints here.
// * "time_from_start": s; also {"sec":0,"nanosec":500000000} or {"secs":0,"nsecs":500000000}.
// * "positions": one per joint.
// * "velocities": optional, in all points or in none.
// * "accelerations": optional, in all points or in none; only with velocities.
// * "through": the motion between waypoints. "stop" stops at each of them; "given" uses the given velocities.
//   With the others takt computes the velocities: "smooth" (least jerk), "cubic" (a cubic spline) or
//   "monotone" (never beyond the waypoints). Default: "given" if there are velocities, else "smooth". There
//   are no straight lines, because their velocity would step.
// * "fit": true slows the motion down until all limits hold. It may then be late at a waypoint that the
//   present motion cannot reach in time. false (default): such a motion is rejected.
// * "at_end": "rest" (default) rejects a trajectory that does not end at rest. "stop" adds a bounded stop
//   after its last waypoint.
// * "on_disconnect": "stop" (default) or "continue", when this client vanishes.
// * "when_busy": the behaviour if another goal moves the joints. "splice" (default) takes them over; "queue"
//   waits until that goal has succeeded; "reject" rejects.
// * "start": s on the loop's clock ("time" in "state") at which the trajectory's time is 0; see below. Absent
//   or 0: at once.
// * "limits": optional, one number for all joints or one per joint. They may only tighten the robot's. A
//   joint that exceeds them now brakes first, with the least excess possible; see "exceeds".
// * "path_tolerance", "goal_tolerance", "goal_time_tolerance": optional; see below.
//
// Tolerances. The "path_tolerance" bounds a joint's distance from its reference during the motion. Beyond it
// the goal is aborted (path_tolerance). The "goal_tolerance" bounds the distance at the end. The
// "goal_time_tolerance" is the time to settle there, in s or in the forms of time_from_start. After that time
// the goal is aborted (goal_tolerance). As in control_msgs/FollowJointTrajectory, 0 or an absent key is the
// default, and a negative number is no limit. The default is no limit during the motion, and the robot's
// goal_tolerance and goal_time at the end. Tolerances may be wider than the robot's, but the robot still
// stops beyond its following_error. Accelerations are not measured, so their tolerance cannot be above 0. The
// measurement of one cycle answers the reference of the cycle before. So a goal succeeds one period after its
// last reference at the earliest. Path tolerances also hold while a cancelled goal comes to rest on its path.
//
// First point. If its time is above 0, the motion starts from the present reference. A first point at time 0
// must be where the joints are, within each joint's goal tolerance. The present reference then replaces it.
//
// ROS messages. The keys "header" and an empty "effort", as ROS writes them, are skipped, so
// trajectory_msgs/JointTrajectory as JSON is a valid "trajectory". These messages around it are valid too,
// also nested:
//
// * control_msgs/FollowJointTrajectory, its goal: {"trajectory":{...},"goal_tolerance":[...]};
// * moveit_msgs/RobotTrajectory: {"joint_trajectory":{...}}. Its fields for joints with many axes must be
//   empty.
//
// Continuous joints take the short direction from each waypoint to the next. The state reports how far they
// have turned in all, as their drives do.
//
// Start time. With a "start" in the future the goal is pending until then, and the present motion of its
// joints continues. The server plans it 0.1 s before its start, or 2 s before if it is long. The plan begins
// where the trajectories and moves that are running will be at the start. If a stream or a stop moves a
// joint, the plan begins at the joint's present state. With "fit", the goal may begin late if the joints are
// elsewhere at the start. From the first cycle after the start on, the reference is the trajectory's at
// exactly the cycle's time, once its first waypoint is joined. A "start" in the past allows for the travel
// time of the message. Passed waypoints are dropped, and the rest is joined at its own times. A start more
// than an hour ahead is rejected (start_too_far), and so is one so far back that the last waypoint has
// passed. A "start" together with "when_busy":"queue" is malformed.
//
// Without any time_from_start, and without velocities, the limits determine the duration. A first point at
// the joints' present position is then their start, and "fit" is implied.
//
// Move: a target at rest.
//
//   {"move":{"joint_names":["elbow"],"positions":[1.2],"synchronise":"time"}}
//
// The fastest motion to rest, from any motion, within the limits of velocity, acceleration and jerk. All
// joints arrive together. "synchronise":"phase" also keeps the joints on the straight line. It needs joints
// that stand or already move along that line, and is rejected otherwise (not_in_phase). "group",
// "on_disconnect", "when_busy", "limits" and tolerances are as above.
//
//   {"move":{"joint_names":["elbow"],"positions":[1.2],"duration":2,"fit":false}}
//
// One quintic of this duration, from the present motion to rest. If it exceeds the limits, "fit":true plans a
// jerk-limited motion as above. That one takes as long, or as much longer as necessary.
//
// Setpoint: one target of a stream.
//
//   {"setpoint":{"joint_names":["elbow"],"positions":[1.2],"velocities":[0.1],"timeout":0.1}}
//
// The joints follow it within their limits. The first setpoint begins a goal; further ones for the same
// joints continue it. Without a further one within "timeout" (s; default 0.1, at most 10) the joints stop and
// the goal is aborted. The "velocities" are those of the target itself. Continuous joints go to the angle
// nearest to their present one. So the targets of a turning stream must be less than half a turn ahead. After
// a stream was stopped (cancelled, joints taken, a fault) further setpoints are rejected with stream_ended.
// After a pause of "timeout" the next setpoint begins a new goal.
//
// Other requests:
//
// * {"speed":{"goal":3,"scale":0.5}}: the speed along the path of a trajectory or move, from now on. Scale 1
//   is as planned. Scale 0 pauses: the goal stays active and holds its joints. Without "goal", or with 0: all
//   goals that move or pause now. The speed changes as fast as the goal's limits of velocity, acceleration
//   and jerk allow. A goal that waits is unknown_goal here, and begins as planned.
// * {"cancel":{"goal":3}}: a bounded stop of one goal; {"cancel":{}} of all. The latter also recalls motions
//   of any client that have not begun: long ones that wait for planning, and queued ones. With "stop":"path"
//   the joints of a trajectory come to rest together on their path. Otherwise ("now"), and in a stream, each
//   joint stops by itself as fast as its limits allow. A later "now" overrules "path".
// * {"state":{}}: the state of the robot, once.
// * {"subscribe":{"rate":10}}: the state, this many times a second, at most 1000; 0 ends it.
// * {"estop":{"category":1}}: stop and latch. 0: power off at once. 1 (default): bounded stop, then power
//   off. 2: bounded stop. It overtakes all requests that wait in the server. Motions and resets among them
//   are recalled.
// * {"reset":{}}: leave a latched stop. Earlier requests that have not begun are recalled.
// * {"mark":{"text":"run 3"}}: begin a section of that name in the recording, if there is one.
//
// Replies. They have an "id" only if the request had one.
//
//   {"accepted":{"id":1,"goal":3,"duration":2.5,"joint_names":[...],
//                "latency_us":{"handover_to_reference":812.4,"receive_to_reference":1034.9}}}
//
// * For motion: the loop has taken the request, and its first reference was sent. The two latencies begin
//   when the request entered the loop's queue, and when its last byte arrived.
// * "duration" and "joint_names": only for trajectory and move. "feedback" uses this order of the joints,
//   which is the robot's.
// * "exceeds":{"reason":"velocity_limit","message":"...","joint":"elbow","value":1.3,"limit":0.5}: a joint
//   exceeds the request's own limit of velocity or acceleration as the goal begins. It first returns within
//   the limit, and exceeds it by no more than is inevitable ("value"). If there are several such joints, this
//   is the worst. Also in the goal's "result".
// * "state":"pending", without duration and latencies: the motion waits for its "start", or for the goals
//   that hold its joints ("when_busy":"queue"). It is planned when the wait ends, and begins without another
//   "accepted". If it cannot begin, a "result" reports it as rejected or recalled. Recalled means that a
//   cancel, a stop or a reset came first, or that a goal before it did not succeed (goal_before_failed).
//   Streams, and goals that already stop, only have to end.
//
//   {"rejected":{"id":1,"reason":"acceleration_limit","message":"elbow: ...",
//                "joint":"elbow","time":0.07,"value":6.87,"limit":5}}
//
// Nothing was changed. "reason" is a name from motion/error.hpp. Joint, time, value and limit are present if
// the reason has them.
//
//   {"feedback":{"goal":3,"state":"active","time":0.5,"duration":2.5,"fraction":0.2,
//                "reference":[...],"measured":[...]}}
//
// * Sent 10 times a second while a trajectory or move is "active" or "preempting". Preempting means that it
//   was cancelled or lost its joints, and is stopping. Also sent at once when any goal becomes preempting,
//   streams included.
// * "time": s on the path. It is less than the elapsed time if the goal was slower than planned.
// * "speed": the present speed along the path, 1 = as planned; present if it is not 1.
// * "speed_excess": the worst relative excess of a limit by changes of the speed since the goal began, where
//   nothing could prevent it. Also in "result".
//
//   {"result":{"id":1,"goal":3,"state":"succeeded"}}
//
// The end of the goal: succeeded, aborted, preempted, recalled or rejected. It has reason, message, joint,
// time, value and limit if they exist. The value of drive_fault is the drive's own fault word, which the
// message explains. Value and limit of loop_overrun are periods.
//
//   {"state":{"id":2,"time":12.5,"robot":"ready","active_goals":1,
//             "loop":{"cycles":2500,"overruns":0,"lateness_us":3.1,"busy_us":21.5},
//             "bus":{"sent":1,"received":1,"refused":0,"malformed":0,"unexpected":0,"starved":0},
//
//             "joint_names":[...],"command":[...],"reference":[...],"reference_velocity":[...],
//             "measured":[...],"measured_velocity":[...],"goal":[0,3],"drive":["ready",...],
//
//             "goals":[{"goal":3,"state":"active"},{"goal":4,"state":"pending"}],
//             "faults":[{"joint":"elbow","code":1,"message":"jam"}]}}
//
// A robot that stopped by itself adds "reason", "message", "joint", "value" and "limit", as in "result". The
// key "goals" lists the goals of all clients that have not ended. The key "faults" lists the drives' own
// fault words and their meaning. In "bus", "starved_joints" lists the joints that lost frames because the bus
// had no room, if there are any.
//
//   {"error":{"reason":"malformed","message":"line is not JSON: ..."}}
//
// The line was not understood well enough to find its request.
//
// Not real-time safe: everything here allocates. Input may be any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "takt/core/time.hpp"
#include "takt/motion/error.hpp"
#include "takt/motion/goal.hpp"
#include "takt/motion/request.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/robot/description.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::motion {

/// The protocol version in the greeting. It changes when a client of the old version would misunderstand the
/// new one.
inline constexpr int wire_protocol_version = 1;

/// The default TCP port of server and clients.
inline constexpr std::uint16_t default_port = 7470;

/// The default of the most waypoints in one trajectory message; the server's options may change it.
inline constexpr std::size_t default_max_waypoints = 10'000;

// ---- requests ----

/// The joints of a request: their names or the name of a group. Exactly one of the two is set.
struct JointSelection {
  std::vector<std::string> names;  ///< empty if a group is given
  std::string group;               ///< empty if names are given

  friend bool operator==(const JointSelection&, const JointSelection&) = default;
};

/// Limits of a request: no entry, one for all joints, or one per joint in the request's order. Units: rad/s,
/// rad/s^2, rad/s^3; m instead of rad for linear joints.
struct LimitsMessage {
  std::vector<double> velocity;
  std::vector<double> acceleration;
  std::vector<double> jerk;

  friend bool operator==(const LimitsMessage&, const LimitsMessage&) = default;
};

/// A tolerance of one joint, as control_msgs/JointTolerance: 0 is the default, negative is no limit.
struct ToleranceMessage {
  std::string name;
  double position = 0;      ///< rad, or m
  double velocity = 0;      ///< rad/s, or m/s
  double acceleration = 0;  ///< not above 0

  friend bool operator==(const ToleranceMessage&, const ToleranceMessage&) = default;
};

/// The tolerances of a request.
struct TolerancesMessage {
  std::vector<ToleranceMessage> path;  ///< during the motion
  std::vector<ToleranceMessage> goal;  ///< at the end
  double goal_time = 0;                ///< s; 0: the robot's; negative: no limit

  friend bool operator==(const TolerancesMessage&, const TolerancesMessage&) = default;
};

/// What happens to a goal when its client vanishes: it stops, or it continues ("continue" on the wire).
enum class OnDisconnect : std::uint8_t { stop, proceed };
/// What happens if a trajectory does not end at rest: it is rejected, or a bounded stop follows.
enum class AtEnd : std::uint8_t { rest, stop };

/// A waypoint. Each list has one entry per joint: rad, rad/s, rad/s^2; m instead of rad for linear joints.
struct PointMessage {
  double time = 0;  ///< s from the start
  std::vector<double> positions;
  std::vector<double> velocities;     ///< empty: not given
  std::vector<double> accelerations;  ///< empty: not given

  friend bool operator==(const PointMessage&, const PointMessage&) = default;
};

/// "trajectory": a motion through waypoints.
struct TrajectoryMessage {
  JointSelection joints;
  std::vector<PointMessage> points;
  bool timed = true;  ///< false: the points have no times; the limits determine the duration
  std::optional<trajectory::Through> through;  ///< nothing: given if there are velocities, else smooth
  bool fit = false;                            ///< slow down, or be late, instead of being rejected
  AtEnd at_end = AtEnd::rest;
  OnDisconnect on_disconnect = OnDisconnect::stop;
  WhenBusy when_busy = WhenBusy::splice;
  std::optional<double> start;  ///< s on the loop's clock; nothing: at once
  LimitsMessage limits;         ///< may only tighten the robot's
  TolerancesMessage tolerances;

  friend bool operator==(const TrajectoryMessage&, const TrajectoryMessage&) = default;
};

/// "move": a motion to a target at rest.
struct MoveMessage {
  JointSelection joints;
  /// rad, or m; one per joint
  std::vector<double> positions;
  std::optional<double> duration;  ///< s; nothing: the shortest within the limits
  /// of a move without a duration
  trajectory::Synchronisation synchronisation = trajectory::Synchronisation::time;
  bool fit = false;  ///< take longer instead of being rejected
  OnDisconnect on_disconnect = OnDisconnect::stop;
  WhenBusy when_busy = WhenBusy::splice;
  LimitsMessage limits;  ///< may only tighten the robot's
  TolerancesMessage tolerances;

  friend bool operator==(const MoveMessage&, const MoveMessage&) = default;
};

/// "setpoint": one target of a stream.
struct SetpointMessage {
  JointSelection joints;
  /// rad, or m; one per joint
  std::vector<double> positions;
  std::vector<double> velocities;  ///< rad/s, or m/s, of the target; empty: not given
  double timeout = 0.1;            ///< s until the next setpoint must arrive

  friend bool operator==(const SetpointMessage&, const SetpointMessage&) = default;
};

/// "speed": the speed of a trajectory goal along its path.
struct SpeedMessage {
  GoalId goal = 0;   ///< 0 = all trajectory goals
  double scale = 1;  ///< 0 pauses, 1 is as planned

  friend bool operator==(const SpeedMessage&, const SpeedMessage&) = default;
};

/// How a cancelled trajectory comes to rest.
enum class StopAt : std::uint8_t {
  now,   ///< each joint by itself, as fast as its limits allow
  path,  ///< all joints together, on the path
};

/// "cancel": a bounded stop.
struct CancelMessage {
  GoalId goal = 0;  ///< 0 = all
  StopAt stop = StopAt::now;

  friend bool operator==(const CancelMessage&, const CancelMessage&) = default;
};

/// "state": asks once for the state of the robot.
struct StateMessage {
  friend bool operator==(const StateMessage&, const StateMessage&) = default;
};

/// "subscribe": asks for the state at a rate.
struct SubscribeMessage {
  double rate = 0;  ///< Hz, at most 1000; 0 ends the subscription

  friend bool operator==(const SubscribeMessage&, const SubscribeMessage&) = default;
};

/// "estop": stops the robot and latches.
struct EmergencyStopMessage {
  StopCategory category = StopCategory::category_1;

  friend bool operator==(const EmergencyStopMessage&, const EmergencyStopMessage&) = default;
};

/// "reset": leaves a latched stop.
struct ResetMessage {
  friend bool operator==(const ResetMessage&, const ResetMessage&) = default;
};

/// "mark": begins a section in the recording.
struct MarkMessage {
  std::string text;  ///< 1 to 128 bytes of UTF-8 without control characters

  friend bool operator==(const MarkMessage&, const MarkMessage&) = default;
};

/// One line from a client.
struct ClientMessage {
  std::string id;  ///< as JSON text, for example "7" or "\"seven\""; empty: none
  std::variant<TrajectoryMessage, MoveMessage, SetpointMessage, CancelMessage, SpeedMessage, StateMessage,
               SubscribeMessage, EmergencyStopMessage, ResetMessage, MarkMessage>
      body;

  friend bool operator==(const ClientMessage&, const ClientMessage&) = default;
};

// ---- replies ----

/// Why a request was rejected or a goal failed, and where.
struct Rejection {
  Errc reason{};                ///< 0 = no reason (the goal succeeded)
  std::string message;          ///< for people
  std::string joint;            ///< empty if the reason concerns no joint
  std::optional<double> time;   ///< s from the goal's start
  std::optional<double> value;  ///< the value found
  std::optional<double> limit;  ///< the value allowed

  friend bool operator==(const Rejection&, const Rejection&) = default;
};

/// The limits of a joint of the robot.
struct LimitsReply {
  std::string unit;  ///< of the position: "rad" or "m"
  JointLimits limits;

  friend bool operator==(const LimitsReply&, const LimitsReply&) = default;
};

/// "takt": the server's first line.
struct GreetingReply {
  std::string version;  ///< of takt
  int protocol = wire_protocol_version;
  std::string robot;                                                     ///< its name
  double period = 0;                                                     ///< s
  std::vector<std::string> joint_names;                                  ///< in the robot's order
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  ///< sorted by name
  std::vector<LimitsReply> limits;  ///< one per joint; empty if the server does not send them

  friend bool operator==(const GreetingReply&, const GreetingReply&) = default;
};

/// The latencies of an accepted motion, in microseconds.
struct LatencyReply {
  /// From the request's entry into the loop's queue to its first reference on the bus.
  double handover_to_reference = 0;
  /// From the arrival of the request's last byte to its first reference on the bus.
  double receive_to_reference = 0;

  friend bool operator==(const LatencyReply&, const LatencyReply&) = default;
};

/// "accepted".
struct AcceptedReply {
  std::string id;                        ///< of the request
  GoalId goal = 0;                       ///< 0 = the request began no goal
  GoalState state = GoalState::active;   ///< active, or pending while the goal waits
  std::optional<double> duration;        ///< s
  std::vector<std::string> joint_names;  ///< in the robot's order; for trajectory and move
  std::optional<LatencyReply> latency;   ///< not with simulated time
  std::optional<Rejection> exceeds{};    ///< a limit of its own that the goal exceeds at its beginning

  friend bool operator==(const AcceptedReply&, const AcceptedReply&) = default;
};

/// "rejected".
struct RejectedReply {
  std::string id;  ///< of the request
  Rejection why;

  friend bool operator==(const RejectedReply&, const RejectedReply&) = default;
};

/// "feedback": the progress of a goal.
struct FeedbackReply {
  GoalId goal = 0;
  double time = 0;                      ///< s on the goal's path
  double duration = 0;                  ///< s
  double fraction = 0;                  ///< time / duration, 0..1
  std::vector<double> reference;        ///< rad or m, one per joint of the goal
  std::vector<double> measured;         ///< rad or m, one per joint of the goal
  double speed = 1;                     ///< along the path; 1 = as planned
  double speed_excess = 0;              ///< worst relative excess of a limit by changes of the speed
  GoalState state = GoalState::active;  ///< active or preempting

  friend bool operator==(const FeedbackReply&, const FeedbackReply&) = default;
};

/// "result": the end of a goal.
struct ResultReply {
  std::string id;  ///< of the request that began the goal
  GoalId goal = 0;
  GoalState state = GoalState::succeeded;
  Rejection why;                       ///< empty if the goal succeeded
  std::optional<Rejection> exceeds{};  ///< a limit of its own that the goal exceeded at its beginning
  double speed_excess = 0;             ///< worst relative excess of a limit by changes of the goal's speed

  friend bool operator==(const ResultReply&, const ResultReply&) = default;
};

/// A goal that has not ended.
struct GoalStatus {
  GoalId goal = 0;
  GoalState state = GoalState::pending;

  friend bool operator==(const GoalStatus&, const GoalStatus&) = default;
};

/// A drive that reports a fault.
struct FaultReply {
  std::string joint;
  std::uint32_t code = 0;  ///< the drive's own fault word
  std::string message;     ///< for people

  friend bool operator==(const FaultReply&, const FaultReply&) = default;
};

/// "state": the state of the robot. Positions are in rad, velocities in rad/s; m instead of rad for linear
/// joints.
struct StateReply {
  std::string id;   ///< of the request
  double time = 0;  ///< s on the loop's clock
  RobotState robot = RobotState::starting;
  Errc reason{};                   ///< why the robot stopped by itself; 0 = it did not
  std::string joint;               ///< the joint of the reason; empty: none
  std::string message;             ///< for people: the reason with joint, numbers and units
  std::optional<double> value;     ///< the value found
  std::optional<double> limit;     ///< the value allowed
  std::uint64_t active_goals = 0;  ///< goals that own joints
  std::uint64_t cycles = 0;        ///< executed by the loop
  std::uint64_t overruns = 0;      ///< periods without a cycle
  double lateness_us = 0;          ///< wake-up minus due time, of the latest cycle
  double busy_us = 0;              ///< duration of the work of the cycle before
  robot::HardwareCounters bus;
  std::vector<std::string> starved;      ///< the joints that bus.starved counts
  std::vector<std::string> joint_names;  ///< every list below has one entry per joint
  std::vector<double> command;           ///< targets before any limiter
  std::vector<double> reference;         ///< positions sent to the drives
  std::vector<double> reference_velocity;
  std::vector<double> measured;  ///< measured positions
  std::vector<double> measured_velocity;
  std::vector<GoalId> goal;        ///< the goal that moves the joint; 0 = none
  std::vector<std::string> drive;  ///< "unknown", "off", "ready", "fault"
  std::vector<GoalStatus> goals;   ///< of all clients; only the server knows them
  std::vector<FaultReply> faults;  ///< of drives with a fault
};

/// "error": a line that could not be assigned to a request.
struct ErrorReply {
  Rejection why;

  friend bool operator==(const ErrorReply&, const ErrorReply&) = default;
};

/// One line from a server.
using ServerMessage = std::variant<GreetingReply, AcceptedReply, RejectedReply, FeedbackReply, ResultReply,
                                   StateReply, ErrorReply>;

// ---- reading and writing ----

/// Why the server cannot accept a line. It answers with a RejectedReply if the line was a JSON object,
/// otherwise with an ErrorReply.
struct ParseFailure {
  bool is_object = false;  ///< whether the line was a JSON object
  std::string id;          ///< of the request, if it is known
  Rejection why;
};

/// Parses a client's line, without its '\n'. Checks everything that does not depend on the robot.
[[nodiscard]] tl::expected<ClientMessage, ParseFailure> parse_client_message(
    std::string_view line, std::size_t max_waypoints = default_max_waypoints);

/// Parses a file for sending: a client message, or the value of its "trajectory" alone. In the latter case it
/// skips documentary keys ("about", "source", ...). Dumps of ROS messages are therefore valid:
/// JointTrajectory, FollowJointTrajectory goals, RobotTrajectory, DisplayTrajectory of one trajectory. They
/// may also stand inside the "msg", "args" or "goal" of rosbridge and of actions.
[[nodiscard]] tl::expected<ClientMessage, ParseFailure> parse_motion_file(
    std::string_view text, std::size_t max_waypoints = default_max_waypoints);

/// Parses a server's line, without its '\n'. Skips unknown keys, because a newer server may send more.
[[nodiscard]] tl::expected<ServerMessage, Rejection> parse_server_message(std::string_view line);

/// Writes one line, with its '\n'. A parser reads the same doubles back. Fields with their default value are
/// omitted if the manual calls them optional.
[[nodiscard]] std::string to_line(const ClientMessage& message);
[[nodiscard]] std::string to_line(const ServerMessage& message);

/// Writes joints and waypoints as trajectory_msgs/JointTrajectory, for other programs and for
/// parse_motion_file(). Other fields of the message are omitted. Times are rounded to nanoseconds; all other
/// numbers are exact. Each waypoint is one line, with '\n' at the end. Name the joints one by one: ROS does
/// not know "group", which is written unchanged.
[[nodiscard]] std::string to_joint_trajectory(const TrajectoryMessage& message);

/// The waypoints of a motion with their derivatives, as a message. Argument `joint_names`: one per joint.
[[nodiscard]] TrajectoryMessage to_message(const trajectory::Trajectory& motion,
                                           std::vector<std::string> joint_names);

/// A server's greeting, and its report of the robot's state.
[[nodiscard]] GreetingReply greeting(const robot::RobotDescription& robot);
[[nodiscard]] StateReply state_reply(const Snapshot& snapshot, const robot::RobotDescription& robot);

/// Explains an event in words: reason, joint, numbers with units, and a drive's fault. An event from a
/// Snapshot of the whole robot has no time and no quantity.
[[nodiscard]] Rejection explain(const Event& event, const robot::RobotDescription& robot);
/// Why the robot stops, is stopped or does not become ready. Its reason is Errc{} if there is none. Real-time
/// safe.
[[nodiscard]] Event cause_of(const Snapshot& snapshot) noexcept;
/// The robot's state, its reason, and the next step: "stopped: RSP: a drive does not answer (...). `takt
/// reset` ...".
[[nodiscard]] std::string describe_state(const Snapshot& snapshot, const robot::RobotDescription& robot);

/// Advice for making a robot ready again that is stopped for this reason, or that a drive's fault keeps in
/// "starting". Empty in any other state, and if its loop is lost.
[[nodiscard]] std::string_view next_step(RobotState state, Errc reason) noexcept;

/// Whether the joint of an Event or a Snapshot is meaningful for this reason.
[[nodiscard]] bool is_about_a_joint(Errc reason) noexcept;

/// The Errc whose reason_name() is `name`; nothing if there is none.
[[nodiscard]] std::optional<Errc> reason_from_name(std::string_view name) noexcept;

}  // namespace takt::motion
