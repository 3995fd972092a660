// Tests that recording and logging are real-time safe in the cycle. The first case has a robot's sensors,
// outputs, variables, ports and log. The second has the ports of components.
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "app/joint_mover.hpp"
#include "app/port_player.hpp"
#include "app/port_recorder.hpp"
#include "app/robot_client.hpp"
#include "support/rt_guard.hpp"
#include "takt/component/execution_context.hpp"
#include "takt/component/port.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/sensors.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;

namespace {

/// An inertial unit with a lamp.
class Unit final : public robot::Device {
 public:
  static constexpr component::ComponentMetadata about{.type = "Unit",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "device",
                                                      .description = "Reads and shines."};
  explicit Unit(std::string name) : Device(about, std::move(name)) {}
  SetupResult<void> on_declare(robot::Declarations& declarations) override {
    if (auto declared = declarations.sensor("unit", sample_); !declared) return declared;
    return declarations.command("unit/lamp", "", lamp_, driven_);
  }

 private:
  robot::ImuSample sample_;
  double lamp_ = 0;
  bool driven_ = false;
};

/// Logs, and writes a port, in each cycle.
class Talker final : public test::JointMover {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Talker");
  explicit Talker(std::string name) : JointMover(about, std::move(name)) {}
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    joint_->follow({at_, 0, 0});
    log(spoke_, ++cycles_, at_);
    cycles.write(cycles_, cycle.time);
    return {};
  }
  component::OutPort<std::uint64_t> cycles{*this, "cycles"};

 private:
  std::uint64_t cycles_ = 0;
  rt::LogStatement<std::uint64_t, double> spoke_{rt::LogLevel::info, "cycle {} at {} rad", {.entries = 50}};
};

/// Watches each cycle between the observers' first and last calls.
class Guarded final : public motion::LoopObserver {
 public:
  Guarded() { guard_.disarm(); }
  void before_cycle(Time) noexcept override { guard_.arm(); }
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    guard_.disarm();
    cycles_ = snapshot.loop.cycles;
  }
  [[nodiscard]] std::string report() { return guard_.report(); }
  [[nodiscard]] std::uint64_t cycles() const { return cycles_; }

 private:
  test::RtGuard guard_;
  std::uint64_t cycles_ = 0;
};

/// Writes a number in each cycle.
struct Source final : component::Component {
  static constexpr component::ComponentMetadata about = test::mover("Source");
  explicit Source(std::string name) : Component(about, std::move(name)) {}
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    number.write(static_cast<double>(cycle.index), cycle.time);
    return {};
  }
  component::OutPort<double> number{*this, "number"};
};

}  // namespace

TEST_CASE("recording sensors, outputs, variables and ports, and logging, are real-time safe") {
  const ScratchFolder folder;
  Unit unit("unit");
  Guarded guarded;
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  options.recording = folder.file("run.mcap");
  options.log = {folder.file("run.log")};
  options.types = {component::component_type<Talker>()};
  options.further_devices = {&unit};
  options.controllers = {{.name = "talker", .type = "Talker"}};
  options.recorded_variables = {"unit", "unit/lamp", "talker.cycles", "left_joint/position"};
  const auto robot = made(two_joints(), options);
  // The last of the observers: the guard is armed until the recorders are done.
  Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
    if (state.loop.cycles == 1000) it.end();
  });
  robot->add_observer(guarded);
  REQUIRE(robot->run().has_value());
  CHECK(guarded.report() == "");
  CHECK(guarded.cycles() >= 1000);
  CHECK(robot->finish()->logged->entries > 50);
}

TEST_CASE("the recorder of ports and the player are real-time safe in their cycles") {
  const ScratchFolder folder;
  auto source = std::make_shared<Source>("source");
  auto recorder = std::make_shared<PortRecorder>("recorder");
  REQUIRE(recorder->add("source.number", source->number).has_value());
  record::Metadata metadata;
  metadata.robot = "test";
  metadata.period = PortRecorder::period;
  REQUIRE(recorder->open(folder.file("run.mcap"), metadata, nullptr, false).has_value());
  component::ExecutionContext context({.name = "test", .period = PortRecorder::period});
  REQUIRE(context.add(*source).has_value());
  REQUIRE(context.add(*recorder).has_value());
  REQUIRE(context.start(Time{}).has_value());
  REQUIRE(context.activate(*source).has_value());
  REQUIRE(context.activate(*recorder).has_value());
  {
    test::RtGuard guard;
    for (int i = 1; i <= 100; ++i) context.run_cycle(Time{} + i * PortRecorder::period, PortRecorder::period);
    CHECK(guard.report() == "");
  }
  context.stop(Time{});
  const auto finished = recorder->finish();
  REQUIRE(finished.has_value());
  CHECK(finished->starts_with("recorded 100 values in "));
  CHECK(finished->ends_with(", 0 lost"));

  auto player = PortPlayer::open("source", folder.file("run.mcap"), nullptr);
  REQUIRE(player.has_value());
  REQUIRE((*player)->begin(false).has_value());
  component::ExecutionContext again({.name = "again", .period = PortRecorder::period});
  REQUIRE(again.add(**player).has_value());
  REQUIRE(again.start(Time{}).has_value());
  REQUIRE(again.activate(**player).has_value());
  {
    test::RtGuard guard;
    for (int i = 1; i <= 100; ++i) again.run_cycle(Time{} + i * PortRecorder::period, PortRecorder::period);
    CHECK(guard.report() == "");
  }
  again.stop(Time{});
  CHECK((*player)->finish().starts_with("played 100 values of "));
}
