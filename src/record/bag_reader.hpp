// Reads the messages of a ROS 1 bag, format 2.0 (http://wiki.ros.org/Bags/Format/2.0), in the order of the
// file. The index at the end is not used.
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
  explicit BagReader(FilePieces file) : MessageSource(std::move(file), bag_magic.size()) {}

  [[nodiscard]] const McapSchema* schema(const McapChannel& channel) const noexcept override;
  void know_definitions_of(const MessageSource& other) override;

 private:
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
    std::uint32_t count = 0;     ///< messages of an index
    std::uint64_t index_at = 0;  ///< 0: the bag was not closed
    std::string_view topic;
    std::string_view type;
    std::string_view definition;
    std::string_view compression;
  };

  [[nodiscard]] SetupResult<Header> read_header(std::span<const std::uint8_t> bytes) const;
  [[nodiscard]] SetupResult<bool> read_sized();
  [[nodiscard]] SetupResult<Found> next_record() override;
  [[nodiscard]] SetupResult<Found> go_to_index();
  [[nodiscard]] SetupResult<Found> next_in_chunk() override;
  [[nodiscard]] bool is_complete() const noexcept override {
    return !is_cut_ && index_at_ != 0 && position_ >= index_at_;
  }
  [[nodiscard]] SetupResult<Found> take(const Header& header, std::span<const std::uint8_t> data);
  [[nodiscard]] SetupResult<Found> take_message(const Header& header, std::span<const std::uint8_t> data);
  [[nodiscard]] SetupResult<void> take_connection(const Header& header, std::span<const std::uint8_t> data);
  [[nodiscard]] SetupResult<void> open_chunk(const Header& header, std::span<const std::uint8_t> data);

  struct Connection {
    McapChannel channel;
    McapSchema schema;
  };

  std::map<std::uint32_t, Connection> connections_;
  std::uint64_t index_at_ = 0;  ///< where the index begins behind the chunks; 0: the bag was not closed
  bool is_cut_ = false;         ///< the file ends within a record
};

}  // namespace takt::record
