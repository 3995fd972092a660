// Writes what a loop's tracer records (rt/tracer.hpp) as a trace file, while the loop runs. Open the file at
// https://ui.perfetto.dev or at chrome://tracing.
//
//     record::TraceWriter traces(tracer, "my arm");
//     if (!traces.start("cycle.json")) return;  // switches the tracer on
//     ...
//     const auto totals = traces.stop();        // switches it off
//
// The file is Chrome's JSON array of trace events, with a line for each span, parents before their children.
// Both viewers accept a file that lacks its end, as after kill -9. Its times are those of the steady clock,
// in microseconds, so they are the cycles' times in a recording of the same run.
//
// A loop at 1 kHz with one controller fills about 2 MB a second.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "takt/core/setup_error.hpp"
#include "takt/rt/tracer.hpp"

namespace takt::record {

/// The totals of a trace.
struct TraceTotals {
  std::uint64_t spans = 0;    ///< written
  std::uint64_t dropped = 0;  ///< lost, because the tracer's ring was full
};

/// The files of one tracer, one after the other. Any thread may call it. Not real-time safe.
class TraceWriter {
 public:
  /// `name`: of the process, for people. The tracer must outlive the writer.
  TraceWriter(rt::Tracer& tracer, std::string name);
  /// Ends a trace that was not stopped.
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// Creates the file, switches the tracer on, and starts a thread that writes. Errors: already_running;
  /// cannot_open, also if the file exists.
  [[nodiscard]] SetupResult<void> start(const std::string& path);
  /// Switches the tracer off, and completes the file. Errors: not_running; write_failed.
  [[nodiscard]] SetupResult<TraceTotals> stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace takt::record
