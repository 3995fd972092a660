// Messages, topics and definitions as ROS 2 has them.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "record/cdr.hpp"
#include "record/joint_state_message.hpp"
#include "record/message_form.hpp"
#include "record/recording_messages.hpp"
#include "record/recordings.hpp"
#include "record/ros2_names.hpp"
#include "record/standard_message.hpp"
#include "support/random.hpp"
#include "takt/controllers/base_drive.hpp"
#include "takt/record/reader.hpp"
#include "takt/record/recorder.hpp"
#include "takt/robot/sensors.hpp"

using namespace takt;
using namespace takt::record;
using namespace takt::test::recordings;

TEST_CASE("an inertial unit and a wrench are recorded as ROS 2 has them, and read back bit for bit") {
  // The room knows these types by their schemas alone.
  CHECK(record::standard_message(shm::schema_text<robot::ImuSample>())->name == "sensor_msgs/msg/Imu");
  CHECK(record::standard_message(shm::schema_text<robot::Wrench>())->name ==
        "geometry_msgs/msg/WrenchStamped");
  CHECK(record::standard_message(shm::schema_text<double>()) == nullptr);

  const ScratchFile file;
  Metadata metadata;
  metadata.period = Duration(1);
  metadata.epoch = std::chrono::seconds(1'000'000'000);
  RecorderOptions options;
  options.topics = {{"/sensors/left_foot", "takt/msg/LeftFoot", shm::schema_text<robot::Wrench>()},
                    {"/sensors/imu", "takt/msg/Imu", shm::schema_text<robot::ImuSample>()}};
  auto recorder = Recorder::create(file.path(), metadata, options);
  REQUIRE(recorder);
  const robot::Wrench foot{{1, -2, 1.0 / 3}, {4, 5, -0.0}};
  robot::ImuSample imu{.angular_velocity = {0.1, 0.2, 0.3}, .acceleration = {0, 0, 9.81}};
  const auto bytes_of = [](const auto& value) {
    return std::span{reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)};
  };
  (*recorder)->loop().sample(0, Time(Duration(5)), bytes_of(foot));
  (*recorder)->loop().sample(1, Time(Duration(6)), bytes_of(imu));
  imu.orientation = {};  // unknown
  (*recorder)->loop().sample(1, Time(Duration(7)), bytes_of(imu));
  REQUIRE((*recorder)->finish());

  const Bytes written = file.bytes();
  auto reader = Reader::from_bytes(written);
  REQUIRE(reader);
  auto record = reader->next();
  REQUIRE(record);
  const auto first = std::get<SampleRecord>(**record);
  CHECK(first.type == "geometry_msgs/msg/WrenchStamped");
  CdrReader wrench(first.message);
  CHECK(wrench.number<std::int32_t>() == 1'000'000'000);
  CHECK(wrench.number<std::uint32_t>() == 5);
  CHECK(wrench.text() == "left_foot");
  for (const double number : {1.0, -2.0, 1.0 / 3, 4.0, 5.0, -0.0}) CHECK(wrench.number<double>() == number);
  CHECK(wrench.ok());

  for (const bool has_orientation : {true, false}) {
    record = reader->next();
    REQUIRE(record);
    const auto sample = std::get<SampleRecord>(**record);
    CHECK(sample.type == "sensor_msgs/msg/Imu");
    // The header with "imu" has 16 bytes.
    CHECK(sample.message.size() == 4 + 16 + (4 + 9 + 3 + 9 + 3 + 9) * sizeof(double));
    CdrReader numbers(sample.message);
    static_cast<void>(numbers.number<std::uint64_t>());
    CHECK(numbers.text() == "imu");
    for (const double number : {0.0, 0.0, 0.0, has_orientation ? 1.0 : 0.0})
      CHECK(numbers.number<double>() == number);
    CHECK(numbers.number<double>() == (has_orientation ? 0 : -1));
    CdrReader again(sample.message);
    robot::ImuSample back;
    REQUIRE(record::MessageForm(sample.schema, sample.type)
                .read(again, {reinterpret_cast<std::uint8_t*>(&back), sizeof(back)}));
    CHECK(back.angular_velocity == imu.angular_velocity);
    CHECK(back.acceleration == imu.acceleration);
    CHECK(back.orientation == (has_orientation ? robot::no_rotation : robot::Quaternion{}));
  }
}

TEST_CASE("odometry is recorded as ROS 2 has it where that is asked for, and read back but for rounding") {
  const std::string_view schema = shm::schema_text<controllers::OdometrySample>();
  REQUIRE(record::standard_message(schema) != nullptr);
  CHECK(record::standard_message(schema)->name == "nav_msgs/msg/Odometry");
  auto random = takt::test::generator();
  const auto number = [&] { return takt::test::uniform(random, -3, 3); };
  controllers::OdometrySample sample{{number(), number(), number()}, {number(), number(), number()}, {}};
  for (double& each : sample.covariance) each = number();
  const std::span bytes{reinterpret_cast<const std::uint8_t*>(&sample), sizeof(sample)};

  const record::MessageForm form(schema, "nav_msgs/msg/Odometry");
  CdrWriter writer;
  writer.begin();
  form.write(writer, bytes, {.stamp = 1'500'000'000});
  CdrReader reader(writer.message());
  CHECK(reader.number<std::int32_t>() == 1);
  CHECK(reader.number<std::uint32_t>() == 500'000'000);
  CHECK(reader.text() == "odom");
  CHECK(reader.text() == "base_link");
  std::array<double, 7 + 36 + 6 + 36> numbers{};
  for (double& each : numbers) each = reader.number<double>();
  REQUIRE(reader.ok());
  CHECK(numbers[0] == sample.pose.x);
  CHECK(numbers[1] == sample.pose.y);
  CHECK(2 * std::atan2(numbers[5], numbers[6]) == doctest::Approx(sample.pose.heading));
  CHECK(numbers[7 + 6 * 0 + 5] == sample.covariance[2]);  // x and yaw
  CHECK(numbers[7 + 6 * 5 + 1] == sample.covariance[7]);  // yaw and y
  CHECK(numbers[43] == sample.twist.forward);
  CHECK(numbers[44] == sample.twist.left);
  CHECK(numbers[48] == sample.twist.rotation);

  CdrReader again(writer.message());
  controllers::OdometrySample back;
  REQUIRE(form.read(again, {reinterpret_cast<std::uint8_t*>(&back), sizeof(back)}));
  CHECK(back.pose.heading == doctest::Approx(sample.pose.heading).epsilon(1e-12));
  back.pose.heading = sample.pose.heading;
  CHECK(back.pose == sample.pose);
  CHECK(back.twist == sample.twist);
  CHECK(back.covariance == sample.covariance);
  const auto whole = writer.message();
  for (std::size_t size = 0; size < whole.size(); size += 8) {
    CdrReader cut(whole.first(size));
    CHECK_FALSE(form.read(cut, {reinterpret_cast<std::uint8_t*>(&back), sizeof(back)}));
  }
}

TEST_CASE("topics have names that ROS 2 allows, and read back as they were") {
  CHECK(record::ros2_topic("/joints/measured") == "/joints/measured");
  CHECK(record::ros2_topic("/reads/base.command") == "/reads/base/command");
  CHECK(record::ros2_topic("/variables/wrench/force.0") == "/variables/wrench/force_0");
  CHECK(record::ros2_topic("/buses/left arm--2__x") == "/buses/left_arm_2_x");
  CHECK(record::ros2_topic("/a..b/") == "/a/b");
  CHECK(record::ros2_topic("/3x/_y_./z") == "/n3x/y/z");
  CHECK(record::ros2_topic("/") == "unnamed");

  const ScratchFile file;
  Metadata metadata;
  metadata.period = Duration(1);
  metadata.buses = {"left arm"};
  RecorderOptions options;
  const std::array<std::string, 4> topics = {"/ports/a/b", "/ports/a.b", "/ports/a-b", "/ports/a_b"};
  for (const std::string& topic : topics)
    options.topics.push_back(
        {.topic = topic, .type = "test/msg/Number", .schema = shm::schema_text<double>(), .unit = "N m"});
  auto recorder = Recorder::create(file.path(), metadata, options);
  REQUIRE(recorder);
  const double value = 1;
  const std::span bytes{reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)};
  for (std::size_t i = 0; i < topics.size(); ++i) (*recorder)->loop().sample(i, Time(Duration(5)), bytes);
  (*recorder)->loop().buses(Time(Duration(6)), std::array{BusSample{.load = 0.5}});
  REQUIRE((*recorder)->finish());

  const Bytes written = file.bytes();
  const std::string text(written.begin(), written.end());
  for (const char* legal : {"/ports/a/b", "/ports/a/b_2", "/ports/a_b", "/ports/a_b_2", "/buses/left_arm"})
    CHECK(text.find(std::string(1, static_cast<char>(std::string_view(legal).size())) + std::string(3, '\0') +
                    legal) != std::string::npos);
  CHECK(text.find("float64 value  # N m\n") != std::string::npos);
  auto reader = Reader::from_bytes(written);
  REQUIRE(reader);
  for (const std::string& topic : topics) {
    auto record = reader->next();
    REQUIRE(record);
    CHECK(std::get<SampleRecord>(**record).topic == topic);
  }
  auto record = reader->next();
  REQUIRE(record);
  CHECK(std::get<BusRecord>(**record).buses[0].load == 0.5);

  options.topics.push_back(options.topics.back());
  const ScratchFile other;
  CHECK_FALSE(Recorder::create(other.path(), metadata, options));
}

TEST_CASE("definitions have codes as constants and units as comments, and compare without them") {
  Metadata metadata;
  metadata.robot_states = {"starting", "ready"};
  metadata.reasons = {{7, "bus_down"}};
  const record::MessageForms forms;
  const std::string noted = record::with_notes(forms.cycle_definition(), record::cycle_notes(metadata));
  for (const char* line :
       {"uint8 ROBOT_STATE_STARTING=0\nuint8 ROBOT_STATE_READY=1\nuint8 robot_state\n",
        "uint16 REASON_BUS_DOWN=7\nuint16 reason  # ", "int64 time  # ns of the robot's clock\n"})
    CHECK(noted.find(line) != std::string::npos);
  CHECK(record::without_notes(noted) == forms.cycle_definition());
  const std::string& joints = record::joint_state_schema();
  CHECK(record::without_notes(joints) == joints);
  // Every note has its field.
  const auto count = [](std::string_view text) { return std::ranges::count(text, '#'); };
  const auto noted_lines = [](const auto& notes) {
    return std::ranges::count_if(notes, [](const auto& note) { return !note.text.empty(); });
  };
  CHECK(count(noted) == noted_lines(record::cycle_notes(metadata)));
  const auto events = record::event_notes(metadata);
  CHECK(count(record::with_notes(forms.event.definition(), events)) == noted_lines(events));
  CHECK(count(record::with_notes(forms.bus.definition(), record::bus_notes())) == 4);
  CHECK(count(record::with_notes(forms.loop.definition(), record::loop_notes())) == 3);
}
