#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "dbc/attribute_reader.hpp"
#include "dbc/layout.hpp"
#include "dbc/values.hpp"
#include "dbc/words.hpp"
#include "takt/dbc/file.hpp"

namespace takt::dbc {
namespace {

/// Reads `file_` statement by statement.
class Parser : private AttributeReader {
 public:
  Parser(std::string_view text, Strictness strictness) : AttributeReader(text, strictness) {}

  SetupResult<Reading> run() {
    while (!has_failed() && scanner_.peek().kind != TokenKind::end) read_statement();
    if (!has_failed() && statements_ == 0) refuse(scanner_.peek().place, "the file has no DBC statement");
    if (!has_failed()) finish();
    if (has_failed()) return fail(can::Errc::bad_dbc, to_string(error()));
    return Reading{std::move(file_), take_warnings(), more_warnings(), left_out_};
  }

 private:
  using Statement = bool (Parser::*)();
  void read_statement() {
    if (try_mark(';')) return;
    if (scanner_.peek().kind != TokenKind::name) {
      expected("a keyword of a DBC file");
      return skip_statement();
    }
    const Token keyword = scanner_.take();
    static constexpr std::pair<std::string_view, Statement> statements[] = {
        {"VERSION", &Parser::read_version},
        {"NS_", &Parser::read_new_symbols},
        {"BS_", &Parser::read_bit_timing},
        {"BU_", &Parser::read_nodes},
        {"BO_", &Parser::read_message},
        {"SG_", &Parser::read_signal},
        {"BO_TX_BU_", &Parser::read_senders},
        {"EV_", &Parser::read_environment_variable},
        {"ENVVAR_DATA_", &Parser::read_environment_data},
        {"CM_", &Parser::read_comment},
        {"VAL_TABLE_", &Parser::read_value_table},
        {"VAL_", &Parser::read_value_texts},
        {"SIG_GROUP_", &Parser::read_signal_group},
        {"SIG_VALTYPE_", &Parser::read_value_type},
        {"SG_MUL_VAL_", &Parser::read_selector_ranges},
        {"BA_DEF_", &Parser::read_attribute_definition},
        {"BA_DEF_DEF_", &Parser::read_attribute_default},
        {"BA_", &Parser::read_attribute},
    };
    const auto found = std::find_if(std::begin(statements), std::end(statements),
                                    [&](const auto& entry) { return entry.first == keyword.raw; });
    if (found == std::end(statements)) {
      skip_section(keyword);
    } else if ((this->*found->second)()) {
      ++statements_;
    } else {
      if (keyword.raw == "BO_" || keyword.raw == "SG_") ++left_out_;
      skip_statement();
    }
  }

  /// Skips a section that is not supported, with one warning for all its statements.
  void skip_section(const Token& keyword) {
    if (is_keyword(keyword.raw)) {
      if (skipped_.insert(keyword.raw).second)
        warn(keyword.place, fmt::format("{} statements are not supported and are skipped", keyword.raw));
    } else {
      complain(keyword.place,
               fmt::format("{} is not a keyword of a DBC file; it is skipped", shown(keyword)));
    }
    skip_statement();
  }

  bool read_version() {
    if (!take_text(file_.version, "the version in quotes")) return false;
    try_mark(';');
    return true;
  }

  /// Skips the list of keywords (one per line), which says nothing about this file.
  bool read_new_symbols() {
    try_mark(':');
    while (scanner_.peek().kind == TokenKind::name && scanner_.peek().first_on_line &&
           scanner_.peek().last_on_line) {
      scanner_.take();
    }
    return true;
  }

  bool read_bit_timing() {
    try_mark(':');
    constexpr std::size_t most = 3;
    while (scanner_.peek().kind == TokenKind::number && file_.bit_timing.size() < most) {
      if (!take_integer<std::uint32_t>(file_.bit_timing.emplace_back(), 0, ~0U, "a bit rate or register")) {
        file_.bit_timing.pop_back();
        return false;
      }
      if (!try_mark(':')) try_mark(',');
    }
    return true;
  }

