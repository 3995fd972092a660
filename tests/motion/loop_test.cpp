// The loop over simulated drives in virtual time: motion, faults, overruns and shutdown.
#include "takt/motion/loop.hpp"

#include <doctest/doctest.h>
#include <sys/syscall.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "support/rt_guard.hpp"
#include "support/source_dir.hpp"
#include "takt/app/devices.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/drives/registry.hpp"
#include "takt/platform/hybrid_clock.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/trajectory/through.hpp"

using namespace takt;
using namespace takt::motion;

namespace {

robot::RobotDescription load(const char* name) {
  auto robot = drives::load_robot_file(std::string(TAKT_SOURCE_DIR "/examples/robots/") + name + ".json");
  REQUIRE(robot.has_value());
  return *robot;
}

/// The arm on CiA 402 drives: two classic buses with three of them each.
robot::RobotDescription arm_on_cia402() {
  robot::RobotDescription robot = load("arm6");
  robot.buses = {{.name = "lower", .protocol = drives::find("cia402")},
                 {.name = "upper", .protocol = drives::find("cia402")}};
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    robot.joints[i].bus = i / 3;
    robot.joints[i].board = static_cast<std::uint8_t>(1 + i % 3);
    robot.joints[i].counts_per_radian = i % 2 == 0 ? 100'000 : -100'000;
  }
  return robot;
}

/// Hands requests over at given cycles after the robot became ready, shuts the loop down at the end, and
/// records.
class Script final : public LoopObserver {
 public:
  struct Step {
    std::uint64_t cycle;  ///< after ready
    Request* request;     ///< null: shut down
  };

  Script(Channels& channels, std::vector<Step> steps) : channels_(&channels), steps_(std::move(steps)) {}

  template <class C>
  void run(Loop<C>& loop) {
    shut_down_ = [](void* p) noexcept { static_cast<Loop<C>*>(p)->shut_down(); };
    loop_ = &loop;
    status = loop.run();
  }

  void before_cycle(Time) noexcept override {}
  void on_event(const Event& event) noexcept override {
    channels_->state.update();
    state_was_first = state_was_first && channels_->state.value().time == last.time;
    if (event_count < events.size()) events[event_count++] = event;
  }
  void after_cycle(const Snapshot& snapshot) noexcept override {
    if (ready_at_ != 0) watch_reference(snapshot);
    last = snapshot;
    if (snapshot.state == RobotState::ready && ready_at_ == 0) ready_at_ = snapshot.loop.cycles;
    if (ready_at_ == 0) return;
    for (std::size_t i = 0; i < snapshot.joint_count; ++i) {
      const JointSnapshot& joint = snapshot.joints[i];
      worst_error = std::max(worst_error, std::abs(joint.measured_position - joint.reference.position));
    }
    while (next_ < steps_.size() && snapshot.loop.cycles >= ready_at_ + steps_[next_].cycle) {
      Request* request = steps_[next_++].request;
      if (request == nullptr) {
        shut_down_(loop_);
      } else {
        request->handed_over = snapshot.time;
        static_cast<void>(channels_->requests.try_push(request));
      }
    }
  }

  Status status;
  Snapshot last;
  double worst_error = 0;
  double worst_speed = 0;   ///< of a reference between two cycles, rad/s
  double worst_change = 0;  ///< of its velocity, rad/s^2
  std::array<Event, 64> events{};
  std::size_t event_count = 0;
  bool state_was_first = true;  ///< each event came after the state of its cycle

 private:
  void watch_reference(const Snapshot& snapshot) noexcept {
    for (std::size_t i = 0; i < snapshot.joint_count; ++i) {
      if (snapshot.joints[i].drive != DriveState::ready) continue;  // its reference follows the joint
      const MotionState& now = snapshot.joints[i].reference;
      const MotionState& before = last.joints[i].reference;
      const double time = to_seconds(snapshot.time - last.time);
      worst_speed = std::max(worst_speed, std::abs(now.position - before.position) / time);
      worst_change = std::max(worst_change, std::abs(now.velocity - before.velocity) / time);
    }
  }

  Channels* channels_;
  std::vector<Step> steps_;
  std::size_t next_ = 0;
  std::uint64_t ready_at_ = 0;
  void (*shut_down_)(void*) noexcept = nullptr;
  void* loop_ = nullptr;
};

