// What a DBC file says: the messages of a CAN network, their signals, and what is written about them. parse()
// reads a file as the field's tools write them and its people edit them; write() gives back text that reads
// again as equal. takt/dbc/database.hpp makes of it what a control loop decodes frames with.
//
//     const auto read = dbc::load("drive.dbc");
//     if (!read) die(read.error().message);                  // "line 12, column 5: a number is expected ..."
//     for (const auto& warning : read->warnings) print(to_string(warning));
//
// Read and kept:
//     VERSION, BS_, BU_, BO_, SG_ (multiplexed too: M, m0, m0M), BO_TX_BU_, EV_, ENVVAR_DATA_, CM_, VAL_TABLE_,
//     VAL_, SIG_GROUP_, SIG_VALTYPE_, SG_MUL_VAL_, BA_DEF_, BA_DEF_DEF_, BA_.
// Any other section (attributes of relations, signal types, vendors' own) is skipped with a warning, and so not written back.
// Long names (attributes SystemSignalLongSymbol, SystemMessageLongSymbol) become the names. Text is UTF-8 in the model. A
// text of a file that is no valid UTF-8 is read as cp1252. Any line end is read; in texts it becomes LF.
//
// Tolerant unless asked to be strict: a statement that makes no sense is skipped with a warning that names
// line, column and what is expected; strict makes an error of it. What no reader can mend is an error always:
// a text without its closing quote, a file without a single statement, one beyond the limits below.
//
// The file comes from outside and may be anything. All of this is set-up: it allocates, and throws nothing but
// bad_alloc. Nothing of it is for microcontrollers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "takt/can/error.hpp"
#include "takt/can/signal.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"

namespace takt::dbc {

// Limits of a file. Beyond them it is refused, whoever wrote it.
inline constexpr std::size_t max_file_size = std::size_t{32} << 20;  ///< bytes
inline constexpr std::size_t max_messages = 20'000;
inline constexpr std::size_t max_signals = 200'000;  ///< of all messages together
inline constexpr std::size_t max_signals_in_message = 4096;
inline constexpr std::size_t max_selector_ranges = 65'536;  ///< of all signals together, SG_MUL_VAL_
inline constexpr std::size_t max_attributes = 1024;         ///< defined, and of one object
inline constexpr std::size_t max_enumeration_texts = 1024;  ///< of an attribute that is one of them
inline constexpr std::size_t max_value_texts = 65'536;      ///< of one signal, variable or table
inline constexpr std::size_t max_name_length = 256;         ///< bytes
inline constexpr std::size_t max_text_length = 65'536;      ///< bytes
inline constexpr std::size_t max_message_length = 1785;     ///< bytes: the longest J1939 transport carries
inline constexpr std::size_t max_multiplex_depth = 8;       ///< selectors above a signal
inline constexpr std::size_t max_warnings = 1000;           ///< listed; further ones are only counted

/// An attribute's value: an integer (also the index into the texts of an enumeration), a number, or a text.
using AttributeValue = std::variant<std::int64_t, double, std::string>;

/// What an attribute belongs to.
enum class ObjectKind : std::uint8_t { network, node, message, signal, environment_variable };

enum class AttributeType : std::uint8_t { integer, hexadecimal, number, text, enumeration };

struct Attribute {
  std::string name;
  AttributeValue value;

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

struct AttributeDefinition {
  std::string name;
  ObjectKind object = ObjectKind::network;
  AttributeType type = AttributeType::integer;
  double minimum = 0;  ///< both 0: no range is given
  double maximum = 0;
  std::vector<std::string> texts;  ///< of an enumeration
  std::optional<AttributeValue> default_value;

  friend bool operator==(const AttributeDefinition&, const AttributeDefinition&) = default;
};

/// What a number means: a row of VAL_ and VAL_TABLE_.
struct ValueText {
  std::int64_t value = 0;
  std::string text;

  friend bool operator==(const ValueText&, const ValueText&) = default;
};

struct ValueTable {
  std::string name;
  std::vector<ValueText> values;

  friend bool operator==(const ValueTable&, const ValueTable&) = default;
};

/// Numbers of a selector, both ends included.
struct SelectorRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  friend bool operator==(const SelectorRange&, const SelectorRange&) = default;
};

struct Signal {
  std::string name;
  std::string short_name;  ///< the one in the statements of the file, where the name is a long one
  can::Signal coding;      ///< where it lies, its type, scale, offset and range ([0|0] in the file: none)
  std::string unit;
  std::vector<std::string> receivers;
  bool is_selector = false;                  ///< its number chooses which other signals are there
  std::optional<std::uint32_t> selected_by;  ///< index of that signal in the message
  std::vector<SelectorRange> selected_for;   ///< in rising order; empty: always there
  std::vector<ValueText> values;
  std::string comment;
  std::vector<Attribute> attributes;

  friend bool operator==(const Signal&, const Signal&) = default;
};

struct SignalGroup {
  std::string name;
  std::uint32_t repetitions = 1;
  std::vector<std::uint32_t> signals;  ///< indexes

