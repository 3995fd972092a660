// Tests the Hubo codec: bytes from the protocol's description, round trips of random values, and rejection.
// Rejected frames are too short, too long, or of another kind.
#include "takt/can/hubo.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "support/random.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::hubo;

namespace {

Frame classic(std::uint32_t id, std::vector<std::uint8_t> bytes) { return *make_frame(id, bytes); }

/// Checks that lengths outside `least` to `most`, and frames of another format or identifier, are rejected.
template <class Decode>
void check_refusals(const Frame& good, std::size_t least, std::size_t most, Decode decode) {
  REQUIRE(decode(good).has_value());
  for (std::size_t length = 0; length < 256; ++length) {
    Frame frame = good;
    frame.length = static_cast<std::uint8_t>(length);
    CAPTURE(length);
    if (length >= least && length <= most) {
      CHECK(decode(frame).has_value());
    } else {
      REQUIRE(!decode(frame).has_value());
      CHECK(decode(frame).error() == Errc::wrong_length);
    }
  }
  for (bool Frame::*flag : {&Frame::extended, &Frame::fd, &Frame::remote}) {
    Frame frame = good;
    frame.*flag = true;
    REQUIRE(!decode(frame).has_value());
    CHECK(decode(frame).error() == Errc::wrong_format);
  }
  for (const std::uint32_t id : {0x000U, 0x00FU, 0x040U, 0x05FU, 0x090U, 0x14FU, 0x180U, 0x7FFU}) {
    Frame frame = good;
    frame.id = id;
    REQUIRE(!decode(frame).has_value());
    CHECK(decode(frame).error() == Errc::unexpected_id);
  }
}

constexpr std::uint32_t known_faults(Dialect dialect) {
  std::uint32_t known = 0;
  for (const auto& [fault, wire] : hubo::detail::faults_of(dialect)) known |= fault;
  return known;
}

}  // namespace

TEST_CASE("frames are the bytes that the boards know") {
  // The bytes come from the protocol's description, not from the encoder.
  CHECK(*encode(Reference{0x08, {0x123456, -0x123456}}) ==
        classic(0x018, {0x56, 0x34, 0x12, 0x56, 0x34, 0x92}));
  CHECK(*encode(Reference{0x16, {-1, 1}}) == classic(0x026, {0x01, 0x00, 0x80, 0x01, 0x00, 0x00}));
  CHECK(*encode(encoder_request(0x15)) == classic(0x001, {0x15, 0x03, 0x00}));
  CHECK(*encode(encoder_request(0x24, 1)) == classic(0x001, {0x24, 0x03, 0x01}));
  CHECK(*encode(status_request(0x0C)) == classic(0x001, {0x0C, 0x02, 0x00}));
  CHECK(*encode(driver(0x0C, true)) == classic(0x001, {0x0C, 0x0B, 0x01}));
  CHECK(*encode(driver(0x0C, false)) == classic(0x001, {0x0C, 0x0B, 0x00}));
  CHECK(*encode(control(0x0C, true)) == classic(0x001, {0x0C, 0x0E}));
  CHECK(*encode(control(0x0C, false)) == classic(0x001, {0x0C, 0x0F}));
  CHECK(*encode(initialise(0x0C)) == classic(0x001, {0x0C, 0xFA}));
  CHECK(*encode(zero_encoder(0x0C, 1)) == classic(0x001, {0x0C, 0x06, 0x01}));
  CHECK(*encode(zero_encoder(0x0C, all_channels)) == classic(0x001, {0x0C, 0x06, 0x0F}));
  CHECK(*encode(home(0x0C, 0)) == classic(0x001, {0x0C, 0x11, 0x12, 0, 0, 0, 0, 0}));
  CHECK(*encode(home(0x0C, 1)) == classic(0x001, {0x0C, 0x11, 0x22, 0, 0, 0, 0, 0}));
  CHECK(*encode(home(0x0C, all_channels)) == classic(0x001, {0x0C, 0x11, 0xF2, 0, 0, 0, 0, 0}));
  CHECK(*encode(EncoderReply{0x16, {-2, 0x01020304}}) ==
        classic(0x076, {0xFE, 0xFF, 0xFF, 0xFF, 0x04, 0x03, 0x02, 0x01}));

  StatusReply status{0x0C, {}};
  status.motors[0] = {true, true, false, false, home_done, 0};
  status.motors[1] = {true, false, true, true, 0, fault::jam | fault::encoder | fault::position_high};
  CHECK(*encode(status, Dialect::ach) == classic(0x15C, {0x63, 0, 0, 0, 0x0D, 0x09, 0x02, 0}));
  CHECK(*encode(status, Dialect::podo) == classic(0x15C, {0x63, 0, 0, 0, 0x0D, 0x21, 0x02, 0}));
  CHECK(*decode_status(classic(0x15C, {0x03, 0x80, 0, 0, 0x03, 0, 0x10, 0}), Dialect::podo) ==
        StatusReply{0x0C,
                    {MotorStatus{true, true, false, false, 0, fault::temperature},
                     {true, true, false, false, 0, 0}}});
  CHECK(*decode_status(classic(0x15C, {0x03, 0x80, 0, 0, 0x03, 0, 0x10, 0}), Dialect::ach) ==
        StatusReply{0x0C,
                    {MotorStatus{true, true, false, false, 0, 0},
                     {true, true, false, false, 0, fault::temperature}}});
}

