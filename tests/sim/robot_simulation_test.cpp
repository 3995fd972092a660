#include "takt/sim/robot_simulation.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/rt_guard.hpp"
#include "support/source_dir.hpp"
#include "takt/can/hubo.hpp"
#include "takt/can/servo.hpp"
#include "takt/drives/registry.hpp"

using namespace takt;
using namespace std::chrono_literals;
namespace hubo = can::hubo;
namespace servo = can::servo;
using can::Frame;
using sim::JointFault;
using sim::RobotSimulation;

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr auto dialect = hubo::Dialect::podo;

robot::RobotDescription shipped(const std::string& name) {
  auto robot = drives::load_robot_file(std::string(TAKT_SOURCE_DIR) + "/examples/robots/" + name + ".json");
  REQUIRE(robot.has_value());
  return *robot;
}

/// Two joints on one board, and one on a board of its own.
robot::RobotDescription small_hubo() {
  robot::RobotDescription robot;
  robot.buses.push_back({"bus", drives::find("hubo")});
  for (int i = 0; i < 3; ++i) {
    robot::JointDescription joint;
    joint.name = "joint" + std::to_string(i);
    joint.counts_per_radian = i == 1 ? -63662 : 63662;
    joint.board = i < 2 ? 15 : 12;
    joint.channel = i == 1 ? 1 : 0;
    joint.plant.start = 0.1 * (i + 1);
    robot.joints.push_back(joint);
  }
  return robot;
}

robot::RobotDescription small_servo() {
  robot::RobotDescription robot;
  robot.period = 1ms;
  robot.buses.push_back({"bus", drives::find("servo")});
  for (int i = 0; i < 2; ++i) {
    robot::JointDescription joint;
    joint.name = "joint" + std::to_string(i);
    joint.counts_per_radian = 166886;
    joint.board = static_cast<std::uint8_t>(i + 1);
    joint.limits.acceleration = 10;
    joint.plant.start = 0.5;
    robot.joints.push_back(joint);
  }
  return robot;
}

/// A host that talks to a simulated robot frame by frame, one bus at a time.
struct Host {
  explicit Host(const robot::RobotDescription& description)
      : robot(description), simulation(RobotSimulation::create(description).value()) {}

  void send(const Result<Frame>& frame, std::size_t bus = 0) {
    REQUIRE(frame.has_value());
    auto port = simulation.host(bus);
    REQUIRE(port.send({&*frame, 1}) == 1);
  }
  void run(Duration duration) { simulation.advance(simulation.now() + duration); }
  std::vector<Frame> received(std::size_t bus = 0) {
    auto port = simulation.host(bus);
    std::vector<Frame> frames(512);
    frames.resize(port.receive(frames));
    return frames;
  }

  // Hubo
  void reference(std::uint8_t board, std::array<std::int32_t, 2> counts, std::size_t bus = 0) {
    send(hubo::encode(hubo::Reference{board, counts}), bus);
  }
  void switch_on(std::uint8_t board, std::size_t bus = 0) {
    send(hubo::encode(hubo::driver(board, true)), bus);
    send(hubo::encode(hubo::control(board, true)), bus);
  }
  hubo::EncoderReply encoder(std::uint8_t board) {
    received();
    send(hubo::encode(hubo::encoder_request(board)));
    run(1ms);
    const auto frames = received();
    REQUIRE(frames.size() == 1);
    return hubo::decode_encoder(frames[0]).value();
  }
  hubo::StatusReply status(std::uint8_t board) {
    received();
    send(hubo::encode(hubo::status_request(board)));
    run(1ms);
    const auto frames = received();
    REQUIRE(frames.size() == 1);
    return hubo::decode_status(frames[0], dialect).value();
  }

