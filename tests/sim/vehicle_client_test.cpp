// The client of real vehicles against a simulated one: start-up, faults of the vehicle and of the network,
// recovery.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/client_rig.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace std::chrono_literals;
using secure::PlainChannel;
using test::SecureRig;
using vehicle::StopCause;
using vehicle::StopReason;
using vehicle::SupervisorState;
using vehicle::System;
using vehicle::SystemState;

namespace {

using Rig = test::ClientRig<PlainChannel, PlainChannel>;

Rig plain() { return Rig(PlainChannel{}, PlainChannel{}); }

Rig driving() {
  Rig rig = plain();
  rig.wait(3s);
  rig.drive({0.1, 0.6, 0}, 3s);
  REQUIRE(rig.client.state() == SupervisorState::driving);
  REQUIRE(rig.plant().speed() > 1.5);
  return rig;
}

/// A complete stop: the vehicle stands, the client reports the reason, and both stay so while commands go on.
void check_stopped(Rig& rig, StopReason reason) {
  CHECK(rig.plant().speed() == 0);
  CHECK(rig.client.reason() == reason);
  const auto pose = rig.plant().pose();
  rig.drive({0.1, 0.6, 0}, 1s);
  CHECK(rig.plant().pose() == pose);
}

}  // namespace

TEST_CASE("the client drives nothing before the whole vehicle runs") {
  Rig rig = plain();
  for (int i = 0; i < 200; ++i) {
    rig.drive({0, 1, 0}, 10ms);
    if (rig.machine.controller().state() != SystemState::running)
      CHECK(rig.client.state() == SupervisorState::starting);
    if (rig.client.state() == SupervisorState::starting) CHECK(rig.plant().travelled() == 0);
  }
  rig.drive({0, 1, 0}, 2s);
  CHECK(rig.client.state() == SupervisorState::driving);
  CHECK(rig.plant().travelled() > 0.5);
  CHECK(rig.machine.counters().malformed + rig.machine.counters().refused == 0);
  CHECK(rig.client.telemetry().counters().lost == 0);
}

TEST_CASE("a silent vehicle is stopped, though it still hears, and drives again only when commanded") {
  Rig rig = driving();
  rig.machine.set_faults({.silent = true});
  rig.drive({0.1, 0.6, 0}, 150ms);
  CHECK(rig.client.state() == SupervisorState::stopping);
  rig.drive({0.1, 0.6, 0}, 6s);
  check_stopped(rig, {StopCause::telemetry_silent, {}});
  CHECK(rig.machine.controller().state() == SystemState::running);  // it was commanded to brake, and did
  CHECK(rig.client.recover(rig.now).error() == vehicle::Errc::cause_remains);
  rig.machine.set_faults({});
  rig.drive({0.1, 0.6, 0}, 2s);
  check_stopped(rig, {StopCause::telemetry_silent, {}});
  REQUIRE(rig.client.recover(rig.now));
  rig.drive({0.1, 0.6, 0}, 2s);
  CHECK(rig.plant().speed() > 1);
}

TEST_CASE("a cable that is cut stops the vehicle by itself, and both ends must be reset before it drives") {
  Rig rig = driving();
  rig.is_cut = true;
  rig.drive({0.1, 0.6, 0}, 211ms);
  CHECK(rig.machine.controller().state() == SystemState::halted);
  CHECK(rig.client.state() == SupervisorState::stopping);
  CHECK(rig.client.telemetry().age(rig.now) >= 200ms);
  rig.drive({0.1, 0.6, 0}, 3s);
  CHECK(rig.plant().speed() == 0);
  rig.is_cut = false;
  rig.drive({0.1, 0.6, 0}, 2s);
  check_stopped(rig, {StopCause::telemetry_silent, {}});
  CHECK(rig.client.recover(rig.now).error() == vehicle::Errc::cause_remains);  // it is HALTED
  rig.machine.recover();
  rig.drive({0.1, 0.6, 0}, 2s);
  check_stopped(rig, {StopCause::telemetry_silent, {}});
  REQUIRE(rig.client.recover(rig.now));
  rig.drive({0.1, 0.6, 0}, 2s);
  CHECK(rig.plant().speed() > 1);
}

TEST_CASE("telemetry that comes late is as old as it is, and too late stops the vehicle") {
  Rig rig = driving();
  rig.machine.set_faults({.late = 60ms});
  for (int i = 0; i < 100; ++i) {
    rig.drive({0.1, 0.6, 0}, 10ms);
    if (i < 10) continue;
    CHECK(rig.client.telemetry().age(rig.now) >= 59ms);  // clocks may drift
    CHECK(rig.client.telemetry().age(rig.now) <= 70ms);
  }
  CHECK(rig.client.state() == SupervisorState::driving);
  rig.machine.set_faults({.late = 150ms});
  rig.drive({0.1, 0.6, 0}, 5s);
  CHECK(rig.client.telemetry().age(rig.now) >= 145ms);
  check_stopped(rig, {StopCause::telemetry_silent, {}});
}

