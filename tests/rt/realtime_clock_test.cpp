#include "takt/rt/realtime_clock.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>
#include <thread>

#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::rt;
using namespace std::chrono_literals;

namespace {

constexpr Time start(100s);
constexpr Duration ahead = 1'700'000'000s;  // about what wall time is ahead of a monotonic clock

/// A measurement that took no time.
bool observe(RealtimeClock& clock, Time local, Duration offset) {
  return clock.observe(local, local + offset, local);
}

[[nodiscard]] Duration distance(Time a, Time b) { return a < b ? b - a : a - b; }

}  // namespace

// ---- the case of realtime_tools ----

TEST_CASE("a clock tells the time after its first measurement, and the time goes on") {
  RealtimeClock clock;
  CHECK_FALSE(clock.at(start).has_value());
  CHECK(observe(clock, start, ahead));
  const auto first = clock.at(start);
  REQUIRE(first.has_value());
  CHECK(*first == start + ahead);
  CHECK(*clock.at(start + 1ms) > *first);
}

// ---- what takt adds ----

TEST_CASE("a measurement counts at the middle of its two readings") {
  RealtimeClock clock;
  CHECK(clock.observe(start, start + ahead, start + 80us));
  CHECK(*clock.at(start) == start + ahead - 40us);
}

TEST_CASE("a measurement that took too long, or whose readings are in the wrong order, is rejected") {
  RealtimeClock clock({.longest_measurement = 100us});
  CHECK_FALSE(clock.observe(start, start, start + 100us + 1ns));
  CHECK_FALSE(clock.observe(start, start, start - 1ns));
  CHECK_FALSE(clock.at(start).has_value());
  CHECK(clock.observe(start, start, start + 100us));
}

TEST_CASE("noise of the measurements is averaged") {
  for (std::size_t round = 0; round < test::count(20); ++round) {
    auto random = test::generator(round);
    RealtimeClock clock({.window = 256});
    Duration worst{};
    for (int i = 0; i < 3000; ++i) {
      const Time now = start + i * 1ms;
      REQUIRE(observe(clock, now, ahead + Duration(test::uniform_int(random, -10000, 10000))));
      if (i > 1000) worst = std::max(worst, distance(*clock.at(now), now + ahead));
    }
    // The mean of 2 * 256 uniform errors of +-10 us has a deviation of 10 us / sqrt(3 * 512), 0.26 us.
    CHECK(worst < 2us);
  }
}

TEST_CASE("a drift is followed with the lag of the window") {
  RealtimeClock clock({.window = 64});
  constexpr std::int64_t drift_ppm = 50;
  for (std::int64_t i = 0; i < 10000; ++i) {
    const Time now = start + i * 1ms;
    const Duration offset = ahead + Duration(i * 1'000'000 * drift_ppm / 1'000'000);
    REQUIRE(observe(clock, now, offset));
    const auto told = clock.at(now);
    if (i > 1000) REQUIRE(distance(*told, now + offset) <= 64 * Duration(drift_ppm) + 2ns);
  }
}

TEST_CASE("an offset of a few nanoseconds does not get lost in the integers") {
  RealtimeClock clock({.window = 1000});
  for (int i = 0; i < 2000; ++i) observe(clock, start, ahead);
  for (int i = 0; i < 20000; ++i) observe(clock, start, ahead + 3ns);
  RealtimeClock fresh({.window = 1000});
  CHECK(*clock.at(start) == start + ahead + 3ns);
}

TEST_CASE("a step ahead is followed at once, a single wild measurement never") {
  RealtimeClock clock({.step = 100ms});
  observe(clock, start, ahead);
  CHECK(*clock.at(start) == start + ahead);
  CHECK_FALSE(observe(clock, start, ahead + 5s));
  CHECK(observe(clock, start, ahead));
  CHECK_FALSE(observe(clock, start, ahead - 5s));
  CHECK(observe(clock, start, ahead));
  CHECK(*clock.at(start) == start + ahead);
  CHECK_FALSE(observe(clock, start, ahead + 5s));
  CHECK(observe(clock, start, ahead + 5s));
  CHECK(*clock.at(start) == start + ahead + 5s);
}