  // Servo
  servo::GroupCommand command_of(double position, double velocity, bool enable = true) {
    servo::GroupCommand command;
    command.sequence = ++sequence;
    for (std::size_t i = 0; i < robot.joints.size(); ++i) {
      command.slots[i] = {.addressed = true, .enable = enable, .position = position, .velocity = velocity};
    }
    return command;
  }
  std::vector<servo::DriveReply> exchange(const servo::GroupCommand& command) {
    send(servo::encode(command));
    run(1ms);
    std::vector<servo::DriveReply> replies;
    for (const Frame& frame : received()) replies.push_back(servo::decode_reply(frame).value());
    return replies;
  }

  robot::RobotDescription robot;
  RobotSimulation simulation;
  std::uint8_t sequence = 0;
};

double quintic(double s) { return s * s * s * (10 + s * (-15 + s * 6)); }
double quintic_rate(double s) { return s * s * (30 + s * (-60 + s * 30)); }

}  // namespace

// ---- Hubo boards

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

// ---- The cycle of the whole humanoid

TEST_CASE("the humanoid's cycle loads its buses as the arithmetic of frame lengths says") {
  Host host(shipped("mhubo"));
  std::array<std::vector<std::uint8_t>, 2> boards;
  for (const auto& joint : host.robot.joints) {
    auto& known = boards[joint.bus];
    if (std::find(known.begin(), known.end(), joint.board) == known.end()) known.push_back(joint.board);
  }
  for (std::size_t bus = 0; bus < 2; ++bus) {
    for (const std::uint8_t board : boards[bus]) host.switch_on(board, bus);
  }
  host.run(5ms);
  host.received(0), host.received(1);
  const std::array before{host.simulation.bus(0).statistics(), host.simulation.bus(1).statistics()};

  constexpr int cycles = 200;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    for (std::size_t bus = 0; bus < 2; ++bus) {
      for (const std::uint8_t board : boards[bus]) host.send(hubo::encode(hubo::encoder_request(board)), bus);
      for (const std::uint8_t board : boards[bus])
        host.reference(board, {12345 + cycle, -54321 - cycle}, bus);
      host.send(hubo::encode(
                    hubo::status_request(boards[bus][static_cast<std::size_t>(cycle) % boards[bus].size()])),
                bus);
    }
    host.run(5ms);
    for (std::size_t bus = 0; bus < 2; ++bus) REQUIRE(host.received(bus).size() == boards[bus].size() + 1);
  }
  for (std::size_t bus = 0; bus < 2; ++bus) {
    const auto& statistics = host.simulation.bus(bus).statistics();
    const double n = static_cast<double>(boards[bus].size());
    // Each board: request 3 bytes, reply 8, references 6; once a cycle a status request 3 and reply 8.
    // Without and with the most stuff bits: 71/85, 111/135, 95/115 bits.
    const double least = n * (71 + 111 + 95) + 71 + 111;
    const double most = n * (85 + 135 + 115) + 85 + 135;
    const double bits = static_cast<double>((statistics.busy - before[bus].busy).count()) / 1000 / cycles;
    MESSAGE("bus " << bus << ": " << bits << " of 5000 bits, " << bits / 50 << " %");
    CHECK(bits >= least);
    CHECK(bits <= most);
    CHECK(statistics.frames - before[bus].frames == cycles * (3 * boards[bus].size() + 2));
    CHECK(statistics.refused == 0);
    CHECK(statistics.overflows == 0);
  }
}

// ---- Servo drives

TEST_CASE("all drives of a group latch at the command and answer in the order of their nodes") {
  Host host(shipped("arm6"));
  const auto replies = host.exchange(host.command_of(0, 0, false));
  REQUIRE(replies.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(replies[i].node == i + 1);
    CHECK(replies[i].sequence == 1);
    CHECK(replies[i].state == servo::State::off);
    CHECK(replies[i].position == doctest::Approx(host.robot.joints[i].plant.start).epsilon(1e-4));
  }
  CHECK(host.simulation.bus(0).statistics().load() < 0.56);
}

