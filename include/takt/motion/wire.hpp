// The wire protocol of the motion server, and its manual: one JSON object per line (UTF-8, ended by '\n'), in
// both directions, over any byte stream. Python's standard library, or a shell with OpenBSD's `nc`, is enough:
//
//   echo '{"move":{"joint_names":["elbow_joint"],"positions":[1.2]}}' | nc -N 127.0.0.1 7470
//
// A client may end its input (-N does) and read on: the connection stays until every answer has come, results of goals included.
// With a subscription it stays until the client closes it. A client that closes the connection has vanished (see "on_disconnect").
// To tell both cases apart, the server sends a space before its next line.
//
// SI units: rad, rad/s, s; for linear joints m. Times of latencies are in microseconds, and say so in their
// name.
//
// On connection the server greets:
//
//   {"takt":{"version":"0.1.0","protocol":1,"robot":"arm6","period":0.001,"joints":["shoulder_pan_joint",...],
//            "groups":{"arm":["shoulder_pan_joint",...]},
//            "limits":[{"unit":"rad","position":[-6.28,6.28],"velocity":3.14,"acceleration":8,"jerk":500,"effort":150},...]}}
//
// "limits" are those of the robot's description, in the order of "joints": least and most position, and magnitudes per second,
// s^2, s^3. "effort" is in N m, or in N if the unit is "m"; a joint without an effort limit lacks the key.
//
// A request has exactly one of the keys below and, if the client likes, an "id" (string or number) that comes
// back with every answer to it. Unknown keys, duplicate keys, wrong types and trailing bytes are refused.
//
//   {"id":1,"trajectory":{
//      "joint_names":["elbow"],                  or "group":"arm"; columns below follow the order that is named here
//      "points":[{"time_from_start":0.5,         s; also {"sec":0,"nanosec":500000000} or {"secs":0,"nsecs":500000000}
//                 "positions":[1.2],             one for each joint
//                 "velocities":[0],              optional, in all points or in none
//                 "accelerations":[0]}, ...],    optional, in all points or in none; with velocities only
//      "through":"given",                        "stop" at each waypoint, with the "given" velocities, or with those that takt
//                                                computes: "smooth" (least jerk), "cubic" (a cubic spline) or "monotone" (never
//                                                beyond the waypoints). Default: "given" if there are velocities, else "smooth".
//                                                No straight lines: their velocity would step
//      "fit":false,                              true: slow down until all limits hold, or be late where the present motion leaves
//                                                no time to reach a waypoint, instead of refusing
//      "at_end":"rest",                          "rest": refuse a trajectory that does not end at rest;
//                                                "stop": bring it to a bounded stop after its last waypoint
//      "on_disconnect":"stop",                   or "continue": what happens when this client vanishes
//      "when_busy":"splice",                     joints that another goal moves are taken over; or "queue": wait until that goal
//                                                has succeeded; or "reject": refuse
//      "start":12.5,                             s on the loop's clock ("time" in "state"): when the trajectory's time is 0; see
//                                                below. Absent or 0: at once
//      "limits":{"velocity":1,"acceleration":[5],"jerk":100},
//                                                optional, for all joints or one for each: may only tighten
//                                                the robot's. A joint that is beyond them now brakes first, by
//                                                the shortest way that they allow: see "exceeds"
//      "path_tolerance":[{"name":"elbow","position":0.1,"velocity":0,"acceleration":0}],
//      "goal_tolerance":[{"name":"elbow","position":0.01}],
//      "goal_time_tolerance":0.5}}               optional: see below
//
//   How far a joint may be from its reference on the way (else the goal is aborted: path_tolerance) and at the end, and how long
//   it may take to settle there (s, or the forms of time_from_start; else: goal_tolerance). As in
//   control_msgs/FollowJointTrajectory 0, or nothing, is the default, which is no limit on the way and the robot's
//   goal_tolerance and goal_time at the end, and a negative number is no limit. Tolerances may be wider than the robot's, but
//   beyond its following_error the robot stops all the same. Accelerations are not measured: theirs cannot be above 0.
//   What the drives measure in one cycle answers the reference of the cycle before, so a goal succeeds one period after its last
//   reference at the earliest. The tolerances on the way also hold while a cancelled goal comes to rest on its path.
//
//   If the first point's time is above 0 the motion starts from the present reference. A first point at time
//   0 must be where the joints are (within each joint's goal tolerance), and the present reference takes its
//   place. The keys "header" and an empty "effort", as ROS writes them, are skipped:
//   trajectory_msgs/JointTrajectory as JSON is a valid "trajectory". So are the messages that wrap one: the goal of
//   control_msgs/FollowJointTrajectory ({"trajectory":{...},"goal_tolerance":[...]}), moveit_msgs/RobotTrajectory
//   ({"joint_trajectory":{...}}), and one of these within another; what they say of joints with many axes must be empty.
//   Joints that are continuous go the short way from each waypoint to the next; the state tells how far they
//   have turned, as their drives do.
//
//   With a "start" in the future the goal is pending until then, and whatever moves the joints goes on. It is planned shortly
//   before (0.1 s; long ones 2 s), from where the trajectories and moves that run then lead to by its start, and from where the
//   joints are if it is a stream or a stop that moves them; with "fit" it can also be late where that turns out otherwise. The
//   reference of each cycle from the first one after the start on is the trajectory's at exactly that time, once its first
//   waypoint is joined. With a start in the past (a message that was under way) waypoints that are past are
//   dropped, and the rest is joined at its own times. A start more than an hour ahead, or so far back that the last waypoint is
//   past, is refused (start_too_far); "start" with "when_busy":"queue" is malformed.
//
//   Without any time_from_start (and any velocities) the motion takes as long as the limits make it. A first point where the
//   joints are is then their start, and "fit" is implied.
//
//   {"move":{"joint_names":["elbow"],"positions":[1.2],"synchronise":"time"}}
//      As fast as the limits of velocity, acceleration and jerk allow, from any motion to rest: nothing within them is faster. All
//      joints arrive together; "synchronise":"phase" moves them along the straight line, too, where they stand or move along
//      it, and is refused elsewhere (not_in_phase). Also "group", "on_disconnect", "when_busy", "limits" and tolerances as above.
//   {"move":{"joint_names":["elbow"],"positions":[1.2],"duration":2,"fit":false}}
//      One quintic of this duration, from the present motion to rest. "fit": if that does not keep the limits, a jerk-limited
//      motion as above, which takes as long, or as much longer as it must.
//   {"setpoint":{"joint_names":["elbow"],"positions":[1.2],"velocities":[0.1],"timeout":0.1}}
//      One target of a stream, followed within the joint's limits. The first one begins a goal, further ones
//      for the same joints continue it. When no further one comes within "timeout" (s; 0.1 if not given, at
//      most 10) the joints stop and the goal is aborted. "velocities" say how fast the target itself moves.
//      Continuous joints go to the angle nearest to where they are: a stream that turns on must not be half a turn ahead.
//      A stream that was stopped (cancelled, its joints taken, a fault) refuses further set-points with
//      stream_ended until none has come for "timeout": then the next one begins a new goal.
//   {"speed":{"goal":3,"scale":0.5}}
//                               how fast a trajectory or move goes along its path from now on: 1 as planned, 0 pause (it stays
//                               active and holds its joints). Without "goal" or with 0: all that move or pause now. It changes
//                               as fast as the goal's limits of velocity, acceleration and jerk allow. A goal that waits is
//                               unknown_goal here, and begins as planned
//   {"cancel":{"goal":3}}       bounded stop of one goal; {"cancel":{}} of all. Motions of any client that have not begun (long
//                               ones wait to be planned, queued ones for others) are then recalled
//                               With "stop":"path" the joints of a trajectory come to rest together on their path; else ("now"),
//                               and in a stream, each by itself as fast as its limits allow. A later "now" overrules "path"
//   {"state":{}}                the state of the robot, once
//   {"subscribe":{"rate":10}}   the state, this many times a second (at most 1000); 0 ends it
//   {"estop":{"category":1}}    stop and latch: 0 power off at once, 1 bounded stop, then power off (default), 2 bounded stop.
//                               Overtakes all requests that wait in the server; motions and resets among them are recalled
//   {"reset":{}}                leave a latched stop. What was asked for before and has not begun is recalled
//   {"mark":{"text":"run 3"}}   begin a section of that name in the recording, if there is one
//
// Replies ("id" only if the request had one):
//
//   {"accepted":{"id":1,"goal":3,"duration":2.5,"joint_names":[...],
//                "latency_us":{"handover_to_reference":812.4,"receive_to_reference":1034.9}}}
//      For motion: the loop has taken it and its first reference has left. The latencies begin when the
//      request entered the loop's queue, and when its last byte arrived. duration and joint_names (the
//      robot's order, which "feedback" uses): for trajectory and move.
//      With "exceeds":{"reason":"velocity_limit","message":"...","joint":"elbow","value":1.3,"limit":0.5} where a joint moves beyond
//      the request's own limits of velocity or acceleration as the goal begins: it comes back within them first, and exceeds them
//      by no more than is inevitable (value). The worst one, if there are several. Also in the goal's "result".
//      With "state":"pending" and without duration and latencies: the motion waits for its "start", or for the goals that hold its
//      joints ("when_busy":"queue"). It is planned then, or when they have succeeded, and begins without another "accepted". When
//      it cannot begin, a "result" says so: rejected, or recalled (a cancel, a stop or a reset came first, or a goal before it did
//      not succeed: goal_before_failed). Streams, and goals that are being stopped, have only to end.
//   {"rejected":{"id":1,"reason":"acceleration_limit","message":"elbow: ...","joint":"elbow","time":0.07,"value":6.87,"limit":5}}
//      Nothing was changed. "reason" is a name from motion/error.hpp; joint, time, value and limit where it
//      has them.
//   {"feedback":{"goal":3,"state":"active","time":0.5,"duration":2.5,"fraction":0.2,"reference":[...],"measured":[...]}}
//      10 times a second while a trajectory or move is "active" or "preempting": cancelled, or its joints were taken, and coming to
//      rest. Also at once when any goal, streams included, becomes preempting.
//      "time" is what has passed on the path: less than by the clock where the goal went slower than planned. While it does,
//      "speed" says how fast it goes (1 = as planned). "speed_excess" says by what part of a limit changes of the speed have
//      exceeded it at worst since the goal began, where nothing would have kept it; "result" has it, too.
//   {"result":{"id":1,"goal":3,"state":"succeeded"}}
//      How the goal ended: succeeded, aborted, preempted, recalled, rejected; with reason, message, joint, time, value,
//      limit where it has. The value of drive_fault is the drive's own fault word, and the message explains it. Value and limit
//      of loop_overrun are periods.
//   {"state":{"id":2,"time":12.5,"robot":"ready","active_goals":1,
//             "loop":{"cycles":2500,"overruns":0,"lateness_us":3.1,"busy_us":21.5},
//             "bus":{"sent":1,"received":1,"refused":0,"malformed":0,"unexpected":0,"starved":0},
//             "joint_names":[...],"command":[...],"reference":[...],"reference_velocity":[...],
//             "measured":[...],"measured_velocity":[...],"goal":[0,3],"drive":["ready",...],
//             "goals":[{"goal":3,"state":"active"},{"goal":4,"state":"pending"}],
//             "faults":[{"joint":"elbow","code":1,"message":"jam"}]}}
//      A robot that stopped by itself adds "reason", "message", "joint", "value" and "limit", as in "result". "goals" are all
//      clients' goals that have not ended; "faults" are the drives' own fault words and their meaning. "bus" lists in "starved_joints"
//      the joints that lost frames because the bus had no room, if there are any.
//   {"error":{"reason":"malformed","message":"line is not JSON: ..."}}
//      What could not be understood well enough to know whose request it was.
//
// Everything here allocates and is for the side without deadlines. Input may be any bytes at all.
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

