#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "dbc/complaints.hpp"
#include "dbc/layout.hpp"
#include "dbc/scanner.hpp"
#include "dbc/values.hpp"
#include "dbc/words.hpp"
#include "takt/dbc/file.hpp"

namespace takt::dbc {
namespace {

/// The identifier of a message in the file: bit 31 marks 29 bits.
using RawId = std::uint32_t;

constexpr std::size_t independent_signals = ~std::size_t{0};  ///< used instead of the index of a message
constexpr std::size_t left_out_message = independent_signals - 1;
constexpr std::size_t no_message = independent_signals - 2;

/// The object of a BA_, CM_ or VAL_ statement.
struct Object {
  ObjectKind kind = ObjectKind::network;
  std::size_t index = 0;   ///< index of the node, message or variable
  std::size_t signal = 0;  ///< index in the message

  friend bool operator<(const Object& a, const Object& b) noexcept {
    return std::tie(a.kind, a.index, a.signal) < std::tie(b.kind, b.index, b.signal);
  }
};

struct PendingAttribute {
  Token name;
  Object object;
  Token value;
};

/// Reads `file_` statement by statement. A function that reads a statement returns false on failure. The rest
/// of the statement is then skipped, and the reason is a warning or the error.
class Parser : private Complaints {
 public:
  Parser(std::string_view text, Strictness strictness) : Complaints(strictness), scanner_(text) {}

  SetupResult<Reading> run() {
    while (!has_failed() && scanner_.peek().kind != TokenKind::end) read_statement();
    if (!has_failed() && statements_ == 0) refuse(scanner_.peek().place, "the file has no DBC statement");
    if (!has_failed()) finish();
    if (has_failed()) return fail(can::Errc::bad_dbc, to_string(error()));
    return Reading{std::move(file_), take_warnings(), more_warnings(), left_out_};
  }

 private:
  using Statement = bool (Parser::*)();

  // ---- tokens

  bool expected(std::string_view what) {
    const Token& found = scanner_.peek();
    if (found.kind == TokenKind::open_text) {
      refuse(found.place, "the text that begins here has no closing quote");
    } else {
      complain(found.place,
               fmt::format("expected {}, found {}; the statement is skipped", what, shown(found)));
    }
    return false;
  }
  [[nodiscard]] bool within(std::size_t count, std::size_t most, std::string_view what) {
    if (count <= most) return true;
    refuse(scanner_.peek().place, fmt::format("there are more than {} {}", most, what));
    return false;
  }

  bool try_mark(char mark) {
    if (!scanner_.peek().is(mark)) return false;
    scanner_.take();
    return true;
  }
  bool take_mark(char mark) { return try_mark(mark) || expected(fmt::format("'{}'", mark)); }

  bool take_name(std::string& out, std::string_view what) {
    if (scanner_.peek().kind != TokenKind::name) return expected(what);
    const Token token = scanner_.take();
    if (is_strict() && !is_identifier(token.raw)) {
      refuse(token.place, fmt::format("{} is not a name: letters, digits and _ are allowed", shown(token)));
      return false;
    }
    out = to_utf8(token.raw);
    return within(out.size(), max_name_length, "bytes in a name");
  }
  bool take_text(std::string& out, std::string_view what) {
    if (scanner_.peek().kind != TokenKind::text) return expected(what);
    out = unquoted(scanner_.take().raw);
    return within(out.size(), max_text_length, "bytes in a text");
  }
  bool take_number(double& out, std::string_view what) {
    const auto number =
        scanner_.peek().kind == TokenKind::number ? to_number(scanner_.peek().raw) : std::nullopt;
    if (!number) return expected(what);
    scanner_.take();
    out = *number;
    return true;
  }
  template <class T>
  bool take_integer(T& out, T least, T most, std::string_view what) {
    const auto number =
        scanner_.peek().kind == TokenKind::number ? to_integer<T>(scanner_.peek().raw) : std::nullopt;
    if (!number || *number < least || *number > most)
      return expected(fmt::format("{} ({} to {})", what, least, most));
    scanner_.take();
    out = *number;
    return true;
  }
  /// Takes names, with or without commas between them. With `one_line`, names on further lines need a comma.
  bool take_names(std::vector<std::string>& out, bool one_line = false) {
    bool may_end = one_line;
    while (!at_statement() && (scanner_.peek().kind == TokenKind::name || scanner_.peek().is(','))) {
      if (may_end && scanner_.peek().first_on_line) return true;
      may_end = one_line && !scanner_.peek().is(',');
      if (try_mark(',')) continue;
      std::string name;
      if (!take_name(name, "a name")) return false;
      if (name != nobody) out.push_back(std::move(name));
    }
    return true;
  }
  /// Takes the semicolon of a statement; reports anything before it.
  void end_statement() {
    if (try_mark(';')) return;
    const Token& found = scanner_.peek();
    if (found.kind == TokenKind::open_text) {
      expected("';'");
    } else {
      complain(found.place, fmt::format("expected ';', found {}", shown(found)));
    }
    skip_statement();
  }

  // ---- statements