TEST_CASE("a system that broke down stops the vehicle and is named") {
  for (const System system : {System::steering, System::battery, System::front_fork, System::hydraulics}) {
    CAPTURE(static_cast<int>(system));
    Rig rig = driving();
    sim::VehicleFaults faults;
    faults.halted.insert(system);
    rig.machine.set_faults(faults);
    rig.drive({0.1, 0.6, 0}, 5s);
    check_stopped(rig, {StopCause::system_not_running, system});
  }
}

TEST_CASE("lost, corrupt and lying frames are counted, and do not stop a vehicle of which enough is known") {
  Rig rig = driving();
  rig.machine.set_faults({.lost = 0.2, .lying = 0.2});
  rig.drive({0.1, 0.6, 0}, 10s);
  CHECK(rig.client.state() == SupervisorState::driving);
  const auto& counters = rig.client.telemetry().counters();
  CHECK(counters.lost > 250);
  CHECK(counters.malformed > 100);
  rig.machine.set_faults({.lying = 1});
  rig.drive({0.1, 0.6, 0}, 5s);
  check_stopped(rig, {StopCause::telemetry_silent, {}});
}

TEST_CASE("corrupt frames in plain datagrams can say anything, and the client stays on the safe side") {
  // Without an authenticated channel an inverted bit can report a halted system, or a stamp of tomorrow. The
  // vehicle then stops.
  Rig rig = driving();
  rig.machine.set_faults({.corrupt = 1});
  rig.drive({0.1, 0.6, 0}, 10s);
  CHECK(rig.client.state() != SupervisorState::driving);
  CHECK(rig.plant().speed() == 0);
}

TEST_CASE(
    "behind an authenticated channel corrupt frames are refused, and what is genuine is enough to drive") {
  SecureRig rig = test::secure_rig();
  rig.wait(3s);
  rig.drive({0.1, 0.6, 0}, 3s);
  CHECK(rig.plant().speed() > 1.5);
  rig.machine.set_faults({.late = 20ms, .corrupt = 0.3});
  rig.drive({0.1, 0.6, 0}, 30s);  // several sessions
  CHECK(rig.client.state() == SupervisorState::driving);
  CHECK(rig.client.counters().refused > 700);
  CHECK(rig.client.telemetry().counters().malformed == 0);
  CHECK(rig.client.telemetry().counters().impossible == 0);
  rig.is_cut = true;
  rig.drive({0.1, 0.6, 0}, 5s);
  CHECK(rig.plant().speed() == 0);
  CHECK(rig.machine.controller().state() == SystemState::halted);
  rig.is_cut = false;
  rig.machine.recover();
  rig.drive({0.1, 0.6, 0}, 2s);
  CHECK(rig.plant().speed() == 0);
  REQUIRE(rig.client.recover(rig.now));
  rig.drive({0.1, 0.6, 0}, 2s);
  CHECK(rig.plant().speed() > 1);
}

TEST_CASE("a commander with another key drives nothing and hears nothing") {
  SecureRig rig = test::secure_rig(8);
  rig.drive({0.1, 0.6, 0}, 5s);
  CHECK(rig.plant().travelled() == 0);
  CHECK(rig.client.state() == SupervisorState::starting);
  CHECK(rig.client.reason() == StopReason{StopCause::disconnected, {}});
  CHECK(rig.machine.controller().counters().obeyed == 0);
  CHECK(rig.machine.counters().refused > 0);
  CHECK(rig.machine.counters().sent == 0);
}

TEST_CASE("an emergency stop brings the vehicle to a stand in each category, and holds it until reset") {
  for (const auto category : {StopCategory::category_0, StopCategory::category_1, StopCategory::category_2}) {
    CAPTURE(static_cast<int>(category));
    Rig rig = driving();
    const double steering = rig.plant().steering(), speed = rig.plant().speed();
    const double from = rig.plant().travelled();
    rig.client.stop(category, rig.now);
    rig.wait(5s);
    CHECK(rig.client.state() == SupervisorState::stopped);
    CHECK(std::abs(rig.plant().steering() - steering) < 1e-3);
    check_stopped(rig, {StopCause::requested, {}});
    const double way = rig.plant().travelled() - from;
    const double braking = category == StopCategory::category_0 ? 5 : 2.5;
    CHECK(way > speed * speed / (2 * (braking + 1)));
    CHECK(way < speed * speed / (2 * braking) + 0.6 * speed);
    REQUIRE(rig.client.recover(rig.now));
    rig.drive({0.1, 0.6, 0}, 2s);
    CHECK(rig.plant().speed() > 1);
  }
}

