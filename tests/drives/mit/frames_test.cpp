// The codec against the bytes of the vendors' documents, against random numbers, and against invalid frames.
#include "drives/mit/frames.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/random.hpp"

using namespace takt;
using namespace takt::drives::mit;
using can::Frame;

namespace {

constexpr Ranges ak80_9{12.5, 50, 18};
constexpr Ranges dm4310{12.5, 30, 10};

using Bytes = std::array<std::uint8_t, 8>;
Bytes bytes_of(const Result<Frame>& frame) {
  REQUIRE(frame.has_value());
  REQUIRE(frame->length == 8);
  Bytes bytes;
  std::copy_n(frame->data.begin(), 8, bytes.begin());
  return bytes;
}
Frame frame_of(std::uint32_t id, const std::vector<std::uint8_t>& bytes) {
  return can::make_frame(id, bytes).value();
}

constexpr std::array<Vendor, 3> vendors{Vendor::cheetah, Vendor::cubemars, Vendor::damiao};

}  // namespace

TEST_CASE("commands have the bytes of the documents") {
  CHECK(bytes_of(encode(Command{1, -2, 50, 1, 0.5}, 1U, ak80_9)) ==
        Bytes{0x8A, 0x3C, 0x7A, 0xD1, 0x99, 0x33, 0x38, 0x38});
  CHECK(bytes_of(encode(Command{-3, 5, 20, 0.5, -2}, 1U, dm4310)) ==
        Bytes{0x61, 0x47, 0x95, 0x40, 0xA3, 0x19, 0x96, 0x66});
  CHECK(bytes_of(encode(Command{}, 1U, ak80_9)) == Bytes{0x7F, 0xFF, 0x7F, 0xF0, 0x00, 0x00, 0x07, 0xFF});
  CHECK(encode(Command{}, 0x65U, ak80_9)->id == 0x65);

  // Other clients round: their codes near zero mean half a step, for the gains exactly 0.
  const Command rounded = decode_command(frame_of(1, {0x80, 0, 0x80, 0, 0, 0, 8, 0}), 1U, ak80_9).value();
  CHECK(rounded.position == doctest::Approx(12.5 / 65535));
  CHECK(rounded.velocity == doctest::Approx(50.0 / 4095));
  CHECK(rounded.torque == doctest::Approx(18.0 / 4095));
  CHECK(rounded.kp == 0);
  CHECK(rounded.kd == 0);
}

TEST_CASE("special frames, replies and registers have the bytes of the documents") {
  CHECK(bytes_of(encode(SpecialFrame{1, Special::enter})) == Bytes{255, 255, 255, 255, 255, 255, 255, 0xFC});
  CHECK(bytes_of(encode(SpecialFrame{1, Special::exit}))[7] == 0xFD);
  CHECK(bytes_of(encode(SpecialFrame{1, Special::set_zero}))[7] == 0xFE);
  CHECK(bytes_of(encode(SpecialFrame{1, Special::clear_error}))[7] == 0xFB);

  const Frame reply = frame_of(0x11, {0x11, 0x8A, 0x3D, 0x80, 0xF7, 0x34, 0x1F, 0x1C});
  const Reply damiao = decode_reply(reply, 0x11U, Vendor::damiao, dm4310).value();
  CHECK(damiao.id == 1);
  CHECK(damiao.status == 1);
  CHECK(position_of(damiao.count, dm4310) == doctest::Approx(1.00004).epsilon(1e-5));
  CHECK(damiao.velocity == doctest::Approx(0.2271).epsilon(1e-3));
  CHECK(damiao.torque == doctest::Approx(-0.9939).epsilon(1e-3));
  CHECK(damiao.driver_temperature == 31);
  CHECK(damiao.coil_temperature == 28);
  CHECK(bytes_of(encode(damiao, 0x11U, Vendor::damiao, dm4310)) ==
        Bytes{0x11, 0x8A, 0x3D, 0x80, 0xF7, 0x34, 0x1F, 0x1C});

  CHECK(bytes_of(encode(RegisterFrame{register_id, 5, RegisterOperation::write,
                                      static_cast<std::uint8_t>(Register::timeout), 400})) ==
        Bytes{5, 0, 0x55, 9, 0x90, 1, 0, 0});
  const RegisterFrame answer =
      decode_register(frame_of(0x15, {5, 0, 0x33, 0x15, 0, 0, 0x48, 0x41}), 0x15).value();
  CHECK(answer.drive == 5);
  CHECK(answer.number == static_cast<std::uint8_t>(Register::position_range));
  CHECK(std::bit_cast<float>(answer.value) == 12.5F);
}

