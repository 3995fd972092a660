#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "record/samples.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/core/joint.hpp"
#include "takt/record/reader.hpp"
#include "takt/record/recorder.hpp"

using namespace takt;
using namespace takt::record;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// A file name of this process. The file is removed when the test ends.
class ScratchFile {
 public:
  ScratchFile() : path_(std::filesystem::temp_directory_path() / ("takt_recording_" + unique())) {}
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] Bytes bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static std::string unique() {
    static int count = 0;
    return std::to_string(std::filesystem::hash_value(std::filesystem::current_path()) ^
                          std::hash<std::thread::id>{}(std::this_thread::get_id())) +
           "_" + std::to_string(++count);
  }
  std::filesystem::path path_;
};

/// A record with its own data, for comparing written and read records.
struct Owned {
  Record record;
  std::vector<JointSample> joints;
  std::vector<BusSample> buses;
  std::string text;

  explicit Owned(const Record& from) : record(from) {
    if (const auto* cycle = std::get_if<CycleRecord>(&from))
      joints.assign(cycle->joints.begin(), cycle->joints.end());
    if (const auto* bus = std::get_if<BusRecord>(&from)) buses.assign(bus->buses.begin(), bus->buses.end());
    if (const auto* mark = std::get_if<MarkRecord>(&from)) text = mark->text;
  }

  friend bool operator==(const Owned& a, const Owned& b) {
    if (a.record.index() != b.record.index() || a.joints != b.joints || a.buses != b.buses ||
        a.text != b.text) {
      return false;
    }
    return std::visit(
        [&](const auto& left) {
          using T = std::decay_t<decltype(left)>;
          const auto& right = std::get<T>(b.record);
          if constexpr (std::is_same_v<T, CycleRecord>) {
            return left.cycle == right.cycle;
          } else if constexpr (std::is_same_v<T, BusRecord> || std::is_same_v<T, MarkRecord>) {
            return left.time == right.time;
          } else {
            return left == right;
          }
        },
        a.record);
  }
};

struct Written {
  Metadata metadata;
  std::vector<Owned> records;  ///< without the end record
  Bytes bytes;
};

/// Writes a random recording through the loop's lane. Drains after every record, as in virtual time.
Written write_random(std::uint64_t salt, std::size_t count) {
  auto random = test::generator(salt);
  Written written;
  written.metadata = test::random_metadata(random);
  const ScratchFile file;
  auto recorder = Recorder::create(file.path(), written.metadata);
  REQUIRE(recorder);
  Lane& lane = (*recorder)->loop();
  Time now{};
  for (std::size_t i = 0; i < count; ++i) {
    switch (test::uniform_int(random, 0, 5)) {
      case 0:
      case 1: {
        std::vector<JointSample> joints;
        for (std::size_t j = 0; j < written.metadata.joints.size(); ++j) {
          joints.push_back(test::random_fields<JointSample>(random));
          joints.back().measured_effort = test::uniform(random, -10, 10);
        }
        auto cycle = test::random_fields<Cycle>(random);
        now += Duration(test::uniform_int(random, 1, 10'000'000));
        cycle.time = now;
        lane.cycle(cycle, [&](std::size_t joint) { return joints[joint]; });
        written.records.emplace_back(CycleRecord{cycle, joints});
        break;
      }
      case 2: {
        const auto event = test::random_fields<GoalEvent>(random);
        lane.event(event);
        written.records.emplace_back(event);
        break;
      }
      case 3: {
        std::vector<BusSample> buses;
        for (std::size_t b = 0; b < written.metadata.buses.size(); ++b) {
          buses.push_back(test::random_fields<BusSample>(random));
        }
        lane.buses(now, buses);
        written.records.emplace_back(BusRecord{now, buses});
        break;
      }
      case 4: {
        const auto totals = test::random_fields<LoopTotals>(random);
        lane.totals(totals);
        written.records.emplace_back(totals);
        break;
      }
      default: {
        const std::string text(static_cast<std::size_t>(test::uniform_int(random, 0, 40)), 'm');
        lane.mark(now, text);
        written.records.emplace_back(MarkRecord{now, text});
      }
    }
    REQUIRE((*recorder)->drain());
  }
  const auto totals = (*recorder)->finish();
  REQUIRE(totals);
  CHECK(totals->records == count);
  CHECK(totals->dropped == 0);
  written.bytes = file.bytes();
  return written;
}

/// All records until the end or the first error.
struct ReadBack {
  std::vector<Owned> records;
  bool truncated = false;
  std::optional<SetupError> error;
};

