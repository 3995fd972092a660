// A recording in several files is read as one, and a missing file is named.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "record/recordings.hpp"
#include "takt/record/reader.hpp"
#include "takt/record/recorder.hpp"

using namespace takt;
using namespace takt::record;
using namespace takt::test::recordings;

namespace {

constexpr int cycles = 200;  // from 0.1 s to 20 s

/// Four files of about 5 s.
void write_files(const std::string& path, const std::string& robot = "one", Duration epoch = {}) {
  Metadata metadata;
  metadata.robot = robot;
  metadata.period = std::chrono::milliseconds(100);
  metadata.epoch = epoch;
  metadata.joints = {"a"};
  RecorderOptions options;
  options.rotate_after = std::chrono::seconds(5);
  auto recorder = Recorder::create(path, metadata, options);
  REQUIRE(recorder);
  for (int i = 1; i <= cycles; ++i) {
    Cycle cycle;
    cycle.time = Time(std::chrono::milliseconds(100 * i));
    (*recorder)->loop().cycle(cycle, [&](std::size_t) { return JointSample{.command = 1.0 * i}; });
    REQUIRE((*recorder)->drain());
  }
  REQUIRE((*recorder)->finish());
}

struct ReadFiles {
  std::vector<double> commands;
  std::vector<LostPart> lost;
  std::string error;
  bool is_complete = false;
};

ReadFiles read_files(const std::vector<std::string>& paths, bool pass_over_damage = true) {
  ReadFiles result;
  ReaderOptions options;
  options.pass_over_damage = pass_over_damage;
  auto reader = Reader::open_rotated(paths, options);
  if (!reader) {
    result.error = reader.error().message;
    return result;
  }
  while (true) {
    const auto record = reader->next();
    if (!record) {
      result.error = record.error().message;
      CHECK(reader->next().error().message == result.error);
      break;
    }
    if (*record == nullptr) break;
    result.commands.push_back(std::get<CycleRecord>(**record).joints[0].command);
  }
  if (result.error.empty()) CHECK(*reader->next() == nullptr);
  result.lost = reader->lost();
  result.is_complete = reader->totals().has_value();
  return result;
}

bool contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return true;
  MESSAGE(text);
  return false;
}

void is_whole(const ReadFiles& read) {
  CHECK(read.error.empty());
  CHECK(read.lost.empty());
  CHECK(read.is_complete);
  REQUIRE(read.commands.size() == cycles);
  for (int i = 0; i < cycles; ++i) CHECK(read.commands[static_cast<std::size_t>(i)] == i + 1);
}

}  // namespace

TEST_CASE("the first file, or all of them in any order, give the whole recording") {
  const ScratchFolder folder;
  write_files(folder.file("run.mcap"));
  REQUIRE(std::filesystem::exists(folder.file("run.3.mcap")));
  REQUIRE_FALSE(std::filesystem::exists(folder.file("run.4.mcap")));
  is_whole(read_files({folder.file("run.mcap")}));
  is_whole(read_files({folder.file("run.mcap")}, false));
  is_whole(read_files({folder.file("run.2.mcap"), folder.file("run.mcap"), folder.file("run.3.mcap"),
                       folder.file("run.1.mcap")}));
  const ReadFiles rest = read_files({folder.file("run.2.mcap")});
  CHECK(rest.lost.empty());
  CHECK(rest.commands.size() < cycles / 2 + 2);
  CHECK(rest.commands.back() == cycles);
  const ReadFiles some = read_files({folder.file("run.mcap"), folder.file("run.1.mcap")});
  CHECK(some.lost.empty());
  CHECK_FALSE(some.is_complete);
  CHECK(some.commands.back() == cycles - static_cast<double>(rest.commands.size()));
}

TEST_CASE("the files follow each other beside older files, also when all were renamed") {
  const ScratchFolder folder;
  write_files(folder.file("run.mcap"), "another robot");
  std::filesystem::rename(folder.file("run.2.mcap"), folder.file("kept"));
  for (const char* name : {"run.1.mcap", "run.3.mcap"}) std::filesystem::remove(folder.file(name));
  std::filesystem::rename(folder.file("kept"), folder.file("run.2.mcap"));
  write_files(folder.file("run.mcap"));
  REQUIRE(std::filesystem::exists(folder.file("run.4.mcap")));
  is_whole(read_files({folder.file("run.mcap")}));
  for (const char* number : {"", ".1", ".3", ".4"})
    std::filesystem::rename(folder.file(fmt::format("run{}.mcap", number)),
                            folder.file(fmt::format("day.7{}.mcap", number)));
  is_whole(read_files({folder.file("day.7.mcap")}));
}

