// A log of candump as a file of any size, read line by line. Not for microcontrollers, and not real-time safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "takt/can/candump.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::can::candump {

/// Owns the file. Memory is bounded, whatever the file holds. One that was moved from is only to be destroyed or assigned to.
class LogFile {
 public:
  /// "-" is the standard input. Errors: file_failed, with the reason.
  [[nodiscard]] static SetupResult<LogFile> open(const std::string& path);

  LogFile(LogFile&& other) noexcept;
  LogFile& operator=(LogFile&& other) noexcept;
  ~LogFile();

  /// The next line that is not empty; nothing at the end. Errors of a line concern that line alone.
  [[nodiscard]] std::optional<LineResult<LogEntry>> next() noexcept;

  /// After the end: whether it was one. Error: file_failed.
  [[nodiscard]] const Status& status() const noexcept;

 private:
  struct State;
  explicit LogFile(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace takt::can::candump
