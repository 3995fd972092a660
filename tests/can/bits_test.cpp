// Tests the table-driven bit counts against an independent sender that writes every bit of a frame, and
// against published numbers.
#include "takt/can/bits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "support/random.hpp"

using namespace takt;
using namespace takt::can;

namespace {

using Bits = std::vector<bool>;

void append(Bits& bits, std::uint32_t value, unsigned width) {
  for (unsigned i = width; i-- > 0;) bits.push_back((value >> i & 1U) != 0);
}

std::uint32_t naive_crc15(const Bits& bits) {
  std::uint32_t crc = 0;
  for (const bool bit : bits) {
    const bool feedback = bit != ((crc >> 14 & 1U) != 0);
    crc = crc << 1 & 0x7FFFU;
    if (feedback) crc ^= 0x4599U;
  }
  return crc;
}

enum class Sender { correct, forgets_stuff_bits };

/// Sends the bits one by one. Returns after which bits (counted from 1) a stuff bit followed. In the faulty
/// sender, the stuff bit does not start the next run.
std::vector<std::size_t> stuff_positions(const Bits& bits, Sender sender) {
  std::vector<std::size_t> positions;
  Bits sent;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    sent.push_back(bits[i]);
    if (sent.size() < 5 || !std::equal(sent.end() - 4, sent.end(), sent.end() - 5)) continue;
    positions.push_back(i + 1);
    if (sender == Sender::forgets_stuff_bits) {
      sent.clear();
    } else {
      sent.push_back(!bits[i]);
    }
  }
  return positions;
}

FrameBits naive_frame_bits(const Frame& frame, Sender sender = Sender::correct) {
  Bits bits;
  append(bits, 0, 1);
  if (frame.extended) {
    append(bits, frame.id >> 18, 11);
    append(bits, 3, 2);
    append(bits, frame.id & 0x3FFFFU, 18);
  } else {
    append(bits, frame.id, 11);
  }
  if (!frame.fd) {
    append(bits, frame.remote ? 1 : 0, 1);
    append(bits, 0, 2);
    append(bits, frame.length, 4);
    if (!frame.remote) {
      for (const std::uint8_t byte : frame.payload()) append(bits, byte, 8);
    }
    append(bits, naive_crc15(bits), 15);
    return FrameBits{static_cast<std::uint32_t>(bits.size() + stuff_positions(bits, sender).size() + 13), 0};
  }
  append(bits, 0, frame.extended ? 1 : 2);
  append(bits, 2, 2);
  append(bits, frame.bit_rate_switch ? 1 : 0, 1);
  const std::size_t arbitration = bits.size();
  append(bits, frame.error_state ? 1 : 0, 1);
  std::uint32_t code = 0;
  for (std::uint32_t i = 0; i < 16; ++i) {
    if (fd_lengths[i] == frame.length) code = i;
  }
  append(bits, code, 4);
  for (const std::uint8_t byte : frame.payload()) append(bits, byte, 8);
  std::uint32_t nominal = static_cast<std::uint32_t>(arbitration) + 13;
  std::uint32_t data = static_cast<std::uint32_t>(bits.size() - arbitration);
  for (const std::size_t position : stuff_positions(bits, sender)) {
    if (position == bits.size()) continue;  // the first fixed stuff bit replaces it
    (position < arbitration ? nominal : data) += 1;
  }
  // Stuff count and checksum: a fixed stuff bit before the first bit and after every fourth.
  const std::uint32_t tail = 4 + (frame.length <= 16 ? 17U : 21U);
  for (std::uint32_t i = 0; i < tail; ++i) data += i % 4 == 0 ? 2U : 1U;
  return frame.bit_rate_switch ? FrameBits{nominal, data} : FrameBits{nominal + data, 0};
}

