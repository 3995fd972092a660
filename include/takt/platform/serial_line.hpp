// A serial line, USB adapter or pseudo terminal: raw bytes without waiting. For CAN adapters behind
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

/// Owns the line and satisfies BytePort. One thread at a time may use it. read() and write() are real-time
/// safe: one system call that does not wait.
class SerialLine {
 public:
  /// Opens a device such as "/dev/ttyACM0" for this program alone: 8 data bits, no parity, one stop bit, no
  /// flow control, no translation. Bytes received earlier are dropped. `baud` is a rate in bit/s that POSIX
  /// or Linux defines (9600 to 4000000). Lines over USB and pseudo terminals ignore it.
  ///
  /// Errors, with the reason and the fix: no_such_serial_line, serial_line_busy, no_permission,
  /// connect_failed.
  [[nodiscard]] static SetupResult<SerialLine> open(const std::string& path, std::uint32_t baud);

  SerialLine(SerialLine&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), status_(other.status_) {}
  SerialLine& operator=(SerialLine&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(status_, other.status_);
    return *this;
  }
  ~SerialLine();

  /// Writes bytes from the front and returns how many the line accepted; 0 if it is full or broken.
  [[nodiscard]] std::size_t write(std::span<const std::uint8_t> bytes) noexcept;
  /// Reads the received bytes and returns their number; 0 if there are none or the line is broken.
  [[nodiscard]] std::size_t read(std::span<std::uint8_t> bytes) noexcept;

  /// The first error; it stays. Errors: connection_closed (the device is gone), send_failed, receive_failed.
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  /// For poll() before read().
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  explicit SerialLine(int descriptor) noexcept : descriptor_(descriptor) {}

  int descriptor_ = -1;
  Status status_;
};
static_assert(BytePort<SerialLine>);

}  // namespace takt::platform
