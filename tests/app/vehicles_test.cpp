// A robot whose description names a vehicle: the vehicle is driven, recorded and replayed with it, or refused
// with a reason.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "app/joint_mover.hpp"
#include "app/robot_client.hpp"
#include "app/run_editor.hpp"
#include "support/random.hpp"
#include "support/source_dir.hpp"
#include "takt/app/error.hpp"
#include "takt/app/replay.hpp"
#include "takt/robot/vehicle_device.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;

namespace {

const std::string furbot = TAKT_SOURCE_DIR "/examples/robots/furbot.json";

/// Drives the vehicle through the input "drive/forward".
class Lap final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Lap");
  explicit Lap(std::string name) : Controller(about, std::move(name)) {}
  SetupResult<void> on_configure(robot::Resources& resources) override {
    auto forward = resources.claim("drive/forward");
    if (!forward) return tl::unexpected<SetupError>(forward.error());
    forward_ = *forward;
    return {};
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    forward_.set(1);
    return {};
  }

 private:
  robot::CommandHandle forward_;
};

/// Drives the vehicle through the inputs of "drive", on a wavy path, and moves a joint by the odometry.
class Follower final : public test::JointMover {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Follower");
  explicit Follower(std::string name) : JointMover(about, std::move(name)) {}
  SetupResult<void> on_configure(robot::Resources& resources) override {
    auto odometry = resources.sensor<vehicle::OdometryEstimate>("base.odometry");
    auto forward = resources.claim("drive/forward");
    auto rotation = resources.claim("drive/rotation");
    if (!odometry || !forward || !rotation) return fail(robot::Errc::no_such_interface, "the vehicle");
    odometry_ = *odometry;
    forward_ = *forward;
    rotation_ = *rotation;
    return JointMover::on_configure(resources);
  }
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    joint_->follow({at_ + 0.05 * std::sin(odometry_->pose.x), 0, 0});
    forward_.set(1);
    rotation_.set(*turn * std::sin(to_seconds(cycle.time - Time{})));
    return {};
  }
  component::Parameter<double> turn{*this, "turn", {.initial = 0.3, .minimum = 0, .maximum = 1}};

 private:
  const vehicle::OdometryEstimate* odometry_ = nullptr;
  robot::CommandHandle forward_;
  robot::CommandHandle rotation_;
};

robot::RobotDescription with_vehicle() {
  robot::RobotDescription robot = two_joints();
  robot.vehicles.push_back({.name = "base", .file = furbot});
  robot.controllers.push_back({.name = "drive", .type = "VehicleDriveController"});
  robot.controllers.push_back({.name = "follower", .type = "Follower"});
  return robot;
}

/// A recorded run: the vehicle drives, is stopped with the robot, drives again, and ends by a shut-down.
class DrivenRun {
 public:
  DrivenRun() {
    VirtualClock clock;
    RobotOptions options;
    options.devices.simulate = true;
    options.clock = &clock;
    options.recording = path;
    options.drain_in_cycle = true;
    options.types = {component::component_type<Follower>()};
    const auto robot = made(with_vehicle(), options);
    auto random = test::generator();
    const auto stops_at = static_cast<std::uint64_t>(test::uniform_int(random, 4000, 6000));
    std::uint64_t stands = 0;
    Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
      if (state.loop.cycles == stops_at) it.emergency_stop(StopCategory::category_1);
      const bool is_stopped = state.state == motion::RobotState::stopped;
      if (is_stopped && std::exchange(stands, stands == 0 ? state.loop.cycles : stands) == 0)
        stopped_after = state.loop.cycles - stops_at;
      if (is_stopped && state.loop.cycles == stands + 500) it.reset();
      if (state.loop.cycles == 13'000) it.end();
    });
    REQUIRE(robot->run().has_value());
    told = reports(*robot);
    REQUIRE(robot->finish().has_value());
    cycles = robot->statistics().cycles;
  }

  static ReplayOptions with_follower() {
    ReplayOptions options;
    options.options.types = {component::component_type<Follower>()};
    return options;
  }
  static ReplayResult replayed(const std::string& path, ReplayOptions options = with_follower()) {
    record::Reader reader = test::opened(path);
    auto result = replay(reader, std::move(options));
    if (!result) FAIL(result.error().message);
    return std::move(*result);
  }
  [[nodiscard]] SetupResult<ReplayResult> replay_with(test::RunEdit edit) const {
    return test::replay_copy(path, file("copy.mcap"), std::move(edit), with_follower());
  }
  [[nodiscard]] std::string file(const char* name) const { return folder_.file(name); }

 private:
  ScratchFolder folder_;

 public:
  std::string path = folder_.file("run.mcap");
  std::uint64_t cycles = 0;
  std::vector<std::string> told;
  std::uint64_t stopped_after = 0;  ///< cycles from the request to the end of the stop
};

}  // namespace

