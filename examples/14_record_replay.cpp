// Records a run, repeats it from the recording bit for bit, then asks what another gain would have done.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "takt/app/replay.hpp"
#include "takt/app/robot.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/drives/registry.hpp"
#include "takt/record/reader.hpp"
#include "takt/robot/controller.hpp"

using namespace takt;
using namespace std::chrono_literals;

namespace {

constexpr const char* file = "14_record_replay.mcap";

/// Swings the elbow: pulls it towards a sine by a gain.
class Swing final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "Swing",
                                                      .version = "1.0.0",
                                                      .vendor = "examples",
                                                      .category = "controller",
                                                      .description = "Pulls a joint towards a sine."};
  explicit Swing(std::string name) : Controller(about, std::move(name)) {}

  SetupResult<void> on_configure(robot::Resources& resources) override {
    auto joint = resources.claim_joint("elbow", CommandMode::velocity);
    if (!joint) return tl::unexpected(joint.error());
    joint_ = *joint;
    return {};
  }
  Status on_activate(const component::CycleTime& cycle) noexcept override {
    began_ = cycle.time;
    return {};
  }
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    const double target = 0.5 * std::sin(2 * to_seconds(cycle.time - began_));  // rad
    joint_->set_velocity(std::clamp(*gain * (target - joint_->feedback().position), -1.0, 1.0));
    return {};
  }

  component::Parameter<double> gain{*this, "gain", {.initial = 4, .minimum = 0, .unit = "1/s"}};

 private:
  robot::Joint* joint_ = nullptr;
  Time began_{};
};

robot::RobotDescription one_joint(double gain) {
  robot::RobotDescription robot;
  robot.name = "one joint";
  robot.period = 2ms;
  robot.buses = {{.name = "arm", .protocol = drives::find("odrive")}};
  robot::JointDescription& elbow = robot.joints.emplace_back();
  elbow.name = "elbow";
  elbow.board = 1;
  elbow.drive.set("gear", 9.0);
  elbow.drive.set("current_limit", 20.0);  // A
  elbow.limits = {-2, 2, 2, 8, 100};
  robot.controllers = {{.name = "swing", .type = "Swing", .parameters = {{"gain", gain}}}};
  return robot;
}

/// Ends the run after ten seconds.
class TenSeconds final : public motion::LoopObserver {
 public:
  explicit TenSeconds(app::Robot& robot) : robot_(&robot) { robot.add_observer(*this); }
  void before_cycle(Time now) noexcept override {
    if (now - Time{} >= 10s) robot_->shut_down();
  }
  void after_cycle(const motion::Snapshot&) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}

 private:
  app::Robot* robot_;
};

SetupResult<void> make_recording() {
  app::ClockOf<ManualClock> clock;  // virtual time; without it, this runs in real time
  auto robot = app::Robot::create(one_joint(4), {.devices = {.simulate = true},
                                                 .clock = &clock,
                                                 .recording = file,
                                                 .overwrite = true,
                                                 .types = {component::component_type<Swing>()},
                                                 .drain_in_cycle = true});
  if (!robot) return tl::unexpected(robot.error());
  TenSeconds end(**robot);
  if (auto ran = (*robot)->run(); !ran) return ran;
  const auto totals = (*robot)->finish();
  if (!totals) return tl::unexpected(totals.error());
  std::printf("%s: %llu records, open it in Foxglove or PlotJuggler\n", file,
              static_cast<unsigned long long>(totals->recorded->records));
  return {};
}

SetupResult<void> repeat(double gain) {
  auto recording = record::Reader::open(file);
  if (!recording) return tl::unexpected(recording.error());
  app::ReplayOptions options;
  options.robot = one_joint(gain);
  options.options.types = {component::component_type<Swing>()};
  const auto result = app::replay(*recording, std::move(options));
  if (!result) return tl::unexpected(result.error());
  std::printf("gain %g: %llu of %llu cycles differ. %s\n", gain,
              static_cast<unsigned long long>(result->differing),
              static_cast<unsigned long long>(result->cycles),
              result->difference ? result->difference->text().c_str() : "");
  return {};
}

}  // namespace

int main() {
  SetupResult<void> done = make_recording();
  if (done) done = repeat(4);
  if (done) done = repeat(4.1);
  if (!done) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done ? 0 : 1;
}
