// A UdpSocket for programs that already run an asio::io_context. A received datagram completes a callback, a
// future or a coroutine. This is the only header of takt that includes Asio. Programs that include it must
// find Asio themselves.
//
//     platform::AsioUdp wire(context, std::move(*socket));
//     wire.async_receive(buffer, [&](std::error_code error, std::size_t size) { take(error, size); });
#pragma once

#include <asio/async_result.hpp>
#include <asio/compose.hpp>
#include <asio/error.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "takt/core/time.hpp"
#include "takt/platform/udp_socket.hpp"

namespace takt::platform {

/// Waits on the context and does everything else through the socket. So it is connected, accepts datagrams
/// only from its peer, and counts, as without Asio. One thread or strand at a time may use it. Not real-time
/// safe: Asio allocates and locks.
class AsioUdp {
 public:
  /// Takes over the socket and waits on `where`, an executor or an execution context.
  template <class ExecutorOrContext>
  AsioUdp(ExecutorOrContext&& where, UdpSocket socket)
      : socket_(std::move(socket)), wait_(std::forward<ExecutorOrContext>(where), socket_.descriptor()) {}
  AsioUdp(const AsioUdp&) = delete;
  AsioUdp& operator=(const AsioUdp&) = delete;
  /// Completes a pending receive with operation_aborted, even if its handler still waits for an executor. The
  /// UdpSocket closes the descriptor.
  ~AsioUdp() {
    *here_ = nullptr;
    wait_.release();
  }

  /// Completes with (std::error_code, std::size_t) once a datagram is in `buffer`, which must stay valid
  /// until then. Allows one pending receive. Errors: only operation_aborted, after cancel() or the
  /// destructor.
  template <class Token>
  auto async_receive(std::span<std::uint8_t> buffer, Token&& token) {
    return asio::async_compose<Token, void(std::error_code, std::size_t)>(Receive{here_, buffer}, token,
                                                                          wait_);
  }

  /// Sends one datagram at once, without waiting. Returns false and counts the datagram if the kernel rejects
  /// it.
  bool send(std::span<const std::uint8_t> bytes) noexcept { return socket_.send(bytes); }

  /// Completes a pending receive with operation_aborted.
  void cancel() {
    std::error_code ignored;
    wait_.cancel(ignored);
  }
  /// As UdpSocket::counters() and local_port().
  [[nodiscard]] UdpCounters counters() const noexcept { return socket_.counters(); }
  [[nodiscard]] std::uint16_t local_port() const noexcept { return socket_.local_port(); }

 private:
  struct Receive {
    std::shared_ptr<AsioUdp*> udp;  ///< nullptr inside after the end of the AsioUdp
    std::span<std::uint8_t> buffer;

    /// Starts to wait.
    template <class Self>
    void operator()(Self& self) {
      (*udp)->wait_.async_wait(asio::posix::descriptor_base::wait_read, std::move(self));
    }
    /// A datagram may have arrived.
    template <class Self>
    void operator()(Self& self, std::error_code error) {
      if (*udp == nullptr) error = asio::error::operation_aborted;
      if (error) return self.complete(error, 0);
      const auto size = (*udp)->socket_.receive(buffer, Duration(0));
      if (size) return self.complete(error, *size);
      (*this)(self);  // the datagram was dropped, for example a foreign one
    }
  };

  UdpSocket socket_;
  asio::posix::stream_descriptor wait_;
  std::shared_ptr<AsioUdp*> here_ = std::make_shared<AsioUdp*>(this);
};

}  // namespace takt::platform
