#include "takt/dbc/protection.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace takt::dbc {
namespace {

constexpr std::array<std::pair<std::string_view, ChecksumKind>, 5> kinds{
    {{"sum", ChecksumKind::sum},
     {"exclusive_or", ChecksumKind::exclusive_or},
     {"crc8_j1850", ChecksumKind::crc8_j1850},
     {"crc8_2f", ChecksumKind::crc8_2f},
     {"e2e_profile_1", ChecksumKind::e2e_profile_1}}};
constexpr unsigned least_counter_bits = 2, most_counter_bits = 16, e2e_counter_bits = 4;

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t colon = 0; colon != std::string_view::npos; text.remove_prefix(colon + 1)) {
    colon = text.find(':');
    words.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) break;
  }
  return words;
}

std::optional<std::uint16_t> to_data_id(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  std::uint16_t id = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, id, is_hex ? 16 : 10);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return id;
}

/// The byte of a field that is one whole byte; nullopt for any other field.
std::optional<std::size_t> whole_byte(can::BitField field) {
  const unsigned first = field.order == can::ByteOrder::little ? 0 : 7;
  if (field.length != 8 || field.start % 8U != first) return std::nullopt;
  return field.start / 8U;
}

/// A signal that is always in the frame and has plain unsigned numbers. The error names it as "counter".
SetupResult<can::BitField> field_of(const Message& message, const std::string& name, std::string_view role) {
  const auto index = message.find_signal(name);
  if (!index) {
    return fail(can::Errc::bad_value,
                fmt::format("message {} has no signal {} for the {}", message.name, name, role));
  }
  const Signal& signal = message.signals[*index];
  if (signal.selected_by || signal.coding.field.type != can::NumberType::unsigned_integer) {
    return fail(
        can::Errc::bad_layout,
        fmt::format("signal {} of message {} cannot be the {}: it must be unsigned, and not multiplexed",
                    name, message.name, role));
  }
  return signal.coding.field;
}

}  // namespace

SetupResult<ProtectionRule> parse_protection_rule(std::string_view text) {
  const auto refuse = [text](std::string_view why) {
    return fail(
        can::Errc::bad_value,
        fmt::format("'{}': {}; a rule is MESSAGE:COUNTER:CHECKSUM:KIND, with a kind of sum, exclusive_or, "
                    "crc8_j1850 and crc8_2f, or MESSAGE:COUNTER:CHECKSUM:e2e_profile_1:DATA_ID",
                    text.substr(0, 200), why));
  };
  const std::vector<std::string_view> words = split(text);
  if (words.size() < 4 || words.size() > 5) return refuse("it does not have four or five parts");
  const auto* const kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) { return each.first == words[3]; });
  if (kind == kinds.end()) return refuse("its kind is unknown");
  ProtectionRule rule{std::string(words[0]), std::string(words[1]), std::string(words[2]), kind->second};
  if ((rule.kind == ChecksumKind::e2e_profile_1) != (words.size() == 5))
    return refuse("e2e_profile_1 needs a data ID, and the other kinds have none");
  if (words.size() == 4) return rule;
  const auto id = to_data_id(words[4]);
  if (!id) return refuse("its data ID is not a number from 0 to 65535");
  rule.data_id = *id;
  return rule;
}

SetupResult<Protection> Protection::create(const Database& dbc, const ProtectionRule& rule) {
  const MessageCodec* const message = dbc.find(rule.message);
  if (message == nullptr)
    return fail(can::Errc::bad_value, fmt::format("the DBC file has no message {}", rule.message));
  const auto refuse = [&](const std::string& signal, std::string_view why) {
    return fail(can::Errc::bad_layout, fmt::format("signal {} of message {}: {}", signal, rule.message, why));
  };
  const auto counter = field_of(message->description(), rule.counter, "counter");
  if (!counter) return tl::unexpected(counter.error());
  const auto checksum = field_of(message->description(), rule.checksum, "checksum");
  if (!checksum) return tl::unexpected(checksum.error());
  const auto place = whole_byte(*checksum);
  if (!place) return refuse(rule.checksum, "a checksum is one whole byte");
  if (message->length() > can::max_fd_length)
    return refuse(rule.checksum, "the message is longer than a frame");
  if (*place >= message->length() || !can::fits(*counter, message->length()))
    return refuse(rule.counter, "counter and checksum must lie within the message");
  if (can::overlap(*counter, *checksum)) return refuse(rule.counter, "it overlaps the checksum");
  if (rule.kind == ChecksumKind::e2e_profile_1 && counter->length != e2e_counter_bits)
    return refuse(rule.counter, "a counter of e2e_profile_1 has 4 bits");
  if (counter->length < least_counter_bits || counter->length > most_counter_bits)
    return refuse(rule.counter, "a counter has 2 to 16 bits");
  Protection protection;
  protection.message_ = message;
  protection.counter_ = *counter;
  protection.largest_ =
      (std::uint64_t{1} << counter->length) - (rule.kind == ChecksumKind::e2e_profile_1 ? 2 : 1);
  protection.place_ = *place;
  protection.kind_ = rule.kind;
  protection.data_id_ = rule.data_id;
  return protection;
}

}  // namespace takt::dbc
