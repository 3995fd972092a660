// Reads a recording record by record from a file or from memory: one of takt, or a file of another program.
// Any input is safe. Each fault gives a named error with its byte position, and memory stays bounded for any
// claimed length. From a truncated recording it reads all whole chunks and then reports the truncation.
//
//     auto reader = Reader::open("run.mcap");
//     while (true) {
//       auto record = reader->next();
//       if (!record) return report(record.error());  // damaged
//       if (*record == nullptr) break;               // the end; see reader->truncated()
//       std::visit(visitor, **record);
//     }
//
// Of other MCAP files and of ROS 1 bags it reads one topic with joint states. These are
// sensor_msgs/msg/JointState of ROS 2 (CDR) or ROS 1, or JSON objects with its members "name", "position",
// "velocity" and "effort". Each message is a cycle with measurements; command and reference are NaN. A bag
// must be of format 2.0, without compression.
//
// Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/record/compression.hpp"
#include "takt/record/format.hpp"
#include "takt/record/metadata.hpp"

namespace takt::record {

/// A cycle and all its joints.
struct CycleRecord {
  Cycle cycle;
  std::span<const JointSample> joints;  ///< one per joint of the metadata
};
/// All buses at one time.
struct BusRecord {
  Time time{};
  std::span<const BusSample> buses;  ///< one per bus of the metadata
};
/// The start of a section.
struct MarkRecord {
  Time time{};
  std::string_view text;  ///< at most max_mark_size bytes of any value
};

/// A value of a further topic.
struct SampleRecord {
  std::string_view topic;
  Time time{};
  std::span<const std::uint8_t> message;  ///< CDR, with its header
  /// What the file says of the value's type, as shm/schema.hpp writes it; empty: nothing. Any text.
  std::string_view schema{};
  std::string_view type{};  ///< of the message: "sensor_msgs/msg/Imu"
};

/// One record. Its spans and texts are valid until the next call of next().
using Record = std::variant<CycleRecord, GoalEvent, BusRecord, LoopTotals, MarkRecord, SampleRecord>;

/// A part of the file that could not be read, or a missing file. The records before and behind it are there.
struct LostPart {
  SetupError reason;                        ///< with its byte or its file
  std::uint64_t size = 0;                   ///< bytes of the file
  std::size_t chunk = 0;                    ///< the number of the chunk in its file, from 1; 0: no chunk
  std::optional<std::uint64_t> messages{};  ///< as the chunk's index tells
  std::optional<Time> from{};               ///< the chunk's first and last time, or those of the gap
  std::optional<Time> until{};

  /// In words, for people. The times count from `start`.
  [[nodiscard]] std::string text(Time start) const;
};

/// Messages of another program's topic that are not among the records, or only in part.
struct LeftOut {
  std::string topic;
  std::string reason;
  std::uint64_t messages = 0;

  /// In words, for people.
  [[nodiscard]] std::string text() const;
};

/// How a file is read.
struct ReaderOptions {
  /// Those that chunks may have. They must outlive the reader.
  std::vector<Compression*> compressions{};
  /// The topic of a file that is not takt's; empty: the first with joint states.
  std::string topic{};
  /// Whether to pass over damaged parts of the file, which lost() then tells; otherwise damage is an error.
  bool pass_over_damage = false;
};

/// Reads one recording. One thread at a time may use it.
class Reader {
 public:
  /// Opens a file and reads the metadata. Every error message contains the file name. Errors: cannot_open,
  /// read_failed, not_a_recording, metadata_too_long, bad_metadata; no_joint_states with the topics that
  /// there are; those of next().
  [[nodiscard]] static SetupResult<Reader> open(const std::string& path, const ReaderOptions& options = {});
  /// Opens a recording of takt that may be rotated, and reads all its files as one. `paths`: its first file,
  /// or several files in any order, and no other ones then. A missing file is in lost(), and an error without
  /// pass_over_damage. Errors: as open(). not_a_recording: several files that are not of one recording.
  [[nodiscard]] static SetupResult<Reader> open_rotated(const std::vector<std::string>& paths,
                                                        const ReaderOptions& options = {});
  /// Reads from memory, which must outlive the reader. Errors: as open().
  [[nodiscard]] static SetupResult<Reader> from_bytes(std::span<const std::uint8_t> bytes,
                                                      const ReaderOptions& options = {});
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  /// The metadata of the recording. For another file: what its messages tell.
  [[nodiscard]] const Metadata& metadata() const noexcept;
  /// Whether takt wrote the recording.
  [[nodiscard]] bool is_own() const noexcept;

  /// The next record, or nullptr at the end. Skips topics of takt that this version does not know. Those of
  /// another program's file come in the order of their times. After an error, each further call returns the
  /// same error. Errors: read_failed, time_out_of_range, time_not_rising, data_after_end, bad_message,
  /// other_schema. Without pass_over_damage, or if no message could be read, also record_too_long,
  /// record_too_short, checksum_mismatch, unsupported_compression, bad_record, bad_chunk,
  /// unknown_channel, definition_changed.
  [[nodiscard]] SetupResult<const Record*> next();

  /// At the end: whether the file stops before its end.
  [[nodiscard]] bool truncated() const noexcept;
  /// The totals, at the end of a complete recording of takt that no other file continues; otherwise empty.
  [[nodiscard]] std::optional<EndTotals> totals() const;
  /// With pass_over_damage: the parts of the file that could not be read so far.
  [[nodiscard]] std::vector<LostPart> lost() const;
  /// At the end: messages of another program's file that were left out, by reason.
  [[nodiscard]] std::vector<LeftOut> left_out() const;
  /// Bytes read so far, up to the end of the last record of the file.
  [[nodiscard]] std::uint64_t position() const noexcept;

 private:
  class Messages;  // of a file, as records
  explicit Reader(std::unique_ptr<Messages> messages) noexcept;

  std::unique_ptr<Messages> messages_;
};

}  // namespace takt::record
