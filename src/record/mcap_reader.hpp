// Reads the messages of an MCAP file from its beginning to its end. Any input is safe: each fault has a named
// error with its byte, and memory stays bounded for any size that the file claims. The index at the end is
// not used, so a wrong one does no harm. A file that ends early, or has a damaged record, gives all messages
// of its whole chunks. Behind a record whose size is wrong, reading goes on at the next one.
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
#include "record/mcap_frame.hpp"
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

  [[nodiscard]] const McapSchema* schema(const McapChannel& channel) const noexcept override;
  void know_definitions_of(const MessageSource& other) override;

 private:
  [[nodiscard]] SetupResult<Found> next_record() override;
  [[nodiscard]] SetupResult<Found> next_in_chunk() override;
  [[nodiscard]] bool is_complete() const noexcept override { return complete_; }
  [[nodiscard]] SetupResult<Found> take(McapOpcode opcode, std::span<const std::uint8_t> content);
  [[nodiscard]] SetupResult<Found> take_message(ByteReader reader);
  [[nodiscard]] SetupResult<void> take_schema(ByteReader reader);
  [[nodiscard]] SetupResult<void> take_channel(ByteReader reader);
  [[nodiscard]] SetupResult<void> take_metadata(ByteReader reader);
  void begin_chunk(std::span<const std::uint8_t> content);
  [[nodiscard]] SetupResult<Found> pass_over_long(const McapFrame& frame);
  [[nodiscard]] SetupResult<Found> pass_over_damage(const McapFrame& frame);
  [[nodiscard]] SetupResult<bool> find_record();
  [[nodiscard]] bool is_record(std::span<const std::uint8_t> bytes) const;
  [[nodiscard]] SetupResult<void> open_chunk(ByteReader reader);
  [[nodiscard]] SetupResult<void> unpack(std::string_view compression, std::span<const std::uint8_t> packed,
                                         std::uint64_t size);
  [[nodiscard]] SetupResult<void> finish();

  std::vector<Compression*> compressions_;
  std::map<std::uint16_t, McapSchema> schemas_;
  std::map<std::uint16_t, McapChannel> channels_;
  Crc32 crc_;              ///< of all bytes so far
  bool complete_ = false;  ///< its final magic was read
};

}  // namespace takt::record
