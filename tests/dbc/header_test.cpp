// Tests the content of generated headers. typed_dbc_test.cpp tests that such headers compile and code like
// the database.
#include "takt/dbc/header.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/source_dir.hpp"

using namespace takt;
using namespace takt::can;
using dbc::Database;

namespace {

dbc::GeneratedHeader header_of(const std::string& text,
                               const dbc::HeaderOptions& options = {"drive.dbc", "", ""}) {
  const auto database = Database::parse(text);
  REQUIRE_MESSAGE(database.has_value(), database.error().message);
  const auto header = dbc::make_header(*database, options);
  REQUIRE_MESSAGE(header.has_value(), header.error().message);
  return *header;
}

bool has(const dbc::GeneratedHeader& header, const std::string& text) {
  const bool found = header.text.find(text) != std::string::npos;
  if (!found) MESSAGE(header.text);
  return found;
}

const std::string drive =
    "BU_: Master Drive\n"
    "BO_ 256 MOTOR_STATUS: 8 Drive\n"
    " SG_ ShaftSpeed : 0|16@1- (0.1,0) [-100|100] \"rad/s\" Master\n"
    " SG_ ABSActive : 16|1@1+ (1,0) [0|0] \"\" Master\n"
    " SG_ state : 24|4@1+ (1,0) [0|0] \"\" Master\n"
    "BO_ 2364540158 EEC1: 8 Master\n"
    " SG_ mode M : 0|4@1+ (1,0) [0|0] \"\" Vector__XXX\n"
    " SG_ torque m3 : 16|8@1+ (1,-125) [0|0] \"%\" Vector__XXX\n"
    "CM_ SG_ 256 ShaftSpeed \"behind the gear\";\n"
    "BA_DEF_ BO_ \"GenMsgCycleTime\" INT 0 65535;\n"
    "BA_DEF_ \"ProtocolType\" STRING ;\nBA_ \"ProtocolType\" \"J1939\";\n"
    "BA_ \"GenMsgCycleTime\" BO_ 256 10;\n"
    "VAL_ 256 state 0 \"off\" 7 \"Not ready\" ;\n"
    "VAL_ 2364540158 torque 255 \"n/a\" ;\n";

}  // namespace

TEST_CASE("a header says what the file says, in the names of C++") {
  const dbc::GeneratedHeader header = header_of(drive);
  CHECK(header.warnings.empty());
  CHECK(has(header, "// Made from drive.dbc by takt dbc2hpp"));
  CHECK(has(header, "namespace drive_dbc {"));
  CHECK(has(header, "struct MotorStatus {"));
  CHECK(has(header, "  /// behind the gear\n  /// [rad/s] -100 to 100\n  double shaft_speed = 0;"));
  CHECK(has(header, "  bool abs_active = false;"));
  CHECK(has(header, "  enum class State : std::uint8_t {\n    off = 0,"));
  CHECK(has(header, "    not_ready = 7,  ///< Not ready\n"));
  CHECK(has(header, "  State state{};"));
  CHECK(
      has(header,
          ".name = \"MOTOR_STATUS\", .id = 0x100, .length = 8, .cycle_time = std::chrono::milliseconds(10)"));
  CHECK(has(header, "parameter_group = 0xf004;"));
  CHECK(has(header,
            "  /// [%] when mode is 3\n  double torque = 0;\n  static constexpr double torque_n_a = 130;"));
  CHECK(has(header, "takt::can::when(\"mode\", {{3, 3}})"));
  CHECK(has(header, "using Messages = std::tuple<MotorStatus, Eec1>;"));
}

TEST_CASE("the same file gives the same header from any folder") {
  CHECK(header_of(drive).text == header_of(drive).text);
  CHECK(header_of(drive, {"", "robot::left", ""}).text.find("namespace robot::left {") != std::string::npos);
  CHECK(header_of(drive, {"Drive.dbc", "robot::", ""}).text.find("namespace robot::drive {") !=
        std::string::npos);
}

TEST_CASE("only what a node sends or receives is in its header") {
  const dbc::GeneratedHeader header = header_of(drive, {"drive.dbc", "", "Drive"});
  CHECK(has(header, "struct MotorStatus {"));
  CHECK(header.text.find("Eec1") == std::string::npos);
  const auto refused = dbc::make_header(Database::parse(drive).value(), {"drive.dbc", "", "Nobody"});
  REQUIRE(!refused);
  CHECK(refused.error().message == "there is no node Nobody");
}

