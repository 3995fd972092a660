// Telemetry: blocks, freshness, lost and late frames, restarts, and the reason not to drive.
#include "takt/vehicle/telemetry.hpp"

#include <doctest/doctest.h>

#include <array>

#include "support/random.hpp"
#include "vehicle/status_frames.hpp"

using namespace takt;
using namespace takt::vehicle;
using namespace std::chrono_literals;
using test::encoded;
using test::status_frame;

namespace {

Telemetry made() { return Telemetry::make({}).value(); }

Time at(std::int64_t ms) { return time_from_nanoseconds(ms * 1'000'000); }

/// A frame sent and received at this many ms.
Status hear(Telemetry& telemetry, std::int64_t ms, StatusFrame frame = status_frame(0)) {
  frame.stamp = static_cast<std::uint32_t>(ms);
  return telemetry.receive(encoded(frame), at(ms));
}

}  // namespace

TEST_CASE("before the first frame the state is unknown, and the vehicle may not be driven") {
  const auto telemetry = made();
  CHECK(telemetry.age(at(5)) == Duration::max());
  CHECK(telemetry.age(System::battery, at(5)) == Duration::max());
  CHECK(telemetry.state(System::battery) == SystemState::unknown);
  CHECK_FALSE(telemetry.fresh_traction(at(5)));
  CHECK(telemetry.check(at(5)).cause == StopCause::telemetry_silent);
}

TEST_CASE("the content of a frame is known, grows older, and becomes stale") {
  auto telemetry = made();
  auto frame = status_frame(0);
  CHECK(frame.set(Traction{.state = 2, .left_speed = 7, .right_speed = -8, .odometer = 1 << 20}));
  CHECK(hear(telemetry, 1000, frame));
  CHECK(telemetry.check(at(1000)) == StopReason{});
  CHECK(telemetry.fresh_traction(at(1100))->right_speed == -8);
  CHECK(telemetry.fresh_steering(at(1100)));
  CHECK(telemetry.fresh_battery(at(1100)));
  CHECK(telemetry.age(System::hydraulics, at(1100)) == 100ms);
  CHECK_FALSE(telemetry.fresh_traction(at(1100) + 1ns));
  CHECK_FALSE(telemetry.fresh_steering(at(1100) + 1ns));
  CHECK_FALSE(telemetry.fresh_battery(at(1100) + 1ns));
  CHECK(telemetry.check(at(1100) + 1ns).cause == StopCause::telemetry_silent);
  CHECK(telemetry.last().traction()->left_speed == 7);
  CHECK(telemetry.state(System::traction) == SystemState::running);
}

TEST_CASE("each system has an age of its own") {
  auto telemetry = made();
  hear(telemetry, 0);
  StatusFrame traction_only;
  for (int ms = 10; ms <= 100; ms += 10) {
    CHECK(traction_only.set(Traction{.state = 2, .speed = ms}));
    CHECK(hear(telemetry, ms, traction_only));
  }
  CHECK(telemetry.age(System::steering, at(100)) == 100ms);
  CHECK(telemetry.age(System::traction, at(100)) == 0ms);
  CHECK(telemetry.check(at(100)) == StopReason{});
  CHECK(telemetry.check(at(101)) == StopReason{StopCause::system_stale, System::communication});
  CHECK(telemetry.fresh_traction(at(101))->speed == 100);
  CHECK(telemetry.last().present() == furbot_systems);
}

TEST_CASE("only a vehicle all of whose required systems run may be driven") {
  for (const auto state :
       {SystemState::cold, SystemState::init, SystemState::halted, static_cast<SystemState>(77)}) {
    auto telemetry = made();
    auto frame = status_frame(0);
    CHECK(frame.set(System::rear_fork, state));
    hear(telemetry, 0, frame);
    CHECK(telemetry.check(at(0)) == StopReason{StopCause::system_not_running, System::rear_fork});
  }
  auto telemetry = Telemetry::make({.required = {System::traction, System::steering}}).value();
  StatusFrame frame;
  CHECK(frame.set(System::traction, SystemState::running));
  hear(telemetry, 0, frame);
  CHECK(telemetry.check(at(0)) == StopReason{StopCause::system_stale, System::steering});
  CHECK(frame.set(System::steering, SystemState::running));
  CHECK(frame.set(System::rear_fork, SystemState::halted));
  hear(telemetry, 10, frame);
  CHECK(telemetry.check(at(10)) == StopReason{});
}

TEST_CASE("a frame that was held back is not fresh when it comes") {
  auto telemetry = made();
  hear(telemetry, 0);
  CHECK(telemetry.receive(encoded(status_frame(10)), at(500)));
  CHECK(telemetry.age(at(500)) > 489ms);
  CHECK(telemetry.check(at(500)).cause == StopCause::telemetry_silent);
  CHECK_FALSE(telemetry.fresh_traction(at(500)));
}

TEST_CASE("late, repeated, impossible and malformed frames change only their counters") {
  auto telemetry = made();
  hear(telemetry, 1000, status_frame(0, 1));
  hear(telemetry, 1040, status_frame(0, 2));
  CHECK(telemetry.counters().lost == 3);
  const auto send = [&](std::uint32_t stamp) {
    return telemetry.receive(encoded(status_frame(stamp, 3)), at(1041));
  };
  CHECK(send(1020).error() == Errc::late);
  CHECK(send(1020).error() == Errc::duplicate);
  CHECK(send(1040).error() == Errc::duplicate);
  CHECK(send(5000).error() == Errc::impossible_stamp);
  auto bytes = encoded(status_frame(1041, 3));
  bytes.pop_back();
  CHECK(telemetry.receive(bytes, at(1041)).error() == Errc::truncated_tlv);
  CHECK(telemetry.receive({}, at(1041)).error() == Errc::too_short);
  CHECK(telemetry.fresh_traction(at(1041))->left_speed == 2);
  CHECK(telemetry.age(at(1041)) == 1ms);
  CHECK(
      telemetry.counters() ==
      TelemetryCounters{.taken = 2, .lost = 2, .late = 1, .duplicated = 2, .impossible = 1, .malformed = 2});
}

