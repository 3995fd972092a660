// A whole robot by app::Robot: simulated, over ports and devices of the caller, in virtual time; also its
// recording, its server and its faults.
#include "takt/app/robot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/source_dir.hpp"
#include "takt/app/error.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/drives/registry.hpp"
#include "takt/motion/planner.hpp"
#include "takt/record/reader.hpp"
#include "takt/sim/robot_simulation.hpp"

using namespace takt;
using namespace takt::app;
using namespace std::chrono_literals;

namespace {

using VirtualClock = ClockOf<ManualClock>;

/// Two joints on separate buses.
robot::RobotDescription two_joints() {
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

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::unique_ptr<Robot> made(robot::RobotDescription description, RobotOptions options) {
  auto robot = Robot::create(std::move(description), std::move(options));
  if (!robot) FAIL(robot.error().message);
  return std::move(*robot);
}

SetupError refusal(robot::RobotDescription description, RobotOptions options = {}) {
  const auto robot = Robot::create(std::move(description), std::move(options));
  REQUIRE_FALSE(robot.has_value());
  return robot.error();
}

/// All waiting reports, without the advice after ". ".
std::vector<std::string> reports(Robot& robot) {
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
  Client(Robot& robot, Look look) : robot_(&robot), look_(std::move(look)) { robot.add_observer(*this); }

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
    static_cast<void>(robot_->channels().requests.try_push(request.get()));
    requests_.push_back(std::move(request));
  }

  Robot* robot_;
  Look look_;
  motion::GoalId last_goal_ = 0;
  std::vector<std::unique_ptr<motion::Request>> requests_;  ///< the loop borrows them
  std::vector<motion::Event> events_;
  std::vector<std::string> refused_;
  motion::Snapshot last_;
};

/// Moves the joints once, and ends the run with the goal.
Client::Look move_once(std::vector<std::string> joints, std::vector<double> positions) {
  return [=](Client& client, const motion::Snapshot& state) {
    if (state.state == motion::RobotState::ready && client.goals() == 0)
      client.move(joints, positions, state);
    if (motion::is_terminal(client.goal(1)) || !client.refused().empty()) client.end();
  };
}

/// Ends the run when the robot is ready.
void end_when_ready(Client& client, const motion::Snapshot& state) {
  if (state.state == motion::RobotState::ready) client.end();
}

/// A port of the caller to one bus of simulated drives; the test unplugs it.
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
    return is == robot::BusLink::up ? drives_->host(bus_).receive(frames) : 0;
  }
  [[nodiscard]] robot::BusLink link() const noexcept override { return is; }
  [[nodiscard]] robot::BusTraffic traffic() const noexcept override { return traffic_; }

  robot::BusLink is = robot::BusLink::up;

 private:
  sim::RobotSimulation* drives_;
  std::size_t bus_;
  VirtualClock* clock_;
  robot::BusTraffic traffic_;
};

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

const std::vector<std::string> a_life = {"robot starting", "robot ready",
                                         "robot stopping: the process is stopping [shutting_down]",
                                         "robot down: the process is stopping [shutting_down]"};

}  // namespace

// ---- Simulated

