// Tests log lines of candump, python-can and Vector, round trips of all kinds of frames, and a file of any
// size.
#include "takt/can/candump.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/can/candump_file.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::candump;

namespace {

LogEntry entry_of(std::string_view line) {
  CAPTURE(line);
  const auto entry = parse_line(line);
  REQUIRE(entry.has_value());
  return *entry;
}

std::string written(const LogEntry& entry, Precision precision = Precision::microseconds) {
  const auto line = format_line(entry, precision);
  REQUIRE(line.has_value());
  return std::string(line->text());
}

LogEntry random_entry(std::mt19937_64& random) {
  LogEntry entry;
  Frame& frame = entry.frame;
  const auto kind = random() % 4;
  frame.fd = kind == 1;
  frame.remote = kind == 2;
  frame.error = kind == 3;
  frame.extended = !frame.error && random() % 2 == 0;
  frame.bit_rate_switch = frame.fd && random() % 2 == 0;
  frame.error_state = frame.fd && random() % 2 == 0;
  frame.id = static_cast<std::uint32_t>(random()) & (frame.extended ? max_extended_id : max_standard_id);
  frame.length = frame.fd ? fd_lengths[random() % 16] : static_cast<std::uint8_t>(random() % 9);
  if (!frame.remote) {
    std::generate_n(frame.data.begin(), frame.length, [&] { return static_cast<std::uint8_t>(random()); });
  }
  frame.stamp = time_from_nanoseconds(static_cast<std::int64_t>(random() >> (1 + random() % 63)));
  frame.stamp_source = StampSource::software;
  entry.interface = *InterfaceName::create(std::array{"can0", "vcan0", "a", "fifteen.letters"}[random() % 4]);
  entry.direction = static_cast<Direction>(random() % 3);
  return entry;
}

std::vector<LineResult<LogEntry>> read_all(LogReader& reader, std::string_view text) {
  std::vector<LineResult<LogEntry>> lines;
  while (const auto line = reader.next(text)) lines.push_back(*line);
  if (const auto line = reader.finish()) lines.push_back(*line);
  return lines;
}

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& text)
      : path((std::filesystem::temp_directory_path() / ("takt_candump_" + std::to_string(::getpid())))
                 .string()) {
    std::ofstream(path, std::ios::binary) << text;
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { std::remove(path.c_str()); }
  std::string path;
};

}  // namespace

TEST_CASE("lines of candump are read and written as they were") {
  for (const std::string line :
       {"(1795208238.156435) vcan0 123#DEADBEEF", "(1795208238.156435) vcan0 5A1##5112233",
        "(0000000001.000000) can1 077#R", "(0000000001.000001) can1 1ABCDEF0#R4",
        "(1436509052.249713) can12 00000044#2A366C2BBA",
        "(1436509052.249713) slcan0 20000004#0004000000000000 R", "(1436509052.249713) can0 7FF# T",
        "(9223372036.854775) can0 001##300112233445566778899AABB"}) {
    CAPTURE(line);
    const LogEntry entry = entry_of(line);
    std::string expected = line;
    if (const auto fd_flag = expected.find("##5"); fd_flag != std::string::npos) expected[fd_flag + 2] = '1';
    CHECK(written(entry) == expected);
    CHECK(entry_of(written(entry, Precision::nanoseconds)) == entry);
  }
  const LogEntry fd = entry_of("(1795208238.156435) vcan0 5A1##5112233");
  CHECK((fd.frame.fd && fd.frame.bit_rate_switch && !fd.frame.error_state && fd.frame.length == 3));
  CHECK(to_nanoseconds(fd.frame.stamp) == 1'795'208'238'156'435'000);
  const LogEntry error = entry_of("(1.0) can0 20000040#0000000000000000");
  CHECK((error.frame.error && error.frame.id == 0x40 && error.frame.length == 8 && !error.frame.extended));
}

