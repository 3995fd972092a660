// Tests the servo protocol: bytes from its description, round trips of random values, and rejection. Rejected
// frames are too short, of another kind, or undefined in the protocol.
#include "takt/can/servo.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/random.hpp"
#include "takt/can/bits.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::servo;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

DriveCommand random_command(std::mt19937_64& random) {
  DriveCommand command;
  command.addressed = (random() & 3) != 0;
  if (!command.addressed) return command;
  command.enable = (random() & 1) != 0;
  command.clear_fault = (random() & 1) != 0;
  command.mode = static_cast<Mode>(random() % 3);
  command.position = test::uniform(random, -127.9, 127.9);
  command.velocity = test::uniform(random, -127.9, 127.9);
  command.torque = test::uniform(random, -1023, 1023);
  return command;
}

template <class Motion>
void check_motion(const Motion& got, const Motion& meant) {
  // 51 % of the unit: half of it, and the rounding of the division.
  CHECK(std::abs(got.position - meant.position) <= 0.51 * position_unit);
  CHECK(std::abs(got.velocity - meant.velocity) <= 0.51 * velocity_unit);
  CHECK(std::abs(got.torque - meant.torque) <= 0.51 * torque_unit);
}

}  // namespace

TEST_CASE("frames are the bytes that the description says") {
  GroupCommand command{1, 7, 20, {}};
  command.slots[0] = {true, true, false, Mode::position, 1.0, -1.0, 0.5};
  Frame frame = *encode(command);
  CHECK(frame == *make_fd_frame(0x101, std::vector<std::uint8_t>{1, 7, 20, 0, 0x03, 0, 0, 0, 1, 0, 0, 0xFF,
                                                                 0x10, 0, 0, 0}));

  command.slots[0] = {true, false, true, Mode::torque, -position_unit, velocity_unit, -torque_unit};
  frame = *encode(command);
  CHECK(frame == *make_fd_frame(0x101, std::vector<std::uint8_t>{1, 7, 20, 0, 0x25, 0xFF, 0xFF, 0xFF, 0xFF, 1,
                                                                 0, 0, 0xFF, 0xFF, 0, 0}));

  const DriveReply reply{9, 200, State::fault, 1, -2.0, 2.0, -1.0};
  CHECK(*encode(reply) ==
        *make_fd_frame(0x189, std::vector<std::uint8_t>{200, 2, 1, 0, 0, 0, 0xFE, 0, 0, 2, 0xE0, 0xFF}));
}

TEST_CASE("a command is as short as its last addressed slot") {
  constexpr std::array<std::uint8_t, 6> lengths = {16, 24, 48, 48, 64, 64};
  for (std::size_t last = 0; last < slots_per_group; ++last) {
    GroupCommand command;
    command.slots[last].addressed = true;
    CHECK(encode(command)->length == lengths[last]);
    CHECK(decode_group(*encode(command))->slots[last].addressed);
  }
  CHECK(encode(GroupCommand{})->length == 16);
}

TEST_CASE("what is encoded is decoded within half a unit") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(5'000); ++i) {
    GroupCommand command;
    command.group = static_cast<std::uint8_t>(random() % group_count);
    command.sequence = static_cast<std::uint8_t>(random());
    command.watchdog = static_cast<std::uint8_t>(1 + random() % 255);
    for (DriveCommand& slot : command.slots) slot = random_command(random);
    const Frame frame = *encode(command);
    const GroupCommand got = *decode_group(frame);
    REQUIRE(got.group == command.group);
    REQUIRE(got.sequence == command.sequence);
    REQUIRE(got.watchdog == command.watchdog);
    for (std::size_t slot = 0; slot < slots_per_group; ++slot) {
      REQUIRE(got.slots[slot].addressed == command.slots[slot].addressed);
      if (!command.slots[slot].addressed) continue;
      CHECK(got.slots[slot].enable == command.slots[slot].enable);
      CHECK(got.slots[slot].clear_fault == command.slots[slot].clear_fault);
      CHECK(got.slots[slot].mode == command.slots[slot].mode);
      check_motion(got.slots[slot], command.slots[slot]);
      const auto node = static_cast<std::uint8_t>(command.group * slots_per_group + slot + 1);
      CHECK(group_of(node) == command.group);
      CHECK(slot_of(node) == slot);
      CHECK(*decode_for_node(frame, node) ==
            NodeCommand{command.sequence, command.watchdog, got.slots[slot]});
    }
    CHECK(*decode_group(*encode(got)) == got);

    const DriveReply reply{static_cast<std::uint8_t>(1 + random() % max_node),
                           static_cast<std::uint8_t>(random()),
                           static_cast<State>(random() % 3),
                           static_cast<std::uint8_t>(random()),
                           test::uniform(random, -127, 127),
                           test::uniform(random, -127, 127),
                           test::uniform(random, -1023, 1023)};
    const DriveReply back = *decode_reply(*encode(reply));
    CHECK(back.node == reply.node);
    CHECK(back.sequence == reply.sequence);
    CHECK(back.state == reply.state);
    CHECK(back.fault == reply.fault);
    check_motion(back, reply);
    CHECK(*decode_reply(*encode(back)) == back);
  }
}

