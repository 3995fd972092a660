// Tests DBC files as they occur: every feature of the format, quirks of vendors' tools, and files that cannot
// be read.
#include "takt/dbc/file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "support/source_dir.hpp"
#include "takt/can/frame.hpp"

using namespace takt;
using namespace takt::can;
using dbc::ObjectKind;
using dbc::Strictness;
using namespace std::string_literals;

namespace {

const std::string folder = TAKT_SOURCE_DIR "/tests/dbc/";

const dbc::Message& message(const dbc::File& file, std::string_view name) {
  const auto found = std::find_if(file.messages.begin(), file.messages.end(),
                                  [&](const dbc::Message& each) { return each.name == name; });
  REQUIRE(found != file.messages.end());
  return *found;
}

const dbc::Signal& signal(const dbc::Message& in, std::string_view name) {
  const auto index = in.find_signal(name);
  REQUIRE(index.has_value());
  return in.signals[*index];
}

dbc::Reading features() {
  auto reading = dbc::load(folder + "features.dbc", Strictness::strict);
  REQUIRE_MESSAGE(reading.has_value(), reading.error().message);
  return std::move(*reading);
}

/// Returns a file with one message, whose one signal is `layout`.
std::string one_signal(const std::string& layout) { return "BO_ 1 M: 8 X\n SG_ s " + layout + " \"\" Y\n"; }

/// Returns the warnings of a tolerant reader, which must succeed.
std::string first_warning(const std::string& text) {
  const auto reading = dbc::parse(text);
  REQUIRE_MESSAGE(reading.has_value(), reading.error().message);
  return reading->warnings.empty() ? "" : to_string(reading->warnings.front());
}

bool is_in(const std::string& part, const std::string& text) { return text.find(part) != std::string::npos; }

std::string strict_error(const std::string& text) {
  const auto reading = dbc::parse(text, Strictness::strict);
  REQUIRE_FALSE(reading.has_value());
  CHECK(reading.error().error == Errc::bad_dbc);
  return reading.error().message;
}

}  // namespace

TEST_CASE("a file with every feature is read without a complaint") {
  const dbc::Reading reading = features();
  CHECK(reading.warnings.empty());
  const dbc::File& file = reading.file;
  CHECK(file.version == "1.2 of the bench");
  CHECK(file.bit_timing == std::vector<std::uint32_t>{500000, 1, 2});
  REQUIRE(file.nodes.size() == 3);
  CHECK(file.nodes[0].comment == "sends; the others answer");
  REQUIRE(file.value_tables.size() == 2);
  CHECK(file.value_tables[0].values == std::vector<dbc::ValueText>{{1, "on"}, {0, "off"}});
  CHECK(file.messages.size() == 5);
  CHECK(file.comment ==
        "The whole bench.\n\nBO_ 1 NotAMessage: 8 Nobody\n"
        " SG_ not_a_signal : 0|8@1+ (1,0) [0|0] \"\" Nobody\n; and a \"quotation\"");
}

TEST_CASE("layout, scale, range, unit and receivers of a signal are read") {
  const dbc::Reading reading = features();
  const dbc::Message& status = message(reading.file, "MotorStatus");
  CHECK(status.id == 256);
  CHECK_FALSE(status.extended);
  CHECK(status.length == 8);
  CHECK(status.sender == "Drive_Left");
  CHECK(status.senders == std::vector<std::string>{"Drive_Left", "Drive_Right"});
  CHECK(status.comment == "every cycle");

  const dbc::Signal& velocity = signal(status, "velocity");
  CHECK(velocity.coding ==
        SignalCoding{{0, 16, ByteOrder::little, NumberType::signed_integer}, 0.025, 0, -800, 800});
  CHECK(velocity.unit == "rad/s");
  CHECK(velocity.receivers == std::vector<std::string>{"Master", "Drive_Right"});
  CHECK(velocity.comment == "of the shaft,\nbehind the gear");

  CHECK(signal(status, "current").coding ==
        SignalCoding{{23, 12, ByteOrder::big, NumberType::signed_integer}, 0.01, 0.5, -20, 20});
  CHECK(signal(status, "temperature").unit == "°C");
  CHECK(signal(status, "reversed").coding.scale == -0.1);
  CHECK(signal(status, "reversed").coding.offset == 15);
  CHECK_FALSE(signal(status, "state").coding.has_range());
  CHECK(signal(status, "ok").receivers.empty());
  REQUIRE(status.groups.size() == 1);
  CHECK(status.groups[0] == dbc::SignalGroup{"Measured", 1, {0, 1}});
}