TEST_CASE("other spellings of the same are understood") {
  CHECK(entry_of("(1.5)   can0\t123#11.22.33  R ") == entry_of("(0000000001.500000) can0 123#112233 R"));
  CHECK(entry_of("(1.5) can0 123#0011223344556677_F") == entry_of("(1.500) can0 123#0011223344556677"));
  CHECK(entry_of(" \t (1.5) can0 123#00") == entry_of("(1.5) can0 123#00"));
  CHECK(parse_line("  1.5) can0 123#00").error() == LineError{Errc::bad_line, 3});
  CHECK(entry_of("(1.000000001) can0 0ab#aAbB").frame.stamp == time_from_nanoseconds(1'000'000'001));
}

TEST_CASE("lines of candump's screen are read, with and without stamps") {
  const LogEntry plain = entry_of("  can0  123   [4]  DE AD BE EF");
  CHECK(written(plain) == "(0000000000.000000) can0 123#DEADBEEF");
  CHECK(plain.frame.stamp_source == StampSource::none);
  CHECK(entry_of("  can0  123   [4]  DE AD BE EF   'm..n'") == plain);
  for (const auto& [screen, log] : {
           std::pair{" (1795208238.156435)  can0  1ABCDEF0   [2]  remote request",
                     "(1795208238.156435) can0 1ABCDEF0#R2"},
           {" (000.156435)  vcan0      123   [0] ", "(0.156435) vcan0 123#"},
           {"(1234.5) can0 123 [1] 0a", "(1234.5) can0 123#0A"},
           {" (1.5)  can0  5A1  [03]  11 22 33", "(1.5) can0 5A1##0112233"},
           {" (1.5)  can0  RX B -  5A1  [03]  11 22 33   '.\"3'", "(1.5) can0 5A1##1112233 R"},
           {" (1.5)  can0  TX - E  5A1  [00] ", "(1.5) can0 5A1##2 T"},
           {" (1.5)  can0  TX - -  123   [0]", "(1.5) can0 123# T"},
           {" (1.5)  can0  20000004   [8]  00 04 00 00 00 00 00 00   ERRORFRAME",
            "(1.5) can0 20000004#0004000000000000"},
           {"(1.5) [a 123 [0]", "(1.5) [a 123#"},
       }) {
    const std::string text(screen);
    CAPTURE(text);
    CHECK(entry_of(screen) == entry_of(log));
  }
  // Each of them has the length in brackets, so it is a wrong line of the screen.
  for (const auto& [line, code, column] : {std::tuple{"can0 12 [0]", Errc::bad_line, 6},
                                           {"can0 800 [0]", Errc::id_too_large, 9},
                                           {"can0 123 [9] 11", Errc::wrong_length, 13},
                                           {"can0 123 [09] 11", Errc::wrong_length, 14},
                                           {"can0 123 [0064] 11", Errc::bad_line, 13},
                                           {"can0 123 [1 ] 11", Errc::bad_line, 12},
                                           {"can0 123 [2] 11", Errc::bad_line, 16},
                                           {"can0 123 [2] 11 2", Errc::bad_line, 17},
                                           {"can0 123 [1] 11 22", Errc::bad_line, 17},
                                           {"can0 123 [1] 11'.'", Errc::bad_line, 16},
                                           {"can0 123 [1] 11 ERRORFRAME", Errc::bad_line, 17},
                                           {"can0 123 [01] remote request", Errc::bad_line, 29},
                                           {"can0 RX B - 123 [0]", Errc::bad_line, 20},
                                           {"(2015-07-10 07:57:32.2) can0 123 [0]", Errc::bad_line, 6}}) {
    const std::string text(line);
    CAPTURE(text);
    REQUIRE(!parse_line(line));
    CHECK(parse_line(line).error() == LineError{code, static_cast<std::uint32_t>(column)});
  }
}

TEST_CASE("a log of Vector's is read by its header, and its lines without a frame are counted") {
  LogReader reader;
  const auto lines = read_all(reader, R"(// written by hand
date Sam Sep 30 15:06:13.191 2017
base hex  timestamps absolute
internal events logged
Begin Triggerblock Sam Sep 30 15:06:13.191 2017
   0.000000 Start of measurement
   0.015991 CAN 1 Status:chip status error passive - TxErr: 132 RxErr: 0
   1.015991 1  Statistic: D 0 R 0 XD 0 XR 0 E 0 O 0 B 0.00%
   2.501000 1  ErrorFrame
   2.501010 2  ErrorFrame ECC: 10100010
   2.501020 CANFD   5 Tx ErrorFrame Not Acknowledge error 44 0 0 f 64 00 00
   3.098426 1  18EBFF00x       Rx   d 8 01 A0  F 6   60 3B D1 40  Length = 273910 BitCount = 141 ID = 418119424x
   3.100000 2  100             TxRq d 0
   3.100001 2  100             Tx   d 0
   3.100002 2  100             Tx   r
   3.100003 2  100             Tx   r 4 Length = 0
   3.100004 2  7FF             Rx   d F 0 1 2 3 4 5 6 7
   3.297743 1  J1939TP FEE3p        6    0  0   -   Rx   d 23 A0 0F A6
End TriggerBlock
)");
  CHECK(reader.format() == LogFormat::asc);
  CHECK(reader.passed_over() == asc::PassedOver{.error_frames = 3, .other_events = 5});
  const std::vector<std::string> expected = {"(0000000003.098426) 1 18EBFF00#01A00F06603BD140 R",
                                             "(0000000003.100001) 2 100# T", "(0000000003.100002) 2 100#R T",
                                             "(0000000003.100003) 2 100#R4 T",
                                             "(0000000003.100004) 2 7FF#0001020304050607 R"};
  REQUIRE(lines.size() == expected.size());
  for (std::size_t i = 0; i < lines.size(); ++i) CHECK(written(*lines[i]) == expected[i]);
}

TEST_CASE("a log of candump stays one, whatever a damaged line of it looks like") {
  LogReader reader;
  const auto lines = read_all(reader, "(1.5) can0 123#00\ndate 1 base hex\n// 2\n(1.6) can0 124#00\n");
  CHECK(reader.format() == LogFormat::candump);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0]);
  CHECK(lines[1].error().line == 2);
  CHECK(lines[2].error().line == 3);
  CHECK(lines[3]->frame.id == 0x124);
}

