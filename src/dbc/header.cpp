#include "takt/dbc/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "dbc/cpp_text.hpp"
#include "takt/can/message_layout.hpp"

namespace takt::dbc {
namespace {

/// A constant or enumerator for a number with a text in VAL_.
struct NamedValue {
  std::string name;
  std::int64_t number = 0;
  std::string text;
};

struct Member {
  std::string name;
  std::string type;        ///< "double", "bool", "std::int16_t" or the name of the enum
  std::string underlying;  ///< of the enum; empty for other types
  std::vector<NamedValue> values;
  std::vector<std::uint64_t> states;  ///< for can::SignalSpec: numbers of the field, in rising order
  std::string states_name;            ///< name of their table
};

/// A message as a struct of the header.
struct Struct {
  const MessageCodec* source = nullptr;
  std::string name;
  can::MessageSpec spec;
  std::vector<can::SignalSpec> signals;
  std::vector<Member> members;
};

// ---- messages that the header can express

std::string_view why_not(can::MessageFault fault) {
  switch (fault) {
    case can::MessageFault::none:
      break;
    case can::MessageFault::id:
      return "its identifier has too many bits";
    case can::MessageFault::length:
      return "it is longer than a frame";
    case can::MessageFault::count:
      return "it has too many signals";
    case can::MessageFault::name:
      return "two of its signals have the same name, or a signal has no name";
    case can::MessageFault::signal:
      return "a signal lies beyond its length";
    case can::MessageFault::multiplexer:
      return "a multiplexer is not an integer";
    case can::MessageFault::selector:
      return "a multiplexer cannot have the value of a selector";
    case can::MessageFault::overlap:
      return "two signals that can be in one frame share a bit";
  }
  return {};
}

/// Limits the range to what the field can hold, as the database does.
can::SignalCoding with_sound_range(can::SignalCoding coding) {
  if (!coding.has_range() || is_valid(coding, max_message_length)) return coding;
  const can::NumberLimits limits = can::number_limits(coding);
  const double a = limits.low * coding.scale + coding.offset;
  const double b = limits.high * coding.scale + coding.offset;
  coding.minimum = std::min(a, b);
  coding.maximum = std::max(a, b);
  if (!is_valid(coding, max_message_length) || can::number_limits(coding) != limits)
    coding.minimum = coding.maximum = 0;
  return coding;
}

can::SignalSpec spec_of(const Message& message, const Signal& signal) {
  can::SignalSpec spec{signal.name, with_sound_range(signal.coding), signal.unit, {}};
  if (!signal.selected_by) return spec;
  spec.selection.multiplexer = message.signals[*signal.selected_by].name;
  spec.selection.count = signal.selected_for.size();
  std::transform(signal.selected_for.begin(), signal.selected_for.end(), spec.selection.ranges.begin(),
                 [](const NumberRange& range) {
                   return can::SelectorRange{range.first, range.last};
                 });
  return spec;
}

can::MessageSpec spec_of(const MessageCodec& message) {
  const Message& description = message.description();
  can::MessageSpec spec;
  spec.name = description.name;
  spec.id = description.id;
  spec.length = description.length;
  spec.format = {description.extended, message.is_fd(), message.is_fd()};
  spec.j1939 = message.is_j1939();
  spec.id_mask = message.filter().mask;
  spec.cycle_time = message.cycle_time().value_or(Duration{});
  return spec;
}

/// Returns why the header cannot express a message; empty if it can.
std::string_view find_obstacle(const MessageCodec& message) {
  const Message& description = message.description();
  for (const Signal& signal : description.signals) {
    if (signal.selected_for.size() > can::Selection::max_ranges)
      return "a signal has too many ranges of selectors";
  }
  std::vector<can::SignalSpec> signals;
  for (const Signal& signal : description.signals) signals.push_back(spec_of(description, signal));
  return why_not(can::find_fault(spec_of(message), signals));
}

// ---- members

std::string integer_type(can::BitField field) {
  const int bits = field.length <= 8 ? 8 : field.length <= 16 ? 16 : field.length <= 32 ? 32 : 64;
  return fmt::format("std::{}int{}_t", field.type == can::NumberType::signed_integer ? "" : "u", bits);
}

/// Converts a number of the field to the signal's units.
double physical_of(const can::SignalCoding& coding, std::int64_t number) {
  if (coding.field.type > can::NumberType::signed_integer)
    return static_cast<double>(number) * coding.scale + coding.offset;
  return can::to_physical(coding,
                          static_cast<std::uint64_t>(number) & can::detail::mask_of(coding.field.length));
}

/// Returns whether J1939 reserves numbers of the field as codes. The member must then be able to be NaN.
bool has_codes(can::BitField field) {
  return largest_j1939_value(field) != std::numeric_limits<std::uint64_t>::max();
}

std::string value_word(std::int64_t number) {
  return number < 0 ? fmt::format("value_minus_{}", std::to_string(number).substr(1))
                    : fmt::format("value_{}", number);
}

/// Joins double_ and x to double_x, because names with two underscores are reserved for the implementation.
std::string joined(const std::string& name, const std::string& word) {
  return name.ends_with('_') ? name + word : name + "_" + word;
}

class Builder {
 public:
  explicit Builder(std::vector<std::string>& warnings) : warnings_(warnings) {}

