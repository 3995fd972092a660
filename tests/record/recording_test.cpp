// Recordings as they are read: whole, cut off, damaged.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "record/mcap.hpp"
#include "record/recordings.hpp"
#include "record/samples.hpp"
#include "support/random.hpp"
#include "takt/core/bytes.hpp"
#include "takt/core/joint.hpp"
#include "takt/record/reader.hpp"
#include "takt/record/recorder.hpp"

using namespace takt;
using namespace takt::record;
using namespace takt::test::recordings;

namespace {

struct Written {
  Metadata metadata;
  std::vector<Owned> records;
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

/// The byte behind the definitions and the metadata.
std::size_t first_chunk(const Bytes& bytes) {
  std::size_t at = mcap_magic.size();
  while (bytes[at] != static_cast<std::uint8_t>(McapOpcode::chunk))
    at += mcap_prefix + ByteReader(std::span(bytes).subspan(at + 1)).little<std::uint64_t>();
  return at;
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
  std::size_t most = 0;
  bool has_metadata = false;
  for (std::size_t size = 0; size < written.bytes.size(); ++size) {
    const ReadBack back = read_all(std::span(written.bytes).first(size));
    if (back.error) {
      REQUIRE_FALSE(has_metadata);
      CHECK(back.error->error ==
            (size < mcap_magic.size() ? Error(Errc::not_a_recording) : Error(Errc::no_joint_states)));
      continue;
    }
    has_metadata = true;
    CHECK(back.truncated);
    REQUIRE(back.records.size() >= most);
    CHECK(std::equal(back.records.begin(), back.records.end(), written.records.begin()));
    most = back.records.size();
  }
  CHECK(most == written.records.size());
}

TEST_CASE("a flipped bit gives an error, a loss that is told, or the same records") {
  auto random = test::generator();
  const Written written = write_random(5, 60);
  std::size_t errors = 0;
  for (std::size_t i = 0; i < test::count(5000); ++i) {
    Bytes bytes = written.bytes;
    const auto bit = static_cast<std::size_t>(
        test::uniform_int(random, 0, static_cast<std::int64_t>(bytes.size()) * 8 - 1));
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1u << (bit % 8)));
    const ReadBack back = read_all(bytes);
    if (back.error || back.lost > 0) {
      ++errors;
      continue;
    }
    // A bit of a size may end the file early. One of the index is not noticed, and does no harm.
    REQUIRE((back.truncated || back.records.size() == written.records.size()));
    CHECK(std::equal(back.records.begin(), back.records.end(), written.records.begin()));
  }
  CHECK(errors > 0);
}

TEST_CASE("behind a flipped bit, only records that were written are read, and the loss is told") {
  auto random = test::generator(11);
  const Written written = write_random(5, 60);
  const std::size_t definitions = first_chunk(written.bytes);
  for (std::size_t i = 0; i < test::count(5000); ++i) {
    Bytes bytes = written.bytes;
    const auto bit = static_cast<std::size_t>(test::uniform_int(
        random, static_cast<std::int64_t>(definitions) * 8, static_cast<std::int64_t>(bytes.size()) * 8 - 1));
    CAPTURE(bit);
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
    auto reader = Reader::from_bytes(bytes, {.pass_over_damage = true});
    REQUIRE(reader);
    std::size_t found = 0;
    auto next = written.records.begin();
    auto record = reader->next();
    for (; record && *record != nullptr; record = reader->next()) {
      next = std::find(next, written.records.end(), Owned(**record));
      REQUIRE(next != written.records.end());
      ++next;
      ++found;
    }
    REQUIRE(record);
    if (found < written.records.size()) CHECK((reader->truncated() || !reader->lost().empty()));
    CHECK(found + 20 > written.records.size());
  }
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
