// Masters against simulated drives of the three vendors, over frames alone: start-up, motion, silence,
// faults.
#include <doctest/doctest.h>

#include <numbers>

#include "drives/mit/drive.hpp"
#include "mit_rig.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace std::chrono_literals;
using sim::JointFault;
using test::cheetah;
using test::cubemars;
using test::damiao;
using test::MitRig;
namespace mit = drives::mit;

namespace {

constexpr double still = 5e-3;  // rad: position step, friction, deflection of a drive that holds as a spring

constexpr mit::Ranges ranges{12.5, 30, 18};       // of the rig
constexpr mit::Command stored{1.4, 0, 80, 2, 0};  // away from the first joint

/// A rig whose drives are ready.
struct ReadyRig : MitRig {
  explicit ReadyRig(const robot::RobotDescription& robot = test::three_vendors()) : MitRig(robot) {
    power(true);
    run(500ms);
    REQUIRE(all(DriveState::ready));
  }
};

Result<can::Frame> write_register(std::uint8_t drive, mit::Register number, std::uint32_t value) {
  return encode(mit::RegisterFrame{mit::register_id, drive, mit::RegisterOperation::write,
                                   static_cast<std::uint8_t>(number), value});
}

bool is_without_gains(const can::Frame& frame, std::uint32_t id) {
  const auto command = mit::decode_command(frame, id, ranges);
  return command && command->kp == 0 && command->kd == 0;
}

}  // namespace

TEST_CASE("drives of three vendors come up without a jump, follow, and go down") {
  MitRig rig;
  rig.run(100ms);
  CHECK(rig.all(DriveState::off));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(rig.feedback[i].heard);
    CHECK(std::abs(rig.feedback[i].position - rig.description.joints[i].plant.start) < 1e-3);
    CHECK(rig.feedback[i].fault == 0);
  }
  rig.power(true);
  rig.run(400ms);
  CHECK(rig.all(DriveState::ready));
  CHECK(rig.farthest < still);

  // A wave of 0.3 rad to one side, once a second.
  std::vector<double> origins;
  for (const auto& command : rig.commands) origins.push_back(command.position);
  double worst = 0;
  test::RtGuard guard;
  for (int i = 0; i < 1000; ++i) {
    const double phase = 2 * std::numbers::pi * i * to_seconds(rig.description.period);
    for (std::size_t k = 0; k < 3; ++k) {
      rig.commands[k].position = origins[k] + 0.15 * (1 - std::cos(phase));
      rig.commands[k].velocity = 0.15 * 2 * std::numbers::pi * std::sin(phase);
    }
    rig.cycle();
    for (std::size_t k = 0; k < 3; ++k)
      worst = std::max(worst, std::abs(rig.simulation.position(k) - rig.commands[k].position));
  }
  CHECK(guard.report() == "");
  CHECK(worst < 0.03);
  CHECK(rig.all(DriveState::ready));

  rig.power(false);
  rig.run(100ms);
  CHECK(rig.all(DriveState::off));
  const robot::HardwareCounters counters = rig.hardware->counters();
  CHECK(counters.frames_refused == 0);
  CHECK(counters.frames_malformed == 0);
  CHECK(counters.frames_unexpected == 0);
  CHECK(rig.simulation.bus(0).statistics().load() < 0.5);

  rig.power(true);
  rig.run(400ms);
  CHECK(rig.all(DriveState::ready));
}

TEST_CASE(
    "a drive that is switched off is without gains at once, and ready no longer only once it has left") {
  ReadyRig rig;
  std::array<std::vector<can::Frame>, 4> sent;
  rig.port.outgoing = [&](can::Frame& frame) {
    if (frame.id < sent.size()) sent[frame.id].push_back(frame);
    return true;
  };
  rig.power(false);
  for (int cycle = 0; cycle < 8; ++cycle) {
    rig.cycle();
    for (std::uint32_t id = 1; id <= 3; ++id) {
      const bool has_left = rig.feedback[id - 1].drive != DriveState::ready;
      if (cycle < 3 || has_left) CHECK(has_left == (sent[id].size() > 3));
    }
  }
  for (std::uint32_t id = 1; id <= 3; ++id) {
    CHECK(rig.feedback[id - 1].drive != DriveState::ready);
    REQUIRE(sent[id].size() >= 3);
    CHECK(sent[id].size() < 10);
    CHECK(is_without_gains(sent[id][0], id));
    CHECK(mit::decode_special(sent[id][1]).value().special == mit::Special::exit);
  }
}

