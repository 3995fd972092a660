#include "record/foreign_messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace takt::record {
namespace {

/// Joint states that were read. Unlike a view, it owns the names of a JSON text.
struct JointStates {
  std::vector<std::string> names;
  JointStateView view;
};

/// A member with a list of numbers, as long as the names or empty. JSON has no NaN, so null is one.
bool take_numbers(const nlohmann::json& message, const char* member, std::size_t count,
                  std::vector<double>& numbers) {
  numbers.clear();
  const auto found = message.find(member);
  if (found == message.end()) return true;
  if (!found->is_array() || (found->size() != count && !found->empty())) return false;
  for (const nlohmann::json& number : *found) {
    if (!number.is_number() && !number.is_null()) return false;
    numbers.push_back(number.is_null() ? std::numeric_limits<double>::quiet_NaN() : number.get<double>());
  }
  return true;
}

bool read_json(std::string_view text, JointStates& states) {
  const nlohmann::json message = nlohmann::json::parse(text, nullptr, false);
  if (!message.is_object()) return false;
  const auto names = message.find("name");
  if (names == message.end() || !names->is_array()) return false;
  states.names.clear();
  for (const nlohmann::json& name : *names) {
    if (!name.is_string()) return false;
    states.names.push_back(name.get<std::string>());
  }
  const std::size_t count = states.names.size();
  return take_numbers(message, "position", count, states.view.positions) &&
         take_numbers(message, "velocity", count, states.view.velocities) &&
         take_numbers(message, "effort", count, states.view.efforts);
}

/// Reads a message of this encoding; null: other encodings.
using ReadJointState = bool (*)(std::span<const std::uint8_t> message, JointStateView& view);

ReadJointState reader_of(const MessageSource& source, const McapChannel& channel) {
  const McapSchema* schema = source.schema(channel);
  if (schema == nullptr || (schema->name != joint_state_name && schema->name != "sensor_msgs/JointState"))
    return nullptr;
  if (channel.encoding == "cdr") return read_joint_state;
  return channel.encoding == "ros1" ? read_ros1_joint_state : nullptr;
}

/// The joint states of a message, or std::nullopt if it is of another kind.
std::optional<JointStates> read_message(const MessageSource& source, const FileMessage& message) {
  JointStates states;
  if (message.channel->encoding == "json") {
    if (read_json(as_text(message.data), states)) return states;
  } else if (const auto read = reader_of(source, *message.channel);
             read != nullptr && read(message.data, states.view)) {
    states.names.assign(states.view.names.begin(), states.view.names.end());
    return states;
  }
  return std::nullopt;
}

Time time_of(std::uint64_t log_time) noexcept {
  const auto bound = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 2);
  return time_from_nanoseconds(static_cast<std::int64_t>(std::min(log_time, bound)));
}

}  // namespace

void ForeignOutline::take(const MessageSource& source, const FileMessage& message) {
  if (topics_.size() < 100) topics_.insert(message.channel->topic);
  if (!topic_.empty() && topic_ != message.channel->topic) return;
  const auto states = read_message(source, message);
  if (!states) return;
  is_found_ = true;
  topic_ = message.channel->topic;
  for (const std::string& name : states->names) {
    if (std::find(joints_.begin(), joints_.end(), name) != joints_.end()) continue;
    if (joints_.size() < max_joints)
      joints_.push_back(name);
    else
      has_too_many_joints_ = true;
  }
  if (last_ && message.log_time > *last_) {
    const std::uint64_t between = message.log_time - *last_;
    shortest_ = shortest_ == 0 ? between : std::min(shortest_, between);
  }
  last_ = message.log_time;
}

SetupResult<Metadata> ForeignOutline::metadata(const MessageSource& source) const {
  if (!is_found_ && topics_.empty()) return source.damage(Errc::no_joint_states, "the file has no messages");
  if (!is_found_) {
    return source.damage(Errc::no_joint_states, fmt::format("{}the file has the topics {}",
                                                            topic_.empty() ? "" : "not in " + topic_ + "; ",
                                                            fmt::join(topics_, ", ")));
  }
  if (has_too_many_joints_)
    return source.damage(Errc::bad_metadata, fmt::format("{} has more than {} joints", topic_, max_joints));
  Metadata metadata;
  metadata.robot = topic_;
  metadata.period = Duration(static_cast<std::int64_t>(
      std::clamp(shortest_, std::uint64_t{1}, static_cast<std::uint64_t>(time_bound.count()))));
  metadata.joints = joints_;
  metadata.robot_states = {"recorded"};
  return metadata;
}

ForeignMessages::ForeignMessages(const Metadata& metadata, const std::string& topic)
    : topic_(&topic), joints_(metadata.joints.size()) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    index_of_[metadata.joints[i]] = i;
    joints_[i] = {none, none, none, none, none, 0, 0};
  }
}

SetupResult<const Record*> ForeignMessages::take(const MessageSource& source, const FileMessage& message) {
  if (message.channel->topic != *topic_) return nullptr;
  const auto states = read_message(source, message);
  if (!states) return source.damage(Errc::bad_message, *topic_);
  Cycle cycle;
  cycle.time = time_of(message.log_time);
  if (last_ && cycle.time <= *last_) {
    ++left_out_;
    return nullptr;
  }
  last_ = cycle.time;
  for (std::size_t i = 0; i < states->names.size(); ++i) {
    const auto index = index_of_.find(states->names[i]);
    if (index == index_of_.end()) continue;
    JointSample& joint = joints_[index->second];
    if (!states->view.positions.empty()) joint.measured_position = states->view.positions[i];
    if (!states->view.velocities.empty()) joint.measured_velocity = states->view.velocities[i];
    if (!states->view.efforts.empty()) joint.measured_effort = states->view.efforts[i];
  }
  record_ = CycleRecord{cycle, joints_};
  return &record_;
}

}  // namespace takt::record