TEST_CASE("lines CANFD of Vector's logs tell FD frames from classic ones by their flags") {
  const auto read = [](const std::string& line) {
    const std::string text(line);
    CAPTURE(text);
    LogReader reader;
    const auto lines = read_all(reader, "base hex timestamps absolute\n0.5 CANFD   1 " + line);
    REQUIRE(lines.size() == 1);
    REQUIRE(lines[0].has_value());
    return written(*lines[0]).substr(22);
  };
  const std::string eight = " 8  8 00 00 00 1f 9f a0 05 23 ";
  const std::string tail = " b001e4c5 50500250 46140250 20010f3e 2001050c";
  CHECK(read("Rx  20  CGW_Sync  1 0" + eight + "109516 138 323040" + tail) == "020##10000001F9FA00523 R");
  CHECK(read("Tx  20x  0 1" + eight + "109516 138 305040" + tail) == "00000020##20000001F9FA00523 T");
  CHECK(read("Rx  20  0 0" + eight + "109516 138 220040" + tail) == "020#0000001F9FA00523 R");
  CHECK(read("Rx  20  0 0" + eight) == "020##00000001F9FA00523 R");
  CHECK(read("Tx 50005x  0 0 5 0 140000 73 200050 7a60") == "00050005#R5 T");
  CHECK(read("Tx 20  0 0 0 0 0 0 1000") == "020##0 T");
  std::string long_data;
  for (int i = 0; i < 64; ++i) long_data += " a1";
  CHECK(read("Rx 4EE  0 1 f 64" + long_data + " 1331984 11 0" + tail).starts_with("4EE##2A1A1"));
}

