#include "dbc/values.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace takt::dbc {
namespace {

/// Parses the value of an enumeration. Files write it as a number or as a text.
std::optional<std::int64_t> enumeration_index(const Token& token, const AttributeDefinition& definition) {
  const auto count = static_cast<std::int64_t>(definition.texts.size());
  if (token.kind == TokenKind::number) {
    const auto index = to_integer<std::int64_t>(token.raw);
    return index && *index >= 0 && *index < count ? index : std::nullopt;
  }
  const auto found = std::find(definition.texts.begin(), definition.texts.end(), unquoted(token.raw));
  if (found == definition.texts.end()) return std::nullopt;
  return found - definition.texts.begin();
}

}  // namespace

std::optional<double> to_number(std::string_view raw) noexcept {
  if (!raw.empty() && raw.front() == '+') raw.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), number);
  if (error != std::errc{} || end != raw.data() + raw.size()) return std::nullopt;
  return number;
}

std::string shown(const Token& token) {
  if (token.kind == TokenKind::end) return "the end of the file";
  if (token.kind == TokenKind::text) return "a text in quotes";
  constexpr std::size_t most = 40;
  std::string text;
  for (const char byte : token.raw.substr(0, most)) {
    const bool is_printable = static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7F;
    text += is_printable ? byte : '?';
  }
  return fmt::format("'{}'{}", to_utf8(text), token.raw.size() > most ? "..." : "");
}

std::optional<AttributeValue> value_of(const Token& token, const AttributeDefinition* definition,
                                       Complaints& complaints) {
  const bool is_text = token.kind == TokenKind::text;
  std::optional<AttributeValue> value;
  if (definition == nullptr) {
    if (is_text) return unquoted(token.raw);
    if (const auto integer = to_integer<std::int64_t>(token.raw)) return *integer;
    if (const auto number = to_number(token.raw)) return *number;
    return value;
  }
  switch (definition->type) {
    case AttributeType::integer:
    case AttributeType::hexadecimal:
      if (const auto integer = is_text ? std::nullopt : to_integer<std::int64_t>(token.raw)) value = *integer;
      break;
    case AttributeType::number:
      if (const auto number = is_text ? std::nullopt : to_number(token.raw)) value = *number;
      break;
    case AttributeType::text:
      value = is_text ? unquoted(token.raw) : std::string(token.raw);
      break;
    case AttributeType::enumeration:
      if (const auto index = enumeration_index(token, *definition)) value = *index;
      break;
  }
  if (!value) {
    complaints.complain(token.place, fmt::format("attribute {} cannot have the value {}; it is left out",
                                                 definition->name, shown(token)));
  }
  return value;
}

}  // namespace takt::dbc
