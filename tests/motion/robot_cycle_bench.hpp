// The motion of a robot whose drives the test plays.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "motion/played_robot.hpp"
#include "takt/trajectory/through.hpp"
#include "takt/trajectory/timing.hpp"

namespace takt::test {

using namespace takt::motion;

inline constexpr Duration period = std::chrono::milliseconds(5);

inline robot::RobotDescription three_joints() {
  robot::RobotDescription robot;
  robot.name = "bench";
  robot.period = period;
  for (const char* name : {"a", "b", "c"}) {
    robot::JointDescription joint;
    joint.name = name;
    joint.limits = {-3, 3, 2, 10, 200, 100};
    joint.following_error = 0.2;
    joint.goal_tolerance = 0.01;
    robot.joints.push_back(joint);
  }
  robot.joints[2].safe = SafeBehaviour::release;
  return robot;
}

/// A robot with ideal drives: they follow their commands exactly, one period later.
class CycleBench {
 public:
  explicit CycleBench(robot::RobotDescription description = three_joints())
      : robot(std::move(description)), played(robot) {
    for (auto& joint : feedback) {
      joint.heard = true;
      joint.drive = DriveState::off;
    }
  }

  /// One cycle, `missed` periods late.
  void cycle(std::vector<Request*> requests = {}, std::uint64_t missed = 0) {
    now += period * static_cast<Duration::rep>(missed + 1);
    for (std::size_t i = 0; i < feedback.size(); ++i) {
      robot::JointFeedback& joint = feedback[i];
      if (silent.contains(i)) continue;
      joint.stamp = now;
      if (faulty.contains(i)) {
        if (commands[i].clear_fault) faulty.erase(i);
        joint.drive = DriveState::fault;
        joint.fault = 7;
        continue;
      }
      if (joint.drive == DriveState::ready && !stuck.contains(i)) joint.position = commands[i].position;
      const bool on = (commands[i].want_power && !off.contains(i)) ||
                      (live.contains(i) && joint.drive == DriveState::ready);
      joint.drive = on ? DriveState::ready : DriveState::off;
      if (mute.contains(i)) joint.drive = DriveState::unknown;
    }
    const std::vector<MotionState> before = references();
    robot_cycle.begin(now, period, missed);
    for (Request* request : requests) {
      REQUIRE(robot_cycle.accepts_requests());
      robot_cycle.submit(*request);
    }
    robot_cycle.advance();
    robot_cycle.deliver(now, [this](const Event& event) {
      if (!sink_open) return false;
      events.push_back(event);
      return true;
    });
    robot_cycle.describe(snapshot);
    const bool answers = std::exchange(was_late_, missed > 0);  // the drives tell that they stand
    if (watch_limits && !answers) check_limits(before);
  }

  void make_ready() {
    for (int i = 0; i < 10; ++i) cycle();
    REQUIRE(robot_cycle.state() == RobotState::ready);
    events.clear();
  }

  /// Runs cycles until goal `id` has ended. Returns its last event.
  Event run_until_end(GoalId id, int most = 4000) {
    for (int i = 0; i < most; ++i) {
      for (const Event& event : events) {
        if (event.goal == id && is_terminal(event.state) && event.retired != nullptr &&
            (event.retired->kind == RequestKind::trajectory ||
             event.retired->kind == RequestKind::setpoint)) {
          return event;
        }
      }
      cycle();
    }
    FAIL("goal did not end");
    return {};
  }

  [[nodiscard]] std::vector<GoalState> states_of(GoalId id) const {
    std::vector<GoalState> states;
    for (const Event& event : events) {
      if (event.goal == id) states.push_back(event.state);
    }
    return states;
  }

