// Tests the replay of a log to buses on a manual clock. Each frame must be sent at its time, and each frame
// that is not sent must be counted by its reason.
#include "takt/can/replay.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "takt/core/manual_clock.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::candump;
using namespace std::chrono_literals;

namespace {

struct TextSource {
  std::optional<LineResult<LogEntry>> next() {
    if (auto line = reader.next(text)) return line;
    return reader.finish();
  }
  std::string_view text;
  LogReader reader{};
};

/// Records each frame and its time.
struct NotingBus {
  std::size_t send(std::span<const Frame> frames) noexcept {
    if (full) return 0;
    for (const Frame& frame : frames) sent.emplace_back(clock->now(), frame.id);
    return frames.size();
  }
  std::size_t receive(std::span<Frame>) noexcept { return 0; }

  ManualClock* clock = nullptr;
  bool full = false;
  std::vector<std::pair<Time, std::uint32_t>> sent{};
};

constexpr std::string_view two_buses =
    "(100.000000) can0 001#00\n"
    "(100.010000) can1 002#00\n"
    "(100.005000) can0 003#00\n"
    "nonsense\n"
    "(100.020000) can2 004#00\n"
    "(100.020000) can0 20000040#0000000000000000\n"
    "(101.000000) can0 005#00\n";

struct Rig {
  explicit Rig(std::string_view text = two_buses) : source{text} {}

  ManualClock clock{time_from_nanoseconds(7'000'000'000)};
  NotingBus bus0{&clock};
  NotingBus bus1{&clock};
  TextSource source;
  std::array<Route<NotingBus>, 2> routes = {Route<NotingBus>{*InterfaceName::create("can0"), &bus0},
                                            Route<NotingBus>{*InterfaceName::create("can1"), &bus1}};
  Time start = clock.now();

  auto replay(double speed = 1) {
    return make_replay(source, std::span<const Route<NotingBus>>(routes), clock, speed);
  }
};

}  // namespace

TEST_CASE("every frame goes to the bus of its interface at its recorded time") {
  Rig rig;
  auto replay = rig.replay();
  replay->run();
  using Sent = std::vector<std::pair<Time, std::uint32_t>>;
  CHECK(rig.bus0.sent == Sent{{rig.start, 1}, {rig.start + 10ms, 3}, {rig.start + 1s, 5}});
  CHECK(rig.bus1.sent == Sent{{rig.start + 10ms, 2}});
  CHECK(replay->counters() ==
        ReplayCounters{.sent = 4, .unrouted = 1, .error_frames = 1, .backwards = 1, .bad_lines = 1});
  CHECK(replay->first_bad_line() == LineError{Errc::bad_line, 1, 4});
}

TEST_CASE("a replay goes faster and slower") {
  for (const double speed : {4.0, 0.5}) {
    Rig rig;
    rig.replay(speed)->run();
    CHECK(rig.bus0.sent.back().first == rig.start + from_seconds(1 / speed));
    CHECK(rig.bus1.sent.back().first == rig.start + from_seconds(0.010 / speed));
  }
  Rig rig;
  for (const double speed : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    CHECK(rig.replay(speed).error() == Errc::out_of_range);
  }
}

TEST_CASE("a loop that steps a replay sends what is due and learns when the next is") {
  Rig rig;
  auto replay = rig.replay();
  CHECK(replay->step() == rig.start + 10ms);
  CHECK(replay->step() == rig.start + 10ms);
  CHECK(rig.bus0.sent.size() == 1);
  rig.clock.advance(500ms);  // a delayed loop sends the rest at once
  CHECK(replay->step() == rig.start + 1s);
  CHECK(rig.bus0.sent.size() == 2);
  rig.bus0.full = true;
  rig.clock.advance(500ms);
  CHECK(!replay->step());
  CHECK(!replay->step());
  CHECK(replay->counters().no_room == 1);
}

TEST_CASE("stamps from end to end of the range overflow nothing") {
  Rig rig("(0.0) can0 001#\n(9223372036.854775807) can0 002#\n");
  auto replay = rig.replay(1e-300);
  CHECK(replay->step() == Time::max());
  Rig fast("(0.0) can0 001#\n(9223372036.854775807) can0 002#\n");
  fast.replay(1e300)->run();
  CHECK(fast.bus0.sent.size() == 2);
}
