// The 6-joint arm. A planner's trajectory that must be rejected, slowed, or stopped at its end. Motions that
// change while they run, start at a time, wait for each other, or take the short way. A stream and requests
// at 1 kHz.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <string>

#include "experiment.hpp"

namespace paper {
namespace {

motion::TrajectoryMessage planned_trajectory(const std::string& data) {
  const std::string path = data + "/ur_arm_planned.json";
  auto message = motion::parse_motion_file(read_file(path));
  if (!message) give_up(path + ": " + message.error().why.message);
  const auto* trajectory = std::get_if<motion::TrajectoryMessage>(&message->body);
  if (trajectory == nullptr) give_up(path + " holds no trajectory");
  return *trajectory;
}

void run_planned_trajectory(Experiment& experiment, const motion::TrajectoryMessage& planned) {
  motion::MoveMessage back;
  back.joints = planned.joints;
  back.positions = planned.points.front().positions;

  experiment.expect_refusal("as it was planned", planned, motion::Errc::not_at_rest_at_end);

  motion::TrajectoryMessage stopped = planned;
  stopped.at_end = motion::AtEnd::stop;
  motion::TrajectoryMessage tight = stopped;
  tight.limits.acceleration = {5};
  // The waypoints stay below 5 rad/s^2, but the quintics between them do not.
  experiment.expect_refusal("with 5 rad/s^2", tight, motion::Errc::acceleration_limit, "elbow_joint", 6.87);

  motion::TrajectoryMessage slowed = tight;
  slowed.fit = true;
  experiment.run("with 5 rad/s^2 and fit", slowed, 2);
  experiment.run("back to the start", back, 3);
  experiment.run("with the robot's 8 rad/s^2", stopped, 2);
  experiment.run("back to the start again", back, 3);
}

/// Changes of a running motion: slower, pause, resume, and a stop on the path. All keep the limits of every
/// joint, jerk included.
void run_along_the_path(Experiment& experiment, const motion::TrajectoryMessage& planned) {
  using namespace std::chrono_literals;
  const auto pause = [&](Duration time) {
    experiment.session().wait_until(experiment.session().now() + time);
  };

  motion::TrajectoryMessage slow = planned;
  slow.at_end = motion::AtEnd::stop;
  slow.limits.acceleration = {2};
  slow.fit = true;
  for (const std::string& joint : slow.joints.names) slow.tolerances.path.push_back({joint, 0.05, 0, 0});
  motion::MoveMessage back;
  back.joints = planned.joints;
  back.positions = planned.points.front().positions;
  back.synchronisation = trajectory::Synchronisation::phase;

  const Running paused = experiment.start("paused, at 30 % and on again", slow, 6);
  const motion::GoalId goal = paused.answer ? paused.answer->goal : 0;
  pause(300ms);
  experiment.ask("pause", motion::SpeedMessage{goal, 0});
  pause(700ms);
  experiment.ask("at 30 %", motion::SpeedMessage{goal, 0.3});
  pause(700ms);
  experiment.ask("as planned", motion::SpeedMessage{goal, 1});
  experiment.await({paused});
  experiment.run("back, all joints in proportion", back, 3);

  const Running left = experiment.start("cancelled on its path", slow, 4);
  pause(400ms);
  experiment.ask("cancel on the path",
                 motion::CancelMessage{left.answer ? left.answer->goal : 0, motion::StopAt::path});
  experiment.await({left}, motion::GoalState::preempted);
  experiment.run("back again", back, 3);

  motion::TrajectoryMessage untimed = planned;
  untimed.timed = false;
  untimed.through = trajectory::Through::smooth;
  untimed.points.erase(untimed.points.begin());  // removes the waypoint at the current position
  for (motion::PointMessage& point : untimed.points) {
    point.time = 0;
    point.velocities.clear();
    point.accelerations.clear();
  }
  experiment.run("as fast as the limits allow", untimed, 4);
  experiment.run("back once more", back, 3);
}

std::size_t column_of(const motion::StateReply& state, const std::string& joint) {
  const auto found = std::find(state.joint_names.begin(), state.joint_names.end(), joint);
  if (found == state.joint_names.end()) give_up("the robot has no " + joint);
  return static_cast<std::size_t>(found - state.joint_names.begin());
}

/// A trajectory that starts at a time of the loop's clock. Halfway, the reference must be the trajectory's
/// value at that time.
void begin_at_a_time(Experiment& experiment, const std::string& joint) {
  using namespace std::chrono_literals;
  constexpr double duration = 1;
  Session& session = experiment.session();
  const motion::StateReply before = session.state();
  const std::size_t column = column_of(before, joint);
  const double from = before.reference[column];
  const double to = from + 0.4;
  motion::TrajectoryMessage message;
  message.joints.names = {joint};
  message.points = {{duration, {to}, {0}, {0}}};
  message.start = before.time + 0.5;
  const Running ahead = experiment.start_waiting("begins in half a second", message, 0.5 + duration);
  session.wait_until(session.now() + 1s);
  const motion::StateReply half_way = session.state();
  const double elapsed = half_way.time - *message.start;
  // On a busy machine, missed periods delay the motion.
  const double missed = session.robot().period * static_cast<double>(half_way.overruns - before.overruns);
  const double least = rest_to_rest(from, to, duration, elapsed - missed).position;
  const double most = rest_to_rest(from, to, duration, elapsed).position;
  const double reference = half_way.reference[column];
  constexpr double rounding = 1e-9;
  experiment.add(
      "is on time", fmt::format("{:.9f} to {:.9f} rad {:.3f} s after it began", least, most, elapsed),
      fmt::format("{:.9f}", reference),
      elapsed > 0 && elapsed < duration && reference >= least - rounding && reference <= most + rounding);
  experiment.await({ahead});
}

/// Three moves at once, the last one back to `end`. Each starts when the previous one has succeeded.
void run_in_turn(Experiment& experiment, const std::string& joint, double end) {
  motion::MoveMessage move;
  move.joints.names = {joint};
  move.positions = {end + 0.2};
  const Running first = experiment.start("first", move, 2);
  move.when_busy = motion::WhenBusy::queue;
  move.positions = {end + 0.5};
  const Running second = experiment.start_waiting("second", move, 4);
  move.positions = {end};
  const Running third = experiment.start_waiting("third", move, 6);
  experiment.await({first, second, third});
}

/// A continuous joint receives a move by +350 degrees and turns by -10.
void take_the_short_way(Experiment& experiment, const std::string& joint) {
  constexpr double degree = std::numbers::pi / 180;
  Session& session = experiment.session();
  const motion::StateReply before = session.state();
  const std::size_t column = column_of(before, joint);
  const double from = before.reference[column];
  motion::MoveMessage move;
  move.joints.names = {joint};
  move.positions = {from + 350 * degree};
  experiment.run("told to go 350 degrees", move, 2);
  const double turned = (session.state().measured[column] - from) / degree;
  experiment.add("goes the short way", "-10 degrees", fmt::format("{:.2f} degrees", turned),
                 std::abs(turned + 10) < 1);
  move.positions = {from};
  experiment.run("and back", move, 2);
}

void run_waiting_and_turning(Experiment& experiment, const motion::TrajectoryMessage& planned) {
  const std::string& joint = planned.joints.names.back();
  begin_at_a_time(experiment, joint);
  run_in_turn(experiment, joint, planned.points.front().positions.back());
  take_the_short_way(experiment, joint);
}

void run_stream(Experiment& experiment, const std::vector<double>& start) {
  experiment.stream(1000, 3001, [&](std::size_t k) {
    motion::SetpointMessage message;
    message.joints.group = "arm";
    message.timeout = 0.3;
    for (const double from : start) {
      const QuinticPoint point = rest_to_rest(from, from + 0.5, 3, 0.001 * static_cast<double>(k));
      message.positions.push_back(point.position);
      message.velocities.push_back(point.velocity);
    }
    return message;
  });
}

void run_requests(Experiment& experiment, double wrist) {
  constexpr double rate = 1000;
  experiment.preempting_moves(rate, 3000, [&](std::size_t k) {
    motion::MoveMessage move;
    move.joints.names = {"wrist_3_joint"};
    move.positions = {wrist + 0.3 * std::sin(2 * std::numbers::pi * 0.5 * static_cast<double>(k) / rate)};
    move.fit = true;
    return move;
  });
}

}  // namespace

void run_on_arm6(Experiment& experiment, const std::string& data) {
  const motion::TrajectoryMessage planned = planned_trajectory(data);
  const std::vector<double>& start = planned.points.front().positions;
  experiment.measure("planned trajectory", [&] { run_planned_trajectory(experiment, planned); });
  experiment.measure("along the path", [&] { run_along_the_path(experiment, planned); });
  experiment.measure("on time, in turn, the short way",
                     [&] { run_waiting_and_turning(experiment, planned); });
  experiment.measure("1 kHz stream", [&] { run_stream(experiment, start); });
  experiment.measure("1 kHz requests", [&] { run_requests(experiment, start.back() + 0.5); });
}

}  // namespace paper