TEST_CASE("numbers and stamps of Vector's logs follow the header") {
  const auto read = [](LogReader& reader, std::string_view text) {
    std::vector<std::string> texts;
    for (const auto& line : read_all(reader, text)) texts.push_back(written(line.value()));
    return texts;
  };
  LogReader decimal;
  CHECK(read(decimal,
             "date Mon Jun 4 12:04:42.117 pm 2018\nbase dec  timestamps relative\n"
             "1.5 1 291 Rx d 2 255  0\n0.25 LIN\n0.25 2 450744560x Rx d 0\n"
             "0.5 CANFD 1 Rx 20 0 0 9 12 1 2 3 4 5 6 7 8 9 10 11 12\n"
             "0.5 1 ErrorFrame\ndate again\n1.0 1 0 Rx d 0\n") ==
        std::vector<std::string>{"(0000000001.500000) 1 123#FF00 R", "(0000000002.000000) 2 1ADDD0F0# R",
                                 "(0000000002.500000) 1 014##00102030405060708090A0B0C R",
                                 "(0000000001.000000) 1 000# R"});
  LogReader without_kind;
  CHECK(read(without_kind, "base dec\n1.0 1 10 Rx d 0\n0.5 1 10 Rx d 0") ==
        std::vector<std::string>{"(0000000001.000000) 1 00A# R", "(0000000000.500000) 1 00A# R"});
}

TEST_CASE("the error of a line of Vector's names its column, and a wrong line is no frame") {
  const std::string absolute = "base hex timestamps absolute\n", relative = "base dec timestamps relative\n";
  for (const auto& [header, line, code, column] :
       {std::tuple{absolute, "nonsense", Errc::bad_line, 1},
        {absolute, "(1.0) can0 123#00", Errc::bad_line, 1},
        {absolute, "base oct", Errc::bad_value, 6},
        {absolute, "base hex timestamps some", Errc::bad_value, 21},
        {absolute, "1 1 100 Rx d 0", Errc::bad_line, 2},
        {absolute, "9223372036.854775808 1 100 Rx d 0", Errc::out_of_range, 20},
        {absolute, "1.0 1 800 Rx d 0", Errc::id_too_large, 7},
        {absolute, "1.0 1 20000000x Rx d 0", Errc::id_too_large, 7},
        {absolute, "1.0 1 Name Rx d 0", Errc::bad_line, 7},
        {absolute, "1.0 1 100 Rx e 0", Errc::bad_line, 14},
        {absolute, "1.0 1 100 Rx d", Errc::bad_line, 15},
        {absolute, "1.0 1 100 Rx d 10", Errc::wrong_length, 16},
        {absolute, "1.0 1 100 Rx d 2 1", Errc::bad_line, 19},
        {absolute, "1.0 1 100 Rx d 1 100", Errc::out_of_range, 18},
        {absolute, "1.0 1 100 Rx d 1 0g", Errc::bad_line, 18},
        {absolute, "1.0 CANFD 1 Rx 20 Name 2 0 0 0", Errc::bad_value, 24},
        {absolute, "1.0 CANFD 1 Rx 20 0 0 10 0", Errc::wrong_length, 23},
        {absolute, "1.0 CANFD 1 Rx 20 0 0 9 9", Errc::wrong_length, 26},
        {absolute, "1.0 CANFD 1 Rx 20 0 0 9 65", Errc::wrong_length, 25},
        {relative, "1.0 1 100 Rx d 1 256", Errc::out_of_range, 18},
        {relative, "1.0 1 1f Rx d 0", Errc::bad_line, 7},
        {relative, "1.0 LIN\n9223372036.0 1 1 Rx d 0", Errc::out_of_range, 13}}) {
    const std::string text(line);
    CAPTURE(text);
    LogReader reader;
    const auto lines = read_all(reader, header + line);
    REQUIRE(lines.size() == 1);
    REQUIRE(!lines[0].has_value());
    CHECK(lines[0].error() == LineError{code, static_cast<std::uint32_t>(column), reader.lines()});
  }
  // A line that is too long may have a frame that is cut off, or none at all.
  LogReader reader;
  const auto lines =
      read_all(reader, absolute + "1.0 1 J1939TP FEE3p" + std::string(6000, ' ') + "\n1.0 1 100 Rx d 1" +
                           std::string(500, ' ') + "11\n1.0 1 100 Rx d 0" + std::string(500, ' ') + "\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].error().line == 3);
  CHECK(lines[1].error() == LineError{Errc::bad_line, asc::max_line + 1, 4});
}

TEST_CASE("any frame comes back from its line") {
  auto random = test::generator(63);
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    LogEntry entry = random_entry(random);
    REQUIRE(entry_of(written(entry, Precision::nanoseconds)) == entry);
    const std::string coarse = written(entry);
    REQUIRE(written(entry_of(coarse)) == coarse);
    entry.frame.stamp -= Duration(entry.frame.stamp.time_since_epoch().count() % 1000);
    REQUIRE(entry_of(coarse) == entry);
  }
}

