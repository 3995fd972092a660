// Tests the log: its lines are in order and whole, in files and in a recording, and its end tells what was
// lost.
#include "takt/record/log_writer.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "record/cdr.hpp"
#include "record/recordings.hpp"
#include "takt/record/error.hpp"
#include "takt/record/reader.hpp"

using namespace takt;
using namespace std::chrono_literals;
using record::LogWriter;
using rt::LogLevel;
using test::recordings::ScratchFile;

namespace {

std::vector<std::string> lines_in(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("a log begins, tells what happened in the order of the times, and ends") {
  const ScratchFile file;
  rt::Logger first;
  rt::Logger second;
  rt::LogStatement<double, int> force{LogLevel::warning, "the force is {} N, {} times"};
  rt::LogStatement<record::Errc> failed{LogLevel::error, "{}"};
  {
    LogWriter log({.name = "my arm", .files = {file.path()}, .describe = [](Error error) noexcept {
                     return describe(static_cast<record::Errc>(error.code));
                   }});
    log.add(first);
    log.add(second);
    REQUIRE(log.open(Time{} + 1s).has_value());
    second.set_time(Time{} + 3s);
    second.log(failed, rt::intern("tip"), record::Errc::write_failed);
    first.set_time(Time{} + 2s);
    first.log(force, rt::intern("gripper"), 12.5, -3);
    log.drain();
    log.write(Time{} + 4s, LogLevel::info, "operator", "two\nlines\x01");
    const auto totals = log.finish(Time{} + 5s);
    REQUIRE(totals.has_value());
    CHECK(totals->entries == 3);
    CHECK(totals->dropped == 0);
    log.write(Time{} + 6s, LogLevel::info, "", "too late");
  }
  CHECK(lines_in(file.path()) ==
        std::vector<std::string>{
            "1.000000 info my arm begins",
            "2.000000 warning gripper: the force is 12.5 N, -3 times",
            "3.000000 error tip: " + std::string(describe(record::Errc::write_failed)),
            "4.000000 info operator: two lines ",
            "5.000000 info my arm ends: 3 entries, 0 dropped",
        });
}

TEST_CASE("a log is appended to, with dates and the process where there is a clock") {
  const ScratchFile file;
  for (int i = 0; i < 2; ++i) {
    LogWriter log({.name = "arm", .files = {file.path()}, .epoch = std::chrono::seconds(1'795'000'000)});
    REQUIRE(log.open(Time{} + 1ms).has_value());
  }
  const auto lines = lines_in(file.path());
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].starts_with("2026-11-18T11:06:40.001000Z info arm begins, process "));
  CHECK(lines[1] == "2026-11-18T11:06:40.001000Z info arm ends: 0 entries, 0 dropped");
  CHECK(lines[2].substr(27) == lines[0].substr(27));
}

TEST_CASE("suppressed and dropped entries are told") {
  const ScratchFile file;
  rt::Logger logger(8);
  rt::LogStatement<int> often{LogLevel::info, "{}", {.entries = 2}};
  LogWriter log({.name = "arm", .files = {file.path()}});
  log.add(logger);
  REQUIRE(log.open(Time{}).has_value());
  for (int i = 0; i < 5; ++i) logger.log(often, {}, i);
  logger.set_time(Time{} + 1s);
  logger.log(often, {}, 5);
  rt::LogStatement<> many{LogLevel::info, "many", {.entries = 100}};
  for (int i = 0; i < 9; ++i) logger.log(many, {});
  const auto totals = log.finish(Time{} + 2s);
  REQUIRE(totals.has_value());
  CHECK(totals->suppressed == 3);
  CHECK(totals->dropped == 4);
  const auto lines = lines_in(file.path());
  CHECK(lines[3] == "1.000000 info 5 (3 suppressed)");
  CHECK(lines[lines.size() - 2] == "1.000000 warning 4 entries were dropped: a ring was full");
  CHECK(lines.back() == "2.000000 info arm ends: 8 entries, 4 dropped");
}

TEST_CASE("a ring of any size is written to its end") {
  const ScratchFile file;
  rt::Logger logger(std::size_t{1} << 14);
  rt::LogStatement<> many{LogLevel::info, "many", {.entries = 1'000'000}};
  LogWriter log({.name = "arm", .files = {file.path()}});
  log.add(logger);
  REQUIRE(log.open(Time{}).has_value());
  while (logger.log(many, {})) {
  }
  CHECK(log.finish(Time{})->entries == std::size_t{1} << 14);
}

TEST_CASE("a recording has the log, in Foxglove's form") {
  const ScratchFile file;
  record::Metadata metadata;
  metadata.robot = "arm";
  metadata.period = 1ms;
  record::RecorderOptions options;
  options.topics.push_back(record::log_topic());
  auto recorder = record::Recorder::create(file.path(), metadata, options);
  REQUIRE(recorder.has_value());
  {
    LogWriter log({.name = "arm"});
    log.record_to(**recorder, 0);
    REQUIRE(log.open(Time{} + 1s).has_value());
    log.write(Time{} + 2500ms, LogLevel::error, "tip", "broken");
    REQUIRE(log.finish(Time{} + 3s).has_value());
  }
  REQUIRE((*recorder)->finish().has_value());
  auto reader = record::Reader::open(file.path());
  REQUIRE(reader.has_value());
  std::vector<std::string> seen;
  while (const record::Record* record = reader->next().value()) {
    const auto& sample = std::get<record::SampleRecord>(*record);
    CHECK(sample.topic == "/log");
    record::CdrReader cdr(sample.message);
    const auto seconds = cdr.number<std::uint32_t>();
    const auto nanoseconds = cdr.number<std::uint32_t>();
    const auto level = cdr.number<std::uint8_t>();
    const std::string text(cdr.text());
    const std::string name(cdr.text());
    CHECK(cdr.text().empty());
    CHECK(cdr.number<std::uint32_t>() == 0);
    CHECK(cdr.ok());
    CHECK(to_nanoseconds(sample.time) == std::int64_t{seconds} * 1'000'000'000 + nanoseconds);
    seen.push_back(std::to_string(level) + " " + name + ": " + text);
  }
  CHECK(seen == std::vector<std::string>{"2 arm: arm begins", "4 tip: broken",
                                         "2 arm: arm ends: 1 entries, 0 dropped"});
}

TEST_CASE("threads that log, and one that may block, lose nothing and mix no lines") {
  const ScratchFile file;
  rt::Logger logger(4096);
  rt::LogStatement<int> count{LogLevel::info, "loop {}", {.entries = 1'000'000}};
  LogWriter log({.name = "arm", .files = {file.path()}});
  log.add(logger);
  REQUIRE(log.open(Time{}).has_value());
  log.start();
  std::thread loop([&] {
    for (int i = 0; i < 2000; ++i) {
      logger.set_time(Time(Duration(i)));
      logger.log(count, {}, i);
    }
  });
  for (int i = 0; i < 200; ++i) log.write(Time(Duration(i)), LogLevel::info, "server", "line");
  loop.join();
  REQUIRE(log.finish(Time{} + 1s).has_value());
  const auto lines = lines_in(file.path());
  CHECK(lines.size() == 2202);
  int expected = 0;
  for (const std::string& line : lines) {
    const auto at = line.find("info loop ");
    if (at != std::string::npos) CHECK(line.substr(at) == "info loop " + std::to_string(expected++));
  }
  CHECK(expected == 2000);
}

TEST_CASE("a file that cannot be opened, or written to, is named") {
  LogWriter nowhere({.name = "arm", .files = {"/nowhere/arm.log"}});
  const auto refused = nowhere.open(Time{});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().error == record::Errc::cannot_open);
  CHECK(refused.error().message.find("/nowhere/arm.log") != std::string::npos);

  LogWriter full({.name = "arm", .files = {"/dev/full"}});
  REQUIRE(full.open(Time{}).has_value());
  const auto ended = full.finish(Time{});
  REQUIRE_FALSE(ended.has_value());
  CHECK(ended.error().error == record::Errc::write_failed);
  CHECK(ended.error().message.find("the log of arm: ") == 0);
}