TEST_CASE("references are sign and magnitude, clamped to 23 bits") {
  static_assert(to_sign_magnitude24(-5) == 0x800005);
  static_assert(to_sign_magnitude24(max_reference + 1) == 0x7FFFFF);
  static_assert(to_sign_magnitude24(std::numeric_limits<std::int32_t>::max()) == 0x7FFFFF);
  static_assert(to_sign_magnitude24(std::numeric_limits<std::int32_t>::min()) == 0xFFFFFF);
  static_assert(from_sign_magnitude24(0x800000) == 0);
  static_assert(from_sign_magnitude24(0xFF800001) == -1);
  for (const std::int32_t counts : {0, 1, -1, 1000, -1000, max_reference, -max_reference}) {
    CHECK(from_sign_magnitude24(to_sign_magnitude24(counts)) == counts);
  }
}

TEST_CASE("positions are rounded to counts, clamped, and never made of what is not a number") {
  static_assert(*to_counts(1.5, 1) == 2 && *to_counts(-1.5, 1) == -2 && *to_counts(2.5, 1) == 2 &&
                *to_counts(0.49999999999999994, 1) == 0);
  static_assert(*to_counts(1e6, 1e6) == max_reference && *to_counts(-1e6, 1e6) == -max_reference);
  static_assert(*to_counts(1, -100) == -100);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(), 1e308}) {
    REQUIRE(!to_counts(bad, 159154.9).has_value());
    CHECK(to_counts(bad, 159154.9).error() == Errc::not_finite);
  }
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(10'000); ++i) {
    const double scale =
        test::uniform(random, 2000, 330'000) * (test::uniform_int(random, 0, 1) != 0 ? 1 : -1);
    const double position = test::uniform(random, -6, 6);
    CHECK(std::abs(to_radians(*to_counts(position, scale), scale) - position) <= 0.5000001 / std::abs(scale));
  }
}

TEST_CASE("what is encoded is decoded, for all boards and values") {
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(10'000); ++i) {
    const auto board = static_cast<std::uint8_t>(test::uniform_int(random, 0, max_board));
    const Reference reference{
        board,
        {static_cast<std::int32_t>(test::uniform_int(random, -max_reference, max_reference)),
         static_cast<std::int32_t>(test::uniform_int(random, -max_reference, max_reference))}};
    REQUIRE(*decode_reference(*encode(reference)) == reference);
    const EncoderReply encoders{board,
                                {static_cast<std::int32_t>(random()), static_cast<std::int32_t>(random())}};
    REQUIRE(*decode_encoder(*encode(encoders)) == encoders);
    for (const Dialect dialect : {Dialect::ach, Dialect::podo}) {
      StatusReply status{board, {}};
      for (MotorStatus& motor : status.motors) {
        motor = {(random() & 1) != 0,
                 (random() & 1) != 0,
                 (random() & 1) != 0,
                 (random() & 1) != 0,
                 static_cast<std::uint8_t>(random() & 15),
                 static_cast<std::uint32_t>(random()) & known_faults(dialect)};
      }
      REQUIRE(*decode_status(*encode(status, dialect), dialect) == status);
    }
    for (const Command command : {status_request(board), encoder_request(board, 1), zero_encoder(board, 1),
                                  driver(board, true), driver(board, false), control(board, true),
                                  control(board, false), home(board, 1), initialise(board)}) {
      REQUIRE(*decode_command(*encode(command)) == command);
    }
  }
}

TEST_CASE("frames of another length, format or identifier are refused") {
  check_refusals(*encode(Reference{12, {1, 2}}), 6, 6, decode_reference);
  check_refusals(*encode(EncoderReply{12, {1, 2}}), 8, 8, decode_encoder);
  check_refusals(*encode(StatusReply{12, {}}, Dialect::ach), 8, 8,
                 [](const Frame& frame) { return decode_status(frame, Dialect::ach); });
  check_refusals(*encode(status_request(12)), 2, 8, decode_command);
  check_refusals(*encode(driver(12, true)), 3, 8, decode_command);
  check_refusals(*encode(control(12, true)), 2, 8, decode_command);
  check_refusals(*encode(home(12, 0)), 3, 8, decode_command);
}

TEST_CASE("commands that no board knows are neither encoded nor decoded") {
  CHECK(encode(Reference{max_board + 1, {}}).error() == Errc::unknown_node);
  CHECK(encode(EncoderReply{max_board + 1, {}}).error() == Errc::unknown_node);
  CHECK(encode(StatusReply{max_board + 1, {}}, Dialect::ach).error() == Errc::unknown_node);
  CHECK(encode(initialise(0x30)).error() == Errc::unknown_node);
  CHECK(encode(Command{12, static_cast<CommandCode>(0xF0), 0}).error() == Errc::unknown_command);
  CHECK(decode_command(classic(0x001, {12, 0xF0, 1, 2})).error() == Errc::unknown_command);
  CHECK(decode_command(classic(0x001, {0x30, 0x81, 0})).error() == Errc::unknown_node);
}

TEST_CASE("warnings alone are no fault") {
  CHECK_FALSE(MotorStatus{true, true, false, false, 0, fault::pwm_saturated | fault::position_low}.faulty());
  CHECK(MotorStatus{true, true, false, false, 0, fault::pwm_saturated | fault::jam}.faulty());
  CHECK(MotorStatus{true, true, false, false, 0, 0}.running());
  CHECK_FALSE(MotorStatus{true, false, false, false, 0, 0}.running());
}