TEST_CASE("a simulated robot becomes ready, moves, is recorded, and tells its life in order") {
  const ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  options.recording = folder.file("run.takt");
  options.created = "today";
  options.drain_in_cycle = true;
  const auto robot = made(two_joints(), options);
  CHECK(robot->place().empty());
  CHECK_FALSE(robot->port().has_value());
  CHECK(reports(*robot).empty());
  Client client(*robot, move_once({"left_joint", "right_joint"}, {1.2, -0.7}));
  std::size_t set_ups = 0;
  REQUIRE(robot->run([&](const rt::ThreadSetup&) { ++set_ups; }).has_value());
  CHECK(set_ups == 1);
  CHECK(client.refused().empty());
  CHECK(client.goal(1) == motion::GoalState::succeeded);
  REQUIRE(robot->devices() != nullptr);
  REQUIRE(robot->devices()->simulation() != nullptr);
  CHECK(robot->devices()->simulation()->position(0) == doctest::Approx(1.2).epsilon(0.02));
  CHECK(robot->devices()->simulation()->position(1) == doctest::Approx(-0.7).epsilon(0.02));
  CHECK(robot->devices()->traffic(0).frames > 0);
  CHECK(robot->fault().reason == motion::Errc{});
  CHECK(reports(*robot) == a_life);
  CHECK(robot->statistics().cycles > 500);

  const auto totals = robot->finish();
  REQUIRE(totals.has_value());
  REQUIRE(totals->recorded.has_value());
  CHECK(totals->recorded->dropped == 0);
  CHECK(totals->accepted == 0);
  auto reader = record::Reader::open(options.recording);
  REQUIRE(reader.has_value());
  CHECK(reader->metadata().robot == "pair");
  CHECK(reader->metadata().created == "today");
  CHECK(reader->metadata().buses == std::vector<std::string>{"left", "right"});
  std::uint64_t cycles = 0;
  std::uint64_t bus_records = 0;
  bool succeeded = false;
  for (auto record = reader->next(); record && *record != nullptr; record = reader->next()) {
    if (std::holds_alternative<record::CycleRecord>(**record)) ++cycles;
    if (std::holds_alternative<record::BusRecord>(**record)) ++bus_records;
    if (const auto* event = std::get_if<record::GoalEvent>(&**record))
      succeeded = succeeded || event->state == static_cast<std::uint8_t>(motion::GoalState::succeeded);
  }
  CHECK_FALSE(reader->truncated());
  CHECK(cycles == robot->statistics().cycles);
  CHECK(bus_records > 0);
  CHECK(succeeded);
}

TEST_CASE("two runs in virtual time make the same recording") {
  const ScratchFolder folder;
  const auto run = [&folder](const char* name) {
    VirtualClock clock;
    RobotOptions options;
    options.clock = &clock;
    options.recording = folder.file(name);
    options.drain_in_cycle = true;
    const auto robot = made(two_joints(), options);
    Client client(*robot, move_once({"left_joint"}, {1}));
    REQUIRE(robot->run().has_value());
    REQUIRE(robot->finish().has_value());
    return bytes_of(options.recording);
  };
  const std::string first = run("first.takt");
  CHECK(first.size() > 10'000);
  CHECK(first == run("second.takt"));
}

TEST_CASE("a robot's file is read, and each of its mistakes is told in a line") {
  const auto arm = Robot::from_file(TAKT_SOURCE_DIR "/examples/robots/arm6.json");
  REQUIRE(arm.has_value());
  CHECK((*arm)->description().joints.size() == 6);

  const ScratchFolder folder;
  const std::string path = folder.file("wrong.json");
  std::ofstream(path)
      << R"({"name": "wrong", "rate": -1, "buses": [{"name": "arm", "protocol": "none"}], "joints": []})";
  const auto wrong = Robot::from_file(path);
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().error == Errc::bad_description);
  CHECK(wrong.error().message.starts_with(path + ": /"));
  CHECK(wrong.error().message.find("\n" + path + ": /") != std::string::npos);
  const auto none = Robot::from_file(folder.file("none.json"));
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().error == Errc::bad_description);
  CHECK(none.error().message.starts_with(folder.file("none.json")));
}

TEST_CASE("a description that no loop can run is refused, whatever moves the joints") {
  OwnHardware hardware(2);
  RobotOptions options;
  options.hardware = &hardware;
  const auto complaint = [&](const std::function<void(robot::RobotDescription&)>& change) {
    robot::RobotDescription robot = two_joints();
    change(robot);
    const SetupError error = refusal(std::move(robot), options);
    CHECK(error.error == Errc::bad_description);
    return error.message;
  };
  CHECK(complaint([](auto& robot) { robot.period = Duration(0); }) ==
        "robot pair: the period is not positive");
  CHECK(complaint([](auto& robot) { robot.period = -1ms; }) == "robot pair: the period is not positive");
  CHECK(complaint([](auto& robot) { robot.joints.resize(65); }) ==
        "robot pair: 65 joints, at most 64 are possible");
  CHECK(complaint([](auto& robot) {
          robot.groups = {{"both", {0, 2}}};
        }) == "robot pair: group both: there is no joint 2");
}

