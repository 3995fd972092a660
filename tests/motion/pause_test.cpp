// The fault after a pause of the loop. Within the overrun limit there is none; after a longer pause it is
// loop_overrun. Only a silent drive causes drive_silent.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/source_dir.hpp"
#include "takt/app/devices.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/drives/registry.hpp"
#include "takt/motion/loop.hpp"

using namespace takt;
using namespace takt::motion;

namespace {

using namespace std::chrono_literals;

robot::RobotDescription load(const char* name) {
  auto robot = drives::load_robot_file(std::string(TAKT_SOURCE_DIR "/examples/robots/") + name + ".json");
  REQUIRE(robot.has_value());
  return *robot;
}

/// The arm on CiA 402 drives: two classic buses with three of them each.
robot::RobotDescription arm_on_cia402(Duration period, Duration feedback_timeout) {
  robot::RobotDescription robot = load("arm6");
  robot.period = period;
  robot.feedback_timeout = feedback_timeout;
  robot.buses = {{.name = "lower", .protocol = drives::find("cia402")},
                 {.name = "upper", .protocol = drives::find("cia402")}};
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    robot.joints[i].bus = i / 3;
    robot.joints[i].board = static_cast<std::uint8_t>(1 + i % 3);
    robot.joints[i].counts_per_radian = 100'000;
  }
  return robot;
}

/// One robot per protocol. Their feedback timeouts are shorter than their overrun limits, or equal.
std::vector<robot::RobotDescription> robots() {
  return {load("mhubo"), load("arm6"), arm_on_cia402(1ms, 10ms), arm_on_cia402(5ms, 50ms)};
}

/// The place in the cycle at which the loop pauses.
enum class Away { asleep, before_write, after_write };

/// Pauses repeatedly, each time at another point of the drives' turns.
class PausingClock {
 public:
  PausingClock(Away where, Duration length) : where_(where), length_(length) {}
  [[nodiscard]] Time now() const noexcept { return clock_.now(); }
  void sleep_until(Time time) noexcept {
    clock_.sleep_until(time);
    pause(Away::asleep);
  }
  void pause(Away here) noexcept {
    if (here != where_ || clock_.now() < next_) return;
    clock_.advance(length_);
    next_ = clock_.now() + 211ms;
    ++pauses;
  }
  int pauses = 0;

 private:
  ManualClock clock_;
  Away where_;
  Duration length_;
  Time next_{2s};
};

class PausingHardware final : public robot::Hardware {
 public:
  PausingHardware(robot::Hardware& inner, PausingClock& clock) : inner_(&inner), clock_(&clock) {}
  void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
    inner_->read(now, feedback);
    clock_->pause(Away::before_write);
  }
  void write(Time now, std::span<const JointCommand> commands) noexcept override {
    inner_->write(now, commands);
    clock_->pause(Away::after_write);
  }
  robot::HardwareCounters counters() const noexcept override { return inner_->counters(); }

 private:
  robot::Hardware* inner_;
  PausingClock* clock_;
};

/// The first stop of the robot after it was ready.
struct Outcome {
  bool was_ready = false;
  std::optional<Snapshot> stopped;
  int pauses = 0;
};

/// Runs a robot until it stops, or for 9 s. The second joint falls silent after 2 s if asked.
Outcome run(const robot::RobotDescription& robot, Away where, Duration pause, bool falls_silent = false) {
  PausingClock clock(where, pause);
  auto simulated = app::Devices::create(robot, {.simulate = true, .start = clock.now()});
  REQUIRE(simulated.has_value());
  PausingHardware hardware(**simulated, clock);
  Channels channels;

  class Watch final : public LoopObserver {
   public:
    Watch(sim::RobotSimulation& simulation, bool falls_silent)
        : simulation_(&simulation), falls_silent_(falls_silent) {}
    void before_cycle(Time now) noexcept override {
      if (!falls_silent_ || now < Time{2s}) return;
      falls_silent_ = false;
      simulation_->inject(1, sim::JointFault::silent);
    }
    void on_event(const Event&) noexcept override {}
    void after_cycle(const Snapshot& snapshot) noexcept override {
      if (snapshot.state == RobotState::ready) outcome.was_ready = true;
      const bool is_stopping = outcome.was_ready && snapshot.state != RobotState::ready;
      if (is_stopping && !outcome.stopped && !loop_over_) outcome.stopped = snapshot;
      if (outcome.stopped || snapshot.time >= Time{9s}) loop_over_ = true;
      if (loop_over_) loop->shut_down();
    }
    Outcome outcome;
    Loop<PausingClock>* loop = nullptr;

   private:
    sim::RobotSimulation* simulation_;
    bool falls_silent_;
    bool loop_over_ = false;
  } watch(*(*simulated)->simulation(), falls_silent);

  const auto loop = Loop<PausingClock>::create(clock, robot, hardware, channels, watch);
  REQUIRE(loop.has_value());
  watch.loop = loop->get();
  REQUIRE((*loop)->run().has_value());
  watch.outcome.pauses = clock.pauses;
  return watch.outcome;
}

Duration periods(const robot::RobotDescription& robot, std::uint32_t count) {
  return count * robot.period + robot.period / 4;
}

}  // namespace

TEST_CASE("a pause within the overrun limit stops nothing, under every policy and with every kind of drive") {
  for (robot::RobotDescription robot : robots()) {
    CAPTURE(robot.buses[0].name);
    CAPTURE(to_seconds(robot.period));
    for (const auto policy : {rt::OverrunPolicy::skip, rt::OverrunPolicy::catch_up}) {
      CAPTURE(static_cast<int>(policy));
      robot.overrun = policy;
      for (const Away where : {Away::asleep, Away::before_write, Away::after_write}) {
        CAPTURE(static_cast<int>(where));
        for (const std::uint32_t count : {3U, 16U, robot.overrun_limit}) {
          CAPTURE(count);
          const Outcome outcome = run(robot, where, periods(robot, count));
          CHECK(outcome.was_ready);
          CHECK(outcome.pauses > 20);
          if (outcome.stopped) FAIL_CHECK(std::string(reason_name(outcome.stopped->reason)));
        }
      }
    }
  }
}

TEST_CASE("a pause beyond the overrun limit is blamed on the loop, with its length") {
  for (const robot::RobotDescription& robot : robots()) {
    CAPTURE(robot.buses[0].name);
    for (const std::uint32_t count : {21U, 40U, 400U}) {
      CAPTURE(count);
      const Outcome outcome = run(robot, Away::asleep, periods(robot, count));
      REQUIRE(outcome.stopped.has_value());
      CHECK(outcome.stopped->reason == Errc::loop_overrun);
      CHECK(outcome.stopped->reason_value == count);
      CHECK(outcome.stopped->reason_limit == 20);
    }
  }
}

TEST_CASE("a drive that is really silent is found within its time-out") {
  for (const robot::RobotDescription& robot : robots()) {
    CAPTURE(robot.buses[0].name);
    const Outcome outcome = run(robot, Away::asleep, Duration(0), true);
    REQUIRE(outcome.stopped.has_value());
    CHECK(outcome.stopped->reason == Errc::drive_silent);
    CHECK(outcome.stopped->reason_joint == 1);
    CHECK(outcome.stopped->time <= Time{2s} + robot.feedback_timeout + robot.period);
  }
}
