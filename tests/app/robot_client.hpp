// A small robot, its client in virtual time, a folder for its files, and hardware of the caller. The tests of
// app::Robot share them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "takt/app/robot.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/drives/registry.hpp"
#include "takt/motion/planner.hpp"
#include "takt/sim/robot_simulation.hpp"

namespace takt::test::robot_client {

using namespace app;
using namespace std::chrono_literals;

using VirtualClock = ClockOf<ManualClock>;

/// Two joints on separate buses.
inline robot::RobotDescription two_joints() {
  robot::RobotDescription robot;
  robot.name = "pair";
  robot.period = 1ms;
  robot.buses = {{.name = "left", .protocol = drives::find("servo")},
                 {.name = "right", .protocol = drives::find("servo")}};
  for (std::size_t i = 0; i < 2; ++i) {
    robot::JointDescription& joint = robot.joints.emplace_back();
    joint.name = i == 0 ? "left_joint" : "right_joint";
    joint.bus = i;
    joint.board = 1;
    joint.counts_per_radian = 100'000;
    joint.limits = {-3, 3, 2, 8, 100};
  }
  return robot;
}

/// A port of the caller to one bus of simulated drives; the test unplugs it, or makes it deaf.
class OwnPort final : public robot::CanPort {
 public:
  OwnPort(sim::RobotSimulation& drives, std::size_t bus, VirtualClock& clock)
      : drives_(&drives), bus_(bus), clock_(&clock) {}

  std::size_t send(std::span<const can::Frame> frames) noexcept override {
    if (is != robot::BusLink::up) return 0;
    traffic_.frames += frames.size();
    return drives_->host(bus_).send(frames);
  }
  std::size_t receive(std::span<can::Frame> frames) noexcept override {
    drives_->advance(clock_->now());
    const std::size_t count = is == robot::BusLink::up ? drives_->host(bus_).receive(frames) : 0;
    return is_deaf ? 0 : count;
  }
  [[nodiscard]] robot::BusLink link() const noexcept override { return is; }
  [[nodiscard]] robot::BusTraffic traffic() const noexcept override { return traffic_; }

  robot::BusLink is = robot::BusLink::up;
  bool is_deaf = false;  ///< frames go out, and none comes in

 private:
  sim::RobotSimulation* drives_;
  std::size_t bus_;
  VirtualClock* clock_;
  robot::BusTraffic traffic_;
};

class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "takt_app_XXXXXX").string()) {
    REQUIRE(mkdtemp(path_.data()) != nullptr);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::unique_ptr<Robot> made(robot::RobotDescription description, RobotOptions options) {
  auto robot = Robot::create(std::move(description), std::move(options));
  if (!robot) FAIL(robot.error().message);
  return std::move(*robot);
}

inline SetupError refusal(robot::RobotDescription description, RobotOptions options = {}) {
  const auto robot = Robot::create(std::move(description), std::move(options));
  REQUIRE_FALSE(robot.has_value());
  return robot.error();
}

/// All waiting reports, without the advice after ". ".
inline std::vector<std::string> reports(Robot& robot) {
  std::vector<std::string> texts;
  while (const auto line = robot.next_report()) {
    CHECK_FALSE(line->is_failure);
    texts.push_back(line->text.substr(0, line->text.find(". `")));
  }
  return texts;
}

/// The client of a loop in virtual time: reads the state of each cycle, and sends the test's requests.
class Client final : public motion::LoopObserver {
 public:
  using Look = std::function<void(Client&, const motion::Snapshot&)>;

  /// `look` is called after each cycle. The run ends after 20 s at the latest.
  Client(Robot& robot, Look look)
      : robot_(&robot), look_(std::move(look)), record_(robot.recording_options().on_hand_over) {
    robot.add_observer(*this);
  }

