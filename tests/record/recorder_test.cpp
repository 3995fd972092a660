// The recorder: real-time safe, counting what it loses, in one file or several.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "record/cdr.hpp"
#include "record/message_form.hpp"
#include "record/recordings.hpp"
#include "support/rt_guard.hpp"
#include "takt/record/reader.hpp"
#include "takt/record/recorder.hpp"

using namespace takt;
using namespace takt::record;
using namespace takt::test::recordings;

namespace {

/// A value that a port might carry.
struct Wrench {
  std::uint8_t sensor = 0;
  std::array<double, 3> force{};
  Time stamp{};
  TAKT_FIELDS(Wrench, sensor, force, stamp)
};

}  // namespace

TEST_CASE("recording is real-time safe") {
  const ScratchFile file;
  Metadata metadata;
  metadata.period = Duration(1'000'000);
  metadata.joints = {"a", "b"};
  metadata.buses = {"can0"};
  RecorderOptions options;
  options.loop_ring_bytes = 1 << 14;
  options.topics = {{"/ports/wrist", "test/msg/Wrench", shm::schema_text<Wrench>()},
                    {"/ports/wrists", "test/msg/Wrench", shm::schema_text<Wrench>(), true}};
  auto recorder = Recorder::create(file.path(), metadata, options);
  REQUIRE(recorder);
  Lane& lane = (*recorder)->loop();
  const std::array<BusSample, 1> buses{};
  const Wrench wrench;
  const std::span wrench_bytes(reinterpret_cast<const std::uint8_t*>(&wrench), sizeof wrench);

  test::RtGuard guard;
  for (int i = 1; i < 1000; ++i) {  // more than the ring holds
    Cycle cycle;
    cycle.time = time_from_nanoseconds(i);
    lane.cycle(cycle, [](std::size_t) { return JointSample{}; });
    lane.event({});
    lane.buses(cycle.time, buses);
    lane.totals({});
    lane.mark(cycle.time, "section");
    lane.sample(0, cycle.time, wrench_bytes);
    lane.samples<Wrench>(1, cycle.time, 3, [&](std::size_t) { return wrench; });
  }
  CHECK(guard.report() == "");
  CHECK(lane.dropped() > 0);
}

TEST_CASE("records that find no room are counted") {
  const ScratchFile file;
  Metadata metadata;
  metadata.period = Duration(1);
  RecorderOptions options;
  options.loop_ring_bytes = 4096;
  auto recorder = Recorder::create(file.path(), metadata, options);
  REQUIRE(recorder);
  for (int i = 0; i < 1000; ++i) (*recorder)->loop().event({});
  const std::uint64_t dropped = (*recorder)->loop().dropped();
  CHECK(dropped > 0);
  const auto totals = (*recorder)->finish();
  REQUIRE(totals);
  CHECK(totals->dropped == dropped);
  CHECK(totals->records + dropped == 1000);
  const ReadBack back = read_all(file.bytes());
  CHECK_FALSE(back.error);
  CHECK(back.records.size() == totals->records);
}