TEST_CASE("a process that starts again has a recording of its own, though all else is equal") {
  const ScratchFolder folder;
  const Duration epoch = std::chrono::hours(24 * 365 * 56);
  for (const char* name : {"run", "next"}) {
    write_files(folder.file(fmt::format("{}.mcap", name)), "one", epoch);
    for (int i = 1; i <= 3; ++i) std::filesystem::remove(folder.file(fmt::format("{}.{}.mcap", name, i)));
  }
  const std::string cut = folder.file("run.mcap");
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  std::filesystem::rename(folder.file("next.mcap"), folder.file("run.1.mcap"));
  for (const LostPart& part : read_files({cut}).lost) CHECK_FALSE(contains(part.text(Time{}), "follows"));
}

TEST_CASE("a missing file is a gap with a name and times, and not joined silently") {
  const ScratchFolder folder;
  write_files(folder.file("run.mcap"));
  std::filesystem::remove(folder.file("run.1.mcap"));
  const std::string why = "run.mcap: it goes on in run.1.mcap, which is missing; ";
  for (const bool are_named : {false, true}) {
    std::vector<std::string> paths{folder.file("run.mcap")};
    if (are_named) paths.insert(paths.begin(), {folder.file("run.3.mcap"), folder.file("run.2.mcap")});
    const ReadFiles read = read_files(paths);
    CHECK(read.error.empty());
    REQUIRE(read.lost.size() == 1);
    const std::string text = read.lost[0].text(Time{});
    CHECK(contains(text, why));
    CHECK(contains(text, "run.2.mcap follows, from "));
    REQUIRE((read.lost[0].from && read.lost[0].until));
    const double gap = to_seconds(*read.lost[0].until - *read.lost[0].from);
    CHECK(gap > 4);
    CHECK(gap < 7);
    CHECK(static_cast<double>(read.commands.size()) == doctest::Approx(cycles + 1 - 10 * gap));
    CHECK(read.commands.back() == cycles);
    CHECK(contains(read_files(paths, false).error, why));
  }
}

TEST_CASE("a missing last file, and a file that was cut off in the middle, are named") {
  const ScratchFolder folder;
  write_files(folder.file("run.mcap"));
  const std::string cut = folder.file("run.1.mcap");
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  std::filesystem::remove(folder.file("run.3.mcap"));
  const ReadFiles read = read_files({folder.file("run.mcap")});
  CHECK(read.error.empty());
  REQUIRE(read.lost.size() == 2);
  CHECK(contains(read.lost[0].text(Time{}), "run.1.mcap: it stops before its end; "));
  CHECK(contains(read.lost[1].text(Time{}), "run.2.mcap: it goes on in run.3.mcap, which is missing, from "));
  CHECK_FALSE(read.is_complete);
}

TEST_CASE("a file of another recording, or none at all, is refused by name") {
  const ScratchFolder folder;
  write_files(folder.file("run.mcap"));
  write_files(folder.file("other.mcap"), "another robot");
  CHECK(contains(read_files({folder.file("run.mcap"), folder.file("other.1.mcap")}).error,
                 "other.1.mcap: it is not a later file of the same recording"));
  CHECK(contains(read_files({folder.file("run.3.mcap"), folder.file("other.mcap")}).error,
                 "is not a later file of the same recording"));
  CHECK(contains(read_files({folder.file("run.mcap"), folder.file("lost.mcap")}).error, "lost.mcap"));
  CHECK_FALSE(read_files({}).error.empty());
  // The next file is taken for missing if it is another one.
  std::filesystem::rename(folder.file("other.1.mcap"), folder.file("run.1.mcap"));
  const ReadFiles read = read_files({folder.file("run.mcap")});
  REQUIRE(read.lost.size() == 1);
  CHECK(contains(read.lost[0].text(Time{}), "run.1.mcap, which is missing; "));
}

TEST_CASE("files that name each other in a circle end") {
  const ScratchFolder folder;
  write_files(folder.file("run.mcap"));
  std::filesystem::copy_file(folder.file("run.1.mcap"), folder.file("run.2.mcap"),
                             std::filesystem::copy_options::overwrite_existing);
  const ReadFiles read = read_files({folder.file("run.mcap")});
  CHECK((read.lost.size() == 1 || !read.error.empty()));
}