  bool read_nodes() {
    if (!take_mark(':')) return false;
    const TextPosition place = scanner_.peek().place;
    std::vector<std::string> names;
    if (!take_names(names)) return false;
    for (std::string& name : names) {
      if (!nodes_.try_emplace(name, static_cast<std::uint32_t>(file_.nodes.size())).second) {
        complain(place, fmt::format("node {} is listed twice", name));
        continue;
      }
      file_.nodes.push_back({std::move(name), {}, {}});
    }
    return true;
  }

  bool read_message() {
    current_ = left_out_message;  // until the message is valid; its signals are skipped with it
    const TextPosition place = scanner_.peek().place;
    RawId raw = 0;
    Message message;
    if (!take_integer<RawId>(raw, 0, ~RawId{0}, "the identifier of a message") ||
        !take_name(message.name, "the name of the message") || !take_mark(':') ||
        !take_integer<std::uint16_t>(message.length, 0, max_message_length,
                                     "the message's number of bytes")) {
      return false;
    }
    if (scanner_.peek().kind == TokenKind::name && !at_statement()) {
      if (!take_name(message.sender, "the sender")) return false;
      if (message.sender == nobody) message.sender.clear();
    } else {
      complain(scanner_.peek().place, "expected the sender of the message");
    }
    if (raw == independent_raw_id) {
      current_ = independent_signals;
      return true;
    }
    message.extended = (raw & extended_bit) != 0;
    message.id = raw & ~extended_bit;
    if (message.id > (message.extended ? can::max_extended_id : can::max_standard_id)) {
      complain(place, fmt::format("identifier {:#x} has more than {} bits; message {} is left out",
                                  message.id, message.extended ? 29 : 11, message.name));
      messages_.try_emplace(raw, left_out_message);
      ++left_out_;
      return true;
    }
    if (!messages_.try_emplace(raw, file_.messages.size()).second) {
      complain(place, fmt::format("another message has identifier {:#x}; message {} is left out", message.id,
                                  message.name));
      ++left_out_;
      return true;
    }
    if (!message_names_.insert(message.name).second)
      complain(place, fmt::format("another message has the name {}", message.name));
    current_ = file_.messages.size();
    file_.messages.push_back(std::move(message));
    notes_.push_back({place, {}, {}, {}});
    return within(file_.messages.size(), max_messages, "messages");
  }

  bool read_signal() {
    const TextPosition place = scanner_.peek().place;
    Signal signal;
    Multiplexing multiplexing;
    if (current_ == no_message) return expected("a message (BO_) before its signals");
    if (!take_name(signal.name, "the name of the signal") || !take_multiplexing(signal, multiplexing) ||
        !take_mark(':') || !take_layout(signal.coding.field) || !take_scaling(signal) ||
        !take_text(signal.unit, "the unit in quotes") || !take_names(signal.receivers, true)) {
      return false;
    }
    if (current_ == left_out_message) return true;
    std::vector<Signal>& signals = signals_of(current_);
    Notes& notes = notes_of(current_);
    if (!notes.signals.try_emplace(signal.name, static_cast<std::uint32_t>(signals.size())).second) {
      complain(place, fmt::format("the message has another signal {}; this one is left out", signal.name));
      ++left_out_;
      return true;
    }
    signals.push_back(std::move(signal));
    notes.signal_places.push_back(place);
    notes.multiplexing.push_back(std::move(multiplexing));
    return within(++signal_count_, max_signals, "signals") &&
           within(signals.size(), max_signals_in_message, "signals in one message");
  }

  /// Takes nothing, M, mN or mNM.
  bool take_multiplexing(Signal& signal, Multiplexing& multiplexing) {
    if (scanner_.peek().kind != TokenKind::name) return true;
    std::string_view raw = scanner_.peek().raw;
    signal.is_selector = raw.back() == 'M';
    if (signal.is_selector) raw.remove_suffix(1);
    if (!raw.empty()) {
      multiplexing.page = raw.front() == 'm' ? to_integer<std::uint64_t>(raw.substr(1)) : std::nullopt;
      if (!multiplexing.page) return expected("':', M or m and a number");
    }
    scanner_.take();
    return true;
  }

