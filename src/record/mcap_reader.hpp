// Reads the messages of an MCAP file from its beginning to its end. Any input is safe: each fault has a named
// error with its byte, and memory stays bounded for any size that the file claims. The index at the end is
// not used, so a wrong one does no harm. A file that ends early gives all messages of its whole chunks.
//
// Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/crc32.hpp"
#include "record/file_pieces.hpp"
#include "record/mcap.hpp"
#include "record/message_source.hpp"
#include "takt/core/bytes.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/record/compression.hpp"
#include "takt/record/error.hpp"

namespace takt::record {

/// Reads one file.
class McapReader final : public MessageSource {
 public:
  /// The file's magic was read. The compressions must outlive the reader.
  McapReader(FilePieces file, std::vector<Compression*> compressions);

  /// Errors: read_failed, record_too_long, record_too_short, unsupported_compression, bad_chunk,
  /// checksum_mismatch, unknown_channel, definition_changed, data_after_end.
  [[nodiscard]] SetupResult<const FileMessage*> next() override;

  [[nodiscard]] bool truncated() const noexcept override { return at_end_ && !complete_; }
  [[nodiscard]] std::uint64_t position() const noexcept override { return position_; }
  [[nodiscard]] const McapSchema* schema(const McapChannel& channel) const noexcept override;
  [[nodiscard]] const Metadata& metadata() const noexcept override { return metadata_; }
  [[nodiscard]] tl::unexpected<SetupError> damage(Errc code, std::string_view part = {}) const override;

 private:
  /// A record's opcode and the size of its content.
  struct Prefix {
    McapOpcode opcode{};
    std::uint64_t size = 0;
  };
  enum class Found { nothing, message, end };

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

  FilePieces file_;
  std::vector<Compression*> compressions_;
  Bytes chunk_;
  std::size_t in_chunk_ = 0;  ///< bytes of the chunk that were read
  std::map<std::uint16_t, McapSchema> schemas_;
  std::map<std::uint16_t, McapChannel> channels_;
  Metadata metadata_;
  std::uint64_t kept_ = 0;  ///< bytes of schemas, channels and metadata
  FileMessage message_;
  Crc32 crc_;  ///< of all bytes so far
  std::uint64_t position_ = 0;
  std::uint64_t record_size_ = 0;  ///< of the last record
  std::optional<SetupError> failure_;
  bool at_end_ = false;
  bool complete_ = false;
};

}  // namespace takt::record
