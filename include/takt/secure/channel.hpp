// A channel stands between a protocol's frames and the datagrams on the wire. It seals frames before sending,
// opens and judges received datagrams, and runs its own handshake, if it has one. It does no I/O: bytes and
// the time go in, bytes come out. Each end of a connection has its own channel.
//
// * PlainChannel: the bytes unchanged, for servers that support nothing else.
// * ClientChannel, ServerChannel: the authenticated envelope, takt/secure/handshake.hpp and the
//   headers named there.
//
// No template of takt has a default channel: a program that wants unprotected frames must name PlainChannel.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/secure/error.hpp"

namespace takt::secure {

/// Whether a frame requests a stop. A secure channel accepts a stop even if it was overtaken or delayed, and
/// no other frame. Mark a frame as a stop only if it stops the server regardless of later frames.
enum class Urgency : std::uint8_t { ordinary, stop };

/// The content of a datagram. If it is marked as a stop, the receiver makes a full stop, whatever the payload
/// contains. The bytes belong to the datagram and live as long as it does.
struct Opened {
  std::span<const std::uint8_t> payload;  ///< empty: the datagram was for the channel only
  Urgency urgency = Urgency::ordinary;    ///< the sender's mark; plain frames are always ordinary
};

/// One end of a connection. All functions are real-time safe. Never seal an empty payload.
///
/// * open(datagram, now): returns the content, or the error for which it refuses the datagram. A refused
///   datagram changes only counters. Exception: it may reveal that a clock was set, as `now` may. Argument
///   `now`: read the clock after the datagram's arrival. Poll the handshake before the next datagram, because
///   the channel stores one answer only.
/// * seal(payload, urgency, now, out): writes the datagram to send and returns its size in bytes,
///   payload.size() + overhead. Errors: no_room (in out), and those of the channel. `out` must not overlap
///   the payload. Call it each period without asking established() first, so that the channel always gets the
///   time.
/// * established(now): whether seal() accepts ordinary frames, not only stops. It does not pass the time to
///   the channel.
/// * next_handshake(): when poll_handshake() has a datagram to send. Time::min(): at once; Time::max():
///   never. Any other call may change it.
/// * poll_handshake(now, out): writes the handshake datagram that is due and returns its size in bytes, or 0.
///   Error: no_room (max_handshake bytes are enough).
// clang-format off
template <class C>
concept Channel = requires(C& channel, const C& constant, std::span<const std::uint8_t> bytes, std::span<std::uint8_t> out,
                           Urgency urgency, Time now) {
  { channel.open(bytes, now) } noexcept -> std::same_as<Result<Opened>>;
  { channel.seal(bytes, urgency, now, out) } noexcept -> std::same_as<Result<std::size_t>>;
  { constant.established(now) } noexcept -> std::same_as<bool>;
  { constant.next_handshake() } noexcept -> std::same_as<Time>;
  { channel.poll_handshake(now, out) } noexcept -> std::same_as<Result<std::size_t>>;
  { C::overhead } -> std::convertible_to<std::size_t>;       // bytes that seal() adds
  { C::max_handshake } -> std::convertible_to<std::size_t>;  // the longest that poll_handshake() writes
};
// clang-format on

/// The bytes unchanged, for an old server on a cable of its own. Any sender can drive the server, and any
/// listener can replay what it heard. Stateless.
class PlainChannel {
 public:
  static constexpr std::size_t overhead = 0;
  static constexpr std::size_t max_handshake = 0;

  /// Returns the datagram as an ordinary payload. Never fails.
  [[nodiscard]] Result<Opened> open(std::span<const std::uint8_t> datagram, Time /*now*/) noexcept {
    return Opened{datagram, Urgency::ordinary};
  }

  /// Copies the payload. Error: no_room.
  [[nodiscard]] Result<std::size_t> seal(std::span<const std::uint8_t> payload, Urgency /*urgency*/,
                                         Time /*now*/, std::span<std::uint8_t> out) noexcept {
    if (out.size() < payload.size()) return fail(Errc::no_room);
    if (!payload.empty()) std::memcpy(out.data(), payload.data(), payload.size());
    return payload.size();
  }

  /// Always true.
  [[nodiscard]] bool established(Time /*now*/) const noexcept { return true; }
  /// Never: there is no handshake.
  [[nodiscard]] Time next_handshake() const noexcept { return Time::max(); }
  /// Always 0.
  [[nodiscard]] Result<std::size_t> poll_handshake(Time /*now*/, std::span<std::uint8_t> /*out*/) noexcept {
    return std::size_t{0};
  }
};
static_assert(Channel<PlainChannel>);

}  // namespace takt::secure
