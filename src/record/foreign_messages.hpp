// Other people's files: one topic with joint states, as records. Not real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/joint_state_message.hpp"
#include "record/message_source.hpp"
#include "takt/record/reader.hpp"

namespace takt::record {

/// Counts messages by reason.
class LeftOutMessages {
 public:
  /// Beyond 20 reasons, the rest is counted together.
  void add(const std::string& topic, std::string reason);
  [[nodiscard]] const std::vector<LeftOut>& all() const noexcept { return all_; }

 private:
  std::vector<LeftOut> all_;
};

/// Makes metadata of a file's messages, at a first reading.
class ForeignOutline {
 public:
  /// The topic to read; empty: the first with joint states.
  explicit ForeignOutline(std::string topic) : topic_(std::move(topic)) {}

  /// Takes a message.
  void take(const MessageSource& source, const FileMessage& message);
  /// What all messages told. Errors: no_joint_states, with the reason for each topic; bad_metadata.
  [[nodiscard]] SetupResult<Metadata> metadata(const MessageSource& source);

  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  /// The log times of the topic's readable messages, in order. Call metadata() before.
  [[nodiscard]] const std::vector<std::uint64_t>& times() const noexcept { return times_; }
  /// The messages of the topic that cannot be read, or only in part.
  [[nodiscard]] const LeftOutMessages& left_out() const noexcept { return topics_.at(topic_).left_out; }

 private:
  struct Topic {
    std::string type;
    std::uint64_t messages = 0;
    LeftOutMessages left_out;
  };

  [[nodiscard]] std::string topics_text() const;

  std::string topic_;
  bool is_found_ = false;
  std::map<std::string, Topic> topics_;  ///< those of the file
  std::vector<std::string> joints_;
  std::vector<std::uint64_t> times_;
  bool has_too_many_joints_ = false;
};

/// Makes records in the order of their times, at a second reading. A late message is waited for. Messages of
/// one time are one record.
class ForeignMessages {
 public:
  /// The metadata must outlive this.
  ForeignMessages(const Metadata& metadata, const ForeignOutline& outline);

  /// Takes a message.
  void take(const MessageSource& source, const FileMessage& message);
  /// The next record whose messages are all there, or nullptr. `at_end`: no further message comes.
  [[nodiscard]] const Record* next(bool at_end);

  [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept { return left_out_.all(); }

 private:
  /// The numbers of one joint; NaN: none.
  struct Numbers {
    std::size_t joint = 0;
    double position = 0;
    double velocity = 0;
    double effort = 0;
  };
  struct Row {
    std::size_t messages = 0;
    std::vector<Numbers> numbers;
  };
  static constexpr std::size_t max_held = std::size_t{4} << 20;  ///< numbers that wait for late messages

  [[nodiscard]] bool is_next_whole(bool at_end);

  std::string topic_;
  std::vector<std::uint64_t> times_;  ///< in order
  std::size_t next_ = 0;              ///< of times_
  std::map<std::string, std::size_t, std::less<>> index_of_;
  std::map<std::uint64_t, Row> rows_;  ///< those that wait, by time
  std::size_t held_ = 0;
  std::vector<JointSample> joints_;
  LeftOutMessages left_out_;
  Record record_;
};

}  // namespace takt::record
