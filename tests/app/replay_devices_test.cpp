// Tests that a recording has the readings of sensors and the commands to outputs, and that a replay needs
// neither of these devices. A changed, lost or damaged value is named.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/joint_mover.hpp"
#include "app/robot_client.hpp"
#include "app/run_editor.hpp"
#include "support/random.hpp"
#include "takt/app/error.hpp"
#include "takt/app/replay.hpp"
#include "takt/record/reader.hpp"
#include "takt/robot/controller.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/error.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;
using takt::test::RunEdit;

namespace {

struct Touch {
  std::array<double, 3> force{};  ///< N
  float warmth = 0;
  std::uint8_t contacts = 0;
  std::array<std::uint8_t, 3> unused{};

  TAKT_FIELDS(Touch, force, warmth, contacts, unused)
};

/// A fingertip with random readings and a lamp. It fails in one cycle, if it is told so.
class Fingertip final : public robot::Device {
 public:
  static constexpr component::ComponentMetadata about{.type = "Fingertip",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "device",
                                                      .description = "Feels and shines."};
  Fingertip(std::string name, std::uint64_t salt, std::uint64_t fails_in = 0)
      : Device(about, std::move(name)), random_(test::generator(salt)), fails_in_(fails_in) {}

  SetupResult<void> on_declare(robot::Declarations& declarations) override {
    auto declared = declarations.sensor(name(), touch_);
    if (declared) declared = declarations.state(name() + "/distance", "m", distance_);
    if (declared)
      declared =
          declarations.command(name() + "/lamp", "", lamp_, driven_, robot::SafeValue::ramp_to_zero, 2);
    return declared;
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    if (++cycle_ == fails_in_) return fail(robot::Errc::device_refuses);
    for (double& each : touch_.force) each = test::uniform(random_, -1, 1);
    if (test::uniform_int(random_, 0, 20) == 0)
      touch_.force[2] = test::uniform_int(random_, 0, 1) == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                              : std::numeric_limits<double>::infinity();
    touch_.warmth = static_cast<float>(test::uniform(random_, 20, 40));
    touch_.contacts = static_cast<std::uint8_t>(test::uniform_int(random_, 0, 255));
    distance_ = test::uniform(random_, 0, 0.1);
    return {};
  }

 private:
  std::mt19937_64 random_;
  std::uint64_t fails_in_;
  std::uint64_t cycle_ = 0;
  Touch touch_;
  double distance_ = 0;
  double lamp_ = 0.5;
  bool driven_ = false;
};

/// Moves a joint by what a fingertip feels, and lights its lamp.
class Feeler final : public test::JointMover {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Feeler");
  explicit Feeler(std::string name) : JointMover(about, std::move(name)) {}
  SetupResult<void> on_configure(robot::Resources& resources) override {
    auto touch = resources.sensor<Touch>("tip");
    if (!touch) return tl::unexpected<SetupError>(touch.error());
    auto distance = resources.state("tip/distance");
    auto force = resources.state("tip/force.1");
    auto lamp = resources.claim("tip/lamp");
    if (!distance || !force || !lamp) return fail(robot::Errc::no_such_interface, "the fingertip");
    touch_ = *touch;
    distance_ = *distance;
    force_ = *force;
    lamp_ = *lamp;
    return JointMover::on_configure(resources);
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    at_ += *gain * (touch_->force[0] + force_.get() + distance_.get() + 1e-4 * touch_->contacts - 0.05);
    joint_->follow({at_, 0, 0});
    lamp_.set(std::isfinite(touch_->force[2]) ? touch_->force[2] : 0.01 * touch_->warmth);
    return {};
  }

  component::Parameter<double> gain{*this, "gain", {.initial = 1e-4, .minimum = 0, .maximum = 1}};