TEST_CASE("chunks that the disk has no room for are lost and counted, and the file stays whole") {
  Metadata metadata;
  metadata.period = Duration(1);
  const ScratchFile file;
  auto recorder = Recorder::create(file.path(), metadata);
  REQUIRE(recorder);

  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const auto limit_file_to = [&](rlim_t bytes) {
    const rlimit small{bytes, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  };
  auto record_seconds = [&, second = std::int64_t{0}](int count) mutable {
    Status status;
    for (int i = 0; i < count; ++i) {
      GoalEvent event;
      event.at = Time(std::chrono::seconds(++second));
      event.goal = static_cast<std::uint64_t>(second);
      (*recorder)->loop().event(event);
      status = (*recorder)->drain();
    }
    return status;
  };
  CHECK(record_seconds(20));
  limit_file_to(16384);
  const Status status = record_seconds(200);
  limit_file_to(before.rlim_cur);  // somebody has made room
  static_cast<void>(record_seconds(10));
  const auto totals = (*recorder)->finish();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);

  REQUIRE_FALSE(status);
  CHECK(status.error() == Errc::write_failed);
  REQUIRE_FALSE(totals);
  CHECK(totals.error().error == Errc::write_failed);
  CHECK(totals.error().message.find(file.path()) == 0);
  const ReadBack back = read_all(file.bytes());
  CHECK_FALSE(back.error);
  CHECK_FALSE(back.truncated);
  CHECK(back.records.size() > 30);
  CHECK(back.records.size() < 200);
  CHECK(totals.error().message.find(fmt::format("{} records are lost, {} are in the file",
                                                230 - back.records.size(), back.records.size())) !=
        std::string::npos);
  CHECK(std::get<GoalEvent>(back.records.back().record).goal == 230);
}

TEST_CASE("a recording goes on in further files, each of which can be read alone") {
  const ScratchFolder folder;
  Metadata metadata;
  metadata.period = Duration(1);
  metadata.joints = {"a"};
  RecorderOptions options;
  SUBCASE("by time") { options.rotate_after = std::chrono::seconds(5); }
  SUBCASE("by size") { options.rotate_bytes = 8192; }
  const std::string of_an_earlier_run = "kept";
  std::ofstream(folder.file("run.2.mcap")) << of_an_earlier_run;
  auto recorder = Recorder::create(folder.file("run.mcap"), metadata, options);
  REQUIRE(recorder);
  for (int i = 1; i <= 200; ++i) {
    Cycle cycle;
    cycle.time = Time(std::chrono::milliseconds(100 * i));
    (*recorder)->loop().cycle(cycle, [&](std::size_t) { return JointSample{.command = 1.0 * i}; });
    REQUIRE((*recorder)->drain());
  }
  const auto totals = (*recorder)->finish();
  REQUIRE(totals);
  CHECK(totals->records == 200);

  double next = 1;
  std::size_t files = 0;
  for (std::string name = "run.mcap"; std::filesystem::exists(folder.file(name));
       name = fmt::format("run.{}.mcap", ++files)) {
    auto reader = Reader::open(folder.file(name));
    REQUIRE(reader);
    CHECK(reader->metadata().joints == metadata.joints);
    for (auto record = reader->next(); record && *record != nullptr; record = reader->next())
      CHECK(std::get<CycleRecord>(**record).joints[0].command == next++);
    CHECK_FALSE(reader->truncated());
    CHECK(reader->totals().has_value() == (next == 201));
    if (options.rotate_bytes != 0) CHECK(std::filesystem::file_size(folder.file(name)) < 16384);
    if (files == 1) ++files;  // run.2.mcap existed
  }
  CHECK(next == 201);
  CHECK(files >= 4);
  std::string kept;
  std::ifstream(folder.file("run.2.mcap")) >> kept;
  CHECK(kept == of_an_earlier_run);
}

TEST_CASE("around stops, only what was before and after them is written") {
  const ScratchFile file;
  Metadata metadata;
  metadata.period = Duration(1);
  metadata.joints = {"a"};
  RecorderOptions options;
  options.around_stops = std::chrono::seconds(3);
  auto recorder = Recorder::create(file.path(), metadata, options);
  REQUIRE(recorder);
  const std::array stops{40.0, 60.0};
  for (int i = 0; i < 1000; ++i) {
    Cycle cycle;
    const double second = 0.1 * i;
    cycle.time = Time(std::chrono::milliseconds(100 * i));
    for (const double stop : stops) cycle.reason = second >= stop && second < stop + 1 ? 40 : cycle.reason;
    (*recorder)->loop().cycle(cycle, [&](std::size_t) { return JointSample{.command = second}; });
    REQUIRE((*recorder)->drain());
  }
  REQUIRE((*recorder)->finish());
  std::vector<double> seconds;
  for (const Owned& record : read_all(file.bytes()).records) seconds.push_back(record.joints[0].command);
  for (double second = 0.05; second < 100; second += 0.1) {
    CAPTURE(second);
    const auto near = [&](double most) {
      return std::any_of(stops.begin(), stops.end(),
                         [&](double stop) { return second > stop - most && second < stop + most; });
    };
    const bool is_there = std::any_of(seconds.begin(), seconds.end(),
                                      [&](double each) { return std::abs(each - second - 0.05) < 1e-6; });
    if (near(2.9)) CHECK(is_there);
    if (!near(5.3)) CHECK_FALSE(is_there);
  }
}