TEST_CASE("CubeMars drives report temperature and error with new firmware, and cheetahs never") {
  const std::vector<std::uint8_t> all{3, 0x80, 0, 0x80, 0x08, 0, 0x41, 6};
  for (const std::size_t length : {6U, 7U, 8U}) {
    CAPTURE(length);
    const Frame frame = frame_of(3, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(length)});
    const Reply reply = decode_reply(frame, 3U, Vendor::cubemars, ak80_9).value();
    CHECK(reply.count == 0x8000);
    CHECK(reply.driver_temperature == (length > 6 ? 25 : 0));
    CHECK(reply.status == (length > 7 ? 6 : 0));
    const Reply plain = decode_reply(frame, 3U, Vendor::cheetah, ak80_9).value();
    CHECK(plain.count == 0x8000);
    CHECK(plain.status == 0);
    CHECK(plain.driver_temperature == 0);
  }
}

TEST_CASE("what is beyond a field is clamped, and no command is a special frame") {
  constexpr double huge = 1e300;
  CHECK(bytes_of(encode(Command{huge, -huge, huge, -1, huge}, 1U, ak80_9)) ==
        Bytes{0xFF, 0xFF, 0x00, 0x0F, 0xFF, 0x00, 0x0F, 0xFF});
  CHECK(bytes_of(encode(Command{huge, huge, huge, huge, huge}, 1U, ak80_9)) ==
        Bytes{255, 255, 255, 255, 255, 255, 255, 255});
  for (std::uint32_t last = 0xFB; last <= 0xFE; ++last) {
    const double torque = -18 + (0xF00 + last) * 36.0 / 4095;
    const auto frame = encode(Command{huge, huge, huge, huge, torque}, 1U, ak80_9);
    CHECK(bytes_of(frame)[7] == 0xFA);
    CHECK(decode_special(*frame).error() == Errc::unknown_command);
  }
}