TEST_CASE("each drive gets one frame in a cycle, in start-up, too") {
  MitRig rig;
  std::array<int, 3> sent{};
  rig.port.outgoing = [&](can::Frame& frame) {
    ++sent[frame.id == mit::register_id ? damiao : frame.id - 1];
    return true;
  };
  rig.power(true);
  rig.run(400ms);
  CHECK(sent == std::array<int, 3>{200, 200, 200});
}

TEST_CASE("velocity and effort are followed, too, and after a change of mode the drive holds its command") {
  ReadyRig rig;
  for (auto& command : rig.commands) {
    command.mode = CommandMode::velocity;
    command.velocity = 1;
  }
  rig.run(1s);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(rig.feedback[i].mode == CommandMode::velocity);
    // Damping alone: friction takes its part. 0.2 N m over kd = 2 N m s/rad.
    CHECK(rig.simulation.velocity(i) == doctest::Approx(0.9).epsilon(0.05));
    CHECK(rig.feedback[i].velocity == doctest::Approx(rig.simulation.velocity(i)).epsilon(0.05));
  }
  for (auto& command : rig.commands) {
    command.mode = CommandMode::effort;
    command.effort = -0.5;
  }
  rig.run(3s);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(rig.feedback[i].mode == CommandMode::effort);
    CHECK(rig.simulation.velocity(i) == doctest::Approx(-4).epsilon(0.05));  // (0.5 - 0.1) / 0.1
    CHECK(rig.feedback[i].effort == doctest::Approx(-0.5).epsilon(0.03));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    rig.commands[i].mode = CommandMode::velocity;
    rig.commands[i].velocity = 0;
  }
  rig.run(500ms);
  for (std::size_t i = 0; i < 3; ++i) {
    rig.commands[i].mode = CommandMode::position;
    rig.commands[i].position = rig.feedback[i].position;
  }
  rig.run(500ms);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(std::abs(rig.simulation.position(i) - rig.commands[i].position) < still);
}

TEST_CASE("NaN and infinity move nothing") {
  ReadyRig rig;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double before = rig.simulation.position(damiao);
  rig.commands[damiao].position = nan;
  rig.run(100ms);
  rig.commands[damiao].mode = CommandMode::effort;
  rig.commands[damiao].effort = std::numeric_limits<double>::infinity();
  rig.run(100ms);
  rig.commands[damiao].mode = CommandMode::velocity;
  rig.commands[damiao].velocity = nan;
  rig.run(100ms);
  CHECK(rig.feedback[damiao].mode == CommandMode::position);
  CHECK(std::abs(rig.simulation.position(damiao) - before) < still);
  CHECK(rig.all(DriveState::ready));
}

// ---- Mistakes of a careless master, which ours avoids

TEST_CASE("a cheetah kicks with a command that it stored while it was disabled") {
  for (const bool with_zero_frame : {false, true}) {
    CAPTURE(with_zero_frame);
    const robot::RobotDescription robot = test::three_vendors();
    mit::Drive drive(1, {}, Time{}, robot.joints[cheetah]);
    Time now{};
    const auto send = [&](const Result<can::Frame>& frame) {
      REQUIRE(frame.has_value());
      can::Frame arrived = *frame;
      arrived.stamp = now += 2ms;
      drive.receive(arrived);
    };
    send(encode(stored, 1U, ranges));
    if (with_zero_frame) send(encode(mit::Command{0.4, 0, 0, 0, 0}, 1U, ranges));
    send(encode(mit::SpecialFrame{1, mit::Special::enter}));
    drive.advance(now + 20ms);
    CHECK((std::abs(drive.position() - 0.4) > 0.05) == !with_zero_frame);
  }
}

TEST_CASE("the same is seen of a whole robot, and only with a master that leaves the zero frame out") {
  for (const bool careless : {true, false}) {
    CAPTURE(careless);
    MitRig rig;
    if (careless) {
      rig.port.outgoing = [](can::Frame& frame) {  // commands the target before the drive is enabled
        if (is_without_gains(frame, 1)) frame = encode(stored, 1U, ranges).value();
        return true;
      };
    } else {
      rig.tool(encode(stored, 1U, ranges));  // left by another program
    }
    rig.run(50ms);
    rig.power(true);
    rig.run(400ms);
    CHECK((rig.farthest > 0.1) == careless);
  }
}