TEST_CASE("a clock that was set back is reached again slowly, and time goes on meanwhile") {
  RealtimeClock clock({.max_slew_ppm = 5000, .step = 100ms});
  observe(clock, start, ahead);
  Time last = *clock.at(start);
  CHECK_FALSE(observe(clock, start, ahead - 1s));
  CHECK(observe(clock, start, ahead - 1s));
  for (int i = 1; i <= 210'000; ++i) {
    const Time told = *clock.at(start + i * 1ms);
    REQUIRE(told - last >= 995us);
    REQUIRE(told - last <= 1ms);
    last = told;
    if (i == 199'000) REQUIRE(told > start + i * 1ms + ahead - 1s);
  }
  CHECK(last == start + 210'000 * 1ms + ahead - 1s);  // 1 s / 5000 ppm = 200 s
}

TEST_CASE("random measurements never turn the time back, nor move it faster than the slew and steps allow") {
  for (std::size_t round = 0; round < test::count(200); ++round) {
    auto random = test::generator(round);
    RealtimeClock clock({.window = test::uniform_int(random, 1, 100),
                         .max_slew_ppm = test::uniform_int(random, 1, 999'999),
                         .step = Duration(test::uniform_int(random, 1, 1'000'000'000))});
    Time local = start;
    std::optional<Time> last;
    for (int step = 0; step < 300; ++step) {
      local += Duration(test::uniform_int(random, 0, 2'000'000));
      if (test::uniform_int(random, 0, 2) == 0) {
        clock.observe(local, local + Duration(test::uniform_int(random, -1'000'000'000, 1'000'000'000)),
                      local + Duration(test::uniform_int(random, -100, 200'000)));
      }
      const auto told = clock.at(local);
      REQUIRE(told.has_value() >= last.has_value());
      if (told && last) REQUIRE(*told >= *last);
      last = told;
    }
  }
}

TEST_CASE("times from anywhere neither overflow nor turn the time back") {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t round = 0; round < test::count(200); ++round) {
    auto random = test::generator(round);
    const auto any = [&] { return test::uniform_int(random, lowest, highest); };
    RealtimeClock clock({.window = any(),
                         .max_slew_ppm = any(),
                         .step = Duration(any()),
                         .longest_measurement = Duration(any())});
    Time last = Time::min();
    for (int step = 0; step < 100; ++step) {
      const Time before(Duration{any()});
      clock.observe(before, Time(Duration(any())),
                    test::uniform_int(random, 0, 1) == 0 ? before : Time(Duration(any())));
      const auto told = clock.at(Time(Duration(any())));
      if (!told) continue;
      REQUIRE(*told >= last);
      last = *told;
    }
  }
}

TEST_CASE("both sides of a clock keep the rules of the loop") {
  RealtimeClock clock;
  test::RtGuard guard;
  for (int i = 0; i < 100; ++i) {
    observe(clock, start + i * 1ms, ahead);
    static_cast<void>(clock.at(start + i * 1ms));
  }
  CHECK(guard.report() == "");
}

TEST_CASE("between threads the time is always that of some measurement, and never turns back") {
  RealtimeClock clock({.window = 1, .step = 1ns});
  std::atomic<bool> over{false};
  std::thread measuring([&] {
    for (int i = 0; i < 20000; ++i) {
      observe(clock, start, ahead + i * 1us);
      observe(clock, start, ahead + i * 1us);
    }
    over = true;
  });
  std::uint64_t wrong = 0;
  Time last{};
  const auto look = [&] {
    const auto told = clock.at(start);
    if (!told) return;
    if (*told < last || (*told - start - ahead) % 1us != 0ns) ++wrong;
    last = *told;
  };
  while (!over.load()) look();
  measuring.join();
  look();
  CHECK(wrong == 0);
  CHECK(last == start + ahead + 19999us);
}
