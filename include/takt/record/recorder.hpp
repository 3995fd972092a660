// Records a loop while it runs, in an MCAP file that Foxglove and PlotJuggler open. The loop encodes its
// records directly into a lock-free byte ring, which costs only some stores. A thread without deadlines makes
// messages of them and writes them. In virtual time the caller does so.
//
//     const auto recorder = *Recorder::create("run.mcap", metadata);  // set-up
//     recorder->start();                                              // real time: a thread writes
//     recorder->loop().cycle(cycle, [&](std::size_t joint) { return sample(joint); });  // in the loop
//     recorder->server().mark(now, "10 Hz stream");                   // the server's thread
//     recorder->drain();                                              // virtual time: each cycle, no thread
//     recorder->finish();                                             // after loop and server have stopped
//
// Messages are gathered in chunks of a mebibyte or a second, whichever comes first. A chunk is written as a
// whole. So a file that ends anywhere, as after kill -9, can be read up to its last whole chunk.
//
// A record that does not fit into a ring is dropped and counted. So is a chunk that does not fit onto the
// disk; the recorder goes on with the next one. status() and finish() tell it. Neither affects the loop.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/record/compression.hpp"
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
      : ring_(ring_bytes), joints_(joints), buses_(buses) {}

  /// Records one period of the loop. Calls `joint(i)` once for each joint i, in order; it returns the
  /// JointSample.
  template <class JointAt>
  void cycle(const Cycle& cycle, JointAt&& joint) noexcept {
    append(RecordType::cycle, sizeof(Cycle) + joints_ * sizeof(JointSample),
           [&](RecordWriter& writer) noexcept {
             writer.put(cycle);
             for (std::size_t i = 0; i < joints_; ++i) writer.put<JointSample>(joint(i));
           });
  }

  /// Records a change of a goal.
  void event(const GoalEvent& event) noexcept {
    append(RecordType::event, sizeof(event), [&](RecordWriter& writer) noexcept { writer.put(event); });
  }

  /// Records one sample per bus of the metadata. Writes zeros for missing samples and ignores surplus ones.
  void buses(Time time, std::span<const BusSample> samples) noexcept {
    append(RecordType::buses, sizeof(Time) + buses_ * sizeof(BusSample), [&](RecordWriter& writer) noexcept {
      writer.put(time);
      for (std::size_t i = 0; i < buses_; ++i) writer.put(i < samples.size() ? samples[i] : BusSample{});
    });
  }

  /// Records the loop's counts.
  void totals(const LoopTotals& totals) noexcept {
    append(RecordType::loop, sizeof(totals), [&](RecordWriter& writer) noexcept { writer.put(totals); });
  }

  /// Starts a section named `text` (UTF-8, cut to max_mark_size bytes). It lasts until the next mark. An
  /// empty text only ends the current section.
  void mark(Time time, std::string_view text) noexcept {
    text = text.substr(0, max_mark_size);
    append(RecordType::mark, sizeof(Time) + text.size(), [&](RecordWriter& writer) noexcept {
      writer.put(time);
      writer.put_bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    });
  }

  /// Records a value of the topic with this index in RecorderOptions::topics. The value has the size of the
  /// topic's schema, or any size without one. The recorder ignores others. `text` (UTF-8) is for topics with
  /// Topic::has_text.
  void sample(std::size_t topic, Time time, std::span<const std::uint8_t> value,
              std::string_view text = {}) noexcept {
    const std::size_t size = sizeof(SampleHeader) + value.size() + text.size();
    append(RecordType::sample, size, [&](RecordWriter& writer) noexcept {
      writer.put(SampleHeader{time, topic});
      writer.put_bytes(value);
      writer.put_bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    });
  }

  /// Records a list of values of such a topic, whose Topic::is_list is set: `at(i)` for each i below `count`.
  template <class T, class At>
  void samples(std::size_t topic, Time time, std::size_t count, At&& at) noexcept {
    append(RecordType::sample, sizeof(SampleHeader) + count * sizeof(T), [&](RecordWriter& writer) noexcept {
      writer.put(SampleHeader{time, topic});
      for (std::size_t i = 0; i < count; ++i) writer.put<T>(at(i));
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
    const auto piece = ring_.producer().try_reserve(sizeof(type) + size);
    if (!piece) {
      // relaxed: only this thread writes the count, so no other write can race.
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    RecordWriter writer(piece->data());
    writer.put(type);
    write(writer);
    ring_.producer().commit(piece->size());
  }

  shm::ByteRing ring_;
  std::size_t joints_;
  std::size_t buses_;
  std::atomic<std::uint64_t> dropped_{0};
};

/// A further topic of a recording: a port, a variable, anything with a schema.
struct Topic {
  std::string topic;  ///< "/ports/arm/reference"
  std::string type;   ///< "robot/msg/Reference"
  /// shm::schema_text<T>(). Empty: any bytes, as "uint8[] data". Must outlive the recorder.
  std::string_view schema{};
  bool is_list = false;   ///< a message holds any number of values, as "items"
  bool has_text = false;  ///< a message holds one value and then a text, as "text"; with a schema only
  /// The definition of a message of any form ("ros2msg"): each value is a whole message in CDR. Instead of a
  /// schema.
  std::string definition{};
  std::string unit{};  ///< of a number, for people: "N m"
};

/// How a recording is written.
struct RecorderOptions {
  std::size_t loop_ring_bytes = std::size_t{4} << 20;    ///< 3.5 s of 20 joints at 1 kHz
  std::size_t server_ring_bytes = std::size_t{1} << 20;  ///< about 11 900 goal events
  std::size_t log_ring_bytes = std::size_t{1} << 18;     ///< about 2000 lines
  /// The compression of the chunks; must outlive the recorder. Null: none.
  Compression* compression = nullptr;
  std::vector<Topic> topics{};
  /// If a chunk would make the file larger, or if the file holds that much time, the next chunk begins
  /// another file: run.mcap, run.1.mcap, run.2.mcap. Files that exist are left out. 0: one file.
  std::uint64_t rotate_bytes = 0;
  Duration rotate_after{};
  /// If not 0, the file gets only what was within this time before and after each stop for a reason, also
  /// before a shutdown. Whole chunks are kept, so up to a second more.
  Duration around_stops{};
};

/// A recording in progress. Not real-time safe, except the lanes.
class Recorder {
 public:
  /// Creates or truncates the file and writes its definitions. Errors: cannot_open, write_failed,
  /// bad_metadata; bad_topic with the topic's name.
  [[nodiscard]] static SetupResult<std::unique_ptr<Recorder>> create(const std::string& path,
                                                                     const Metadata& metadata,
                                                                     const RecorderOptions& options = {});
  /// Calls finish() if the recording is not finished.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// The lanes of the loop's thread, of the server's, and of the one that writes the log. Real-time safe.
  [[nodiscard]] Lane& loop() noexcept { return loop_; }
  [[nodiscard]] Lane& server() noexcept { return server_; }
  [[nodiscard]] Lane& log() noexcept { return log_; }

  /// Starts a thread that writes the lanes to the file every `interval`. Errors: already_running.
  Status start(Duration interval = std::chrono::milliseconds(20));

  /// Writes the records in the lanes to the file: the log's first, the server's, the loop's. Errors: as
  /// status().
  ///
  /// If virtual time calls it in every cycle, no record is dropped, and equal runs give equal files.
  Status drain();

  /// Whether all writes have succeeded. Errors: write_failed after the first failure. The recorder goes on,
  /// and keeps what fits.
  [[nodiscard]] Status status() const;

  /// Stops the thread, writes the remaining records and the index, and closes the file. Both lanes must be
  /// idle. A second call returns the first result. Errors: write_failed, with the operating system's reason
  /// and the number of records that were lost. The file can be read.
  SetupResult<EndTotals> finish();

 private:
  struct Output;  // makes and writes messages

  Recorder(std::unique_ptr<Output> output, const Metadata& metadata, const RecorderOptions& options);
  void drain_locked();
  void drain_locked(Lane& lane);
  [[nodiscard]] Status status_locked() const;

  Lane loop_;
  Lane server_;
  Lane log_;

  mutable std::mutex mutex_;  // protects the members below; a lane never locks it
  std::condition_variable wake_;
  std::unique_ptr<Output> output_;
  bool stop_ = false;
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace takt::record