  Struct build(const MessageCodec& message, std::string name) const {
    const Message& description = message.description();
    Struct made{&message, std::move(name), spec_of(message), {}, {}};
    UniqueNames types({made.name, "Members"});
    UniqueNames members({"message", "signals", "parameter_group"});
    for (const Signal& signal : description.signals) {
      made.signals.push_back(spec_of(description, signal));
      if (made.signals.back().signal.has_range() != signal.coding.has_range())
        warn(description, signal, "its range is not in the header, because its field cannot hold it");
      made.members.push_back(member_of(signal, made.spec.j1939, types, members));
    }
    // Constants are named last, so that no signal loses its name to one.
    for (std::size_t i = 0; i < made.members.size(); ++i) {
      add_values(made.members[i], description, description.signals[i], members);
      add_states(made.members[i], message.states(i), members);
    }
    return made;
  }

 private:
  void warn(const Message& message, const Signal& signal, std::string_view what) const {
    warnings_.push_back(
        comment_line(fmt::format("message {}, signal {}: {}", message.name, signal.name, what)));
  }

  static Member member_of(const Signal& signal, bool is_j1939, UniqueNames& types, UniqueNames& members) {
    const can::SignalCoding& coding = signal.coding;
    Member member;
    member.name = members.add(snake_case(signal.name, "signal"));
    member.type = "double";
    const bool is_raw =
        coding.field.type <= can::NumberType::signed_integer && coding.scale == 1 && coding.offset == 0;
    if (is_raw && !signal.values.empty()) {
      member.type = types.add(pascal_case(member.name, "Signal"));
      member.underlying = integer_type(coding.field);
    } else if (is_raw && !(is_j1939 && has_codes(coding.field))) {
      const bool is_bit = coding.field.length == 1 && coding.field.type == can::NumberType::unsigned_integer;
      member.type = is_bit ? "bool" : integer_type(coding.field);
    }
    return member;
  }

  void add_values(Member& member, const Message& message, const Signal& signal, UniqueNames& members) const {
    UniqueNames enumerators;
    std::map<std::string, std::size_t> uses;
    for (const ValueText& value : signal.values) ++uses[text_name(value)];
    for (const ValueText& value : signal.values) {
      if (!can::detail::holds(signal.coding.field, value.value) ||
          !can::is_finite(physical_of(signal.coding, value.value))) {
        warn(message, signal,
             fmt::format("the value {} is not in the header, because its field cannot hold it", value.value));
        continue;
      }
      const std::string own = value_name(value, uses);
      const bool is_enum = !member.underlying.empty();
      member.values.push_back(
          {is_enum ? enumerators.add(own) : members.add(joined(member.name, own)), value.value, value.text});
    }
  }

  static void add_states(Member& member, std::span<const std::uint64_t> states, UniqueNames& members) {
    if (states.empty()) return;
    member.states.assign(states.begin(), states.end());
    member.states_name = members.add(joined(member.name, "states"));
  }

  /// Values with the same text are distinguished by their numbers, not by their order.
  static std::string value_name(const ValueText& value, const std::map<std::string, std::size_t>& uses) {
    std::string word = value_word(value.value);
    std::string name = text_name(value);
    if (name == "value") return word;
    return uses.at(name) > 1 ? name + word.substr(5) : name;
  }
  static std::string text_name(const ValueText& value) { return snake_case(value.text, "value"); }

