// The messages of a file of any format, one after the other. Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/file_pieces.hpp"
#include "record/growing_bytes.hpp"
#include "record/mcap.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/record/byte_source.hpp"
#include "takt/record/compression.hpp"
#include "takt/record/error.hpp"
#include "takt/record/reader.hpp"

namespace takt::record {

/// Bytes of a record, of a chunk's messages, and of all definitions, at most.
inline constexpr std::uint64_t max_file_record = std::uint64_t{64} << 20;

/// One message. It is valid until the next call of next().
struct FileMessage {
  const McapChannel* channel = nullptr;
  std::uint64_t log_time = 0;  ///< ns
  std::span<const std::uint8_t> data;
};

/// A log time as a time. MCAP's may be beyond those of a clock.
[[nodiscard]] constexpr Time time_of(std::uint64_t log_time) noexcept {
  constexpr auto bound = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 2);
  return time_from_nanoseconds(static_cast<std::int64_t>(log_time < bound ? log_time : bound));
}

/// Reads one file. One thread at a time may use it. Any input is safe: each fault has a named error with its
/// byte, and memory stays bounded for any size that the file claims.
class MessageSource {
 public:
  /// Named texts, by the name of their record.
  using Metadata = std::map<std::string, std::map<std::string, std::string>>;

  virtual ~MessageSource() = default;
  MessageSource(const MessageSource&) = delete;
  MessageSource& operator=(const MessageSource&) = delete;

  /// The next message, or nullptr at the end. Passes over a damaged chunk, and over a record whose size is
  /// wrong if the format shows where the next one begins. Ends at other damage. lost() tells of all. After
  /// an error, each further call returns the same error. Errors: read_failed, data_after_end. If no message
  /// could be read, also record_too_long, record_too_short, unsupported_compression, bad_record, bad_chunk,
  /// unknown_channel, definition_changed, checksum_mismatch.
  [[nodiscard]] SetupResult<const FileMessage*> next();

  /// The parts that could not be read so far. Their times are log times.
  [[nodiscard]] const std::vector<LostPart>& lost() const noexcept { return lost_; }
  /// Takes the definitions that another reading of the same file found, for messages whose own ones are lost.
  virtual void know_definitions_of(const MessageSource& other) = 0;

  /// At the end: whether the file was not completed.
  [[nodiscard]] bool truncated() const noexcept { return at_end_ && !is_complete(); }
  /// Bytes read so far, up to the end of the last whole record of the file.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  /// The type of a channel's messages; null: unknown.
  [[nodiscard]] virtual const McapSchema* schema(const McapChannel& channel) const noexcept = 0;
  /// The named texts that came so far. A bag has none.
  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }
  /// An error at the current position. A part names what in the record is wrong.
  [[nodiscard]] tl::unexpected<SetupError> damage(Errc code, std::string_view part = {}) const {
    return file_.damage(position_, code, part);
  }

 protected:
  enum class Found { nothing, message, end };

  /// The first `position` bytes of the file were read.
  MessageSource(FilePieces file, std::uint64_t position) : file_(std::move(file)), position_(position) {}

  /// Takes the next record of the file, or of the chunk. A message lies in message_ then.
  [[nodiscard]] virtual SetupResult<Found> next_record() = 0;
  [[nodiscard]] virtual SetupResult<Found> next_in_chunk() = 0;
  /// At the end: whether the file says that nothing is missing.
  [[nodiscard]] virtual bool is_complete() const noexcept = 0;
  /// Notes that the current record is a chunk.
  void begin_chunk() noexcept;
  [[nodiscard]] bool has_chunks() const noexcept { return chunks_ > 0; }
  /// Passes over the rest of the current chunk.
  void lose_chunk(SetupError reason);
  /// Notes that the current record, or what is before it, is damaged.
  void lose(SetupError reason);
  /// Counts messages of the index behind the current chunk, if that was lost.
  void count_lost(std::uint64_t messages);
  [[nodiscard]] bool is_chunk_lost() const noexcept {
    return !lost_.empty() && lost_.back().chunk == chunks_ && chunks_ > 0;
  }
  /// Bounds the memory of definitions and metadata. Errors: record_too_long.
  [[nodiscard]] SetupResult<void> keep(std::size_t size);

  FilePieces file_;
  std::uint64_t position_;
  std::uint64_t record_size_ = 0;  ///< of the record that was read last
  Bytes chunk_;
  std::size_t in_chunk_ = 0;                          ///< bytes of the chunk that were read
  std::optional<std::pair<Time, Time>> chunk_times_;  ///< log times, if the file tells them
  FileMessage message_;
  Metadata metadata_;

 private:
  [[nodiscard]] static bool is_loss(const Error& error) noexcept;
  [[nodiscard]] tl::unexpected<SetupError> fail_with(SetupError reason);
  void lose_rest(SetupError reason);

  static constexpr std::size_t max_lost = 1000;  ///< further parts are not listed

  std::size_t chunks_ = 0;               ///< begun so far
  std::uint64_t messages_in_chunk_ = 0;  ///< given so far
  bool has_messages_ = false;
  std::vector<LostPart> lost_;
  std::uint64_t kept_ = 0;
  std::optional<SetupError> failure_;
  bool at_end_ = false;
};

/// Opens an MCAP file or a ROS 1 bag. `name` begins every error message; the compressions must outlive the
/// source. Errors: read_failed, not_a_recording.
[[nodiscard]] SetupResult<std::unique_ptr<MessageSource>> open_messages(
    std::unique_ptr<ByteSource> bytes, std::string name, const std::vector<Compression*>& compressions);

}  // namespace takt::record
