// The server's end of the secure channel (takt/secure/handshake.hpp). It accepts one key, or two
// during a change of keys.
//
//     auto channel = ServerChannel<SipHash128>::make(keys, entropy);
//
//     // For each received datagram; a handshake goes to its sender:
//     if (const auto opened = channel->open(datagram, now)) take(opened->payload, opened->urgency);
//     if (channel->next_handshake() <= now)
//       if (const auto size = channel->poll_handshake(now, out)) answer(std::span(out).first(*size));
//
//     // Every period:
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

/// A Channel that seals reports, and opens commands and stops. A hello costs it one tag and an answer that
/// is not longer, and no memory. Send the due handshake after each datagram, because a second hello replaces
/// a waiting one. A step of a clock ends the session (detail::CallerTime). All functions are real-time safe.
template <Authenticator A>
class ServerChannel {
 public:
  static constexpr std::size_t overhead = envelope_overhead;
  static constexpr std::size_t max_handshake = detail::max_handshake;
  static constexpr std::size_t max_keys = 2;  ///< One key, or two during a change of keys.

  /// Argument `entropy`: random bytes of the operating system, different for each channel. Errors:
  /// - no_key: no key, more than two, two with the same id, or one with only zero bytes;
  /// - no_entropy: only zero bytes;
  /// - out_of_range: the limits.
  [[nodiscard]] static Result<ServerChannel> make(std::span<const SharedKey<A>> keys,
                                                  const std::array<std::uint8_t, A::key_size>& entropy,
                                                  const SecurityLimits& limits = {}) noexcept {
    if (keys.empty() || keys.size() > max_keys) return fail(Errc::no_key);
    if (keys.size() == 2 && keys[0].id == keys[1].id) return fail(Errc::no_key);
    for (const SharedKey<A>& key : keys) {
      if (detail::is_all_zero(key.bytes)) return fail(Errc::no_key);
    }
    if (detail::is_all_zero(entropy)) return fail(Errc::no_entropy);
    if (const Status ok = limits.check(); !ok) return fail(ok.error());
    return ServerChannel(keys, entropy, limits);
  }
  // A copy would seal different frames with the same sequence numbers.
  ServerChannel(const ServerChannel&) = delete;
  ServerChannel& operator=(const ServerChannel&) = delete;
  ServerChannel(ServerChannel&&) noexcept = default;
  ServerChannel& operator=(ServerChannel&&) noexcept = default;
  ~ServerChannel() = default;

  /// Judges a datagram of a client. Errors: those of parse_envelope() and of Session::open(),
  /// unexpected_kind, unknown_key, unknown_session, stale_handshake, busy.
  [[nodiscard]] Result<Opened> open(std::span<const std::uint8_t> datagram, Time now) noexcept {
    tell(now);
    const auto opened = judge(datagram, time_.latest());
    if (!opened) refused_.count(opened.error());
    return opened;
  }

  /// Seals reports. Errors: not_established, too_long, no_room, sequence_end.
  [[nodiscard]] Result<std::size_t> seal(std::span<const std::uint8_t> payload, Urgency /*urgency*/, Time now,
                                         std::span<std::uint8_t> out) noexcept {
    tell(now);
    if (!established(now)) return fail(Errc::not_established);
    return sessions_.current->seal(EnvelopeKind::report, payload, time_.latest(), out);
  }

  /// Whether a live session exists and no clock step is known.
  [[nodiscard]] bool established(Time now) const noexcept {
    return sessions_.current && !time_.is_jump(now, limits_) &&
           sessions_.current->is_alive(std::max(within_reach(now), time_.latest()), limits_);
  }

  /// Time::min() after open() accepted a hello or a confirmation, otherwise Time::max().
  [[nodiscard]] Time next_handshake() const noexcept {
    return hello_ || welcome_ ? Time::min() : Time::max();
  }

  /// Writes the handshake datagram that is due and returns its size in bytes, or 0. Error: no_room.
  [[nodiscard]] Result<std::size_t> poll_handshake(Time now, std::span<std::uint8_t> out) noexcept {
    tell(now);
    if (welcome_) return write_welcome(time_.latest(), out);
    if (hello_) return write_challenge(time_.latest(), out);
    return std::size_t{0};
  }

  /// Skips the sequence numbers up to this one in the present session, if there is one. For tests of
  /// sequence_end.
  void skip_to(std::uint64_t last) noexcept {
    if (sessions_.current) sessions_.current->skip_to(last);
  }

  /// The datagrams that open() refused, by error.
  [[nodiscard]] const RefusalCounters& refused() const noexcept { return refused_; }

 private:
  using Key = detail::HandshakeKeys<A>;

  /// A hello that was not answered yet.
  struct Hello {
    std::uint8_t key_id;
    Tag challenge;
  };

  ServerChannel(std::span<const SharedKey<A>> keys, const std::array<std::uint8_t, A::key_size>& entropy,
                const SecurityLimits& limits) noexcept
      : limits_(limits), entropy_(entropy) {
    for (std::size_t i = 0; i < keys.size(); ++i) keys_[i].emplace(keys[i]);
  }

  /// After a clock step the challenges differ from those before, even if the same times return.
  void tell(Time now) noexcept {
    if (!time_.tell(now, limits_)) return;
    sessions_.lose_anchors(time_.latest());
    welcome_ = false;
    confirmed_ = Time::min();
    ++jumps_;
  }

  [[nodiscard]] const Key* find_key(std::uint8_t id) const noexcept {
    for (const std::optional<Key>& key : keys_) {
      if (key && key->id == id) return &*key;
    }
    return nullptr;
  }