TEST_CASE("value texts have negative numbers, semicolons and quotes") {
  const dbc::Reading reading = features();
  const std::vector<dbc::ValueText> expected = {
      {-1, "fault; see \"manual\""}, {0, "off"}, {7, "on"}, {100, "outside the field"}};
  CHECK(signal(message(reading.file, "MotorStatus"), "state").values == expected);
}

TEST_CASE("multiplexed signals know their selector and its numbers") {
  const dbc::Reading reading = features();
  const dbc::Message& simple = message(reading.file, "Multiplexed");
  CHECK(signal(simple, "page").is_selector);
  CHECK_FALSE(signal(simple, "always").selected_by.has_value());
  CHECK(signal(simple, "third").selected_by == 0);
  CHECK(signal(simple, "third").selected_for == std::vector<dbc::NumberRange>{{1, 1}});

  const dbc::Message& nested = message(reading.file, "Nested");
  CHECK(nested.extended);
  CHECK(nested.id == 512);
  CHECK(signal(nested, "branch").is_selector);
  CHECK(signal(nested, "branch").selected_by == 0);
  CHECK(signal(nested, "leaf_0").selected_for == std::vector<dbc::NumberRange>{{0, 0}, {3, 9}});
  CHECK(signal(nested, "leaf_1_low").selected_by == 2);
  CHECK(signal(nested, "leaf_1_low").selected_for == std::vector<dbc::NumberRange>{{0, 6}, {200, 255}});
}

TEST_CASE("floating-point signals, signals of no message and long names are read") {
  const dbc::Reading reading = features();
  const dbc::Message& floats = message(reading.file, "Floats");
  CHECK(signal(floats, "single").coding.field.type == NumberType::float32);
  CHECK(signal(floats, "single_big").coding.field.type == NumberType::float32);
  CHECK(signal(floats, "twice").coding.field.type == NumberType::float64);
  CHECK(signal(floats, "nine_bytes").coding.field.type == NumberType::unsigned_integer);
  CHECK(is_fd(reading.file, floats));

  REQUIRE(reading.file.independent_signals.size() == 2);
  CHECK(reading.file.independent_signals[1].comment == "not on any bus");
  CHECK(reading.file.independent_signals[1].values == std::vector<dbc::ValueText>{{1, "set"}});

  const dbc::Message& long_names = message(reading.file, "LongNamesOfMessagesAndSignals_Everywhere");
  CHECK(long_names.short_name == "LongNames_0001");
  CHECK(long_names.attributes.empty());
  CHECK(long_names.signals[0].name == "a_signal_with_quite_a_long_name_indeed");
}

TEST_CASE("attributes have their values or defaults") {
  const dbc::Reading reading = features();
  const dbc::File& file = reading.file;
  const dbc::Message& status = message(file, "MotorStatus");
  CHECK(cycle_time(file, status) == std::chrono::milliseconds(10));
  CHECK_FALSE(cycle_time(file, message(file, "Floats")).has_value());
  CHECK_FALSE(is_fd(file, status));
  CHECK_FALSE(is_j1939(file, message(file, "Nested")));
  CHECK(*find_attribute(file, ObjectKind::network, file.attributes, "BusType") ==
        dbc::AttributeValue("CAN"s));
  CHECK(*find_attribute(file, ObjectKind::network, file.attributes, "Baudrate") ==
        dbc::AttributeValue(std::int64_t{500000}));
  CHECK(*find_attribute(file, ObjectKind::signal, status.signals[0].attributes, "GenSigStartValue") ==
        dbc::AttributeValue(-2.5));
  CHECK(find_attribute(file, ObjectKind::signal, status.signals[0].attributes, "nothing") == nullptr);
  REQUIRE(file.environment_variables.size() == 2);
  CHECK(file.environment_variables[0].initial == 24.5);
  CHECK(file.environment_variables[0].attributes[0].value == dbc::AttributeValue(std::int64_t{1}));
  CHECK(file.environment_variables[1].data_size == 12);
}

