// The client's end of the secure channel (takt/secure/handshake.hpp). takt/platform/key_file.hpp
// reads the key and the random bytes.
//
//     auto channel = ClientChannel<SipHash128>::make({.id = 1, .bytes = key}, entropy);
//
//     // Every period:
//     for (const std::span<const std::uint8_t> datagram : received)
//       if (const auto opened = channel->open(datagram, now)) take(opened->payload);
//
//     if (channel->next_handshake() <= now)
//       if (const auto size = channel->poll_handshake(now, out)) send(std::span(out).first(*size));
//
//     if (const auto size = channel->seal(frame, Urgency::ordinary, now, out))
//       send(std::span(out).first(*size));
//
// Call seal() also without a session, so that the channel always gets the time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/core/authenticator.hpp"
#include "takt/core/bytes.hpp"
#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/secure/channel.hpp"
#include "takt/secure/envelope.hpp"
#include "takt/secure/error.hpp"
#include "takt/secure/handshake.hpp"
#include "takt/secure/session.hpp"

namespace takt::secure {

/// A Channel that seals commands and stops, and opens reports. Reports may be reordered by up to
/// WindowBits frames. A step of a clock ends the session (detail::CallerTime). All functions are real-time
/// safe.
template <Authenticator A, std::size_t WindowBits = 256>
class ClientChannel {
 public:
  static constexpr std::size_t overhead = envelope_overhead;
  static constexpr std::size_t max_handshake = detail::max_handshake;

  /// Argument `entropy`: random bytes of the operating system, different for each channel. Errors: no_key or
  /// no_entropy (all its bytes are zero), out_of_range (limits).
  [[nodiscard]] static Result<ClientChannel> make(const SharedKey<A>& key,
                                                  const std::array<std::uint8_t, A::key_size>& entropy,
                                                  const SecurityLimits& limits = {}) noexcept {
    if (detail::is_all_zero(key.bytes)) return fail(Errc::no_key);
    if (detail::is_all_zero(entropy)) return fail(Errc::no_entropy);
    if (const Status ok = limits.check(); !ok) return fail(ok.error());
    return ClientChannel(key, entropy, limits);
  }
  // A copy would seal different frames with the same sequence numbers.
  ClientChannel(const ClientChannel&) = delete;
  ClientChannel& operator=(const ClientChannel&) = delete;
  ClientChannel(ClientChannel&&) noexcept = default;
  ClientChannel& operator=(ClientChannel&&) noexcept = default;
  ~ClientChannel() = default;

  /// Judges a datagram of the server. Errors: those of parse_envelope() and of Session::open(),
  /// unexpected_kind, unknown_key, unknown_session, stale_handshake.
  [[nodiscard]] Result<Opened> open(std::span<const std::uint8_t> datagram, Time now) noexcept {
    tell(now);
    const auto opened = judge(datagram, time_.latest());
    if (!opened) refused_.count(opened.error());
    return opened;
  }

  /// Seals a command or a stop. A stop only needs a session that is not over, because the server accepts it
  /// even if a clock was set. Errors: not_established, too_long, no_room, sequence_end.
  [[nodiscard]] Result<std::size_t> seal(std::span<const std::uint8_t> payload, Urgency urgency, Time now,
                                         std::span<std::uint8_t> out) noexcept {
    tell(now);
    const bool stop = urgency == Urgency::stop;
    if (!sessions_.current || sessions_.current->is_over(time_.latest(), limits_) ||
        (!stop && !established(now)))
      return fail(Errc::not_established);
    const auto kind = stop ? EnvelopeKind::stop : EnvelopeKind::command;
    return sessions_.current->seal(kind, payload, time_.latest(), out);
  }

  /// Whether a live session exists and no clock step is known.
  [[nodiscard]] bool established(Time now) const noexcept {
    return sessions_.current && !time_.is_jump(now, limits_) &&
           sessions_.current->is_alive(std::max(within_reach(now), time_.latest()), limits_);
  }

  /// When poll_handshake() has a datagram to send. See Channel.
  [[nodiscard]] Time next_handshake() const noexcept { return confirm_ ? Time::min() : next_hello(); }

  /// Writes the handshake datagram that is due and returns its size in bytes, or 0. Errors: no_room,
  /// sequence_end.
  [[nodiscard]] Result<std::size_t> poll_handshake(Time now, std::span<std::uint8_t> out) noexcept {
    tell(now);
    if (confirm_) return write_confirm(time_.latest(), out);
    if (time_.latest() < next_hello()) return std::size_t{0};
    return write_hello(time_.latest(), out);
  }

  /// Skips the sequence numbers up to this one in the present session, if there is one. For tests of
  /// sequence_end.
  void skip_to(std::uint64_t last) noexcept {
    if (sessions_.current) sessions_.current->skip_to(last);
  }

  /// The datagrams that open() refused, by error.
  [[nodiscard]] const RefusalCounters& refused() const noexcept { return refused_; }