/// The number in the greeting; it changes when a client of the old one would misunderstand.
inline constexpr int wire_protocol_version = 1;

/// The TCP port that server and clients agree on where nobody says otherwise.
inline constexpr std::uint16_t default_port = 7470;

/// The most waypoints that a trajectory message may hold, unless the server's options say otherwise.
inline constexpr std::size_t default_max_waypoints = 10'000;

// ---- requests ----

/// Which joints a request is about: by their names or by the name of a group; exactly one of the two is set.
struct JointSelection {
  std::vector<std::string> names;
  std::string group;

  friend bool operator==(const JointSelection&, const JointSelection&) = default;
};

/// Limits of a request: none, one for all joints, or one for each in the request's own order.
struct LimitsMessage {
  std::vector<double> velocity;
  std::vector<double> acceleration;
  std::vector<double> jerk;

  friend bool operator==(const LimitsMessage&, const LimitsMessage&) = default;
};

/// A tolerance of one joint, as control_msgs/JointTolerance: 0 is the default, negative no limit.
struct ToleranceMessage {
  std::string name;
  double position = 0;      ///< rad
  double velocity = 0;      ///< rad/s
  double acceleration = 0;  ///< not above 0

  friend bool operator==(const ToleranceMessage&, const ToleranceMessage&) = default;
};

