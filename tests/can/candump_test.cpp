// Tests log lines of candump and python-can, round trips of all kinds of frames, and a file of any size.
#include "takt/can/candump.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
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

  const auto nowhere = LogFile::open("/no/such/log");
  REQUIRE(!nowhere.has_value());
  CHECK(nowhere.error().error == Errc::file_failed);
  auto folder = LogFile::open("/");
  REQUIRE(folder.has_value());
  CHECK(!folder->next());
  CHECK(folder->status().error() == Errc::file_failed);
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
