// The messages of the motion server's wire protocol: JSON objects, one per line. PROTOCOL.md in this folder
// is its manual.
//
//     auto request = motion::parse_client_message(R"({"state":{}})");
//     std::string line = motion::to_line(motion::ServerMessage(motion::greeting(robot)));
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
  bool accept_positions = false;  ///< those that jumped while their drives were away

  friend bool operator==(const ResetMessage&, const ResetMessage&) = default;
};

/// "mark": begins a section in the recording.
struct MarkMessage {
  std::string text;  ///< 1 to 128 bytes of UTF-8 without control characters

  friend bool operator==(const MarkMessage&, const MarkMessage&) = default;
};

/// "controllers": a request to the robot's manager of controllers (app/controller_commands.hpp).
struct ControllersMessage {
  std::string request;  ///< JSON text of an object with one key: {"start":{"name":"tip"}}

  friend bool operator==(const ControllersMessage&, const ControllersMessage&) = default;
};

/// One line from a client.
struct ClientMessage {
  std::string id;  ///< as JSON text, for example "7" or "\"seven\""; empty: none
  std::variant<TrajectoryMessage, MoveMessage, SetpointMessage, CancelMessage, SpeedMessage, StateMessage,
               SubscribeMessage, EmergencyStopMessage, ResetMessage, MarkMessage, ControllersMessage>
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

/// A joint without a drive, which follows another one.
struct MimicReply {
  std::string joint;
  double measured = 0;  ///< position, from the measured position of the joint that it follows
  double measured_velocity = 0;

  friend bool operator==(const MimicReply&, const MimicReply&) = default;
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
  std::vector<double> age_ms;      ///< since the drive's last answer; -1: none yet. Older servers: empty
  std::vector<GoalStatus> goals;   ///< of all clients; only the server knows them
  std::vector<FaultReply> faults;  ///< of drives with a fault
  std::vector<MimicReply> mimics;  ///< joints that follow others
};

/// "controllers": the answer of the robot's manager of controllers.
struct ControllersReply {
  std::string id;      ///< of the request
  std::string answer;  ///< JSON text of an object with the request's key: {"start":{}}

  friend bool operator==(const ControllersReply&, const ControllersReply&) = default;
};

/// "error": a line that could not be assigned to a request.
struct ErrorReply {
  Rejection why;

  friend bool operator==(const ErrorReply&, const ErrorReply&) = default;
};

/// One line from a server.
using ServerMessage = std::variant<GreetingReply, AcceptedReply, RejectedReply, FeedbackReply, ResultReply,
                                   StateReply, ErrorReply, ControllersReply>;

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
