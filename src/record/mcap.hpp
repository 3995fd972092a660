// The words of MCAP (https://mcap.dev/spec). A file begins with the magic, a header and the data section.
// Then follow the summary with the index, a footer, and the magic again. A record is an opcode (u8), the size
// of its content (u64), and the content. Numbers are little endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace takt::record {

inline constexpr std::array<std::uint8_t, 8> mcap_magic{0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};
inline constexpr std::size_t mcap_prefix = 9;  ///< bytes of the opcode and the size

enum class McapOpcode : std::uint8_t {
  header = 0x01,
  footer = 0x02,
  schema = 0x03,
  channel = 0x04,
  message = 0x05,
  chunk = 0x06,
  message_index = 0x07,
  chunk_index = 0x08,
  attachment = 0x09,
  attachment_index = 0x0A,
  statistics = 0x0B,
  metadata = 0x0C,
  metadata_index = 0x0D,
  summary_offset = 0x0E,
  data_end = 0x0F,
};

/// The type of a channel's messages.
struct McapSchema {
  std::uint16_t id = 0;  ///< not 0
  std::string name;
  std::string encoding;  ///< "ros2msg", "jsonschema"
  std::string text;
  friend bool operator==(const McapSchema&, const McapSchema&) = default;
};

/// A stream of messages of one type.
struct McapChannel {
  std::uint16_t id = 0;
  std::uint16_t schema = 0;  ///< 0: without one
  std::string topic;
  std::string encoding;  ///< "cdr", "json"
  std::map<std::string, std::string> metadata{};
  friend bool operator==(const McapChannel&, const McapChannel&) = default;
};

/// Named texts.
struct McapMetadata {
  std::string name;
  std::map<std::string, std::string> entries;
};

}  // namespace takt::record