  bool take_layout(can::BitField& field) {
    constexpr std::uint16_t last_bit = 8 * max_message_length - 1;
    std::uint8_t order = 0;
    if (!take_integer<std::uint16_t>(field.start, 0, last_bit, "the first bit of the signal") ||
        !take_mark('|') || !take_integer<std::uint8_t>(field.length, 1, 64, "the signal's number of bits") ||
        !take_mark('@') || !take_integer<std::uint8_t>(order, 0, 1, "the byte order")) {
      return false;
    }
    field.order = order == 1 ? can::ByteOrder::little : can::ByteOrder::big;
    if (try_mark('-')) {
      field.type = can::NumberType::signed_integer;
      return true;
    }
    return take_mark('+');
  }

  bool take_scaling(Signal& signal) {
    double& minimum = signal.coding.minimum;
    double& maximum = signal.coding.maximum;
    const TextPosition place = scanner_.peek().place;
    if (!take_mark('(') || !take_number(signal.coding.scale, "the scale") || !take_mark(',') ||
        !take_number(signal.coding.offset, "the offset") || !take_mark(')') || !take_mark('[') ||
        !take_number(minimum, "the minimum") || !take_mark('|') || !take_number(maximum, "the maximum") ||
        !take_mark(']')) {
      return false;
    }
    if (signal.coding.scale == 0) {
      complain(place, fmt::format("a scale must not be 0; signal {} is left out", signal.name));
      return false;
    }
    if (minimum > maximum) {
      complain(place,
               fmt::format("the minimum {} is above the maximum {}; they are swapped", minimum, maximum));
      std::swap(minimum, maximum);
    }
    return true;
  }

  bool read_senders() {
    std::size_t message = 0;
    std::vector<std::string> senders;
    if (!take_message(message) || !take_mark(':') || !take_names(senders)) return false;
    end_statement();
    if (message != independent_signals) file_.messages[message].senders = std::move(senders);
    return true;
  }

  bool read_environment_variable() {
    EnvironmentVariable variable;
    const TextPosition place = scanner_.peek().place;
    if (!take_name(variable.name, "the name of the variable") || !take_mark(':') ||
        !take_integer<std::uint32_t>(variable.type, 0, 2, "the type") || !take_mark('[') ||
        !take_number(variable.minimum, "the minimum") || !take_mark('|') ||
        !take_number(variable.maximum, "the maximum") || !take_mark(']') ||
        !take_text(variable.unit, "the unit in quotes") ||
        !take_number(variable.initial, "the initial value") ||
        !take_integer<std::uint32_t>(variable.id, 0, ~0U, "the number of the variable") ||
        !take_name(variable.access, "the access type") || !take_names(variable.nodes)) {
      return false;
    }
    end_statement();
    const auto index = static_cast<std::uint32_t>(file_.environment_variables.size());
    if (!environment_variables_.try_emplace(variable.name, index).second) {
      complain(place, fmt::format("another environment variable has the name {}; this one is left out",
                                  variable.name));
      return true;
    }
    file_.environment_variables.push_back(std::move(variable));
    return within(file_.environment_variables.size(), max_messages, "environment variables");
  }

  bool read_environment_data() {
    std::size_t variable = 0;
    std::uint32_t size = 0;
    if (!take_reference(environment_variables_, variable, "an environment variable") || !take_mark(':') ||
        !take_integer<std::uint32_t>(size, 0, ~0U, "the number of bytes")) {
      return false;
    }
    end_statement();
    file_.environment_variables[variable].data_size = size;
    return true;
  }

  bool read_comment() {
    Object object;
    std::string text;
    if (!take_object(object) || !take_text(text, "the comment in quotes")) return false;
    end_statement();
    comment_of(object) = std::move(text);
    return true;
  }

  bool read_value_table() {
    ValueTable table;
    if (!take_name(table.name, "the name of the table") || !take_values(table.values)) return false;
    file_.value_tables.push_back(std::move(table));
    return true;
  }