ReadBack read_all(std::span<const std::uint8_t> bytes) {
  ReadBack result;
  auto reader = Reader::from_bytes(bytes);
  if (!reader) {
    result.error = reader.error();
    return result;
  }
  while (true) {
    const auto record = reader->next();
    if (!record) {
      result.error = record.error();
      CHECK(reader->next().error().error == result.error->error);  // the error repeats
      return result;
    }
    if (*record == nullptr) break;
    if (!std::holds_alternative<EndTotals>(**record)) result.records.emplace_back(**record);
  }
  result.truncated = reader->truncated();
  return result;
}

void put_u32(Bytes& bytes, std::size_t at, std::uint32_t value) {
  ByteWriter writer{std::span(bytes).subspan(at, 4)};
  writer.little(value);
}

/// The offset of the first record.
std::size_t records_begin(const Bytes& bytes) {
  return header_size + ByteReader(std::span(bytes).subspan(12, 4)).little<std::uint32_t>();
}

Error error_of(const Bytes& bytes) {
  const auto result = read_all(bytes);
  return result.error ? result.error->error : Error{};
}

}  // namespace

TEST_CASE("a recording is read back as it was written") {
  for (std::size_t i = 0; i < test::count(30); ++i) {
    const Written written = write_random(i, 40);
    auto reader = Reader::from_bytes(written.bytes);
    REQUIRE(reader);
    CHECK(reader->metadata() == written.metadata);
    const ReadBack back = read_all(written.bytes);
    CHECK_FALSE(back.error);
    CHECK_FALSE(back.truncated);
    REQUIRE(back.records.size() == written.records.size());
    CHECK(std::equal(back.records.begin(), back.records.end(), written.records.begin()));
  }
}

TEST_CASE("the same records give the same bytes") {
  CHECK(write_random(7, 200).bytes == write_random(7, 200).bytes);
  CHECK(write_random(7, 200).bytes != write_random(8, 200).bytes);
}

TEST_CASE("a recording cut off anywhere reads as what is whole") {
  const Written written = write_random(3, 40);
  const std::size_t begin = records_begin(written.bytes);
  std::size_t most = 0;
  for (std::size_t size = 0; size < written.bytes.size(); ++size) {
    const ReadBack back = read_all(std::span(written.bytes).first(size));
    if (size < begin) {
      REQUIRE(back.error);
      CHECK(back.error->error ==
            (size < header_size ? Error(Errc::not_a_recording) : Error(Errc::bad_metadata)));
      continue;
    }
    REQUIRE_FALSE(back.error);
    CHECK(back.truncated);
    CHECK(back.records.size() >= most);
    CHECK(std::equal(back.records.begin(), back.records.end(), written.records.begin()));
    most = back.records.size();
  }
  CHECK(most == written.records.size());
}

TEST_CASE("a flipped bit gives an error or other records, never a crash") {
  auto random = test::generator();
  const Written written = write_random(5, 60);
  std::size_t errors = 0;
  for (std::size_t i = 0; i < test::count(5000); ++i) {
    Bytes bytes = written.bytes;
    for (std::int64_t flips = test::uniform_int(random, 1, 3); flips > 0; --flips) {
      const auto bit = static_cast<std::size_t>(
          test::uniform_int(random, 0, static_cast<std::int64_t>(bytes.size()) * 8 - 1));
      bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
    }
    if (read_all(bytes).error) ++errors;
  }
  CHECK(errors > 0);
}

TEST_CASE("each kind of damage has its name and its place") {
  const Written written = write_random(11, 20);
  const std::size_t begin = records_begin(written.bytes);
  const auto with = [&](auto&& change) {
    Bytes bytes = written.bytes;
    change(bytes);
    return error_of(bytes);
  };
  CHECK(with([](Bytes& b) { b[0] = 'T'; }) == Errc::not_a_recording);
  CHECK(with([](Bytes& b) { b[8] = 99; }) == Errc::unsupported_version);
  CHECK(with([](Bytes& b) { put_u32(b, 12, 0xffffffff); }) == Errc::metadata_too_long);
  CHECK(with([](Bytes& b) { b[header_size] = '}'; }) == Errc::bad_metadata);
  CHECK(with([&](Bytes& b) { put_u32(b, begin, 0xfffffff0); }) == Errc::record_too_long);
  CHECK(with([](Bytes& b) { b.push_back(0); }) == Errc::data_after_end);
  CHECK(with([](Bytes& b) { b[b.size() - fields_size<EndTotals>()] ^= 1; }) == Errc::totals_mismatch);

  Bytes late = written.bytes;
  put_u32(late, begin, 0xfffffff0);
  CHECK(read_all(late).error->message.find("byte " + std::to_string(begin) + ":") == 0);
}