  friend bool operator==(const SignalGroup&, const SignalGroup&) = default;
};

struct Message {
  std::uint32_t id = 0;  ///< 11 bits, or 29 when `extended`
  bool extended = false;
  std::string name;
  std::string short_name;            ///< as of a signal
  std::uint16_t length = 0;          ///< bytes: up to 8 classic, 64 FD, 1785 by J1939 transport
  std::string sender;                ///< empty: none is named
  std::vector<std::string> senders;  ///< where there are several (BO_TX_BU_)
  std::vector<Signal> signals;
  std::vector<SignalGroup> groups;
  std::string comment;
  std::vector<Attribute> attributes;

  /// The index of a signal by its name.
  [[nodiscard]] std::optional<std::size_t> find_signal(std::string_view signal) const noexcept;

  friend bool operator==(const Message&, const Message&) = default;
};

struct Node {
  std::string name;
  std::string comment;
  std::vector<Attribute> attributes;

  friend bool operator==(const Node&, const Node&) = default;
};

struct EnvironmentVariable {
  std::string name;
  std::uint32_t type = 0;  ///< 0 integer, 1 number, 2 text
  double minimum = 0;
  double maximum = 0;
  std::string unit;
  double initial = 0;
  std::uint32_t id = 0;
  std::string access;  ///< DUMMY_NODE_VECTOR0, ...
  std::vector<std::string> nodes;
  std::uint32_t data_size = 0;  ///< bytes, where it is data (ENVVAR_DATA_)
  std::vector<ValueText> values;
  std::string comment;
  std::vector<Attribute> attributes;

  friend bool operator==(const EnvironmentVariable&, const EnvironmentVariable&) = default;
};

struct File {
  std::string version;
  std::vector<std::uint32_t> bit_timing;  ///< BS_: bit rate and two registers; mostly empty
  std::vector<Node> nodes;
  std::vector<Message> messages;            ///< no two with the same identifier
  std::vector<Signal> independent_signals;  ///< of no message (VECTOR__INDEPENDENT_SIG_MSG)
  std::vector<EnvironmentVariable> environment_variables;
  std::vector<ValueTable> value_tables;
  std::vector<AttributeDefinition> attribute_definitions;
  std::string comment;
  std::vector<Attribute> attributes;

  friend bool operator==(const File&, const File&) = default;
};

/// A place in the text, from 1; the column in bytes.
struct Place {
  std::size_t line = 0;
  std::size_t column = 0;
};

struct Warning {
  Place place;
  std::string text;  ///< what is wrong, what is allowed, what was made of it
};

/// "line 12, column 5: ..."
[[nodiscard]] std::string to_string(const Warning& warning);

/// What was read, and what of it was not as it should be.
struct Reading {
  File file;
  std::vector<Warning> warnings;  ///< the first max_warnings
  std::size_t more_warnings = 0;  ///< that are not listed
  std::size_t left_out = 0;       ///< messages and signals of the text that `file` lacks
};

enum class Strictness : std::uint8_t {
  tolerant,  ///< what makes no sense is skipped with a warning
  strict,    ///< ... is an error: overlapping signals, too short messages, unknown names, bad statements
};

/// Error: bad_dbc; its message begins with the place.
[[nodiscard]] SetupResult<Reading> parse(std::string_view text, Strictness strictness = Strictness::tolerant);

/// The same from a file.
[[nodiscard]] SetupResult<Reading> load(const std::string& path,
                                        Strictness strictness = Strictness::tolerant);

/// The text of a file that parse() reads as equal to this one: that is tried before it is returned, so that no
/// name, text or number is lost without a word. UTF-8, lines end with LF. Error: bad_dbc, where the format cannot
/// say what the model holds.
[[nodiscard]] SetupResult<std::string> write(const File& file);

/// The attribute of that name: of the object that `own` belongs to, or its default; null if there is neither.
[[nodiscard]] const AttributeValue* find_attribute(const File& file, ObjectKind kind,
                                                   const std::vector<Attribute>& own,
                                                   std::string_view name) noexcept;

/// The time between two frames of a message that is sent cyclically (GenMsgCycleTime).
[[nodiscard]] std::optional<Duration> cycle_time(const File& file, const Message& message) noexcept;

// VFrameFormat is an enumeration, or an integer with the numbers of Vector's one: 0 StandardCAN, 1 ExtendedCAN, 3 J1939PG,
// 14 StandardCAN_FD, 15 ExtendedCAN_FD.

/// Whether the message is sent in FD frames (VFrameFormat, or more than 8 bytes without being of J1939).
[[nodiscard]] bool is_fd(const File& file, const Message& message) noexcept;

/// Whether the message is one of SAE J1939 (VFrameFormat, or ProtocolType of the network), known by the
/// parameter group number in its identifier whoever sends it, if no other message of the file has that.
[[nodiscard]] bool is_j1939(const File& file, const Message& message) noexcept;

}  // namespace takt::dbc
