// A UdpSocket for those who run an asio::io_context already: datagrams complete a callback, a future or a coroutine.
// The only header of takt that includes Asio; who wants it includes it, and finds Asio himself.
//
//     platform::AsioUdp wire(context, std::move(*socket));
//     wire.async_receive(buffer, [&](std::error_code error, std::size_t size) { ... });
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

/// Waits on the context, and does all else through the socket: it is connected, hears its peer only, and counts, as without Asio.
/// One thread or strand at a time. Not for the real-time path: Asio allocates and locks.
class AsioUdp {
 public:
  template <class ExecutorOrContext>
  AsioUdp(ExecutorOrContext&& where, UdpSocket socket)
      : socket_(std::move(socket)), wait_(std::forward<ExecutorOrContext>(where), socket_.descriptor()) {}
  AsioUdp(const AsioUdp&) = delete;
  AsioUdp& operator=(const AsioUdp&) = delete;
  /// What is waited for completes with operation_aborted, also where its handler waits for another executor. The socket is
  /// closed by its owner, which is not the descriptor.
  ~AsioUdp() {
    *here_ = nullptr;
    wait_.release();
  }

  /// Completes with (std::error_code, std::size_t) once a datagram is in the buffer, which must last until then. The only error is
  /// what stops waiting: cancel(), the end of this object. One at a time.
  template <class Token>
  auto async_receive(std::span<std::uint8_t> buffer, Token&& token) {
    return asio::async_compose<Token, void(std::error_code, std::size_t)>(Receive{here_, buffer}, token,
                                                                          wait_);
  }

  /// At once: a datagram that the kernel does not take is counted, and never waited for.
  bool send(std::span<const std::uint8_t> bytes) noexcept { return socket_.send(bytes); }

  void cancel() {
    std::error_code ignored;
    wait_.cancel(ignored);
  }
  [[nodiscard]] UdpCounters counters() const noexcept { return socket_.counters(); }
  [[nodiscard]] std::uint16_t local_port() const noexcept { return socket_.local_port(); }

 private:
  struct Receive {
    std::shared_ptr<AsioUdp*> udp;  ///< outlives it: to nothing then
    std::span<std::uint8_t> buffer;

    /// Begins to wait.
    template <class Self>
    void operator()(Self& self) {
      (*udp)->wait_.async_wait(asio::posix::descriptor_base::wait_read, std::move(self));
    }
    /// There may be something.
    template <class Self>
    void operator()(Self& self, std::error_code error) {
      if (*udp == nullptr) error = asio::error::operation_aborted;
      if (error) return self.complete(error, 0);
      const auto size = (*udp)->socket_.receive(buffer, Duration(0));
      if (size) return self.complete(error, *size);
      (*this)(self);  // what woke us was not for us
    }
  };

  UdpSocket socket_;
  asio::posix::stream_descriptor wait_;
  std::shared_ptr<AsioUdp*> here_ = std::make_shared<AsioUdp*>(this);
};

}  // namespace takt::platform