TEST_CASE("cycles must rise, times be near, and records be whole") {
  const auto record_one = [](auto&& fill) {
    const ScratchFile file;
    Metadata metadata;
    metadata.period = Duration(1'000'000);
    metadata.joints = {"a"};
    auto recorder = Recorder::create(file.path(), metadata);
    REQUIRE(recorder);
    fill((*recorder)->loop());
    REQUIRE((*recorder)->finish());
    return file.bytes();
  };
  const auto cycle_at = [](Lane& lane, std::int64_t time) {
    Cycle cycle;
    cycle.time = time_from_nanoseconds(time);
    lane.cycle(cycle, [](std::size_t) { return JointSample{}; });
  };
  CHECK_FALSE(read_all(record_one([&](Lane& lane) {
                cycle_at(lane, 1);
                cycle_at(lane, 2);
              })).error);
  CHECK(error_of(record_one([&](Lane& lane) {
          cycle_at(lane, 2);
          cycle_at(lane, 2);
        })) == Errc::time_not_rising);
  CHECK(error_of(record_one([&](Lane& lane) { cycle_at(lane, time_bound.count() + 1); })) ==
        Errc::time_out_of_range);

  Bytes bytes = record_one([&](Lane& lane) { cycle_at(lane, 1); });
  const std::size_t begin = records_begin(bytes);
  put_u32(bytes, begin, cycle_size);  // the joint is missing
  CHECK(error_of(bytes) == Errc::record_too_short);

  bytes = record_one([&](Lane& lane) { cycle_at(lane, 1); });
  put_u32(bytes, begin + 4, 777);  // a record type of a later edition
  const ReadBack back = read_all(bytes);
  CHECK_FALSE(back.error);
  CHECK(back.records.empty());
}

