// The master of Hubo boards against small boards written from the protocol's description: start-up,
// references, shut-down, faults, lost frames and bad input.
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/registry.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>
#include <optional>

#include "support/hardware_rig.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::drives;
using namespace takt::robot;
namespace hubo = takt::can::hubo;

namespace {

constexpr Duration period{5'000'000};
constexpr double counts_per_radian = 10'000;

/// A joint board without a motor: the test sets its position.
struct Board {
  std::array<hubo::MotorStatus, 2> status{};
  std::array<std::int32_t, 2> counts{};
  std::array<std::int32_t, 2> reference{};
  std::array<std::int32_t, 2> reference_at_control_on{};
  int references = 0;
  int initialised = 0;
  bool deaf = false;
};

RobotDescription description() {
  RobotDescription robot;
  robot.period = period;
  robot.feedback_timeout = 4 * period;
  robot.buses = {BusDescription{"left", drives::find("hubo")}, BusDescription{"arm", drives::find("servo")},
                 BusDescription{"right", drives::find("hubo")}};
  const auto add = [&](const char* name, std::size_t bus, std::uint8_t board, std::uint8_t channel,
                       double scale) {
    JointDescription joint;
    joint.name = name;
    joint.bus = bus;
    joint.board = board;
    joint.channel = channel;
    joint.counts_per_radian = scale;
    robot.joints.push_back(joint);
  };
  add("LSP", 0, 17, 0, counts_per_radian);
  add("other", 1, 1, 0, 1);
  add("RSY", 2, 15, 0, counts_per_radian);
  add("REB", 2, 15, 1, -counts_per_radian);
  add("RSR", 2, 14, 0, counts_per_radian);
  return robot;
}

using Master = HuboHardware<test::ScriptedBus>;

/// This robot, with boards behind its buses.
struct Rig : test::HardwareRig<Master> {
  explicit Rig(HuboOptions hubo_options = {})
      : HardwareRig(description(), drives::find("hubo"), HuboBusOptions{hubo_options}),
        options(hubo_options) {
    boards[0][17];
    boards[2][14];
    boards[2][15];
  }

  /// Frames of the last cycle, on all buses, with this command code for this board.
  int sent(hubo::CommandCode code, std::uint8_t board) const {
    int count = 0;
    for (const can::Frame& frame : last_sent) {
      if (const auto command = hubo::decode_command(frame))
        count += command->code == code && command->board == board;
    }
    return count;
  }
  int sent_references() const {
    int count = 0;
    for (const can::Frame& frame : last_sent) count += hubo::decode_reference(frame).has_value();
    return count;
  }

  void start() {
    power(true);
    cycles(40);
    for (std::size_t joint : {0U, 2U, 3U, 4U}) REQUIRE(feedback[joint].drive == DriveState::ready);
  }

  void deliver(std::size_t bus, const can::Frame& frame) override {
    if (const auto reference = hubo::decode_reference(frame)) {
      Board& board = boards[bus].at(reference->board);
      if (board.deaf) return;
      board.reference = reference->counts;
      ++board.references;
      return;
    }
    const hubo::Command command = hubo::decode_command(frame).value();
    Board& board = boards[bus].at(command.board);
    if (board.deaf || drop == command.code) return;
    switch (command.code) {
      case hubo::CommandCode::status:
        reply(bus, *encode(hubo::StatusReply{command.board, board.status}, options.dialect));
        break;
      case hubo::CommandCode::encoder:
        reply(bus, *encode(hubo::EncoderReply{command.board, board.counts}));
        break;
      case hubo::CommandCode::driver:
        if (needs_initialise && board.initialised == 0) break;
        for (auto& motor : board.status) motor.driver_on = command.argument == 1;
        break;
      case hubo::CommandCode::control_on:
        board.reference_at_control_on = board.reference;
        for (auto& motor : board.status) motor.control_on = true;
        break;
      case hubo::CommandCode::control_off:
        for (auto& motor : board.status) motor.control_on = false;
        break;
      case hubo::CommandCode::initialise:
        ++board.initialised;
        board.status = {};
        break;
      default:
        FAIL("not asked for");
        break;
    }
  }

