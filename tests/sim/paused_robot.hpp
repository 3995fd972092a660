// A simulated robot whose loop is away in the middle of a move.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "takt/motion/joint_trajectory.hpp"
#include "takt/motion/robot_cycle.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/manager.hpp"
#include "takt/sim/servo_plant.hpp"
#include "takt/trajectory/through.hpp"

namespace takt::test {

/// A robot with its manager and its trajectory controller, cycle by cycle.
class PausedRobot {
 public:
  /// The largest values of the references, in limits of their joints.
  struct Peaks {
    double velocity = 0;
    double acceleration = 0;
    double jerk = 0;
  };

  /// The simulation behind `hardware` moves in each read(). Before that, `pass` is called at the end of each
  /// servo period that passes. Both must outlive the robot.
  PausedRobot(robot::RobotDescription description, robot::Hardware& hardware, std::function<void(Time)> pass)
      : robot(std::move(description)),
        manager(robot),
        device_("drives", hardware),
        pass_(std::move(pass)),
        references_(robot.joints.size()) {
    REQUIRE(manager.add(device_));
    REQUIRE(manager.load(controller_));
    REQUIRE(manager.switch_controllers({.start = {controller_->name()}}));
    REQUIRE(manager.start(now));
    for (int i = 0; i < 4000 && manager.supervisor().state() != robot::RobotState::ready; ++i) cycle();
    REQUIRE(manager.supervisor().state() == robot::RobotState::ready);
    for (int i = 0; i < 200; ++i) cycle();
  }
  ~PausedRobot() { manager.stop(now); }
  PausedRobot(const PausedRobot&) = delete;
  PausedRobot& operator=(const PausedRobot&) = delete;

  /// Begins a move of all joints by these distances, which takes at least this long, s. It keeps all limits.
  void move(const std::vector<double>& distances, double least = 0) {
    motion::Request& request = *(request_ = std::make_unique<motion::Request>());
    request.kind = motion::RequestKind::trajectory;
    request.goal = 1;
    std::vector<double> positions;
    double duration = std::max(least, 0.02);
    for (std::size_t i = 0; i < robot.joints.size(); ++i) {
      const JointLimits& limits = robot.joints[i].limits;
      request.joints.insert(i);
      request.limits.push_back(limits);
      request.goal_tolerance.push_back({robot.joints[i].goal_tolerance, 0, 0});
      positions.push_back(reference(i).position);
      // The largest derivatives of a quintic from rest to rest.
      const double distance = std::abs(distances[i]);
      duration = std::max({duration, 1.88 * distance / limits.velocity,
                           std::sqrt(5.78 * distance / limits.acceleration),
                           std::cbrt(60.1 * distance / limits.jerk)});
    }
    for (std::size_t i = 0; i < robot.joints.size(); ++i) positions.push_back(positions[i] + distances[i]);
    request.path_tolerance.resize(robot.joints.size());
    request.goal_time = to_seconds(robot.goal_time);
    const std::vector<double> times{0, duration};
    auto trajectory = trajectory::through(
        trajectory::Waypoints{robot.joints.size(), times, positions, {}, {}}, trajectory::Through::stop);
    REQUIRE(trajectory);
    request.trajectory = std::move(*trajectory);
    request.lead = trajectory::PointToPoint<>(robot.joints.size());
    next_ = request_.get();
    cycle();
  }
  [[nodiscard]] double duration() const { return request_->trajectory.duration(); }
  [[nodiscard]] bool is_moving() const { return !motion::is_terminal(last.state); }

  /// One cycle, after so many periods without one.
  void cycle(std::uint64_t missed = 0) {
    const Duration gap = robot.period * static_cast<Duration::rep>(missed + 1);
    for (const Time end = now + gap; now < end;) pass_(now += sim::servo_period);
    cycle_.begin(now, gap, missed);
    if (next_ != nullptr && cycle_.accepts_requests()) cycle_.submit(*std::exchange(next_, nullptr));
    cycle_.advance();
    cycle_.deliver(now, [this](const motion::Event& event) {
      last = event;
      return true;
    });
    look_at_references();
  }
  [[nodiscard]] const MotionState& reference(std::size_t joint) const {
    return manager.joints()[joint].reference();
  }
  /// The peaks since the last call.
  Peaks peaks() { return std::exchange(peaks_, {}); }

  robot::RobotDescription robot;
  robot::Manager manager;
  motion::Event last;
  Time now{};

 private:
  void look_at_references() {
    const double period = to_seconds(robot.period);
    const auto raise = [](double& peak, double value) { peak = std::max(peak, std::abs(value)); };
    for (std::size_t i = 0; i < robot.joints.size(); ++i) {
      const JointLimits& limits = robot.joints[i].limits;
      const MotionState& to = reference(i);
      const MotionState from = std::exchange(references_[i], to);
      raise(peaks_.velocity, (to.position - from.position) / period / limits.velocity);
      raise(peaks_.acceleration, (to.velocity - from.velocity) / period / limits.acceleration);
      raise(peaks_.jerk, (to.acceleration - from.acceleration) / period / limits.jerk);
    }
  }

  robot::DriveDevice device_;
  std::shared_ptr<motion::JointTrajectoryController> controller_ =
      std::make_shared<motion::JointTrajectoryController>("trajectory");
  motion::RobotCycle cycle_{manager, *controller_};
  std::function<void(Time)> pass_;
  std::unique_ptr<motion::Request> request_;
  motion::Request* next_ = nullptr;
  std::vector<MotionState> references_;
  Peaks peaks_;
};

}  // namespace takt::test
