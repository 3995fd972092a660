// Reads a log file of any size, line by line: candump's or Vector's ASC. Not for microcontrollers, and not
// real-time safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "takt/can/candump.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::can::candump {

/// Owns the file. Its memory is bounded for every file. A moved-from object may only be destroyed or assigned
/// to.
class LogFile {
 public:
  /// Opens a file; "-" is the standard input. Error: file_failed, with the reason.
  [[nodiscard]] static SetupResult<LogFile> open(const std::string& path);

  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&& other) noexcept;
  ~LogFile();

  /// Returns the next frame, or the error of its line; nullopt at the end. A pipe is waited for only until
  /// the line is complete.
  [[nodiscard]] std::optional<LineResult<LogEntry>> next() noexcept;

  /// The format, and the lines of an ASC log without a frame so far.
  [[nodiscard]] LogFormat format() const noexcept;
  [[nodiscard]] asc::PassedOver passed_over() const noexcept;

  /// After next() returned nullopt: success at the end of the file. Error: file_failed (reading failed).
  [[nodiscard]] const Status& status() const noexcept;

 private:
  struct State;
  explicit LogFile(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace takt::can::candump
