// Tests a whole robot in simulation: the load of its buses, runs that are equal to the last bit, and the
// rules of the loop. It refuses robots that it cannot simulate.
#include "takt/sim/robot_simulation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sim/simulated_host.hpp"
#include "support/rt_guard.hpp"
#include "takt/can/hubo.hpp"
#include "takt/can/servo.hpp"
#include "takt/drives/registry.hpp"

using namespace takt;
using namespace takt::test::simulated_host;
using namespace std::chrono_literals;

TEST_CASE("a joint behind a gear is simulated as its motor") {
  auto robot = shipped("arm6");
  robot.joints[1].plant.start = 0.5;
  robot.transmissions = {
      {"gear", robot::TransmissionKind::simple, {{1, 10, 0.1}}, {{"motor", 2}}}};  // joint = motor / 20 + 0.1
  const auto simulation = RobotSimulation::create(robot);
  REQUIRE(simulation.has_value());
  CHECK(simulation->position(1) == doctest::Approx(20 * (0.5 - 0.1)));
  CHECK(simulation->position(0) == robot.joints[0].plant.start);
  robot.transmissions[0].actuators[0].reduction = 0;
  CHECK_FALSE(RobotSimulation::create(robot).has_value());
}

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
