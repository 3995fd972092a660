// The wheeled humanoid: its store demonstration, three ways to command the same motion, and requests at 200
// Hz.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "experiment.hpp"
#include "table.hpp"

namespace paper {
namespace {

using Json = nlohmann::json;

constexpr double radians = std::numbers::pi / 180;
constexpr double gripper_open = 1.4;    // rad, of its 0 to 1.47
constexpr double gripper_closed = 0.1;  // rad

motion::MoveMessage move_joint(const std::string& joint, double position, double duration) {
  motion::MoveMessage move;
  move.joints.names = {joint};
  move.positions = {position};
  move.duration = duration;
  return move;
}

Running start_gripper(Experiment& experiment, const std::string& name, const Json& gripper) {
  const auto side = gripper.at("side").get<std::string>();
  const auto command = gripper.at("command").get<std::string>();
  motion::MoveMessage move;
  move.joints.group = side + "_gripper";
  move.positions = {command == "open" ? gripper_open : gripper_closed};
  return experiment.start(fmt::format("{}: {} {}", name, command, side), move, 3);
}

/// Converts degrees and milliseconds to radians and seconds. The goals of one step run at the same time.
void run_demo_step(Experiment& experiment, const std::string& name, const Json& step) {
  std::vector<Running> goals;
  if (step.contains("base")) experiment.skip(name + ": base move");
  const Json arm = step.value("arm", Json::object());
  if (arm.contains("hand_pose")) experiment.skip(name + ": hand pose");
  const Json joints = arm.value("joints", Json::object());
  for (const auto& [joint, target] : joints.items()) {
    const double duration = target.at("ms").get<double>() / 1000;
    goals.push_back(experiment.start(fmt::format("{}: {}", name, joint),
                                     move_joint(joint, target.at("deg").get<double>() * radians, duration),
                                     duration));
  }
  if (step.contains("gripper")) goals.push_back(start_gripper(experiment, name, step.at("gripper")));
  experiment.await(goals);
}

void run_store_demo(Experiment& experiment, const std::string& data) {
  const std::string path = data + "/mhubo_store_demo.json";
  const Json demo = Json::parse(read_file(path), nullptr, false);
  if (!demo.is_object()) give_up(path + " is not JSON");
  const Json& steps = demo.at("steps");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    run_demo_step(experiment, fmt::format("step {}", i + 1), steps[i]);
  }
}

/// The waist turns by half a turn in 5 s, three times: there, back, and there again.
void run_three_ways(Experiment& experiment) {
  constexpr const char* joint = "WST";
  constexpr double far = -std::numbers::pi;
  constexpr double duration = 5;

  const auto setpoint = [](double from, double to, double time, bool with_velocity) {
    const QuinticPoint point = rest_to_rest(from, to, duration, time);
    motion::SetpointMessage message;
    message.joints.names = {joint};
    message.positions = {point.position};
    if (with_velocity) message.velocities = {point.velocity};
    message.timeout = 0.3;
    return message;
  };

  experiment.measure(std::string(ways[0]), [&] {
    experiment.stream(10, 51,
                      [&](std::size_t k) { return setpoint(0, far, 0.1 * static_cast<double>(k), false); });
  });
  experiment.measure(std::string(ways[1]), [&] {
    experiment.stream(200, 1001,
                      [&](std::size_t k) { return setpoint(far, 0, 0.005 * static_cast<double>(k), true); });
  });
  experiment.measure(std::string(ways[2]), [&] {
    motion::TrajectoryMessage trajectory;
    trajectory.joints.names = {joint};
    trajectory.points = {{duration, {far}, {0}, {0}}};
    experiment.run("trajectory", trajectory, duration);
  });
}

void run_requests(Experiment& experiment) {
  constexpr double rate = 200;
  experiment.preempting_moves(rate, 1000, [](std::size_t k) {
    motion::MoveMessage move;
    move.joints.names = {"LWY2"};
    move.positions = {0.3 * std::sin(2 * std::numbers::pi * 0.5 * static_cast<double>(k) / rate)};
    move.fit = true;
    return move;
  });
}

}  // namespace

void run_on_mhubo(Experiment& experiment, const std::string& data) {
  experiment.measure("store demo", [&] { run_store_demo(experiment, data); });
  run_three_ways(experiment);
  experiment.measure("200 Hz requests", [&] { run_requests(experiment); });
}

}  // namespace paper
