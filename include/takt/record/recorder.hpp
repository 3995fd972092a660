// Records what a loop does while it runs. The loop encodes its records straight into a lock-free byte ring,
// which costs it some stores and nothing else; a thread without deadlines, or the caller in virtual time,
// drains the rings into the file.
//
//     auto recorder = Recorder::create("run.takt", metadata);          // set-up
//     recorder->start();                                                // wall time: a thread drains
//     recorder->loop().cycle(cycle, [&](std::size_t joint) { return JointSample{...}; });   // real-time
//     recorder->server().mark(now, "10 Hz stream");                     // the server's thread
//     recorder->drain();                                                // virtual time: every cycle, no thread
//     recorder->finish();                                               // when loop and server have stopped
//
// What does not fit into a ring is dropped and counted; what cannot be written to the file is reported by
// status() and finish(). Neither ever reaches the loop.
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

/// One thread's way into the recording. All functions but construction are real-time safe; one thread at a
/// time.
class Lane {
 public:
  Lane(std::size_t ring_bytes, std::size_t joints, std::size_t buses)
      : ring_(ring_bytes), joints_(joints), buses_(buses), added_(joints) {}

  /// One period of the loop. `joint(i)` gives the JointSample of joint i and is called once for each joint,
  /// in order.
  template <class JointAt>
  void cycle(const Cycle& cycle, JointAt&& joint) noexcept {
    const std::size_t size = cycle_size + joints_ * (joint_sample_size + joint_sample_added_size);
    append(RecordType::cycle, size, [&](ByteWriter& writer) noexcept {
      write_fields(writer, cycle);
      for (std::size_t i = 0; i < joints_; ++i) {
        const JointSample sample(joint(i));
        write_fields(writer, sample);
        added_[i] = {sample.measured_effort};
      }
      for (const JointSample::Added& added : added_) write_fields(writer, added);
    });
  }

  void event(const GoalEvent& event) noexcept {
    append(RecordType::event, fields_size<GoalEvent>(),
           [&](ByteWriter& writer) noexcept { write_fields(writer, event); });
  }

  /// One sample for each bus of the metadata; missing ones are written as zero, surplus ones are left out.
  void buses(Time time, std::span<const BusSample> samples) noexcept {
    append(RecordType::buses, fields_size<BusHeader>() + buses_ * bus_sample_size,
           [&](ByteWriter& writer) noexcept {
             write_fields(writer, BusHeader{time});
             for (std::size_t i = 0; i < buses_; ++i)
               write_fields(writer, i < samples.size() ? samples[i] : BusSample{});
           });
  }

  void totals(const LoopTotals& totals) noexcept {
    append(RecordType::loop, fields_size<LoopTotals>(),
           [&](ByteWriter& writer) noexcept { write_fields(writer, totals); });
  }

  /// Begins a section called `text` (UTF-8, cut to max_mark_size bytes); an empty text only ends one.
  void mark(Time time, std::string_view text) noexcept {
    text = text.substr(0, max_mark_size);
    append(RecordType::mark, fields_size<MarkHeader>() + text.size(), [&](ByteWriter& writer) noexcept {
      write_fields(writer, MarkHeader{time});
      for (const char c : text) writer.little(static_cast<std::uint8_t>(c));
    });
  }

  /// Records that were lost because the ring was full. Any thread.
  // relaxed: a count that orders nothing.
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  friend class Recorder;

  /// A record of `size` bytes payload, which write(writer) fills.
  template <class Write>
  void append(RecordType type, std::size_t size, Write&& write) noexcept {
    const auto piece = ring_.producer().try_reserve(record_header_size + size);
    if (!piece) {
      // relaxed: only this thread writes the count.
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
  std::vector<JointSample::Added> added_;  // of the cycle under work
  std::atomic<std::uint64_t> dropped_{0};
};

struct RecorderOptions {
  std::size_t loop_ring_bytes = std::size_t{4} << 20;    ///< 4 s of 20 joints at 1 kHz
  std::size_t server_ring_bytes = std::size_t{1} << 20;  ///< 13 000 events
};

/// A recording under way. Functions are not real-time safe unless they say so.
class Recorder {
 public:
  /// Opens the file, truncates it and writes the header. Errors: cannot_open, write_failed, bad_metadata.
  [[nodiscard]] static SetupResult<std::unique_ptr<Recorder>> create(const std::string& path,
                                                                     const Metadata& metadata,
                                                                     const RecorderOptions& options = {});
  /// Finishes the recording, if finish() was not called.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// The loop's lane and the server's; each for one thread. Real-time safe.
  [[nodiscard]] Lane& loop() noexcept { return loop_; }
  [[nodiscard]] Lane& server() noexcept { return server_; }

  /// Starts the thread that drains the lanes every `interval`. Errors: already_running.
  Status start(Duration interval = std::chrono::milliseconds(20));

  /// Moves what the lanes hold into the file: first the server's, then the loop's. Called every cycle in
  /// virtual time, nothing is dropped and the file depends on nothing but what was recorded. Errors: as
  /// status().
  Status drain();

  /// Whether everything could be written so far: write_failed after the first failure, from which on records
  /// are thrown away.
  [[nodiscard]] Status status() const;

  /// Stops the thread, drains, writes the end record and closes the file. Both lanes must be at rest. The
  /// second call returns what the first did. Errors: write_failed, with the operating system's reason.
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

  mutable std::mutex mutex_;  // guards all below; never taken by a lane
  std::condition_variable wake_;
  File file_;
  std::uint64_t records_ = 0;
  std::optional<SetupError> failure_;
  bool stop_ = false;
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace takt::record