 private:
  const Touch* touch_ = nullptr;
  robot::StateHandle distance_;
  robot::StateHandle force_;
  robot::CommandHandle lamp_;
};

/// A recorded run with a fingertip, and one that nobody uses.
class FeltRun {
 public:
  explicit FeltRun(std::uint64_t salt = 0, std::uint64_t fails_in = 0) {
    Fingertip spare("spare", 10 + salt);
    Fingertip tip("tip", salt, fails_in);
    VirtualClock clock;
    RobotOptions options;
    options.clock = &clock;
    options.recording = path;
    options.drain_in_cycle = true;
    options.types = {component::component_type<Feeler>()};
    options.further_devices = {&spare, &tip};
    robot::RobotDescription description = two_joints();
    description.controllers.push_back({.name = "feeler", .type = "Feeler"});
    const auto robot = made(description, options);
    Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
      if (state.loop.cycles == 2000) it.end();
    });
    REQUIRE(robot->run().has_value());
    REQUIRE(robot->finish().has_value());
    cycles = robot->statistics().cycles;
  }

  static ReplayOptions with_feeler() {
    ReplayOptions options;
    options.options.types = {component::component_type<Feeler>()};
    return options;
  }
  [[nodiscard]] static ReplayResult replayed(const std::string& file, ReplayOptions options) {
    record::Reader reader = test::opened(file);
    auto result = replay(reader, std::move(options));
    if (!result) FAIL(result.error().message);
    return std::move(*result);
  }
  /// Replays a copy with these changes.
  [[nodiscard]] SetupResult<ReplayResult> replay_with(RunEdit edit,
                                                      ReplayOptions options = with_feeler()) const {
    return test::replay_copy(path, folder_.file("copy.mcap"), std::move(edit), std::move(options));
  }
  [[nodiscard]] std::string refused_with(RunEdit edit) const {
    const auto result = replay_with(std::move(edit));
    if (result) return "not refused";
    CHECK(result.error().error == Errc::not_replayable);
    return result.error().message;
  }
  [[nodiscard]] std::string file(const char* name) const { return folder_.file(name); }

 private:
  ScratchFolder folder_;

 public:
  std::string path = folder_.file("run.mcap");
  std::uint64_t cycles = 0;
};

/// The commands of each cycle, as a recording has them.
std::vector<std::pair<Time, std::vector<std::uint8_t>>> commands_in(const std::string& file) {
  std::vector<std::pair<Time, std::vector<std::uint8_t>>> found;
  record::Reader reader = test::opened(file);
  while (true) {
    const auto record = reader.next();
    if (!record) FAIL(record.error().message);
    if (*record == nullptr) return found;
    const auto* sample = std::get_if<record::SampleRecord>(*record);
    if (sample != nullptr && sample->topic == "/devices/write")
      found.emplace_back(sample->time, std::vector(sample->message.begin(), sample->message.end()));
  }
}

/// The first cycle whose commands differ.
Time first_difference(const std::string& one, const std::string& other) {
  const auto a = commands_in(one), b = commands_in(other);
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i]) return a[i].first;
  }
  return Time::max();
}

}  // namespace

TEST_CASE("a run with sensors and outputs repeats bit for bit without them, also its own recording") {
  for (std::size_t i = 0; i < test::count(4); ++i) {
    auto random = test::generator(100 + i);
    const auto fails_in = static_cast<std::uint64_t>(i % 2 == 0 ? 0 : test::uniform_int(random, 2, 1900));
    const FeltRun run(i, fails_in);
    ReplayOptions again = FeltRun::with_feeler();
    again.options.recording = run.file("again.mcap");
    const ReplayResult result = FeltRun::replayed(run.path, std::move(again));
    CAPTURE(fails_in);
    CAPTURE(result.difference.value_or(ReplayDifference{}).text());
    CHECK(result.cycles == run.cycles);
    CHECK_FALSE(result.difference);
    CHECK_FALSE(FeltRun::replayed(run.file("again.mcap"), FeltRun::with_feeler()).difference);
  }
}

TEST_CASE("another gain shows in the joint and in the lamp") {
  const FeltRun run;
  record::Reader reader = test::opened(run.path);
  ReplayOptions options = FeltRun::with_feeler();
  auto description = two_joints();
  description.controllers.push_back({.name = "feeler", .type = "Feeler", .parameters = {{"gain", 2e-4}}});
  options.robot = description;
  const auto result = replay(reader, std::move(options));
  REQUIRE(result.has_value());
  REQUIRE(result->difference);
  CHECK(result->difference->joint == "right_joint");
}

