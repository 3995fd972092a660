// Tests simulated Hubo boards, frame by frame: they are switched on, follow references and answer requests.
// Faults of boards, encoders and joints show as on the robot.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <span>
#include <utility>

#include "sim/simulated_host.hpp"
#include "takt/can/hubo.hpp"

using namespace takt;
using namespace takt::test::simulated_host;
using namespace std::chrono_literals;

TEST_CASE("a board answers an encoder request after its reply delay, with signed counts of both motors") {
  Host host(small_hubo());
  const Frame request = hubo::encode(hubo::encoder_request(15)).value();
  host.send(request);
  host.run(5ms);
  const auto frames = host.received();
  REQUIRE(frames.size() == 1);
  const Duration gap = 3us;
  const auto& bus = host.simulation.bus(0);
  CHECK(frames[0].stamp == Time(bus.duration_of(request) - gap + 150us + bus.duration_of(frames[0]) - gap));
  const auto reply = hubo::decode_encoder(frames[0]).value();
  CHECK(reply.board == 15);
  CHECK(reply.counts[0] == 6366);
  CHECK(reply.counts[1] == -12732);  // the second motor counts in the opposite direction
}

TEST_CASE("a board comes up switched off, and follows only after driver and control were switched on") {
  Host host(small_hubo());
  CHECK_FALSE(host.status(15).motors[0].driver_on);
  host.reference(15, {20000, 0});
  host.run(100ms);
  CHECK(host.simulation.position(0) == 0.1);

  host.send(hubo::encode(hubo::control(15, true)));
  host.reference(15, {20000, 0});
  host.run(100ms);
  CHECK(host.simulation.position(0) == 0.1);  // control without driver moves nothing

  host.send(hubo::encode(hubo::driver(15, true)));
  host.run(100ms);
  CHECK(host.status(15).motors[0].running());
  CHECK(host.status(15).motors[0].home == hubo::home_done);
  CHECK(std::abs(host.simulation.position(0) - 0.1) < 1e-4);  // holds until the first reference

  host.reference(15, {9000, -12732});
  host.run(500ms);
  CHECK(host.simulation.position(0) == doctest::Approx(9000 / 63662.0).epsilon(1e-3));
  CHECK(host.simulation.position(1) == doctest::Approx(0.2).epsilon(1e-3));
  CHECK(host.simulation.position(2) == host.robot.joints[2].plant.start);  // another board
  CHECK(std::abs(host.encoder(15).counts[0] - 9000) <= 1);

  host.send(hubo::encode(hubo::driver(15, false)));
  host.run(1ms);
  host.reference(15, {6366, -12732});
  host.run(100ms);
  CHECK(std::abs(host.encoder(15).counts[0] - 9000) <= 1);
}

TEST_CASE("between two references the board moves evenly") {
  Host host(small_hubo());
  host.switch_on(12);
  host.run(5ms);
  // 200 Hz references that advance by 200 counts: about 0.63 rad/s.
  std::int32_t counts = 19099;
  double slowest = 1e9;
  double fastest = 0;
  for (int cycle = 0; cycle < 200; ++cycle) {
    host.reference(12, {counts += 200, 0});
    for (int i = 0; i < 10; ++i) {
      host.run(500us);
      if (cycle < 100) continue;
      slowest = std::min(slowest, host.simulation.velocity(2));
      fastest = std::max(fastest, host.simulation.velocity(2));
    }
  }
  const double speed = 200 / 63662.0 / 0.005;
  CHECK(slowest > 0.97 * speed);
  CHECK(fastest < 1.03 * speed);
}

TEST_CASE(
    "a joint follows a quintic at 200 Hz as closely as on the robot, five milliseconds and a bus time late") {
  Host host(shipped("mhubo"));
  const std::size_t waist = host.robot.find_joint("WST").value();
  const auto& joint = host.robot.joints[waist];
  host.switch_on(joint.board, joint.bus);
  host.run(1s);
  const double start = host.simulation.position(waist);
  const auto planned = [&](Time time) {
    const double s = std::clamp(to_seconds(time - Time(1s)) / 5, 0.0, 1.0);
    return start - pi * quintic(s);
  };
  double sum = 0;
  double late_sum = 0;
  int samples = 0;
  while (host.simulation.now() < Time(6s)) {
    const Time now = host.simulation.now();
    const std::int32_t counts = hubo::to_counts(planned(now), joint.counts_per_radian).value();
    host.reference(joint.board, {counts, counts}, joint.bus);
    host.run(5ms);
    const double error = planned(now) - host.simulation.position(waist);
    const double late_error = planned(now + 5ms) - host.simulation.position(waist);
    sum += error * error;
    late_sum += late_error * late_error;
    ++samples;
  }
  const double degrees = std::sqrt(sum / samples) * 180 / pi;
  const double late_degrees = std::sqrt(late_sum / samples) * 180 / pi;
  MESSAGE("against the reference that is due " << degrees << " deg rms, without allowing for the delay "
                                               << late_degrees);
  CHECK(degrees < 0.06);
  CHECK(degrees > 1e-4);
}