  std::vector<std::string>& warnings_;
};

// ---- text

std::string integer(std::int64_t number) {
  const bool is_lowest = number == std::numeric_limits<std::int64_t>::min();
  return is_lowest ? "-9223372036854775807 - 1" : std::to_string(number);
}
std::string unsigned_integer(std::uint64_t number) {
  return fmt::format("{}{}", number, number >> 63 != 0 ? "u" : "");
}

/// The numbers of a selector as text: "1, 3 to 5".
std::string selectors_text(const can::Selection& selection) {
  std::string text;
  for (std::size_t i = 0; i < selection.count; ++i) {
    const auto [low, high] = selection.ranges[i];
    text += i == 0 ? "" : ", ";
    text += low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
  }
  return text;
}

std::string field_text(const can::BitField& field) {
  std::string text = fmt::format("{}, {}", field.start, field.length);
  const bool is_unsigned = field.type == can::NumberType::unsigned_integer;
  if (field.order == can::ByteOrder::little && is_unsigned) return text;
  text += field.order == can::ByteOrder::little ? ", takt::can::ByteOrder::little"
                                                : ", takt::can::ByteOrder::big";
  if (is_unsigned) return text;
  text += ", takt::can::NumberType::";
  text += field.type == can::NumberType::signed_integer ? "signed_integer"
          : field.type == can::NumberType::float32      ? "float32"
                                                        : "float64";
  return text;
}

std::string signal_text(const can::SignalCoding& signal) {
  std::string text = fmt::format("{{{}}}", field_text(signal.field));
  if (signal.scale != 1 || signal.offset != 0 || signal.has_range())
    text += fmt::format(", {}", signal.scale);
  if (signal.offset != 0 || signal.has_range()) text += fmt::format(", {}", signal.offset);
  if (signal.has_range()) text += fmt::format(", {}, {}", signal.minimum, signal.maximum);
  return text;
}

std::string spec_text(const Struct& made, std::size_t i) {
  const can::SignalSpec& spec = made.signals[i];
  const Member& member = made.members[i];
  const bool has_selection = !spec.selection.always();
  const bool has_states = !member.states.empty();
  std::string text = fmt::format("{{{}, {{{}}}", literal(spec.name), signal_text(spec.signal));
  if (!spec.unit.empty() || has_selection || has_states) text += fmt::format(", {}", literal(spec.unit));
  if (has_selection) {
    text += fmt::format(", takt::can::when({}, {{", literal(spec.selection.multiplexer));
    for (std::size_t k = 0; k < spec.selection.count; ++k) {
      const auto [low, high] = spec.selection.ranges[k];
      text += fmt::format("{}{{{}, {}}}", k == 0 ? "" : ", ", unsigned_integer(low), unsigned_integer(high));
    }
    text += "})";
  } else if (has_states) {
    text += ", {}";
  }
  if (has_states) text += ", " + member.states_name;
  return text + "}";
}

/// Writes the tables of a struct: an array of plain data, with the members beside it. Compilers need long for
/// tuples of them.
std::string signals_text(const Struct& made) {
  std::string text;
  for (const Member& member : made.members) {
    if (member.states.empty()) continue;
    std::vector<std::string> numbers;
    for (const std::uint64_t state : member.states) numbers.push_back(unsigned_integer(state));
    text += fmt::format("  static constexpr std::array<std::uint64_t, {}> {}{{{}}};\n", numbers.size(),
                        member.states_name, fmt::join(numbers, ", "));
  }
  text += fmt::format("  static constexpr std::array<takt::can::SignalSpec, {}> signals{{{{",
                      made.signals.size());
  for (std::size_t i = 0; i < made.signals.size(); ++i) {
    text += fmt::format("{}\n      {}", i == 0 ? "" : ",", spec_text(made, i));
  }
  std::vector<std::string> members;
  for (const Member& member : made.members) members.push_back(fmt::format("&{}::{}", made.name, member.name));
  return text + fmt::format("}}}};\n  using Members = takt::can::Members<{}>;\n", fmt::join(members, ", "));
}

/// The comment above a member: the file's comment, then unit, range and multiplexer.
std::string member_comment(const Struct& made, std::size_t i) {
  const can::SignalSpec& spec = made.signals[i];
  std::string facts = spec.unit.empty() ? "" : fmt::format("[{}]", spec.unit);
  const auto add = [&](const std::string& fact) { facts += facts.empty() ? fact : " " + fact; };
  if (spec.signal.has_range()) add(fmt::format("{} to {}", spec.signal.minimum, spec.signal.maximum));
  if (!spec.selection.always())
    add(fmt::format("when {} is {}", spec.selection.multiplexer, selectors_text(spec.selection)));
  return comment(made.source->description().signals[i].comment, "  /// ") + comment(facts, "  /// ");
}

/// The comment after a value.
std::string value_comment(const NamedValue& value) {
  const std::string text = comment_line(value.text);
  return text.empty() ? "\n" : fmt::format("  ///< {}\n", text);
}

std::string enum_text(const Member& member) {
  std::string text = fmt::format("  enum class {} : {} {{\n", member.type, member.underlying);
  for (const NamedValue& value : member.values) {
    text += fmt::format("    {} = {},{}", value.name, integer(value.number), value_comment(value));
  }
  return text + "  };\n";
}

/// Constants for values with a text, in the units of a scaled signal.
std::string constants_text(const Member& member, const can::SignalCoding& coding) {
  std::string text;
  for (const NamedValue& value : member.values) {
    text += fmt::format("  static constexpr double {} = {};{}", value.name, physical_of(coding, value.number),
                        value_comment(value));
  }
  return text;
}

std::string duration_text(Duration duration) {
  const auto nanoseconds = duration.count();
  constexpr std::int64_t millisecond = 1'000'000;
  if (nanoseconds % millisecond == 0)
    return fmt::format("std::chrono::milliseconds({})", nanoseconds / millisecond);
  return fmt::format("std::chrono::nanoseconds({})", nanoseconds);
}

std::string spec_text(const can::MessageSpec& spec) {
  std::string text =
      fmt::format(".name = {}, .id = {:#x}, .length = {}", literal(spec.name), spec.id, spec.length);
  if (spec.format.extended || spec.format.fd)
    text += fmt::format(", .format = {{{}, {}, {}}}", spec.format.extended, spec.format.fd,
                        spec.format.bit_rate_switch);
  if (spec.id_mask != can::max_extended_id) text += fmt::format(", .id_mask = {:#x}", spec.id_mask);
  if (spec.j1939) text += ", .j1939 = true";
  if (spec.cycle_time > Duration{}) text += fmt::format(", .cycle_time = {}", duration_text(spec.cycle_time));
  return text;
}

/// The sending part of a comment: "From Drive_Left, every 10 ms."
std::string sending_comment(const Struct& made) {
  const Message& message = made.source->description();
  std::vector<std::string> senders = message.senders;
  if (std::find(senders.begin(), senders.end(), message.sender) == senders.end() && !message.sender.empty())
    senders.insert(senders.begin(), message.sender);
  std::string text = senders.empty() ? "" : fmt::format("From {}", fmt::join(senders, ", "));
  if (made.spec.cycle_time > Duration{}) {
    text += fmt::format("{} {} ms", text.empty() ? "Every" : ", every",
                        std::chrono::duration<double, std::milli>(made.spec.cycle_time).count());
  }
  return comment(text.empty() ? text : text + ".", "/// ");
}

std::string struct_text(const Struct& made) {
  std::string text = comment(made.source->description().comment, "/// ") + sending_comment(made);
  text += fmt::format("struct {} {{\n", made.name);
  for (const Member& member : made.members) {
    if (!member.underlying.empty()) text += enum_text(member) + "\n";
  }
  for (std::size_t i = 0; i < made.members.size(); ++i) {
    const Member& member = made.members[i];
    text += member_comment(made, i);
    const std::string_view initial = !member.underlying.empty() ? "{}"
                                     : member.type == "bool"    ? " = false"
                                                                : " = 0";
    text += fmt::format("  {} {}{};\n", member.type, member.name, initial);
    if (member.underlying.empty()) text += constants_text(member, made.signals[i].signal);
  }
  if (!made.members.empty()) text += "\n";
  text += fmt::format("  static constexpr takt::can::MessageSpec message{{{}}};\n", spec_text(made.spec));
  if (made.source->is_j1939()) {
    text += fmt::format("  static constexpr std::uint32_t parameter_group = {:#x};  ///< of SAE J1939\n",
                        can::j1939_group_of(made.spec.id));
  }
  text += signals_text(made) + "\n";
  text +=
      fmt::format("  friend constexpr bool operator==(const {0}&, const {0}&) = default;\n}};\n", made.name);
  return text + fmt::format("static_assert(takt::can::is_valid_message<{}>);\n\n", made.name);
}

std::string switch_text(const std::string& on, const std::map<std::uint32_t, const Struct*>& cases) {
  std::string text = fmt::format("    switch ({}) {{\n", on);
  for (const auto& [id, made] : cases) {
    text += fmt::format("      case {:#x}:\n        return takt::can::decode_for<{}>(visitor, frame);\n", id,
                        made->name);
  }
  return text + "      default:\n        break;\n    }\n";
}

/// Compares in the order of Database::find(): first the identifier, then the parameter group if it identifies
/// the message.
std::string visit_text(const std::vector<Struct>& structs) {
  std::map<std::uint32_t, const Struct*> standard;
  std::map<std::uint32_t, const Struct*> extended;
  std::map<std::uint32_t, std::map<std::uint32_t, const Struct*>> groups;  // by mask
  for (const Struct& made : structs) {
    (made.spec.format.extended ? extended : standard).emplace(made.spec.id, &made);
    if (made.spec.id_mask != can::max_extended_id)
      groups[made.spec.id_mask].emplace(made.spec.id & made.spec.id_mask, &made);
  }
  std::string text =
      "/// Hands the message in a frame to the visitor, which is called with a constant reference to it; a "
      "message that the visitor\n"
      "/// does not take is not decoded. Errors: unexpected_id (none of these messages has the identifier), "
      "and those of\n"
      "/// takt::can::decode_into(). Real-time safe if the visitor is, which must not throw.\n"
      "template <class Visitor>\n"
      "[[nodiscard]] constexpr takt::Status visit([[maybe_unused]] const takt::can::Frame& frame,\n"
      "                                           [[maybe_unused]] Visitor&& visitor) noexcept {\n";
  if (!standard.empty()) text += "  if (!frame.extended) {\n" + switch_text("frame.id", standard) + "  }\n";
  if (!extended.empty()) {
    text += "  if (frame.extended) {\n" + switch_text("frame.id", extended);
    for (const auto& [mask, cases] : groups)
      text += switch_text(fmt::format("frame.id & {:#x}U", mask), cases);
    text += "  }\n";
  }
  return text + "  return takt::fail(takt::can::Errc::unexpected_id);\n}\n\n";
}

std::string tuple_text(const std::vector<Struct>& structs) {
  std::vector<std::string_view> names;
  names.reserve(structs.size());
  for (const Struct& made : structs) names.push_back(made.name);
  return fmt::format("using Messages = std::tuple<{}>;\n\n", fmt::join(names, ", "));
}

std::string header_text(const File& file, const HeaderOptions& options, const std::string& name_space,
                        const std::vector<Struct>& structs) {
  std::string text = fmt::format("// Made from {} by takt dbc2hpp: change that file, not this one.\n",
                                 options.source.empty() ? "a DBC file" : comment_line(options.source));
  if (!options.node.empty())
    text += fmt::format("// What {} sends and receives.\n", comment_line(options.node));
  if (!file.comment.empty()) text += "//\n" + comment(file.comment, "// ");
  text +=
      "#pragma once\n\n#include <array>\n#include <chrono>\n#include <cstdint>\n#include <tuple>\n\n#include "
      "\"takt/can/message.hpp\"\n\n";
  text += fmt::format("namespace {} {{\n\n", name_space);
  for (const Struct& made : structs) text += struct_text(made);
  return text + tuple_text(structs) + visit_text(structs) + fmt::format("}}  // namespace {}\n", name_space);
}

/// The file's name is nested in another namespace or has a suffix, because C has functions such as `time` and
/// `abs`.
std::string name_space_of(const HeaderOptions& options) {
  const std::string& given = options.name_space;
  if (!given.empty() && !given.ends_with("::")) return given;
  const std::string own = snake_case(options.source.substr(0, options.source.rfind('.')), "can");
  return given.empty() ? own + "_dbc" : given + own;
}

bool concerns(const Message& message, const std::string& node) {
  const auto has_node = [&](const std::vector<std::string>& nodes) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  };
  return node.empty() || message.sender == node || has_node(message.senders) ||
         std::any_of(message.signals.begin(), message.signals.end(),
                     [&](const Signal& signal) { return has_node(signal.receivers); });
}

}  // namespace

