// A serial line, real or of a USB adapter, or a pseudo terminal: raw bytes, never waiting. For CAN adapters behind
// can::SlcanBus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "takt/core/byte_stream.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/platform/error.hpp"

namespace takt::platform {

/// Owns the line; satisfies BytePort. One thread at a time. read() and write() are one system call that does not wait, as the
/// real-time path allows it of a transport.
class SerialLine {
 public:
  /// Opens a device such as "/dev/ttyACM0" for this program alone: 8 data bits, no parity, one stop bit, no flow control, nothing
  /// translated; what had come before is dropped. `baud` in bit/s, one of those that POSIX and Linux name (9600 to 4000000);
  /// lines over USB and pseudo terminals ignore it. Errors, with the reason and what mends it: no_such_serial_line,
  /// serial_line_busy, no_permission, connect_failed.
  [[nodiscard]] static SetupResult<SerialLine> open(const std::string& path, std::uint32_t baud);

  SerialLine(SerialLine&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), status_(other.status_) {}
  SerialLine& operator=(SerialLine&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(status_, other.status_);
    return *this;
  }
  ~SerialLine();

  /// How many bytes the line took, from the front; 0 when it is full, or broken.
  [[nodiscard]] std::size_t write(std::span<const std::uint8_t> bytes) noexcept;
  /// How many bytes had come; 0 when none had, or the line is broken.
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes) noexcept;

  /// Errors, which stay: connection_closed (the device went away), send_failed, receive_failed.
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  /// To wait for bytes with poll().
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  explicit SerialLine(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_ = -1;
  Status status_;
};
static_assert(BytePort<SerialLine>);

}  // namespace takt::platform
