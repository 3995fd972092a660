// The plain channel: its output equals its input, byte for byte, and too long input is refused.
#include "takt/secure/channel.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

using namespace takt;
using namespace takt::secure;

TEST_CASE("a plain channel passes bytes on as they are, from the first moment and for ever") {
  PlainChannel channel;
  const std::array<std::uint8_t, 5> frame{1, 2, 3, 0, 255};
  for (const Time now : {Time::min(), Time{}, Time::max()}) {
    std::array<std::uint8_t, 6> out{};
    CHECK(channel.established(now));
    const auto size = channel.seal(frame, Urgency::stop, now, out);
    REQUIRE(size == frame.size() + PlainChannel::overhead);
    CHECK(std::equal(frame.begin(), frame.end(), out.begin()));
    const auto opened = channel.open(std::span(out).first(*size), now);
    REQUIRE(opened);
    CHECK(opened->payload.data() == out.data());
    CHECK(opened->payload.size() == frame.size());
    CHECK(opened->urgency == Urgency::ordinary);
    CHECK(channel.next_handshake() == Time::max());
    CHECK(channel.poll_handshake(now, {}) == 0u);
  }
}

TEST_CASE("a plain channel refuses what does not fit, writes nothing of it, and takes an empty frame") {
  PlainChannel channel;
  const std::array<std::uint8_t, 3> frame{1, 2, 3};
  std::array<std::uint8_t, 2> out{7, 7};
  CHECK(channel.seal(frame, Urgency::ordinary, Time{}, out).error() == Errc::no_room);
  CHECK(out == std::array<std::uint8_t, 2>{7, 7});
  CHECK(channel.seal({}, Urgency::ordinary, Time{}, {}) == 0u);
  CHECK(channel.open({}, Time{})->payload.empty());
}