  bool read_value_texts() {
    Object object{ObjectKind::environment_variable, 0, 0};
    std::vector<ValueText> values;
    if (scanner_.peek().kind == TokenKind::number) {
      object.kind = ObjectKind::signal;
      if (!take_signal(object)) return false;
    } else if (!take_reference(environment_variables_, object.index, "a message or environment variable")) {
      return false;
    }
    if (!take_values(values)) return false;
    (object.kind == ObjectKind::signal ? signal_of(object).values
                                       : file_.environment_variables[object.index].values) =
        std::move(values);
    return true;
  }

  /// Takes pairs of a number and a text, and the semicolon.
  bool take_values(std::vector<ValueText>& out) {
    while (scanner_.peek().kind == TokenKind::number) {
      ValueText& row = out.emplace_back();
      constexpr auto most = std::numeric_limits<std::int64_t>::max();
      if (!take_integer<std::int64_t>(row.value, -most - 1, most, "a value") ||
          !take_text(row.text, "the text of the value in quotes") ||
          !within(out.size(), max_value_texts, "values with a text")) {
        return false;
      }
    }
    end_statement();
    return true;
  }

  bool read_signal_group() {
    std::size_t message = 0;
    SignalGroup group;
    std::vector<std::string> names;
    if (!take_message(message)) return false;
    const TextPosition place = scanner_.peek().place;
    if (!take_name(group.name, "the name of the group") ||
        !take_integer<std::uint32_t>(group.repetitions, 0, ~0U, "the number of repetitions") ||
        !take_mark(':') || !take_names(names)) {
      return false;
    }
    end_statement();
    if (message == independent_signals) return true;
    const Names& known = notes_of(message).signals;
    for (const std::string& name : names) {
      if (const auto found = known.find(name); found != known.end()) {
        group.signals.push_back(found->second);
      } else {
        complain(place, fmt::format("the message has no signal {}", name));
      }
    }
    file_.messages[message].groups.push_back(std::move(group));
    return true;
  }

  bool read_value_type() {
    Object object{ObjectKind::signal, 0, 0};
    std::uint8_t type = 0;
    if (!take_signal(object)) return false;
    try_mark(':');
    const TextPosition place = scanner_.peek().place;
    if (!take_integer<std::uint8_t>(type, 0, 2, "the type of the value")) return false;
    end_statement();
    if (type == 0) return true;
    Signal& signal = signal_of(object);
    const unsigned length = type == 1 ? 32 : 64;
    if (signal.coding.field.length == length) {
      signal.coding.field.type = type == 1 ? can::NumberType::float32 : can::NumberType::float64;
    } else {
      complain(place, fmt::format("a floating-point number has {} bits, but {} has {}; it stays an integer",
                                  length, signal.name, signal.coding.field.length));
    }
    return true;
  }

  bool read_selector_ranges() {
    Object object{ObjectKind::signal, 0, 0};
    Multiplexing multiplexing;
    if (!take_signal(object) || !take_name(multiplexing.selector, "the name of the selector")) return false;
    while (scanner_.peek().kind == TokenKind::number) {
      if (!take_range(multiplexing.ranges.emplace_back())) return false;
      try_mark(',');
    }
    if (multiplexing.ranges.empty()) return expected("the numbers of the selector");
    end_statement();
    range_count_ += multiplexing.ranges.size();
    if (!within(range_count_, max_selector_ranges, "ranges of selectors")) return false;
    normalise(multiplexing.ranges);
    Multiplexing& known = notes_of(object.index).multiplexing[object.signal];
    known.selector = std::move(multiplexing.selector);
    known.ranges = std::move(multiplexing.ranges);
    return true;
  }

  /// Takes a range such as 3-5. The scanner reads -5 as a number, which is right elsewhere.
  bool take_range(NumberRange& range) {
    constexpr std::string_view what = "a range of numbers such as 3-5";
    const auto first = to_integer<std::uint64_t>(scanner_.peek().raw);
    if (!first) return expected(what);
    scanner_.take();
    if (!try_mark('-') && !(scanner_.peek().kind == TokenKind::number && scanner_.peek().raw.front() == '-'))
      return expected(what);
    std::string_view raw = scanner_.peek().kind == TokenKind::number ? scanner_.peek().raw : "";
    if (!raw.empty() && raw.front() == '-') raw.remove_prefix(1);
    const auto last = to_integer<std::uint64_t>(raw);
    if (!last || *last < *first) return expected(what);
    scanner_.take();
    range = {*first, *last};
    return true;
  }
  // ---- after all statements were read

