// The messages of takt's own recordings, as records. Not real-time safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "record/joint_state_message.hpp"
#include "record/message_source.hpp"
#include "record/recording_messages.hpp"
#include "takt/record/reader.hpp"

namespace takt::record {

/// Makes records of messages. A cycle's messages give one record, and so do those of all buses.
class OwnMessages {
 public:
  explicit OwnMessages(const Metadata& metadata);

  /// Takes a message. Returns the record that it completes, or nullptr. Errors: bad_message, other_schema,
  /// time_out_of_range, time_not_rising.
  [[nodiscard]] SetupResult<const Record*> take(const MessageSource& source, const FileMessage& message);
  /// The next message is of another file of the recording, which may number its channels otherwise.
  void begin_file() { topics_.clear(); }

 private:
  /// The contents of a channel.
  enum class Kind : std::uint8_t { measured, reference, command, cycle, event, loop, mark, bus, sample };
  struct Topic {
    Kind kind = Kind::sample;
    std::size_t bus = 0;
  };

  [[nodiscard]] SetupResult<Topic> topic_of(const MessageSource& source, const McapChannel& channel);
  [[nodiscard]] bool take_joints(Kind kind, std::span<const std::uint8_t> data);
  [[nodiscard]] bool take_cycle(std::span<const std::uint8_t> data);
  [[nodiscard]] bool take_mark(std::span<const std::uint8_t> data);
  [[nodiscard]] bool take_bus(std::size_t bus, std::span<const std::uint8_t> data);
  void take_sample(const MessageSource& source, const FileMessage& message);
  template <class T>
  [[nodiscard]] bool take_struct(const MessageForm& form, std::span<const std::uint8_t> data);

  const Metadata* metadata_;
  MessageForms forms_;
  std::map<std::uint16_t, Topic> topics_;
  JointStateView view_;
  std::vector<JointSample> joints_;
  std::vector<BusSample> buses_;
  Record record_;
  bool is_whole_ = false;  ///< whether record_ is
  std::optional<Time> last_cycle_;
};

}  // namespace takt::record
