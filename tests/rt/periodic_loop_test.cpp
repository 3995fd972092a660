#include "takt/rt/periodic_loop.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "support/random.hpp"
#include "takt/core/manual_clock.hpp"

using namespace takt;
using namespace takt::rt;

namespace {

constexpr Duration ms = std::chrono::milliseconds(1);

PeriodicConfig every_millisecond(OverrunPolicy policy = OverrunPolicy::skip) {
  PeriodicConfig config;
  config.overrun = policy;
  return config;
}

/// The ticks of a loop whose cycles take these times.
std::vector<Tick> ticks(const PeriodicConfig& config, const std::vector<Duration>& busy,
                        Time start = Time(100 * ms)) {
  ManualClock clock(start);
  auto loop = PeriodicLoop<ManualClock>::create(clock, config);
  REQUIRE(loop);
  std::vector<Tick> seen;
  loop->run([&](const Tick& tick) noexcept {
    seen.push_back(tick);
    clock.advance(busy[tick.index]);
    return seen.size() == busy.size() ? Verdict::stop : Verdict::proceed;
  });
  CHECK(loop->statistics().cycles == busy.size());
  CHECK(loop->statistics().lateness.count() == busy.size());
  CHECK(loop->statistics().busy.count() == busy.size());
  return seen;
}

}  // namespace

TEST_CASE("a period that is not positive is refused") {
  ManualClock clock;
  PeriodicConfig config;
  for (const Duration period : {Duration(0), Duration(-1), Duration::min()}) {
    config.period = period;
    CHECK(PeriodicLoop<ManualClock>::create(clock, config).error() == Errc::period_not_positive);
  }
}

TEST_CASE("over a manual clock the beat is exact") {
  const auto seen = ticks(every_millisecond(), std::vector<Duration>(1000, Duration(0)));
  for (std::size_t i = 0; i < seen.size(); ++i) {
    REQUIRE(seen[i].index == i);
    REQUIRE(seen[i].due == Time(100 * ms + static_cast<std::int64_t>(i) * ms));
    REQUIRE(seen[i].woke == seen[i].due);
    REQUIRE(seen[i].lateness == Duration(0));
    REQUIRE(seen[i].busy == Duration(0));
    REQUIRE(seen[i].overruns == 0);
  }
}

TEST_CASE("the first call is due at the start asked for, or at once when that has passed") {
  auto config = every_millisecond();
  CHECK(ticks(config, {Duration(0)}).front().due == Time(100 * ms));
  config.start = Time(107 * ms);
  CHECK(ticks(config, {Duration(0)}).front().due == Time(107 * ms));
  config.start = Time(99 * ms);
  const auto late = ticks(config, {Duration(0)});
  CHECK(late.front().due == Time(100 * ms));
  CHECK(late.front().lateness == Duration(0));
}

TEST_CASE("a cycle gets the duration of the one before it") {
  const auto seen = ticks(every_millisecond(), {Duration(300), Duration(500), Duration(0)});
  CHECK(seen[0].busy == Duration(0));
  CHECK(seen[1].busy == Duration(300));
  CHECK(seen[2].busy == Duration(500));
}

TEST_CASE("skip: a late loop goes on at the next multiple ahead and counts what it missed") {
  const auto seen = ticks(every_millisecond(), {ms, 2 * ms, 5 * ms / 2, Duration(0)});
  CHECK(seen[1].due == Time(101 * ms));  // exactly on time is not late
  CHECK(seen[1].overruns == 0);
  CHECK(seen[2].due == Time(103 * ms));  // ended at 103: 102 was missed, 103 is not
  CHECK(seen[2].overruns == 1);
  CHECK(seen[3].due == Time(106 * ms));  // ended at 105.5: 104 and 105 were missed
  CHECK(seen[3].overruns == 3);
  CHECK(seen[3].index == 3);
  CHECK(seen[3].lateness == Duration(0));
}

TEST_CASE("a cycle gets the number of periods without one, under every policy") {
  const std::vector<Duration> busy{ms, 3 * ms, ms / 10, 11 * ms / 2, Duration(0), Duration(0)};
  const auto missed = [&](OverrunPolicy policy) {
    std::vector<std::uint64_t> counts;
    for (const Tick& tick : ticks(every_millisecond(policy), busy)) counts.push_back(tick.missed);
    return counts;
  };
  CHECK(missed(OverrunPolicy::skip) == std::vector<std::uint64_t>{0, 0, 2, 0, 5, 0});
  // The late cycles that run at once miss nothing more. One that was still due is skipped with the five.
  CHECK(missed(OverrunPolicy::catch_up) == std::vector<std::uint64_t>{0, 0, 2, 0, 6, 0});
}