  [[nodiscard]] bool at_statement() const {
    const Token& next = scanner_.peek();
    return next.kind == TokenKind::name && next.first_on_line && is_keyword(next.raw);
  }
  void skip_statement() {
    while (!has_failed() && scanner_.peek().kind != TokenKind::end && !at_statement()) {
      if (scanner_.peek().kind == TokenKind::open_text) expected("a text");
      if (scanner_.take().is(';')) return;
    }
  }

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

  bool read_attribute_definition() {
    AttributeDefinition definition;
    const Token word = scanner_.peek();
    for (const auto& [keyword, kind] : object_kinds) {
      if (word.is(keyword)) definition.object = kind;
    }
    if (word.kind == TokenKind::name) scanner_.take();
    if (word.kind == TokenKind::name && definition.object == ObjectKind::network)
      return expected("the attribute's name after BU_, BO_, SG_, EV_ or nothing");
    const TextPosition place = scanner_.peek().place;
    if (!take_text(definition.name, "the name of the attribute in quotes") ||
        !take_attribute_type(definition))
      return false;
    end_statement();
    const auto key = std::pair(definition.object, definition.name);
    if (!definitions_.try_emplace(key, file_.attribute_definitions.size()).second) {
      complain(place, fmt::format("attribute {} is defined twice; this one is left out", definition.name));
      return true;
    }
    file_.attribute_definitions.push_back(std::move(definition));
    return within(file_.attribute_definitions.size(), max_attributes, "attributes");
  }

  bool take_attribute_type(AttributeDefinition& definition) {
    const Token word = scanner_.peek();
    const auto found = std::find_if(attribute_types.begin(), attribute_types.end(),
                                    [&](const auto& entry) { return word.is(entry.first); });
    if (found == attribute_types.end()) return expected("INT, HEX, FLOAT, STRING or ENUM");
    scanner_.take();
    definition.type = found->second;
    if (definition.type == AttributeType::enumeration) {
      while (scanner_.peek().kind == TokenKind::text) {
        if (!take_text(definition.texts.emplace_back(), "a text") ||
            !within(definition.texts.size(), max_enumeration_texts, "texts of one attribute"))
          return false;
        try_mark(',');
      }
    } else if (definition.type != AttributeType::text && scanner_.peek().kind == TokenKind::number) {
      return take_number(definition.minimum, "the minimum") && take_number(definition.maximum, "the maximum");
    }
    return true;
  }

  /// Takes the value of an attribute. It is parsed later, when its definition is known.
  bool take_value(Token& out) {
    const Token& next = scanner_.peek();
    if (next.kind != TokenKind::number && next.kind != TokenKind::text)
      return expected("the value of the attribute");
    if (!within(next.raw.size(), max_text_length, "bytes in a text")) return false;
    out = scanner_.take();
    return true;
  }

  bool take_attribute_name(Token& out) {
    if (scanner_.peek().kind != TokenKind::text) return expected("the name of the attribute in quotes");
    if (!within(scanner_.peek().raw.size(), max_text_length, "bytes in a text")) return false;
    out = scanner_.take();
    return true;
  }

  bool read_attribute_default() {
    PendingAttribute attribute;
    if (!take_attribute_name(attribute.name) || !take_value(attribute.value)) return false;
    end_statement();
    defaults_.push_back(attribute);
    return true;
  }

  bool read_attribute() {
    PendingAttribute attribute;
    if (!take_attribute_name(attribute.name) || !take_object(attribute.object) ||
        !take_value(attribute.value)) {
      return false;
    }
    end_statement();
    attributes_.push_back(attribute);
    return true;
  }

  // ---- objects

  [[nodiscard]] std::vector<Signal>& signals_of(std::size_t message) noexcept {
    return message == independent_signals ? file_.independent_signals : file_.messages[message].signals;
  }
  [[nodiscard]] Notes& notes_of(std::size_t message) noexcept {
    return message == independent_signals ? independent_notes_ : notes_[message];
  }
  [[nodiscard]] Signal& signal_of(const Object& object) noexcept {
    return signals_of(object.index)[object.signal];
  }

  /// Takes the identifier of a known message. A skipped message was reported before, so it is not reported
  /// again.
  bool take_message(std::size_t& index) {
    const TextPosition place = scanner_.peek().place;
    RawId raw = 0;
    if (!take_integer<RawId>(raw, 0, ~RawId{0}, "the identifier of a message")) return false;
    if (raw == independent_raw_id) {
      index = independent_signals;
      return true;
    }
    const auto found = messages_.find(raw);
    if (found == messages_.end()) complain(place, fmt::format("there is no message {}", raw));
    if (found == messages_.end() || found->second == left_out_message) return false;
    index = found->second;
    return true;
  }

  bool take_signal(Object& object) {
    return take_message(object.index) &&
           take_reference(notes_of(object.index).signals, object.signal, "a signal of the message");
  }

  bool take_reference(const Names& known, std::size_t& index, std::string_view what) {
    const TextPosition place = scanner_.peek().place;
    std::string name;
    if (!take_name(name, what)) return false;
    const auto found = known.find(name);
    if (found == known.end()) {
      complain(place, fmt::format("{} is not {}", name, what));
      return false;
    }
    index = found->second;
    return true;
  }