TEST_CASE("a reference far away is approached at the motor's limit and then given up as an error") {
  Host host(small_hubo());
  host.switch_on(15);
  host.run(5ms);
  host.reference(15, {hubo::max_reference, -12732});
  host.run(200ms);
  const auto status = host.status(15);
  CHECK_FALSE(status.motors[0].running());
  CHECK((status.motors[0].faults & hubo::fault::big_error) != 0);
  CHECK(status.motors[1].running());
  CHECK(std::abs(host.simulation.velocity(0)) < 50);

  host.run(5s);  // friction has stopped it
  CHECK(host.simulation.velocity(0) == 0);
  host.switch_on(15);
  host.run(5ms);
  CHECK_FALSE(host.status(15).motors[0].running());  // a fault does not clear itself
  host.send(hubo::encode(hubo::initialise(15)));
  host.switch_on(15);
  host.run(5ms);
  CHECK(host.status(15).motors[0].running());
}

TEST_CASE("a silent board says nothing, hears nothing, and comes back switched off") {
  Host host(small_hubo());
  host.switch_on(15);
  host.run(5ms);
  host.send(hubo::encode(hubo::encoder_request(15)));
  host.send(hubo::encode(hubo::encoder_request(12)));
  host.run(200us);
  host.simulation.inject(1, JointFault::silent);
  host.run(10ms);
  auto frames = host.received();
  REQUIRE(frames.size() == 1);
  CHECK(hubo::decode_encoder(frames[0]).value().board == 12);
  host.send(hubo::encode(hubo::status_request(15)));
  host.run(10ms);
  CHECK(host.received().empty());
  host.simulation.inject(1, JointFault::none);
  CHECK_FALSE(host.status(15).motors[0].driver_on);
  CHECK(host.status(15).motors[1].faults == 0);
}

TEST_CASE(
    "a broken encoder or power stage switches its own motor off until it is mended and the fault forgotten") {
  for (const auto& [fault, expected] : {std::pair{JointFault::encoder, hubo::fault::encoder},
                                        std::pair{JointFault::power_stage, hubo::fault::driver}}) {
    Host host(small_hubo());
    host.switch_on(15);
    host.run(5ms);
    host.simulation.inject(0, fault);
    CHECK(host.status(15).motors[0].faults == expected);
    CHECK_FALSE(host.status(15).motors[0].driver_on);
    CHECK(host.status(15).motors[1].running());
    host.send(hubo::encode(hubo::initialise(15)));
    CHECK(host.status(15).motors[0].faults == expected);  // the cause is still there
    host.simulation.inject(0, JointFault::none);
    CHECK(host.status(15).motors[0].faults == expected);  // the fault is latched
    host.send(hubo::encode(hubo::initialise(15)));
    host.switch_on(15);
    host.run(1ms);
    CHECK(host.status(15).motors[0].running());
  }
}

TEST_CASE("a jammed joint stays where it is while its reference moves on") {
  Host host(small_hubo());
  host.switch_on(15);
  host.run(5ms);
  host.simulation.inject(0, JointFault::jammed);
  host.reference(15, {9000, -12732});
  host.run(100ms);
  CHECK(host.simulation.position(0) == doctest::Approx(0.1).epsilon(1e-3));
  host.simulation.inject(0, JointFault::none);
  host.run(500ms);
  CHECK(host.simulation.position(0) == doctest::Approx(9000 / 63662.0).epsilon(1e-3));
}

TEST_CASE("zeroing the encoder renames the place without moving the joint") {
  Host host(small_hubo());
  host.switch_on(15);
  host.run(5ms);
  host.send(hubo::encode(hubo::zero_encoder(15, 0)));
  CHECK(host.encoder(15).counts[0] == 0);
  host.run(100ms);
  CHECK(std::abs(host.simulation.position(0) - 0.1) < 1e-4);
  CHECK(host.encoder(15).counts[1] == -12732);
}

TEST_CASE("frames that make no sense leave a board as it was") {
  Host host(small_hubo());
  host.switch_on(15);
  host.run(5ms);
  const std::array<std::uint8_t, 8> bytes{15, 0xF0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  for (std::size_t length = 0; length <= 8; ++length) {
    host.send(can::make_frame(hubo::command_id, std::span(bytes).first(length)));
    if (length != 6) host.send(can::make_frame(hubo::reference_base + 15, std::span(bytes).first(length)));
    host.run(5ms);
  }
  CHECK(host.received().empty());
  CHECK(host.status(15).motors[0].running());
  CHECK(std::abs(host.encoder(15).counts[0] - 6366) <= 1);
}
