// The frame that the secure channel wraps other frames in. Most significant byte first:
//
//     offset  bytes
//          0      2   magic 54 4b ("TK")
//          2      1   version, 1
//          3      1   kind
//          4      1   key id: which of the receiver's keys
//          5      1   flags, 0
//          6      2   bytes of payload
//          8      8   session, 0 in a handshake without one
//         16      8   sequence, from 1 in each session and direction; 0 in a handshake
//         24      8   sender's time, nanoseconds of its own clock
//         32      n   payload
//     32 + n     16   tag over all before it
//
// This header knows the layout; whom to believe is known by takt/secure/session.hpp and the channels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "takt/core/authenticator.hpp"
#include "takt/core/bytes.hpp"
#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/secure/error.hpp"

namespace takt::secure {

enum class EnvelopeKind : std::uint8_t {
  hello = 1,      ///< client: its challenge
  challenge = 2,  ///< server: the answer to a hello, with its own challenge
  confirm = 3,    ///< client: the answer to that
  command = 4,    ///< client
  report = 5,     ///< server
  stop = 6,       ///< client: a setpoint that only stops
};

inline constexpr std::size_t envelope_header = 32;
inline constexpr std::size_t envelope_overhead = envelope_header + sizeof(Tag);

/// A datagram as it claims to be. Spans are parts of the datagram.
struct Envelope {
  EnvelopeKind kind{};
  std::uint8_t key_id = 0;
  std::uint64_t session = 0;
  std::uint64_t sequence = 0;
  Time sent{};  ///< on the sender's clock
  std::span<const std::uint8_t> payload;
};

namespace detail {
inline constexpr std::uint16_t envelope_magic = 0x544b;
inline constexpr std::uint8_t envelope_version = 1;
}  // namespace detail

/// Takes a datagram apart and believes nothing yet. Errors: too_short, bad_magic, wrong_version (or flags that this one does not
/// have, or a kind), wrong_length (not the datagram's). Real-time safe.
[[nodiscard]] inline Result<Envelope> parse_envelope(std::span<const std::uint8_t> datagram) noexcept {
  if (datagram.size() < envelope_overhead) return fail(Errc::too_short);
  ByteReader reader(datagram);
  if (reader.big<std::uint16_t>() != detail::envelope_magic) return fail(Errc::bad_magic);
  const auto version = reader.big<std::uint8_t>();
  const auto kind = reader.big<std::uint8_t>();
  Envelope envelope;
  envelope.key_id = reader.big<std::uint8_t>();
  const auto flags = reader.big<std::uint8_t>();
  if (version != detail::envelope_version || flags != 0) return fail(Errc::wrong_version);
  if (kind < static_cast<std::uint8_t>(EnvelopeKind::hello) ||
      kind > static_cast<std::uint8_t>(EnvelopeKind::stop)) {
    return fail(Errc::wrong_version);
  }
  envelope.kind = static_cast<EnvelopeKind>(kind);
  const auto length = reader.big<std::uint16_t>();
  if (length != datagram.size() - envelope_overhead) return fail(Errc::wrong_length);
  envelope.session = reader.big<std::uint64_t>();
  envelope.sequence = reader.big<std::uint64_t>();
  envelope.sent = time_from_nanoseconds(reader.big<std::int64_t>());
  envelope.payload = reader.bytes(length);
  return envelope;
}

/// Whether the tag at the datagram's end, which parse_envelope() took, was made with this key. Real-time safe.
template <Authenticator A>
[[nodiscard]] bool is_genuine(const A& key, std::span<const std::uint8_t> datagram) noexcept {
  const auto tag = datagram.last<sizeof(Tag)>();
  return verify(key, datagram.first(datagram.size() - sizeof(Tag)), tag);
}

/// Writes the datagram and returns its size. out may not overlap with the payload. Errors: too_long (a payload of more than 65535
/// bytes), no_room. Real-time safe.
template <Authenticator A>
[[nodiscard]] Result<std::size_t> write_envelope(const A& key, const Envelope& envelope,
                                                 std::span<std::uint8_t> out) noexcept {
  if (envelope.payload.size() > UINT16_MAX) return fail(Errc::too_long);
  const std::size_t size = envelope.payload.size() + envelope_overhead;
  if (out.size() < size) return fail(Errc::no_room);
  ByteWriter writer(out.first(size));
  writer.big(detail::envelope_magic);
  writer.big(detail::envelope_version);
  writer.big(static_cast<std::uint8_t>(envelope.kind));
  writer.big(envelope.key_id);
  writer.big(std::uint8_t{0});
  writer.big(static_cast<std::uint16_t>(envelope.payload.size()));
  writer.big(envelope.session);
  writer.big(envelope.sequence);
  writer.big(to_nanoseconds(envelope.sent));
  writer.bytes(envelope.payload);
  writer.bytes(key.tag(writer.written()));
  return size;
}

}  // namespace takt::secure