TEST_CASE("a changed reading, and a changed command to an output, are found in their cycle") {
  const FeltRun run;
  const Time changed = Time{} + std::chrono::milliseconds(1234);
  ReplayOptions again = FeltRun::with_feeler();
  again.options.recording = run.file("again.mcap");
  const auto result = run.replay_with({.further =
                                           [&](std::string_view topic, Time time, auto& value) {
                                             if (topic == "/sensors/tip/distance" && time == changed) {
                                               const double other = 0.2;
                                               std::memcpy(value.data(), &other, sizeof(other));
                                             }
                                             return true;
                                           }},
                                      std::move(again));
  REQUIRE(result.has_value());
  REQUIRE(result->difference);
  CAPTURE(result->difference->text());
  CHECK(result->difference->time >= changed);  // its limits of jerk may delay a small change
  CHECK(result->difference->time == first_difference(run.path, run.file("again.mcap")));
  CHECK(result->difference->joint == "right_joint");

  const auto lamp = run.replay_with({.further = [&](std::string_view topic, Time time, auto& value) {
    if (topic == "/outputs/tip/lamp" && time == changed) value[0] ^= 1U;
    return true;
  }});
  REQUIRE(lamp.has_value());
  REQUIRE(lamp->difference);
  CHECK(lamp->differing == 1);
  CHECK(lamp->difference->text().starts_with(
      fmt::format("cycle {} at 1.234000 s, output tip/lamp ", lamp->difference->cycle)));
}

TEST_CASE("a lost value is named, whether a controller reads it or not") {
  const FeltRun run;
  for (const char* topic : {"/sensors/tip", "/sensors/spare/distance", "/outputs/spare/lamp"}) {
    const auto message = run.refused_with({.further = [&](std::string_view of, Time time, auto&) {
      return of != topic || time < Time{} + std::chrono::seconds(1);
    }});
    CHECK(message == fmt::format("the recording lacks {} of cycle 1000", topic));
  }
}

TEST_CASE("a damaged list of devices is refused with the reason") {
  const FeltRun run;
  const auto refusal_of = [&](const std::string& devices) {
    return run.refused_with({.metadata = [&](record::Metadata& metadata) { metadata.devices = devices; }});
  };
  CHECK(refusal_of("[").find("is damaged: it is not a JSON object") != std::string::npos);
  CHECK(refusal_of(R"({"devices":[{"name":"tip","readings":[{"name":"tip","schema":"force f65"}]}]})")
            .find("is damaged: the schema of tip is invalid") != std::string::npos);
  CHECK(refusal_of(
            R"({"devices":[{"name":"tip","readings":[{"name":"a","schema":"x f64[131072]"},{"name":"b"}]}]})")
            .find("is damaged: readings of 1048584 bytes, at most 1048576") != std::string::npos);
  std::string many;
  for (int i = 0; i < 65; ++i) many += fmt::format(R"({}{{"name":"d{}"}})", i == 0 ? "" : ",", i);
  CHECK(refusal_of(R"({"devices":[)" + many + "]}").find("65 devices, at most 64 are possible") !=
        std::string::npos);
}

TEST_CASE("more devices than a recording has bits for are refused before the run") {
  const ScratchFolder folder;
  VirtualClock clock;
  for (const bool is_recorded : {false, true}) {
    std::deque<Fingertip> tips;
    RobotOptions options;
    options.clock = &clock;
    for (int i = 0; i < 65; ++i)
      options.further_devices.push_back(&tips.emplace_back(fmt::format("tip{}", i), 0));
    if (is_recorded) options.recording = folder.file("run.mcap");
    const auto robot = Robot::create(two_joints(), options);
    REQUIRE(robot.has_value() != is_recorded);
    if (!robot) CHECK(robot.error().message == "65 further devices, at most 64 can be recorded");
  }
}
