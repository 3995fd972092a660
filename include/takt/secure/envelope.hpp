// The authenticated envelope around a frame of the secure channel. The most significant byte comes first.
//
//   offset  bytes
//        0      2   magic 54 4b ("TK")
//        2      1   version, 1
//        3      1   kind
//
//        4      1   key id, of the receiver's keys
//        5      1   flags, 0
//        6      2   length of the payload in bytes
//
//        8      8   session, 0 in a handshake without one
//       16      8   sequence, from 1 in each session and direction; 0 in a handshake
//
//       24      8   sender's time, nanoseconds of its own clock
//
//       32      n   payload
//   32 + n     16   tag over all bytes before it
//
// This header implements the layout. takt/secure/session.hpp and the channels decide which envelopes
// to accept.
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

/// The kind of an envelope, and its sender.
enum class EnvelopeKind : std::uint8_t {
  hello = 1,      ///< client: its challenge
  challenge = 2,  ///< server: the answer to a hello, with its own challenge
  confirm = 3,    ///< client: the answer to the challenge
  command = 4,    ///< client: a frame that drives
  report = 5,     ///< server: a status frame
  stop = 6,       ///< client: a command that only stops
};

/// Bytes before the payload.
inline constexpr std::size_t envelope_header = 32;
/// Bytes that an envelope adds to its payload.
inline constexpr std::size_t envelope_overhead = envelope_header + sizeof(Tag);

/// The parsed, not yet verified fields of a datagram. Spans point into the datagram.
struct Envelope {
  EnvelopeKind kind{};
  std::uint8_t key_id = 0;     ///< of the receiver's keys
  std::uint64_t session = 0;   ///< 0 in a handshake without one
  std::uint64_t sequence = 0;  ///< from 1; 0 in a handshake
  Time sent{};                 ///< on the sender's clock
  std::span<const std::uint8_t> payload;
};

namespace detail {
inline constexpr std::uint16_t envelope_magic = 0x544b;
inline constexpr std::uint8_t envelope_version = 1;
}  // namespace detail

/// Parses a datagram without verifying it. Errors: too_short, bad_magic, wrong_version (also for an unknown
/// kind or flag), wrong_length (not the datagram's length). Real-time safe.
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

/// Whether this key made the tag at the datagram's end. parse_envelope() must have accepted the datagram.
/// Real-time safe.
template <Authenticator A>
[[nodiscard]] bool is_genuine(const A& key, std::span<const std::uint8_t> datagram) noexcept {
  const auto tag = datagram.last<sizeof(Tag)>();
  return verify(key, datagram.first(datagram.size() - sizeof(Tag)), tag);
}

/// Writes an envelope with its tag into `out` and returns its size in bytes. `out` must not overlap the
/// payload. Errors: too_long (a payload of more than 65535 bytes), no_room. Real-time safe.
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
