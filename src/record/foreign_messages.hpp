// Other people's files: one topic with joint states, as records. Not real-time safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "record/joint_state_message.hpp"
#include "record/message_source.hpp"
#include "takt/record/reader.hpp"

namespace takt::record {

/// Makes metadata of a file's messages, at a first reading.
class ForeignOutline {
 public:
  /// The topic to read; empty: the first with joint states.
  explicit ForeignOutline(std::string topic) : topic_(std::move(topic)) {}

  /// Takes a message.
  void take(const MessageSource& source, const FileMessage& message);
  /// What all messages told. Errors: no_joint_states.
  [[nodiscard]] SetupResult<Metadata> metadata(const MessageSource& source) const;
  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }

 private:
  std::string topic_;
  bool is_found_ = false;
  std::set<std::string> topics_;  ///< those of the file
  std::vector<std::string> joints_;
  std::optional<std::uint64_t> last_;
  std::uint64_t shortest_ = 0;  ///< ns between two messages
  bool has_too_many_joints_ = false;
};

/// Makes records, at a second reading.
class ForeignMessages {
 public:
  /// Both must outlive this.
  ForeignMessages(const Metadata& metadata, const std::string& topic);

  /// Takes a message. Returns the record that it is, or nullptr. Errors: bad_message.
  [[nodiscard]] SetupResult<const Record*> take(const MessageSource& source, const FileMessage& message);
  /// Messages that were not later than the one before.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  const std::string* topic_;
  std::map<std::string, std::size_t, std::less<>> index_of_;
  std::vector<JointSample> joints_;
  std::optional<Time> last_;
  std::uint64_t left_out_ = 0;
  Record record_;
};

}  // namespace takt::record