TEST_CASE("the error of a line names its column") {
  struct Case {
    std::string_view line;
    Errc code;
    std::uint32_t column;
  };
  constexpr auto stamp_overflow = "(9223372036.854775808) can0 123#";
  for (const Case& wrong : {Case{"", Errc::bad_line, 1},
                            Case{"1.0 can0 123#", Errc::bad_line, 1},
                            Case{"(.0) can0 123#", Errc::bad_line, 2},
                            Case{"(1) can0 123#", Errc::bad_line, 3},
                            Case{"(-1.0) can0 123#", Errc::bad_line, 2},
                            Case{"(1.0123456789) can0 123#", Errc::bad_line, 13},
                            Case{stamp_overflow, Errc::out_of_range, 21},
                            Case{"(99999999999999999999.0) can0 123#", Errc::out_of_range, 20},
                            Case{"(1.0) a_name_too_long_ 123#", Errc::bad_line, 7},
                            Case{"(1.0) can0", Errc::bad_line, 11},
                            Case{"(1.0) can0 12#", Errc::bad_line, 12},
                            Case{"(1.0) can0 1g3#", Errc::bad_line, 12},
                            Case{"(1.0) can0 123", Errc::bad_line, 12},
                            Case{"(1.0) can0 800#", Errc::id_too_large, 15},
                            Case{"(1.0) can0 80000000#", Errc::id_too_large, 20},
                            Case{"(1.0) can0 60000000#", Errc::id_too_large, 20},
                            Case{"(1.0) can0 123#1", Errc::bad_line, 16},
                            Case{"(1.0) can0 123#1g", Errc::bad_line, 16},
                            Case{"(1.0) can0 123#112233445566778899", Errc::payload_too_long, 32},
                            Case{"(1.0) can0 123#R9", Errc::wrong_length, 18},
                            Case{"(1.0) can0 123#00_F", Errc::bad_line, 20},
                            Case{"(1.0) can0 123##8", Errc::bad_value, 18},
                            Case{"(1.0) can0 123##", Errc::bad_line, 17},
                            Case{"(1.0) can0 20000000##0", Errc::bad_line, 23},
                            Case{"(1.0) can0 123##0112233445566778899", Errc::wrong_length, 36},
                            Case{"(1.0) can0 123#00 X", Errc::bad_line, 19}}) {
    CAPTURE(wrong.line);
    const auto read = parse_line(wrong.line);
    REQUIRE(!read.has_value());
    CHECK(read.error().error == wrong.code);
    CHECK(read.error().column == wrong.column);
  }
}

TEST_CASE("frames that no line can say are refused") {
  LogEntry entry = entry_of("(1.0) can0 123#");
  const auto error_of = [&] { return format_line(entry).error(); };
  entry.frame.stamp = time_from_nanoseconds(-1);
  CHECK(error_of() == Errc::out_of_range);
  entry.frame.stamp = {};
  entry.frame.id = 0x800;
  CHECK(error_of() == Errc::id_too_large);
  entry.frame.error = true;
  CHECK(format_line(entry).has_value());
  entry.frame.extended = true;
  CHECK(error_of() == Errc::wrong_format);
  entry.frame.extended = false;
  entry.frame.id = 0x2000'0000;
  CHECK(error_of() == Errc::id_too_large);
  entry.frame.id = 0;
  entry.frame.fd = true;
  CHECK(error_of() == Errc::wrong_format);
  entry.frame.error = false;
  entry.frame.length = 9;
  CHECK(error_of() == Errc::wrong_length);
  entry.frame.length = 8;
  entry.frame.fd = false;
  entry.frame.bit_rate_switch = true;
  CHECK(error_of() == Errc::wrong_format);
  entry.frame.bit_rate_switch = false;
  entry.frame.error_state = true;
  CHECK(error_of() == Errc::wrong_format);
  entry.frame.fd = true;
  CHECK(format_line(entry).has_value());
  entry.interface = {};
  CHECK(error_of() == Errc::bad_value);
  CHECK(InterfaceName::create("can 0").error() == Errc::bad_value);
  CHECK(InterfaceName::create("sixteen_letters_").error() == Errc::bad_value);
}