  HuboOptions options;
  std::optional<hubo::CommandCode> drop;  ///< the bus loses these commands
  bool needs_initialise = false;          ///< boards refuse to switch on without initialise
  std::array<std::map<std::uint8_t, Board>, 3> boards;
};

}  // namespace

TEST_CASE("boards are asked where they stand before anybody wants power") {
  Rig rig;
  rig.boards[2][15].counts = {20'000, 5'000};
  rig.cycles(10);
  CHECK(rig.feedback[2].heard);
  CHECK(rig.feedback[2].position == 2.0);
  CHECK(rig.feedback[3].position == -0.5);
  CHECK(rig.feedback[2].stamp == rig.now - period + period / 5);  // time of the reply
  CHECK(rig.feedback[2].drive == DriveState::off);
  CHECK(rig.sent_references() == 0);
  CHECK(rig.boards[2][15].initialised == 0);
  CHECK_FALSE(rig.feedback[1].heard);  // a joint of another protocol
  CHECK(rig.hardware->counters().frames_malformed == 0);
  CHECK(rig.hardware->counters().frames_unexpected == 0);
  CHECK(rig.hardware->counters().frames_refused == 0);
  CHECK(rig.hardware->counters().frames_received > 0);
}

TEST_CASE("each cycle asks all boards for encoders and one board per bus for its status") {
  Rig rig;
  rig.cycles(3);
  std::map<int, int> statuses;
  for (int i = 0; i < 10; ++i) {
    rig.cycle();
    for (const std::uint8_t board : {std::uint8_t{14}, std::uint8_t{15}, std::uint8_t{17}}) {
      CHECK(rig.sent(hubo::CommandCode::encoder, board) == 1);
      statuses[board] += rig.sent(hubo::CommandCode::status, board);
    }
  }
  CHECK(statuses[14] == 5);
  CHECK(statuses[15] == 5);
  CHECK(statuses[17] == 10);
}

TEST_CASE("a board comes up by initialise, driver, control, and starts where it stands") {
  for (const hubo::Dialect dialect : {hubo::Dialect::ach, hubo::Dialect::podo}) {
    Rig rig(HuboOptions{dialect});
    rig.boards[2][15].counts = {1234, -567};
    rig.boards[2][14].counts = {-89, 0};
    rig.power(true);
    for (JointCommand& command : rig.commands) command.position = 1;  // must not be sent before ready
    int ready_after = 0;
    for (; rig.feedback[2].drive != DriveState::ready && ready_after < 50; ++ready_after) {
      rig.cycle();
      if (rig.feedback[2].drive == DriveState::ready) break;
      if (rig.boards[2][15].references > 0)
        CHECK(rig.boards[2][15].reference == std::array<std::int32_t, 2>{1234, -567});
    }
    CHECK(ready_after < 20);
    rig.cycles(5);
    CHECK(rig.boards[2][15].initialised == 1);
    CHECK(rig.boards[2][15].reference_at_control_on == std::array<std::int32_t, 2>{1234, -567});
    CHECK(rig.boards[2][14].reference_at_control_on == std::array<std::int32_t, 2>{-89, -89});
    // Once ready, the commanded positions follow; a board with one motor gets its reference twice.
    CHECK(rig.boards[2][15].reference == std::array<std::int32_t, 2>{10'000, -10'000});
    CHECK(rig.boards[2][14].reference == std::array<std::int32_t, 2>{10'000, 10'000});
    CHECK(rig.sent_references() == 3);
  }
}

TEST_CASE("a board that already runs is taken over without being initialised") {
  Rig rig;
  for (auto& motor : rig.boards[0][17].status) motor.driver_on = motor.control_on = true;
  rig.boards[0][17].counts = {777, 777};
  rig.power(true);
  rig.commands[0].position = 0.0777;
  rig.cycles(20);
  CHECK(rig.feedback[0].drive == DriveState::ready);
  CHECK(rig.boards[0][17].initialised == 0);
  CHECK(rig.boards[0][17].reference == std::array<std::int32_t, 2>{777, 777});
}