TEST_CASE("a drive's reply leaves it after its reply delay, with what it measured when the command arrived") {
  robot::RobotDescription robot = small_servo();
  robot.joints.resize(1);
  Host host(robot);
  const auto command = servo::encode(host.command_of(0, 0, false));
  host.send(command);
  host.run(1ms);
  const auto frames = host.received();
  REQUIRE(frames.size() == 1);
  const auto& bus = host.simulation.bus(0);
  const Duration gap = 3us;
  CHECK(frames[0].stamp == Time(bus.duration_of(*command) - gap + 30us + bus.duration_of(frames[0]) - gap));
}

TEST_CASE(
    "a drive that lost its power lets its load fall, and knows nothing of before when it has it again") {
  Host host(small_servo());
  host.simulation.set_load(0, 5);
  for (int i = 0; i < 200; ++i) host.exchange(host.command_of(0.5, 0));
  CHECK(std::abs(host.simulation.position(0) - 0.5) < 1e-3);
  host.simulation.inject(0, JointFault::silent);
  host.run(200ms);
  CHECK(host.simulation.position(0) < 0.3);
  host.simulation.inject(0, JointFault::none);
  auto command = host.command_of(0.5, 0, false);
  command.sequence = 200;  // the number of the last command: the other drive takes it as a repetition
  const auto replies = host.exchange(command);
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].node == 1);
  CHECK(replies[0].state == servo::State::off);
}

TEST_CASE("a drive follows a quintic at 1 kHz without lag") {
  Host host(small_servo());
  for (int i = 0; i < 5; ++i) host.exchange(host.command_of(0.5, 0));
  double sum = 0;
  const int steps = 3000;
  for (int i = 0; i < steps; ++i) {
    const double s = static_cast<double>(i) / steps;
    const double position = 0.5 + pi / 2 * quintic(s);
    const double velocity = pi / 2 * quintic_rate(s) / 3;
    const auto command = host.command_of(position, velocity);
    const auto frame = servo::encode(command);
    host.send(frame);
    // The command holds for the time of its arrival.
    host.run(host.simulation.bus(0).duration_of(*frame) - 3us);
    const double error = position - host.simulation.position(0);
    sum += error * error;
    host.simulation.advance(Time((i + 6) * 1ms));
    for (const Frame& reply : host.received())
      REQUIRE(servo::decode_reply(reply).value().state == servo::State::ready);
  }
  const double degrees = std::sqrt(sum / steps) * 180 / pi;
  MESSAGE("tracking error " << degrees << " deg rms");
  CHECK(degrees < 0.03);
  CHECK(degrees > 1e-5);
}

TEST_CASE("a drive on a joint that turns the other way round speaks of its own turning") {
  robot::RobotDescription robot = small_servo();
  robot.joints[0].counts_per_radian *= -1;
  Host host(robot);
  CHECK(host.exchange(host.command_of(0, 0, false))[0].position == doctest::Approx(-0.5).epsilon(1e-4));
  for (int i = 0; i < 200; ++i) {
    auto command = host.command_of(0.5 + i * 0.001, 1);
    command.slots[0].position *= -1;
    command.slots[0].velocity *= -1;
    const auto replies = host.exchange(command);
    REQUIRE(replies[0].state == servo::State::ready);
    CHECK(std::abs(replies[0].position + replies[1].position) < 1e-3);
  }
  CHECK(host.simulation.position(0) == doctest::Approx(0.7).epsilon(1e-2));
}