std::unique_ptr<Request> plain(RequestKind kind) {
  auto request = std::make_unique<Request>();
  request->kind = kind;
  request->category = StopCategory::category_2;
  return request;
}

/// A goal that moves every joint by `distance` and back in 2 * `duration` seconds.
std::unique_ptr<Request> there_and_back(const robot::RobotDescription& robot, double distance,
                                        double duration) {
  auto request = std::make_unique<Request>();
  request->kind = RequestKind::trajectory;
  request->goal = 1;
  std::vector<double> positions(3 * robot.joints.size());
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    request->joints.insert(i);
    request->limits.push_back(robot.joints[i].limits);
    request->goal_tolerance.push_back({robot.joints[i].goal_tolerance, 0, 0});
    const double start = robot.joints[i].plant.start;
    const JointLimits& limits = robot.joints[i].limits;
    const bool room_above = limits.position_max - start > distance;
    positions[i] = positions[2 * robot.joints.size() + i] = start;
    positions[robot.joints.size() + i] = start + (room_above ? distance : -distance);
  }
  const std::vector<double> times{0, duration, 2 * duration};
  const trajectory::Waypoints waypoints{robot.joints.size(), times, positions, {}, {}};
  auto trajectory = trajectory::through(waypoints, trajectory::Through::smooth);
  REQUIRE(trajectory.has_value());
  request->trajectory = std::move(*trajectory);
  request->lead = trajectory::PointToPoint<>(robot.joints.size());
  request->goal_time = to_seconds(robot.goal_time);
  request->may_be_late = true;
  return request;
}

}  // namespace

TEST_CASE("in virtual time a simulated robot starts, moves as told, and shuts down") {
  for (const robot::RobotDescription& robot : {load("mhubo"), load("arm6"), arm_on_cia402()}) {
    CAPTURE(robot.buses[0].name);
    ManualClock clock;
    auto hardware = app::Devices::create(robot, {.simulate = true, .start = clock.now()});
    REQUIRE(hardware.has_value());
    Channels channels;
    auto goal = there_and_back(robot, 0.5, 2.0);
    const auto seconds = [&robot](int count) {
      return static_cast<std::uint64_t>(std::chrono::seconds(count) / robot.period);
    };
    Script script(channels, {{10, goal.get()}, {seconds(7), nullptr}});
    const auto loop = Loop<ManualClock>::create(clock, robot, **hardware, channels, script);
    script.run(**loop);

    CHECK(script.status.has_value());
    CHECK(script.last.state == RobotState::down);
    REQUIRE(script.event_count == 2);
    CHECK(script.events[0].state == GoalState::active);
    CHECK(script.events[0].first_reference - script.events[0].handed_over == robot.period);
    CHECK(script.events[1].state == GoalState::succeeded);
    CHECK(script.worst_error < 0.02);
    for (std::size_t i = 0; i < robot.joints.size(); ++i) {
      CHECK((*hardware)->simulation()->position(i) ==
            doctest::Approx(robot.joints[i].plant.start).epsilon(0.01));
    }
    const robot::HardwareCounters counters = (*hardware)->counters();
    CHECK(counters.frames_malformed == 0);
    CHECK(counters.frames_unexpected == 0);
    CHECK(counters.frames_refused == 0);
  }
}

namespace {

/// Breaks the second joint of a robot during a motion and repairs it. Checks the goal's reason, and that it
/// moves again.
void break_and_mend(const robot::RobotDescription& robot, sim::JointFault fault, Errc reason) {
  ManualClock clock;
  auto hardware = app::Devices::create(robot, {.simulate = true, .start = clock.now()});
  REQUIRE(hardware.has_value());
  Channels channels;
  auto goal = there_and_back(robot, 0.5, 2.0);
  auto again = there_and_back(robot, 0.2, 2.0);
  auto reset = plain(RequestKind::reset);

  /// Breaks the second joint one second into the motion and repairs it two seconds later.
  class Saboteur final : public robot::Hardware {
   public:
    Saboteur(app::Devices& inner, sim::JointFault fault) : inner_(&inner), fault_(fault) {}
    void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
      ++cycle_;
      if (cycle_ == 2000) inner_->simulation()->inject(1, fault_);
      if (cycle_ == 4000) inner_->simulation()->inject(1, sim::JointFault::none);
      inner_->read(now, feedback);
    }
    void write(Time now, std::span<const JointCommand> commands) noexcept override {
      inner_->write(now, commands);
    }
    robot::HardwareCounters counters() const noexcept override { return inner_->counters(); }

   private:
    app::Devices* inner_;
    sim::JointFault fault_;
    int cycle_ = 0;
  } saboteur(**hardware, fault);