TEST_CASE("a long mark is cut") {
  const ScratchFile file;
  Metadata metadata;
  metadata.period = Duration(1);
  auto recorder = Recorder::create(file.path(), metadata);
  REQUIRE(recorder);
  (*recorder)->server().mark(Time{}, std::string(100'000, 'x'));
  REQUIRE((*recorder)->finish());
  const ReadBack back = read_all(file.bytes());
  REQUIRE(back.records.size() == 1);
  CHECK(back.records[0].text == std::string(max_mark_size, 'x'));
}

TEST_CASE("metadata says where it is wrong") {
  auto random = test::generator(2);
  const Metadata metadata = test::random_metadata(random);
  const std::string json = to_json(metadata);
  REQUIRE(parse_metadata(json));
  CHECK(*parse_metadata(json) == metadata);

  const auto message = [](std::string_view text) {
    const auto result = parse_metadata(text);
    REQUIRE_FALSE(result);
    return result.error().message;
  };
  CHECK(message("{") == "not a JSON object");
  CHECK(message("[]") == "not a JSON object");
  CHECK(message("{}").find("/period_ns:") == 0);
  CHECK(message(R"({"period_ns":-1})").find("/period_ns:") == 0);
  CHECK(message(R"({"period_ns":1,"joints":{}})").find("/joints:") == 0);
  CHECK(message(R"({"period_ns":1,"joints":["a",3]})").find("/joints/1:") == 0);
  CHECK(message(R"({"period_ns":1,"joints":["a"],"groups":[{"name":"g","joints":[1]}]})")
            .find("/groups/0/joints:") == 0);
  std::string many = R"({"period_ns":1,"joints":[)";
  for (std::size_t i = 0; i <= max_joints; ++i) many += i == 0 ? "\"\"" : ",\"\"";
  CHECK(message(many + "]}").find("/joints: 65 entries") == 0);

  const auto with = [&](const char* member) {
    return message(fmt::format(R"({{"period_ns":1,"joints":["a","b"],{}}})", member));
  };
  CHECK(with(R"("limits":[{}])").find("/limits: must have an entry for each joint") == 0);
  CHECK(with(R"("limits":[{},3])").find("/limits/1: must be an object") == 0);
  CHECK(with(R"("limits":[{},{"velocity":"fast"}])").find("/limits/1/velocity: must be a number") == 0);
  CHECK(with(R"("following_errors":[1,"far"])").find("/following_errors: must hold numbers") == 0);
}

TEST_CASE("a cycle of an earlier format, without effort, is read") {
  const ScratchFile file;
  Metadata metadata;
  metadata.period = Duration(1);
  metadata.joints = {"a", "b"};
  auto recorder = Recorder::create(file.path(), metadata);
  REQUIRE(recorder);
  const std::size_t header = file.bytes().size();
  (*recorder)->loop().cycle(Cycle{}, [](std::size_t i) {
    const double number = static_cast<double>(i) + 1;
    return JointSample{.measured_position = number, .measured_effort = 10 * number};
  });
  REQUIRE((*recorder)->finish());
  Bytes bytes = file.bytes();

  const auto efforts = [](const Bytes& recording) {
    const ReadBack back = read_all(recording);
    CHECK_FALSE(back.error);
    REQUIRE(back.records.size() == 1);
    CHECK(back.records[0].joints[1].measured_position == 2);
    return std::array{back.records[0].joints[0].measured_effort, back.records[0].joints[1].measured_effort};
  };
  CHECK(efforts(bytes) == std::array{10.0, 20.0});
  const std::size_t earlier = cycle_size + 2 * (joint_sample_size - joint_sample_added_size);
  const auto added = bytes.begin() + static_cast<std::ptrdiff_t>(header + record_header_size + earlier);
  bytes.erase(added, added + std::ptrdiff_t{2 * joint_sample_added_size});
  put_u32(bytes, header, static_cast<std::uint32_t>(earlier));
  CHECK(efforts(bytes) == std::array{0.0, 0.0});
}

TEST_CASE("the layout in the metadata accounts for every byte of a record") {
  Metadata metadata;
  metadata.period = Duration(1);
  const std::string json = to_json(metadata);
  CHECK(json.find(R"("cycle":{"type":1,"fields":[["time","i64 ns"],["lateness","i64 ns"],["busy","i64 ns"],)"
                  R"(["robot_state","u8"],["reason_joint","u8"],["reason","u16"],["active_goals","u32"]],)"
                  R"("then_for_each_joint":[["command","f64"],)") != std::string::npos);
  CHECK(json.find(R"("then_again_for_each_joint":[["measured_effort","f64"]])") != std::string::npos);
}

TEST_CASE("recording is real-time safe") {
  const ScratchFile file;
  Metadata metadata;
  metadata.period = Duration(1'000'000);
  metadata.joints = {"a", "b"};
  metadata.buses = {"can0"};
  RecorderOptions options;
  options.loop_ring_bytes = 1 << 14;
  auto recorder = Recorder::create(file.path(), metadata, options);
  REQUIRE(recorder);
  Lane& lane = (*recorder)->loop();
  const std::array<BusSample, 1> buses{};

  test::RtGuard guard;
  for (int i = 1; i < 1000; ++i) {  // more than the ring holds
    Cycle cycle;
    cycle.time = time_from_nanoseconds(i);
    lane.cycle(cycle, [](std::size_t) { return JointSample{}; });
    lane.event({});
    lane.buses(cycle.time, buses);
    lane.totals({});
    lane.mark(cycle.time, "section");
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

TEST_CASE("a file that can grow no more is reported, and the rest is thrown away") {
  Metadata metadata;
  metadata.period = Duration(1);
  const ScratchFile file;
  auto recorder = Recorder::create(file.path(), metadata);
  REQUIRE(recorder);

  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{8192, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  Status status;
  for (int i = 0; i < 1000; ++i) {
    (*recorder)->loop().event({});
    status = (*recorder)->drain();
  }
  const auto totals = (*recorder)->finish();
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);

  CHECK((*recorder)->loop().dropped() == 0);
  REQUIRE_FALSE(status);
  CHECK(status.error() == Errc::write_failed);
  REQUIRE_FALSE(totals);
  CHECK(totals.error().error == Errc::write_failed);
  CHECK(totals.error().message.find(file.path()) == 0);
  const ReadBack back = read_all(file.bytes());
  CHECK_FALSE(back.error);
  CHECK(back.truncated);
  CHECK(back.records.size() > 50);
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

TEST_CASE("each joint has a unit, or none of them has") {
  Metadata metadata;
  metadata.period = Duration(1);
  metadata.joints = {"a", "b"};
  CHECK(parse_metadata(to_json(metadata)));
  metadata.units = {"rad", "m"};
  CHECK(parse_metadata(to_json(metadata))->units == metadata.units);
  for (const std::vector<std::string>& units : {std::vector<std::string>{"rad"}, {"rad", "inch"}}) {
    metadata.units = units;
    CHECK(parse_metadata(to_json(metadata)).error().error == Errc::bad_metadata);
  }
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