TEST_CASE("a drive without commands brakes to rest and reports the reference lost") {
  Host host(small_servo());
  for (int i = 0; i < 5; ++i) host.exchange(host.command_of(0.5, 0));
  for (int i = 0; i < 500; ++i) host.exchange(host.command_of(0.5 + i * 0.001, 1.0));
  const double before = host.simulation.position(0);
  host.run(60ms);
  CHECK(host.simulation.velocity(0) > 0.3);  // the watchdog's 20 ms have passed, and it still brakes evenly
  CHECK(host.simulation.velocity(0) < 0.6);
  host.run(1s);
  CHECK(host.simulation.velocity(0) == 0);
  // From 1 rad/s at 10 rad/s^2: 0.05 rad.
  CHECK(std::abs(host.simulation.position(0) - before - 0.05) < 0.004);
  auto replies = host.exchange(host.command_of(host.simulation.position(0), 0));
  REQUIRE(replies.size() == 2);
  CHECK(replies[0].state == servo::State::fault);
  CHECK(replies[0].fault == static_cast<std::uint8_t>(servo::Fault::reference_lost));

  auto clear = host.command_of(0, 0, false);
  clear.slots[0].clear_fault = true;
  replies = host.exchange(clear);
  CHECK(replies[0].state == servo::State::off);
  CHECK(replies[1].state == servo::State::fault);
  replies = host.exchange(host.command_of(host.simulation.position(0), 0));
  CHECK(replies[0].state == servo::State::ready);
}

TEST_CASE("a repeated sequence number is a stuck sender and not obeyed") {
  Host host(small_servo());
  const auto command = host.command_of(0.5, 0);
  CHECK(host.exchange(command).size() == 2);
  CHECK(host.exchange(command).empty());
  for (int i = 0; i < 50; ++i) host.exchange(command);
  CHECK(host.exchange(host.command_of(0.5, 0))[0].fault ==
        static_cast<std::uint8_t>(servo::Fault::reference_lost));
}

TEST_CASE("faults put into a drive show in its replies, and a mode that it does not know is one") {
  Host host(small_servo());
  host.exchange(host.command_of(0.5, 0));
  host.simulation.inject(0, JointFault::silent);
  auto replies = host.exchange(host.command_of(0.5, 0));
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].node == 2);
  host.simulation.inject(0, JointFault::encoder);
  host.simulation.inject(1, JointFault::power_stage);
  replies = host.exchange(host.command_of(0.5, 0));
  REQUIRE(replies.size() == 2);
  CHECK(replies[0].fault == static_cast<std::uint8_t>(servo::Fault::encoder));
  CHECK(replies[1].fault == static_cast<std::uint8_t>(servo::Fault::over_current));
  host.simulation.inject(0, JointFault::none);
  host.simulation.inject(1, JointFault::none);
  auto clear = host.command_of(0, 0, false);
  for (auto& slot : clear.slots) slot.clear_fault = slot.addressed;
  CHECK(host.exchange(clear)[1].state == servo::State::off);
  auto torque = host.command_of(0.5, 0);
  torque.slots[0].mode = servo::Mode::torque;
  replies = host.exchange(torque);
  CHECK(replies[0].fault == static_cast<std::uint8_t>(servo::Fault::unsupported_mode));
  CHECK(replies[1].state == servo::State::ready);
}

TEST_CASE("a wild command is a following error, and the joint coasts to rest") {
  Host host(small_servo());
  host.exchange(host.command_of(0.5, 0));
  host.exchange(host.command_of(127, 127));
  const auto replies = host.exchange(host.command_of(-127, 0));
  CHECK(replies[0].fault == static_cast<std::uint8_t>(servo::Fault::following_error));
  host.run(20s);
  CHECK(host.simulation.velocity(0) == 0);
  CHECK(std::abs(host.simulation.position(0) - 0.5) < 1);
}

// ---- The whole

