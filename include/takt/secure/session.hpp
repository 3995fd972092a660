// One session of the secure channel, at one of its ends: two keys, one for each direction, the numbers of its frames, and how old a
// frame is although the two clocks have nothing in common.
//
// A handshake fixes an instant on both clocks: what the other end stamped with `theirs` was sent after `ours` on our clock, because
// it answered something that we sent then. A frame stamped s that comes at time t is therefore at most
//
//     age(t, s) = (t - ours) - (s - theirs)
//
// old: too much by the time that the answer took, but never too little, however an attacker delays what. Between two handshakes
// the clocks may drift apart by 500 ppm. A clock that was set in between takes the anchor away, when it is told, or by genuine
// frames that go on coming from the future: from then on nobody can tell how old a frame is, and nothing is believed but stops. A
// sender's clock that was set ahead by less than the silence that is allowed shows itself by those frames alone: who holds back
// what is from the future makes the rest of the session's frames seem younger, by as much as it was set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/core/authenticator.hpp"
#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/secure/channel.hpp"
#include "takt/secure/envelope.hpp"
#include "takt/secure/key_derivation.hpp"
#include "takt/secure/replay_window.hpp"

namespace takt::secure {

/// How long things may take. Both ends should have the same.
struct SecurityLimits {
  Duration age =
      std::chrono::milliseconds(300);  ///< older frames are refused; a handshake's answer may take half of it
  Duration silence = std::chrono::milliseconds(500);  ///< after which the other end counts as gone
  Duration renewal =
      std::chrono::seconds(10);  ///< the client begins a new session; after six of these one is over

  [[nodiscard]] constexpr Duration answer() const noexcept { return age / 2; }
  /// The time of a call may be so much before that of an earlier one, or before what is in the datagram was sent. A frame may
  /// then be as much older.
  [[nodiscard]] constexpr Duration disorder() const noexcept { return age / 16; }
  [[nodiscard]] constexpr Duration lifetime() const noexcept { return 6 * renewal; }

  /// Two clocks drift apart by 1/drift_divisor at most: 500 ppm. One that is slewed faster, as chrony may, ends the session.
  static constexpr std::int64_t drift_divisor = 2000;

  /// Errors: out_of_range unless 1 ms <= age <= silence <= renewal <= an hour, and clocks drift apart by no more than a quarter of
  /// the age in the life of a session.
  [[nodiscard]] constexpr Status check() const noexcept {
    const bool ok = age >= std::chrono::milliseconds(1) && age <= silence && silence <= renewal &&
                    renewal <= std::chrono::hours(1) && lifetime() / drift_divisor <= age / 4;
    if (!ok) return fail(Errc::out_of_range);
    return {};
  }
};

/// The two random challenges of a handshake, of which a session's id and keys are made.
struct Challenges {
  Tag client{};
  Tag server{};

  [[nodiscard]] constexpr std::array<std::uint8_t, 2 * sizeof(Tag)> bytes() const noexcept {
    std::array<std::uint8_t, 2 * sizeof(Tag)> both{};
    ByteWriter writer(both);
    writer.bytes(client);
    writer.bytes(server);
    return both;
  }
};

/// An instant on both clocks.
struct ClockAnchor {
  Time ours;
  Time theirs;
};

enum class End : std::uint8_t { client, server };

/// Real-time safe.
template <Authenticator A, std::size_t WindowBits>
class Session {
 public:
  /// Keys come from the key that both ends have and the challenges that they exchanged.
  Session(const A& key, std::uint8_t key_id, const Challenges& challenges, End end,
          ClockAnchor anchor) noexcept
      : Session(derive_key<A::key_size>(key, "takt commander", challenges.bytes()),
                derive_key<A::key_size>(key, "takt vehicle", challenges.bytes()), end, anchor) {
    const auto id = derive_key<sizeof(id_)>(key, "takt session", challenges.bytes());
    id_ = ByteReader(id).big<std::uint64_t>();
    key_id_ = key_id;
  }

  /// Whether this is its session. That is no proof of anything.
  [[nodiscard]] bool claims(const Envelope& envelope) const noexcept {
    return envelope.session == id_ && envelope.key_id == key_id_;
  }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  /// When it was made, or lost its anchor, by our clock.
  [[nodiscard]] Time begin() const noexcept { return anchor_.ours; }
  [[nodiscard]] bool is_over(Time now, const SecurityLimits& limits) const noexcept {
    return now < anchor_.ours || now - anchor_.ours > limits.lifetime();
  }
  /// Whether there is more to it than stops.
  [[nodiscard]] bool is_alive(Time now, const SecurityLimits& limits) const noexcept {
    return anchored_ && !is_over(now, limits);
  }