TEST_CASE("a board that already runs is not moved by a first command that is not a number") {
  Rig rig;
  for (auto& motor : rig.boards[0][17].status) motor.driver_on = motor.control_on = true;
  rig.boards[0][17].counts = {777, 777};
  rig.power(true);
  rig.commands[0].position = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 20; ++i) {
    rig.cycles(1);
    if (rig.boards[0][17].references > 0)
      CHECK(rig.boards[0][17].reference == std::array<std::int32_t, 2>{777, 777});
  }
  CHECK(rig.feedback[0].drive == DriveState::ready);
  CHECK(rig.boards[0][17].references > 10);
}

TEST_CASE("a board that runs without a request is switched off") {
  Rig rig;
  for (auto& motor : rig.boards[0][17].status) motor.driver_on = motor.control_on = true;
  rig.cycles(10);
  CHECK(rig.feedback[0].drive == DriveState::off);
}

TEST_CASE("power goes off at once and again until the board shows it") {
  Rig rig;
  rig.start();
  rig.boards[2][15].deaf = true;
  rig.power(false);
  rig.cycle();
  for (const std::uint8_t board : {std::uint8_t{14}, std::uint8_t{15}, std::uint8_t{17}}) {
    CHECK(rig.sent(hubo::CommandCode::control_off, board) == 1);
    CHECK(rig.sent(hubo::CommandCode::driver, board) == 1);
  }
  CHECK(rig.sent_references() == 0);
  rig.cycles(30);
  CHECK(rig.boards[2][15].status[0].driver_on);
  // Power is wanted again, but the deaf board has not reported off yet: off comes first.
  rig.power(true);
  rig.boards[2][15].deaf = false;
  bool went_off = false;
  for (int i = 0; i < 60; ++i) {
    rig.cycle();
    went_off = went_off || !rig.boards[2][15].status[0].driver_on;
  }
  CHECK(went_off);
  CHECK(rig.feedback[2].drive == DriveState::ready);
}

TEST_CASE("a board is on only while all of its joints want power") {
  Rig rig;
  rig.start();
  rig.commands[2].want_power = false;
  rig.cycles(5);
  CHECK(rig.feedback[2].drive == DriveState::off);  // not powered, following itself
  CHECK(rig.feedback[3].drive == DriveState::off);  // on the same board
  CHECK(rig.feedback[4].drive == DriveState::ready);
  rig.commands[2].want_power = true;
  rig.cycles(20);
  CHECK(rig.feedback[2].drive == DriveState::ready);
  CHECK(rig.feedback[3].drive == DriveState::ready);
}

TEST_CASE("an initialise that gets lost is repeated while the board does not come up") {
  Rig faulty;
  faulty.boards[2][15].status[0].faults = hubo::fault::jam;  // an old fault, which only initialise clears
  faulty.power(true);
  faulty.drop = hubo::CommandCode::initialise;
  for (int i = 0; i < 50 && faulty.sent(hubo::CommandCode::initialise, 15) == 0; ++i) faulty.cycle();
  faulty.drop.reset();
  faulty.cycles(40);
  CHECK(faulty.boards[2][15].initialised == 1);
  CHECK(faulty.feedback[2].drive == DriveState::ready);

  Rig stubborn;  // refuses driver on before initialise
  stubborn.drop = hubo::CommandCode::initialise;
  stubborn.power(true);
  stubborn.needs_initialise = true;
  stubborn.cycles(10);
  stubborn.drop.reset();
  stubborn.cycles(60);
  CHECK(stubborn.boards[2][15].initialised >= 1);
  CHECK(stubborn.feedback[2].drive == DriveState::ready);
}

TEST_CASE("a board that has run and then booted unnoticed, while it was off, is initialised again") {
  Rig rig;
  rig.needs_initialise = true;
  rig.start();
  rig.power(false);
  rig.cycles(20);
  rig.boards[2][15].initialised = 0;
  rig.power(true);
  rig.cycles(100);
  CHECK(rig.feedback[2].drive == DriveState::ready);
  CHECK(rig.boards[2][15].initialised == 1);
  CHECK(rig.boards[2][14].initialised == 1);  // the first time
}