Frame random_frame(std::mt19937_64& random) {
  Frame frame;
  frame.extended = test::uniform_int(random, 0, 1) != 0;
  frame.fd = test::uniform_int(random, 0, 1) != 0;
  frame.id = static_cast<std::uint32_t>(random()) & (frame.extended ? max_extended_id : max_standard_id);
  if (test::uniform_int(random, 0, 3) == 0) frame.id = frame.extended ? 0x1F07C1F0U & max_extended_id : 0x078;
  if (frame.fd) {
    frame.bit_rate_switch = test::uniform_int(random, 0, 3) != 0;
    frame.error_state = test::uniform_int(random, 0, 7) == 0;
    frame.length = fd_lengths[static_cast<std::size_t>(test::uniform_int(random, 0, 15))];
  } else {
    frame.remote = test::uniform_int(random, 0, 7) == 0;
    frame.length = static_cast<std::uint8_t>(test::uniform_int(random, 0, 8));
  }
  const auto kind = test::uniform_int(random, 0, 3);
  for (std::size_t i = 0; i < frame.length && !frame.remote; ++i) {
    const auto byte = static_cast<std::uint8_t>(random());
    // Random bytes, long runs, the worst pattern, and runs of five across byte borders.
    constexpr std::array<std::uint8_t, 5> runs = {0xF8, 0x3E, 0x0F, 0x83, 0xE0};
    frame.data[i] = kind == 0   ? byte
                    : kind == 1 ? static_cast<std::uint8_t>(byte % 2 != 0 ? 0xFF : 0)
                    : kind == 2 ? runs[i % 5]
                                : static_cast<std::uint8_t>(byte & 0x1F);
  }
  return frame;
}

}  // namespace

TEST_CASE("frame bits equal those of a sender that writes every bit") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    const Frame frame = random_frame(random);
    const FrameBits exact = frame_bits(frame);
    CAPTURE(frame.id);
    CAPTURE(int{frame.length});
    CAPTURE(frame.fd);
    CAPTURE(frame.extended);
    REQUIRE(exact.nominal == naive_frame_bits(frame).nominal);
    REQUIRE(exact.data == naive_frame_bits(frame).data);
    const FrameFormat format{frame.extended, frame.fd, frame.bit_rate_switch};
    const std::size_t bytes = frame.remote ? 0 : frame.length;
    REQUIRE(min_frame_bits(bytes, format).total() <= exact.total());
    REQUIRE(max_frame_bits(bytes, format).total() >= exact.total());
    REQUIRE(transmission_time(max_frame_bits(bytes, format), 1'000'000, 5'000'000) >=
            transmission_time(frame, 1'000'000, 5'000'000));
  }
}

TEST_CASE("the comparison catches a sender that stuffs wrongly") {
  auto random = test::generator(1);
  int differences = 0;
  for (int i = 0; i < 1000; ++i) {
    const Frame frame = random_frame(random);
    differences += frame_bits(frame) != naive_frame_bits(frame, Sender::forgets_stuff_bits) ? 1 : 0;
  }
  CHECK(differences > 100);
}

TEST_CASE("bounds of classic frames are the published ones") {
  // {bytes, without stuffing, worst case}: 11-bit identifiers, with intermission.
  constexpr std::array<std::array<std::uint32_t, 3>, 8> published = {{{0, 47, 55},
                                                                      {2, 63, 75},
                                                                      {3, 71, 85},
                                                                      {4, 79, 95},
                                                                      {5, 87, 105},
                                                                      {6, 95, 115},
                                                                      {7, 103, 125},
                                                                      {8, 111, 135}}};
  for (const auto& [bytes, least, most] : published) {
    CHECK(min_frame_bits(bytes) == FrameBits{least, 0});
    CHECK(max_frame_bits(bytes) == FrameBits{most, 0});
  }
  CHECK(min_frame_bits(8, {true, false, false}).total() == 131);
  CHECK(max_frame_bits(8, {true, false, false}).total() == 160);
}

TEST_CASE("a frame can reach the classic bound") {
  // Runs of four in identifier and data, so that each stuff bit completes the next run of five.
  auto random = test::generator(2);
  std::uint32_t most = 0;
  for (int i = 0; i < 2000; ++i) {
    Frame frame;
    frame.id = 0x078;
    frame.length = 8;
    constexpr std::array<std::uint8_t, 4> pattern = {0x3C, 0x3C, 0xC3, 0x1E};
    for (std::size_t k = 0; k < 8; ++k) frame.data[k] = pattern[random() % 4];
    most = std::max(most, frame_bits(frame).total());
  }
  CHECK(most > 125);
  CHECK(most <= 135);
}