TEST_CASE(
    "what another program left in a disabled drive is replaced before it is enabled, also where frames are "
    "lost") {
  for (const int lost : {0, 1, 2, 5}) {
    CAPTURE(lost);
    MitRig rig;
    rig.run(100ms);
    for (std::uint32_t id = 1; id <= 3; ++id) rig.tool(encode(stored, id, ranges));
    rig.power(true);
    std::array<int, 4> seen{};
    rig.port.outgoing = [&](can::Frame& frame) {
      return frame.id > 3 || !is_without_gains(frame, frame.id) || ++seen[frame.id] > lost;
    };
    rig.run(500ms);
    CHECK(rig.all(DriveState::ready));
    CHECK(rig.farthest < still);
  }
}

TEST_CASE("replies and commands that are lost delay a start, and cause no jump") {
  auto random = test::generator(2);
  for (std::size_t i = test::count(20, 1000); i > 0; --i) {
    MitRig rig;
    const double lost = test::uniform(random, 0, 0.4);
    CAPTURE(lost);
    const auto passes = [&](can::Frame&) { return test::uniform(random, 0, 1) >= lost; };
    rig.port.incoming = passes;
    rig.port.outgoing = passes;
    rig.power(true);
    rig.run(2s);
    CHECK(rig.farthest < still);
    rig.port.incoming = nullptr;
    rig.port.outgoing = nullptr;
    rig.power(false);
    rig.run(100ms);
    if (rig.feedback[damiao].drive == DriveState::fault) {  // it lost so many commands in a row
      CHECK(rig.fault_of(damiao) == "no command came before its time-out ran out");
      rig.clear(damiao);
      rig.run(100ms);
    }
    CHECK(rig.all(DriveState::off));
    rig.power(true);
    rig.run(500ms);
    CHECK(rig.all(DriveState::ready));
    CHECK(rig.farthest < still);
  }
}

// ---- Silence

TEST_CASE("a drive without power is unknown, and comes back once its joint is switched off and on") {
  for (std::size_t joint = 0; joint < 3; ++joint) {
    CAPTURE(joint);
    ReadyRig rig;
    rig.simulation.inject(joint, JointFault::silent);
    rig.run(100ms);
    CHECK(rig.feedback[joint].drive == DriveState::unknown);
    CHECK(rig.feedback[(joint + 1) % 3].drive == DriveState::ready);
    rig.simulation.inject(joint, JointFault::none);
    rig.run(100ms);
    CHECK(rig.feedback[joint].drive == DriveState::unknown);  // it is unknown whether it is on

    rig.commands[joint].want_power = false;
    rig.run(200ms);
    CHECK(rig.feedback[joint].drive == DriveState::off);
    rig.commands[joint].want_power = true;
    rig.run(500ms);
    CHECK(rig.all(DriveState::ready));
    CHECK(rig.farthest < still);
  }
}

TEST_CASE("drives that get their power after the program began come up, although enter is lost at first") {
  MitRig rig;
  for (std::size_t i = 0; i < 3; ++i) rig.simulation.inject(i, JointFault::silent);
  rig.power(true);
  rig.run(300ms);
  CHECK(rig.all(DriveState::unknown));
  for (std::size_t i = 0; i < 3; ++i) rig.simulation.inject(i, JointFault::none);
  rig.run(50ms);
  CHECK(rig.feedback[damiao].drive == DriveState::off);
  for (int i = 0; i < 300; ++i) {
    rig.run(2ms);
    CHECK(rig.feedback[damiao].fault == 0);
  }
  CHECK(rig.all(DriveState::ready));
  CHECK(rig.farthest < still);
}