TEST_CASE("power commands that get lost are repeated") {
  Rig rig;
  auto random = test::generator(5);
  rig.power(true);
  for (int i = 0; i < 600; ++i) {
    for (auto& bus : rig.boards) {
      for (auto& [number, board] : bus) board.deaf = test::uniform_int(random, 0, 2) == 0;
    }
    rig.cycle();
  }
  for (auto& bus : rig.boards) {
    for (auto& [number, board] : bus) board.deaf = false;
  }
  rig.cycles(40);
  for (const std::size_t joint : {0U, 2U, 3U, 4U}) CHECK(rig.feedback[joint].drive == DriveState::ready);
}

TEST_CASE("a fault is shown, motion stops for that motor, and clear_fault starts the board again") {
  Rig rig;
  rig.start();
  rig.boards[2][15].counts = {4000, 100};
  rig.boards[2][15].status[0].faults = hubo::fault::jam | hubo::fault::position_low;
  rig.boards[2][15].status[0].control_on = false;
  rig.cycles(5);
  CHECK(rig.feedback[2].drive == DriveState::fault);
  CHECK(rig.feedback[2].fault == (hubo::fault::jam | hubo::fault::position_low));
  CHECK(rig.feedback[3].drive == DriveState::ready);  // the other motor of the board
  CHECK(rig.feedback[3].fault == 0);
  CHECK(rig.boards[2][15].reference[0] == 4000);  // its present position, whatever the command
  const int initialised = rig.boards[2][15].initialised;
  rig.cycles(50);
  CHECK(rig.boards[2][15].initialised == initialised);
  CHECK(rig.feedback[2].drive == DriveState::fault);  // no fault clears itself

  for (JointCommand& command : rig.commands) command.clear_fault = true;
  rig.cycle();
  for (JointCommand& command : rig.commands) command.clear_fault = false;
  CHECK(rig.sent(hubo::CommandCode::initialise, 15) == 1);
  CHECK(rig.sent(hubo::CommandCode::initialise, 17) == 0);  // it had no fault: initialise would stop it
  rig.cycles(40);
  CHECK(rig.feedback[2].drive == DriveState::ready);
  CHECK(rig.feedback[2].fault == 0);
}

TEST_CASE("a fault that stays is not fought for ever") {
  Rig rig;
  rig.start();
  for (JointCommand& command : rig.commands) command.clear_fault = true;
  rig.boards[2][15].status[0].faults = hubo::fault::temperature;
  rig.cycles(5);
  for (JointCommand& command : rig.commands) command.clear_fault = false;
  int orders = 0;
  for (int i = 0; i < 100; ++i) {
    rig.cycle();
    orders += rig.sent(hubo::CommandCode::initialise, 15);
    rig.boards[2][15].status[0].faults = hubo::fault::temperature;
  }
  CHECK(orders <= 3);
  CHECK(rig.feedback[2].drive == DriveState::fault);
}

TEST_CASE("warnings are shown but are no fault") {
  Rig rig;
  rig.start();
  rig.boards[2][15].status[0].faults = hubo::fault::position_high;
  rig.cycles(5);
  CHECK(rig.feedback[2].drive == DriveState::ready);
  CHECK(rig.feedback[2].fault == hubo::fault::position_high);
}

TEST_CASE("a motor that switches off by itself stays off until power is requested") {
  Rig rig;
  rig.start();
  rig.boards[0][17].status = {};  // as after a loss of supply
  rig.cycles(30);
  CHECK(rig.feedback[0].drive == DriveState::fault);
  CHECK(rig.feedback[0].fault == hubo::fault::power_lost);
  CHECK_FALSE(rig.boards[0][17].status[0].driver_on);
  rig.commands[0].clear_fault = true;
  rig.cycle();
  rig.commands[0].clear_fault = false;
  rig.cycles(30);
  CHECK(rig.feedback[0].drive == DriveState::ready);
  CHECK(rig.feedback[0].fault == 0);
}