 private:
  /// A hello without an answer so far.
  struct Asked {
    Tag challenge;
    Time at;
  };
  /// An answer that needs a confirmation.
  struct Confirm {
    Challenges challenges;
    Time challenged;  ///< on the server's clock
  };

  ClientChannel(const SharedKey<A>& key, const std::array<std::uint8_t, A::key_size>& entropy,
                const SecurityLimits& limits) noexcept
      : limits_(limits), key_(key), entropy_(entropy) {}

  void tell(Time now) noexcept {
    if (!time_.tell(now, limits_)) return;
    sessions_.lose_anchors(time_.latest());
    asked_.reset();
    confirm_.reset();
    retry_ = Time::min();
  }

  [[nodiscard]] std::uint64_t session_id() const noexcept {
    return sessions_.current ? sessions_.current->id() : 0;
  }

  /// At once if there is no usable session. Otherwise at its renewal, or when the server is silent. Never
  /// before the answer to the last hello can have arrived.
  [[nodiscard]] Time next_hello() const noexcept {
    if (!sessions_.current || !sessions_.current->is_anchored()) return retry_;
    return std::max(retry_, std::min(sessions_.current->begin() + limits_.renewal, heard_ + limits_.silence));
  }

  [[nodiscard]] Result<std::size_t> write_hello(Time now, std::span<std::uint8_t> out) noexcept {
    const auto number = hellos_.next();
    if (!number) return fail(number.error());
    std::array<std::uint8_t, sizeof(*number)> bytes{};
    ByteWriter(bytes).big(*number);
    const Tag challenge = entropy_.tag(bytes);
    const auto payload = Challenges{challenge, {}}.bytes();
    const auto size =
        write_envelope(key_.client, {EnvelopeKind::hello, key_.id, session_id(), 0, now, payload}, out);
    if (!size) return size;
    asked_ = Asked{challenge, now};
    retry_ = now + limits_.answer();
    return size;
  }

  [[nodiscard]] Result<std::size_t> write_confirm(Time now, std::span<std::uint8_t> out) noexcept {
    std::array<std::uint8_t, detail::confirm_size> payload{};
    ByteWriter writer(payload);
    writer.bytes(confirm_->challenges.bytes());
    writer.big(to_nanoseconds(confirm_->challenged));
    const auto size =
        write_envelope(key_.client, {EnvelopeKind::confirm, key_.id, session_id(), 0, now, payload}, out);
    if (!size) return size;
    confirm_.reset();
    // Another handshake now would end the session whose welcome is on its way.
    retry_ = now + limits_.answer();
    return size;
  }

  [[nodiscard]] Result<Opened> judge(std::span<const std::uint8_t> datagram, Time now) noexcept {
    const auto envelope = parse_envelope(datagram);
    if (!envelope) return fail(envelope.error());
    if (envelope->key_id != key_.id) return fail(Errc::unknown_key);
    if (envelope->kind == EnvelopeKind::challenge) return take_challenge(*envelope, datagram, now);
    if (envelope->kind == EnvelopeKind::report) return take_report(*envelope, datagram, now);
    return fail(Errc::unexpected_kind);
  }

  [[nodiscard]] Result<Opened> take_challenge(const Envelope& envelope,
                                              std::span<const std::uint8_t> datagram, Time now) noexcept {
    if (envelope.payload.size() != detail::challenges_size) return fail(Errc::wrong_length);
    const Challenges challenges = detail::read_challenges(envelope.payload);
    if (!asked_ || challenges.client != asked_->challenge || now - asked_->at > limits_.answer()) {
      return fail(Errc::stale_handshake);
    }
    if (!is_genuine(key_.server, datagram)) return fail(Errc::bad_tag);
    sessions_.other.emplace(key_.root, key_.id, challenges, End::client,
                            ClockAnchor{asked_->at, envelope.sent});
    confirm_ = Confirm{challenges, envelope.sent};
    asked_.reset();
    return Opened{};
  }

  [[nodiscard]] Result<Opened> take_report(const Envelope& envelope, std::span<const std::uint8_t> datagram,
                                           Time now) noexcept {
    auto* session = sessions_.find(envelope, now, limits_);
    if (session == nullptr) return fail(Errc::unknown_session);
    if (const Result<bool> young = session->open(envelope, datagram, now, limits_); !young)
      return fail(young.error());
    if (!sessions_.is_current(session)) {  // The server has switched to the new session: switch too.
      sessions_.current = sessions_.other;
      sessions_.other.reset();
    }
    heard_ = now;
    return Opened{envelope.payload};
  }

  SecurityLimits limits_;
  detail::HandshakeKeys<A> key_;
  A entropy_;
  SequenceCounter hellos_;
  std::optional<Asked> asked_;
  std::optional<Confirm> confirm_;
  Time retry_ = Time::min();
  Time heard_{};
  detail::CallerTime time_;
  detail::Sessions<A, WindowBits> sessions_;
  RefusalCounters refused_;
};

}  // namespace takt::secure