  void move(std::vector<std::string> joints, std::vector<double> positions, const motion::Snapshot& state) {
    motion::MoveMessage message;
    message.joints.names = std::move(joints);
    message.positions = std::move(positions);
    auto planned = motion::plan(message, robot_->description(), state);
    if (!planned) return refused_.push_back(planned.error().message);
    hand_over(std::move(*planned), ++last_goal_);
  }
  void reset() {
    auto request = std::make_unique<motion::Request>();
    request->kind = motion::RequestKind::reset;
    hand_over(std::move(request), 0);
  }
  void emergency_stop(StopCategory category) {
    auto request = std::make_unique<motion::Request>();
    request->kind = motion::RequestKind::emergency_stop;
    request->category = category;
    hand_over(std::move(request), 0);
  }
  /// The last state of goal `number`; pending if there is none.
  [[nodiscard]] motion::GoalState goal(motion::GoalId number) const {
    auto state = motion::GoalState::pending;
    for (const motion::Event& event : events_) {
      if (event.goal == number) state = event.state;
    }
    return state;
  }
  /// The loop's answer to the last reset.
  [[nodiscard]] motion::Event answer_to_reset() const {
    motion::Event answer;
    for (const motion::Event& event : events_) {
      if (event.retired != nullptr && event.retired->kind == motion::RequestKind::reset) answer = event;
    }
    return answer;
  }
  [[nodiscard]] motion::GoalId goals() const { return last_goal_; }
  void end() { robot_->shut_down(); }

  /// Number of rejected plans; the tests that move check that it is 0.
  [[nodiscard]] const std::vector<std::string>& refused() const { return refused_; }
  [[nodiscard]] const motion::Snapshot& last() const { return last_; }

  void before_cycle(Time) noexcept override {}
  void on_event(const motion::Event& event) noexcept override { events_.push_back(event); }
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    last_ = snapshot;
    if (snapshot.time - Time{} > 20s) end();
    look_(*this, snapshot);
  }

 private:
  void hand_over(std::unique_ptr<motion::Request> request, motion::GoalId goal) {
    request->goal = goal;
    if (record_) record_(last_.time, *request);
    static_cast<void>(robot_->channels().requests.try_push(request.get()));
    requests_.push_back(std::move(request));
  }

  Robot* robot_;
  Look look_;
  std::function<void(Time, const motion::Request&)> record_;
  motion::GoalId last_goal_ = 0;
  std::vector<std::unique_ptr<motion::Request>> requests_;  ///< the loop borrows them
  std::vector<motion::Event> events_;
  std::vector<std::string> refused_;
  motion::Snapshot last_;
};

/// Moves the joints once, and ends the run with the goal.
inline Client::Look move_once(std::vector<std::string> joints, std::vector<double> positions) {
  return [=](Client& client, const motion::Snapshot& state) {
    if (state.state == motion::RobotState::ready && client.goals() == 0)
      client.move(joints, positions, state);
    if (motion::is_terminal(client.goal(1)) || !client.refused().empty()) client.end();
  };
}

/// Ends the run when the robot is ready.
inline void end_when_ready(Client& client, const motion::Snapshot& state) {
  if (state.state == motion::RobotState::ready) client.end();
}

/// Joints that are exactly at their references; joint `faulty` reports the fault 5 from the cycle `fault_at`
/// on.
class OwnHardware final : public robot::Hardware {
 public:
  explicit OwnHardware(std::size_t joints) : commands_(joints) {}

  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    ++cycles_;
    for (std::size_t i = 0; i < feedback.size(); ++i) {
      const bool is_faulty = fault_at != 0 && cycles_ >= fault_at && i == faulty;
      feedback[i].position = commands_[i].position;
      feedback[i].stamp = now;
      feedback[i].heard = true;
      feedback[i].fault = is_faulty ? 5 : 0;
      feedback[i].drive = is_faulty                 ? DriveState::fault
                          : commands_[i].want_power ? DriveState::ready
                                                    : DriveState::off;
    }
  }
  void write(Time, std::span<const JointCommand> commands) noexcept override {
    std::copy(commands.begin(), commands.end(), commands_.begin());
  }
  [[nodiscard]] robot::HardwareCounters counters() const noexcept override {
    robot::HardwareCounters counters;
    counters.frames_sent = cycles_;
    return counters;
  }
  [[nodiscard]] double position(std::size_t joint) const { return commands_[joint].position; }

  std::uint64_t fault_at = 0;
  std::size_t faulty = 0;

 private:
  std::vector<JointCommand> commands_;
  std::uint64_t cycles_ = 0;
};

inline const std::vector<std::string> a_life = {"robot starting", "robot ready",
                                                "robot stopping: the process is stopping [shutting_down]",
                                                "robot down: the process is stopping [shutting_down]"};

}  // namespace takt::test::robot_client