  void finish() {
    finish_attributes();
    finish_message_names();
    for (std::size_t i = 0; i < file_.messages.size() && !has_failed(); ++i) finish_message(i);
    finish_signal_names(independent_signals);
  }
  /// Removes the attribute that holds a long name, and returns the name; empty without one.
  static std::string take_long_name(std::vector<Attribute>& attributes, std::string_view name) {
    const auto found = std::find_if(attributes.begin(), attributes.end(),
                                    [&](const Attribute& attribute) { return attribute.name == name; });
    if (found == attributes.end() || !std::holds_alternative<std::string>(found->value)) return {};
    std::string text = std::get<std::string>(std::move(found->value));
    attributes.erase(found);
    return text;
  }

  /// Gives objects their long names if these are valid and unique.
  template <class T>
  void give_long_name(T& object, std::string_view attribute, std::set<std::string>& known,
                      TextPosition place) {
    std::string name = take_long_name(object.attributes, attribute);
    if (name.empty() || name == object.name) return;
    const bool is_name = name.size() <= max_name_length && is_readable_name(name);
    if (!is_name || !known.insert(name).second) {
      complain(place, fmt::format("the long name of {} is {}; it is left out", object.name,
                                  is_name ? "also the name of another object" : "not a valid name"));
      return;
    }
    object.short_name = std::exchange(object.name, std::move(name));
  }

  void finish_message_names() {
    for (std::size_t i = 0; i < file_.messages.size(); ++i)
      give_long_name(file_.messages[i], message_long_name, message_names_, notes_[i].place);
  }

  void finish_signal_names(std::size_t message) {
    std::vector<Signal>& signals = signals_of(message);
    std::set<std::string> known;
    for (const Signal& signal : signals) known.insert(signal.name);
    for (std::size_t i = 0; i < signals.size(); ++i)
      give_long_name(signals[i], signal_long_name, known, notes_of(message).signal_places[i]);
  }

  void finish_message(std::size_t index) {
    Message& message = file_.messages[index];
    const std::vector<bool> left_out = choose_selectors(message, notes_[index], *this);
    finish_signal_names(index);
    check_layout(message, notes_[index], left_out, *this);
    remove_signals(message, left_out);
    left_out_ += static_cast<std::size_t>(std::count(left_out.begin(), left_out.end(), true));
  }
  std::size_t statements_ = 0;
  std::size_t left_out_ = 0;

  std::size_t current_ = no_message;  ///< owner of the next signals
  std::size_t signal_count_ = 0;
  std::size_t range_count_ = 0;
  std::set<std::string> message_names_;
  std::set<std::string_view> skipped_;
};

}  // namespace

SetupResult<Reading> parse(std::string_view text, Strictness strictness) {
  if (text.size() > max_file_size) {
    return fail(can::Errc::bad_dbc, fmt::format("the file is larger than {} MiB", max_file_size >> 20));
  }
  return Parser(text, strictness).run();
}

SetupResult<Reading> load(const std::string& path, Strictness strictness) {
  const auto reason = [] { return std::error_code(errno, std::generic_category()).message(); };
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(can::Errc::bad_dbc, fmt::format("{}: the file cannot be opened: {}", path, reason()));
  std::string text;
  std::array<char, 65536> piece;
  while (text.size() <= max_file_size && file) {
    file.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad())
    return fail(can::Errc::bad_dbc, fmt::format("{}: the file cannot be read: {}", path, reason()));
  auto reading = parse(text, strictness);
  if (!reading) return fail(reading.error().error, fmt::format("{}: {}", path, reading.error().message));
  return reading;
}

}  // namespace takt::dbc