TEST_CASE("NaN is never sent: the last valid reference stands") {
  Rig rig;
  rig.start();
  rig.commands[2].position = 0.25;
  rig.cycle();
  REQUIRE(rig.boards[2][15].reference[0] == 2500);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto rejected = rig.hardware->references_rejected();
    rig.commands[2].position = bad;
    rig.cycle();
    CHECK(rig.boards[2][15].reference[0] == 2500);
    CHECK(rig.hardware->references_rejected() == rejected + 1);
  }
  rig.commands[2].position = 1e6;  // far outside: clamped, with its sign
  rig.cycle();
  CHECK(rig.boards[2][15].reference[0] == hubo::max_reference);
}

TEST_CASE("velocity is the smoothed difference of positions over the true interval") {
  Rig rig(HuboOptions{hubo::Dialect::podo, 10, 1.0});
  rig.cycles(3);
  for (int i = 0; i < 5; ++i) {
    rig.boards[2][15].counts[0] += 100;  // 0.01 rad in 5 ms
    rig.boards[2][15].counts[1] += 100;
    rig.cycle();
  }
  CHECK(rig.feedback[2].velocity == doctest::Approx(2));
  CHECK(rig.feedback[3].velocity == doctest::Approx(-2));
  // A reply that was lost doubles the interval, not the velocity.
  rig.boards[2][15].deaf = true;
  rig.boards[2][15].counts[0] += 100;
  rig.cycle();
  rig.boards[2][15].deaf = false;
  rig.boards[2][15].counts[0] += 100;
  rig.cycles(2);
  CHECK(rig.feedback[2].velocity == doctest::Approx(2));
}

TEST_CASE("a silent board keeps its last position and stamp, and its state becomes unknown") {
  Rig rig;
  rig.start();
  rig.boards[0][17].deaf = true;
  rig.cycle();
  rig.cycle();
  const Time last = rig.feedback[0].stamp;
  rig.cycles(20);
  CHECK(rig.feedback[0].stamp == last);
  CHECK(rig.feedback[0].drive == DriveState::unknown);
  CHECK(rig.feedback[2].drive == DriveState::ready);
}

TEST_CASE("a pause of the loop itself is no silence of its boards") {
  Rig rig;
  rig.start();
  rig.now += 100 * period;
  rig.cycle();
  CHECK(rig.feedback[0].stamp == rig.now - period);
  CHECK(rig.feedback[0].drive == DriveState::ready);
}

TEST_CASE("frames of no use are counted and change nothing") {
  Rig rig;
  rig.start();
  const auto before = rig.feedback;
  const HardwareCounters counted = rig.hardware->counters();
  const auto put = [&](std::uint32_t id, std::size_t length, auto change) {
    can::Frame frame;
    frame.id = id;
    frame.length = static_cast<std::uint8_t>(length);
    frame.data.fill(0xFF);
    change(frame);
    rig.buses[2].incoming.push_back(frame);
  };
  const auto as_is = [](can::Frame&) {};
  put(0x06F, 7, as_is);    // encoder reply, short
  put(0x06F, 255, as_is);  // a length from outside
  put(0x15F, 8, [](can::Frame& frame) { frame.remote = true; });
  put(0x15F, 8, [](can::Frame& frame) { frame.error = true; });
  put(0x15F, 8, [](can::Frame& frame) { frame.fd = true; });
  put(0x15F, 8, [](can::Frame& frame) { frame.extended = true; });  // a different identifier
  put(0x070, 8, as_is);                                             // board 16 is unknown
  put(0x7FF, 8, as_is);
  rig.hardware->read(rig.now, rig.feedback);
  const HardwareCounters after = rig.hardware->counters();
  CHECK(after.frames_malformed == counted.frames_malformed + 5);
  CHECK(after.frames_unexpected == counted.frames_unexpected + 3);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(rig.feedback[i].position == before[i].position);
    CHECK(rig.feedback[i].drive == before[i].drive);
  }
}