  std::unique_ptr<Request> move(GoalId id, const std::vector<std::size_t>& joints,
                                const std::vector<double>& targets, double duration) {
    auto request = std::make_unique<Request>();
    request->kind = RequestKind::trajectory;
    request->goal = id;
    std::vector<double> positions;
    for (const std::size_t joint : joints) {
      request->joints.insert(joint);
      request->limits.push_back(robot.joints[joint].limits);
      request->goal_tolerance.push_back({robot.joints[joint].goal_tolerance, 0, 0});
      positions.push_back(snapshot.joints[joint].reference.position);
    }
    positions.insert(positions.end(), targets.begin(), targets.end());
    request->path_tolerance.resize(joints.size());
    request->goal_time = to_seconds(robot.goal_time);
    const std::vector<double> times{0, duration};
    const trajectory::Waypoints waypoints{joints.size(), times, positions, {}, {}};
    auto trajectory = trajectory::through(waypoints, trajectory::Through::stop);
    REQUIRE(trajectory.has_value());
    request->trajectory = std::move(*trajectory);
    request->lead = trajectory::PointToPoint<>(joints.size());
    return request;
  }

  /// The fastest move within the limits, from the joints' present motion.
  std::unique_ptr<Request> fastest_move(GoalId id, const std::vector<std::size_t>& joints,
                                        const std::vector<double>& targets) {
    double duration = to_seconds(period);
    for (std::size_t c = 0; c < joints.size(); ++c) {
      const double distance = std::abs(targets[c] - snapshot.joints[joints[c]].reference.position);
      duration = std::max(duration,
                          1.001 * trajectory::shortest_from_rest(distance, robot.joints[joints[c]].limits));
    }
    auto request = move(id, joints, targets, duration);
    request->may_gain = duration;
    request->may_be_late = true;
    return request;
  }

  std::unique_ptr<Request> stream(GoalId id, std::size_t joint, double position, double velocity,
                                  Duration timeout) {
    auto request = std::make_unique<Request>();
    request->kind = RequestKind::setpoint;
    request->goal = id;
    request->joints.insert(joint);
    request->limits.push_back(robot.joints[joint].limits);
    request->setpoint.positions[0] = position;
    request->setpoint.velocities[0] = velocity;
    request->setpoint.timeout = timeout;
    return request;
  }

  static std::unique_ptr<Request> simple(RequestKind kind, GoalId goal = 0,
                                         StopCategory category = StopCategory::category_1) {
    auto request = std::make_unique<Request>();
    request->kind = kind;
    request->goal = goal;
    request->category = category;
    return request;
  }

  robot::RobotDescription robot;
  PlayedRobot played;
  RobotCycle& robot_cycle = played.cycle;
  std::vector<robot::JointFeedback>& feedback = played.drives.feedback;
  std::vector<JointCommand>& commands = played.drives.commands;
  std::vector<Event> events;
  Snapshot snapshot;
  Time now{};
  JointSet silent, mute, faulty, off, live, stuck;
  bool sink_open = true;
  bool watch_limits = true;

 private:
  bool was_late_ = false;  ///< in the last cycle
  [[nodiscard]] std::vector<MotionState> references() const {
    std::vector<MotionState> states;
    for (std::size_t i = 0; i < robot.joints.size(); ++i) states.push_back(snapshot.joints[i].reference);
    return states;
  }
  void check_limits(const std::vector<MotionState>& before) const {
    if (robot_cycle.state() == RobotState::starting) return;
    const double step = to_seconds(period);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!commands[i].want_power || stuck.contains(i)) continue;  // an external force may move a held joint
      const JointLimits& limits = robot.joints[i].limits;
      const double moved = snapshot.joints[i].reference.position - before[i].position;
      REQUIRE(std::isfinite(moved));
      // A stop that begins during acceleration must let the speed rise until the jerk has reversed it.
      const double rise = limits.acceleration * limits.acceleration / (2 * limits.jerk);
      CHECK(std::abs(moved) <= (limits.velocity + rise) * step * 1.001 + 1e-12);
      CHECK(std::abs(snapshot.joints[i].reference.velocity - before[i].velocity) <=
            limits.acceleration * step * 1.001 + 1e-12);
    }
  }
};

}  // namespace takt::test