TEST_CASE("further topics carry the values of any type with a schema, or any bytes") {
  const ScratchFile file;
  Metadata metadata;
  metadata.period = Duration(1);
  metadata.epoch = std::chrono::hours(24 * 365 * 56);
  RecorderOptions options;
  options.topics = {{"/ports/wrist", "test/msg/Wrench", shm::schema_text<Wrench>()},
                    {"/blob", "test/msg/Blob"}};
  auto recorder = Recorder::create(file.path(), metadata, options);
  REQUIRE(recorder);
  const Wrench wrench{7, {1, -2, 3}, Time(Duration(99))};
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&wrench);
  (*recorder)->loop().sample(0, Time(Duration(5)), {bytes, sizeof(wrench)});
  (*recorder)->loop().sample(0, Time(Duration(6)), {bytes, 3});  // not a wrench: left out
  (*recorder)->server().sample(1, Time(Duration(7)), {bytes, 1});
  REQUIRE((*recorder)->finish());

  const Bytes written = file.bytes();
  auto reader = Reader::from_bytes(written);
  REQUIRE(reader);
  CHECK(reader->metadata().epoch == metadata.epoch);
  auto record = reader->next();
  REQUIRE(record);
  CHECK(std::get<SampleRecord>(**record).topic == "/blob");
  record = reader->next();
  REQUIRE(record);
  const auto sample = std::get<SampleRecord>(**record);
  CHECK(sample.topic == "/ports/wrist");
  CHECK(sample.time == Time(Duration(5)));
  CdrReader cdr(sample.message);
  Wrench back;
  CHECK(MessageForm::of<Wrench>().read(cdr, back));
  CHECK(back.sensor == 7);
  CHECK(back.force == wrench.force);
  CHECK(back.stamp == wrench.stamp);
  CHECK(MessageForm::of<Wrench>().definition() == "uint8 sensor\nfloat64[3] force\nint64 stamp\n");

  const Topic both{
      .topic = "/a", .type = "x", .schema = shm::schema_text<Wrench>(), .definition = "uint8 number\n"};
  for (const Topic& wrong : {Topic{"/blob", "x"}, Topic{"/a", ""}, Topic{"/a", "x", "what is this"},
                             Topic{"/cycle", "x"}, Topic{"/joints/measured", "x"}, both}) {
    options.topics = {{"/blob", "test/msg/Blob"}, wrong};
    const auto refused = Recorder::create(file.path(), metadata, options);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().error == Errc::bad_topic);
  }
}