  /// For when our clock was set, and shows this now.
  void lose_anchor(Time now) noexcept {
    anchored_ = false;
    ahead_.reset();
    anchor_.ours = now;  // stops are believed for as long as in a new session
  }
  [[nodiscard]] bool is_anchored() const noexcept { return anchored_; }

  /// Errors: too_long, no_room, sequence_end.
  [[nodiscard]] Result<std::size_t> seal(EnvelopeKind kind, std::span<const std::uint8_t> payload, Time now,
                                         std::span<std::uint8_t> out) noexcept {
    if (out.size() < payload.size() + envelope_overhead) return fail(Errc::no_room);
    const auto sequence = sent_.next();
    if (!sequence) return fail(sequence.error());
    return write_envelope(send_, {kind, key_id_, id_, *sequence, now, payload}, out);
  }

  /// As SequenceCounter::skip_to().
  void skip_to(std::uint64_t last) noexcept { sent_.skip_to(last); }

  /// Whether to believe the datagram, of which `envelope` is what it claims. A setpoint must be newer than all before it, telemetry
  /// not have been seen, and neither be too old; a stop must not have been seen. Returns whether it was young, as only a stop may
  /// fail to be. Errors: bad_tag, replayed, overtaken, too_old, clock_jumped.
  [[nodiscard]] Result<bool> open(const Envelope& envelope, std::span<const std::uint8_t> datagram, Time now,
                                  const SecurityLimits& limits) noexcept {
    if (!is_genuine(receive_, datagram)) return fail(Errc::bad_tag);
    const Freshness freshness = received_.judge(envelope.sequence);
    if (freshness == Freshness::seen) return fail(Errc::replayed);
    if (freshness == Freshness::overtaken && envelope.kind == EnvelopeKind::command)
      return fail(Errc::overtaken);
    const Status young = check_age(envelope.sent, now, limits);
    if (anchored_) watch_clocks(young, now, limits);
    if (!young && envelope.kind != EnvelopeKind::stop) return fail(young.error());
    received_.accept(envelope.sequence);
    return young.has_value();
  }

 private:
  using KeyBytes = std::array<std::uint8_t, A::key_size>;

  Session(const KeyBytes& client, const KeyBytes& server, End end, ClockAnchor anchor) noexcept
      : send_(end == End::client ? client : server),
        receive_(end == End::client ? server : client),
        anchor_(anchor) {}

  /// One frame from the future may have been taken with a time that was read before it came. A clock that was set makes all of them
  /// so.
  void watch_clocks(const Status& young, Time now, const SecurityLimits& limits) noexcept {
    if (young || young.error() != Errc::clock_jumped) {
      ahead_.reset();
    } else if (!ahead_) {
      ahead_ = now;
    } else if (now - *ahead_ > limits.age / 4) {
      lose_anchor(now);
    }
  }

  [[nodiscard]] Status check_age(Time sent, Time now, const SecurityLimits& limits) const noexcept {
    if (!anchored_ || now < anchor_.ours) return fail(Errc::clock_jumped);
    // The stamp may be any number: differences of it are formed where they may wrap.
    const auto difference = [](Time later, Time earlier) {
      return static_cast<std::uint64_t>(to_nanoseconds(later)) -
             static_cast<std::uint64_t>(to_nanoseconds(earlier));
    };
    const std::uint64_t elapsed = difference(now, anchor_.ours);
    const Duration age(static_cast<std::int64_t>(elapsed - difference(sent, anchor_.theirs)));
    const Duration drift(static_cast<std::int64_t>(elapsed / SecurityLimits::drift_divisor));
    if (age < -drift - limits.disorder()) return fail(Errc::clock_jumped);
    if (age > limits.age + drift) return fail(Errc::too_old);
    return {};
  }

  A send_;
  A receive_;
  ClockAnchor anchor_;
  bool anchored_ = true;
  std::optional<Time> ahead_;  ///< since then all that came was from the future
  std::uint64_t id_ = 0;
  std::uint8_t key_id_ = 0;
  SequenceCounter sent_;
  ReplayWindow<WindowBits> received_;
};

}  // namespace takt::secure