struct TolerancesMessage {
  std::vector<ToleranceMessage> path;
  std::vector<ToleranceMessage> goal;
  double goal_time = 0;  ///< s; 0: the robot's, negative: no limit

  friend bool operator==(const TolerancesMessage&, const TolerancesMessage&) = default;
};

enum class OnDisconnect : std::uint8_t { stop, proceed };
enum class AtEnd : std::uint8_t { rest, stop };

struct PointMessage {
  double time = 0;  ///< s from the start
  std::vector<double> positions;
  std::vector<double> velocities;     ///< empty if not given
  std::vector<double> accelerations;  ///< empty if not given

  friend bool operator==(const PointMessage&, const PointMessage&) = default;
};

struct TrajectoryMessage {
  JointSelection joints;
  std::vector<PointMessage> points;
  bool timed = true;  ///< false: the points have no times, the limits say how long it takes
  std::optional<trajectory::Through> through;  ///< nothing: given if there are velocities, else smooth
  bool fit = false;
  AtEnd at_end = AtEnd::rest;
  OnDisconnect on_disconnect = OnDisconnect::stop;
  WhenBusy when_busy = WhenBusy::splice;
  std::optional<double> start;  ///< s on the loop's clock; nothing: at once
  LimitsMessage limits;
  TolerancesMessage tolerances;