TEST_CASE("a clock that oversleeps counts as periods missed in the very cycle that it delays") {
  struct Oversleeper {
    ManualClock clock;
    [[nodiscard]] Time now() const noexcept { return clock.now(); }
    void sleep_until(Time time) noexcept {
      const bool over = time >= Time(3 * ms) && clock.now() < Time(3 * ms);
      clock.sleep_until(over ? time + 7 * ms : time);
    }
  } clock;
  auto loop = PeriodicLoop<Oversleeper>::create(clock, every_millisecond());
  REQUIRE(loop);
  std::vector<Tick> seen;
  loop->run([&](const Tick& tick) noexcept {
    seen.push_back(tick);
    return seen.size() == 6 ? Verdict::stop : Verdict::proceed;
  });
  CHECK(seen[3].due == Time(3 * ms));
  CHECK(seen[3].lateness == 7 * ms);
  CHECK(seen[3].missed == 7);
  CHECK(seen[3].overruns == 0);
  CHECK(seen[4].due == Time(10 * ms));  // exactly now: it runs
  CHECK(seen[4].missed == 6);           // missed in nominal time
  CHECK(seen[4].overruns == 6);
  CHECK(seen[5].missed == 0);
}

TEST_CASE("catch up: late cycles run back to back, unless too many are due") {
  auto config = every_millisecond(OverrunPolicy::catch_up);
  config.catch_up_limit = 3;
  const auto seen =
      ticks(config, {7 * ms / 2, Duration(0), Duration(0), Duration(0), 11 * ms / 2, Duration(0)});
  CHECK(seen[1].due == Time(101 * ms));  // woken at 103.5: 101, 102 and 103 are due
  CHECK(seen[1].lateness == 5 * ms / 2);
  CHECK(seen[3].due == Time(103 * ms));
  CHECK(seen[4].due == Time(104 * ms));
  CHECK(seen[4].lateness == Duration(0));
  CHECK(seen[4].overruns == 0);
  CHECK(seen[5].due == Time(110 * ms));  // ended at 109.5 with five due
  CHECK(seen[5].overruns == 5);
}

TEST_CASE("whatever the cycles take: nominal time keeps its raster, and adds up") {
  for (std::size_t round = 0; round < test::count(200); ++round) {
    CAPTURE(round);
    auto random = test::generator(round);
    auto config = every_millisecond(round % 2 == 0 ? OverrunPolicy::skip : OverrunPolicy::catch_up);
    std::vector<Duration> busy;
    for (int i = 0; i < 200; ++i) {
      busy.emplace_back(
          test::uniform_int(random, 0, test::uniform_int(random, 0, 9) == 0 ? 9'000'000 : 1'000'000));
    }
    const auto seen = ticks(config, busy);
    for (std::size_t i = 0; i < seen.size(); ++i) {
      REQUIRE(seen[i].due == seen[0].due + static_cast<std::int64_t>(i + seen[i].overruns) * ms);
      REQUIRE(seen[i].lateness >= Duration(0));
      if (config.overrun == OverrunPolicy::skip) REQUIRE(seen[i].lateness == Duration(0));
      if (config.overrun == OverrunPolicy::catch_up) REQUIRE(seen[i].lateness <= config.catch_up_limit * ms);
    }
  }
}

TEST_CASE("a second run starts afresh, statistics go on") {
  ManualClock clock;
  auto loop = PeriodicLoop<ManualClock>::create(clock, every_millisecond());
  REQUIRE(loop);
  const auto stop_at_third = [](const Tick& tick) noexcept {
    return tick.index == 2 ? Verdict::stop : Verdict::proceed;
  };
  loop->run(stop_at_third);
  clock.advance(100 * ms);
  loop->run([&](const Tick& tick) noexcept {
    CHECK(tick.missed == 0);  // the time between two runs does not count
    return stop_at_third(tick);
  });
  CHECK(loop->statistics().cycles == 6);
  CHECK(loop->statistics().overruns == 0);
}