  bool take_object(Object& object) {
    const Token word = scanner_.peek();
    if (word.kind != TokenKind::name) return true;
    const auto found = std::find_if(object_kinds.begin(), object_kinds.end(),
                                    [&](const auto& entry) { return word.is(entry.first); });
    if (found == object_kinds.end()) return expected("BU_, BO_, SG_, EV_ or a text");
    scanner_.take();
    object.kind = found->second;
    switch (object.kind) {
      case ObjectKind::node:
        return take_reference(nodes_, object.index, "a node");
      case ObjectKind::message:
        return take_message(object.index) && object.index != independent_signals;
      case ObjectKind::signal:
        return take_signal(object);
      case ObjectKind::environment_variable:
        return take_reference(environment_variables_, object.index, "an environment variable");
      case ObjectKind::network:
        break;
    }
    return true;
  }

  std::string& comment_of(const Object& object) noexcept {
    switch (object.kind) {
      case ObjectKind::node:
        return file_.nodes[object.index].comment;
      case ObjectKind::message:
        return file_.messages[object.index].comment;
      case ObjectKind::signal:
        return signal_of(object).comment;
      case ObjectKind::environment_variable:
        return file_.environment_variables[object.index].comment;
      case ObjectKind::network:
        break;
    }
    return file_.comment;
  }

  std::vector<Attribute>& attributes_of(const Object& object) noexcept {
    switch (object.kind) {
      case ObjectKind::node:
        return file_.nodes[object.index].attributes;
      case ObjectKind::message:
        return file_.messages[object.index].attributes;
      case ObjectKind::signal:
        return signal_of(object).attributes;
      case ObjectKind::environment_variable:
        return file_.environment_variables[object.index].attributes;
      case ObjectKind::network:
        break;
    }
    return file_.attributes;
  }

  // ---- after all statements were read

  void finish() {
    for (const PendingAttribute& attribute : defaults_) finish_default(attribute);
    for (std::size_t i = 0; i < attributes_.size() && !has_failed(); ++i) finish_attribute(attributes_[i]);
    finish_message_names();
    for (std::size_t i = 0; i < file_.messages.size() && !has_failed(); ++i) finish_message(i);
    finish_signal_names(independent_signals);
  }

  void finish_default(const PendingAttribute& attribute) {
    const std::string name = unquoted(attribute.name.raw);
    bool is_defined = false;
    for (const auto kind : {ObjectKind::network, ObjectKind::node, ObjectKind::message, ObjectKind::signal,
                            ObjectKind::environment_variable}) {
      const auto found = definitions_.find(std::pair(kind, name));
      if (found == definitions_.end()) continue;
      is_defined = true;
      AttributeDefinition& definition = file_.attribute_definitions[found->second];
      // Tools write "" for an enumeration without a default.
      const bool is_enumeration = definition.type == AttributeType::enumeration;
      if (is_enumeration && attribute.value.kind == TokenKind::text && attribute.value.raw.empty() &&
          std::find(definition.texts.begin(), definition.texts.end(), "") == definition.texts.end())
        continue;
      if (auto value = value_of(attribute.value, &definition, *this))
        definition.default_value = std::move(value);
    }
    if (!is_defined) complain(attribute.name.place, fmt::format("attribute {} is not defined", name));
  }

  void finish_attribute(const PendingAttribute& attribute) {
    const std::string name = unquoted(attribute.name.raw);
    const auto found = definitions_.find(std::pair(attribute.object.kind, name));
    const AttributeDefinition* definition = nullptr;
    if (found != definitions_.end()) {
      definition = &file_.attribute_definitions[found->second];
    } else {
      complain(attribute.name.place,
               fmt::format("attribute {} is not defined for this kind of object", name));
    }
    auto value = value_of(attribute.value, definition, *this);
    if (!value) return;
    std::vector<Attribute>& attributes = attributes_of(attribute.object);
    const auto [known, is_first] = given_.try_emplace({attribute.object, name}, attributes.size());
    if (!is_first) {
      complain(attribute.name.place,
               fmt::format("attribute {} is given twice; the later value is used", name));
      attributes[known->second].value = std::move(*value);
    } else if (attributes.size() == max_attributes) {
      refuse(attribute.name.place, fmt::format("an object has more than {} attributes", max_attributes));
    } else {
      attributes.push_back({name, std::move(*value)});
    }
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

  Scanner scanner_;
  File file_;
  std::size_t statements_ = 0;
  std::size_t left_out_ = 0;

  std::size_t current_ = no_message;  ///< owner of the next signals
  std::size_t signal_count_ = 0;
  std::size_t range_count_ = 0;
  std::map<RawId, std::size_t> messages_;
  std::set<std::string> message_names_;
  std::vector<Notes> notes_;
  Notes independent_notes_;
  Names nodes_;
  Names environment_variables_;
  std::map<std::pair<ObjectKind, std::string>, std::size_t> definitions_;
  std::vector<PendingAttribute> defaults_;
  std::vector<PendingAttribute> attributes_;
  std::map<std::pair<Object, std::string>, std::size_t> given_;  ///< index among the object's attributes
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