TEST_CASE("without commands the client stops the vehicle") {
  Rig rig = driving();
  rig.wait(4s);
  check_stopped(rig, {StopCause::command_timeout, {}});
  CHECK(rig.machine.controller().state() == SystemState::running);
}

TEST_CASE(
    "under random faults there is no throttle without a fresh command, and the vehicle stands soon after") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(20); ++i) {
    Rig rig = driving();
    const auto some = [&] {
      return test::uniform_int(random, 0, 2) == 0 ? test::uniform(random, 0, 1) : 0.0;
    };
    for (int k = 0; k < 20; ++k) {
      rig.machine.set_faults({.silent = some() > 0.7,
                              .late = from_seconds(0.2 * some()),
                              .lost = some(),
                              .corrupt = some(),
                              .lying = some()});
      rig.is_cut = some() > 0.8;
      if (some() > 0.5) rig.machine.recover();
      if (some() > 0.5) (void)rig.client.recover(rig.now);
      rig.drive({test::uniform(random, -0.5, 0.5), test::uniform(random, -1, 1), 0}, from_seconds(some()));
    }
    rig.wait(1s);
    CHECK(rig.plant().throttle() < 0.01);
    rig.wait(9s);
    CHECK(rig.plant().speed() == 0);
  }
}

TEST_CASE("a vehicle whose clock was set back obeys nothing that was held back until it had caught up") {
  SecureRig rig = test::secure_rig();
  rig.wait(3s);
  rig.drive({0, 0.1, 0}, 1s);
  REQUIRE(rig.client.state() == SupervisorState::driving);
  std::vector<std::vector<std::uint8_t>> held;
  const Duration back = 10s;
  for (const Time caught_up = rig.now + back + 20ms; rig.now < caught_up; rig.now += 1ms) {
    (void)rig.client.drive({0, 0.5, 0}, rig.now);
    while (const std::size_t size = rig.client.poll(rig.now, rig.bytes).value_or(0))
      held.emplace_back(rig.bytes.begin(), rig.bytes.begin() + static_cast<std::ptrdiff_t>(size));
    while (rig.machine.poll(rig.now - back, rig.bytes).value_or(0) > 0) {
    }
  }
  const auto obeyed = rig.machine.controller().counters().obeyed;
  REQUIRE(held.size() > 20);
  for (const auto& datagram : std::span(held).first(20))
    CHECK_FALSE(rig.machine.receive(datagram, rig.now - back));
  CHECK(rig.machine.controller().counters().obeyed == obeyed);
}

TEST_CASE(
    "at the end of a session's numbers the vehicle stops, and waits for a recovery in the next session") {
  for (const bool of_the_commander : {true, false}) {
    CAPTURE(of_the_commander);
    SecureRig rig = test::secure_rig();
    rig.wait(3s);
    rig.drive({0.1, 0.6, 0}, 3s);
    REQUIRE(rig.plant().speed() > 1.5);
    const auto before = rig.client.counters();
    if (of_the_commander) {
      rig.client.channel().skip_to(UINT64_MAX - 3);
    } else {
      rig.machine.channel().skip_to(UINT64_MAX - 3);
    }
    rig.drive({0.1, 0.6, 0}, 30ms);  // the last three
    CHECK(rig.client.state() == SupervisorState::driving);
    CHECK(rig.client.counters().missed == before.missed);
    rig.drive({0.1, 0.6, 0}, 400ms);
    if (of_the_commander) {
      CHECK(rig.client.counters().sent == before.sent + 3);
      CHECK(rig.client.counters().missed == before.missed + 41);  // 40 periods, and the stop at once
      CHECK(rig.machine.controller().state() == SystemState::halted);
    } else {
      CHECK(rig.client.reason().cause == StopCause::telemetry_silent);
      CHECK(rig.client.counters().missed == before.missed);
    }
    rig.drive({0.1, 0.6, 0}, 8s);  // in this time a session is renewed
    CHECK(rig.client.channel().established(rig.now));
    CHECK(rig.client.telemetry().age(rig.now) <= 10ms);
    CHECK(rig.client.state() == SupervisorState::stopped);
    CHECK(rig.plant().speed() == 0);
    rig.machine.recover();
    rig.drive({0.1, 0.6, 0}, 2s);
    CHECK(rig.plant().speed() == 0);
    CHECK(rig.client.recover(rig.now));
    rig.drive({0.1, 0.6, 0}, 3s);
    CHECK(rig.plant().speed() > 1.5);
  }
}