TEST_CASE("a log is read in pieces of any size, and each bad line is numbered") {
  LogReader reader;
  const auto lines =
      read_all(reader, "(1.0) a 123#\r\n\n  \nnonsense\n" + std::string(100'000, '(') + "\n(2.0) a 123#00");
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].has_value());
  CHECK(lines[1].error() == LineError{Errc::bad_line, 1, 4});
  CHECK(lines[2].error() == LineError{Errc::bad_line, max_line + 1, 5});
  CHECK(lines[3]->frame.length == 1);

  auto random = test::generator(64);
  std::string text;
  for (int i = 0; i < 500; ++i) text += written(random_entry(random)) + (i % 7 == 0 ? "\r\nbad\n" : "\n");
  LogReader whole;
  const auto expected = read_all(whole, text);
  LogReader pieces;
  std::vector<LineResult<LogEntry>> got;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = 1 + random() % 100;
    std::string_view piece = std::string_view(text).substr(at, size);
    while (const auto line = pieces.next(piece)) got.push_back(*line);
    at += size;
  }
  CHECK(got == expected);
  CHECK(expected.size() == 500 + 72);
}

TEST_CASE("a file of many chunks is read to its end, and one that cannot be read says so") {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "(0000000001.000000) can0 123#0011223344556677\n";
  const ScratchFile scratch(text + "(2.0) can0 124#");
  auto log = LogFile::open(scratch.path);
  REQUIRE(log.has_value());
  LogFile moved = std::move(*log);
  std::size_t count = 0;
  std::uint32_t last = 0;
  while (const auto line = moved.next()) {
    REQUIRE(line->has_value());
    last = (*line)->frame.id;
    ++count;
  }
  CHECK(count == 10'001);
  CHECK(last == 0x124);
  CHECK(!moved.next());
  CHECK(moved.status().has_value());

  const ScratchFile vector("base hex timestamps absolute\n1.0 1 ErrorFrame\n1.0 LIN\n2.0 1 124 Rx d 0\n");
  auto asc_log = LogFile::open(vector.path);
  REQUIRE(asc_log.has_value());
  CHECK(written(asc_log->next()->value()) == "(0000000002.000000) 1 124# R");
  CHECK(!asc_log->next());
  CHECK(asc_log->format() == LogFormat::asc);
  CHECK(asc_log->passed_over() == asc::PassedOver{.error_frames = 1, .other_events = 1});

  const auto nowhere = LogFile::open("/no/such/log");
  REQUIRE(!nowhere.has_value());
  CHECK(nowhere.error().error == Errc::file_failed);
  auto folder = LogFile::open("/");
  REQUIRE(folder.has_value());
  CHECK(!folder->next());
  CHECK(folder->status().error() == Errc::file_failed);
}

TEST_CASE("a line from a pipe is returned before the next one comes") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  auto log = LogFile::open("/dev/fd/" + std::to_string(ends[0]));
  REQUIRE(log.has_value());
  for (int i = 0; i < 3; ++i) {
    const std::string line = "(1.0) can0 123#0" + std::to_string(i) + "\n";
    REQUIRE(::write(ends[1], line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    CHECK(log->next()->value().frame.data[0] == i);
  }
  ::close(ends[1]);
  CHECK(!log->next());
  ::close(ends[0]);
}

TEST_CASE("reading and writing lines does not allocate") {
  const LogEntry entry = entry_of("(1.0) can0 123##0" + std::string(128, 'A'));
  test::RtGuard guard;
  std::size_t count = 0;
  LogReader reader;
  for (int i = 0; i < 1000; ++i) {
    const auto line = format_line(entry);
    std::string_view text = line->text();
    if (reader.next(text)) continue;
    std::string_view end = "\n";
    if (const auto read = reader.next(end); read && read->has_value() && **read == entry) ++count;
  }
  CHECK(guard.report() == "");
  CHECK(count == 1000);
}
