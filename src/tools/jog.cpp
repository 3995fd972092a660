// takt jog: moves one joint of a robot a little, slowly, with all limits on: the first motion of a new robot.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "takt/app/robot.hpp"
#include "takt/motion/server.hpp"
#include "tools/bus_options.hpp"
#include "tools/commands.hpp"
#include "tools/motion_command.hpp"
#include "tools/number_checks.hpp"
#include "tools/printer.hpp"
#include "tools/robot_file.hpp"
#include "tools/signals.hpp"

namespace takt::tools {
namespace {

struct JogOptions {
  std::string robot;  ///< as the user names it
  std::string robot_file;
  std::string joint;
  double delta = 0;  ///< rad or m
  std::vector<std::string> buses;
  bool simulate = false;
  double start_timeout = 10;  ///< s
  double speed = 0.1;         ///< share of the joint's limits of velocity and acceleration
};

/// A robot that runs on a thread of its own. A signal, or this object's destruction, brings it to a
/// controlled stop.
class Running {
 public:
  Running(app::Robot& robot, const sigset_t& signals)
      : robot_(&robot),
        loop_([this] {
          static_cast<void>(robot_->run());
          ended_.store(true, std::memory_order_release);  // release: pairs with has_ended()
        }),
        watch_([this, signals] {
          constexpr timespec patience{0, 20'000'000};
          while (!has_ended()) {
            if (sigtimedwait(&signals, nullptr, &patience) > 0) robot_->shut_down();
          }
        }) {}
  ~Running() { stop(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void stop() {
    robot_->shut_down();
    if (loop_.joinable()) loop_.join();
    if (watch_.joinable()) watch_.join();
  }
  [[nodiscard]] bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire); }

 private:
  app::Robot* robot_;
  std::atomic<bool> ended_{false};
  std::thread loop_;
  std::thread watch_;  ///< waits for signals: waiting for the motion's end must not delay a stop
};

/// Waits until the robot is ready, and prints its states meanwhile. Returns false if it stopped, or after the
/// timeout, s.
bool wait_until_ready(app::Robot& robot, const Running& running, double timeout) {
  const auto start = std::chrono::steady_clock::now();
  while (!running.has_ended()) {
    while (const auto line = robot.next_report()) {
      fmt::print("{}\n", line->text);
      if (line->text == "robot ready") return true;
      if (line->text.rfind("robot stopped", 0) == 0) return false;
    }
    std::fflush(stdout);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (passed.count() >= timeout) {
      fmt::print(stderr, "takt jog: {}\n", robot.describe_start());
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

int jog(const JogOptions& options) {
  auto description = open_robot_file(options.robot_file);
  if (!description) return description.error();
  const auto joint = description->find_joint(options.joint);
  if (!joint) {
    fmt::print(stderr, "takt jog: robot {} has no joint {}; `takt check {}` lists them\n", description->name,
               options.joint, options.robot);
    return exit_bad_input;
  }
  if (!description->power) {
    fmt::print(stderr, "takt jog: {} says \"power\": \"off\", so no drive gets power\n", options.robot_file);
    return exit_bad_input;
  }
  const std::string on_which = options.simulate ? " --simulate" : bus_arguments(options.buses);
  const sigset_t signals = block_ending_signals();
  app::RobotOptions wanted;
  wanted.devices.simulate = options.simulate;
  wanted.devices.buses = to_overrides(options.buses);
  wanted.port = std::uint16_t{0};
  wanted.thread = rt::ThreadConfig::all(rt::Want::attempt);
  wanted.thread.affinity = rt::Want::off;
  const JointLimits limits = description->joints[*joint].limits;
  auto robot = app::Robot::create(std::move(*description), std::move(wanted));
  if (!robot) {
    fmt::print(stderr, "takt jog: {}\n", robot.error().message);
    return exit_failed;
  }
  Running running(**robot, signals);
  if (!wait_until_ready(**robot, running, options.start_timeout)) {
    fmt::print(
        stderr,
        "takt jog: the robot did not become ready: nothing moved. `takt check {}{}` shows each drive\n",
        options.robot, on_which);
    return exit_failed;
  }
  MotionOptions motion;
  const std::string& place = (*robot)->place();
  motion.address.port = static_cast<std::uint16_t>(std::stoul(place.substr(place.rfind(':') + 1)));
  motion.velocity = options.speed * limits.velocity;
  motion.acceleration = options.speed * limits.acceleration;
  double from = 0;
  {
    MotionClient client = connect_or_exit(motion.address);
    const auto state = client.state(answer_time);
    if (!state) exit_with(state.error());
    from = state->reference[*joint];
  }
  motion::MoveMessage message;
  message.joints.names = {options.joint};
  message.positions = {from + options.delta};
  motion.apply(message);
  fmt::print("{} goes from {:.4f} to {:.4f} at {:g} % of its limits\n", options.joint, from,
             from + options.delta, options.speed * 100);
  std::fflush(stdout);
  move_or_exit(motion, {"", std::move(message)});
  running.stop();
  static_cast<void>((*robot)->finish());
  fmt::print("Next: the other joints, then `takt run {}{}`\n", options.robot, on_which);
  return exit_ok;
}

}  // namespace

void add_jog(CLI::App& app) {
  auto options = std::make_shared<JogOptions>();
  CLI::App* command = app.add_subcommand(
      "jog", "Switch a robot on, move one joint a little and slowly with every limit on, and switch it off");
  add_robot_option(*command, options->robot_file, &options->robot);
  command->add_option("joint", options->joint, "The joint's name in the file")->required();
  command->add_option("delta", options->delta, "Distance, rad (m for a linear joint)")
      ->required()
      ->check(finite_number());
  command
      ->add_option("--speed", options->speed,
                   "Fraction of the joint's velocity and acceleration limits, above 0, at most 1")
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str();
  command
      ->add_option(
          "--start-timeout", options->start_timeout,
          "Give up if the robot is not ready after this many seconds, and say which drives are missing")
      ->check(positive_number())
      ->capture_default_str();
  CLI::Option* simulate = command->add_flag("--simulate", options->simulate,
                                            "Simulated drives on every bus, whatever the file says");
  add_bus_option(*command, options->buses,
                 "NAME=INTERFACE: another interface for a bus of the file: can0, slcan:/dev/ttyACM0, virtual")
      ->excludes(simulate);
  command->footer(
      "All joints are powered and hold their positions meanwhile.\n"
      "Examples:\n"
      "  takt jog arm6 elbow_joint 0.1 --simulate\n"
      "  takt jog my_arm.json wrist -0.05 --bus arm=can0\n"
      "Exit code: 0 it arrived, 1 it did not, or a bus cannot be opened, 2 the file or an argument is "
      "wrong.");
  command->callback([options] {
    const int code = jog(*options);
    if (code != exit_ok) throw CLI::RuntimeError(code);
  });
}

}  // namespace takt::tools