TEST_CASE("two runs are equal to the last bit, also when one is advanced in smaller steps") {
  const auto run = [](Duration step) {
    Host host(shipped("mhubo"));
    std::vector<Frame> log;
    std::vector<double> positions;
    for (const auto& joint : host.robot.joints) host.switch_on(joint.board, joint.bus);
    for (int cycle = 1; cycle <= 100; ++cycle) {
      for (const auto& joint : host.robot.joints) {
        if (joint.channel == 0) host.send(hubo::encode(hubo::encoder_request(joint.board)), joint.bus);
        host.reference(joint.board, {cycle * 50, cycle * -30}, joint.bus);
      }
      if (cycle == 50) host.simulation.bus(0).corrupt_next(3);
      if (cycle == 60) host.simulation.inject(5, JointFault::silent);
      while (host.simulation.now() + step < Time(cycle * 5ms)) host.run(step);
      host.simulation.advance(Time(cycle * 5ms));
      for (std::size_t bus = 0; bus < 2; ++bus) {
        for (const Frame& frame : host.received(bus)) log.push_back(frame);
      }
      for (std::size_t i = 0; i < host.robot.joints.size(); ++i)
        positions.push_back(host.simulation.position(i));
    }
    return std::pair(log, positions);
  };
  const auto once = run(5ms);
  CHECK(once.first.size() > 500);
  CHECK(once == run(5ms));
  CHECK(once == run(137us));
}

TEST_CASE("a simulation that runs allocates nothing, takes no lock and asks nothing of the kernel") {
  for (const char* name : {"mhubo", "arm6"}) {
    Host host(shipped(name));
    const bool is_hubo = host.robot.buses[0].protocol == drives::find("hubo");
    auto port = host.simulation.host(0);
    const std::uint8_t board = host.robot.joints.back().board;
    std::array<Frame, 64> frames;
    std::size_t heard = 0;
    test::RtGuard guard;
    for (int cycle = 0; cycle < 200; ++cycle) {
      const auto frame =
          is_hubo ? hubo::encode(hubo::encoder_request(board)) : servo::encode(host.command_of(0, 0));
      static_cast<void>(port.send({&*frame, 1}));
      host.run(host.robot.period);
      heard += port.receive(frames);
      if (cycle == 100) host.simulation.inject(0, JointFault::encoder);
    }
    CHECK(guard.report() == "");
    CHECK(heard > 100);
  }
}

TEST_CASE("a robot that cannot be simulated is refused with the joint and the reason") {
  const auto refused = [](auto change, sim::Errc code) {
    robot::RobotDescription robot = small_hubo();
    change(robot);
    const auto result = RobotSimulation::create(robot);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().error == code);
    CHECK(result.error().message.find("joint") != std::string::npos);
  };
  using robot::RobotDescription;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  refused([](RobotDescription& robot) { robot.joints[1].plant.inertia = 0; }, sim::Errc::bad_plant);
  refused([](RobotDescription& robot) { robot.joints[1].plant.start = infinity; }, sim::Errc::bad_plant);
  refused([](RobotDescription& robot) { robot.joints[1].plant.coulomb_friction = -1; }, sim::Errc::bad_plant);
  refused([](RobotDescription& robot) { robot.joints[1].counts_per_radian = 0; }, sim::Errc::bad_plant);
  refused([](RobotDescription& robot) { robot.joints[1].bus = 1; }, sim::Errc::bad_place);
  refused([](RobotDescription& robot) { robot.joints[1].channel = 2; }, sim::Errc::bad_place);
  refused([](RobotDescription& robot) { robot.joints[1].channel = 0; }, sim::Errc::bad_place);
  refused([](RobotDescription& robot) { robot.joints[1].board = 0x30; }, sim::Errc::bad_place);
  refused([](RobotDescription& robot) { robot.buses[0].protocol = drives::find("servo"); },
          sim::Errc::bad_place);
  refused(
      [](RobotDescription& robot) {
        robot.joints.resize(40, robot.joints[0]);
        for (std::size_t i = 0; i < robot.joints.size(); ++i)
          robot.joints[i].board = static_cast<std::uint8_t>(i);
      },
      sim::Errc::too_many_nodes);
}

TEST_CASE("a simulation can be moved while its ports stay valid") {
  Host host(small_hubo());
  auto port = host.simulation.host(0);
  RobotSimulation moved = std::move(host.simulation);
  const Frame request = hubo::encode(hubo::encoder_request(12)).value();
  CHECK(port.send({&request, 1}) == 1);
  moved.advance(Time(5ms));
  Frame reply;
  CHECK(port.receive({&reply, 1}) == 1);
}