  friend bool operator==(const TrajectoryMessage&, const TrajectoryMessage&) = default;
};

struct MoveMessage {
  JointSelection joints;
  std::vector<double> positions;
  std::optional<double> duration;  ///< s; nothing: the shortest within the limits
  trajectory::Synchronisation synchronisation = trajectory::Synchronisation::time;  ///< without a duration
  bool fit = false;
  OnDisconnect on_disconnect = OnDisconnect::stop;
  WhenBusy when_busy = WhenBusy::splice;
  LimitsMessage limits;
  TolerancesMessage tolerances;

  friend bool operator==(const MoveMessage&, const MoveMessage&) = default;
};

struct SetpointMessage {
  JointSelection joints;
  std::vector<double> positions;
  std::vector<double> velocities;  ///< empty if not given
  double timeout = 0.1;            ///< s

  friend bool operator==(const SetpointMessage&, const SetpointMessage&) = default;
};

/// How fast a trajectory goal goes along its path.
struct SpeedMessage {
  GoalId goal = 0;   ///< 0 = all trajectory goals
  double scale = 1;  ///< 0 pauses, 1 is as planned

  friend bool operator==(const SpeedMessage&, const SpeedMessage&) = default;
};

/// Where the joints of a cancelled trajectory come to rest.
enum class StopAt : std::uint8_t {
  now,   ///< each by itself, as fast as its limits allow
  path,  ///< together, on the path
};

struct CancelMessage {
  GoalId goal = 0;  ///< 0 = all
  StopAt stop = StopAt::now;

  friend bool operator==(const CancelMessage&, const CancelMessage&) = default;
};

struct StateMessage {
  friend bool operator==(const StateMessage&, const StateMessage&) = default;
};

struct SubscribeMessage {
  double rate = 0;  ///< Hz; 0 = end

  friend bool operator==(const SubscribeMessage&, const SubscribeMessage&) = default;
};

struct EmergencyStopMessage {
  StopCategory category = StopCategory::stop_then_power_off;

  friend bool operator==(const EmergencyStopMessage&, const EmergencyStopMessage&) = default;
};

struct ResetMessage {
  friend bool operator==(const ResetMessage&, const ResetMessage&) = default;
};

struct MarkMessage {
  std::string text;  ///< 1 to 128 bytes of UTF-8 without control characters

  friend bool operator==(const MarkMessage&, const MarkMessage&) = default;
};

