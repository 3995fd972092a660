// Reads the messages of a ROS 1 bag, format 2.0 (http://wiki.ros.org/Bags/Format/2.0), in the order of the
// file. Any input is safe, as with McapReader. The index at the end is not used.
//
// A bag is "#ROSBAG V2.0\n" and records: the size of the header (u32), the header, the size of the data
// (u32), the data. A header is a list of fields: a size (u32), and "name=value". Chunks hold connections and
// messages. Not real-time safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "record/file_pieces.hpp"
#include "record/message_source.hpp"
#include "takt/core/bytes.hpp"

namespace takt::record {

inline constexpr std::string_view bag_magic = "#ROSBAG V2.0\n";

/// Reads one bag.
class BagReader final : public MessageSource {
 public:
  /// The file's magic was read.
  explicit BagReader(FilePieces file) : file_(std::move(file)), position_(bag_magic.size()) {}

  /// Errors: read_failed, record_too_long, record_too_short, unsupported_compression, bad_chunk,
  /// unknown_channel, definition_changed.
  [[nodiscard]] SetupResult<const FileMessage*> next() override;

  [[nodiscard]] bool truncated() const noexcept override { return at_end_ && (is_cut_ || !is_closed_); }
  [[nodiscard]] std::uint64_t position() const noexcept override { return position_; }
  [[nodiscard]] const McapSchema* schema(const McapChannel& channel) const noexcept override;
  /// A bag has none.
  [[nodiscard]] const Metadata& metadata() const noexcept override { return metadata_; }
  [[nodiscard]] tl::unexpected<SetupError> damage(Errc code, std::string_view part = {}) const override;

 private:
  enum class Found { nothing, message, end };
  enum class Op : std::uint8_t {
    message = 2,
    bag = 3,
    index = 4,
    chunk = 5,
    chunk_info = 6,
    connection = 7,
  };

  /// The fields of a header that takt uses. A view points into the header.
  struct Header {
    std::optional<Op> op;
    std::uint32_t connection = 0;
    std::uint32_t seconds = 0;
    std::uint32_t nanoseconds = 0;
    std::uint32_t size = 0;      ///< of a chunk without its compression
    std::uint64_t index_at = 0;  ///< 0: the bag was not closed
    std::string_view topic;
    std::string_view type;
    std::string_view definition;
    std::string_view compression;
  };

  [[nodiscard]] SetupResult<Header> read_header(std::span<const std::uint8_t> bytes) const;
  [[nodiscard]] SetupResult<Found> next_record();
  [[nodiscard]] SetupResult<Found> next_in_chunk();
  [[nodiscard]] SetupResult<Found> take(const Header& header, std::span<const std::uint8_t> data);
  [[nodiscard]] SetupResult<Found> take_message(const Header& header, std::span<const std::uint8_t> data);
  [[nodiscard]] SetupResult<void> take_connection(const Header& header, std::span<const std::uint8_t> data);
  [[nodiscard]] SetupResult<void> open_chunk(const Header& header, std::span<const std::uint8_t> data);

  struct Connection {
    McapChannel channel;
    McapSchema schema;
  };

  FilePieces file_;
  Bytes header_;
  Bytes chunk_;
  std::size_t in_chunk_ = 0;  ///< bytes of the chunk that were read
  std::map<std::uint32_t, Connection> connections_;
  std::uint64_t kept_ = 0;  ///< bytes of connections
  Metadata metadata_;
  FileMessage message_;
  std::uint64_t position_;
  std::uint64_t record_size_ = 0;  ///< of the last record
  std::optional<SetupError> failure_;
  bool at_end_ = false;
  bool is_cut_ = false;     ///< the file ends within a record
  bool is_closed_ = false;  ///< by its first record
};

}  // namespace takt::record