TEST_CASE("a vehicle is recorded with its robot, and the run repeats bit for bit without it") {
  const DrivenRun run;
  CHECK(run.stopped_after > 300);  // it braked from 1 m/s
  CHECK(run.cycles > 13'300);      // also at the end
  ReplayOptions again = DrivenRun::with_follower();
  again.options.recording = run.file("again.mcap");
  const ReplayResult result = DrivenRun::replayed(run.path, std::move(again));
  CAPTURE(result.difference.value_or(ReplayDifference{}).text());
  CHECK(result.cycles == run.cycles);
  CHECK_FALSE(result.difference);
  CHECK_FALSE(DrivenRun::replayed(run.file("again.mcap")).difference);
}

TEST_CASE("a replay opens no vehicle: one that the recording lacks is refused") {
  const DrivenRun run;
  ReplayOptions options = DrivenRun::with_follower();
  options.robot = with_vehicle();
  options.robot->vehicles.push_back({"front", furbot, "127.0.0.1:1", "127.0.0.1:2", "", "", 0});
  record::Reader reader = test::opened(run.path);
  const auto refused = replay(reader, std::move(options));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == Errc::not_replayable);
  CHECK(refused.error().message == "the recording lacks the vehicle front");
}

TEST_CASE("where a bus of the drives is virtual, the vehicle is simulated, and both is told") {
  robot::RobotDescription robot = two_joints();
  robot.vehicles.push_back({"base", furbot, "127.0.0.1:47000", "127.0.0.1:47001", "", "/no/key", 0});
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  const auto made_one = made(std::move(robot), options);
  CHECK(std::ranges::count(reports(*made_one), "vehicle base: simulated") == 1);
}

TEST_CASE("another twist is named by its cycle and its interface") {
  const DrivenRun run;
  const Time changed = Time{} + 3800ms;
  const auto result = run.replay_with({.further = [&](std::string_view topic, Time time, auto& value) {
    if (topic == "/outputs/base/rotation" && time == changed) value[0] ^= 1U;
    return true;
  }});
  REQUIRE(result.has_value());
  REQUIRE(result->difference);
  CHECK(result->differing == 1);
  CHECK(result->difference->text().find("at 3.800000 s, output base/rotation ") != std::string::npos);
}

TEST_CASE("a vehicle that cannot be opened is refused with its name and the reason") {
  const ScratchFolder folder;
  const auto refused = [&](robot::RobotVehicle vehicle) {
    robot::RobotDescription robot = two_joints();
    robot.vehicles.push_back(std::move(vehicle));
    VirtualClock clock;
    RobotOptions options;
    options.devices.simulate = true;
    options.clock = &clock;
    const SetupError error = refusal(std::move(robot), options);
    CHECK(error.error == Errc::bad_description);
    return error.message;
  };
  CHECK(refused({.name = "base", .file = folder.file("none.json")}).find("none.json") != std::string::npos);
  std::string text = bytes_of(furbot);
  const std::string rate = R"("status": {"rate": 100)";
  text.replace(text.find(rate), rate.size(), R"("status": {"rate": 50)");
  std::ofstream(folder.file("slow.json")) << text;
  CHECK(refused({.name = "base", .file = folder.file("slow.json")})
            .starts_with("vehicle base: a simulated one needs /status/rate 100 in "));
}

