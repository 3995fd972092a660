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
// Nothing breaks a socket: a peer that is not there, a cable that is cut, a queue that is full are counted, and it goes on when
// they are over.
#pragma once

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
  UdpEndpoint peer{};   ///< port 0: any of its ports; such a socket only receives
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
};

/// One of a batch.
struct Datagram {
  std::span<std::uint8_t> buffer{};
  std::size_t size = 0;

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

  /// One system call.
  [[nodiscard]] UdpCounters counters() const noexcept;
  [[nodiscard]] std::uint16_t local_port() const noexcept;
  /// To wait for datagrams with poll() of the caller's own.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  UdpSocket(int descriptor, bool busy_poll) noexcept : descriptor_(descriptor), busy_poll_(busy_poll) {}

  std::size_t nap(std::span<Datagram> datagrams, Duration timeout) noexcept;
  std::size_t take(std::span<Datagram> datagrams) noexcept;
  bool count_error() noexcept;
  std::size_t keep_whole(std::span<Datagram> datagrams) noexcept;

  int descriptor_ = -1;
  bool busy_poll_ = false;
  Duration nap_{};  // as the kernel knows it
  UdpCounters counters_{};
};
static_assert(DatagramTransport<UdpSocket>);

}  // namespace takt::platform
