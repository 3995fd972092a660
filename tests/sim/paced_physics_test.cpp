// Physics in wall time that are faster or slower than the clock, which here moves only by their steps.
#include "takt/sim/paced_physics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "takt/core/manual_clock.hpp"

using namespace takt;
using namespace std::chrono_literals;

namespace {

/// Steps of a millisecond that take as long as the test says.
class Steps final : public sim::JointPhysics {
 public:
  explicit Steps(ManualClock& clock) : clock_(&clock) {}
  [[nodiscard]] std::span<sim::PhysicsJoint> joints() noexcept override { return {}; }
  [[nodiscard]] Duration step_time() const noexcept override { return 1ms; }
  void step() noexcept override {
    clock_->advance(cost);
    ++count;
  }
  Duration cost = 300us;
  int count = 0;

 private:
  ManualClock* clock_;
};

/// A loop at 1 kHz that skips missed periods, and may miss twenty.
struct Loop {
  /// Returns how long the cycle took.
  Duration cycle() {
    due = std::max(due + 1ms,
                   Time(std::chrono::floor<std::chrono::milliseconds>(clock.now().time_since_epoch())));
    clock.sleep_until(due);
    const Time begin = clock.now();
    for (; simulated + 1ms <= begin; simulated += 1ms) paced.step();
    return clock.now() - begin;
  }
  ManualClock clock;
  Steps steps{clock};
  sim::PacedPhysics<ManualClock> paced{steps, clock, 22ms};
  Time due{};
  Time simulated{};
};

}  // namespace

TEST_CASE("physics that keep up with the clock make every step, also after a pause, and say nothing") {
  Loop loop;
  for (const Duration pause : {0ms, 30ms, 1500ms, 0ms}) {
    loop.clock.advance(pause);
    for (int i = 0; i < 3000; ++i) loop.cycle();
    CHECK_FALSE(loop.paced.next_lag());
  }
  CHECK(loop.steps.count == loop.simulated.time_since_epoch() / 1ms);
}

TEST_CASE("physics that are slower than the clock say by how much, and keep the loop for a short time only") {
  for (const Duration cost : {Duration(1200us), Duration(3ms), Duration(40ms)}) {
    CAPTURE(cost.count());
    Loop loop;
    for (int i = 0; i < 100; ++i) loop.cycle();
    loop.steps.cost = cost;
    Duration longest{};
    Duration last{};
    for (int i = 0; i < 200; ++i) longest = std::max(longest, last = loop.cycle());
    CHECK(longest > 22ms);  // the robot stops by its missed periods
    CHECK(longest < 500ms);
    const auto lag = loop.paced.next_lag();
    REQUIRE(lag);
    CHECK(lag->cost == doctest::Approx(to_seconds(cost) * 1e3).epsilon(0.05));
    CHECK(lag->behind > 22ms);
    CHECK(lag->behind < 500ms);
    CHECK_FALSE(loop.paced.next_lag());

    loop.steps.cost = 300us;  // they catch up
    for (int i = 0; i < 1000; ++i) last = loop.cycle();
    CHECK(last < 1ms);
    static_cast<void>(loop.paced.next_lag());
    for (int i = 0; i < 1000; ++i) loop.cycle();
    CHECK_FALSE(loop.paced.next_lag());
  }
}

TEST_CASE("a loop that may miss what it likes hears of slow physics, and no step is left out") {
  Loop loop;
  sim::PacedPhysics<ManualClock> patient{loop.steps, loop.clock, 10'000s};
  loop.steps.cost = 2ms;
  loop.clock.advance(1ms);
  int steps = 0;
  for (; steps < 1000; ++steps) patient.step();
  CHECK_FALSE(patient.next_lag());
  for (; steps < 2000; ++steps) patient.step();
  const auto lag = patient.next_lag();
  REQUIRE(lag);
  CHECK(lag->cost == doctest::Approx(2).epsilon(0.01));
  CHECK(lag->behind > 1s);
  CHECK(loop.steps.count == steps);
}
