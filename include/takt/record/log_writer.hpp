// Writes log entries as lines: to a file, to the standard error stream, and into a recording. A loop logs
// without waiting (rt/logger.hpp); a thread of the writer makes the lines. Other threads log texts.
//
//     rt::Logger logger;                                   // the loop's
//     record::LogWriter log({.name = "my arm", .files = {"arm.log", "-"}});
//     log.add(logger);
//     if (auto opened = log.open(now); !opened) return;    // "... my arm begins, process 4711"
//     log.start();
//     ...
//     const auto totals = log.finish(now);                 // "... my arm ends: 12 entries, 0 dropped"
//
//   2026-11-27T09:30:00.123456Z warning tip: the force is 12.5 N, the limit 10 N (3 suppressed)
//
// A file is appended to. The first line of a run tells the process. The last one tells that it ended in
// order: a process that was killed leaves a log without it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/record/recorder.hpp"
#include "takt/rt/logger.hpp"

namespace takt::record {

/// Options of a log.
struct LogOptions {
  std::string name{};                ///< of the process, in the first line and the last
  std::vector<std::string> files{};  ///< "-": the standard error stream
  /// Added to an entry's time it gives Unix time. 0: lines begin with the seconds of the entry's time, as in
  /// virtual time.
  Duration epoch{};
  /// The text of an error among the arguments, such as takt::describe. Null: its numbers.
  std::string_view (*describe)(Error) noexcept = nullptr;
};

/// The totals of a log.
struct LogTotals {
  std::uint64_t entries = 0;     ///< written
  std::uint64_t suppressed = 0;  ///< beyond the limits of their statements
  std::uint64_t dropped = 0;     ///< lost, because a ring was full
};

/// The topic of logs in a recording: foxglove_msgs/msg/Log.
[[nodiscard]] Topic log_topic();

/// A log. Set-up functions and finish() are for one thread. Not real-time safe.
class LogWriter {
 public:
  explicit LogWriter(LogOptions options);
  /// Calls finish(), at the time of the last entry.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// Writes the entries of this logger, which must outlive the writer. Before start().
  void add(rt::Logger& logger);
  /// Also writes into a recording, with log_topic() as its topic of this index. Before start(); the recorder
  /// must end after the writer.
  void record_to(Recorder& recorder, std::size_t topic);
  /// Opens the files, and writes the first line. Errors: cannot_open.
  [[nodiscard]] SetupResult<void> open(Time now);
  /// Starts a thread that writes. Without it, drain() does.
  void start();

  /// Writes the entries that wait, in the order of their times.
  void drain();
  /// Logs a text of a thread that may block. Any thread.
  void write(Time time, rt::LogLevel level, std::string_view source, std::string_view text);
  /// Writes the rest and the last line, and closes the files. The loops have ended. A second call returns the
  /// same totals. Errors: write_failed.
  SetupResult<LogTotals> finish(Time now);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The text of an entry: its arguments in the place of the "{}". `describe`: as in LogOptions.
[[nodiscard]] std::string to_text(const rt::LogRecord& entry,
                                  std::string_view (*describe)(Error) noexcept = nullptr);

}  // namespace takt::record