TEST_CASE("numbers out of range are clamped, NaN is refused") {
  GroupCommand command;
  command.slots[5] = {true, true, false, Mode::position, 1e9, -1e9, 1e300};
  const DriveCommand got = decode_group(*encode(command))->slots[5];
  CHECK(got.position == doctest::Approx(128).epsilon(1e-6));
  CHECK(got.velocity == -128);
  CHECK(got.torque == doctest::Approx(1024).epsilon(1e-4));
  for (double DriveCommand::*field :
       {&DriveCommand::position, &DriveCommand::velocity, &DriveCommand::torque}) {
    for (const double bad :
         {not_a_number, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
      GroupCommand broken = command;
      broken.slots[5].*field = bad;
      REQUIRE(!encode(broken).has_value());
      CHECK(encode(broken).error() == Errc::not_finite);
    }
  }
  CHECK(encode(DriveReply{1, 0, State::off, 0, not_a_number, 0, 0}).error() == Errc::not_finite);
}

TEST_CASE("commands of another length, format, identifier or version are refused") {
  GroupCommand command;
  for (DriveCommand& slot : command.slots) slot.addressed = slot.enable = true;
  const Frame good = *encode(command);
  for (std::size_t length = 0; length < 256; ++length) {
    Frame frame = good;
    frame.length = static_cast<std::uint8_t>(length);
    CAPTURE(length);
    const bool plausible = length >= 14 && length <= 64;
    CHECK(decode_group(frame).has_value() == plausible);
    CHECK(decode_for_node(frame, 6).has_value() == plausible);
    if (!plausible) CHECK(decode_group(frame).error() == Errc::wrong_length);
    // A slot beyond the frame's end is not addressed, whatever the memory contains.
    if (plausible && length < 64) CHECK_FALSE(decode_for_node(frame, 6)->command.addressed);
  }
  const auto error_after = [&](auto change) {
    Frame frame = good;
    change(frame);
    const auto result = decode_group(frame);
    REQUIRE(!result.has_value());
    CHECK(decode_for_node(frame, 1).error() == result.error());
    return result.error();
  };
  CHECK(error_after([](Frame& frame) { frame.fd = false; }) == Errc::wrong_format);
  CHECK(error_after([](Frame& frame) { frame.extended = true; }) == Errc::wrong_format);
  CHECK(error_after([](Frame& frame) { frame.remote = true; }) == Errc::wrong_format);
  CHECK(error_after([](Frame& frame) { frame.error = true; }) == Errc::wrong_format);
  CHECK(error_after([](Frame& frame) { frame.id = 0x0FF; }) == Errc::unexpected_id);
  CHECK(error_after([](Frame& frame) { frame.id = 0x108; }) == Errc::unexpected_id);
  CHECK(error_after([](Frame& frame) { frame.data[0] = 2; }) == Errc::bad_value);
  CHECK(error_after([](Frame& frame) { frame.data[2] = 0; }) == Errc::bad_value);
  CHECK(error_after([](Frame& frame) { frame.data[4] |= 0x30; }) == Errc::bad_value);
  CHECK(error_after([](Frame& frame) { frame.data[4] |= 0x80; }) == Errc::bad_value);
  CHECK(decode_for_node(good, 7).error() == Errc::unexpected_id);
  CHECK(decode_for_node(good, 0).error() == Errc::unknown_node);
  CHECK(decode_for_node(good, 49).error() == Errc::unknown_node);
  CHECK(encode(GroupCommand{8, 0, 20, {}}).error() == Errc::unknown_node);
  CHECK(encode(GroupCommand{0, 0, 0, {}}).error() == Errc::bad_value);
}

TEST_CASE("replies of another length, format, identifier or state are refused") {
  const Frame good = *encode(DriveReply{6, 1, State::ready, 0, 1, 2, 3});
  for (std::size_t length = 0; length < 256; ++length) {
    Frame frame = good;
    frame.length = static_cast<std::uint8_t>(length);
    CHECK(decode_reply(frame).has_value() == (length == 12));
  }
  const auto error_after = [&](auto change) {
    Frame frame = good;
    change(frame);
    REQUIRE(!decode_reply(frame).has_value());
    return decode_reply(frame).error();
  };
  CHECK(error_after([](Frame& frame) { frame.fd = false; }) == Errc::wrong_format);
  CHECK(error_after([](Frame& frame) { frame.extended = true; }) == Errc::wrong_format);
  CHECK(error_after([](Frame& frame) { frame.id = 0x180; }) == Errc::unexpected_id);
  CHECK(error_after([](Frame& frame) { frame.id = 0x1B1; }) == Errc::unexpected_id);
  CHECK(error_after([](Frame& frame) { frame.data[1] = 3; }) == Errc::bad_value);
  CHECK(encode(DriveReply{0, 0, State::off, 0, 0, 0, 0}).error() == Errc::unknown_node);
  CHECK(encode(DriveReply{49, 0, State::off, 0, 0, 0, 0}).error() == Errc::unknown_node);
}

TEST_CASE("six drives at 1 kHz need 56 % of a 1/5 Mbit/s bus at worst") {
  constexpr FrameFormat format{false, true, true};
  const Duration command = transmission_time(max_frame_bits(64, format), 1'000'000, 5'000'000);
  const Duration reply = transmission_time(max_frame_bits(12, format), 1'000'000, 5'000'000);
  CHECK(command <= Duration(170'000));
  CHECK(reply <= Duration(65'000));
  CHECK(command + 6 * reply <= Duration(560'000));
}
