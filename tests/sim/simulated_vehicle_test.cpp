// The simulated vehicle at the other end of plain datagrams: its start-up, its motion, its stops, and its
// telemetry.
#include "takt/sim/simulated_vehicle.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <span>

#include "sim/vehicle_rig.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace std::chrono_literals;
using secure::Urgency;
using test::furbot;
using test::Vehicle;
using vehicle::System;
using vehicle::SystemState;
using Rig = test::VehicleRig;

TEST_CASE("a vehicle starts up from cold to running, all twelve systems, a hundred times a second") {
  Rig rig;
  rig.run(100ms);
  CHECK(rig.heard == 10);
  CHECK(rig.status.present() == vehicle::furbot_systems);
  CHECK(rig.status.stamp == 100);
  CHECK(rig.status.state(System::traction) == SystemState::cold);
  CHECK(rig.status.state(System::communication) == SystemState::cold);
  rig.run(200ms);
  CHECK(rig.status.state(System::communication) == SystemState::running);
  CHECK(rig.status.state(System::traction) == SystemState::init);
  CHECK(rig.status.state(System::hydraulics) == SystemState::init);
  CHECK(rig.value(System::rear_fork, "fork_state") == static_cast<int>(vehicle::ForkState::unknown));
  rig.run(1200ms);
  CHECK(rig.value(System::hydraulics, "hydraulic_state") ==
        static_cast<int>(vehicle::HydraulicState::enabled));
  rig.run(200ms);
  CHECK(rig.value(System::suspension_front_left, "height") > 0);
  CHECK(rig.value(System::front_fork, "fork_state") == static_cast<int>(vehicle::ForkState::retracting));
  rig.run(1300ms);
  for (int i = 0; i < vehicle::furbot_systems.size(); ++i) {
    CAPTURE(i);
    CHECK(rig.status.state(static_cast<System>(i)) == SystemState::running);
  }
  CHECK(rig.heard == 300);
  CHECK(rig.status.stamp == 3000);
}

namespace {
constexpr std::array other_traction{vehicle::SystemField{"odometer", 0, vehicle::FieldType::i32},
                                    vehicle::SystemField{"state", 4, vehicle::FieldType::u8},
                                    vehicle::SystemField{"mode", 5, vehicle::FieldType::u8},
                                    vehicle::SystemField{"speed", 6, vehicle::FieldType::i8},
                                    vehicle::SystemField{"left_speed", 7, vehicle::FieldType::u8},
                                    vehicle::SystemField{"right_speed", 8, vehicle::FieldType::i16},
                                    vehicle::SystemField{"throttle", 10, vehicle::FieldType::i16},
                                    vehicle::SystemField{"brake", 12, vehicle::FieldType::i16},
                                    vehicle::SystemField{"reverse", 14, vehicle::FieldType::u8}};
constexpr std::array other_state{vehicle::SystemField{"state", 1, vehicle::FieldType::u8}};
constexpr auto winch = static_cast<System>(17);
constexpr std::array other_table{
    vehicle::SystemLayout{winch, "winch", 2, false, other_state},
    vehicle::SystemLayout{System::traction, "traction", 15, false, other_traction}};
constexpr vehicle::Layouts other_layouts = *vehicle::Layouts::make(other_table);
}  // namespace

TEST_CASE("with another table it reports the systems and fields of this table, as far as they have room") {
  auto options = furbot();
  options.layouts = &other_layouts;
  Rig rig(options);
  rig.start();
  rig.command = {0, -0.5, 0};
  rig.run(5s);
  CHECK(rig.plant().speed() < -2);
  const auto status = rig.machine.controller().status();
  CHECK(status.present() == vehicle::SystemSet{winch, System::traction});
  CHECK(status.state(winch) == SystemState::running);
  const auto traction = status.traction().value();
  CHECK(traction.speed == -128);
  CHECK(traction.left_speed == 0);
  CHECK(traction.right_speed < -60);
  CHECK(traction.throttle < -40);
  CHECK(traction.odometer == doctest::Approx(rig.plant().travelled() * 1000).epsilon(0.001));
}

