// Faults of a simulated vehicle, as the other end sees them.
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <vector>

#include "sim/vehicle_rig.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace std::chrono_literals;
using test::furbot;
using test::Vehicle;
using vehicle::System;
using vehicle::SystemState;
using Rig = test::VehicleRig;

TEST_CASE("a silent vehicle says nothing, and still drives") {
  Rig rig;
  rig.start();
  rig.command = {0, 0.5, 0};
  rig.machine.set_faults({.silent = true});
  const auto heard = rig.heard;
  rig.run(2s);
  CHECK(rig.heard == heard);
  CHECK(rig.plant().speed() > 1);
  rig.machine.set_faults({});
  rig.run(100ms);
  CHECK(rig.heard == heard + 10);
}

TEST_CASE("a late vehicle sends old telemetry, at the same rate") {
  Rig rig;
  rig.start();
  rig.machine.set_faults({.late = 135ms});
  rig.run(500ms);
  CHECK(rig.now == Time{3500ms});
  CHECK(rig.status.stamp == 3360);
  const auto heard = rig.heard;
  rig.run(500ms);
  CHECK(rig.heard == heard + 50);
  rig.machine.set_faults({.late = 1h});  // the longest delay
  rig.run(2s);
  CHECK(rig.status.stamp == 5500);
  CHECK(rig.machine.counters().lost == 0);
  rig.machine.set_faults({});  // the delayed datagrams come first
  rig.run(10ms);
  CHECK(rig.status.stamp == 5510);
  rig.run(490ms);
  CHECK(rig.status.stamp > 6000);
  rig.run(10ms);
  CHECK(rig.status.stamp == 6510);
}

TEST_CASE("lost frames are missing, in about the share that was asked for and by seed") {
  Rig rig;
  rig.start();
  rig.machine.set_faults({.lost = 0.2});
  const auto heard = rig.heard;
  rig.run(100s);
  const auto missing = 10'000 - (rig.heard - heard);
  CHECK(missing > 1800);
  CHECK(missing < 2200);
  CHECK(rig.machine.counters().lost == missing);
  CHECK(rig.machine.counters().sent == rig.heard);
  CHECK(rig.malformed == 0);
  rig.machine.set_faults({.lost = 1});
  const auto last = rig.heard;
  rig.run(1s);
  CHECK(rig.heard == last);
}

TEST_CASE("in corrupt frames one bit is another one") {
  Rig whole, corrupt;
  corrupt.machine.set_faults({.corrupt = 1});
  for (Time now = Time{10ms}; now < Time{3s}; now += 10ms) {
    std::array<std::uint8_t, Vehicle::max_datagram> a{}, b{};
    const std::size_t size = whole.machine.poll(now, a).value();
    REQUIRE(size == 132);
    REQUIRE(corrupt.machine.poll(now, b) == size);
    int turned = 0;
    for (std::size_t i = 0; i < size; ++i) turned += std::popcount(static_cast<unsigned>(a[i] ^ b[i]));
    CHECK(turned == 1);
  }
}

TEST_CASE("lengths that lie are refused by name, each of them") {
  Rig rig;
  rig.start();
  rig.machine.set_faults({.lying = 1});
  const auto heard = rig.heard;
  for (int i = 0; i < 1000; ++i) {
    rig.last_error = {};
    rig.cycle();
    const bool named =
        rig.last_error == vehicle::Errc::bad_len || rig.last_error == vehicle::Errc::truncated_tlv;
    CHECK(named);
  }
  CHECK(rig.heard == heard + 1000);
  CHECK(rig.malformed == 1000);
  rig.machine.set_faults({.lying = 0.5});
  rig.run(10s);
  CHECK(rig.malformed > 1400);
  CHECK(rig.malformed < 1600);
}

TEST_CASE("a system that broke down says so, and what depends on it does not work") {
  Rig rig;
  rig.start();
  rig.command = {0.1, 0.5, 0};
  rig.run(2s);
  const double steering = rig.plant().steering();
  rig.machine.set_faults({.halted = {System::steering, System::front_fork}});
  rig.command = {-0.2, 0.5, 0};
  rig.run(1s);
  CHECK(rig.status.state(System::steering) == SystemState::halted);
  CHECK(rig.status.state(System::front_fork) == SystemState::halted);
  CHECK(rig.status.state(System::traction) == SystemState::running);
  CHECK(rig.plant().steering() == steering);
  CHECK(rig.plant().speed() > 1);
  rig.machine.set_faults({.halted = {System::steering, System::traction}});
  rig.run(1s);
  CHECK(rig.status.state(System::traction) == SystemState::halted);
  CHECK(rig.plant().throttle() < 0.01);
  CHECK(rig.plant().brake() < 1e-9);
  rig.machine.set_faults({.halted = {System::hydraulics}});
  rig.run(3s);
  CHECK(rig.plant().speed() == 0);
  rig.machine.set_faults({});
  rig.run(1s);
  CHECK(rig.status.state(System::hydraulics) == SystemState::running);
  CHECK(rig.plant().speed() == 0);
}

TEST_CASE("a repaired system drives only after a frame without throttle") {
  for (const System system : {System::traction, System::steering, System::hydraulics}) {
    CAPTURE(system);
    Rig rig;
    rig.start();
    rig.command = {0, 0.5, 0};
    rig.run(2s);
    rig.machine.set_faults({.halted = {system}});
    rig.command = {};  // released too early
    rig.run(100ms);
    rig.command = {0, 0.5, 0};
    rig.run(1s);
    rig.machine.set_faults({});
    rig.run(3s);
    CHECK(rig.plant().speed() == 0);
    rig.command = {};
    rig.run(100ms);
    rig.command = {0, 0.5, 0};
    rig.run(1s);
    CHECK(rig.plant().speed() > 0.5);
  }
}

TEST_CASE("the faults of a run are those of its seed") {
  const auto bytes_of = [](std::uint64_t seed) {
    auto machine =
        Vehicle::make(furbot(), {.payload = vehicle::ByteOrder::big, .seed = seed}, {}, Time{}).value();
    machine.set_faults({.late = 25ms, .lost = 0.1, .corrupt = 0.1, .lying = 0.1});
    std::vector<std::uint8_t> all;
    for (Time now{}; now < Time{2s}; now += 1ms) {
      std::array<std::uint8_t, Vehicle::max_datagram> out{};
      const std::size_t size = machine.poll(now, out).value();
      all.insert(all.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(size));
    }
    return all;
  };
  CHECK(bytes_of(7) == bytes_of(7));
  CHECK(bytes_of(7) != bytes_of(8));
}
