// A UDP socket that talks to one peer, as a DatagramTransport: for vehicles, and whatever else sends its state in datagrams.
//
//     auto socket = platform::UdpSocket::open({.local = {"10.0.0.1", 18003}, .peer = {"10.0.0.2", 18004}});
//     if (!socket) return complain(socket.error().message);
//     while (const auto size = socket->receive(buffer, Duration(0))) client.receive(std::span(buffer).first(*size), now);
//     socket->send(command);
//
// The socket is connected: the kernel drops what comes from anybody else. That keeps strangers out of the queue; it proves
// nothing, as a sender's address can be forged. Who must be sure needs an authenticated envelope around each datagram.
//
// With port 0 the socket hears a peer whose port is unknown, such as the Furbot's original programs. After the first valid
// datagram of the peer, settle() fixes its port:
//
//     if (socket->receive(batch, timeout) > 0 && is_valid(batch[0].bytes())) socket->settle(batch[0].port);
//
// Nothing breaks a socket: a peer that is not there, a cable that is cut, a queue that is full are counted, and it goes on when
// they are over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "takt/core/datagram_transport.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/platform/error.hpp"

namespace takt::platform {

struct UdpEndpoint {
  std::string address = "127.0.0.1";  ///< in numbers, IPv4 or IPv6; never a name
  std::uint16_t port = 0;
};

struct UdpConfig {
  UdpEndpoint local{};  ///< port 0: any free one
  UdpEndpoint peer{};   ///< port 0: any of its ports, until settle()
  /// The destination of send(), for a peer that receives at another port than it sends from. Default: the peer's port. If
  /// that is 0, send() fails before answer() or settle().
  std::optional<UdpEndpoint> destination{};
  /// A second socket at the same address and port counts datagrams of other senders: strangers(). They never get into our
  /// queue.
  bool watch_strangers = false;
  /// receive() asks the kernel again and again instead of sleeping: a fraction of the latency for a whole core. At a real-time
  /// priority not all of the time: Linux stops those who leave nothing to others for 50 ms of each second.
  bool busy_poll = false;
};

/// From the opening on.
struct UdpCounters {
  std::uint64_t sent = 0;
  std::uint64_t refused =
      0;  ///< not sent: the queue full, no route, the link down, more bytes than a datagram has
  std::uint64_t unreachable =
      0;  ///< how often the peer's machine, or one on the way, said that nobody is there
  std::uint64_t received = 0;
  std::uint64_t too_long = 0;  ///< came, but did not fit the buffer
  std::uint64_t dropped =
      0;  ///< lost by the kernel, because nobody received in time; known when the next one is received
  std::uint64_t foreign =
      0;  ///< from another port of the peer, in the queue when the socket settled; dropped
};

/// Datagrams to a socket's port that did not come from its peer.
struct UdpStrangers {
  std::uint64_t datagrams = 0;
  UdpEndpoint last{};  ///< the sender of one of the last; port 0 if there was none
};

/// One of a batch.
struct Datagram {
  std::span<std::uint8_t> buffer{};
  std::size_t size = 0;
  std::uint16_t port = 0;  ///< of the sender; set if the peer's port is 0 in the options

  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept { return buffer.first(size); }
};

/// Satisfies DatagramTransport. One thread at a time. send() and receive() are real-time safe: their system calls do not wait, but
/// for the sleep of receive() with a time limit.
class UdpSocket {
 public:
  static constexpr std::size_t batch = 32;

  /// Errors, with a message that says which: bad_address, udp_failed (the port is taken, the address is none of this machine, ...).
  /// Not real-time safe.
  [[nodiscard]] static SetupResult<UdpSocket> open(const UdpConfig& config);

  UdpSocket(UdpSocket&& other) noexcept { *this = std::move(other); }
  UdpSocket& operator=(UdpSocket&& other) noexcept;
  ~UdpSocket();

  bool send(std::span<const std::uint8_t> bytes) noexcept;

  /// Of datagrams that are too long it passes over `batch` at most, so that a flood of them does not hold the caller.
  [[nodiscard]] std::optional<std::size_t> receive(std::span<std::uint8_t> buffer, Duration timeout) noexcept;

  /// Waits for the first and takes what else is there, up to `batch`: one system call for all of them. Returns how many are now at
  /// the front of `datagrams`, oldest first; which of the buffers each is in is the socket's choice.
  [[nodiscard]] std::size_t receive(std::span<Datagram> datagrams, Duration timeout) noexcept;

  /// Sets the peer's port that send() uses, for a peer with port 0 in the options and no `destination`. Real-time safe.
  void answer(std::uint16_t port) noexcept;
  /// Fixes the port of a peer with port 0 in the options: only this port is heard, and without a `destination` send() uses
  /// it. One system call. False: the kernel refuses, and nothing changes.
  bool settle(std::uint16_t port) noexcept;
  /// The source port of the last received datagram, for a peer with port 0 in the options; 0 before the first.
  [[nodiscard]] std::uint16_t sender_port() const noexcept { return route_.sender; }
  /// Whether the peer's port is not yet fixed.
  [[nodiscard]] bool is_open_to_any_port() const noexcept { return route_.any_port && route_.settled == 0; }
  /// The port that settle() took; 0 before.
  [[nodiscard]] std::uint16_t settled_port() const noexcept { return route_.settled; }

  /// Strangers since the opening; zeros without watch_strangers. Not real-time safe.
  [[nodiscard]] UdpStrangers strangers() noexcept;

  /// One system call.
  [[nodiscard]] UdpCounters counters() const noexcept;
  [[nodiscard]] std::uint16_t local_port() const noexcept;
  /// To wait for datagrams with poll() of the caller's own.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  /// An address as the kernel has it, of either family.
  struct Address {
    alignas(4) std::array<unsigned char, 28> bytes{};
    std::uint32_t size = 0;  ///< 0: none
  };

  /// The peer that a socket hears, and its destination.
  struct Route {
    Address peer{};
    Address destination{};  ///< of send(), if that is not the port that the kernel knows
    bool is_given = false;  ///< the destination, by the configuration
    bool any_port = false;
    std::uint16_t settled = 0;  ///< the port; 0: not yet
    std::uint16_t sender = 0;   ///< of the last datagram that was given
  };

  UdpSocket(int descriptor, bool busy_poll) noexcept : descriptor_(descriptor), busy_poll_(busy_poll) {}

  int read(std::span<Datagram> datagrams, bool wait) noexcept;
  std::size_t nap(std::span<Datagram> datagrams, Duration timeout) noexcept;
  std::size_t take(std::span<Datagram> datagrams) noexcept;
  bool count_error() noexcept;
  std::size_t keep_whole(std::span<Datagram> datagrams) noexcept;

  int descriptor_ = -1;
  bool busy_poll_ = false;
  Duration nap_{};  // as the kernel knows it
  Route route_{};
  int watch_ = -1;  // the socket that strangers get into
  UdpStrangers strangers_{};
  UdpCounters counters_{};
};
static_assert(DatagramTransport<UdpSocket>);

}  // namespace takt::platform