TEST_CASE("it drives as commanded, and reports its motion in the agreed units") {
  Rig rig;
  rig.start();
  rig.command = {0.2, 0.5, 0};
  rig.run(5s);
  const auto traction = rig.status.traction().value();
  const auto& plant = rig.plant();
  CHECK(plant.speed() > 2);
  CHECK(rig.units.speed(traction) == doctest::Approx(plant.speed()).epsilon(0.01));
  CHECK(rig.units.angle(*rig.status.steering()) == doctest::Approx(0.2));
  CHECK(rig.units.target_angle(*rig.status.steering()) == doctest::Approx(0.2));
  CHECK(0.001 * traction.odometer == doctest::Approx(plant.travelled()).epsilon(0.001));
  const auto rates = rig.units.wheel_rates(traction);
  CHECK(rates.right > rates.left);
  CHECK(0.3 * (rates.left + rates.right) / 2 == doctest::Approx(plant.speed()).epsilon(0.02));
  CHECK(traction.throttle == 50);
  CHECK(traction.brake == 0);
  CHECK(traction.reverse == 0);
  CHECK(rig.value(System::motion_control, "throttle") == 50);
  const auto battery = rig.units.reading(*rig.status.battery());
  CHECK(battery.charge == doctest::Approx(0.8).epsilon(0.01));
  CHECK(battery.current > 20);
  CHECK(battery.voltage == doctest::Approx(75).epsilon(0.05));
  CHECK(rig.value(System::suspension_rear_right, "height") <
        rig.value(System::suspension_rear_left, "height"));

  rig.command = {0.2, 0, 1};
  rig.run(3s);
  rig.command = {0, -0.5, 0};
  rig.run(3s);
  CHECK(rig.status.traction()->reverse == 1);
  CHECK(rig.units.speed(*rig.status.traction()) < -1);
  CHECK(rig.status.traction()->left_speed < 0);
}

TEST_CASE(
    "the speeds of its wheels add up to the way that they went, in spite of whole revolutions a minute") {
  Rig rig;
  rig.start();
  const auto from = rig.plant().turned();
  mobile::Sides sum;
  auto random = test::generator(1);
  for (int i = 0; i < 3000; ++i) {
    if (i % 100 == 0) rig.command = {test::uniform(random, -0.5, 0.5), test::uniform(random, -1, 1), 0};
    rig.cycle();
    const auto rates = rig.units.wheel_rates(*rig.status.traction());
    sum.left += 0.01 * rates.left;
    sum.right += 0.01 * rates.right;
  }
  const double count = 0.01 * rig.units.configuration().wheel_rate;
  CHECK(std::abs(sum.left - (rig.plant().turned().left - from.left)) <= 1.001 * count);
  CHECK(std::abs(sum.right - (rig.plant().turned().right - from.right)) <= 1.001 * count);
}

TEST_CASE(
    "without control frames it brakes to a stand within its timeout, halts, and restarts only on request") {
  Rig rig;
  rig.start();
  rig.command = {0.1, 0.6, 0};
  rig.run(4s);
  CHECK(rig.plant().speed() > 2);
  rig.sends = false;
  rig.run(200ms);
  CHECK(rig.state() == SystemState::running);
  rig.run(10ms);
  CHECK(rig.state() == SystemState::halted);
  const double steering = rig.plant().steering();
  rig.run(2s);
  CHECK(rig.plant().speed() == 0);
  CHECK(rig.plant().steering() == steering);
  CHECK(rig.plant().brake() > 0.99);
  CHECK(rig.status.state(System::traction) == SystemState::halted);
  CHECK(rig.status.state(System::steering) == SystemState::halted);
  CHECK(rig.status.state(System::motion_control) == SystemState::halted);
  CHECK(rig.status.state(System::communication) == SystemState::running);
  CHECK(rig.machine.controller().counters().timeouts == 1);

  rig.sends = true;  // still throttle
  rig.run(2s);
  CHECK(rig.state() == SystemState::halted);
  CHECK(rig.plant().speed() == 0);
  rig.machine.recover();
  rig.run(1s);
  CHECK(rig.state() == SystemState::running);
  CHECK(rig.plant().speed() == 0);  // it drives only after a frame without throttle
  CHECK(rig.plant().brake() > 0.99);
  CHECK(rig.plant().steering() == steering);
  rig.command.throttle = 0;
  rig.run(20ms);
  rig.command.throttle = 0.6;
  rig.run(1s);
  CHECK(rig.plant().speed() > 0.5);
}