/// One line from a client.
struct ClientMessage {
  std::string id;  ///< as JSON text, for example "7" or "\"seven\""; empty = none
  std::variant<TrajectoryMessage, MoveMessage, SetpointMessage, CancelMessage, SpeedMessage, StateMessage,
               SubscribeMessage, EmergencyStopMessage, ResetMessage, MarkMessage>
      body;

  friend bool operator==(const ClientMessage&, const ClientMessage&) = default;
};

// ---- replies ----

/// Why something was refused or ended badly, with what is known about the place.
struct Rejection {
  Errc reason{};                ///< 0 = no reason (a goal that ended well)
  std::string message;          ///< for people
  std::string joint;            ///< empty if the reason is not about one
  std::optional<double> time;   ///< s from the goal's start
  std::optional<double> value;  ///< the found value
  std::optional<double> limit;  ///< the allowed value

  friend bool operator==(const Rejection&, const Rejection&) = default;
};

/// The limits of a joint of the robot.
struct LimitsReply {
  std::string unit;  ///< of its position: "rad" or "m"
  JointLimits limits;

  friend bool operator==(const LimitsReply&, const LimitsReply&) = default;
};

struct GreetingReply {
  std::string version;
  int protocol = wire_protocol_version;
  std::string robot;
  double period = 0;  ///< s
  std::vector<std::string> joint_names;
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  ///< in the order of their names
  std::vector<LimitsReply> limits;  ///< one for each joint; none from a server that does not tell them

  friend bool operator==(const GreetingReply&, const GreetingReply&) = default;
};

/// From where to where a request was late, in microseconds.
struct LatencyReply {
  double handover_to_reference = 0;
  double receive_to_reference = 0;

  friend bool operator==(const LatencyReply&, const LatencyReply&) = default;
};

struct AcceptedReply {
  std::string id;
  GoalId goal = 0;                      ///< 0 = the request made no goal
  GoalState state = GoalState::active;  ///< of the goal: active, or pending while it waits for others
  std::optional<double> duration;       ///< s
  std::vector<std::string> joint_names;
  std::optional<LatencyReply> latency;
  std::optional<Rejection> exceeds{};  ///< a limit of its own that the goal begins beyond

  friend bool operator==(const AcceptedReply&, const AcceptedReply&) = default;
};

struct RejectedReply {
  std::string id;
  Rejection why;

  friend bool operator==(const RejectedReply&, const RejectedReply&) = default;
};

struct FeedbackReply {
  GoalId goal = 0;
  double time = 0;      ///< s on the goal's path
  double duration = 0;  ///< s
  double fraction = 0;  ///< time / duration, 0..1
  std::vector<double> reference;
  std::vector<double> measured;
  double speed = 1;                     ///< along the path, 1 = as planned
  double speed_excess = 0;              ///< worst relative excess of a limit by changes of the speed
  GoalState state = GoalState::active;  ///< or preempting

  friend bool operator==(const FeedbackReply&, const FeedbackReply&) = default;
};

struct ResultReply {
  std::string id;  ///< of the request that began the goal
  GoalId goal = 0;
  GoalState state = GoalState::succeeded;
  Rejection why;
  std::optional<Rejection> exceeds{};  ///< a limit of its own that the goal began beyond
  double speed_excess = 0;             ///< by what part changes of the goal's speed exceeded limits at worst

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

struct StateReply {
  std::string id;
  double time = 0;  ///< s on the loop's clock
  RobotState robot = RobotState::starting;
  Errc reason{};                ///< why the robot stopped by itself; 0 = it did not
  std::string joint;            ///< the joint that the reason is about; empty if none
  std::string message;          ///< for people: the reason with its joint, numbers and units
  std::optional<double> value;  ///< the found value
  std::optional<double> limit;  ///< the allowed value
  std::uint64_t active_goals = 0;
  std::uint64_t cycles = 0;
  std::uint64_t overruns = 0;
  double lateness_us = 0;
  double busy_us = 0;
  robot::HardwareCounters bus;
  std::vector<std::string> starved;      ///< the joints of bus.starved
  std::vector<std::string> joint_names;  ///< all columns below have one entry for each
  std::vector<double> command;
  std::vector<double> reference;
  std::vector<double> reference_velocity;
  std::vector<double> measured;
  std::vector<double> measured_velocity;
  std::vector<GoalId> goal;        ///< which goal moves the joint, 0 = none
  std::vector<std::string> drive;  ///< "unknown", "off", "ready", "fault"
  std::vector<GoalStatus> goals;   ///< of all clients; the server knows them, not the loop
  std::vector<FaultReply> faults;
};

struct ErrorReply {
  Rejection why;