TEST_CASE("a drive that answers on its own identifier takes no answer for a command, however many wait") {
  ReadyRig rig;
  constexpr std::uint8_t id = 2;
  constexpr drives::mit::Command at_start{-0.3, 0, 80, 2, 0};
  const can::Frame hold = encode(at_start, id, drives::mit::Ranges{12.5, 30, 18}).value();
  const std::array<can::Frame, 8> burst{hold, hold, hold, hold, hold, hold, hold, hold};
  for (int i = 0; i < 20; ++i) {
    const double before = rig.simulation.position(cubemars);
    rig.simulation.host(0).send(burst);
    rig.run(2 * rig.description.period);
    CHECK(std::abs(rig.simulation.position(cubemars) - before) < 0.1);
  }
  rig.run(20ms);
  const std::uint64_t asked = rig.hardware->counters().frames_sent;
  const std::uint64_t answered = rig.hardware->counters().frames_received;
  rig.run(200ms);
  CHECK(rig.hardware->counters().frames_received - answered <=
        rig.hardware->counters().frames_sent - asked + 3);
}

TEST_CASE("silence is counted in requests") {
  ReadyRig rig;
  rig.port.incoming = [](can::Frame& frame) { return frame.id != 2; };
  for (std::uint32_t i = 0; i + 1 < rig.description.silence_limit(); ++i) rig.cycle();
  CHECK(rig.feedback[cubemars].drive == DriveState::ready);
  rig.cycle();
  CHECK(rig.feedback[cubemars].drive == DriveState::unknown);
  CHECK(rig.feedback[cheetah].drive == DriveState::ready);
}

TEST_CASE("what the drives do while their master sleeps: limp, held, switched off with an error") {
  ReadyRig rig;
  for (std::size_t i = 0; i < 3; ++i) rig.simulation.set_load(i, -1);
  rig.run(200ms);
  std::array<double, 3> before{};
  for (std::size_t i = 0; i < 3; ++i) before[i] = rig.simulation.position(i);
  rig.sleep(200ms);
  CHECK(rig.simulation.position(cheetah) - before[cheetah] > 0.05);
  CHECK(std::abs(rig.simulation.position(cubemars) - before[cubemars]) < still);
  CHECK(rig.simulation.position(damiao) - before[damiao] > 0.05);
  rig.cycle();
  rig.cycle();
  CHECK(rig.feedback[damiao].drive == DriveState::fault);
  CHECK(rig.fault_of(damiao) == "no command came before its time-out ran out");
  CHECK(rig.feedback[cubemars].drive == DriveState::ready);
}

TEST_CASE("a restarted program finds drives as the last one left them") {
  ReadyRig rig;
  rig.sleep(300ms);  // it crashed: the CubeMars holds, the Damiao has an error
  rig.start_masters();
  rig.power(false);
  rig.run(200ms);
  CHECK(rig.all(DriveState::off));
  rig.power(true);
  rig.run(500ms);
  CHECK(rig.all(DriveState::ready));
  CHECK(rig.farthest < still);
}

// ---- Faults

TEST_CASE("errors of drives are printed in words, stay, and are cleared once their cause is gone") {
  for (const std::size_t joint : {cubemars, damiao}) {
    CAPTURE(joint);
    ReadyRig rig;
    rig.simulation.inject(joint, JointFault::power_stage);
    rig.run(50ms);
    CHECK(rig.feedback[joint].drive == DriveState::fault);
    CHECK(rig.fault_of(joint) == "over-current");
    CHECK(rig.feedback[cheetah].drive == DriveState::ready);

    rig.clear(joint);  // the cause is still there
    rig.run(200ms);
    CHECK(rig.feedback[joint].drive == DriveState::fault);

    rig.simulation.inject(joint, JointFault::none);
    rig.run(100ms);
    CHECK(rig.feedback[joint].drive == DriveState::fault);
    rig.clear(joint);
    rig.run(600ms);
    CHECK(rig.all(DriveState::ready));
    CHECK(rig.farthest < still);
  }
}

TEST_CASE("a Damiao that goes off unasked has lost its power until it is switched off or cleared") {
  ReadyRig rig;
  rig.tool(encode(mit::SpecialFrame{3, mit::Special::exit}));
  rig.run(50ms);
  CHECK(rig.feedback[damiao].drive == DriveState::fault);
  CHECK(rig.fault_of(damiao) == "the drive switched off without a command");
  rig.commands[damiao].want_power = false;
  rig.run(100ms);
  CHECK(rig.feedback[damiao].drive == DriveState::off);
  rig.commands[damiao].want_power = true;
  rig.run(500ms);
  CHECK(rig.all(DriveState::ready));
}

