// One TCP connection as a ByteStream, for clients: blocking calls with a timeout, no exceptions, no signals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "takt/core/byte_stream.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/platform/error.hpp"

namespace takt::platform {

/// Owns the connection. One thread at a time may use it. Not real-time safe: it makes blocking system calls.
class TcpStream {
 public:
  /// Connects to a host name or address. `timeout` applies to each address of the host, but not to the name
  /// lookup. Errors: connect_failed.
  [[nodiscard]] static SetupResult<TcpStream> connect(const std::string& host, std::uint16_t port,
                                                      Duration timeout);

  TcpStream(TcpStream&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  TcpStream& operator=(TcpStream&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~TcpStream();

  /// Sends all bytes. Errors: send_failed, also after `timeout`.
  [[nodiscard]] Status send(std::span<const std::uint8_t> bytes, Duration timeout);
  /// Reads the received bytes and returns their number; 0 after `timeout`. Errors: connection_closed,
  /// receive_failed.
  [[nodiscard]] Result<std::size_t> receive(std::span<std::uint8_t> bytes, Duration timeout);

 private:
  explicit TcpStream(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_ = -1;
};
static_assert(ByteStream<TcpStream>);

}  // namespace takt::platform
