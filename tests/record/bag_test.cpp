// ROS 1 bags of other programs, and each kind of damage.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/growing_bytes.hpp"
#include "support/random.hpp"
#include "takt/record/error.hpp"
#include "takt/record/reader.hpp"

using namespace takt;
using namespace takt::record;
using namespace std::string_literals;

namespace {

std::string u32(std::uint64_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}
std::string sized(const std::string& bytes) { return u32(bytes.size()) + bytes; }

using Fields = std::initializer_list<std::pair<std::string, std::string>>;
std::string fields(const Fields& list) {
  std::string bytes;
  for (const auto& [name, value] : list) bytes += sized(name + "=" + value);
  return bytes;
}
std::string record_of(const Fields& header, const std::string& data) {
  return sized(fields(header)) + sized(data);
}

std::string number(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return u32(bits & 0xFFFFFFFF) + u32(bits >> 32);
}
std::string numbers(const std::vector<double>& values) {
  std::string bytes = u32(values.size());
  for (const double value : values) bytes += number(value);
  return bytes;
}
std::string joint_state(const std::vector<std::string>& names, const std::vector<double>& positions,
                        const std::vector<double>& velocities = {}) {
  std::string bytes = u32(7) + u32(1) + u32(2) + sized("base") + u32(names.size());
  for (const std::string& name : names) bytes += sized(name);
  return bytes + numbers(positions) + numbers(velocities) + numbers({});
}

std::string connection(std::uint32_t id, const std::string& topic, const std::string& type) {
  return record_of({{"op", "\7"}, {"conn", u32(id)}, {"topic", topic}},
                   fields({{"topic", topic}, {"type", type}, {"message_definition", "..."}}));
}
std::string message(std::uint32_t id, std::uint32_t seconds, std::uint32_t nanoseconds,
                    const std::string& data) {
  return record_of({{"op", "\2"}, {"conn", u32(id)}, {"time", u32(seconds) + u32(nanoseconds)}}, data);
}
std::string chunk(const std::string& records, const std::string& compression = "none") {
  return record_of({{"op", "\5"}, {"compression", compression}, {"size", u32(records.size())}}, records);
}
constexpr std::size_t bag_header = 320;  // bytes before the first chunk
/// The index begins behind `before_index` bytes of the records; 0: the bag was not closed.
std::string bag(const std::string& records, std::optional<std::size_t> before_index) {
  const std::string index = u32(before_index ? bag_header + *before_index : 0) + u32(0);
  const Fields fields{{"op", "\3"}, {"index_pos", index}, {"conn_count", u32(1)}, {"chunk_count", u32(1)}};
  std::string made = "#ROSBAG V2.0\n" + record_of(fields, "");
  const std::size_t padding = bag_header - made.size();
  made = "#ROSBAG V2.0\n" + record_of(fields, std::string(padding, ' '));
  return made + records;
}
std::string bag(const std::string& records) { return bag(records, records.size()); }

const std::string arm = connection(3, "/arm/joint_states", "sensor_msgs/JointState");

struct Position {
  std::int64_t time = 0;
  double position = 0;
  friend bool operator==(const Position&, const Position&) = default;
};
struct ReadBack {
  std::vector<std::string> joints;
  std::vector<Position> positions;  ///< of the first joint
  std::optional<SetupError> error;
  bool truncated = false;
  std::vector<LostPart> lost;
  std::vector<LeftOut> left_out;
};
ReadBack read_back(const std::string& bytes) {
  ReadBack back;
  auto reader = Reader::from_bytes(as_bytes(bytes), {.pass_over_damage = true});
  if (!reader) {
    back.error = reader.error();
    return back;
  }
  CHECK(!reader->is_own());
  back.joints = reader->metadata().joints;
  while (true) {
    const auto record = reader->next();
    if (!record) back.error = record.error();
    if (!record || *record == nullptr) break;
    const auto& cycle = std::get<CycleRecord>(**record);
    back.positions.push_back(
        {cycle.cycle.time.time_since_epoch().count(), cycle.joints[0].measured_position});
  }
  back.truncated = reader->truncated();
  back.lost = reader->lost();
  back.left_out = reader->left_out();
  return back;
}

void check_refused(const std::string& bytes, Errc code, std::string_view words) {
  const ReadBack back = read_back(bytes);
  REQUIRE(back.error);
  CAPTURE(back.error->message);
  CHECK(back.error->error == Error(code));
  CHECK(back.error->message.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("the joint states of a bag are read") {
  const std::string other = connection(0, "/camera", "sensor_msgs/Image");
  const std::string records = chunk(other + arm + message(0, 1, 0, "pixels") +
                                    message(3, 1, 500, joint_state({"elbow", "wrist"}, {0.5, 1}, {2, 3}))) +
                              chunk(message(3, 2, 0, joint_state({"elbow", "wrist"}, {0.75, 1}, {2, 3}))) +
                              other + arm;
  const ReadBack back = read_back(bag(records));
  CHECK(!back.error);
  CHECK(back.joints == std::vector<std::string>{"elbow", "wrist"});
  CHECK(back.positions == std::vector<Position>{{1'000'000'500, 0.5}, {2'000'000'000, 0.75}});
  CHECK(!back.truncated);
}

TEST_CASE("a bag that was not closed, or was cut, is read up to its last whole record") {
  std::vector<std::size_t> ends;  // of the chunks
  std::string records = chunk(arm + message(3, 1, 0, joint_state({"elbow"}, {0})));
  ends.push_back(bag(records).size());
  for (std::uint32_t i = 1; i < 20; ++i) {
    records += chunk(message(3, 1 + i, 0, joint_state({"elbow"}, {0.25 * i})));
    ends.push_back(bag(records).size());
  }
  const ReadBack unclosed = read_back(bag(records, std::nullopt));
  CHECK(unclosed.positions.size() == 20);
  CHECK(unclosed.truncated);
  CHECK(!read_back(bag(records)).truncated);

  auto random = test::generator();
  for (int i = 0; i < 50; ++i) {
    const auto size = static_cast<std::size_t>(test::uniform_int(random, static_cast<std::int64_t>(ends[0]),
                                                                 static_cast<std::int64_t>(ends.back()) - 1));
    CAPTURE(size);
    const ReadBack cut = read_back(bag(records).substr(0, size));
    CHECK(!cut.error);
    const auto whole = std::upper_bound(ends.begin(), ends.end(), size) - ends.begin();
    CHECK(static_cast<std::ptrdiff_t>(cut.positions.size()) == whole);
    CHECK(cut.truncated);
  }
  CHECK(read_back(bag(records).substr(0, ends[10])).truncated);  // between two records
}

TEST_CASE("zeros before the index of a bag are no damage") {
  const std::string head = chunk(arm + message(3, 1, 0, joint_state({"elbow"}, {1})));
  for (const std::size_t zeros : {4U, 5U, 49U, 100U}) {
    CAPTURE(zeros);
    const std::string gap(zeros, '\0');
    const ReadBack whole = read_back(bag(head + gap + arm, head.size() + zeros));
    CHECK(!whole.error);
    CHECK(!whole.truncated);
    CHECK(whole.lost.empty());
    CHECK(whole.positions == std::vector<Position>{{1'000'000'000, 1}});
    const ReadBack cut = read_back(bag(head + gap, head.size() + zeros + 1));
    CHECK(cut.truncated);
    CHECK(cut.positions == whole.positions);
  }
}

TEST_CASE("each kind of damage of a bag is named") {
  const std::string good = message(3, 1, 0, joint_state({"elbow"}, {0.5}));
  check_refused("#ROSBAG V1.2\n", Errc::not_a_recording, "another version than 2.0");
  check_refused("#ROSBAG", Errc::not_a_recording, "byte 0");
  check_refused(bag(""), Errc::no_joint_states, "no messages");
  check_refused(bag(chunk(connection(3, "/camera", "sensor_msgs/Image") + good)), Errc::no_joint_states,
                "/camera");
  check_refused(bag(chunk(good)), Errc::unknown_channel, "connection 3");
  check_refused(bag(chunk(connection(70000, "/x", "x"))), Errc::unknown_channel, "at most 65535");
  check_refused(bag(chunk(arm + good, "bz2")), Errc::unsupported_compression, "rosbag decompress");
  const ReadBack changed =
      read_back(bag(chunk(arm + good) + connection(3, "/other", "sensor_msgs/JointState")));
  CHECK(changed.positions.size() == 1);
  REQUIRE(changed.lost.size() == 1);
  CHECK(changed.lost[0].reason.error == Error(Errc::definition_changed));
  check_refused(bag(chunk(chunk(arm))), Errc::bad_chunk, "it holds a chunk");
  check_refused(bag(chunk(arm + good.substr(0, good.size() - 1))), Errc::bad_chunk, "behind the chunk");
  check_refused(bag(record_of({{"op", "\5"}, {"compression", "none"}, {"size", u32(9)}}, "short")),
                Errc::bad_chunk, "two sizes");
  check_refused(bag(record_of({{"op", "\2"}, {"conn", "3"}}, "")), Errc::record_too_short, "a header");
  check_refused(bag(sized("no field") + sized("")), Errc::record_too_short, "a header");
  check_refused(bag(u32(0xFFFFFFFF)), Errc::record_too_long, "4294967295");
}

TEST_CASE("a damaged chunk of a bag costs that chunk, also if it had the definitions") {
  const std::string head = chunk(arm + message(3, 1, 0, joint_state({"elbow"}, {1})));
  const std::string next = chunk(message(3, 2, 0, joint_state({"elbow"}, {2})));
  std::string damaged = head;
  damaged[damaged.find("op=\2") - 6] = '\x7f';  // the size of the message's header
  const ReadBack back = read_back(bag(damaged + next + arm));
  CHECK(!back.error);
  CHECK(back.positions == std::vector<Position>{{2'000'000'000, 2}});
  REQUIRE(back.lost.size() == 1);
  CHECK(back.lost[0].chunk == 1);
}

TEST_CASE("a message of a bag that is no joint state is left out, with its reason") {
  const auto check_left_out = [](const std::string& bytes, std::string_view reason) {
    const ReadBack back = read_back(bytes);
    CHECK(!back.error);
    REQUIRE(back.left_out.size() == 1);
    CHECK(back.left_out[0].topic == "/arm/joint_states");
    CHECK(back.left_out[0].messages == 1);
    CHECK(back.left_out[0].reason.find(reason) == 0);
  };
  const std::string good = joint_state({"elbow", "wrist"}, {0.5, 1});
  const auto with = [&](const std::string& data) {
    return bag(chunk(arm + message(3, 1, 0, good) + message(3, 2, 0, data)));
  };
  CHECK(!read_back(with(good)).error);
  check_left_out(with(joint_state({"elbow", "wrist"}, {0.5})), "`position` has 1 numbers for 2 names");
  check_left_out(with(u32(0) + u32(0) + u32(0) + sized("") + u32(0xFFFFFFFF)), "its bytes end too early");
  for (std::size_t size = 0; size < good.size(); ++size)
    check_left_out(with(good.substr(0, size)), "its bytes end too early");
}
