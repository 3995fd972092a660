// One end of one session of the secure channel. It holds a key per direction, the sequence numbers, and the
// bound on the age of a frame.
//
// Age. The clocks of the two ends are independent. The handshake fixes an anchor, one instant on both clocks.
// A frame with the stamp `theirs` was sent after `ours` on our clock, because it answers a frame that we sent
// then. So a frame with stamp s that arrives at time t has at most the age
//
//   age(t, s) = (t - ours) - (s - theirs)
//
// This bound is too large by the time that the answer took. It is never too small, whatever frames an
// attacker delays. Between two handshakes the clocks may drift apart by 500 ppm.
//
// Clock steps. The session loses its anchor when a clock was set. It learns this from the caller's time, or
// from authentic frames that keep coming from the future. Then the age of frames is unknown, and only stops
// are accepted. If the sender's clock is set ahead by less than the allowed silence, only those frames from
// the future reveal it. An attacker who holds them back makes the rest of the session's frames look younger,
// by at most the step.
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

/// The time limits of a session. Both ends should use the same.
struct SecurityLimits {
  /// Older frames are refused. A handshake's answer may take half of it.
  Duration age = std::chrono::milliseconds(300);
  Duration silence = std::chrono::milliseconds(500);  ///< without frames for longer, the other end is gone
  /// The client then begins a new session. A session ends after six of these.
  Duration renewal = std::chrono::seconds(10);

  /// How long a handshake's answer may take.
  [[nodiscard]] constexpr Duration answer() const noexcept { return age / 2; }
  /// How much earlier a call's time may be than that of an earlier call, or than the frame's sending. A frame
  /// may then be older by the same amount.
  [[nodiscard]] constexpr Duration disorder() const noexcept { return age / 16; }
  /// The longest life of a session.
  [[nodiscard]] constexpr Duration lifetime() const noexcept { return 6 * renewal; }

  /// The most drift between two clocks is 1/drift_divisor: 500 ppm. A clock that is slewed faster, as chrony
  /// may do, ends the session.
  static constexpr std::int64_t drift_divisor = 2000;

  /// Error: out_of_range. Valid limits are 1 ms <= age <= silence <= renewal <= one hour. The drift over the
  /// life of a session must be at most a quarter of the age.
  [[nodiscard]] constexpr Status check() const noexcept {
    const bool ok = age >= std::chrono::milliseconds(1) && age <= silence && silence <= renewal &&
                    renewal <= std::chrono::hours(1) && lifetime() / drift_divisor <= age / 4;
    if (!ok) return fail(Errc::out_of_range);
    return {};
  }
};

/// The two random challenges of a handshake. The session's id and keys are derived from them.
struct Challenges {
  Tag client{};
  Tag server{};

  /// Both, the client's first.
  [[nodiscard]] constexpr std::array<std::uint8_t, 2 * sizeof(Tag)> bytes() const noexcept {
    std::array<std::uint8_t, 2 * sizeof(Tag)> both{};
    ByteWriter writer(both);
    writer.bytes(client);
    writer.bytes(server);
    return both;
  }
};

/// The same instant on both clocks.
struct ClockAnchor {
  Time ours;    ///< on our clock
  Time theirs;  ///< on the other end's clock
};

/// The role of an end.
enum class End : std::uint8_t { client, server };

/// One end of a session. Real-time safe.
template <Authenticator A, std::size_t WindowBits>
class Session {
 public:
  /// Derives id and keys from the shared key and the exchanged challenges.
  Session(const A& key, std::uint8_t key_id, const Challenges& challenges, End end,
          ClockAnchor anchor) noexcept
      : Session(derive_key<A::key_size>(key, "takt commander", challenges.bytes()),
                derive_key<A::key_size>(key, "takt vehicle", challenges.bytes()), end, anchor) {
    const auto id = derive_key<sizeof(id_)>(key, "takt session", challenges.bytes());
    id_ = ByteReader(id).big<std::uint64_t>();
    key_id_ = key_id;
  }

  /// Whether the envelope names this session. This proves nothing.
  [[nodiscard]] bool claims(const Envelope& envelope) const noexcept {
    return envelope.session == id_ && envelope.key_id == key_id_;
  }
  /// The session's number in the envelopes.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  /// When the session was created or lost its anchor, on our clock.
  [[nodiscard]] Time begin() const noexcept { return anchor_.ours; }
  /// Whether its lifetime has ended, or `now` is before its beginning.
  [[nodiscard]] bool is_over(Time now, const SecurityLimits& limits) const noexcept {
    return now < anchor_.ours || now - anchor_.ours > limits.lifetime();
  }
  /// Whether it accepts frames other than stops.
  [[nodiscard]] bool is_alive(Time now, const SecurityLimits& limits) const noexcept {
    return anchored_ && !is_over(now, limits);
  }

  /// Removes the anchor, because a clock was set. Argument `now`: the new time of our clock.
  void lose_anchor(Time now) noexcept {
    anchored_ = false;
    ahead_.reset();
    anchor_.ours = now;  // stops are accepted for a new session's lifetime
  }
  /// Whether the age of frames is known.
  [[nodiscard]] bool is_anchored() const noexcept { return anchored_; }

  /// Seals a payload. Returns the size in bytes. Errors: too_long, no_room, sequence_end.
  [[nodiscard]] Result<std::size_t> seal(EnvelopeKind kind, std::span<const std::uint8_t> payload, Time now,
                                         std::span<std::uint8_t> out) noexcept {
    if (out.size() < payload.size() + envelope_overhead) return fail(Errc::no_room);
    const auto sequence = sent_.next();
    if (!sequence) return fail(sequence.error());
    return write_envelope(send_, {kind, key_id_, id_, *sequence, now, payload}, out);
  }

  /// See SequenceCounter::skip_to().
  void skip_to(std::uint64_t last) noexcept { sent_.skip_to(last); }

  /// Verifies a datagram; `envelope` is its parsed form. A command must be newer than all before it.
  /// Reports and stops must not have been seen. Setpoints and reports must not be too old. Returns
  /// whether the frame was young; only a stop may be old. Errors: bad_tag, replayed, overtaken, too_old,
  /// clock_jumped.
  [[nodiscard]] Result<bool> open(const Envelope& envelope, std::span<const std::uint8_t> datagram, Time now,
                                  const SecurityLimits& limits) noexcept {
    if (!is_genuine(receive_, datagram)) return fail(Errc::bad_tag);
    const ReplayVerdict freshness = received_.judge(envelope.sequence);
    if (freshness == ReplayVerdict::seen) return fail(Errc::replayed);
    if (freshness == ReplayVerdict::overtaken && envelope.kind == EnvelopeKind::command)
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

  /// A single frame from the future may have been given a time from before its arrival. After a clock step,
  /// all frames are from the future.
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
    // A stamp may be any number, so differences are computed in unsigned arithmetic.
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
  std::optional<Time> ahead_;  ///< since then all frames came from the future
  std::uint64_t id_ = 0;
  std::uint8_t key_id_ = 0;
  SequenceCounter sent_;
  ReplayWindow<WindowBits> received_;
};

}  // namespace takt::secure