// ---- Buses

TEST_CASE("a bus gets the interface of the last override, and the description says which") {
  robot::RobotDescription description = two_joints();
  description.buses[0].interface = "can0";
  description.buses[1].interface = "can1";
  RobotOptions options;
  options.devices.buses = {{"left", "no address"}, {"right", "virtual"}, {"left", "virtual"}};
  const auto robot = made(description, options);
  CHECK(robot->devices()->interface_of(0) == "virtual");
  CHECK(robot->description().buses[0].interface == "virtual");
  CHECK(robot->description().buses[1].interface == "virtual");

  RobotOptions simulated;
  simulated.devices.simulate = true;
  CHECK(made(description, simulated)->devices()->interface_of(1) == "virtual");
}

TEST_CASE("an override of an unknown bus, or by what is no address, is refused") {
  RobotOptions unknown;
  unknown.devices.buses = {{"middle", "virtual"}};
  const SetupError no_bus = refusal(two_joints(), unknown);
  CHECK(no_bus.error == Errc::no_such_bus);
  CHECK(no_bus.message == "robot pair has no bus middle; its buses are left, right");

  for (const char* text : {"", "can 0", "udp:1.2.3.4", "slcan:", "virtual "}) {
    CAPTURE(text);
    RobotOptions bad;
    bad.devices.buses = {{"right", text}};
    const SetupError error = refusal(two_joints(), bad);
    CHECK(error.error == Errc::bad_bus_address);
    CHECK(error.message.starts_with("bus right: "));
  }
}

TEST_CASE("ports of the caller's own carry a bus each, beside simulated ones") {
  VirtualClock clock;
  const robot::RobotDescription description = two_joints();
  auto drives = sim::RobotSimulation::create(description, clock.now());
  REQUIRE(drives.has_value());
  OwnPort right(*drives, 1, clock);
  RobotOptions options;
  options.clock = &clock;
  options.devices.ports = {nullptr, &right};
  const auto robot = made(description, options);
  CHECK(robot->devices()->interface_of(0) == "virtual");
  CHECK(robot->devices()->interface_of(1) == "own");
  Client client(*robot, move_once({"left_joint", "right_joint"}, {0.5, 0.9}));
  REQUIRE(robot->run().has_value());
  CHECK(client.refused().empty());
  CHECK(client.goal(1) == motion::GoalState::succeeded);
  CHECK(drives->position(1) == doctest::Approx(0.9).epsilon(0.02));
  CHECK(drives->position(0) == 0);
  CHECK(robot->devices()->simulation()->position(0) == doctest::Approx(0.5).epsilon(0.04));
  CHECK(robot->devices()->traffic(1).frames == right.traffic().frames);
  CHECK(right.traffic().frames > 0);
}