TEST_CASE("a full bus costs frames, counted, and a flood costs bounded time") {
  Rig rig;
  rig.start();
  rig.buses[2].room = 2;
  const HardwareCounters before = rig.hardware->counters();
  rig.cycle();
  CHECK(rig.hardware->counters().frames_refused ==
        before.frames_refused + 3);  // 2 references, 2 encoder, 1 status
  CHECK(rig.hardware->counters().frames_sent == before.frames_sent + 2 + 3);

  rig.buses[2].incoming.assign(100'000, can::Frame{});
  rig.hardware->read(rig.now, rig.feedback);
  CHECK(rig.buses[2].incoming.size() > 90'000);
}

TEST_CASE("power commands that the bus has no room for are kept in order, go first, and none is lost") {
  Rig rig;
  rig.start();
  rig.buses[2].room = 0;
  rig.power(false);
  rig.cycles(3);
  CHECK(rig.feedback[2].drive == DriveState::ready);
  rig.buses[2].room = 1;
  using hubo::CommandCode;
  std::vector<std::pair<int, CommandCode>> orders;
  for (int i = 0; i < 4; ++i) {
    rig.cycle();
    for (const can::Frame& frame : rig.last_sent) {
      const auto command = hubo::decode_command(frame);
      if (command && command->board != 17) orders.emplace_back(command->board, command->code);
    }
  }
  // control_off goes to each board before its driver off, once.
  CHECK(orders == std::vector<std::pair<int, CommandCode>>{{15, CommandCode::control_off},
                                                           {15, CommandCode::driver},
                                                           {14, CommandCode::control_off},
                                                           {14, CommandCode::driver}});
  rig.buses[2].room = 100;
  rig.cycles(10);
  for (const std::size_t joint : {0U, 2U, 3U, 4U}) CHECK(rig.feedback[joint].drive == DriveState::off);
}

TEST_CASE("a reference that waits for the bus is void once the board is switched off") {
  Rig rig;
  rig.start();
  rig.buses[2].room = 0;
  rig.cycle();
  rig.power(false);
  rig.buses[2].room = 100;
  rig.cycle();
  CHECK(rig.sent_references() == 0);
}

TEST_CASE("random frames leave finite feedback and no reference that was not commanded") {
  Rig rig;
  auto random = test::generator(6);
  rig.power(true);
  for (std::size_t i = 0; i < test::count(2'000); ++i) {
    for (int k = 0; k < 5; ++k) {
      can::Frame frame;
      frame.id = static_cast<std::uint32_t>(test::uniform_int(random, 0, 1) != 0 ? 0x06E + (random() & 1)
                                                                                 : 0x15E + (random() & 1));
      frame.length = static_cast<std::uint8_t>(test::uniform_int(random, 0, 3) != 0 ? 8 : random());
      for (std::uint8_t& byte : frame.data) byte = static_cast<std::uint8_t>(random());
      rig.buses[2].incoming.push_back(frame);
    }
    rig.cycle();
    for (const JointFeedback& joint : rig.feedback)
      REQUIRE((can::is_finite(joint.position) && can::is_finite(joint.velocity)));
  }
}

TEST_CASE("descriptions that the protocol cannot serve are refused with the joint's name") {
  const auto error_after = [](auto change) {
    return test::refusal<Master>(description(), drives::find("hubo"), change);
  };
  CHECK(error_after([](auto& robot) { robot.joints[2].board = 48; }).error == Errc::bad_address);
  CHECK(error_after([](auto& robot) { robot.joints[2].channel = 2; }).error == Errc::bad_address);
  CHECK(error_after([](auto& robot) { robot.joints[3].channel = 0; }).error == Errc::duplicate_address);
  CHECK(error_after([](auto& robot) { robot.joints[3].channel = 0; }).message.find("REB") !=
        std::string::npos);
  CHECK(error_after([](auto& robot) { robot.joints[2].counts_per_radian = 0; }).error == Errc::bad_scale);
  CHECK(error_after([](auto& robot) { robot.joints[2].bus = 3; }).error == Errc::no_such_bus);
  CHECK(error_after([](auto& robot) { robot.buses[1].protocol = drives::find("hubo"); }).error ==
        Errc::no_such_bus);
  CHECK(error_after([](auto& robot) { robot.joints.resize(65); }).error == Errc::too_many_joints);
}
