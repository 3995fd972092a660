// Records a loop while it runs. The loop encodes its records directly into a lock-free byte ring, which costs
// only some stores. A thread without deadlines writes the rings to the file. In virtual time the caller does
// so.
//
//     const auto recorder = *Recorder::create("run.takt", metadata);  // set-up
//     recorder->start();                                              // real time: a thread writes
//     recorder->loop().cycle(cycle, [&](std::size_t joint) { return sample(joint); });  // in the loop
//     recorder->server().mark(now, "10 Hz stream");                   // the server's thread
//     recorder->drain();                                              // virtual time: each cycle, no thread
//     recorder->finish();                                             // after loop and server have stopped
//
// A record that does not fit into a ring is dropped and counted. A failed write to the file appears in
// status() and finish(). Neither affects the loop.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/record/format.hpp"
#include "takt/record/metadata.hpp"
#include "takt/shm/byte_ring.hpp"

namespace takt::record {

/// One thread's input to the recording. One thread at a time may use it. Everything except construction is
/// real-time safe.
class Lane {
 public:
  /// Allocates a ring of `ring_bytes` bytes, for records of `joints` joints and `buses` buses.
  Lane(std::size_t ring_bytes, std::size_t joints, std::size_t buses)
      : ring_(ring_bytes), joints_(joints), buses_(buses), samples_(joints) {}

  /// Records one period of the loop. Calls `joint(i)` once for each joint i, in order; it returns the
  /// JointSample.
  template <class JointAt>
  void cycle(const Cycle& cycle, JointAt&& joint) noexcept {
    const std::size_t size = cycle_size + joints_ * joint_sample_size;
    append(RecordType::cycle, size, [&](ByteWriter& writer) noexcept {
      write_fields(writer, cycle);
      for (std::size_t i = 0; i < joints_; ++i) {
        samples_[i] = joint(i);
        write_fields<0, JointSample::first_edition>(writer, samples_[i]);
      }
      for (const JointSample& sample : samples_) write_fields<JointSample::first_edition>(writer, sample);
    });
  }

  /// Records a change of a goal.
  void event(const GoalEvent& event) noexcept {
    append(RecordType::event, fields_size<GoalEvent>(),
           [&](ByteWriter& writer) noexcept { write_fields(writer, event); });
  }

  /// Records one sample per bus of the metadata. Writes zeros for missing samples and ignores surplus ones.
  void buses(Time time, std::span<const BusSample> samples) noexcept {
    append(RecordType::buses, fields_size<BusHeader>() + buses_ * bus_sample_size,
           [&](ByteWriter& writer) noexcept {
             write_fields(writer, BusHeader{time});
             for (std::size_t i = 0; i < buses_; ++i)
               write_fields(writer, i < samples.size() ? samples[i] : BusSample{});
           });
  }

  /// Records the loop's counts.
  void totals(const LoopTotals& totals) noexcept {
    append(RecordType::loop, fields_size<LoopTotals>(),
           [&](ByteWriter& writer) noexcept { write_fields(writer, totals); });
  }

  /// Starts a section named `text` (UTF-8, cut to max_mark_size bytes). An empty text only ends the current
  /// section.
  void mark(Time time, std::string_view text) noexcept {
    text = text.substr(0, max_mark_size);
    append(RecordType::mark, fields_size<MarkHeader>() + text.size(), [&](ByteWriter& writer) noexcept {
      write_fields(writer, MarkHeader{time});
      for (const char c : text) writer.little(static_cast<std::uint8_t>(c));
    });
  }

  /// Records lost because the ring was full. Any thread may call it.
  // relaxed: the count publishes no other data.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  friend class Recorder;

  /// Appends a record with a payload of `size` bytes, which write(writer) fills.
  template <class Write>
  void append(RecordType type, std::size_t size, Write&& write) noexcept {
    const auto piece = ring_.producer().try_reserve(record_header_size + size);
    if (!piece) {
      // relaxed: only this thread writes the count, so no other write can race.
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    ByteWriter writer({reinterpret_cast<std::uint8_t*>(piece->data()), piece->size()});
    writer.little(static_cast<std::uint32_t>(size));
    writer.little(static_cast<std::uint32_t>(type));
    write(writer);
    ring_.producer().commit(piece->size());
  }

  shm::ByteRing ring_;
  std::size_t joints_;
  std::size_t buses_;
  std::vector<JointSample> samples_;  // of the current cycle
  std::atomic<std::uint64_t> dropped_{0};
};

/// Sizes of the rings.
struct RecorderOptions {
  std::size_t loop_ring_bytes = std::size_t{4} << 20;    ///< 3.5 s of 20 joints at 1 kHz
  std::size_t server_ring_bytes = std::size_t{1} << 20;  ///< about 11 900 goal events
};

/// A recording in progress. Not real-time safe, except the lanes.
class Recorder {
 public:
  /// Creates or truncates the file and writes the header. Errors: cannot_open, write_failed, bad_metadata.
  [[nodiscard]] static SetupResult<std::unique_ptr<Recorder>> create(const std::string& path,
                                                                     const Metadata& metadata,
                                                                     const RecorderOptions& options = {});
  /// Calls finish() if the recording is not finished.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// The lanes of the loop's thread and of the server's thread. Real-time safe.
  [[nodiscard]] Lane& loop() noexcept { return loop_; }
  [[nodiscard]] Lane& server() noexcept { return server_; }

  /// Starts a thread that writes the lanes to the file every `interval`. Errors: already_running.
  Status start(Duration interval = std::chrono::milliseconds(20));

  /// Writes the records in the lanes to the file: the server's first, then the loop's. Errors: as status().
  ///
  /// If virtual time calls it in every cycle, no record is dropped, and equal runs give equal files.
  Status drain();

  /// Whether all writes have succeeded. Errors: write_failed after the first failure; later records are
  /// discarded.
  [[nodiscard]] Status status() const;

  /// Stops the thread, writes the remaining records and the end record, and closes the file. Both lanes must
  /// be idle. A second call returns the first result. Errors: write_failed, with the operating system's
  /// reason.
  SetupResult<EndTotals> finish();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, CloseFile>;

  Recorder(std::string path, File file, const Metadata& metadata, const RecorderOptions& options);
  void drain_locked();
  void drain_locked(Lane& lane);
  void write_locked(std::span<const std::uint8_t> bytes);
  void fail_locked(int os_error);

  Lane loop_;
  Lane server_;
  std::string path_;

  mutable std::mutex mutex_;  // protects the members below; a lane never locks it
  std::condition_variable wake_;
  File file_;
  std::uint64_t records_ = 0;
  std::optional<SetupError> failure_;
  bool stop_ = false;
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace takt::record