TEST_CASE("unknown systems are counted") {
  auto telemetry = made();
  auto bytes = encoded(status_frame(0));
  bytes[8] = 14;
  bytes.insert(bytes.end(), {200, 1, 9, 201, 0});
  CHECK(telemetry.receive(bytes, at(0)));
  CHECK(telemetry.check(at(0)) == StopReason{});
  CHECK(telemetry.counters().unknown_blocks == 2);
}

TEST_CASE("the restart of a vehicle clears its earlier state") {
  auto telemetry = made();
  hear(telemetry, 50'000);
  StatusFrame frame;
  CHECK(frame.set(System::traction, SystemState::running));
  CHECK(telemetry.receive(encoded(frame), at(50'101)));
  CHECK(telemetry.counters().restarts == 1);
  CHECK(telemetry.fresh_traction(at(50'101)));
  CHECK(telemetry.last().present() == SystemSet{System::traction});
  CHECK(telemetry.check(at(50'101)) == StopReason{StopCause::system_stale, System::communication});
}

TEST_CASE("over a bad line, no stale value counts as fresh, and every frame is counted once") {
  auto random = test::generator(703);
  for (std::size_t i = 0; i < test::count(20, 1000); ++i) {
    auto telemetry = made();
    struct Flight {
      std::int64_t sent, arrives;
    };
    std::vector<Flight> flights;
    std::vector<std::int64_t> lost;
    for (std::int64_t sent = 0; sent < 5000; sent += 10) {
      if (sent > 100 && test::uniform_int(random, 0, 4) == 0) {
        lost.push_back(sent);
        continue;
      }
      flights.push_back({sent, sent + 50 + (sent < 100 ? 0 : test::uniform_int(random, 0, 40))});
      if (test::uniform_int(random, 0, 9) == 0) flights.push_back({sent, sent + 100});
    }
    std::stable_sort(flights.begin(), flights.end(), [](auto a, auto b) { return a.arrives < b.arrives; });
    std::int64_t newest = -1;
    for (const Flight& f : flights) {
      const auto stamp = static_cast<std::uint32_t>(f.sent);
      const Status taken =
          telemetry.receive(encoded(status_frame(stamp, static_cast<std::int32_t>(f.sent))), at(f.arrives));
      CHECK(taken.has_value() == (f.sent > newest));
      newest = std::max(newest, f.sent);
      // All frames had a delay of at least 50 ms, which is not visible. The drift adds a little.
      const Duration forgotten = f.arrives * 1ms / StampOrder::drift_divisor + 1ms;
      CHECK(telemetry.age(at(f.arrives)) <= (f.arrives - 50 - newest) * 1ms);
      CHECK(telemetry.age(at(f.arrives)) >= (f.arrives - 50 - newest) * 1ms - forgotten);
      CHECK(telemetry.last().traction()->left_speed == newest);
    }
    const auto& n = telemetry.counters();
    CHECK(n.taken + n.late + n.duplicated == flights.size());
    CHECK(n.impossible + n.malformed + n.restarts == 0);
    // All, except those behind the last received one.
    CHECK(n.lost ==
          static_cast<std::uint64_t>(std::ranges::count_if(lost, [&](auto sent) { return sent < newest; })));
  }
}

TEST_CASE("a configuration that cannot be kept is refused") {
  CHECK(Telemetry::make({.freshness = 0ns}).error() == Errc::out_of_range);
  CHECK(Telemetry::make({.period = 0ns}).error() == Errc::out_of_range);
  CHECK(Telemetry::make({.required = {static_cast<System>(12)}}).error() == Errc::unknown_system);
  static constexpr std::array state{SystemField{"state", 0, FieldType::u8}};
  static constexpr std::array large{SystemLayout{static_cast<System>(20), "a", 120, true, state},
                                    SystemLayout{static_cast<System>(21), "b", 121, true, state}};
  static constexpr Layouts layouts = *Layouts::make(large);
  CHECK(Telemetry::make({.required = {}, .layouts = &layouts}).error() == Errc::bad_layout);
}

TEST_CASE("a frame that comes again and again, long after, takes nothing from what is lost") {
  auto telemetry = made();
  for (std::uint32_t ms = 0; ms < 2000; ms += 20)
    CHECK(telemetry.receive(encoded(status_frame(ms, 0)), at(ms)));
  const auto lost = telemetry.counters().lost;
  CHECK(lost == 99);
  for (int i = 0; i < 50; ++i) CHECK_FALSE(telemetry.receive(encoded(status_frame(1000, 0)), at(2000)));
  CHECK(telemetry.counters().lost == lost);
}

TEST_CASE("a late frame between two that were no gap was not lost, and what is forgotten begins anew once") {
  auto telemetry = Telemetry::make({}).value();
  const auto receive = [&](std::uint32_t stamp) {
    return telemetry.receive(encoded(status_frame(stamp)), time_from_nanoseconds(stamp * 1'000'000LL));
  };
  CHECK(receive(1000));
  CHECK(receive(1010));
  CHECK(receive(1005).error() == Errc::late);  // the sender sends faster than its period
  CHECK(telemetry.counters().lost == 0);
  telemetry.forget();
  CHECK(telemetry.age(time_from_nanoseconds(1'010'000'000)) == Duration::max());
  CHECK(receive(1010));
  CHECK(telemetry.counters().restarts == 1);
}
