// A UDP socket for one peer, as a DatagramTransport. For vehicles and other devices that send their state in
// datagrams.
//
//     auto socket = platform::UdpSocket::open({.local = {"10.0.0.1", 18003}, .peer = {"10.0.0.2", 18004}});
//     if (!socket) return complain(socket.error().message);
//     while (const auto size = socket->receive(buffer, Duration(0)))
//       client.receive(std::span(buffer).first(*size), now);
//     socket->send(command);
//
// The socket is connected, so the kernel drops datagrams of other senders. That keeps them out of the queue,
// but it is no authentication: a sender can forge its address. For authentication, use
// secure/handshake.hpp.
//
// With port 0 the socket accepts datagrams from any port of the peer. Use it for a peer with an unknown port,
// such as the Furbot's original programs. After the first valid datagram, settle() fixes the port:
//
//     if (socket->receive(batch, timeout) > 0 && is_valid(batch[0].bytes())) socket->settle(batch[0].port);
//
// No fault breaks a socket. It counts a missing peer, a cut cable or a full queue, and continues afterwards.
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

/// An address and a port.
struct UdpEndpoint {
  std::string address = "127.0.0.1";  ///< numeric IPv4 or IPv6 address, never a name
  std::uint16_t port = 0;
};

/// How to open a socket.
struct UdpConfig {
  UdpEndpoint local{};  ///< port 0: any free port
  UdpEndpoint peer{};   ///< port 0: any port of the peer until settle()
  /// The destination of send(), for a peer that receives at another port than it sends from. Default: the
  /// peer's port. If that is 0, send() fails until answer() or settle().
  std::optional<UdpEndpoint> destination{};
  /// Opens a second socket at the same address and port, which counts datagrams of other senders; see
  /// strangers(). They never enter the queue of the first.
  bool watch_strangers = false;
  /// receive() polls the kernel instead of sleeping: a fraction of the latency, but a whole core. With
  /// real-time priority use it with care. Linux stops a thread that leaves no time to others for 50 ms of
  /// each second.
  bool busy_poll = false;
};

/// Counts since open().
struct UdpCounters {
  std::uint64_t sent = 0;  ///< accepted by the kernel
  /// Not sent: full queue, no route, link down, or too many bytes.
  std::uint64_t refused = 0;
  /// How often an ICMP message reported that the peer is unreachable.
  std::uint64_t unreachable = 0;
  std::uint64_t received = 0;  ///< returned to the caller
  std::uint64_t too_long = 0;  ///< arrived, but longer than the buffer
  /// Lost by the kernel because receive() came too late; updated by the next receive().
  std::uint64_t dropped = 0;
  /// From another port of the peer, queued before settle(); dropped.
  std::uint64_t foreign = 0;
};

/// Datagrams to the socket's port that did not come from its peer.
struct UdpStrangers {
  std::uint64_t datagrams = 0;
  UdpEndpoint last{};  ///< sender of one of the latest; port 0: none
};

/// One datagram of a batch.
struct Datagram {
  std::span<std::uint8_t> buffer{};  ///< set by the caller
  std::size_t size = 0;              ///< bytes received
  std::uint16_t port = 0;            ///< sender's port; set if the peer's configured port is 0

  /// The received bytes.
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept { return buffer.first(size); }
};

/// Satisfies DatagramTransport. One thread at a time may use it. send() and receive() are real-time safe:
/// their system calls do not wait, except receive() with a timeout.
class UdpSocket {
 public:
  /// Datagrams per system call.
  static constexpr std::size_t batch = 32;

  /// Opens a socket. Not real-time safe. Errors: bad_address; udp_failed with the reason, for example that
  /// the port is taken or the address is not of this machine.
  [[nodiscard]] static SetupResult<UdpSocket> open(const UdpConfig& config);

  UdpSocket(UdpSocket&& other) noexcept { *this = std::move(other); }
  UdpSocket& operator=(UdpSocket&& other) noexcept;
  ~UdpSocket();

  /// Sends one datagram. Returns false and counts it if the kernel rejects it.
  bool send(std::span<const std::uint8_t> bytes) noexcept;

  /// Waits up to `timeout` for one datagram and returns its size in bytes. It skips at most `batch` datagrams
  /// that are too long, so a flood of them does not hold the caller.
  [[nodiscard]] std::optional<std::size_t> receive(std::span<std::uint8_t> buffer, Duration timeout) noexcept;

  /// Waits up to `timeout` for the first datagram and takes all others that have arrived, up to `batch`, with
  /// one system call. Returns their number. They are at the front of `datagrams`, oldest first; the socket
  /// chooses which buffer each uses.
  [[nodiscard]] std::size_t receive(std::span<Datagram> datagrams, Duration timeout) noexcept;

  /// Sets the destination port of send(), for a peer with port 0 in the options and no `destination`.
  /// Real-time safe.
  void answer(std::uint16_t port) noexcept;
  /// Fixes the port of a peer with port 0 in the options. From then on the socket accepts only this port.
  /// Without a `destination`, send() uses it too. One system call. Returns false without effect if the kernel
  /// refuses.
  bool settle(std::uint16_t port) noexcept;
  /// The source port of the last received datagram, for a peer with port 0 in the options; 0 before the
  /// first.
  [[nodiscard]] std::uint16_t sender_port() const noexcept { return route_.sender; }
  /// Whether the peer's port is not yet fixed.
  [[nodiscard]] bool is_open_to_any_port() const noexcept { return route_.any_port && route_.settled == 0; }
  /// The port fixed by settle(); 0 before.
  [[nodiscard]] std::uint16_t settled_port() const noexcept { return route_.settled; }

  /// Datagrams of other senders since open(); zeros without watch_strangers. Not real-time safe.
  [[nodiscard]] UdpStrangers strangers() noexcept;

  /// The counts since open(). One system call.
  [[nodiscard]] UdpCounters counters() const noexcept;
  /// The local port in use.
  [[nodiscard]] std::uint16_t local_port() const noexcept;
  /// For the caller's own poll().
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  /// An address in the kernel's form, IPv4 or IPv6.
  struct Address {
    alignas(4) std::array<unsigned char, 28> bytes{};
    std::uint32_t size = 0;  ///< bytes in use; 0: no address
  };

  /// The peer of a socket, and its destination.
  struct Route {
    Address peer{};
    Address destination{};  ///< of send(), if it differs from the connected address
    bool is_given = false;  ///< the configuration sets the destination
    bool any_port = false;
    std::uint16_t settled = 0;  ///< the fixed port; 0: none yet
    std::uint16_t sender = 0;   ///< port of the last returned datagram's sender
  };

  UdpSocket(int descriptor, bool busy_poll) noexcept : descriptor_(descriptor), busy_poll_(busy_poll) {}

  int read(std::span<Datagram> datagrams, bool wait) noexcept;
  std::size_t nap(std::span<Datagram> datagrams, Duration timeout) noexcept;
  std::size_t take(std::span<Datagram> datagrams) noexcept;
  bool count_error() noexcept;
  std::size_t keep_whole(std::span<Datagram> datagrams) noexcept;

  int descriptor_ = -1;
  bool busy_poll_ = false;
  Duration nap_{};  // receive timeout set in the kernel
  Route route_{};
  int watch_ = -1;  // the socket for strangers
  UdpStrangers strangers_{};
  UdpCounters counters_{};
};
static_assert(DatagramTransport<UdpSocket>);

}  // namespace takt::platform
