// What stands between a protocol's frames and the datagrams on the wire. A channel wraps what is sent, unwraps and judges what has
// come, and has a handshake of its own, if any; it is sans-I/O, as everything here: bytes and the time in, bytes out. Each end of a
// connection has one of its own.
//
//     PlainChannel                      bytes as they are, for vehicles that know nothing else
//     ClientChannel, ServerChannel  the authenticated envelope: takt/secure/handshake.hpp and the headers that it names
//
// No template of takt has one of them by default: who wants unprotected frames says so by name.
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

/// Whether a frame asks for a stop. A secure channel takes a stop that was overtaken or delayed, as it takes nothing else: mark a
/// frame thus only if it brings the vehicle to a stand whatever came after it.
enum class Urgency : std::uint8_t { ordinary, stop };

/// What was in a datagram. Of one marked as a stop the receiver makes a full stop, whatever the payload says. The bytes are the
/// datagram's own: they live as long as those do.
struct Opened {
  std::span<const std::uint8_t> payload;  ///< empty: it was for the channel alone, and there is nothing to do
  Urgency urgency = Urgency::ordinary;    ///< as the sender marked it; plain frames are always ordinary
};

/// One end of a connection. All of it is real-time safe. An empty payload is no frame: seal none.
///   open(datagram, now)                what is in it, or why it is refused; what is refused changes nothing but counters, but
///                                      that it may show a clock that was set, as `now` may: when it came, by a clock that is read
///                                      after it. Poll the handshake before the next: it keeps one answer
///   seal(payload, urgency, now, out)   writes the datagram to send, and returns its size: payload.size() + overhead. Errors:
///                                      no_room (in out), and what the channel names. out may not overlap with the payload. Call
///                                      it each period, rather than ask first: so the channel is told the time
///   established(now)                   whether seal() takes more than stops. The channel is told nothing by it
///   next_handshake()                   when poll_handshake() will have something to send: Time::min() at once, Time::max() never.
///                                      Whatever is called in between may change it
///   poll_handshake(now, out)           writes the datagram of the handshake that is due, if any, and returns its size or 0. Error:
///                                      no_room (max_handshake bytes are enough)
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

/// Bytes as they are: whoever can send to the vehicle drives it, and whoever can hear it can send all that he heard again. For a
/// legacy vehicle on a cable of its own. Stateless.
class PlainChannel {
 public:
  static constexpr std::size_t overhead = 0;
  static constexpr std::size_t max_handshake = 0;

  [[nodiscard]] Result<Opened> open(std::span<const std::uint8_t> datagram, Time /*now*/) noexcept {
    return Opened{datagram, Urgency::ordinary};
  }

  /// Error: no_room.
  [[nodiscard]] Result<std::size_t> seal(std::span<const std::uint8_t> payload, Urgency /*urgency*/,
                                         Time /*now*/, std::span<std::uint8_t> out) noexcept {
    if (out.size() < payload.size()) return fail(Errc::no_room);
    if (!payload.empty()) std::memcpy(out.data(), payload.data(), payload.size());
    return payload.size();
  }

  [[nodiscard]] bool established(Time /*now*/) const noexcept { return true; }
  [[nodiscard]] Time next_handshake() const noexcept { return Time::max(); }
  [[nodiscard]] Result<std::size_t> poll_handshake(Time /*now*/, std::span<std::uint8_t> /*out*/) noexcept {
    return std::size_t{0};
  }
};
static_assert(Channel<PlainChannel>);

}  // namespace takt::secure
