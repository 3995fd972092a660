// The parts that both ends of the authenticated channel share. A client and a server authenticate each
// other's datagrams with a shared secret key.
//
//   client                                       server
//
//   hello      its challenge              ------->  remembers nothing; its answer is not longer
//                                         <-------  challenge   computed from the hello and the time
//
//   confirm    both challenges            ------->  creates the session
//                                         <-------  reports   in the new session
//   command, stop                        ------->
//
// Both challenges are random, so recordings of another session are useless. The channel needs neither a wall
// clock nor a stored counter, and either end may restart at any time. Each direction has its own keys, so
// nobody can reflect a datagram to its sender. The client renews the session while it is in use. A server
// has one client at a time: during a session it answers only hellos from within that session.
//
// Use steady clocks. If a clock is set, the session carries nothing but stops, and the two ends start a new
// handshake. The same happens if an end does not get the time for longer than the allowed silence. An end
// cannot notice a clock step that is reverted before its next call, so call seal() each period.
//
// A datagram is checked in this order: layout, kind, key id and session, tag, replay window, age. Only a
// datagram that passes all checks has an effect. Authentic frames from the future end the session. The
// channel never accepts unsigned frames, and cannot be created without a key.
//
// The two ends are takt/secure/client_channel.hpp and takt/secure/server_channel.hpp. Opened payloads
// are authentic, not necessarily valid: check their values as usual. The channel does not encrypt: any
// listener can read the frames.
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

/// A secret key that both ends share, and its number in the envelopes. Use one key per pair of server and
/// client.
template <Authenticator A>
struct SharedKey {
  std::uint8_t id = 0;                            ///< as in the envelopes
  std::array<std::uint8_t, A::key_size> bytes{};  ///< secret; not all zero
};

/// Counts the refused datagrams by error. Real-time safe.
class RefusalCounters {
 public:
  /// The number of datagrams refused for this reason.
  [[nodiscard]] std::uint64_t operator()(Errc reason) const noexcept {
    const auto code = static_cast<std::size_t>(reason);
    return code < counts_.size() ? counts_[code] : 0;
  }
  /// The number of all refused datagrams.
  [[nodiscard]] std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts_) sum += count;
    return sum;
  }
  /// Counts one refusal. Errors of other rooms are not counted.
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

/// The keys that are derived once from a shared key.
template <Authenticator A>
struct HandshakeKeys {
  explicit HandshakeKeys(const SharedKey<A>& shared) noexcept
      : id(shared.id),
        root(shared.bytes),
        client(derive_key<A::key_size>(root, "takt handshake commander", std::array{shared.id})),
        server(derive_key<A::key_size>(root, "takt handshake vehicle", std::array{shared.id})) {}

  std::uint8_t id;
  A root;  ///< only derives other keys
  A client;
  A server;
};

/// The payload of a hello and of its answer is a pair of challenges, so the answer is not longer than the
/// hello. In a hello the server's challenge is zero. A confirmation also holds the time of the server's
/// challenge, on the server's clock.
inline constexpr std::size_t challenges_size = 2 * sizeof(Tag);
inline constexpr std::size_t confirm_size = challenges_size + 8;
inline constexpr std::size_t max_handshake = envelope_overhead + confirm_size;

/// Reads a pair of challenges from a payload of at least challenges_size bytes.
[[nodiscard]] inline Challenges read_challenges(std::span<const std::uint8_t> payload) noexcept {
  Challenges challenges;
  std::copy_n(payload.begin(), sizeof(Tag), challenges.client.begin());
  std::copy_n(payload.begin() + sizeof(Tag), sizeof(Tag), challenges.server.begin());
  return challenges;
}

/// The time as the calls report it. After two calls in the wrong order it stays constant. A larger step back
/// means that the clock was set. A step ahead by more than the allowed silence means the same, or that no
/// call came for as long. Reason: if a sender's clock was set ahead, an attacker could delay its frames until
/// they look young.
class CallerTime {
 public:
  [[nodiscard]] Time latest() const noexcept { return latest_.value_or(Time{}); }

  /// Whether this time reveals a clock step, or a gap between calls that looks like one.
  [[nodiscard]] bool is_jump(Time now, const SecurityLimits& limits) const noexcept {
    now = within_reach(now);
    return latest_ && (now < *latest_ - limits.disorder() || now > *latest_ + limits.silence);
  }
  /// Takes the time of a call. Returns is_jump() of it.
  bool tell(Time now, const SecurityLimits& limits) noexcept {
    const bool jump = is_jump(now, limits);
    latest_ = jump ? within_reach(now) : std::max(latest_.value_or(Time::min()), within_reach(now));
    return jump;
  }

 private:
  std::optional<Time> latest_;
};

/// The present session and another one, while frames of both are on their way. The other is the next one for
/// a client, and the previous one for a server.
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