TEST_CASE("several messages of one parameter group are distinguished by their whole identifiers") {
  const std::string two =
      "BU_: A B C\n"
      "BO_ 2565799936 FromA: 8 A\n SG_ speed : 0|16@1+ (1,0) [0|0] \"\" C\n"
      "BO_ 2565799937 FromB: 8 B\n SG_ pressure : 0|16@1+ (1,0) [0|0] \"\" A\n"
      "BA_DEF_ \"ProtocolType\" STRING ;\nBA_ \"ProtocolType\" \"J1939\";\n";
  for (const char* node : {"", "C"}) {  // the header for C lacks FromB
    const dbc::GeneratedHeader header = header_of(two, {"two.dbc", "", node});
    CHECK(has(header, "case 0x18ef0000:"));
    CHECK(has(header, "parameter_group = 0xef00;"));
    CHECK(header.text.find("id_mask") == std::string::npos);
    CHECK(header.text.find("switch (frame.id &") == std::string::npos);
  }
}

TEST_CASE("a name space that C++ does not allow, or that is not the user's, is refused") {
  const Database database = Database::parse(drive).value();
  for (const char* name :
       {"std", "takt", "a::std", "class", "a:::", "::a", "a b", "a;b", "1a", "a__b", "_a"}) {
    CAPTURE(name);
    CHECK(!dbc::make_header(database, {"drive.dbc", name, ""}));
  }
  CHECK(!dbc::make_header(database, {"class.dbc", "robot::", ""}));
}

TEST_CASE("no name has two underscores: those are the implementation's") {
  const dbc::GeneratedHeader header = header_of(
      "BU_: A\nBO_ 1 M__x: 8 A\n SG_ Double : 0|8@1+ (0.5,0) [0|0] \"\" A\n SG_ a__b_ : 8|8@1+ (1,0) [0|0] "
      "\"\" A\n"
      "VAL_ 1 Double 1 \"x\" 2 \"double\" 3 \" y\" ;\nVAL_ 1 a__b_ 1 \"int\" 2 \"int \" ;\n",
      {"a__b_.dbc", "", ""});
  for (const char* line : {"double double_ = 0;", "double double_x = 0.5;", "double double_double = 1;",
                           "double double_y = 1.5;", "int_1 = 1,", "namespace a_b_dbc {"})
    CHECK(has(header, line));
  std::string names = header.text;  // without string literals, which have the names of the file
  for (std::size_t at = 0; (at = names.find('"', at)) != std::string::npos;) {
    names.erase(at, names.find('"', at + 1) + 1 - at);
  }
  CHECK(names.substr(names.find('\n')).find("__") == std::string::npos);
}

TEST_CASE("a file called as a keyword or a function of C gives a name space that compiles") {
  CHECK(has(header_of(drive, {"ABS.dbc", "", ""}), "namespace abs_dbc {"));
  CHECK(has(header_of(drive, {"class.dbc", "", ""}), "namespace class_dbc {"));
  CHECK(has(header_of(drive, {"1 drive.dbc", "", ""}), "namespace can_1_drive_dbc {"));
}

TEST_CASE("values with the same text are distinguished by the values, and the same values by numbers") {
  std::string text =
      "BU_: A\nBO_ 1 M: 8 A\n SG_ a : 0|8@1- (1,0) [0|0] \"\" A\nVAL_ 1 a 1 \"on\" 2 \"off\" -3 \"On\"";
  for (int i = 0; i < 3000; ++i) text += " 4 \"off\"";
  const dbc::GeneratedHeader header = header_of(text + ";\n");
  for (const char* line :
       {"on_1 = 1,", "on_minus_3 = -3,", "off_2 = 2,", "off_4 = 4,", "off_4_2 = 4,", "off_4_3000 = 4,"})
    CHECK(has(header, line));
}

