// The content of a DBC file: the messages of a CAN network, their signals and attributes. The function
// parse() reads files as tools and people write them. The function write() returns text that parse() reads as
// equal. For decoding in a control loop, takt/dbc/database.hpp prepares the content.
//
//     const auto read = dbc::load("drive.dbc");
//     if (!read) die(read.error().message);  // "line 12, column 5: a number is expected ..."
//
//     for (const auto& warning : read->warnings) print(to_string(warning));
//
// Read and kept:
//   VERSION, BS_, BU_, BO_, SG_ (multiplexed too: M, m0, m0M), BO_TX_BU_, EV_, ENVVAR_DATA_, CM_,
//   VAL_TABLE_, VAL_, SIG_GROUP_, SIG_VALTYPE_, SG_MUL_VAL_, BA_DEF_, BA_DEF_DEF_, BA_.
//
// Other sections (attributes of relations, signal types, vendors' own) are skipped with a warning, and not
// written back. Long names (attributes SystemSignalLongSymbol, SystemMessageLongSymbol) become the names.
// Texts in the model are UTF-8; a text that is not valid UTF-8 is read as cp1252. All line ends are accepted,
// and become LF within texts.
//
// By default the reader is tolerant: it skips an invalid statement with a warning that names line, column and
// the expected input. Strict mode makes it an error. Always an error: a text without closing quote, a file
// without any statement, a file beyond the limits below.
//
// The file may contain any bytes. All functions are for set-up: they allocate, and throw only bad_alloc. Not
// for microcontrollers.
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

// Limits of a file. A file beyond them is rejected.
inline constexpr std::size_t max_file_size = std::size_t{32} << 20;  ///< bytes
inline constexpr std::size_t max_messages = 20'000;
inline constexpr std::size_t max_signals = 200'000;  ///< in all messages together
inline constexpr std::size_t max_signals_in_message = 4096;
inline constexpr std::size_t max_selector_ranges = 65'536;  ///< in all signals together, SG_MUL_VAL_
inline constexpr std::size_t max_attributes = 1024;         ///< definitions, and values of one object
inline constexpr std::size_t max_enumeration_texts = 1024;  ///< of an enumeration attribute
inline constexpr std::size_t max_value_texts = 65'536;      ///< of one signal, variable or table
inline constexpr std::size_t max_name_length = 256;         ///< bytes
inline constexpr std::size_t max_text_length = 65'536;      ///< bytes
inline constexpr std::size_t max_message_length = 1785;     ///< bytes: the limit of the J1939 transport
inline constexpr std::size_t max_multiplex_depth = 8;       ///< selectors above a signal
inline constexpr std::size_t max_warnings = 1000;  ///< listed warnings; further ones are only counted

/// The value of an attribute: an integer (also the index of an enumeration text), a number, or a text.
using AttributeValue = std::variant<std::int64_t, double, std::string>;

/// The kind of object that has an attribute.
enum class ObjectKind : std::uint8_t { network, node, message, signal, environment_variable };

/// The type of the values of an attribute.
enum class AttributeType : std::uint8_t { integer, hexadecimal, number, text, enumeration };

/// An attribute of an object: its name and value.
struct Attribute {
  std::string name;
  AttributeValue value;

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// The definition of an attribute: its type, range and default.
struct AttributeDefinition {
  std::string name;
  ObjectKind object = ObjectKind::network;
  AttributeType type = AttributeType::integer;
  double minimum = 0;  ///< 0 together with `maximum`: no range
  double maximum = 0;
  std::vector<std::string> texts;  ///< of an enumeration
  std::optional<AttributeValue> default_value;

  friend bool operator==(const AttributeDefinition&, const AttributeDefinition&) = default;
};

/// The text for a number: a row of VAL_ or VAL_TABLE_.
struct ValueText {
  std::int64_t value = 0;
  std::string text;

  friend bool operator==(const ValueText&, const ValueText&) = default;
};

/// A named table of texts.
struct ValueTable {
  std::string name;
  std::vector<ValueText> values;

  friend bool operator==(const ValueTable&, const ValueTable&) = default;
};

/// A range of selector values, both ends included.
struct NumberRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  friend bool operator==(const NumberRange&, const NumberRange&) = default;
};

/// A signal of a message.
struct Signal {
  std::string name;
  std::string short_name;    ///< name in the file's statements, if `name` is a long name
  can::SignalCoding coding;  ///< position, type, scale, offset and range ([0|0] in the file: none)
  std::string unit;
  std::vector<std::string> receivers;
  bool is_selector = false;                  ///< its number selects other signals
  std::optional<std::uint32_t> selected_by;  ///< index of that signal in the message
  std::vector<NumberRange> selected_for;     ///< in rising order; empty: always in the frame
  std::vector<ValueText> values;
  std::string comment;
  std::vector<Attribute> attributes;

  friend bool operator==(const Signal&, const Signal&) = default;
};