TEST_CASE(
    "a vendor's file is read: cp1252, CRLF, names and spaces as they come, sections that are not read") {
  const auto reading = dbc::load(folder + "vendor.dbc");
  REQUIRE_MESSAGE(reading.has_value(), reading.error().message);
  const dbc::File& file = reading->file;
  REQUIRE(file.messages.size() == 3);
  const dbc::Message& eec1 = message(file, "EEC1");
  CHECK(eec1.id == 0x0CF004FE);
  CHECK(eec1.sender == "Engine-2");
  CHECK(is_j1939(file, eec1));
  CHECK_FALSE(is_fd(file, eec1));
  CHECK(eec1.signals.size() == 4);
  CHECK(signal(eec1, "EngineTorque").coding.minimum == -125);
  CHECK(signal(eec1, "EngineTorque").coding.maximum == 125);
  CHECK(signal(eec1, "EngineTorque").receivers == std::vector<std::string>{"Gateway", "Engine-2"});
  CHECK(message(file, "DM1").length == 200);

  const dbc::Message& oil = message(file, "Oil");
  CHECK_FALSE(is_j1939(file, oil));
  CHECK(signal(oil, "Temp").unit == "°C");
  CHECK(signal(oil, "Temp").comment == "Öltemperatur – in der Wanne\nBO_ 99 Phantom: 8 X");
  CHECK(signal(oil, "Price").unit == "€/l");
  CHECK(signal(oil, "Price").coding.scale == 0.5);
  CHECK(signal(oil, "Price").coding.offset == 5);
  CHECK(signal(oil, "2nd_stage").coding.field.start == 24);
  CHECK(signal(oil, "Pressure").coding.minimum == 0);
  CHECK(signal(oil, "Pressure").coding.maximum == 1000);

  const auto said = [&](std::size_t line, const std::string& part) {
    return std::any_of(reading->warnings.begin(), reading->warnings.end(), [&](const dbc::Warning& warning) {
      return warning.place.line == line && is_in(part, warning.text);
    });
  };
  CHECK(said(20, "swapped"));
  CHECK(said(28, "BA_DEF_REL_"));
  CHECK(said(36, "BA_REL_"));
}

TEST_CASE("a number too large for its field is rejected, in every notation") {
  for (const std::string id : {"4294967297", "4294967297.0", "4.294967297e9", "-1", "-1.0", "1.5"}) {
    CAPTURE(id);
    const auto reading = dbc::parse("BU_: A\nBO_ " + id + " First: 8 A\n");
    REQUIRE(reading.has_value());
    CHECK(reading->file.messages.empty());
    CHECK(reading->warnings.size() == 1);
  }
  const auto reading = dbc::parse("BU_: A\nBO_ 1.0 First: 8e0 A\n");
  REQUIRE(reading.has_value());
  REQUIRE(reading->file.messages.size() == 1);
  CHECK(reading->file.messages[0].id == 1);
}

TEST_CASE("a statement that makes no sense is skipped, and named with its place") {
  const std::string text =
      "BU_: A\n"
      "BO_ 1 First: 8 A\n"
      " SG_ bad : 0|8@2+ (1,0) [0|0] \"\" A\n"
      " SG_ good : 8|8@1+ (1,0) [0|0] \"\" A\n"
      "BO_ x Second: 8 A\n"
      " SG_ gone : 8|8@1+ (1,0) [0|0] \"\" A\n"
      "CM_ SG_ 1 nothing \"?\";\n"
      "CM_ BO_ 1 \"kept\";\n";
  const auto reading = dbc::parse(text);
  REQUIRE(reading.has_value());
  REQUIRE(reading->file.messages.size() == 1);
  CHECK(reading->file.messages[0].signals.size() == 1);
  CHECK(reading->file.messages[0].comment == "kept");
  REQUIRE(reading->warnings.size() == 3);
  CHECK(to_string(reading->warnings[0]) ==
        "line 3, column 16: expected the byte order (0 to 1), found '2'; the statement is skipped");
  CHECK(is_in("line 5, column 5: expected the identifier", to_string(reading->warnings[1])));
  CHECK(to_string(reading->warnings[2]) == "line 7, column 11: nothing is not a signal of the message");
  CHECK(is_in("line 3, column 16", strict_error(text)));
  CHECK(is_in("'A.B' is not a name", strict_error("BU_: A.B\n")));
}

