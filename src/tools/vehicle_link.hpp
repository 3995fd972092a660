// The UDP link that `takt drive` and `takt vehicle-sim` share: its options, its keys, the loop that carries
// datagrams, and the warning when no valid datagram comes.
#pragma once

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "platform/descriptor.hpp"
#include "takt/core/error.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/siphash.hpp"
#include "takt/platform/blake2b.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/platform/udp_socket.hpp"
#include "takt/secure/handshake.hpp"
#include "tools/printer.hpp"

namespace takt::tools {

#ifdef TAKT_WITH_SODIUM
inline constexpr bool has_sodium = true;
#else
inline constexpr bool has_sodium = false;
#endif

/// The key's size chooses the authenticator: 16 bytes SipHash-128, 32 bytes BLAKE2b, which needs libsodium.
struct VehicleKey {
  std::uint8_t id = 0;
  std::size_t size = 0;
  std::array<std::uint8_t, platform::Blake2b::key_size> bytes{};

  template <Authenticator A>
  [[nodiscard]] secure::SharedKey<A> shared() const {
    secure::SharedKey<A> key{id, {}};
    std::copy_n(bytes.begin(), key.bytes.size(), key.bytes.begin());
    return key;
  }
};

/// Calls use.operator()<A>() with the authenticator of these keys.
template <class Use>
void with_authenticator(const VehicleKey& key, const Use& use) {
  if constexpr (has_sodium) {
    if (key.size == platform::Blake2b::key_size) return use.template operator()<platform::Blake2b>();
  }
  use.template operator()<SipHash128>();
}

/// --local, --peer, --send-to, and --key with --key-id, or --plain, of a sub-command.
struct VehicleLinkOptions {
  std::string local{};
  std::string peer{};
  std::string send_to{};
  std::vector<std::string> key_files{};
  std::vector<int> key_ids{};
  bool plain = false;

  /// `local` and `peer` are the defaults; at most so many keys may be given.
  void add_options(CLI::App& command, int most_keys);
  /// Error: bad_address, udp_failed.
  [[nodiscard]] SetupResult<platform::UdpSocket> open() const;
  /// Whether the peer's port is learnt from its datagrams.
  [[nodiscard]] bool any_port() const { return peer.ends_with(":any"); }
  /// The keys: at least one, all for the same authenticator. Errors: those of platform::read_key_file();
  /// no_key. It means a key of zeros, two keys with the same id or of different sizes, or a missing id. It
  /// also means a size that needs libsodium, without it.
  [[nodiscard]] SetupResult<std::vector<VehicleKey>> keys() const;
};

/// Counts the datagrams that came over a link.
struct LinkHeard {
  std::uint64_t valid = 0;  ///< datagrams that the end took
  std::uint64_t refused = 0;
  Error last_refusal{};

  LinkHeard& operator+=(const LinkHeard& other) {
    valid += other.valid;
    refused += other.refused;
    if (other.refused > 0) last_refusal = other.last_refusal;
    return *this;
  }
};

/// Carries datagrams between the socket and one end of the connection (VehicleDrive, SimulatedVehicle) until
/// that time, at least once. It receives in batches, and sends due datagrams after each received one, so a
/// flood delays nothing. With --peer ADDRESS:any it answers the last valid sender, and keeps that port once
/// there is a session.
template <class End>
LinkHeard exchange(platform::UdpSocket& socket, End& end, Time until) {
  constexpr std::size_t room = 1024;  // more than any frame has: the socket rejects longer ones
  std::array<std::array<std::uint8_t, room>, platform::UdpSocket::batch> memory;
  std::array<platform::Datagram, platform::UdpSocket::batch> batch;
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].buffer = memory[i];
  std::array<std::uint8_t, room> out;
  const platform::SteadyClock clock;
  LinkHeard heard;
  const auto send_due = [&](Time now) {
    while (const std::size_t size = end.poll(now, out).value_or(0)) socket.send(std::span(out).first(size));
  };
  Time now = clock.now();
  do {
    send_due(now);
    const Time next = std::clamp(end.next_send(), now, std::max(now, until));
    const std::size_t came = socket.receive(batch, next - now);
    for (const platform::Datagram& datagram : std::span(batch).first(came)) {
      const Time came_at = clock.now();
      // Taken with the same call as the one on which the socket settled.
      if (socket.settled_port() != 0 && datagram.port != socket.settled_port()) continue;
      if (const Status taken = end.receive(datagram.bytes(), came_at)) {
        ++heard.valid;
        socket.answer(datagram.port);
        if (end.established(came_at)) socket.settle(datagram.port);
      } else {
        ++heard.refused;
        heard.last_refusal = taken.error();
      }
      if (end.next_send() <= came_at) send_due(came_at);
    }
    now = clock.now();
  } while (now < until);
  return heard;
}

