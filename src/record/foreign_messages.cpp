#include "record/foreign_messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace takt::record {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Joint states that were read. Unlike a view, it owns the names of a JSON text.
struct JointStates {
  std::vector<std::string> names;
  JointStateView view;
  std::string fault;  ///< why a part, or all, cannot be used; empty: no fault
  bool is_usable = false;
};

/// A member with a list of numbers, if it is one. JSON has no NaN, so null is one.
bool take_numbers(const nlohmann::json& message, const char* member, std::vector<double>& numbers) {
  const auto found = message.find(member);
  if (found == message.end()) return true;
  if (!found->is_array()) return false;
  for (const nlohmann::json& number : *found) {
    if (!number.is_number() && !number.is_null()) return false;
    numbers.push_back(number.is_null() ? none : number.get<double>());
  }
  return true;
}

bool read_json(std::string_view text, JointStates& states) {
  const nlohmann::json message = nlohmann::json::parse(text, nullptr, false);
  if (!message.is_object()) return false;
  const auto names = message.find("name");
  if (names == message.end() || !names->is_array()) return false;
  for (const nlohmann::json& name : *names) {
    if (!name.is_string()) return false;
    states.names.push_back(name.get<std::string>());
  }
  return take_numbers(message, "position", states.view.positions) &&
         take_numbers(message, "velocity", states.view.velocities) &&
         take_numbers(message, "effort", states.view.efforts);
}

/// Why the bytes of a joint state in CDR cannot be read.
std::string fault_of_cdr(std::span<const std::uint8_t> message) {
  const bool is_known = message.size() >= cdr_header.size() && message[0] == 0 && message[1] <= 1;
  if (is_known || message.size() < cdr_header.size()) return "its bytes end too early, or are no joint state";
  return fmt::format("its CDR is of the kind {:02x} {:02x}; 00 00 and 00 01 can be read", message[0],
                     message[1]);
}

/// Drops the lists that do not belong to the names, and says so.
void check_lengths(JointStates& states) {
  const std::size_t count = states.names.size();
  std::size_t good = 0;
  std::size_t bad = 0;
  for (const auto& [name, numbers] : {std::pair{"position", &states.view.positions},
                                      {"velocity", &states.view.velocities},
                                      {"effort", &states.view.efforts}}) {
    if (numbers->empty()) continue;
    if (numbers->size() == count) {
      ++good;
      continue;
    }
    ++bad;
    states.fault +=
        fmt::format("{}`{}` has {} numbers for {} names", bad > 1 ? ", " : "", name, numbers->size(), count);
    numbers->clear();
  }
  states.is_usable = count > 0 && (good > 0 || bad == 0);
  if (count == 0) states.fault = "`name` is empty, so nobody knows whose its numbers are";
}

/// The joint states of a message, or why there are none.
JointStates read_message(const MessageSource& source, const FileMessage& message) {
  JointStates states;
  const McapSchema* schema = source.schema(*message.channel);
  const std::string& encoding = message.channel->encoding;
  if (encoding == "json") {
    if (read_json(as_text(message.data), states))
      check_lengths(states);
    else
      states.fault = "no JSON object with `name` and lists of numbers";
    return states;
  }
  if (schema == nullptr || (schema->name != joint_state_name && schema->name != "sensor_msgs/JointState")) {
    states.fault = "other messages than joint states";
    return states;
  }
  if (encoding != "cdr" && encoding != "ros1") {
    states.fault = fmt::format("the encoding \"{}\"; cdr, ros1 and json can be read", encoding);
    return states;
  }
  const auto read = encoding == "cdr" ? read_joint_state : read_ros1_joint_state;
  if (!read(message.data, states.view)) {
    states.fault =
        encoding == "cdr" ? fault_of_cdr(message.data) : "its bytes end too early, or are no joint state";
    return states;
  }
  states.names.assign(states.view.names.begin(), states.view.names.end());
  check_lengths(states);
  return states;
}

/// The middle one of the times between messages, in ns.
std::uint64_t period_of(const std::vector<std::uint64_t>& times) {
  std::vector<std::uint64_t> between;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] > times[i - 1]) between.push_back(times[i] - times[i - 1]);
  }
  if (between.empty()) return 1;
  const auto middle = between.begin() + static_cast<std::ptrdiff_t>(between.size() / 2);
  std::nth_element(between.begin(), middle, between.end());
  return *middle;
}

}  // namespace

void LeftOutMessages::add(const std::string& topic, std::string reason) {
  constexpr std::size_t max_reasons = 20;
  auto found =
      std::find_if(all_.begin(), all_.end(), [&](const LeftOut& one) { return one.reason == reason; });
  if (found == all_.end() && all_.size() == max_reasons) found = std::prev(all_.end());
  if (found == all_.end()) {
    const bool is_last = all_.size() + 1 == max_reasons;
    found = all_.insert(all_.end(), {topic, is_last ? "further reasons" : std::move(reason), 0});
  }
  ++found->messages;
}

