// The authenticated channel between a commander and a vehicle that share a secret key: what both of its ends are made of.
//
//     commander                                       vehicle
//     hello      its challenge              ------->  answers nothing that is larger, and remembers nothing
//                                           <-------  challenge   its own challenge, of what it answers and the time
//     confirm    both challenges            ------->  makes the session
//                                           <-------  telemetry   in the new session
//     setpoint, stop                        ------->
//
// Both challenges are random, so nothing that was recorded in another session is of use; neither a wall clock nor a stored counter
// is needed, and either end may restart at any time. Each direction has keys of its own, so nothing can be sent back to its sender.
// The commander renews the session while it is used. One commander at a time: while a session lives, only a hello out of it is
// answered.
//
// The clocks should be steady ones. When one was set, or nobody told its end the time for as long as the silence that is allowed,
// nothing of the session is sent or believed any more but stops, and the two ends shake hands again. An end that is not told the
// time while its clock is back knows nothing of it: seal() each period.
//
// A datagram is judged in this order: layout, kind, key id and session, tag, replay window, age. Only what passed all of it moves
// anything; genuine frames from the future end the session. There is no way to take unsigned frames, and none to make a channel
// without a key.
//
// takt/secure/client_channel.hpp, takt/secure/server_channel.hpp: the two ends. What comes out of them is genuine, not
// sensible: check its values as any others. Frames can be read by whoever hears them: this is about whom to believe, not about
// secrecy.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/core/authenticator.hpp"
#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/secure/envelope.hpp"
#include "takt/secure/key_derivation.hpp"
#include "takt/secure/session.hpp"

namespace takt::secure {

/// A secret that the two ends share, and the number by which frames name it. One for each vehicle and commander.
template <Authenticator A>
struct SharedKey {
  std::uint8_t id = 0;
  std::array<std::uint8_t, A::key_size> bytes{};
};

/// How many datagrams were refused, by reason.
class RefusalCounters {
 public:
  [[nodiscard]] std::uint64_t operator()(Errc reason) const noexcept {
    const auto code = static_cast<std::size_t>(reason);
    return code < counts_.size() ? counts_[code] : 0;
  }
  [[nodiscard]] std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts_) sum += count;
    return sum;
  }
  void count(Error reason) noexcept {
    if (reason.room == Room::secure && reason.code < counts_.size()) ++counts_[reason.code];
  }

 private:
  std::array<std::uint64_t, 32> counts_{};
};

namespace detail {

template <std::size_t Size>
[[nodiscard]] constexpr bool is_all_zero(const std::array<std::uint8_t, Size>& bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

/// What is made of a shared key, once.
template <Authenticator A>
struct HandshakeKeys {
  explicit HandshakeKeys(const SharedKey<A>& shared) noexcept
      : id(shared.id),
        root(shared.bytes),
        client(derive_key<A::key_size>(root, "takt handshake commander", std::array{shared.id})),
        server(derive_key<A::key_size>(root, "takt handshake vehicle", std::array{shared.id})) {}

  std::uint8_t id;
  A root;  ///< keys are derived from it, and nothing else
  A client;
  A server;
};

/// The payload of a hello and of the answer to it is a pair of challenges, so that the answer is no longer; in a hello, the
/// vehicle's one is zero. In a confirmation follows when the vehicle made its challenge, by its clock.
inline constexpr std::size_t challenges_size = 2 * sizeof(Tag);
inline constexpr std::size_t confirm_size = challenges_size + 8;
inline constexpr std::size_t max_handshake = envelope_overhead + confirm_size;

/// Of a payload of at least challenges_size bytes.
[[nodiscard]] inline Challenges read_challenges(std::span<const std::uint8_t> payload) noexcept {
  Challenges challenges;
  std::copy_n(payload.begin(), sizeof(Tag), challenges.client.begin());
  std::copy_n(payload.begin() + sizeof(Tag), sizeof(Tag), challenges.server.begin());
  return challenges;
}

/// The time as the caller tells it. Where two calls came in the wrong order it stands still. A larger step back is a clock that was
/// set. So is one ahead by more than the silence that is allowed, unless nobody called for as long, which looks the same: a sender
/// whose clock was set ahead makes frames that somebody could hold back until they seem young.
class ToldTime {
 public:
  [[nodiscard]] Time latest() const noexcept { return latest_.value_or(Time{}); }

  /// Whether the clock was set, or nobody called for too long, which looks the same.
  [[nodiscard]] bool is_jump(Time now, const SecurityLimits& limits) const noexcept {
    now = within_reach(now);
    return latest_ && (now < *latest_ - limits.disorder() || now > *latest_ + limits.silence);
  }
  /// Returns the same.
  bool tell(Time now, const SecurityLimits& limits) noexcept {
    const bool jump = is_jump(now, limits);
    latest_ = jump ? within_reach(now) : std::max(latest_.value_or(Time::min()), within_reach(now));
    return jump;
  }

 private:
  std::optional<Time> latest_;
};

/// The session in use, and that which comes after it (commander) or was before it (vehicle), while frames of both are under way.
template <Authenticator A, std::size_t WindowBits>
struct Sessions {
  using SessionType = Session<A, WindowBits>;

  [[nodiscard]] SessionType* find(const Envelope& envelope, Time now, const SecurityLimits& limits) noexcept {
    for (std::optional<SessionType>* session : {&current, &other}) {
      if (*session && (*session)->claims(envelope) && !(*session)->is_over(now, limits)) return &**session;
    }
    return nullptr;
  }
  [[nodiscard]] bool is_current(const SessionType* session) const noexcept {
    return current && session == &*current;
  }
  void lose_anchors(Time now) noexcept {
    for (std::optional<SessionType>* session : {&current, &other}) {
      if (*session) (*session)->lose_anchor(now);
    }
  }

  std::optional<SessionType> current;
  std::optional<SessionType> other;
};

}  // namespace detail
}  // namespace takt::secure
