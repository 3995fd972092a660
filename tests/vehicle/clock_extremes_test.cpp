// Clocks with any start, and impossible times. The behaviour is the same as with any other clock, and no
// arithmetic overflows.
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "secure/secure_pair.hpp"
#include "support/random.hpp"
#include "takt/vehicle/client.hpp"
#include "takt/vehicle/vehicle_drive.hpp"
#include "vehicle/status_frames.hpp"

using namespace takt;
using namespace takt::vehicle;
using namespace std::chrono_literals;
using test::Bytes;
using test::encoded;
using test::payload_of;
using test::SecurePair;
using test::status_frame;

namespace {

/// Whole turns of the stamps. With clocks that differ by them, the same frames are sent.
constexpr Duration turn = (std::int64_t{1} << 32) * 1ms;
constexpr std::int64_t most_turns = time_reach / turn - 1;

ClientConfiguration configuration() {
  ClientConfiguration c;
  c.units = provisional_units;
  c.payload = ByteOrder::big;
  return c;
}

VehicleDriveConfiguration drive_configuration() {
  VehicleDriveConfiguration c;
  c.client = configuration();
  c.limits = {.forward = 2,
              .backward = 1,
              .left = 1,
              .rotation = 1,
              .acceleration = 1,
              .braking = 2,
              .rotational_acceleration = 2};
  c.law = {.wheelbase = 1.6, .max_steering = 0.5, .steering_rate = 0.6};
  c.law.throttle.proportional = 0.4;
  c.law.brake.proportional = 0.5;
  c.wheel_radius = 0.3;
  c.track = 1.285;
  return c;
}

/// All frames of a drive from `begin` on: it starts, drives, stops and recovers.
Bytes sent_from(Time begin) {
  auto drive =
      VehicleDrive<secure::PlainChannel>::make(drive_configuration(), secure::PlainChannel{}).value();
  Bytes all;
  std::array<std::uint8_t, control_frame_bytes> out;
  for (std::int64_t ms = 0; ms < 4000; ms += 10) {
    const Time now = begin + ms * 1ms;
    auto frame = status_frame(static_cast<std::uint32_t>(ms), ms < 1000 ? 50 : 0);
    (void)frame.set(System::traction, "speed", ms < 1000 ? 157 : 0);
    (void)drive.receive(encoded(frame), now);
    if (ms % 20 == 0) (void)drive.drive({1, 0, 0.2}, now);
    if (ms == 1000) drive.client().stop(StopCategory::category_1, now);
    if (ms == 3000) CHECK(drive.client().recover(now));
    const std::size_t size = drive.poll(now, out).value();
    all.insert(all.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
  }
  CHECK(drive.client().state() == SupervisorState::driving);
  CHECK(drive.client().drive_counters().stops == 1);
  CHECK(drive.estimate().stamp == begin + 3990ms);
  return all;
}

/// Mostly a time after `before`, sometimes any number.
Time any_time(std::mt19937_64& random, Time before) {
  constexpr std::array extremes{Time::min(), Time::max(), Time{}, Time(-time_reach), Time(time_reach)};
  switch (test::uniform_int(random, 0, 15)) {
    case 0:
      return extremes[random() % extremes.size()];
    case 1:
      return time_from_nanoseconds(static_cast<std::int64_t>(random()));
    default:
      return within_reach(before) + Duration(test::uniform_int(random, 0, 20'000'000));
  }
}

}  // namespace

TEST_CASE("a vehicle is driven the same for any epoch of the clock") {
  const Bytes usual = sent_from(Time{});
  CHECK(usual.size() == 400 * control_frame_bytes);
  for (const std::int64_t turns : {-most_turns, std::int64_t{-1}, std::int64_t{1}, most_turns}) {
    CAPTURE(turns);
    CHECK(sent_from(Time(turns * turn)) == usual);
  }
}

TEST_CASE("a session works for any epochs of both clocks, and old frames are old") {
  const std::array begins{Time(-time_reach), Time(-most_turns * turn), Time{}, Time(time_reach) - 1h};
  for (const Time here : begins) {
    for (const Time there : begins) {
      SecurePair pair;
      pair.now = here;
      pair.vehicle_clock = there - here;
      pair.connect();
      CHECK(pair.to_vehicle(pair.command({1})));
      CHECK(pair.to_commander(pair.telemetry({2})));
      const Bytes command = pair.command({3});
      const Bytes telemetry = pair.telemetry({4});
      pair.now += 301ms;
      CHECK(pair.to_vehicle(command).error() == secure::Errc::too_old);
      CHECK(pair.to_commander(telemetry).error() == secure::Errc::too_old);
    }
  }
}

TEST_CASE("a frame due at the end of a clock's range is due after it, not before") {
  auto client = VehicleClient<secure::PlainChannel>::make(configuration(), secure::PlainChannel{}).value();
  std::array<std::uint8_t, 256> out;
  (void)client.receive(encoded(status_frame(5)), Time::max());
  CHECK(client.poll(Time::max(), out).value() > 0);
  CHECK(client.poll(Time::max(), out).value() == 0);
  CHECK(client.next_send() > Time(time_reach));
  auto commander = SecurePair::new_commander(1);
  CHECK(commander.poll_handshake(Time::max(), out).value() > 0);
  CHECK(commander.next_handshake() > Time(time_reach));
}

TEST_CASE("no times make a stopped vehicle continue, or an end accept a frame twice") {
  auto random = test::generator(31);
  std::size_t believed = 0;
  for (std::size_t run = 0; run < test::count(50); ++run) {
    auto drive =
        VehicleDrive<secure::PlainChannel>::make(drive_configuration(), secure::PlainChannel{}).value();
    SecurePair pair;
    std::array<std::uint8_t, control_frame_bytes> out;
    Time now{}, vehicle_now{};
    bool stopped = false;
    for (std::uint32_t i = 0; i < 300; ++i) {
      now = any_time(random, now);
      vehicle_now = any_time(random, vehicle_now);
      (void)drive.receive(encoded(status_frame(10 * i)), now);
      (void)drive.drive({1, 0, 0}, now);
      if (i == 200) drive.client().stop(StopCategory::category_1, now);
      stopped = stopped || drive.client().category();
      for (int frames = 0; drive.poll(now, out).value() > 0; ++frames) {
        CHECK(frames < 2);
        const auto frame = decode_control(out, ByteOrder::big).value();
        CHECK((!stopped || frame.throttle == 0));
      }
      const auto pass = [&](auto& from, Time from_now, auto& to, Time to_now, Bytes datagram,
                            const Result<std::size_t>& size) {
        CHECK(size.has_value() == (from.established(from_now) || datagram.empty()));
        if (!size || *size == 0) return;
        datagram.resize(*size);
        if (!to.open(datagram, to_now)) return;
        ++believed;
        CHECK_FALSE(to.open(datagram, to_now));
      };
      Bytes datagram(256);
      const auto hello = pair.commander.poll_handshake(now, datagram);
      REQUIRE(hello);
      if (*hello > 0) (void)pair.vehicle.open(std::span(datagram).first(*hello), vehicle_now);
      const auto answer = pair.vehicle.poll_handshake(vehicle_now, datagram);
      REQUIRE(answer);
      if (*answer > 0) (void)pair.commander.open(std::span(datagram).first(*answer), now);
      auto size = pair.commander.seal(Bytes{1}, secure::Urgency::ordinary, now, datagram);
      pass(pair.commander, now, pair.vehicle, vehicle_now, datagram, size);
      size = pair.vehicle.seal(Bytes{1}, secure::Urgency::ordinary, vehicle_now, datagram);
      pass(pair.vehicle, vehicle_now, pair.commander, now, datagram, size);
    }
    CHECK(stopped);
  }
  CHECK(believed > 0);
}