  Script script(channels, {{1000, goal.get()}, {4500, reset.get()}, {5500, again.get()}, {11'000, nullptr}});
  const auto loop = Loop<ManualClock>::create(clock, robot, saboteur, channels, script);
  script.run(**loop);
  REQUIRE(script.event_count == 5);
  CHECK(script.state_was_first);
  CHECK(script.events[1].state == GoalState::aborted);
  CHECK(script.events[1].reason == reason);
  CHECK(script.events[1].joint == 1);
  CHECK(script.events[2].retired == reset.get());
  CHECK(script.events[2].state == GoalState::succeeded);
  // The validated trajectory starts where the joints were before: a lead joins it.
  CHECK(script.events[3].state == GoalState::active);
  CHECK(script.events[4].state == GoalState::succeeded);
}

}  // namespace

TEST_CASE("a drive that falls silent on the bus stops the robot, and after a reset it moves again") {
  break_and_mend(load("arm6"), sim::JointFault::silent, Errc::drive_silent);
  break_and_mend(arm_on_cia402(), sim::JointFault::silent, Errc::drive_silent);
}

TEST_CASE("a drive at fault stops the robot, and after a reset it moves again") {
  break_and_mend(load("arm6"), sim::JointFault::power_stage, Errc::drive_fault);
  break_and_mend(arm_on_cia402(), sim::JointFault::power_stage, Errc::drive_fault);
}

namespace {

/// A loop of the arm that is late once during a motion, by this many periods. It overslept, or its cycle took
/// that long.
class LateLoop {
 public:
  LateLoop(rt::OverrunPolicy policy, int periods, bool oversleeps) : robot_(load("arm6")) {
    robot_.overrun = policy;
    const Duration delay = periods * robot_.period + robot_.period / 4;
    clock_.delay = oversleeps ? delay : Duration(0);
    auto simulated = app::Devices::create(robot_, {.simulate = true, .start = clock_.now()});
    REQUIRE(simulated.has_value());
    Dawdler hardware(**simulated, clock_, oversleeps ? Duration(0) : delay);
    auto goal = there_and_back(robot_, 0.5, 1.0);
    auto reset = plain(RequestKind::reset);
    auto again = there_and_back(robot_, 0.3, 1.0);
    Script script(channels_, {{10, goal.get()}, {3000, reset.get()}, {4000, again.get()}, {8000, nullptr}});
    const auto loop = Loop<LateClock>::create(clock_, robot_, hardware, channels_, script);
    script.run(**loop);
    events.assign(script.events.begin(), script.events.begin() + static_cast<int>(script.event_count));
    statistics = (*loop)->statistics();
    // In every case the reference moves within the robot's limits from cycle to cycle.
    CHECK(script.worst_speed <= 3.2);
    CHECK(script.worst_change <= 8 * 1.001);
    CHECK(script.worst_speed > 0);
  }

  std::vector<Event> events;
  rt::LoopStatistics statistics;

 private:
  static constexpr Time late_at{std::chrono::milliseconds(500)};

  struct LateClock {
    ManualClock clock;
    Duration delay{};
    [[nodiscard]] Time now() const noexcept { return clock.now(); }
    void sleep_until(Time time) noexcept {
      const bool oversleeps = clock.now() < late_at && time >= late_at;
      clock.sleep_until(oversleeps ? time + delay : time);
    }
  };
  class Dawdler final : public robot::Hardware {
   public:
    Dawdler(robot::Hardware& inner, LateClock& clock, Duration delay)
        : inner_(&inner), clock_(&clock), delay_(delay) {}
    void read(Time now, std::span<robot::JointFeedback> feedback) noexcept override {
      inner_->read(now, feedback);
    }
    void write(Time now, std::span<const JointCommand> commands) noexcept override {
      inner_->write(now, commands);
      if (now == late_at) clock_->clock.advance(delay_);
    }
    robot::HardwareCounters counters() const noexcept override { return inner_->counters(); }

   private:
    robot::Hardware* inner_;
    LateClock* clock_;
    Duration delay_;
  };

  robot::RobotDescription robot_;
  LateClock clock_;
  Channels channels_;
};

}  // namespace

TEST_CASE("a loop that is late within its limit goes on with the motion, under every policy") {
  struct Case {
    rt::OverrunPolicy policy;
    int periods;
    std::uint64_t overruns;
  };
  for (const Case& c : {Case{rt::OverrunPolicy::skip, 3, 3}, Case{rt::OverrunPolicy::skip, 20, 20},
                        Case{rt::OverrunPolicy::catch_up, 3, 0}, Case{rt::OverrunPolicy::catch_up, 20, 20}}) {
    CAPTURE(c.periods);
    for (const bool oversleeps : {false, true}) {
      CAPTURE(oversleeps);
      const LateLoop late(c.policy, c.periods, oversleeps);
      REQUIRE(late.events.size() == 5);
      CHECK(late.events[1].state == GoalState::succeeded);
      CHECK(late.events[4].state == GoalState::succeeded);
      CHECK(late.statistics.overruns == c.overruns);
    }
  }
}

TEST_CASE("a loop that is late beyond its limit stops the robot, says so, and moves again after a reset") {
  for (const auto policy : {rt::OverrunPolicy::skip, rt::OverrunPolicy::catch_up}) {
    for (const int periods : {21, 24, 300}) {  // the drives' watchdog expires at 23
      CAPTURE(periods);
      for (const bool oversleeps : {false, true}) {
        CAPTURE(oversleeps);
        const LateLoop late(policy, periods, oversleeps);
        REQUIRE(late.events.size() == 5);
        CHECK(late.events[1].state == GoalState::aborted);
        CHECK(late.events[1].reason == Errc::loop_overrun);
        CHECK(late.events[1].value == periods);
        CHECK(late.events[1].limit == 20);
        CHECK(late.events[2].state == GoalState::succeeded);
        CHECK(late.events[4].state == GoalState::succeeded);
      }
    }
  }
}

TEST_CASE("a full run of the loop allocates nothing, takes no lock and makes no system call but its sleep") {
  if (!test::RtGuard::watches_system_calls()) MESSAGE("system calls cannot be watched here");
  const auto run = [](auto clock, const char* name) {
    CAPTURE(name);
    robot::RobotDescription robot = load(name);
    robot.overrun_limit = 1'000'000;  // the machine may pause
    auto hardware = app::Devices::create(robot, {.simulate = true, .start = clock.now()});
    REQUIRE(hardware.has_value());
    Channels channels;
    auto goal = there_and_back(robot, 0.1, 0.4);
    auto second = there_and_back(robot, 0.05, 0.5);
    auto cancel = plain(RequestKind::cancel);
    auto stop = plain(RequestKind::emergency_stop);
    auto reset = plain(RequestKind::reset);
    const auto ms = [&robot](int count) {
      return static_cast<std::uint64_t>(std::chrono::milliseconds(count) / robot.period);
    };
    Script script(channels, {{ms(5), goal.get()},
                             {ms(200), second.get()},  // joined during the motion
                             {ms(400), cancel.get()},
                             {ms(800), stop.get()},
                             {ms(1000), reset.get()},
                             {ms(1400), nullptr}});
    rt::Tracer tracer;
    tracer.switch_on();
    const auto loop = Loop<decltype(clock)>::create(clock, robot, **hardware, channels, script, &tracer);
    test::RtGuard guard({.allow = {SYS_clock_nanosleep}});
    script.run(**loop);
    CHECK(guard.report() == "");
    CHECK(script.status.has_value());
    CHECK(script.last.state == RobotState::down);
    CHECK(script.event_count >= 8);
  };
  for (const char* name : {"mhubo", "arm6"}) {
    run(platform::SteadyClock(), name);
    run(platform::HybridClock(), name);
  }
}