/// Messages for people: the port that a link chose for its peer; after two seconds without a valid datagram,
/// what arrived instead.
class LinkWatch {
 public:
  /// `expects`: whether silence alone is reported.
  LinkWatch(const VehicleLinkOptions& options, bool expects) : options_(options), expects_(expects) {}

  /// Call it in each cycle, with the counts since the start. Returns the message to print now, if any.
  [[nodiscard]] std::optional<std::string> look(const LinkHeard& heard, platform::UdpSocket& socket,
                                                Time now);

 private:
  static constexpr Duration patience = std::chrono::seconds(2);

  VehicleLinkOptions options_;
  bool expects_;
  std::optional<Time> next_{};
  bool told_silence_ = false;
  bool told_others_ = false;
  bool told_peer_ = false;
};

/// The way to a vehicle at the other end of a socket.
class UdpLink {
 public:
  UdpLink(platform::UdpSocket socket, LinkWatch watch)
      : socket_(std::move(socket)), watch_(std::move(watch)) {}

  /// As exchange().
  template <class End>
  LinkHeard exchange(End& end, Time until) {
    return tools::exchange(socket_, end, until);
  }
  /// As LinkWatch::look().
  [[nodiscard]] std::optional<std::string> look(const LinkHeard& heard, Time now) {
    return watch_.look(heard, socket_, now);
  }
  /// Nothing that this end could do.
  void recover() noexcept {}
  [[nodiscard]] platform::UdpCounters counters() const { return socket_.counters(); }

 private:
  platform::UdpSocket socket_;
  LinkWatch watch_;
};

/// The way to a vehicle in this process, by calls.
template <class Vehicle>
class DirectLink {
 public:
  explicit DirectLink(Vehicle vehicle) : vehicle_(std::move(vehicle)) {}

  template <class End>
  LinkHeard exchange(End& end, Time until) {
    platform::SteadyClock clock;
    LinkHeard heard;
    for (Time now = clock.now();; now = clock.now()) {
      carry(end, vehicle_, now, nullptr);
      carry(vehicle_, end, now, &heard);
      if (now >= until) return heard;
      clock.sleep_until(std::clamp(std::min(end.next_send(), vehicle_.next_send()), now, until));
    }
  }
  [[nodiscard]] std::optional<std::string> look(const LinkHeard&, Time) { return std::nullopt; }
  /// Starts a vehicle again that has halted because this program paused.
  void recover() noexcept { vehicle_.recover(); }
  [[nodiscard]] platform::UdpCounters counters() const { return {}; }

 private:
  template <class From, class To>
  void carry(From& from, To& to, Time now, LinkHeard* heard) {
    while (const std::size_t size = from.poll(now, buffer_).value_or(0)) {
      const Status taken = to.receive(std::span(buffer_).first(size), now);
      if (heard == nullptr) continue;
      if (taken) {
        ++heard->valid;
      } else {
        ++heard->refused;
        heard->last_refusal = taken.error();
      }
    }
  }

  Vehicle vehicle_;
  std::array<std::uint8_t, 1024> buffer_{};
};

/// A file that is written beside the loop; none without a name.
struct LogFile {
  std::string path;
  platform::detail::Descriptor file;
  std::unique_ptr<Printer> printer;  ///< ends before the file closes

  /// Call it after the last line. Returns the reason if some lines were not written.
  [[nodiscard]] std::optional<std::string> end() const;
};
[[nodiscard]] SetupResult<LogFile> open_log(const std::string& path);

}  // namespace takt::tools