TEST_CASE("a real vehicle that is never heard is told, and holds up nothing but itself") {
  robot::RobotDescription robot = two_joints();
  robot.vehicles.push_back({"base", furbot, "127.0.0.1:0", "127.0.0.1:9", "", "", 0});
  robot.vehicles.back().local = "127.0.0.1:" + std::to_string(47'000 + getpid() % 1000);
  OwnHardware drives(2);
  VirtualClock clock;
  RobotOptions options;
  options.hardware = &drives;
  options.clock = &clock;
  const auto made_one = made(std::move(robot), options);
  Client client(*made_one, [&](Client& it, const motion::Snapshot& state) {
    if (state.loop.cycles == 5000) it.end();
  });
  REQUIRE(made_one->run().has_value());
  const auto told = reports(*made_one);
  CHECK(std::ranges::count(told, "vehicle base: not ready: the vehicle is silent") == 1);
  CHECK(std::ranges::count(told, "robot ready") == 1);
  CHECK(told.front().find("These figures are guesses, and were not measured: /wheelbase") !=
        std::string::npos);
  CHECK(made_one->statistics().cycles < 5100);
}

TEST_CASE("addresses of a real vehicle are checked before the run") {
  const auto refused = [](std::string local, std::string peer, std::string send_to = {},
                          std::string key = {}) {
    robot::RobotDescription robot = two_joints();
    robot.vehicles.push_back(
        {"base", furbot, std::move(local), std::move(peer), std::move(send_to), std::move(key), 0});
    OwnHardware drives(2);
    RobotOptions options;
    options.hardware = &drives;
    return refusal(std::move(robot), options).message;
  };
  const std::string good = "127.0.0.1:47000";
  CHECK(refused("127.0.0.1", good) ==
        "vehicle base: \"local\" and \"peer\" are ADDRESS:PORT, the address in numbers");
  CHECK(refused(good, "127.0.0.1:0").starts_with("vehicle base: \"local\" and \"peer\""));
  CHECK(refused(good, "127.0.0.1:47001", "x") ==
        "vehicle base: \"send_to\" is ADDRESS:PORT, the address in numbers");
  const std::string host = refused(good, "furbot:47001");
  CHECK(host.starts_with("vehicle base: "));
  CHECK(host.find("furbot") != std::string::npos);
  const std::string key = refused(good, "127.0.0.1:47001", "", "/no/key");
  CHECK(key.starts_with("vehicle base: "));
  CHECK(key.find("/no/key") != std::string::npos);
}

TEST_CASE("a robot that is slower than the vehicle's command timeout is refused") {
  robot::RobotDescription robot = two_joints();
  robot.period = 150ms;
  robot.vehicles.push_back({.name = "base", .file = furbot});
  VirtualClock clock;
  RobotOptions options;
  options.devices.simulate = true;
  options.clock = &clock;
  const SetupError error = refusal(std::move(robot), options);
  CHECK(error.message.starts_with("vehicle base: its frames last 0.1 s (/control/timeout, /status/timeout)"));
}

TEST_CASE("a vehicle without an arm is a robot") {
  const ScratchFolder folder;
  robot::RobotDescription robot;
  robot.name = "vehicle";
  robot.period = 10ms;
  robot.vehicles.push_back({.name = "base", .file = furbot});
  robot.controllers.push_back({.name = "drive", .type = "VehicleDriveController"});
  robot.controllers.push_back({.name = "lap", .type = "Lap"});
  const auto again = drives::load_robot(robot::to_json(robot));
  REQUIRE(again);
  CHECK(robot::to_json(*again) == robot::to_json(robot));
  VirtualClock clock;
  RobotOptions options;
  options.devices.simulate = true;
  options.clock = &clock;
  options.port = 0;
  options.recording = folder.file("run.mcap");
  options.drain_in_cycle = true;
  options.types = {component::component_type<Lap>()};
  const auto made_one = made(robot, options);
  Client client(*made_one, [&](Client& it, const motion::Snapshot& state) {
    if (state.loop.cycles == 1000) it.end();
  });
  REQUIRE(made_one->run().has_value());
  REQUIRE(made_one->finish().has_value());
  std::string found;
  for (const robot::InterfaceInfo& info : made_one->manager().interfaces()) {
    if (info.name == "base.odometry/pose.x") CHECK(info.value > 3);
    found += info.name + " ";
  }
  CHECK(found.find("base.odometry/pose.x") != std::string::npos);
  ReplayOptions how;
  how.options.types = options.types;
  CHECK_FALSE(DrivenRun::replayed(options.recording, how).difference);
}