TEST_CASE("a bus that goes down in motion stops the robot by name, and a reset leads on once it is back") {
  for (const auto outage : {robot::BusLink::down, robot::BusLink::off}) {
    VirtualClock clock;
    const robot::RobotDescription description = two_joints();
    auto drives = sim::RobotSimulation::create(description, clock.now());
    REQUIRE(drives.has_value());
    OwnPort left(*drives, 0, clock);
    OwnPort right(*drives, 1, clock);
    RobotOptions options;
    options.clock = &clock;
    options.devices.ports = {&left, &right};
    const auto robot = made(description, options);
    CHECK(robot->devices()->simulation() == nullptr);

    enum class Step { ready, moving, broken, early, back, reset, again } step = Step::ready;
    Time since;
    Client client(*robot, [&](Client& self, const motion::Snapshot& state) {
      const auto go = [&](Step next) {
        step = next;
        since = state.time;
      };
      switch (step) {
        case Step::ready:
          if (state.state != motion::RobotState::ready) return;
          self.move({"left_joint", "right_joint"}, {2, 2}, state);
          return go(Step::moving);
        case Step::moving:
          if (state.joints[1].measured_position < 0.5) return;
          robot->reset();  // nothing to leave: neither now nor when the robot has stopped
          right.is = outage;
          return go(Step::broken);
        case Step::broken:
          if (state.state != motion::RobotState::stopped) return;
          self.reset();
          return go(Step::early);
        case Step::early:  // the bus is still down: the reset is rejected, and nothing starts
          if (state.time - since < 2s) return;
          CHECK(state.state == motion::RobotState::stopped);
          CHECK(self.answer_to_reset().state == motion::GoalState::rejected);
          CHECK(self.answer_to_reset().reason == motion::Errc::bus_down);
          CHECK(self.answer_to_reset().joint == 1);
          right.is = robot::BusLink::up;
          return go(Step::back);
        case Step::back:  // repeated until it works: the drive has switched itself off meanwhile
          self.reset();
          return go(Step::reset);
        case Step::reset:
          if (self.answer_to_reset().state == motion::GoalState::rejected) return go(Step::back);
          if (state.state != motion::RobotState::ready) return;
          self.move({"left_joint", "right_joint"}, {1, 1}, state);
          return go(Step::again);
        case Step::again:
          if (motion::is_terminal(self.goal(2)) || !self.refused().empty()) self.end();
      }
    });
    REQUIRE(robot->run().has_value());
    CHECK(client.refused().empty());
    CHECK(client.goal(1) == motion::GoalState::aborted);
    CHECK(client.goal(2) == motion::GoalState::succeeded);
    CHECK(drives->position(0) == doctest::Approx(1).epsilon(0.02));
    CHECK(drives->position(1) == doctest::Approx(1).epsilon(0.02));
    CHECK(robot->fault().reason == motion::Errc{});
    const std::string down = ": right_joint: the bus of a drive is down: right (own) [bus_down]";
    const std::string next_step = R"(. Once it is back, `takt reset` (or {"reset":{}}) leads on)";
    std::vector<std::string> expected = {"robot starting", "robot ready", "robot stopping" + down,
                                         "robot stopped" + down + next_step};
    expected.insert(expected.end(), a_life.begin(), a_life.end());
    CHECK(reports(*robot) == expected);
  }
}

TEST_CASE("a robot that ends while its bus is down tells the fault") {
  VirtualClock clock;
  const robot::RobotDescription description = two_joints();
  auto drives = sim::RobotSimulation::create(description, clock.now());
  REQUIRE(drives.has_value());
  OwnPort left(*drives, 0, clock);
  RobotOptions options;
  options.clock = &clock;
  options.devices.ports = {&left};
  const auto robot = made(description, options);
  Client client(*robot, [&](Client& self, const motion::Snapshot& state) {
    if (state.state == motion::RobotState::ready) left.is = robot::BusLink::down;
    if (state.state == motion::RobotState::stopped) self.end();
  });
  REQUIRE(robot->run().has_value());
  CHECK(robot->fault().reason == motion::Errc::bus_down);
  CHECK(describe_cause(robot->fault(), robot->description()) ==
        "left_joint: the bus of a drive is down: left (own) [bus_down]");
}

// ---- Own devices

TEST_CASE("devices of the caller's own need no bus, and are recorded") {
  const ScratchFolder folder;
  VirtualClock clock;
  OwnHardware hardware(2);
  robot::RobotDescription description = two_joints();
  description.buses.clear();
  RobotOptions options;
  options.clock = &clock;
  options.hardware = &hardware;
  options.recording = folder.file("own.takt");
  options.drain_in_cycle = true;
  const auto robot = made(description, options);
  CHECK(robot->devices() == nullptr);
  Client client(*robot, move_once({"right_joint"}, {-1.5}));
  REQUIRE(robot->run().has_value());
  CHECK(client.refused().empty());
  CHECK(client.goal(1) == motion::GoalState::succeeded);
  CHECK(hardware.position(1) == doctest::Approx(-1.5).epsilon(1e-6));
  CHECK(client.last().hardware.frames_sent == robot->statistics().cycles);
  CHECK(reports(*robot) == a_life);
  const auto totals = robot->finish();
  REQUIRE(totals.has_value());
  REQUIRE(totals->recorded.has_value());
  CHECK(totals->recorded->records > robot->statistics().cycles);
}