TEST_CASE(
    "any command and reply is decoded to within a step, and what was decoded is encoded to the same bytes") {
  auto random = test::generator(1);
  for (std::size_t i = test::count(20'000); i > 0; --i) {
    const Ranges ranges{test::uniform(random, 0.1, 100), test::uniform(random, 0.1, 300),
                        test::uniform(random, 0.1, 200)};
    const Command command{test::uniform(random, -ranges.position, ranges.position),
                          test::uniform(random, -ranges.velocity, ranges.velocity),
                          test::uniform(random, 0, max_kp), test::uniform(random, 0, max_kd),
                          test::uniform(random, -ranges.torque, ranges.torque)};
    const Frame frame = encode(command, 7U, ranges).value();
    const Command back = decode_command(frame, 7U, ranges).value();
    const auto within = [](double value, double decoded, double span, double steps) {
      return decoded <= value + 1e-5 * span / steps && value - decoded < span / steps;
    };
    CHECK(within(command.position, back.position, 2 * ranges.position, 65535));
    CHECK(within(command.velocity, back.velocity, 2 * ranges.velocity, 4095));
    CHECK(within(command.kp, back.kp, max_kp, 4095));
    CHECK(within(command.kd, back.kd, max_kd, 4095));
    CHECK(within(command.torque, back.torque, 2 * ranges.torque, 4095));
    CHECK(encode(back, 7U, ranges).value() == frame);

    for (const Vendor vendor : vendors) {
      Frame noise = frame;
      for (std::size_t byte = 0; byte < 8; ++byte) noise.data[byte] = static_cast<std::uint8_t>(random());
      noise.length = vendor == Vendor::cheetah ? 6 : 8;
      if (vendor == Vendor::cheetah) noise.data[6] = noise.data[7] = 0;
      const auto reply = decode_reply(noise, 7U, vendor, ranges);
      if (!reply) {
        CHECK(reply.error() == Errc::bad_value);  // the status
        continue;
      }
      CHECK(encode(*reply, 7U, vendor, ranges).value() == noise);
      CHECK(static_cast<std::uint16_t>(count_of(position_of(reply->count, ranges), ranges)) == reply->count);
    }
  }
}

TEST_CASE("a position beyond the field goes on at its other end") {
  const double step = 25.0 / 65535;
  CHECK(count_of(12.5 + 3 * step, ak80_9) == 65535 + 3);
  CHECK(count_of(-12.5 - 3 * step, ak80_9) == -3);
  CHECK(position_of(65535 + 3, ak80_9) == doctest::Approx(12.5 + 3 * step));
  CHECK(static_cast<std::uint16_t>(count_of(12.5 + 3 * step, ak80_9)) == 2);
}

TEST_CASE("foreign frames are refused with a named error") {
  const Frame good = encode(Command{}, 1U, ak80_9).value();
  const auto refused = [&](auto change) {
    Frame frame = good;
    change(frame);
    const Error error = decode_command(frame, 1U, ak80_9).error();
    if (error != Errc::bad_value) {
      CHECK(decode_reply(frame, 1U, Vendor::damiao, ak80_9).error() == error);
      CHECK(decode_register(frame, 1).error() == error);
      if (error != Errc::unexpected_id) CHECK(decode_special(frame).error() == error);
    }
    return error;
  };
  CHECK(refused([](Frame& frame) { frame.extended = true; }) == Errc::wrong_format);
  CHECK(refused([](Frame& frame) { frame.remote = true; }) == Errc::wrong_format);
  CHECK(refused([](Frame& frame) { frame.error = true; }) == Errc::wrong_format);
  CHECK(refused([](Frame& frame) { frame.fd = true; }) == Errc::wrong_format);
  CHECK(refused([](Frame& frame) { frame.id = 2; }) == Errc::unexpected_id);
  for (const std::uint8_t length : {std::uint8_t{0}, std::uint8_t{7}, std::uint8_t{9}, std::uint8_t{255}}) {
    CHECK(refused([length](Frame& frame) { frame.length = length; }) == Errc::wrong_length);
    Frame frame = good;
    frame.length = length;
    CHECK(decode_reply(frame, 1U, Vendor::cubemars, ak80_9).has_value() == (length == 7));
  }
  CHECK(refused([](Frame& frame) {
          frame = encode(SpecialFrame{1, Special::enter}).value();
        }) == Errc::bad_value);

  for (unsigned status = 0; status < 16; ++status) {
    const Frame frame =
        frame_of(1, {static_cast<std::uint8_t>(status << 4U | 1U), 0x80, 0, 0x80, 8, 0, 30, 30});
    const bool is_known = status <= 1 || (status >= 8 && status <= 0xE);
    const auto reply = decode_reply(frame, 1U, Vendor::damiao, dm4310);
    CHECK(reply.has_value() == is_known);
    if (!reply) CHECK(reply.error() == Errc::bad_value);
  }
  CHECK(decode_reply(frame_of(1, {1, 0, 0, 0, 0, 0, 0, 8}), 1U, Vendor::cubemars, ak80_9).error() ==
        Errc::bad_value);
  CHECK(decode_reply(good, 1U, Vendor::cheetah, Ranges{0, 1, 1}).error() == Errc::bad_value);
  CHECK(decode_register(frame_of(0x15, {5, 1, 0x33, 9, 0, 0, 0, 0}), 0x15).error() == Errc::unknown_node);
  CHECK(decode_register(frame_of(0x15, {5, 0, 0xAA, 1, 0, 0, 0, 0}), 0x15).error() == Errc::unknown_command);
}

TEST_CASE("numbers that no frame can hold have a named error") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -infinity}) {
    CHECK(encode(Command{.position = bad}, 1U, ak80_9).error() == Errc::not_finite);
    CHECK(encode(Command{.velocity = bad}, 1U, ak80_9).error() == Errc::not_finite);
    CHECK(encode(Command{.kp = bad}, 1U, ak80_9).error() == Errc::not_finite);
    CHECK(encode(Command{.kd = bad}, 1U, ak80_9).error() == Errc::not_finite);
    CHECK(encode(Command{.torque = bad}, 1U, ak80_9).error() == Errc::not_finite);
    CHECK(encode(Command{}, 1U, Ranges{bad, 1, 1}).error() == Errc::bad_value);
    CHECK(encode(Command{}, 1U, Ranges{1, bad, 1}).error() == Errc::bad_value);
    CHECK(encode(Command{}, 1U, Ranges{1, 1, bad}).error() == Errc::bad_value);
    CHECK(encode(Reply{.velocity = bad}, 1U, Vendor::cheetah, ak80_9).error() == Errc::not_finite);
  }
  CHECK(encode(Command{}, 0x7FFU, ak80_9).error() == Errc::id_too_large);
  CHECK(encode(SpecialFrame{0x7FF, Special::exit}).error() == Errc::id_too_large);
  CHECK(encode(SpecialFrame{1, static_cast<Special>(0x12)}).error() == Errc::unknown_command);
  CHECK(encode(Reply{.id = 16}, 1U, Vendor::damiao, ak80_9).error() == Errc::bad_value);
  CHECK(encode(Reply{.status = 2}, 1U, Vendor::damiao, ak80_9).error() == Errc::bad_value);
  CHECK(encode(Reply{.status = 1}, 1U, Vendor::cheetah, ak80_9).error() == Errc::bad_value);
  CHECK(encode(RegisterFrame{.frame_id = 0x800}).error() == Errc::id_too_large);
}

TEST_CASE("an answer about a register is distinguished from a state on the same identifier") {
  CHECK(is_register_answer(frame_of(0x15, {5, 0, 0x33, 0x15, 0, 0, 0x48, 0x41}), 5));
  CHECK(is_register_answer(frame_of(0x15, {5, 0, 0x55, 9, 0x90, 1, 0, 0}), 5));
  CHECK_FALSE(is_register_answer(frame_of(0x15, {5, 0x80, 0x33, 0x15, 0, 0, 0, 0}), 5));
  CHECK_FALSE(is_register_answer(frame_of(0x15, {0x15, 0, 0x33, 0x15, 0, 0, 0, 0}), 5));  // enabled
  CHECK_FALSE(is_register_answer(frame_of(0x15, {6, 0, 0x33, 0x15, 0, 0, 0, 0}), 5));
  CHECK_FALSE(is_register_answer(frame_of(0x15, {5, 0, 0x33}), 5));
}