TEST_CASE("a Damiao whose registers are not those of the description is refused by name") {
  using mit::Register;
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  struct Case {
    Register number;
    std::uint32_t value;
    std::uint32_t good;
    const char* words;
  };
  const std::array<Case, 5> cases{
      {{Register::control_mode, 2, 1, "its CTRL_MODE is not MIT"},
       {Register::position_range, bits(12.566F), bits(12.5F),
        "its PMAX is not the position_range of the description"},
       {Register::velocity_range, bits(45), bits(30),
        "its VMAX is not the velocity_range of the description"},
       {Register::torque_range, bits(std::numeric_limits<float>::quiet_NaN()), bits(18),
        "its TMAX is not the torque_range of the description"},
       {Register::torque_range, bits(-18), bits(18), "its TMAX is not the torque_range of the description"}}};
  for (const Case& wrong : cases) {
    CAPTURE(wrong.words);
    MitRig rig;
    rig.tool(write_register(3, wrong.number, wrong.value));
    rig.power(true);
    rig.run(500ms);
    CHECK(rig.feedback[damiao].drive == DriveState::fault);
    CHECK(rig.fault_of(damiao) == wrong.words);
    CHECK(rig.feedback[cheetah].drive == DriveState::ready);
    CHECK(rig.farthest < still);

    rig.tool(write_register(3, wrong.number, wrong.good));
    rig.clear(damiao);
    rig.run(500ms);
    CHECK(rig.all(DriveState::ready));
  }
}

TEST_CASE("a Damiao that does not take its time-out is refused") {
  MitRig rig;
  rig.port.incoming = [](can::Frame& frame) {
    if (mit::is_register_answer(frame, 3) && frame.data[3] == 9) frame.data[4] ^= 1U;
    return true;
  };
  rig.power(true);
  rig.run(200ms);
  CHECK(rig.fault_of(damiao) == "it does not take its TIMEOUT");
}

TEST_CASE("positions are counted on where replies wrap, and no drive is enabled beyond its field") {
  robot::RobotDescription robot = test::three_vendors();
  for (auto& joint : robot.joints) {
    joint.drive.set("position_range", 1.0);
    joint.plant.start = joint.counts_per_radian > 0 ? 0.9 : -0.9;
  }
  MitRig rig(robot);
  rig.run(100ms);
  CHECK(rig.all(DriveState::off));
  for (std::size_t i = 0; i < 3; ++i)
    rig.simulation.set_load(i, rig.description.joints[i].counts_per_radian * -0.3);
  rig.run(2s);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::abs(rig.simulation.position(i)) > 3);
    CHECK(rig.feedback[i].position == doctest::Approx(rig.simulation.position(i)).epsilon(0.02));
    CHECK(rig.feedback[i].drive == DriveState::fault);
    CHECK(rig.fault_of(i) == "it stands beyond its position_range");
  }
  rig.power(true);
  rig.run(100ms);
  CHECK(rig.all(DriveState::fault));

  // Back by hand, slowly.
  for (int cycle = 0; cycle < 20'000; ++cycle) {
    for (std::size_t i = 0; i < 3; ++i) {
      const double position = rig.simulation.position(i);
      rig.simulation.set_load(i, std::abs(position) > 0.5 ? std::copysign(0.12, position) : 0);
    }
    rig.cycle();
  }
  rig.run(1s);
  CHECK(rig.all(DriveState::ready));
}

TEST_CASE("foreign and malformed frames are counted, and change nothing") {
  ReadyRig rig;
  const robot::HardwareCounters before = rig.hardware->counters();
  std::size_t changed = 0;
  rig.port.incoming = [&](can::Frame& frame) {
    if (frame.id == 2 && changed < 3) frame.length = 5;
    if (frame.id == 0 && changed < 3) frame.data[0] = 9;
    if (frame.id == 0x13 && changed < 3) frame.data[0] = 0x53;
    ++changed;
    return true;
  };
  rig.run(100ms);
  const robot::HardwareCounters after = rig.hardware->counters();
  CHECK(after.frames_malformed - before.frames_malformed == 2);
  CHECK(after.frames_unexpected - before.frames_unexpected == 1);
  CHECK(rig.all(DriveState::ready));
}