TEST_CASE("a value may have a text of any length") {
  const ScratchFile file;
  Metadata metadata;
  metadata.period = Duration(1);
  RecorderOptions options;
  options.topics = {
      {.topic = "/notes", .type = "test/msg/Note", .schema = shm::schema_text<Wrench>(), .has_text = true}};
  auto recorder = Recorder::create(file.path(), metadata, options);
  REQUIRE(recorder);
  const Wrench wrench{7, {1, -2, 3}, Time(Duration(99))};
  const std::span bytes{reinterpret_cast<const std::uint8_t*>(&wrench), sizeof(wrench)};
  const std::vector<std::string> texts = {"", "gain", std::string(5000, 'x')};
  for (const std::string& text : texts) (*recorder)->loop().sample(0, Time(Duration(5)), bytes, text);
  (*recorder)->loop().sample(0, Time(Duration(6)), bytes.first(3));  // not a wrench: left out
  REQUIRE((*recorder)->finish());

  const Bytes written = file.bytes();
  auto reader = Reader::from_bytes(written);
  REQUIRE(reader);
  for (const std::string& text : texts) {
    const auto record = reader->next();
    REQUIRE(record);
    REQUIRE(*record != nullptr);
    CdrReader cdr(std::get<SampleRecord>(**record).message);
    Wrench back;
    CHECK(MessageForm::of<Wrench>().read(cdr, back));
    CHECK(back.force == wrench.force);
    CHECK(cdr.text() == text);
    CHECK(cdr.ok());
  }
  const auto end = reader->next();
  REQUIRE(end);
  const bool is_end = *end == nullptr || !std::holds_alternative<SampleRecord>(**end);
  CHECK(is_end);

  options.topics[0].schema = {};
  CHECK(Recorder::create(file.path(), metadata, options).error().error == Errc::bad_topic);
  options.topics[0].schema = shm::schema_text<Wrench>();
  options.topics[0].is_list = true;
  CHECK(Recorder::create(file.path(), metadata, options).error().error == Errc::bad_topic);
}

TEST_CASE("files that cannot be opened, read or written are reported") {
  if (!std::filesystem::exists("/dev/full")) return;
  Metadata metadata;
  metadata.period = Duration(1);
  const auto refused = Recorder::create("/dev/full", metadata);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == Errc::write_failed);

  CHECK(Recorder::create("/nowhere/at/all", metadata).error().error == Errc::cannot_open);
  CHECK(Reader::open("/nowhere/at/all").error().error == Errc::cannot_open);
  CHECK(Reader::open("/").error().error == Errc::read_failed);
  metadata.period = Duration(0);
  CHECK(Recorder::create("/dev/full", metadata).error().error == Errc::bad_metadata);
}

TEST_CASE("a thread drains what loop and server record at the same time") {
  const ScratchFile file;
  Metadata metadata;
  metadata.period = Duration(1'000'000);
  metadata.joints = {"a", "b"};
  RecorderOptions options;
  options.loop_ring_bytes = 1 << 14;
  auto recorder = Recorder::create(file.path(), metadata, options);
  REQUIRE(recorder);
  REQUIRE((*recorder)->start(std::chrono::microseconds(100)));
  CHECK((*recorder)->start().error() == Errc::already_running);
  std::thread server([&] {
    for (std::uint64_t i = 0; i < 2000; ++i) {
      GoalEvent event;
      event.goal = i;
      (*recorder)->server().event(event);
    }
  });
  for (int i = 1; i <= 5000; ++i) {
    Cycle cycle;
    cycle.time = time_from_nanoseconds(i);
    (*recorder)->loop().cycle(cycle, [&](std::size_t joint) {
      JointSample sample;
      sample.command = i;
      sample.goal = joint;
      return sample;
    });
  }
  server.join();
  const auto totals = (*recorder)->finish();
  REQUIRE(totals);
  CHECK(totals->records + totals->dropped == 7000);
  const ReadBack back = read_all(file.bytes());
  REQUIRE_FALSE(back.error);
  CHECK(back.records.size() == totals->records);
  std::uint64_t next_goal = 0;
  for (const Owned& record : back.records) {
    if (const auto* cycle = std::get_if<CycleRecord>(&record.record)) {
      REQUIRE(record.joints.size() == 2);
      CHECK(record.joints[0].command == static_cast<double>(to_nanoseconds(cycle->cycle.time)));
      CHECK(record.joints[1].goal == 1);
    } else {
      CHECK(std::get<GoalEvent>(record.record).goal == next_goal++);
    }
  }
}