TEST_CASE("tolerant readers warn of what strict ones refuse") {
  const std::string fine = one_signal(": 0|8@1+ (1,0) [0|0]");
  CHECK(dbc::parse(fine, Strictness::strict).has_value());
  const std::pair<std::string, std::string> cases[] = {
      {fine + " SG_ t : 7|8@1+ (1,0) [0|0] \"\" Y\n", "share bits"},
      {one_signal(": 60|8@1+ (1,0) [0|0]"), "does not lie within the 8 bytes"},
      {one_signal(": 0|8@1+ (0,0) [0|0]"), "scale must not be 0"},
      {one_signal(": 0|8@1+ (1,0) [3|1]"), "swapped"},
      {one_signal(": 0|65@1+ (1,0) [0|0]"), "1 to 64"},
      {one_signal(": 0|8@1+ (1e999,0) [0|0]"), "expected the scale"},
      {one_signal("m0 : 0|8@1+ (1,0) [0|0]"), "no selector"},
      {one_signal("n0 : 0|8@1+ (1,0) [0|0]"), "expected ':', M or m"},
      {fine + " SG_ s : 8|8@1+ (1,0) [0|0] \"\" Y\n", "another signal s"},
      {fine + one_signal(": 0|8@1+ (1,0) [0|0]"), "another message has identifier 0x1"},
      {"BO_ 2048 M: 8 X\n", "more than 11 bits"},
      {"BO_ 2684354560 M: 8 X\n", "more than 29 bits"},
      {"BU_: A\nBO_ 4294967296 M: 8 X\n", "0 to 4294967295"},
      {"BU_: A\nBO_ 1 M: 1786 X\n", "0 to 1785"},
      {fine + "SIG_VALTYPE_ 1 s : 1;\n", "has 32 bits"},
      {fine + "SG_MUL_VAL_ 1 s t 0-0;\n", "no such selector"},
      {fine + "SG_MUL_VAL_ 1 s s 0-0;\n", "no such selector"},
      {fine + "SG_MUL_VAL_ 1 s s 3-2;\n", "a range of numbers"},
      {fine + "VAL_ 1 s 0 \"a\" 1;\n", "in quotes"},
      {fine + "VAL_ 7 s 0 \"a\";\n", "no message 7"},
      {fine + "VAL_ 1 s 0 \"a\"\n", "expected ';'"},
      {fine + "BA_ \"x\" 1;\n", "not defined"},
      {fine + "BA_DEF_ \"x\" INT 0 1;\nBA_ \"x\" \"?\";\n", "cannot have the value"},
      {fine + "BA_DEF_ \"x\" ENUM \"a\";\nBA_ \"x\" 1;\n", "cannot have the value"},
      {fine + "NONSENSE 1 2 3;\n", "not a keyword"},
      {fine + "BU_: A A\n", "twice"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.first);
    CHECK(is_in(each.second, strict_error(each.first)));
    CHECK(is_in(each.second, first_warning(each.first)));
  }
}

TEST_CASE("signals that a selector chooses between may share bits, others may not") {
  const std::string head =
      "BO_ 1 M: 8 X\n SG_ a M : 0|8@1+ (1,0) [0|0] \"\" Y\n SG_ b m0M : 8|8@1+ (1,0) [0|0] \"\" Y\n";
  const std::string body =
      " SG_ c m1 : 8|16@1+ (1,0) [0|0] \"\" Y\n SG_ d m0 : 16|8@1+ (1,0) [0|0] \"\" Y\n"
      " SG_ e m1 : 16|8@1+ (1,0) [0|0] \"\" Y\n";
  const std::string ranges = "SG_MUL_VAL_ 1 b a 0-0;\nSG_MUL_VAL_ 1 c a 1-9;\nSG_MUL_VAL_ 1 d b 0-0;\n";
  CHECK(dbc::parse(head + body + ranges + "SG_MUL_VAL_ 1 e b 1-1;\n", Strictness::strict).has_value());
  CHECK(is_in("d and e share bits", strict_error(head + body + ranges + "SG_MUL_VAL_ 1 e b 0-1;\n")));
  CHECK(is_in("several selectors, and no SG_MUL_VAL_", strict_error(head + body)));
}

