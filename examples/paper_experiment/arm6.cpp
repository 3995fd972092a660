// The 6-joint arm: a planner's trajectory that must be refused, slowed, or stopped at its end; a stream and requests at 1 kHz.
#include <fmt/format.h>

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
  experiment.begin_section("planned trajectory");
  motion::MoveMessage back;
  back.joints = planned.joints;
  back.positions = planned.points.front().positions;

  experiment.expect_refusal("as it was planned", planned, motion::Errc::not_at_rest_at_end);

  motion::TrajectoryMessage stopped = planned;
  stopped.at_end = motion::AtEnd::stop;
  motion::TrajectoryMessage tight = stopped;
  tight.limits.acceleration = {5};
  // The waypoints themselves keep to 5 rad/s^2; the quintics between them do not.
  experiment.expect_refusal("with 5 rad/s^2", tight, motion::Errc::acceleration_limit, "elbow_joint", 6.87);

  motion::TrajectoryMessage slowed = tight;
  slowed.fit = true;
  experiment.run("with 5 rad/s^2 and fit", slowed, 2);
  experiment.run("back to the start", back, 3);
  experiment.run("with the robot's 8 rad/s^2", stopped, 2);
  experiment.run("back to the start again", back, 3);
}

/// The ways to change one's mind: slower, paused, on again, and a stop that stays on the path. Every one of them keeps the limits of
/// every joint, jerk included.
void run_along_the_path(Experiment& experiment, const motion::TrajectoryMessage& planned) {
  using namespace std::chrono_literals;
  experiment.begin_section("along the path");
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
  untimed.points.erase(untimed.points.begin());  // where it stands
  for (motion::PointMessage& point : untimed.points) {
    point.time = 0;
    point.velocities.clear();
    point.accelerations.clear();
  }
  experiment.run("as fast as the limits allow", untimed, 4);
  experiment.run("back once more", back, 3);
}

void run_stream(Experiment& experiment, const std::vector<double>& start) {
  experiment.begin_section("1 kHz stream");
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
  experiment.begin_section("1 kHz requests");
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
  run_planned_trajectory(experiment, planned);
  run_along_the_path(experiment, planned);
  run_stream(experiment, start);
  run_requests(experiment, start.back() + 0.5);
}

}  // namespace paper