TEST_CASE("a fault of a device without a protocol is told as a number") {
  VirtualClock clock;
  OwnHardware hardware(2);
  hardware.faulty = 1;
  hardware.fault_at = 100;
  robot::RobotDescription description = two_joints();
  description.buses.clear();
  RobotOptions options;
  options.clock = &clock;
  options.hardware = &hardware;
  const auto robot = made(description, options);
  Client client(*robot, [](Client& self, const motion::Snapshot& state) {
    if (state.state == motion::RobotState::stopped) self.end();
  });
  REQUIRE(robot->run().has_value());
  CHECK(robot->fault().reason == motion::Errc::drive_fault);
  CHECK(robot->fault().joint == 1);
  CHECK(describe_cause(robot->fault(), robot->description()) ==
        "right_joint: a drive reports a fault (0x5): number 5 [drive_fault]");
}

// ---- Recording and server

TEST_CASE("a file that is there is recorded over only when that is asked for") {
  const ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  options.recording = folder.file("run.takt");
  options.drain_in_cycle = true;
  std::ofstream(options.recording) << "precious";
  const SetupError error = refusal(two_joints(), options);
  CHECK(error.error == Errc::recording_exists);
  CHECK(error.message.starts_with(options.recording + " exists"));
  CHECK(bytes_of(options.recording) == "precious");

  options.overwrite = true;
  const auto robot = made(two_joints(), options);
  Client client(*robot, end_when_ready);
  REQUIRE(robot->run().has_value());
  REQUIRE(robot->finish().has_value());
  CHECK(record::Reader::open(options.recording).has_value());
}

TEST_CASE("a recording of a robot that never ran is removed, whichever way it ends") {
  const ScratchFolder folder;
  RobotOptions options;
  options.recording = folder.file("run.takt");
  {
    const auto robot = made(two_joints(), options);
    CHECK(std::filesystem::exists(options.recording));
  }
  CHECK_FALSE(std::filesystem::exists(options.recording));

  const auto robot = made(two_joints(), options);
  const auto totals = robot->finish();
  REQUIRE(totals.has_value());
  CHECK_FALSE(totals->recorded.has_value());
  CHECK_FALSE(std::filesystem::exists(options.recording));

  options.thread.affinity = rt::Want::enforce;  // without a named core: rejected
  const auto refused = made(two_joints(), options);
  const auto ran = refused->run();
  REQUIRE_FALSE(ran.has_value());
  CHECK(ran.error().error.room == Room::rt);
  REQUIRE(refused->finish().has_value());
  CHECK_FALSE(std::filesystem::exists(options.recording));
}

TEST_CASE("a robot that never ran leaves the next one's recording alone") {
  const ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  options.recording = folder.file("run.takt");
  options.drain_in_cycle = true;
  auto idle = made(two_joints(), options);
  REQUIRE(idle->finish().has_value());
  const auto next = made(two_joints(), options);
  Client client(*next, end_when_ready);
  REQUIRE(next->run().has_value());
  REQUIRE(next->finish().has_value());
  idle.reset();
  CHECK(record::Reader::open(options.recording).has_value());
}

TEST_CASE("a port that another server has is refused, and no recording is left behind") {
  const ScratchFolder folder;
  RobotOptions options;
  options.port = 0;
  const auto first = made(two_joints(), options);
  REQUIRE(first->port().has_value());
  CHECK(*first->port() != 0);
  CHECK(first->place() == "listening on 127.0.0.1:" + std::to_string(*first->port()));
  options.port = first->port();
  options.recording = folder.file("run.takt");
  CHECK(refusal(two_joints(), options).error.room == Room::platform);
  CHECK_FALSE(std::filesystem::exists(options.recording));
  const auto totals = first->finish();
  REQUIRE(totals.has_value());
  CHECK(totals->accepted == 0);
  CHECK(totals->rejected == 0);
  CHECK(totals->errors == 0);
}
