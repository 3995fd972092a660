// The messages of a file of any format, one after the other. Not real-time safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/mcap.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/record/byte_source.hpp"
#include "takt/record/compression.hpp"
#include "takt/record/error.hpp"

namespace takt::record {

/// Bytes of a record, of a chunk's messages, and of all definitions, at most.
inline constexpr std::uint64_t max_file_record = std::uint64_t{64} << 20;

/// One message. It is valid until the next call of next().
struct FileMessage {
  const McapChannel* channel = nullptr;
  std::uint64_t log_time = 0;  ///< ns
  std::span<const std::uint8_t> data;
};

/// Reads one file. One thread at a time may use it.
class MessageSource {
 public:
  /// Named texts, by the name of their record.
  using Metadata = std::map<std::string, std::map<std::string, std::string>>;

  MessageSource() = default;
  virtual ~MessageSource() = default;
  MessageSource(const MessageSource&) = delete;
  MessageSource& operator=(const MessageSource&) = delete;

  /// The next message, or nullptr at the end. After an error, each further call returns the same error.
  [[nodiscard]] virtual SetupResult<const FileMessage*> next() = 0;

  /// At the end: whether the file was not completed.
  [[nodiscard]] virtual bool truncated() const noexcept = 0;
  /// Bytes read so far, up to the end of the last whole record of the file.
  [[nodiscard]] virtual std::uint64_t position() const noexcept = 0;
  /// The type of a channel's messages; null: unknown.
  [[nodiscard]] virtual const McapSchema* schema(const McapChannel& channel) const noexcept = 0;
  /// The named texts that came so far.
  [[nodiscard]] virtual const Metadata& metadata() const noexcept = 0;
  /// An error at the current position. A part names what in the record is wrong.
  [[nodiscard]] virtual tl::unexpected<SetupError> damage(Errc code, std::string_view part = {}) const = 0;
};

/// Opens an MCAP file or a ROS 1 bag. `name` begins every error message; the compressions must outlive the
/// source. Errors: read_failed, not_a_recording.
[[nodiscard]] SetupResult<std::unique_ptr<MessageSource>> open_messages(
    std::unique_ptr<ByteSource> bytes, std::string name, const std::vector<Compression*>& compressions);

}  // namespace takt::record