TEST_CASE("one that is let start again while it still rolls comes to a stand first") {
  Rig rig;
  rig.start();
  rig.command = {0, 0.6, 0};
  rig.run(4s);
  rig.sends = false;
  rig.run(220ms);
  REQUIRE(rig.state() == SystemState::halted);
  rig.machine.recover();
  rig.run(10ms);
  CHECK(rig.plant().speed() > 1);
  for (int i = 0; i < 200; ++i) {
    if (rig.plant().speed() > 0) CHECK(rig.state() == SystemState::init);
    rig.cycle();
  }
  CHECK(rig.state() == SystemState::running);
}

TEST_CASE("before anybody sends, it waits with its brakes on; recover() of one that runs does nothing") {
  Rig rig;
  rig.run(10s);
  CHECK(rig.state() == SystemState::running);
  CHECK(rig.plant().brake() > 0.99);
  rig.machine.recover();
  rig.run(10ms);
  CHECK(rig.state() == SystemState::running);
  CHECK(rig.machine.controller().counters().timeouts == 0);
}

TEST_CASE("frames that were overtaken or sent twice do not count, and after a silence any stamp is new") {
  Rig rig;
  rig.start();
  const auto send = [&](double throttle, std::uint32_t stamp) {
    std::array<std::uint8_t, vehicle::control_frame_bytes> frame{};
    (void)vehicle::encode_control(*rig.units.control({0, throttle, 0}, stamp), frame,
                                  vehicle::ByteOrder::big);
    (void)rig.machine.receive(frame, rig.now);
  };
  const std::uint32_t stamp = rig.stamp;
  send(0.5, stamp);
  send(0.5, stamp - 10);
  CHECK(rig.machine.controller().counters().outdated == 2);
  send(0, stamp + 30);
  send(0.5, stamp + 20);
  CHECK(rig.machine.controller().counters().outdated == 3);
  rig.sends = false;
  rig.run(100ms);
  CHECK(rig.plant().speed() == 0);
  rig.run(1s);  // HALTED
  rig.machine.recover();
  rig.run(100ms);
  send(0, stamp - 1'000'000);
  send(1, stamp - 999'990);
  rig.run(100ms);
  CHECK(rig.plant().throttle() > 0.3);
}

TEST_CASE("a frame that asks for a stop counts however late, and until it stands nothing else does") {
  auto controller = sim::VehicleController::make(furbot(), Time{}).value();
  Time now{};
  const auto units = *vehicle::Units::make(vehicle::provisional_units);
  std::uint32_t stamp = 1000;
  const auto drive = [&](double throttle, Duration duration) {
    for (const Time end = now + duration; now < end; now += 10ms)
      controller.obey(*units.control({0, throttle, 0}, stamp += 10), Urgency::ordinary, now);
  };
  drive(0, 3s);
  drive(1, 2s);
  const double speed = controller.plant().speed();
  REQUIRE(speed > 1);
  controller.obey(*units.control({0, 0, 1}, stamp - 500), Urgency::stop, now);
  controller.obey(*units.control({0, 1, 0}, stamp - 100), Urgency::ordinary, now);
  CHECK(controller.counters().outdated == 1);  // it made no older frame count as new
  drive(1, 200ms);
  CHECK(controller.plant().speed() < speed - 0.4);
  CHECK(controller.plant().throttle() < 0.5);
  CHECK(controller.counters().overruled == 20);
  CHECK(controller.counters().obeyed + controller.counters().held == 501);
  drive(1, 1500ms);
  CHECK(controller.counters().outdated == 1);
  drive(1, 1s);  // it has stood meanwhile, and may drive again
  CHECK(controller.plant().speed() > 0.5);
}

TEST_CASE("a frame before the release of the brake is held back, and not counted as obeyed") {
  Rig rig;
  rig.command = {0, 0.5, 0};
  rig.start();
  rig.run(1s);
  const sim::VehicleCounters& counters = rig.machine.controller().counters();
  CHECK(counters.obeyed == 0);
  CHECK(counters.held == 400);
  CHECK(rig.plant().travelled() == 0);
  rig.command = {0, 0, 0};
  rig.run(10ms);
  CHECK(counters.obeyed == 1);
  rig.command = {0, 0.5, 0};
  rig.run(1s);
  CHECK(counters.obeyed == 101);
  CHECK(counters.held == 400);
  CHECK(rig.plant().speed() > 0.5);
}

TEST_CASE("without a byte order there is no simulated vehicle") {
  CHECK(Vehicle::make(furbot(), {}, {}, Time{}).error() == vehicle::Errc::no_byte_order);
}

TEST_CASE("an old stop does not count as a released throttle: after a halt only a new frame drives") {
  auto controller = sim::VehicleController::make(furbot(), Time{}).value();
  Time now{};
  const auto units = *vehicle::Units::make(vehicle::provisional_units);
  std::uint32_t stamp = 1000;
  const auto drive = [&](double throttle, Duration duration) {
    for (const Time end = now + duration; now < end; now += 10ms)
      controller.obey(*units.control({0, throttle, 0}, stamp += 10), Urgency::ordinary, now);
  };
  drive(0, 3s);
  drive(1, 2s);
  now += 3s;
  controller.advance(now);
  REQUIRE(controller.state() == SystemState::halted);
  controller.recover();
  drive(1, 1s);
  controller.obey(*units.control({0, 0, 1}, 500), Urgency::stop, now);
  drive(1, 1s);
  CHECK(controller.plant().speed() == 0);
  controller.obey(*units.control({0, 0, 1}, stamp += 10), Urgency::stop, now);
  drive(1, 1s);
  CHECK(controller.plant().speed() > 0.5);
}

TEST_CASE("a stop brakes with any other content, and an old one is no sign of life") {
  auto controller = sim::VehicleController::make(furbot(), Time{}).value();
  Time now{};
  const auto units = *vehicle::Units::make(vehicle::provisional_units);
  std::uint32_t stamp = 1000;
  for (; now < Time{} + 5s; now += 10ms)
    controller.obey(*units.control({0.1, now < Time{} + 3s ? 0.0 : 1.0, 0}, stamp += 10), Urgency::ordinary,
                    now);
  REQUIRE(controller.plant().speed() > 1);
  for (const Time end = now + 3s; now < end; now += 10ms)
    controller.obey(*units.control({0.4, 1, 0}, stamp - 500), Urgency::stop, now);
  CHECK(controller.plant().speed() == 0);
  CHECK(controller.plant().steering() < 0.2);
  CHECK(controller.counters().timeouts == 1);
}

TEST_CASE("an invalid control frame is named and counted, and does nothing") {
  Rig rig;
  rig.start();
  auto random = test::generator(2);
  std::array<std::uint8_t, 64> bytes{};
  for (std::size_t i = 0; i < test::count(10'000); ++i) {
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    CHECK(!rig.machine.receive(std::span(bytes).first(1 + random() % 63), rig.now));
  }
  CHECK(rig.machine.receive({}, rig.now));  // an empty datagram of a plain channel has no content
  CHECK(rig.machine.counters().malformed + 200 > test::count(10'000));
  rig.command.throttle = 0.5;
  rig.run(1s);
  CHECK(rig.plant().speed() > 0.3);
}

TEST_CASE("an empty battery halts it") {
  auto options = furbot();
  options.charge = 1e-6;
  Rig rig(options);
  rig.sends = true;
  rig.run(5s);
  CHECK(rig.state() == SystemState::halted);
  CHECK(rig.status.state(System::battery) == SystemState::halted);
  rig.machine.recover();
  rig.run(1s);
  CHECK(rig.state() == SystemState::halted);
}

TEST_CASE("a vehicle that cannot be is refused by name") {
  const auto error = [](auto&& change) {
    auto options = furbot();
    change(options);
    const auto made = Vehicle::make(options, {.payload = vehicle::ByteOrder::big}, {}, Time{});
    return made ? Error{} : made.error();
  };
  CHECK(error([](auto&) {}) == Error{});
  CHECK(error([](auto& o) { o.plant.wheelbase = 0; }) == sim::Errc::bad_vehicle);
  CHECK(error([](auto& o) { o.charge = 1.1; }) == sim::Errc::bad_vehicle);
  CHECK(error([](auto& o) { o.charge = std::nan(""); }) == sim::Errc::bad_vehicle);
  CHECK(error([](auto& o) { o.command_timeout = {}; }) == sim::Errc::bad_vehicle);
  CHECK(error([](auto& o) { o.cold = -1ns; }) == sim::Errc::bad_vehicle);
  CHECK(error([](auto& o) { o.units = {}; }) == vehicle::Errc::out_of_range);
}

TEST_CASE("the same happens however often it is polled") {
  Rig often, rarely;
  often.sends = rarely.sends = true;
  often.run(3s);
  rarely.run(3s);
  often.command = rarely.command = {0.3, 0.7, 0};
  for (int i = 0; i < 300; ++i) {
    for (Time t = often.now; t < often.now + 10ms; t += 1ms) {
      std::array<std::uint8_t, Vehicle::max_datagram> out{};
      CHECK(often.machine.poll(t, out) == 0u);
    }
    often.cycle();
    rarely.cycle();
    CHECK(often.status == rarely.status);
  }
  CHECK(often.plant().pose() == rarely.plant().pose());
  rarely.now += 5s;  // the whole program was suspended
  const std::size_t heard = rarely.heard;
  rarely.cycle();
  CHECK(rarely.heard == heard + 1);
}

TEST_CASE("a vehicle in the loop keeps its rules") {
  Rig rig;
  rig.sends = true;
  test::RtGuard guard;
  rig.run(4s);
  rig.command = {0.3, 1, 0};
  rig.run(1s);
  rig.machine.set_faults(
      {.late = 35ms, .lost = 0.2, .corrupt = 0.2, .lying = 0.2, .halted = {System::steering}});
  rig.run(1s);
  rig.sends = false;
  rig.run(1s);
  rig.machine.recover();
  rig.run(1s);
  CHECK(guard.report() == "");
  CHECK(rig.heard > 600);
}

TEST_CASE(
    "a vehicle bears any times: its clock may begin anywhere, and of a gap of centuries an hour happens") {
  std::array<std::uint8_t, Vehicle::max_datagram> out{};
  for (const Time begin : {Time::min(), Time(-time_reach), Time{}}) {
    auto machine = Vehicle::make(furbot(), {.payload = vehicle::ByteOrder::big}, {}, begin).value();
    for (const Time now :
         {Time::min(), within_reach(begin) + 3s, Time{} + 1h, Time::max(), Time::min(), Time::max()}) {
      (void)machine.receive(out, now);
      while (machine.poll(now, out).value() > 0) {
      }
      CHECK(machine.controller().now() > Time(-time_reach) - 1ms);
    }
    CHECK(machine.controller().now() > Time(time_reach) - 1ms);
    CHECK(machine.controller().state() == vehicle::SystemState::running);
    CHECK(machine.next_send() > Time(time_reach));
  }
}
