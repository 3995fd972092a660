// The envelope byte for byte, and every invalid datagram.
#include "takt/secure/envelope.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "secure/secure_pair.hpp"
#include "takt/core/siphash.hpp"

using namespace takt;
using namespace takt::secure;
using test::Bytes;

namespace {

Bytes sample(const Bytes& payload) {
  Bytes out(payload.size() + envelope_overhead);
  const Envelope envelope{EnvelopeKind::command,
                          9,
                          0x0102030405060708,
                          0x1112131415161718,
                          time_from_nanoseconds(0x2122232425262728),
                          payload};
  REQUIRE(write_envelope(SipHash128(test::bytes_from(1)), envelope, out) == out.size());
  return out;
}

Error refusal(const Bytes& datagram) {
  const auto envelope = parse_envelope(datagram);
  REQUIRE_FALSE(envelope);
  return envelope.error();
}

}  // namespace

TEST_CASE("an envelope lies on the wire as its header says, and comes back as it was") {
  const Bytes payload{0xaa, 0xbb};
  const Bytes out = sample(payload);
  const Bytes expected{0x54, 0x4b, 1,    4,    9,    0,    0,    2,    1,    2,    3,    4,
                       5,    6,    7,    8,    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
                       0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0xaa, 0xbb};
  CHECK(std::equal(expected.begin(), expected.end(), out.begin()));
  CHECK(out.size() == expected.size() + 16);
  const Tag tag = SipHash128(test::bytes_from(1)).tag(expected);
  CHECK(std::equal(tag.begin(), tag.end(), out.end() - 16));

  const auto envelope = parse_envelope(out);
  REQUIRE(envelope);
  CHECK(envelope->kind == EnvelopeKind::command);
  CHECK(envelope->key_id == 9);
  CHECK(envelope->session == 0x0102030405060708);
  CHECK(envelope->sequence == 0x1112131415161718);
  CHECK(to_nanoseconds(envelope->sent) == 0x2122232425262728);
  CHECK(std::equal(payload.begin(), payload.end(), envelope->payload.begin(), envelope->payload.end()));
  CHECK(is_genuine(SipHash128(test::bytes_from(1)), out));
  CHECK_FALSE(is_genuine(SipHash128(test::bytes_from(2)), out));
}

TEST_CASE("every truncated, lengthened or otherwise wrong envelope is refused by name") {
  const Bytes whole = sample({1, 2, 3, 4});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    CHECK(error == (size < envelope_overhead ? Errc::too_short : Errc::wrong_length));
  }
  Bytes longer = whole;
  longer.push_back(0);
  CHECK(refusal(longer) == Errc::wrong_length);
  const auto changed = [&](std::size_t at, std::uint8_t value) {
    Bytes bytes = whole;
    bytes[at] = value;
    return bytes;
  };
  CHECK(refusal(changed(0, 0)) == Errc::bad_magic);
  CHECK(refusal(changed(1, 0)) == Errc::bad_magic);
  CHECK(refusal(changed(2, 0)) == Errc::wrong_version);
  CHECK(refusal(changed(2, 2)) == Errc::wrong_version);
  CHECK(refusal(changed(3, 0)) == Errc::wrong_version);
  CHECK(refusal(changed(3, 7)) == Errc::wrong_version);
  CHECK(refusal(changed(5, 1)) == Errc::wrong_version);
  CHECK(refusal(changed(6, 1)) == Errc::wrong_length);
  CHECK(refusal(changed(7, 3)) == Errc::wrong_length);
}

TEST_CASE("an envelope that does not fit is not written") {
  const SipHash128 key(test::bytes_from(1));
  Bytes payload(65536);
  Bytes out(70'000);
  Envelope envelope;
  envelope.payload = payload;
  CHECK(write_envelope(key, envelope, out).error() == Errc::too_long);
  envelope.payload = std::span(payload).first(65535);
  CHECK(write_envelope(key, envelope, out) == 65535 + envelope_overhead);
  out.resize(65534 + envelope_overhead);
  CHECK(write_envelope(key, envelope, out).error() == Errc::no_room);
}
