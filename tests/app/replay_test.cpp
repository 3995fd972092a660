// Tests the replay: a run repeats bit for bit from its recording, whatever came from outside. Any planted
// change is found in its cycle.
#include "takt/app/replay.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "app/joint_mover.hpp"
#include "app/robot_client.hpp"
#include "app/run_editor.hpp"
#include "support/random.hpp"
#include "takt/app/error.hpp"
#include "takt/motion/server.hpp"
#include "takt/record/reader.hpp"
#include "takt/robot/controller.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;
using namespace std::chrono_literals;

namespace {

/// A clock that wakes late, and sometimes misses periods.
class UnevenClock final : public RunClock {
 public:
  explicit UnevenClock(std::uint64_t salt) : random_(test::generator(salt)) {}
  [[nodiscard]] Time now() noexcept override {
    return now_ += Duration(test::uniform_int(random_, 0, 20'000));
  }
  void sleep_until(Time time) noexcept override {
    const bool pauses = test::uniform_int(random_, 0, 300) == 0;
    now_ = std::max(now_, time) + Duration(test::uniform_int(random_, 0, pauses ? 9'000'000 : 80'000));
  }

 private:
  std::mt19937_64 random_;
  Time now_{std::chrono::seconds(100)};
};

/// Moves a joint towards a sine by a gain.
class Chaser final : public test::JointMover {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Chaser");
  explicit Chaser(std::string name) : JointMover(about, std::move(name)) {}
  Status on_activate(const component::CycleTime& time) noexcept override {
    began_ = time.time;
    const Status begun = JointMover::on_activate(time);
    from_ = at_;
    return begun;
  }
  Status on_execute(const component::CycleTime& time) noexcept override {
    const double target = from_ + 0.2 * std::sin(to_seconds(time.time - began_));
    at_ += *gain * 1e-3 * (target - joint_->feedback().position);
    joint_->follow({*breaks ? std::numeric_limits<double>::quiet_NaN() : at_, 0, 0});
    return {};
  }

  component::Parameter<double> gain{*this, "gain", {.initial = 2, .minimum = 0, .maximum = 10}};
  component::Parameter<bool> breaks{*this, "breaks", {}};

 private:
  Time began_{};
  double from_ = 0;
};

/// Random requests to the controllers of a robot: chasers are loaded, started, switched, set, failed, reset
/// and unloaded.
class Commander {
 public:
  Commander(Robot& robot, std::uint64_t salt) : robot_(&robot), random_(test::generator(salt)) {}

  /// Makes one request, and counts those that are obeyed. Waits for the cycle.
  void command() { obeyed_ += robot_->controllers().request(json()).has_value() ? 1U : 0U; }
  [[nodiscard]] std::size_t obeyed() const { return obeyed_; }

 private:
  char name() { return static_cast<char>('a' + test::uniform_int(random_, 0, 3)); }
  std::string json() {
    const char one = name();
    const auto about = [one](const char* verb) {
      return fmt::format(R"({{"{}":{{"name":"{}"}}}})", verb, one);
    };
    const double gain = test::uniform(random_, 0, 10);
    switch (test::uniform_int(random_, 0, 9)) {
      case 0:
        return about("unload");
      case 1:
        return about("reset");
      case 2:
        return about("start");
      case 3:
        return about("stop");
      case 4:
        return fmt::format(R"({{"set":{{"name":"{}","parameters":{{"breaks":{}}}}}}})", one, gain > 5);
      case 5:
        return fmt::format(R"({{"set":{{"name":"{}","parameters":{{"gain":{}}}}}}})", one, gain);
      case 6:
        return fmt::format(R"({{"switch":{{"start":["{}"],"stop":["{}"],"strictness":"best_effort"}}}})", one,
                           name());
      default:
        return fmt::format(
            R"({{"load":{{"type":"Chaser","name":"{}","divisor":{},"start":{},"parameters":{{"gain":{}}}{}}}}})",
            one, test::uniform_int(random_, 1, 3), gain > 5, gain, one == 'a' ? "" : R"(,"fallbacks":["a"])");
    }
  }

  Robot* robot_;
  std::mt19937_64 random_;
  std::size_t obeyed_ = 0;
};

/// Sends random requests through a motion server, and asks the robot itself for resets. Requests to the
/// controllers come from another thread, or from the loop's own one.
class Session final : public motion::LoopObserver {
 public:
  Session(Robot& robot, std::uint64_t salt)
      : robot_(&robot),
        server_(robot.description(), robot.channels().requests, robot.channels().events,
                robot.channels().state, robot.recording_options()),
        random_(test::generator(salt)),
        commander_(robot, 1000 + salt) {
    robot.add_observer(*this);
    server_.connected(1, Time{});
    for (int i = 0; i < 3; ++i) commander_.command();  // before the first cycle
    if (salt % 2 == 0) thread_ = std::thread([this] { command_all(); });
  }
  ~Session() override {
    if (thread_.joinable()) thread_.join();
  }
  void before_cycle(Time now) noexcept override {
    if (!thread_.joinable() && cycle_ % 60 == 0) commander_.command();
    static_cast<void>(server_.poll(now));
    if (++cycle_ > 400 && test::uniform_int(random_, 0, 40) == 0) server_.received(1, line() + "\n", now);
    if (test::uniform_int(random_, 0, 500) == 0) robot_->reset();
    // relaxed: the join publishes the commander.
    if (cycle_ >= 6000 && (!thread_.joinable() || has_commanded_.load(std::memory_order_relaxed)))
      robot_->shut_down();
    for (const LineOutput& output : server_.take_output())
      accepted_ += output.bytes.find("\"accepted\"") != std::string::npos ? 1U : 0U;
  }
  void after_cycle(const motion::Snapshot&) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}
  [[nodiscard]] std::size_t accepted() const { return accepted_; }
  /// Requests to the controllers that were obeyed. After the run.
  [[nodiscard]] std::size_t obeyed() {
    if (thread_.joinable()) thread_.join();
    return commander_.obeyed();
  }

 private:
  void command_all() {
    for (int i = 0; i < 100; ++i) commander_.command();
    has_commanded_.store(true, std::memory_order_relaxed);
  }
  std::string line() {
    const std::string joint = test::uniform_int(random_, 0, 1) == 0 ? "left_joint" : "right_joint";
    const double position = test::uniform(random_, -1, 1);
    switch (test::uniform_int(random_, 0, 6)) {
      case 0:
        return R"({"cancel":{}})";
      case 1:
        return fmt::format(R"({{"speed":{{"scale":{}}}}})", test::uniform(random_, 0, 1));
      case 2:
        return R"({"estop":{"category":2}})";
      case 3:
        return R"({"reset":{}})";
      case 4:
        return fmt::format(R"({{"setpoint":{{"joint_names":["{}"],"positions":[{}],"timeout":0.1}}}})", joint,
                           position);
      default:
        return fmt::format(R"({{"move":{{"joint_names":["{}"],"positions":[{}]}}}})", joint, position);
    }
  }

  Robot* robot_;
  motion::Server server_;
  std::mt19937_64 random_;
  Commander commander_;
  std::thread thread_;
  std::atomic<bool> has_commanded_{false};
  int cycle_ = 0;
  std::size_t accepted_ = 0;
};

ReplayOptions with_chasers() {
  ReplayOptions options;
  options.options.types = {component::component_type<Chaser>()};
  return options;
}

ReplayResult replayed(const std::string& path, ReplayOptions options = {}) {
  record::Reader reader = test::opened(path);
  auto result = replay(reader, std::move(options));
  if (!result) FAIL(result.error().message);
  return *result;
}

}  // namespace

TEST_CASE(
    "a run of random requests, switches, resets and pauses repeats bit for bit, also its own recording") {
  const ScratchFolder folder;
  for (std::size_t i = 0; i < test::count(6); ++i) {
    UnevenClock clock(i);
    RobotOptions options;
    options.clock = &clock;
    options.recording = folder.file("run.mcap");
    options.overwrite = true;
    options.drain_in_cycle = true;
    options.types = {component::component_type<Chaser>()};
    robot::RobotDescription description = two_joints();
    description.overrun_limit = i % 2 == 0 ? 250 : 3;  // pauses stop the robot, or not
    const auto robot = made(description, options);
    Session session(*robot, i);
    REQUIRE(robot->run().has_value());
    CHECK(robot->statistics().overruns > 0);
    CHECK(session.accepted() > 3);
    CHECK(session.obeyed() > 0);
    REQUIRE(robot->finish().has_value());

    const ReplayResult result = replayed(options.recording, with_chasers());
    CHECK(result.cycles == robot->statistics().cycles);
    CAPTURE(result.difference.value_or(ReplayDifference{}).text());
    CHECK(result.differing == 0);

    ReplayOptions again = with_chasers();
    again.options.recording = folder.file("again.mcap");
    again.options.overwrite = true;
    CHECK_FALSE(replayed(options.recording, std::move(again)).difference);
    CHECK_FALSE(replayed(folder.file("again.mcap"), with_chasers()).difference);
  }
}

TEST_CASE("another gain, and another controller, are found in their first cycle") {
  const ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  options.recording = folder.file("run.mcap");
  options.drain_in_cycle = true;
  options.types = {component::component_type<Chaser>()};
  robot::RobotDescription description = two_joints();
  description.controllers.push_back({.name = "chaser", .type = "Chaser"});
  std::uint64_t cycles = 0;
  std::uint64_t ready = 0;
  {
    const auto robot = made(description, options);
    Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
      ++cycles;
      if (ready == 0 && state.state == motion::RobotState::ready) ready = cycles;
      if (state.time - Time{} > 3s) it.end();
    });
    REQUIRE(robot->run().has_value());
    REQUIRE(robot->finish().has_value());
  }
  const auto with = [&](const robot::RobotDescription& robot) {
    ReplayOptions replaying;
    replaying.robot = robot;
    replaying.options.types = options.types;
    return replayed(options.recording, std::move(replaying));
  };
  const ReplayResult same = with(description);
  CHECK_FALSE(same.difference);
  CHECK(same.cycles == cycles);

