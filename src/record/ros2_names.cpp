#include "record/ros2_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace takt::record {
namespace {

constexpr std::string_view clock_time = "ns of the robot's clock";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// "ROBOT_STATE_READY" of "robot_state" and "ready".
std::string constant_name(std::string_view field, std::string_view value) {
  std::string name = fmt::format("{}_{}", field, value);
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!is_letter(c) && !is_digit(c)) c = '_';
  }
  return name;
}

std::string constants_of(std::string_view field, std::span<const std::string> names) {
  std::string lines;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 256); ++i)
    lines += fmt::format("uint8 {}={}\n", constant_name(field, names[i]), i);
  return lines;
}

std::string reasons_of(const Metadata& metadata) {
  std::string lines;
  for (const auto& [code, name] : metadata.reasons)
    lines += fmt::format("uint16 {}={}\n", constant_name("reason", name), code);
  return lines;
}

/// Calls `each` with every line of a definition, without its end.
template <class Each>
void for_each_line(std::string_view definition, Each&& each) {
  while (!definition.empty()) {
    const std::size_t end = std::min(definition.find('\n'), definition.size());
    each(definition.substr(0, end));
    definition.remove_prefix(std::min(end + 1, definition.size()));
  }
}

}  // namespace

std::string ros2_topic(std::string_view topic) {
  std::string name;
  const auto last_is = [&name](char c) { return !name.empty() && name.back() == c; };
  // A word that begins with an underscore is hidden in ROS 2, and two in a row are not allowed.
  const auto add = [&](char c) {
    if (!last_is(c) && !(c == '_' && last_is('/')) && !(c == '/' && last_is('_')))
      name += c;
    else if (c == '/' && last_is('_'))
      name.back() = '/';
  };
  for (std::size_t i = 0; i < topic.size(); ++i) {
    const char c = topic[i];
    const bool digit_follows = i + 1 < topic.size() && is_digit(topic[i + 1]);
    if (is_letter(c)) {
      name += c;
    } else if (is_digit(c)) {
      name += last_is('/') ? "n" : "";
      name += c;
    } else {
      add(c == '/' || (c == '.' && !digit_follows) ? '/' : '_');
    }
  }
  while (last_is('_') || last_is('/')) name.pop_back();
  return name.empty() ? "unnamed" : name;
}

std::string_view takt_topic(const McapChannel& channel) {
  const auto own = channel.metadata.find(channel_topic);
  return own != channel.metadata.end() ? own->second : channel.topic;
}

std::vector<FieldNote> cycle_notes(const Metadata& metadata) {
  return {{"time", clock_time},
          {"lateness", "ns: wake-up time minus due time"},
          {"busy", "ns: of the previous cycle, from wake-up to the end of its work"},
          {"robot_state", {}, constants_of("robot_state", metadata.robot_states)},
          {"reason_joint", "index of the joint of the reason, if it has one"},
          {"reason", "why the robot stops; 0: no fault", reasons_of(metadata)},
          {"active_goals", "number of goals that are running"},
          {"goals", "of each joint: the goal that owns it; 0: none"}};
}

std::vector<FieldNote> event_notes(const Metadata& metadata) {
  return {{"at", clock_time},
          {"goal", "number of the goal"},
          {"state", {}, constants_of("state", metadata.goal_states)},
          {"joint", "index of the joint of the reason, if it has one"},
          {"reason", "0: none", reasons_of(metadata)},
          {"time", "s from the goal's start, if the reason has a time"},
          {"value", "the rejected value, in SI units"},
          {"limit", "the limit of that value"},
          {"received", "ns: arrival of the request's last byte; 0: unknown"},
          {"handed_over", "ns: when the request entered the loop's ring; 0: unknown"},
          {"first_reference", "ns: when the first reference was written to the bus; 0: not yet"}};
}

std::vector<FieldNote> bus_notes() {
  return {{"time", clock_time},
          {"load", "busy share of the time since the previous message, 0 to 1"},
          {"frames", "frames carried since the start of the loop"},
          {"refused", "frames rejected for lack of room since the start of the loop"}};
}

std::vector<FieldNote> loop_notes() {
  return {{"time", clock_time},
          {"cycles", "completed periods since the start"},
          {"overruns", "missed periods since the start"}};
}

std::string with_notes(std::string_view definition, std::span<const FieldNote> notes) {
  std::string text;
  for_each_line(definition, [&](std::string_view line) {
    const std::string_view field = line.substr(line.rfind(' ') + 1);
    const auto note = std::ranges::find(notes, field, &FieldNote::field);
    if (note != notes.end()) text += note->constants;
    text += line;
    if (note != notes.end() && !note->text.empty())
      text += fmt::format("  # {}", note->text.substr(0, note->text.find('\n')));
    text += '\n';
  });
  return text;
}

std::string without_notes(std::string_view definition) {
  std::string text;
  for_each_line(definition, [&](std::string_view line) {
    const std::string_view plain = line.substr(0, line.find('#'));
    const std::size_t equals = plain.find('=');
    const bool is_bound = equals != std::string_view::npos && equals > 0 && plain[equals - 1] == '<';
    if (!line.starts_with("==") && equals != std::string_view::npos && !is_bound) return;
    const std::size_t end = plain.find_last_not_of(' ');
    if (end == std::string_view::npos) return;
    text += plain.substr(0, end + 1);
    text += '\n';
  });
  return text;
}

}  // namespace takt::record
