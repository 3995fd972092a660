// Reads the messages of an MCAP file from its beginning to its end. Any input is safe: each fault has a named
// error with its byte, and memory stays bounded for any size that the file claims. The index at the end is
// not used, so a wrong one does no harm. A file that ends early gives all messages of its whole chunks.
//
// Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/crc32.hpp"
#include "record/growing_bytes.hpp"
#include "record/mcap.hpp"
#include "takt/core/bytes.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/record/byte_source.hpp"
#include "takt/record/compression.hpp"
#include "takt/record/error.hpp"

namespace takt::record {

/// Bytes of a record, and of a chunk's messages, at most.
inline constexpr std::uint64_t max_mcap_record = std::uint64_t{64} << 20;

/// One message. It is valid until the next call of next().
struct McapMessage {
  const McapChannel* channel = nullptr;
  std::uint64_t log_time = 0;  ///< ns
  std::span<const std::uint8_t> data;
};

/// Reads one file. One thread at a time may use it.
class McapReader {
 public:
  /// Reads the magic and the header. `name` begins every error message; the compressions must outlive the
  /// reader. Errors: read_failed, not_a_recording.
  [[nodiscard]] static SetupResult<McapReader> create(std::unique_ptr<ByteSource> source, std::string name,
                                                      std::vector<Compression*> compressions);

  /// The next message, or nullptr at the end. After an error, each further call returns the same error.
  /// Errors: read_failed, record_too_long, record_too_short, unsupported_compression, bad_chunk,
  /// checksum_mismatch, unknown_channel, definition_changed, data_after_end.
  [[nodiscard]] SetupResult<const McapMessage*> next();

  /// At the end: whether the file stops before its final magic.
  [[nodiscard]] bool truncated() const noexcept { return at_end_ && !complete_; }
  /// Bytes read so far, up to the end of the last whole record of the file.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  /// The schemas and metadata that came so far.
  [[nodiscard]] const McapSchema* schema(std::uint16_t id) const noexcept;
  [[nodiscard]] const std::map<std::string, std::map<std::string, std::string>>& metadata() const noexcept {
    return metadata_;
  }
  /// An error at the current position. A part names what in the record is wrong.
  [[nodiscard]] tl::unexpected<SetupError> damage(Errc code, std::string_view part = {}) const;

 private:
  McapReader(std::unique_ptr<ByteSource> source, std::string name, std::vector<Compression*> compressions)
      : source_(std::move(source)), name_(std::move(name)), compressions_(std::move(compressions)) {}

  /// A record's opcode and the size of its content.
  struct Prefix {
    McapOpcode opcode{};
    std::uint64_t size = 0;
  };
  enum class Found { nothing, message, end };

  [[nodiscard]] SetupResult<bool> fill(std::size_t size);
  [[nodiscard]] SetupResult<bool> skip(std::uint64_t size);
  [[nodiscard]] SetupResult<Found> next_record();
  [[nodiscard]] SetupResult<Found> take(McapOpcode opcode, std::span<const std::uint8_t> content);
  [[nodiscard]] SetupResult<Found> next_in_chunk();
  [[nodiscard]] SetupResult<Found> take_message(ByteReader reader);
  [[nodiscard]] SetupResult<void> take_schema(ByteReader reader);
  [[nodiscard]] SetupResult<void> take_channel(ByteReader reader);
  [[nodiscard]] SetupResult<void> take_metadata(ByteReader reader);
  [[nodiscard]] SetupResult<void> keep(std::size_t size);
  [[nodiscard]] SetupResult<void> open_chunk(ByteReader reader);
  [[nodiscard]] SetupResult<void> unpack(std::string_view compression, std::span<const std::uint8_t> packed,
                                         std::uint64_t size);
  [[nodiscard]] SetupResult<void> finish();

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<Compression*> compressions_;
  Bytes record_;
  Bytes chunk_;
  std::size_t in_chunk_ = 0;  ///< bytes of the chunk that were read
  std::map<std::uint16_t, McapSchema> schemas_;
  std::map<std::uint16_t, McapChannel> channels_;
  std::map<std::string, std::map<std::string, std::string>> metadata_;
  std::uint64_t kept_ = 0;  ///< bytes of schemas, channels and metadata
  McapMessage message_;
  Crc32 crc_;  ///< of all bytes so far
  std::uint64_t position_ = 0;
  std::uint64_t record_size_ = 0;  ///< of the last record
  std::optional<SetupError> failure_;
  bool at_end_ = false;
  bool complete_ = false;
};

}  // namespace takt::record
