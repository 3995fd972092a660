// One TCP connection as a ByteStream, for clients: blocking calls with a time limit, no exceptions, no signals.
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

/// Owns the connection. One thread at a time. Makes system calls; not for the real-time path.
class TcpStream {
 public:
  /// Connects to a host by name or address. The time limit holds for each of its addresses; looking up a name is not limited.
  [[nodiscard]] static SetupResult<TcpStream> connect(const std::string& host, std::uint16_t port,
                                                      Duration timeout);

  TcpStream(TcpStream&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  TcpStream& operator=(TcpStream&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~TcpStream();

  /// Sends all of the bytes. Errors: send_failed (also when they are not taken in time).
  [[nodiscard]] Status send(std::span<const std::uint8_t> bytes, Duration timeout);
  /// Takes what has come; 0 if nothing came in time. Errors: connection_closed, receive_failed.
  [[nodiscard]] Result<std::size_t> receive(std::span<std::uint8_t> bytes, Duration timeout);

 private:
  explicit TcpStream(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_ = -1;
};
static_assert(ByteStream<TcpStream>);

}  // namespace takt::platform