  description.controllers[0].parameters = {{"gain", 2.0000001}};
  const ReplayResult other = with(description);
  REQUIRE(other.difference);
  CHECK(other.difference->joint == "right_joint");
  CHECK(other.difference->field == "position");
  CHECK(other.difference->cycle >= ready - 1);
  CHECK(other.difference->cycle < ready + 5);
  CHECK(other.difference->text().find("joint right_joint: position ") != std::string::npos);
  CHECK(other.differing > 1000);

  ReplayOptions without_type;
  record::Reader reader = test::opened(options.recording);
  const auto unknown = replay(reader, std::move(without_type));
  REQUIRE_FALSE(unknown);
  CAPTURE(unknown.error().message);
  CHECK(unknown.error().error == Errc::bad_description);
}

TEST_CASE("a recording that cannot be replayed is refused with the reason") {
  const ScratchFolder folder;
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  options.recording = folder.file("run.mcap");
  options.drain_in_cycle = true;
  SUBCASE("of another robot") {}
  SUBCASE("that begins later") { options.recorder.around_stops = 1ms; }
  {
    const auto robot = made(two_joints(), options);
    Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
      if (state.time - Time{} > 3s) it.end();
    });
    REQUIRE(robot->run().has_value());
    REQUIRE(robot->finish().has_value());
  }
  record::Reader reader = test::opened(options.recording);
  if (options.recorder.around_stops == 0ms) {
    ReplayOptions other;
    other.robot = two_joints();
    other.robot->joints[1].name = "third_joint";
    const auto refused = replay(reader, std::move(other));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().error == Errc::not_replayable);
    CHECK(refused.error().message.find("its joint 1 is right_joint, not third_joint") != std::string::npos);
  } else {
    const auto refused = replay(reader, {});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().error == Errc::not_replayable);
    CHECK(refused.error().message.find("the recording lacks cycle 0") != std::string::npos);
    CHECK(refused.error().message.find("nothing of it can be replayed: a replay begins with cycle 0") !=
          std::string::npos);
  }
}