/// A named group of signals of a message.
struct SignalGroup {
  std::string name;
  std::uint32_t repetitions = 1;
  std::vector<std::uint32_t> signals;  ///< indexes

  friend bool operator==(const SignalGroup&, const SignalGroup&) = default;
};

/// A message with its signals.
struct Message {
  std::uint32_t id = 0;  ///< 11 bits, or 29 when `extended`
  bool extended = false;
  std::string name;
  std::string short_name;            ///< as in Signal
  std::uint16_t length = 0;          ///< bytes: up to 8 classic, 64 FD, 1785 with the J1939 transport
  std::string sender;                ///< empty: not named
  std::vector<std::string> senders;  ///< if there are several (BO_TX_BU_)
  std::vector<Signal> signals;
  std::vector<SignalGroup> groups;
  std::string comment;
  std::vector<Attribute> attributes;

  /// Returns the index of a signal by name; nullopt if there is none.
  [[nodiscard]] std::optional<std::size_t> find_signal(std::string_view signal) const noexcept;

  friend bool operator==(const Message&, const Message&) = default;
};

/// A node of the network.
struct Node {
  std::string name;
  std::string comment;
  std::vector<Attribute> attributes;

  friend bool operator==(const Node&, const Node&) = default;
};

/// An environment variable.
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
  std::uint32_t data_size = 0;  ///< bytes, if it is data (ENVVAR_DATA_)
  std::vector<ValueText> values;
  std::string comment;
  std::vector<Attribute> attributes;

  friend bool operator==(const EnvironmentVariable&, const EnvironmentVariable&) = default;
};

/// The whole content of a file.
struct File {
  std::string version;
  std::vector<std::uint32_t> bit_timing;  ///< BS_: bit rate and two registers; mostly empty
  std::vector<Node> nodes;
  std::vector<Message> messages;            ///< identifiers are unique
  std::vector<Signal> independent_signals;  ///< without a message (VECTOR__INDEPENDENT_SIG_MSG)
  std::vector<EnvironmentVariable> environment_variables;
  std::vector<ValueTable> value_tables;
  std::vector<AttributeDefinition> attribute_definitions;
  std::string comment;
  std::vector<Attribute> attributes;

  friend bool operator==(const File&, const File&) = default;
};

/// A place in the text; both count from 1, the column in bytes.
struct TextPosition {
  std::size_t line = 0;
  std::size_t column = 0;
};

/// A warning: the place and the text.
struct Warning {
  TextPosition place;
  std::string text;  ///< the mistake, the allowed values, and how it was read
};

/// Returns the warning as "line 12, column 5: ...".
[[nodiscard]] std::string to_string(const Warning& warning);

/// The result of reading: the content and the warnings.
struct Reading {
  File file;
  std::vector<Warning> warnings;  ///< the first max_warnings warnings
  std::size_t more_warnings = 0;  ///< number of warnings that are not listed
  std::size_t left_out = 0;       ///< number of messages and signals of the text that `file` lacks
};

/// The treatment of invalid statements.
enum class Strictness : std::uint8_t {
  tolerant,  ///< invalid statements are skipped with a warning
  strict,    ///< also an error: overlapping signals, too short messages, unknown names
};

/// Reads the text of a file. Error: bad_dbc; its message starts with the place.
[[nodiscard]] SetupResult<Reading> parse(std::string_view text, Strictness strictness = Strictness::tolerant);

/// Reads a file. Error: bad_dbc; its message starts with the file and the place.
[[nodiscard]] SetupResult<Reading> load(const std::string& path,
                                        Strictness strictness = Strictness::tolerant);

/// Returns the text of a file that parse() reads as equal. This is verified before it returns, so that
/// no name, text or number is lost silently. UTF-8; lines end with LF. Error: bad_dbc (the format cannot
/// express the model).
[[nodiscard]] SetupResult<std::string> write(const File& file);

/// Returns the attribute of that name from `own`, the object's attributes, or its default; null without both.
[[nodiscard]] const AttributeValue* find_attribute(const File& file, ObjectKind kind,
                                                   const std::vector<Attribute>& own,
                                                   std::string_view name) noexcept;

/// Returns the period of a cyclic message (GenMsgCycleTime); nullopt without one.
[[nodiscard]] std::optional<Duration> cycle_time(const File& file, const Message& message) noexcept;

// VFrameFormat is an enumeration, or an integer with the numbers of Vector's enumeration: 0 StandardCAN, 1
// ExtendedCAN, 3 J1939PG, 14 StandardCAN_FD, 15 ExtendedCAN_FD.

/// Returns whether the message is sent in FD frames: by VFrameFormat, or because it has more than 8 bytes
/// without J1939.
[[nodiscard]] bool is_fd(const File& file, const Message& message) noexcept;

/// Returns whether the message is a J1939 message: by VFrameFormat, or by ProtocolType of the network. Its
/// parameter group then identifies it, for every sender, if no other message of the file has the same group.
[[nodiscard]] bool is_j1939(const File& file, const Message& message) noexcept;

}  // namespace takt::dbc