TEST_CASE("bus times of FD frames are the published ones") {
  constexpr FrameFormat format{false, true, true};
  const auto microseconds = [&](FrameBits bits, std::uint32_t data_rate) {
    return static_cast<double>(transmission_time(bits, 1'000'000, data_rate).count()) * 1e-3;
  };
  // {bytes, min, worst} in us, rounded, at 1/5 Mbit/s
  constexpr std::array<std::array<int, 3>, 4> published = {
      {{8, 49, 57}, {16, 62, 73}, {32, 89, 106}, {64, 140, 170}}};
  for (const auto& [bytes, least, most] : published) {
    CHECK(microseconds(min_frame_bits(static_cast<std::size_t>(bytes), format), 5'000'000) ==
          doctest::Approx(least).epsilon(0.012));
    CHECK(microseconds(max_frame_bits(static_cast<std::size_t>(bytes), format), 5'000'000) ==
          doctest::Approx(most).epsilon(0.012));
  }
  CHECK(microseconds(max_frame_bits(64, format), 2'000'000) == doctest::Approx(373).epsilon(0.012));
  CHECK(microseconds(max_frame_bits(64, format), 8'000'000) == doctest::Approx(119).epsilon(0.012));
}

TEST_CASE("mean bus time of random payloads is the published one") {
  auto random = test::generator(3);
  double classic = 0;
  double fd = 0;
  constexpr int count = 5000;
  for (int i = 0; i < count; ++i) {
    Frame frame;
    frame.id = static_cast<std::uint32_t>(random()) & max_standard_id;
    frame.length = 8;
    for (std::uint8_t& byte : frame.data) byte = static_cast<std::uint8_t>(random());
    classic += frame_bits(frame).total();
    frame.fd = frame.bit_rate_switch = true;
    frame.length = 64;
    fd += static_cast<double>(transmission_time(frame, 1'000'000, 5'000'000).count()) * 1e-3;
  }
  CHECK(classic / count == doctest::Approx(114).epsilon(0.01));
  CHECK(fd / count == doctest::Approx(144).epsilon(0.01));
}

TEST_CASE("the cycle of a Hubo bus needs the published number of bits") {
  // Bus 0: 9 encoder requests, replies and references; two force-torque and two tilt sensors, one IMU, one
  // status.
  const auto plan = [](auto bits) {
    return 9 * bits(3) + 9 * bits(8) + 9 * bits(6) + 2 * (bits(2) + bits(8)) + 2 * (bits(2) + bits(8)) +
           bits(3) + bits(8) + bits(3) + bits(8);
  };
  CHECK(plan([](std::size_t n) { return min_frame_bits(n).total(); }) == 3553);
  CHECK(plan([](std::size_t n) { return max_frame_bits(n).total(); }) == 4295);
}

TEST_CASE("lengths that do not exist and zero bit rates do no harm") {
  Frame frame;
  frame.length = 255;
  CHECK(frame_bits(frame).total() >= min_frame_bits(8).total());
  frame.fd = true;
  CHECK(frame_bits(frame).total() >= min_frame_bits(64, {false, true, false}).total());
  frame.length = 9;
  const auto nine = frame_bits(frame);
  frame.length = 12;
  CHECK(nine == frame_bits(frame));
  CHECK(transmission_time(frame, 0, 0) > Duration(0));
}

TEST_CASE("transmission time rounds up and adds the phases") {
  static_assert(transmission_time(FrameBits{100, 0}, 1'000'000, 0) == Duration(100'000));
  static_assert(transmission_time(FrameBits{30, 100}, 500'000, 5'000'000) == Duration(60'000 + 20'000));
  static_assert(transmission_time(FrameBits{1, 0}, 3, 1) == Duration(333'333'334));
}

TEST_CASE("a cleared frame equals a new one") {
  Frame frame{Time(Duration(1)), StampSource::hardware, 2, 64, true, true, true, true, true, true, {}};
  frame.data.fill(0xFF);
  clear(frame);
  CHECK(frame == Frame{});
}

TEST_CASE("frames are made with checked identifiers and lengths") {
  constexpr std::array<std::uint8_t, 65> bytes{1, 2, 3};
  const std::span<const std::uint8_t> all(bytes);
  CHECK(make_frame(0x7FF, all.first(8))->length == 8);
  CHECK(make_frame(0x800, all.first(8)).error() == Errc::id_too_large);
  CHECK(make_frame(0x800, all.first(8), true)->extended);
  CHECK(make_frame(0x2000'0000, all.first(8), true).error() == Errc::id_too_large);
  CHECK(make_frame(1, all.first(9)).error() == Errc::payload_too_long);
  CHECK(make_fd_frame(1, all.first(9))->length == 12);
  CHECK(make_fd_frame(1, all.first(64))->length == 64);
  CHECK(make_fd_frame(1, all).error() == Errc::payload_too_long);
  CHECK(make_fd_frame(0x800, {}).error() == Errc::id_too_large);
  CHECK(make_fd_frame(1, all.first(3))->payload()[2] == 3);
}
