// A robot without a file, on your own hardware. The program describes one joint in code. app::Robot runs it
// twice in virtual time, each time to 1.2 rad:
//
//     device   a motor of this program, read and commanded directly: as for a drive unknown to takt
//     bus      a CAN port of this program, with a supported drive: as for your own CAN controller
//
// Prints the final position of the joint. Exit code: 0 if it arrived both times.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <span>

#include "takt/app/robot.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/drives/registry.hpp"
#include "takt/motion/planner.hpp"
#include "takt/sim/robot_simulation.hpp"

using namespace takt;
using namespace std::chrono_literals;

namespace {

constexpr double target = 1.2;  // rad

// The loop's clock, on which time passes only while the loop sleeps. The template app::ClockOf accepts any
// class with now() and sleep_until(), such as a clock of your field bus.
using OwnClock = app::ClockOf<ManualClock>;

robot::RobotDescription one_joint() {
  robot::RobotDescription robot;
  robot.name = "own";
  robot.period = 1ms;
  robot.joints.emplace_back();
  robot.joints[0].name = "joint";
  robot.joints[0].limits = {-3, 3, 2, 8, 100};  // rad, rad, rad/s, rad/s^2, rad/s^3
  return robot;
}

/// A motor that follows its command with a time constant of 5 ms. Replace it by calls of your driver.
class OwnMotor final : public robot::Hardware {
 public:
  /// Reports the motion of the joint. The loop calls it once per period; it must not wait.
  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    const double passed = to_seconds(now - last_read_);
    last_read_ = now;
    if (command_.want_power) velocity_ = (command_.position - position_) / 0.005;
    if (!command_.want_power) velocity_ = 0;
    position_ += velocity_ * passed;
    feedback[0].position = position_;
    feedback[0].velocity = velocity_;
    feedback[0].stamp = now;  // leave it unchanged while a drive is silent: then the robot stops
    feedback[0].heard = true;
    feedback[0].drive = command_.want_power ? DriveState::ready : DriveState::off;
  }
  /// Sets the command for the next period.
  void write(Time, std::span<const JointCommand> commands) noexcept override { command_ = commands[0]; }
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override { return {}; }

 private:
  Time last_read_{};
  double position_ = 0;
  double velocity_ = 0;
  JointCommand command_;
};

/// A bus of this program with a simulated drive on it. Replace it by calls of your CAN controller.
class OwnPort final : public robot::CanPort {
 public:
  OwnPort(sim::RobotSimulation& drives, OwnClock& clock) : drives_(&drives), clock_(&clock) {}

  std::size_t send(std::span<const can::Frame> frames) noexcept override {
    const std::size_t taken = drives_->host(0).send(frames);
    traffic_.frames += taken;
    traffic_.refused += frames.size() - taken;
    return taken;
  }
  std::size_t receive(std::span<can::Frame> frames) noexcept override {
    drives_->advance(clock_->now());
    const std::size_t got = drives_->host(0).receive(frames);
    traffic_.frames += got;
    return got;
  }
  /// Report here that your bus is down. The robot stops, and can be reset once the bus is up again.
  [[nodiscard]] robot::BusLink link() const noexcept override { return robot::BusLink::up; }
  [[nodiscard]] robot::BusTraffic traffic() const noexcept override { return traffic_; }

 private:
  sim::RobotSimulation* drives_;
  OwnClock* clock_;
  robot::BusTraffic traffic_;
};

/// Requests one motion once the robot is ready, and ends the run after it. The loop's thread calls it in each
/// cycle. This is fine in virtual time, where planning may take long. In real time use a motion server
/// (08_real_robot.cpp).
class Mover final : public motion::LoopObserver {
 public:
  explicit Mover(app::Robot& robot) : robot_(&robot) {}
  [[nodiscard]] bool arrived() const { return succeeded_ && std::abs(position_ - target) < 0.02; }
  [[nodiscard]] double position() const { return position_; }

  void before_cycle(Time now) noexcept override {
    if (now - Time{} > 10s) robot_->shut_down();  // it was never ready, or never arrived
  }
  void after_cycle(const motion::Snapshot& state) noexcept override {
    position_ = state.joints[0].measured_position;
    if (state.state != motion::RobotState::ready || request_) return;
    motion::MoveMessage move;
    move.joints.names = {"joint"};
    move.positions = {target};
    auto planned =
        motion::plan(move, robot_->description(), state);  // plans within the limits, or returns the error
    if (!planned) return std::puts(planned.error().message.c_str()), robot_->shut_down();
    request_ = std::move(*planned);
    request_->goal = 1;
    static_cast<void>(robot_->channels().requests.try_push(request_.get()));  // the loop borrows the request
  }
  void on_event(const motion::Event& event) noexcept override {
    if (event.goal != 1 || !motion::is_terminal(event.state)) return;
    succeeded_ = event.state == motion::GoalState::succeeded;
    robot_->shut_down();
  }

 private:
  app::Robot* robot_;
  std::unique_ptr<motion::Request> request_;
  double position_ = 0;
  bool succeeded_ = false;
};

/// Runs the robot. Returns whether the joint arrived.
bool run(const char* name, const robot::RobotDescription& description, const app::RobotOptions& options) {
  const auto robot = app::Robot::create(description, options);
  if (!robot) return std::puts(robot.error().message.c_str()), false;
  Mover mover(**robot);
  (*robot)->add_observer(mover);
  const auto ran = (*robot)->run();
  while (const auto line = (*robot)->next_report()) std::printf("%s: %s\n", name, line->text.c_str());
  std::printf("%s: the joint ends at %.3f rad\n", name, mover.position());
  return ran.has_value() && mover.arrived();
}

bool run_own_device() {
  OwnClock clock;
  OwnMotor motor;
  app::RobotOptions options;
  options.clock = &clock;
  options.hardware = &motor;
  return run("device", one_joint(), options);
}

bool run_own_bus() {
  OwnClock clock;
  robot::RobotDescription description = one_joint();
  description.buses.push_back({.name = "arm", .protocol = drives::find("servo")});
  description.joints[0].board = 1;                    // the drive's address on the bus
  description.joints[0].counts_per_radian = 100'000;  // of its encoder
  auto drives = sim::RobotSimulation::create(description, clock.now());
  if (!drives) return std::puts(drives.error().message.c_str()), false;
  OwnPort port(*drives, clock);
  app::RobotOptions options;
  options.clock = &clock;
  options.devices.ports = {&port};  // one per bus
  return run("bus", description, options);
}

}  // namespace

int main() {
  const bool device_arrived = run_own_device();
  const bool bus_arrived = run_own_bus();
  return device_arrived && bus_arrived ? 0 : 1;
}
