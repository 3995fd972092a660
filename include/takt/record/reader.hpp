// Reads a recording, record by record, from a file or from memory. The bytes may be anything: whatever is
// wrong comes back as a named error with the byte where it is, and memory stays bounded whatever lengths they
// claim. A recording that was cut off reads as what is whole, and says so.
//
//     auto reader = Reader::open("run.takt");
//     while (true) {
//       auto record = reader->next();
//       if (!record) return report(record.error());     // damaged
//       if (*record == nullptr) break;                  // the end; reader->truncated() tells whether it came
//       too soon std::visit(..., **record);
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

struct CycleRecord {
  Cycle cycle;
  std::span<const JointSample> joints;  ///< one for each joint of the metadata
};
struct BusRecord {
  Time time{};
  std::span<const BusSample> buses;  ///< one for each bus of the metadata
};
struct MarkRecord {
  Time time{};
  std::string_view text;  ///< at most max_mark_size bytes, which may be anything
};

/// Spans and texts are valid until the next call of next().
using Record = std::variant<CycleRecord, GoalEvent, BusRecord, LoopTotals, MarkRecord, EndTotals>;

class Reader {
 public:
  /// Where the bytes come from: fills the span as far as it can and says how far; less than asked for only at
  /// the end.
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

  /// Opens a file and reads the metadata; all error messages name the file. Errors: cannot_open, read_failed, not_a_recording,
  /// unsupported_version, metadata_too_long, bad_metadata.
  [[nodiscard]] static SetupResult<Reader> open(const std::string& path);
  /// The same from memory, which must outlive the reader.
  [[nodiscard]] static SetupResult<Reader> from_bytes(std::span<const std::uint8_t> bytes);
  /// The same from anywhere.
  [[nodiscard]] static SetupResult<Reader> from_source(std::unique_ptr<Source> source);

  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }

  /// The next record, or nullptr at the end. Records of unknown type are skipped. Errors: read_failed,
  /// record_too_long, record_too_short, time_out_of_range, time_not_rising, data_after_end, totals_mismatch;
  /// the same again when called again.
  [[nodiscard]] SetupResult<const Record*> next();

  /// After the end: the recording stops before its end record, in the middle of a record or between two.
  [[nodiscard]] bool truncated() const noexcept { return at_end_ && !end_; }
  /// After the end of a complete recording.
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
  std::string name_;  // of the file, as messages begin
  Metadata metadata_;
  std::vector<std::uint8_t> buffer_;  // the record under work; never longer than the longest allowed
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
