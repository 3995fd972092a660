// Reads a recording record by record from a file or from memory. Any input is safe. Each fault gives a named
// error with its byte position, and memory stays bounded for any claimed length. From a truncated recording
// it reads all complete records and then reports the truncation.
//
//     auto reader = Reader::open("run.takt");
//     while (true) {
//       auto record = reader->next();
//       if (!record) return report(record.error());  // damaged
//       if (*record == nullptr) break;               // the end; see reader->truncated()
//       std::visit(visitor, **record);
//     }
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
#include <utility>
#include <variant>
#include <vector>

#include "takt/core/setup_error.hpp"
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

/// One record. Its spans and texts are valid until the next call of next().
using Record = std::variant<CycleRecord, GoalEvent, BusRecord, LoopTotals, MarkRecord, EndTotals>;

/// Reads one recording. One thread at a time may use it.
class Reader {
 public:
  /// A source of bytes. read() fills `into` as far as possible and returns the number of bytes. It returns
  /// fewer only at the end.
  class Source {
   public:
    virtual ~Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    /// Errors: read_failed, with the reason.
    [[nodiscard]] virtual SetupResult<std::size_t> read(std::span<std::uint8_t> into) = 0;

   protected:
    Source() = default;
  };

  /// Opens a file and reads the metadata. Every error message contains the file name. Errors: cannot_open,
  /// read_failed, not_a_recording, unsupported_version, metadata_too_long, bad_metadata.
  [[nodiscard]] static SetupResult<Reader> open(const std::string& path);
  /// Reads from memory, which must outlive the reader. Errors: as open().
  [[nodiscard]] static SetupResult<Reader> from_bytes(std::span<const std::uint8_t> bytes);
  /// Reads from any source. Errors: as open().
  [[nodiscard]] static SetupResult<Reader> from_source(std::unique_ptr<Source> source);

  /// The metadata of the recording.
  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }

  /// The next record, or nullptr at the end. Skips records of unknown type. After an error, each further call
  /// returns the same error. Errors: read_failed, record_too_long, record_too_short, time_out_of_range,
  /// time_not_rising, data_after_end, totals_mismatch.
  [[nodiscard]] SetupResult<const Record*> next();

  /// At the end: whether the recording stops before its end record, within a record or between two.
  [[nodiscard]] bool truncated() const noexcept { return at_end_ && !end_; }
  /// The totals, at the end of a complete recording; otherwise empty.
  [[nodiscard]] const std::optional<EndTotals>& totals() const noexcept { return end_; }
  /// Bytes read so far, up to the end of the last record.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

 private:
  Reader(std::unique_ptr<Source> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)) {}
  [[nodiscard]] static SetupResult<Reader> create(std::unique_ptr<Source> source, std::string name);
  [[nodiscard]] SetupResult<void> read_header();
  [[nodiscard]] SetupResult<bool> fill(std::size_t size);
  [[nodiscard]] SetupResult<bool> next_into_record();
  [[nodiscard]] SetupResult<bool> decode(RecordType type, std::span<const std::uint8_t> payload);
  [[nodiscard]] tl::unexpected<SetupError> damage(Errc code, std::string_view detail = {}) const;

  std::unique_ptr<Source> source_;
  std::string name_;  // file name for messages
  Metadata metadata_;
  std::vector<std::uint8_t> buffer_;  // the current record; bounded by the largest allowed size
  std::vector<JointSample> joints_;
  std::vector<BusSample> buses_;
  Record record_;
  std::uint64_t position_ = 0;
  std::uint64_t records_ = 0;
  std::optional<Time> last_cycle_;
  std::optional<EndTotals> end_;
  std::optional<SetupError> failure_;
  bool at_end_ = false;
};

}  // namespace takt::record