  /// Whether a live client exists and the envelope is from another one.
  [[nodiscard]] bool is_busy(const Envelope& envelope, Time now) const noexcept {
    if (!established(now) || now - heard_ > limits_.silence) return false;
    const bool same = envelope.session == sessions_.current->id() ||
                      (sessions_.other && envelope.session == sessions_.other->id());
    return !same;
  }

  /// Recomputed when it comes back instead of stored, so hellos use no memory.
  [[nodiscard]] Tag own_challenge(const Tag& client, Time at) const noexcept {
    std::array<std::uint8_t, sizeof(Tag) + 16> input{};
    ByteWriter writer(input);
    writer.bytes(client);
    writer.big(to_nanoseconds(at));
    writer.big(jumps_);
    return entropy_.tag(input);
  }

  [[nodiscard]] Result<std::size_t> write_challenge(Time now, std::span<std::uint8_t> out) noexcept {
    const Key& key = *find_key(hello_->key_id);
    const auto payload = Challenges{hello_->challenge, own_challenge(hello_->challenge, now)}.bytes();
    const auto size = write_envelope(key.server, {EnvelopeKind::challenge, key.id, 0, 0, now, payload}, out);
    if (size) hello_.reset();
    return size;
  }

  /// Empty reports. It tells the client about the session before the first status frame.
  [[nodiscard]] Result<std::size_t> write_welcome(Time now, std::span<std::uint8_t> out) noexcept {
    const auto size = sessions_.current->seal(EnvelopeKind::report, {}, now, out);
    if (size) welcome_ = false;
    return size;
  }

  [[nodiscard]] Result<Opened> judge(std::span<const std::uint8_t> datagram, Time now) noexcept {
    const auto envelope = parse_envelope(datagram);
    if (!envelope) return fail(envelope.error());
    const Key* key = find_key(envelope->key_id);
    if (key == nullptr) return fail(Errc::unknown_key);
    switch (envelope->kind) {
      case EnvelopeKind::hello:
        return take_hello(*envelope, *key, datagram, now);
      case EnvelopeKind::confirm:
        return take_confirm(*envelope, *key, datagram, now);
      case EnvelopeKind::command:
      case EnvelopeKind::stop:
        return take_command(*envelope, datagram, now);
      case EnvelopeKind::challenge:
      case EnvelopeKind::report:
        break;
    }
    return fail(Errc::unexpected_kind);
  }

  [[nodiscard]] Result<Opened> take_hello(const Envelope& envelope, const Key& key,
                                          std::span<const std::uint8_t> datagram, Time now) noexcept {
    if (envelope.payload.size() != detail::challenges_size) return fail(Errc::wrong_length);
    if (is_busy(envelope, now)) return fail(Errc::busy);
    if (!is_genuine(key.client, datagram)) return fail(Errc::bad_tag);
    hello_ = Hello{key.id, detail::read_challenges(envelope.payload).client};
    return Opened{};
  }

  [[nodiscard]] Result<Opened> take_confirm(const Envelope& envelope, const Key& key,
                                            std::span<const std::uint8_t> datagram, Time now) noexcept {
    if (envelope.payload.size() != detail::confirm_size) return fail(Errc::wrong_length);
    const Challenges challenges = detail::read_challenges(envelope.payload);
    ByteReader reader(envelope.payload.subspan(detail::challenges_size));
    const Time challenged = time_from_nanoseconds(reader.big<std::int64_t>());
    // Each challenge creates at most one session, and only if it is newer than the last session's challenge.
    if (challenged <= confirmed_ || challenged > now || challenged < now - limits_.answer()) {
      return fail(Errc::stale_handshake);
    }
    if (is_busy(envelope, now)) return fail(Errc::busy);
    if (!is_genuine(key.client, datagram)) return fail(Errc::bad_tag);
    if (!equal_in_constant_time(challenges.server, own_challenge(challenges.client, challenged))) {
      return fail(Errc::stale_handshake);
    }
    // An earlier renewal may have failed, so the client names the session that it still uses.
    if (sessions_.current && sessions_.current->claims(envelope)) sessions_.other = sessions_.current;
    sessions_.current.emplace(key.root, key.id, challenges, End::server,
                              ClockAnchor{challenged, envelope.sent});
    confirmed_ = challenged;
    heard_ = now;
    welcome_ = true;
    return Opened{};
  }

  [[nodiscard]] Result<Opened> take_command(const Envelope& envelope, std::span<const std::uint8_t> datagram,
                                            Time now) noexcept {
    auto* session = sessions_.find(envelope, now, limits_);
    if (session == nullptr) return fail(Errc::unknown_session);
    const Result<bool> young = session->open(envelope, datagram, now, limits_);
    if (!young) return fail(young.error());
    if (sessions_.is_current(session)) sessions_.other.reset();  // The old session is obsolete.
    if (*young) heard_ = now;  // A stop that was held back is no sign of life.
    const bool stop = envelope.kind == EnvelopeKind::stop;
    return Opened{envelope.payload, stop ? Urgency::stop : Urgency::ordinary};
  }

  SecurityLimits limits_;
  std::array<std::optional<Key>, max_keys> keys_;
  A entropy_;
  std::optional<Hello> hello_;
  bool welcome_ = false;
  Time confirmed_ = Time::min();  ///< time of the last session's challenge
  Time heard_{};
  detail::CallerTime time_;
  std::uint64_t jumps_ = 0;  ///< clock steps so far
  detail::Sessions<A, 64> sessions_;
  RefusalCounters refused_;
};

}  // namespace takt::secure
