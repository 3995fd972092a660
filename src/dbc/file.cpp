// Queries on a DBC description: attributes, period, FD and J1939.
#include "takt/dbc/file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "takt/can/frame.hpp"

namespace takt::dbc {

std::string to_string(const Warning& warning) {
  return fmt::format("line {}, column {}: {}", warning.place.line, warning.place.column, warning.text);
}

std::optional<std::size_t> Message::find_signal(std::string_view signal) const noexcept {
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (signals[i].name == signal) return i;
  }
  return std::nullopt;
}

const AttributeValue* find_attribute(const File& file, ObjectKind kind, const std::vector<Attribute>& own,
                                     std::string_view name) noexcept {
  for (const Attribute& attribute : own) {
    if (attribute.name == name) return &attribute.value;
  }
  for (const AttributeDefinition& definition : file.attribute_definitions) {
    if (definition.object == kind && definition.name == name && definition.default_value)
      return &*definition.default_value;
  }
  return nullptr;
}

namespace {

/// The text of a text or enumeration attribute; empty without one.
std::string_view attribute_text(const File& file, ObjectKind kind, const std::vector<Attribute>& own,
                                std::string_view name) noexcept {
  const AttributeValue* value = find_attribute(file, kind, own, name);
  if (value == nullptr) return {};
  if (const auto* text = std::get_if<std::string>(value)) return *text;
  const auto* index = std::get_if<std::int64_t>(value);
  if (index == nullptr || *index < 0) return {};
  for (const AttributeDefinition& definition : file.attribute_definitions) {
    const auto at = static_cast<std::size_t>(*index);
    if (definition.object == kind && definition.name == name && at < definition.texts.size())
      return definition.texts[at];
  }
  return {};
}

constexpr const char* frame_format_name = "VFrameFormat";

/// If the attribute is not an enumeration, its numbers are those of Vector's enumeration.
std::string_view frame_format_of(std::int64_t number) noexcept {
  switch (number) {
    case 0:
      return "StandardCAN";
    case 1:
      return "ExtendedCAN";
    case 3:
      return "J1939PG";
    case 14:
      return "StandardCAN_FD";
    case 15:
      return "ExtendedCAN_FD";
    default:
      return {};
  }
}

bool is_enumeration(const File& file, ObjectKind kind, std::string_view name) noexcept {
  return std::any_of(file.attribute_definitions.begin(), file.attribute_definitions.end(),
                     [&](const AttributeDefinition& definition) {
                       return definition.object == kind && definition.name == name &&
                              definition.type == AttributeType::enumeration;
                     });
}

std::string_view frame_format(const File& file, const Message& message) noexcept {
  const AttributeValue* value =
      find_attribute(file, ObjectKind::message, message.attributes, frame_format_name);
  const auto* number = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  if (number != nullptr && !is_enumeration(file, ObjectKind::message, frame_format_name))
    return frame_format_of(*number);
  return attribute_text(file, ObjectKind::message, message.attributes, frame_format_name);
}

}  // namespace

std::optional<Duration> cycle_time(const File& file, const Message& message) noexcept {
  const AttributeValue* value =
      find_attribute(file, ObjectKind::message, message.attributes, "GenMsgCycleTime");
  if (value == nullptr) return std::nullopt;
  double milliseconds = 0;
  if (const auto* integer = std::get_if<std::int64_t>(value)) milliseconds = static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(value)) milliseconds = *number;
  constexpr double day = 86'400'000;
  if (!(milliseconds > 0 && milliseconds <= day)) return std::nullopt;
  return from_seconds(milliseconds * 1e-3);
}

bool is_j1939(const File& file, const Message& message) noexcept {
  if (!message.extended) return false;
  const std::string_view format = frame_format(file, message);
  if (!format.empty()) return format == "J1939PG";
  return attribute_text(file, ObjectKind::network, file.attributes, "ProtocolType") == "J1939";
}

bool is_fd(const File& file, const Message& message) noexcept {
  if (is_j1939(file, message)) return false;
  const std::string_view format = frame_format(file, message);
  if (format.empty()) return message.length > can::max_classic_length;
  return format.size() > 3 && format.substr(format.size() - 3) == "_FD";
}

}  // namespace takt::dbc