  friend bool operator==(const ErrorReply&, const ErrorReply&) = default;
};

/// One line from a server.
using ServerMessage = std::variant<GreetingReply, AcceptedReply, RejectedReply, FeedbackReply, ResultReply,
                                   StateReply, ErrorReply>;

// ---- reading and writing ----

/// What a server makes of a line that it cannot accept: a RejectedReply if the line was a JSON object, else
/// an ErrorReply.
struct ParseFailure {
  bool is_object = false;
  std::string id;
  Rejection why;
};

/// Reads a client's line (without its '\n'). Checks everything that can be checked without knowing the robot.
[[nodiscard]] tl::expected<ClientMessage, ParseFailure> parse_client_message(
    std::string_view line, std::size_t max_waypoints = default_max_waypoints);

/// Reads a file for sending: a client message, or what may stand behind its "trajectory" on its own, whose documentary keys
/// ("about", "source", ...) are then skipped. So dumps of ROS messages are read as they are: JointTrajectory,
/// FollowJointTrajectory goals, RobotTrajectory, DisplayTrajectory of one trajectory; also inside the "msg", "args" or "goal" of
/// rosbridge and of actions.
[[nodiscard]] tl::expected<ClientMessage, ParseFailure> parse_motion_file(
    std::string_view text, std::size_t max_waypoints = default_max_waypoints);

/// Reads a server's line (without its '\n'). Keys that are not known are skipped: a newer server may say
/// more.
[[nodiscard]] tl::expected<ServerMessage, Rejection> parse_server_message(std::string_view line);

/// One line, '\n' included. Numbers are written so that reading them gives the same double again. Fields that
/// hold their default are left out where the manual calls them optional.
[[nodiscard]] std::string to_line(const ClientMessage& message);
[[nodiscard]] std::string to_line(const ServerMessage& message);

/// A trajectory as trajectory_msgs/JointTrajectory, for others and for parse_motion_file(): its joints and waypoints. What else the
/// message asks for has no place there. Times are rounded to nanoseconds, all other numbers are exact; joints must be named
/// ("group" is a word of takt's own, and written as it is). One waypoint a line, '\n' at the end.
[[nodiscard]] std::string to_joint_trajectory(const TrajectoryMessage& message);

/// The waypoints of a motion with their derivatives; one name for each joint.
[[nodiscard]] TrajectoryMessage to_message(const trajectory::Trajectory& motion,
                                           std::vector<std::string> joint_names);

/// What a server says of itself and of the robot's state.
[[nodiscard]] GreetingReply greeting(const robot::RobotDescription& robot);
[[nodiscard]] StateReply state_reply(const Snapshot& snapshot, const robot::RobotDescription& robot);

/// Explains an event in words: reason, joint, numbers with units and a drive's fault. An event from a Snapshot of the whole
/// robot has no time and no quantity.
[[nodiscard]] Rejection explain(const Event& event, const robot::RobotDescription& robot);
/// Why the robot stops, is stopped or does not become ready; Errc{} if there is no reason.
[[nodiscard]] Event cause_of(const Snapshot& snapshot) noexcept;
/// The robot's state, its reason, and the way to get it ready: "stopped: RSP: a drive does not answer (...). `takt reset` ...".
[[nodiscard]] std::string describe_state(const Snapshot& snapshot, const robot::RobotDescription& robot);

/// The advice that gets a robot ready which is stopped for this reason, or cannot start for a drive's fault; empty in any other state,
/// and if its loop is lost.
[[nodiscard]] std::string_view way_on(RobotState state, Errc reason) noexcept;

/// Whether the joint that an Event or a Snapshot names beside this reason means anything.
[[nodiscard]] bool is_about_a_joint(Errc reason) noexcept;

/// The Errc whose reason_name() is `name`.
[[nodiscard]] std::optional<Errc> reason_from_name(std::string_view name) noexcept;

}  // namespace takt::motion
