#include "takt/rt/tracer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "support/spans.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/rt/periodic_loop.hpp"

using namespace takt;
using namespace takt::rt;
using namespace std::chrono_literals;

namespace {

const TextId outer_step = intern("outer");
const TextId inner_step = intern("inner");

/// A cycle with a random tree of steps.
void work(Tracer* tracer, std::mt19937_64& random, int depth) {
  const TraceScope span(tracer, depth % 2 == 0 ? outer_step : inner_step);
  const auto children = depth < 4 ? test::uniform_int(random, 0, 3) : 0;
  for (std::int64_t i = 0; i < children; ++i) work(tracer, random, depth + 1);
}

/// Runs a loop over a manual clock; `each` gets the tick.
template <class Each>
void run_loop(Tracer& tracer, std::uint64_t cycles, Each each) {
  ManualClock clock;
  auto loop = PeriodicLoop<ManualClock>::create(clock, {.period = 1ms, .tracer = &tracer});
  REQUIRE(loop);
  loop->run([&](const Tick& tick) noexcept {
    each(tick, clock);
    return tick.index + 1 == cycles ? Verdict::stop : Verdict::proceed;
  });
}

}  // namespace

TEST_CASE("equal texts have one number, and a number gives its text") {
  CHECK(intern("a text of the test") == intern(std::string("a text of the test")));
  CHECK(intern("a text of the test") != intern("another text of the test"));
  CHECK(text_of(intern("a text of the test")) == "a text of the test");
  CHECK(text_of(TextId{}) == "");
  CHECK(text_of(TextId{0xffffffff}) == "");
  CHECK(intern("sleep") == sleep_text);
  CHECK(intern("cycle") == cycle_text);
  CHECK(text_of(overrun_text) == "overrun");
}

TEST_CASE("texts that several threads intern at once have one number each") {
  std::vector<std::vector<TextId>> seen(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : seen) {
      threads.emplace_back([&mine] {
        for (int i = 0; i < 500; ++i) mine.push_back(intern("text " + std::to_string(i)));
      });
    }
  }
  for (const auto& mine : seen) CHECK(mine == seen[0]);
  CHECK(text_of(seen[0][321]) == "text 321");
}

TEST_CASE("each cycle has a span of sleep, then one that holds its steps, and no two spans overlap") {
  auto random = test::generator();
  for (std::size_t run = 0; run < test::count(20); ++run) {
    Tracer tracer;
    tracer.switch_on();
    const auto cycles = static_cast<std::uint64_t>(test::uniform_int(random, 1, 8));
    run_loop(tracer, cycles, [&](const Tick& tick, ManualClock&) { work(tick.tracer, random, 0); });
    const auto spans = test::take_all(tracer);
    CHECK(test::overlap_in(spans) == "");
    const auto whole = test::named(spans, "cycle");
    const auto sleep = test::named(spans, "sleep");
    REQUIRE(whole.size() == cycles);
    REQUIRE(sleep.size() == cycles);
    for (std::size_t i = 0; i < cycles; ++i) {
      CHECK(sleep[i].end <= whole[i].begin);
      if (i > 0) CHECK(whole[i - 1].end <= sleep[i].begin);
      CHECK(test::names_within(spans, whole[i]).front() == "outer");
    }
    const auto steps = spans.size() - 2 * cycles;
    const auto inside = std::ranges::count_if(spans, [&](const TraceSpan& span) {
      return span.name != cycle_text &&
             std::ranges::any_of(whole, [&](const TraceSpan& one) { return test::lies_in(span, one); });
    });
    CHECK(static_cast<std::size_t>(inside) == steps);
    CHECK(tracer.dropped() == 0);
  }
}

TEST_CASE("the check of nesting sees a span that reaches out of another one") {
  CHECK(test::overlap_in({{10, 20, outer_step}, {12, 18, inner_step}, {20, 30, outer_step}}) == "");
  CHECK(test::overlap_in({{10, 20, outer_step}, {12, 21, inner_step}}) == "outer and inner");
}

TEST_CASE("a tracer that is off records nothing, and a switch takes effect between two cycles") {
  Tracer tracer;
  auto random = test::generator(1);
  run_loop(tracer, 9, [&](const Tick& tick, ManualClock&) {
    work(tick.tracer, random, 0);
    if (tick.index == 2) tracer.switch_on();
    if (tick.index == 5) tracer.switch_off();
    CHECK((tick.tracer != nullptr) == (tick.index >= 3 && tick.index <= 5));
    work(tick.tracer, random, 0);
  });
  const auto spans = test::take_all(tracer);
  CHECK(test::named(spans, "cycle").size() == 3);
  CHECK(test::named(spans, "sleep").size() == 3);
  Tracer silent;
  run_loop(silent, 9, [&](const Tick& tick, ManualClock&) { work(tick.tracer, random, 0); });
  CHECK(test::take_all(silent).empty());
}

TEST_CASE("an overrun is an instant with the number of missed periods") {
  Tracer tracer;
  tracer.switch_on();
  run_loop(tracer, 6, [](const Tick& tick, ManualClock& clock) {
    if (tick.index == 2) clock.advance(3500us);
  });
  const auto overruns = test::named(test::take_all(tracer), "overrun");
  REQUIRE(overruns.size() == 1);
  CHECK(overruns[0].begin == overruns[0].end);
  CHECK(overruns[0].value == 3);
}

TEST_CASE("spans that do not fit are counted, and those that did fit are whole") {
  Tracer tracer(8);
  tracer.switch_on();
  for (std::uint32_t i = 0; i < 20; ++i) tracer.mark(inner_step, i);
  CHECK(tracer.dropped() == 12);
  const auto kept = test::take_all(tracer);
  REQUIRE(kept.size() == 8);
  for (std::uint32_t i = 0; i < 8; ++i) CHECK(kept[i].value == i);
  tracer.mark(inner_step, 20);
  CHECK(tracer.dropped() == 12);
  CHECK(test::take_all(tracer).size() == 1);
}

TEST_CASE("a tracer is real-time safe, on and off, also when its ring is full") {
  Tracer tracer(64);
  test::RtGuard guard;
  for (int i = 0; i < 300; ++i) {
    if (i == 100) tracer.switch_on();
    const TraceScope outer(tracer.in_this_cycle(), outer_step);
    const TraceScope inner(tracer.in_this_cycle(), inner_step);
  }
  CHECK(guard.report() == "");
  CHECK(tracer.dropped() == 400 - 64);
}

TEST_CASE("times of ticks keep their order, and are those of the steady clock") {
  const TickAnchor first = TickAnchor::now();
  std::this_thread::sleep_for(20ms);
  const TickScale scale(first, TickAnchor::now());
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    const auto ticks =
        first.ticks + static_cast<std::uint64_t>(test::uniform_int(random, -1'000'000'000, 1'000'000'000));
    const auto later = ticks + static_cast<std::uint64_t>(test::uniform_int(random, 0, 1000));
    CHECK(scale.time_of(ticks) <= scale.time_of(later));
  }
  // A reading lies between two of the clock, but for the error of the scale.
  const Time before = TickAnchor::now().time;
  const Time now = scale.time_of(ticks_now());
  const Time after = TickAnchor::now().time;
  CHECK(before - 100us <= now);
  CHECK(now <= after + 100us);
}

TEST_CASE("a scale of anchors that do not differ takes a tick for a nanosecond") {
  const TickAnchor anchor{1000, Time(5s)};
  CHECK(TickScale(anchor, anchor).time_of(1700) == Time(5s + 700ns));
  CHECK(TickScale(anchor, {900, Time(6s)}).time_of(300) == Time(5s - 700ns));
}