void ForeignOutline::take(const MessageSource& source, const FileMessage& message) {
  const std::string& name = message.channel->topic;
  if (topics_.size() == 100 && !topics_.contains(name)) return;
  Topic& topic = topics_[name];
  ++topic.messages;
  if (topic.type.empty()) {
    if (const McapSchema* schema = source.schema(*message.channel)) topic.type = schema->name;
  }
  if (!topic_.empty() && topic_ != name) return;
  const JointStates states = read_message(source, message);
  if (!states.fault.empty()) topic.left_out.add(name, states.fault);
  if (!states.is_usable) return;
  is_found_ = true;
  topic_ = name;
  for (const std::string& joint : states.names) {
    if (std::find(joints_.begin(), joints_.end(), joint) != joints_.end()) continue;
    if (joints_.size() < max_joints)
      joints_.push_back(joint);
    else
      has_too_many_joints_ = true;
  }
  times_.push_back(message.log_time);
}

/// Each topic with its type, and why it has no joint states.
std::string ForeignOutline::topics_text() const {
  std::vector<std::string> texts;
  for (const auto& [name, topic] : topics_) {
    std::string text = name;
    std::vector<std::string> reasons;
    for (const LeftOut& one : topic.left_out.all())
      reasons.push_back(fmt::format("{} messages: {}", one.messages, one.reason));
    if (!topic.type.empty()) reasons.insert(reasons.begin(), topic.type);
    if (!reasons.empty()) text += fmt::format(" ({})", fmt::join(reasons, "; "));
    texts.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

SetupResult<Metadata> ForeignOutline::metadata(const MessageSource& source) {
  if (!is_found_ && topics_.empty()) return source.damage(Errc::no_joint_states, "the file has no messages");
  if (!is_found_) {
    return source.damage(
        Errc::no_joint_states,
        fmt::format("{}the file has the topics {}",
                    topic_.empty() || topics_.contains(topic_) ? "" : "not in " + topic_ + "; ",
                    topics_text()));
  }
  if (has_too_many_joints_)
    return source.damage(Errc::bad_metadata, fmt::format("{} has more than {} joints", topic_, max_joints));
  std::sort(times_.begin(), times_.end());
  Metadata metadata;
  metadata.robot = topic_;
  metadata.period = Duration(static_cast<std::int64_t>(
      std::clamp(period_of(times_), std::uint64_t{1}, static_cast<std::uint64_t>(time_bound.count()))));
  metadata.joints = joints_;
  return metadata;
}

ForeignMessages::ForeignMessages(const Metadata& metadata, const ForeignOutline& outline)
    : topic_(outline.topic()),
      times_(outline.times()),
      joints_(metadata.joints.size(), {none, none, none, none, none, 0, none}),
      left_out_(outline.left_out()) {
  for (std::size_t i = 0; i < joints_.size(); ++i) index_of_[metadata.joints[i]] = i;
}

void ForeignMessages::take(const MessageSource& source, const FileMessage& message) {
  if (message.channel->topic != topic_) return;
  const JointStates states = read_message(source, message);
  if (!states.is_usable) return;
  if (next_ == times_.size() || message.log_time < times_[next_]) {
    left_out_.add(topic_, "they come too late in the file to be put in their place");
    return;
  }
  Row& row = rows_[message.log_time];
  const std::size_t before = row.numbers.size();
  bool is_told_twice = false;
  for (std::size_t i = 0; i < states.names.size(); ++i) {
    const auto index = index_of_.find(states.names[i]);
    if (index == index_of_.end()) continue;
    const auto value = [i](const std::vector<double>& list) { return list.empty() ? none : list[i]; };
    is_told_twice =
        is_told_twice ||
        std::any_of(row.numbers.begin(), row.numbers.begin() + static_cast<std::ptrdiff_t>(before),
                    [&](const Numbers& one) { return one.joint == index->second; });
    row.numbers.push_back({index->second, value(states.view.positions), value(states.view.velocities),
                           value(states.view.efforts)});
  }
  held_ += row.numbers.size() - before;
  if (is_told_twice) left_out_.add(topic_, "another message of the same time has the same joints");
  ++row.messages;
}

/// Whether all messages of the earliest row are there. Memory is bounded: then it waits no longer.
bool ForeignMessages::is_next_whole(bool at_end) {
  if (rows_.empty()) return false;
  const auto& [time, row] = *rows_.begin();
  const auto same = std::equal_range(times_.begin(), times_.end(), time);
  const bool is_whole = next_ < times_.size() && times_[next_] == time &&
                        row.messages == static_cast<std::size_t>(same.second - same.first);
  if (!is_whole && !at_end && held_ < max_held) return false;
  next_ = static_cast<std::size_t>(same.second - times_.begin());
  return true;
}

const Record* ForeignMessages::next(bool at_end) {
  if (!is_next_whole(at_end)) return nullptr;
  const auto first = rows_.extract(rows_.begin());
  held_ -= first.mapped().numbers.size();
  const auto put = [](double& to, double value) {
    if (!std::isnan(value)) to = value;
  };
  for (const Numbers& numbers : first.mapped().numbers) {
    JointSample& joint = joints_[numbers.joint];
    put(joint.measured_position, numbers.position);
    put(joint.measured_velocity, numbers.velocity);
    put(joint.measured_effort, numbers.effort);
  }
  Cycle cycle;
  cycle.time = time_of(first.key());
  record_ = CycleRecord{cycle, joints_};
  return &record_;
}

}  // namespace takt::record