TEST_CASE("selectors that hang on each other are left out with all that hangs on them") {
  const std::string text =
      "BO_ 1 M: 8 X\n"
      " SG_ a m0M : 0|8@1+ (1,0) [0|0] \"\" Y\n"
      " SG_ kept : 32|8@1+ (1,0) [0|0] \"\" Y\n"
      " SG_ b m0M : 8|8@1+ (1,0) [0|0] \"\" Y\n"
      " SG_ c m0 : 16|8@1+ (1,0) [0|0] \"\" Y\n"
      " SG_ root M : 40|8@1+ (1,0) [0|0] \"\" Y\n"
      " SG_ leaf m4 : 48|8@1+ (1,0) [0|0] \"\" Y\n"
      "SIG_GROUP_ 1 group 1 : a kept leaf;\n"
      "SG_MUL_VAL_ 1 a b 0-0;\nSG_MUL_VAL_ 1 b a 0-0;\nSG_MUL_VAL_ 1 c a 0-0;\nSG_MUL_VAL_ 1 leaf root "
      "4-4;\n";
  const auto reading = dbc::parse(text);
  REQUIRE(reading.has_value());
  const dbc::Message& left = reading->file.messages[0];
  REQUIRE(left.signals.size() == 3);
  CHECK(left.signals[0].name == "kept");
  CHECK(left.signals[2].selected_by == 1);
  CHECK(left.groups[0].signals == std::vector<std::uint32_t>{0, 2});
  CHECK(reading->warnings.size() == 3);
}

TEST_CASE("an error that cannot be corrected is an error for every reader") {
  for (const auto strictness : {Strictness::tolerant, Strictness::strict}) {
    CHECK_FALSE(dbc::parse("", strictness).has_value());
    CHECK_FALSE(dbc::load(folder + "no_such_file.dbc", strictness).has_value());
  }
  CHECK_FALSE(dbc::parse("{\"name\": \"arm\", \"rate\": 200}").has_value());
  const auto open = dbc::parse("BU_: A\nCM_ \"no end;\nBO_ 1 M: 8 A\n");
  REQUIRE_FALSE(open.has_value());
  CHECK(open.error().message == "line 2, column 5: the text that begins here has no closing quote");
}