TEST_CASE("messages that cannot be said are left out, and named with the reason") {
  std::string text =
      "BU_: A\n"
      "BO_ 1 Overlap: 8 A\n SG_ a : 0|8@1+ (1,0) [0|0] \"\" A\n SG_ b : 4|8@1+ (1,0) [0|0] \"\" A\n"
      "BO_ 2 Short: 1 A\n SG_ a : 0|16@1+ (1,0) [0|0] \"\" A\n"
      "BO_ 3 Long: 100 A\n SG_ a : 0|16@1+ (1,0) [0|0] \"\" A\n"
      "BO_ 5 Ranges: 8 A\n SG_ m M : 0|8@1+ (1,0) [0|0] \"\" A\n SG_ a m0 : 8|8@1+ (1,0) [0|0] \"\" A\n"
      "BO_ 6 Good: 8 A\n SG_ a : 0|8@1+ (1,0) [0|0] \"\" A\n";
  text += "SG_MUL_VAL_ 5 a m ";
  for (int i = 0; i < 17; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(2 * i) + "-" + std::to_string(2 * i);
  const dbc::GeneratedHeader header = header_of(text + ";\n");
  CHECK(has(header, "using Messages = std::tuple<Good>;"));
  REQUIRE(header.warnings.size() == 4);
  CHECK(header.left_out == 4);
  CHECK(header.warnings[0] ==
        "message Overlap is not in the header: two signals that can be in one frame share a bit");
  CHECK(header.warnings[1] == "message Short is not in the header: a signal lies beyond its length");
  CHECK(header.warnings[2] == "message Long is not in the header: it is longer than a frame");
  CHECK(header.warnings[3] ==
        "message Ranges is not in the header: a signal has too many ranges of selectors");
}

TEST_CASE("a range that the field cannot hold is kept as far as it can") {
  const dbc::GeneratedHeader header = header_of(
      "BU_: A\nBO_ 1 M: 8 A\n SG_ a : 0|4@1+ (0.5,0) [1|100] \"\" A\n SG_ b : 8|8@1- (1,0) [-200|-5] \"\" "
      "A\n");
  CHECK(header.warnings.empty());
  CHECK(has(header, "{{0, 4}, 0.5, 0, 1, 7.5}"));
  CHECK(has(header, ", 1, 0, -128, -5}"));
}

TEST_CASE("texts of the file stay in comments and literals") {
  const auto database = Database::load(TAKT_SOURCE_DIR "/tests/dbc/hostile.dbc");
  REQUIRE(database);
  const std::string text = dbc::make_header(*database, {"hostile.dbc", "", ""}).value().text;
  for (std::size_t at = text.find("#error"); at != std::string::npos; at = text.find("#error", at + 1)) {
    const std::string before = text.substr(0, at);
    const std::string line = before.substr(before.rfind('\n') + 1);
    CAPTURE(line);
    CHECK(line.find("//") != std::string::npos);
  }
  CHECK(text.find("\\\n") == std::string::npos);
  CHECK(text.find("?\?/\n") == std::string::npos);
  CHECK(text.find("\u202e") == std::string::npos);
  CHECK(text.find("\\042); static_assert(false, \\042") != std::string::npos);  // a unit
}

TEST_CASE("messages of any length and number of signals are in the header") {
  std::string text =
      "BU_: A\nBO_ 1 Odd: 10 A\n SG_ a : 0|8@1+ (1,0) [0|0] \"\" A\n"
      "BO_ 2566834430 DM1: 1785 A\n SG_ last : 14272|8@1+ (1,0) [0|0] \"\" A\n"
      "BA_DEF_ BO_ \"VFrameFormat\" INT 0 15;\nBA_ \"VFrameFormat\" BO_ 2566834430 3;\n"
      "BO_ 7 Many: 64 A\n";
  for (int i = 0; i < 512; ++i)
    text += " SG_ s" + std::to_string(i) + " : " + std::to_string(i) + "|1@1+ (1,0) [0|0] \"\" A\n";
  const dbc::GeneratedHeader header = header_of(text);
  CHECK(header.warnings.empty());
  CHECK(header.left_out == 0);
  CHECK(has(header, ".id = 0x1, .length = 10, .format = {false, true, true}"));
  CHECK(has(header, ".length = 1785, .format = {true, false, false}"));
  CHECK(has(header, "std::array<takt::can::SignalSpec, 512> signals{{"));
}

TEST_CASE("signals are plain tables, which compile quickly, with the states beyond their ranges") {
  const dbc::GeneratedHeader header = header_of(
      "BU_: A\nBO_ 1 M: 8 A\n SG_ Members M : 0|8@1+ (1,0) [0|0] \"\" A\n SG_ v m1 : 8|8@1+ (1,0) [0|9] \"\" "
      "A\n"
      "VAL_ 1 Members 1 \"one\" 7 \"service\" ;\nVAL_ 1 v 1 \"one\" 255 \"error\" ;\n");
  CHECK(has(header, "  static constexpr std::array<std::uint64_t, 1> members_states{7};\n"));
  CHECK(has(header, "{\"Members\", {{0, 8}}, \"\", {}, members_states}"));
  CHECK(has(header, "takt::can::when(\"Members\", {{1, 1}}), v_states}"));
  CHECK(has(header, "  using Members = takt::can::Members<&M::members, &M::v>;\n"));
  CHECK(has(header, "enum class Members_2 "));
  CHECK(header.text.find("std::tuple signals") == std::string::npos);
}
