// The control frame: bytes written by hand in both orders, random frames there and back, and invalid
// datagrams.
#include "takt/vehicle/control_frame.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::vehicle;

namespace {

using Bytes = std::array<std::uint8_t, control_frame_bytes>;

constexpr ControlFrame known{0x01020304, -2, 0x11223344, 0xA0B0C0D0};
constexpr Bytes known_bytes{'F',  'S',  'T',  'A',  1,    2,    3,    4,    0xFF, 0xFF,
                            0xFF, 0xFE, 0x11, 0x22, 0x33, 0x44, 0xA0, 0xB0, 0xC0, 0xD0};
constexpr Bytes original_bytes{'F',  'S',  'T',  'A',  1,    2,    3,    4,    0xFE, 0xFF,
                               0xFF, 0xFF, 0x44, 0x33, 0x22, 0x11, 0xD0, 0xC0, 0xB0, 0xA0};

static_assert(decode_control(known_bytes, ByteOrder::big) == known);
static_assert(decode_control(original_bytes, ByteOrder::little) == known);

}  // namespace

TEST_CASE("a control frame has these bytes in network order, and those of the original sender if asked") {
  Bytes bytes{};
  CHECK(encode_control(known, bytes, ByteOrder::big) == control_frame_bytes);
  CHECK(bytes == known_bytes);
  CHECK(encode_control(known, bytes, ByteOrder::little) == control_frame_bytes);
  CHECK(bytes == original_bytes);
}

TEST_CASE("every control frame is decoded as it was encoded, within the rules of the loop") {
  auto random = test::generator(1);
  test::RtGuard guard;
  bool same = true;
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    const ControlFrame frame{static_cast<std::uint32_t>(random()), static_cast<std::int32_t>(random()),
                             static_cast<std::int32_t>(random()), static_cast<std::uint32_t>(random())};
    for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
      Bytes bytes{};
      same = same && encode_control(frame, bytes, order).has_value();
      same = same && decode_control(bytes, order) == frame;
    }
  }
  CHECK(guard.report() == "");
  CHECK(same);
}

TEST_CASE("short, long and malformed control frames are refused by name") {
  std::array<std::uint8_t, control_frame_bytes + 1> longer{};
  std::copy(known_bytes.begin(), known_bytes.end(), longer.begin());
  for (std::size_t size = 0; size < control_frame_bytes; ++size)
    CHECK(decode_control(std::span(longer).first(size), ByteOrder::big).error() == Errc::too_short);
  CHECK(decode_control(longer, ByteOrder::big).error() == Errc::bad_len);
  for (std::size_t bit = 0; bit < 32; ++bit) {
    Bytes flipped = known_bytes;
    flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ (1U << bit % 8));
    CHECK(decode_control(flipped, ByteOrder::big).error() == Errc::bad_magic);
  }
}

TEST_CASE("a control frame that does not fit is not written") {
  Bytes bytes{};
  for (std::size_t size = 0; size < control_frame_bytes; ++size)
    CHECK(encode_control(known, std::span(bytes).first(size), ByteOrder::big).error() == Errc::no_room);
  CHECK(bytes == Bytes{});
}