TEST_CASE("a file beyond the limits is refused") {
  const auto is_refused = [](const std::string& text, const std::string& why) {
    const auto reading = dbc::parse(text);
    return !reading && is_in(why, reading.error().message);
  };
  CHECK(is_refused(std::string(dbc::max_file_size + 1, '\n'), "larger than 32 MiB"));
  std::string text;
  for (std::size_t i = 0; i <= dbc::max_messages; ++i)
    text += "BO_ " + std::to_string(0x8000'0000 + i) + " m" + std::to_string(i) + ": 8 X\n";
  CHECK(is_refused(text, "more than 20000 messages"));
  text = "BO_ 1 M: 8 X\n";
  for (std::size_t i = 0; i <= dbc::max_signals_in_message; ++i)
    text += " SG_ s" + std::to_string(i) + " : 0|8@1+ (1,0) [0|0] \"\" Y\n";
  CHECK(is_refused(text, "more than 4096 signals in one message"));
  CHECK(is_refused("BU_: " + std::string(dbc::max_name_length + 1, 'x'), "more than 256 bytes in a name"));
  CHECK(is_refused("CM_ \"" + std::string(dbc::max_text_length + 1, 'x') + "\";", "more than 65536 bytes"));
  text = one_signal("M : 0|8@1+ (1,0) [0|0]") + " SG_ t : 8|8@1+ (1,0) [0|0] \"\" Y\nSG_MUL_VAL_ 1 t s";
  for (std::size_t i = 0; i <= dbc::max_selector_ranges; ++i) text += " 0-0";
  CHECK(is_refused(text + ";\n", "ranges of selectors"));
  text = one_signal(": 0|8@1+ (1,0) [0|0]") + "VAL_ 1 s";
  for (std::size_t i = 0; i <= dbc::max_value_texts; ++i) text += " 0 \"x\"";
  CHECK(is_refused(text + ";\n", "more than 65536 values with a text"));

  std::string many_warnings = "BU_: A\n";
  for (int i = 0; i < 1500; ++i) many_warnings += "BO_ x\n";
  const auto reading = dbc::parse(many_warnings);
  REQUIRE(reading.has_value());
  CHECK(reading->warnings.size() == dbc::max_warnings);
  CHECK(reading->more_warnings == 500);
}

TEST_CASE("attributes beyond the limits are refused: they are looked up one by one") {
  const auto error_of = [](const std::string& text) {
    const auto reading = dbc::parse(text);
    return reading ? std::string() : reading.error().message;
  };
  std::string definitions;
  std::string given = "BU_: A\nBO_ 1 M: 8 A\n";
  for (std::size_t i = 0; i < dbc::max_attributes; ++i) {
    definitions += "BA_DEF_ \"a" + std::to_string(i) + "\" STRING ;\n";
    given += "BA_ \"a" + std::to_string(i) + "\" BO_ 1 0;\n";
  }
  CHECK(error_of(definitions).empty());
  CHECK(is_in("more than 1024 attributes", error_of(definitions + "BA_DEF_ \"a\" STRING ;\n")));
  CHECK(error_of(given + "BA_ \"a\" 0;\nBA_ \"a7\" BO_ 1 1;\n").empty());  // of the network; defined twice
  CHECK(error_of(given + "BA_ \"a\" BO_ 1 0;\n") ==
        "line 1027, column 5: an object has more than 1024 attributes");
  std::string texts = "BA_DEF_ \"e\" ENUM \"x\"";
  for (std::size_t i = 1; i < dbc::max_enumeration_texts; ++i) texts += ",\"x\"";
  CHECK(error_of(texts + ";\n").empty());
  CHECK(is_in("more than 1024 texts of one attribute", error_of(texts + ",\"x\";\n")));
}

TEST_CASE("line ends in texts become LF") {
  const auto file = dbc::parse("BU_: A\r\nCM_ \"one\r\ntwo\rthree\n\r\nfour\";\r\n").value().file;
  CHECK(file.comment == "one\ntwo\nthree\n\nfour");
  CHECK(dbc::parse(dbc::write(file).value()).value().file == file);
}

TEST_CASE("a frame format that is declared as an integer has the numbers of Vector's enumeration") {
  const std::string head =
      "BU_: A\nBO_ 1 Short: 8 A\nBO_ 2 Long: 64 A\nBO_ 2147483651 Extended: 8 A\n"
      "BO_ 2566834430 DM1: 200 A\nBA_DEF_ BO_ \"VFrameFormat\" ";
  const std::string given =
      "BA_ \"VFrameFormat\" BO_ 1 14;\nBA_ \"VFrameFormat\" BO_ 2147483651 15;\n"
      "BA_ \"VFrameFormat\" BO_ 2566834430 3;\n";
  for (const std::string type :
       {"INT 0 15;\nBA_DEF_DEF_ \"VFrameFormat\" 0;\n", "HEX 0 15;\n", "INT 0 0;\n"}) {
    CAPTURE(type);
    const dbc::File file = dbc::parse(head + type + given, Strictness::strict).value().file;
    CHECK(is_fd(file, message(file, "Short")));
    CHECK(is_fd(file, message(file, "Extended")));
    CHECK(is_j1939(file, message(file, "DM1")));
    CHECK_FALSE(is_j1939(file, message(file, "Extended")));
    CHECK_FALSE(is_fd(file, message(file, "DM1")));
    // The attribute decides if it names a classic frame. Without it, the length decides.
    CHECK(is_fd(file, message(file, "Long")) == !is_in("BA_DEF_DEF_", type));
  }
}

TEST_CASE("an empty default of an enumeration means no default") {
  const std::string text =
      "BU_: A\nBA_DEF_ BO_ \"Send\" ENUM \"cyclic\",\"once\";\nBA_DEF_DEF_ \"Send\" \"\";\n";
  const auto reading = dbc::parse(text, Strictness::strict);
  REQUIRE_MESSAGE(reading.has_value(), reading.error().message);
  CHECK(reading->warnings.empty());
  CHECK_FALSE(reading->file.attribute_definitions[0].default_value.has_value());
  CHECK(is_in("cannot have the value",
              strict_error("BU_: A\nBA_DEF_ \"x\" ENUM \"a\";\nBA_DEF_DEF_ \"x\" \"b\";\n")));
}

TEST_CASE("messages and signals that are left out are counted") {
  const auto left_out = [](const std::string& text) { return dbc::parse(text).value().left_out; };
  const std::string fine = one_signal(": 0|8@1+ (1,0) [0|0]");
  CHECK(left_out(fine) == 0);
  CHECK(left_out(fine + "NONSENSE;\n") == 0);
  CHECK(left_out(fine + "BO_ x Second: 8 A\n") == 1);
  CHECK(left_out(fine + "BO_ 2048 Second: 8 A\n") == 1);
  CHECK(left_out(fine + fine) == 1);
  CHECK(left_out(fine + " SG_ bad : 0|8@2+ (1,0) [0|0] \"\" A\n") == 1);
  CHECK(left_out(fine + " SG_ s : 8|8@1+ (1,0) [0|0] \"\" A\n") == 1);
  CHECK(left_out(fine + " SG_ t m0 : 8|8@1+ (1,0) [0|0] \"\" A\n") == 1);
}