SetupResult<GeneratedHeader> make_header(const Database& dbc, const HeaderOptions& options) {
  const File& file = dbc.file();
  const std::string name_space = name_space_of(options);
  if (!is_name_space(name_space))
    return fail(can::Errc::bad_dbc,
                fmt::format("{} is not a valid namespace; give one such as robot::drive", name_space));
  const bool has_node = std::any_of(file.nodes.begin(), file.nodes.end(),
                                    [&](const Node& node) { return node.name == options.node; });
  if (!options.node.empty() && !has_node)
    return fail(can::Errc::bad_dbc, fmt::format("there is no node {}", options.node));

  GeneratedHeader header;
  UniqueNames names({"Messages", "visit", "std", "takt"});
  std::vector<Struct> structs;
  for (const MessageCodec& message : dbc.messages()) {
    const Message& description = message.description();
    if (!concerns(description, options.node)) continue;
    if (const std::string_view obstacle = find_obstacle(message); !obstacle.empty()) {
      header.warnings.push_back(
          comment_line(fmt::format("message {} is not in the header: {}", description.name, obstacle)));
      ++header.left_out;
      continue;
    }
    structs.push_back(
        Builder(header.warnings).build(message, names.add(pascal_case(description.name, "Message"))));
  }
  header.text = header_text(file, options, name_space, structs);
  return header;
}

}  // namespace takt::dbc
