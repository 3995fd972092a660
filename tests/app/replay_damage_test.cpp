// Tests the replay of recordings with planted changes. A changed number is found in its cycle and joint, a
// lost or invalid record is named.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/joint_mover.hpp"
#include "app/robot_client.hpp"
#include "app/run_editor.hpp"
#include "support/random.hpp"
#include "support/source_dir.hpp"
#include "takt/app/error.hpp"
#include "takt/app/replay.hpp"
#include "takt/drives/registry.hpp"
#include "takt/record/reader.hpp"
#include "takt/robot/controller.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;
using namespace std::chrono_literals;
using takt::test::RunEdit;

namespace {

/// Moves a joint by its measured position.
class Wheel final : public test::JointMover {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Wheel");
  explicit Wheel(std::string name) : JointMover(about, std::move(name)) {}
  Status on_execute(const component::CycleTime&) noexcept override {
    at_ += 1e-3 * (0.5 - joint_->feedback().position);
    joint_->follow({at_, 0, 0});
    return {};
  }
};

/// A recorded run: the wheel turns the right joint, and requests move the left one.
class RecordedRun {
 public:
  explicit RecordedRun(const std::function<void(RobotOptions&)>& change = {}) {
    VirtualClock clock;
    RobotOptions options;
    options.clock = &clock;
    options.recording = path;
    options.drain_in_cycle = true;
    options.types = {component::component_type<Wheel>()};
    if (change) change(options);
    description.controllers.push_back({.name = "wheel", .type = "Wheel"});
    const auto robot = made(description, options);
    Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
      if (state.state == motion::RobotState::ready && state.loop.cycles % 300 == 0)
        it.move({"left_joint"}, {0.001 * static_cast<double>(state.loop.cycles % 700)}, state);
      if (state.loop.cycles == last_move + 500) it.end();
    });
    REQUIRE(robot->run().has_value());
    REQUIRE(robot->finish().has_value());
    CHECK(client.refused().empty());
    cycles = robot->statistics().cycles;
  }

  /// Replays a copy with these changes.
  [[nodiscard]] SetupResult<ReplayResult> replay_with(RunEdit edit) const {
    ReplayOptions options;
    options.options.types = {component::component_type<Wheel>()};
    return test::replay_copy(path, folder_.file("copy.mcap"), std::move(edit), std::move(options));
  }
  [[nodiscard]] ReplayResult replayed_with(RunEdit edit) const {
    const auto result = replay_with(std::move(edit));
    if (!result) FAIL(result.error().message);
    return *result;
  }
  /// The message of the refusal.
  [[nodiscard]] std::string refused_with(RunEdit edit) const {
    const auto result = replay_with(std::move(edit));
    if (result) {
      FAIL_CHECK("not refused");
      return {};
    }
    CHECK(result.error().error == Errc::not_replayable);
    return result.error().message;
  }

  static constexpr std::uint64_t last_move = 2100;  ///< cycle

 private:
  ScratchFolder folder_;

 public:
  robot::RobotDescription description = two_joints();
  std::string path = folder_.file("run.mcap");
  std::uint64_t cycles = 0;
};

/// Cycles in which the wheel turns.
std::uint64_t some_cycle(std::mt19937_64& random) {
  return static_cast<std::uint64_t>(test::uniform_int(random, 1000, 2000));
}

template <class T>
auto lose(std::uint64_t which) {
  return [which](std::uint64_t index, T&) { return index != which; };
}

bool contains(const std::string& text, const std::string& part) {
  CAPTURE(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("a copy of a recording replays, and a changed number is found in its cycle and joint") {
  const RecordedRun run;
  CHECK(run.replayed_with({}).cycles == run.cycles);
  CHECK_FALSE(run.replayed_with({}).difference);
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(8); ++i) {
    const std::uint64_t at = some_cycle(random);
    const auto bit = std::uint64_t{1} << test::uniform_int(random, 0, 51);
    const auto flip = [bit](double& value) {
      value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ bit);
    };
    CAPTURE(at);
    CAPTURE(bit);

    const ReplayResult written = run.replayed_with({.write = [&](std::uint64_t index, auto& commands) {
      if (index == at) flip(commands[0].position);
      return true;
    }});
    REQUIRE(written.difference);
    CHECK(written.differing == 1);
    CHECK(written.difference->cycle == at);
    CHECK(written.difference->joint == "left_joint");
    CHECK(written.difference->field == "position");
    CHECK(written.difference->value != written.difference->expected);

    const ReplayResult read = run.replayed_with({.read = [&](std::uint64_t index, auto& feedback) {
      if (index == at) feedback[1].position += 1e-9;
      return true;
    }});
    REQUIRE(read.difference);
    CHECK(read.difference->cycle == at);
    CHECK(read.difference->joint == "right_joint");
  }
}

TEST_CASE("a lost record is named, whichever it is") {
  const RecordedRun run;
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(3); ++i) {
    const std::uint64_t at = some_cycle(random);
    const std::string lacks = fmt::format("the recording lacks the {{}} of cycle {}", at);
    const auto text = [&](const char* what) { return fmt::format(fmt::runtime(lacks), what); };
    contains(run.refused_with({.read = lose<std::vector<RecordedFeedback>>(at)}), text("readings"));
    contains(run.refused_with({.write = lose<std::vector<RecordedCommand>>(at)}), text("commands"));
    contains(run.refused_with({.inputs = lose<RecordedInputs>(at)}), text("inputs"));
    contains(run.refused_with({.cycle = lose<record::Cycle>(at)}), text("times"));
    contains(run.refused_with({.read = lose<std::vector<RecordedFeedback>>(at),
                               .write = lose<std::vector<RecordedCommand>>(at),
                               .inputs = lose<RecordedInputs>(at),
                               .cycle = lose<record::Cycle>(at)}),
             fmt::format(
                 "the recording lacks cycle {0}, and goes on with cycle {1}: cycles 0 to {2}, up to "
                 "{3:.3f} s after the first, give the recorded commands; from {4:.3f} s on nothing can "
                 "be replayed: ",
                 at, at + 1, at - 1, 1e-3 * static_cast<double>(at - 1), 1e-3 * static_cast<double>(at + 1)));
  }
  contains(run.refused_with({.request = lose<std::vector<std::uint8_t>>(2)}),
           "the recording lacks request 3, and goes on with request 4");
  contains(run.refused_with({.inputs = [](std::uint64_t, RecordedInputs&) { return false; }}),
           "the recording lacks the inputs of cycle 0");
}

TEST_CASE("a recording that ends early is replayed up to its last whole cycle") {
  const RecordedRun run;
  const std::uint64_t end = 1234;
  std::uint64_t more = 0;
  SUBCASE("between two cycles") {}
  SUBCASE("within a cycle") { more = 1; }
  const ReplayResult result =
      run.replayed_with({.read = [&](std::uint64_t index, auto&) { return index < end + more; },
                         .write = [&](std::uint64_t index, auto&) { return index < end; },
                         .inputs = [&](std::uint64_t index, auto&) { return index < end + more; },
                         .cycle = [&](std::uint64_t index, auto&) { return index < end; }});
  CHECK_FALSE(result.difference);
  CHECK(result.cycles == end);
}

TEST_CASE("a recording that ends before a request is replayed up to the cycle that took it") {
  const RecordedRun run;
  const ReplayResult result =
      run.replayed_with({.request = [](std::uint64_t index, auto&) { return index < 4; }});
  CHECK_FALSE(result.difference);
  CHECK(result.cycles > 1000);
  CHECK(result.cycles < run.cycles);
}

TEST_CASE("values that no loop writes are refused by name") {
  const RecordedRun run;
  const auto reading = [&](auto change) {
    return run.refused_with({.read = [=](std::uint64_t index, std::vector<RecordedFeedback>& feedback) {
      if (index == 1500) change(feedback[1]);
      return true;
    }});
  };
  const std::string invalid = "cycle 1500: the reading of joint right_joint is invalid";
  contains(reading([](RecordedFeedback& it) { it.drive = 5; }), invalid);
  contains(reading([](RecordedFeedback& it) { it.mode = 3; }), invalid);
  contains(reading([](RecordedFeedback& it) { it.heard = 6; }), invalid);
  contains(reading([](RecordedFeedback& it) { it.stamp = Time::max(); }), invalid);

  const auto inputs = [&](auto change) {
    return run.refused_with({.inputs = [=](std::uint64_t index, RecordedInputs& all) {
      if (index == 1500) change(all);
      return true;
    }});
  };
  contains(inputs([](RecordedInputs& it) { it.requests = 0xffff'ffff; }),
           "cycle 1500: the inputs are invalid");
  contains(inputs([](RecordedInputs& it) { it.reset = 2; }), "cycle 1500: the inputs are invalid");
  contains(inputs([](RecordedInputs& it) { it.shut_down = 0xff; }), "cycle 1500: the inputs are invalid");
  contains(inputs([](RecordedInputs& it) { it.cycle = 7; }), "the recording lacks cycle 1500");

  const auto request = run.refused_with({.request = [](std::uint64_t index, auto& record) {
    if (index == 2) record.resize(record.size() / 2);
    return true;
  }});
  contains(request, "request 3 is malformed");
  const auto readings = run.refused_with({.read = [](std::uint64_t index, auto& feedback) {
    if (index == 1500) feedback.pop_back();
    return true;
  }});
  contains(readings, "/devices/read has messages of another form, or for another number of joints");
}

TEST_CASE("a gap after the first difference leaves the difference, and is told") {
  const RecordedRun run;
  const ReplayResult result = run.replayed_with(
      {.read = lose<std::vector<RecordedFeedback>>(1800), .write = [](std::uint64_t index, auto& commands) {
         if (index == 1700) commands[0].effort = 1;
         return true;
       }});
  REQUIRE(result.difference);
  CHECK(result.difference->cycle == 1700);
  CHECK(result.difference->field == "effort");
  CHECK(result.cycles == 1800);
  CHECK(result.ended_early == "the recording lacks the readings of cycle 1800");
}

TEST_CASE("a recording with any bytes ends in a result or in a named error") {
  const RecordedRun run;
  auto random = test::generator(3);
  const auto spoil = [&](std::span<std::uint8_t> bytes) {
    if (bytes.empty() || test::uniform_int(random, 0, 400) != 0) return true;
    for (auto i = test::uniform_int(random, 1, 4); i > 0; --i) {
      const auto where = static_cast<std::size_t>(test::uniform_int(random, 0, 1'000'000)) % bytes.size();
      bytes[where] = static_cast<std::uint8_t>(test::uniform_int(random, 0, 255));
    }
    return test::uniform_int(random, 0, 9) != 0;
  };
  const auto bytes_in = [](auto& value) {
    return std::span{reinterpret_cast<std::uint8_t*>(&value), sizeof(value)};
  };
  for (std::size_t i = 0; i < test::count(20); ++i) {
    const auto kind = test::uniform_int(random, 0, 4);
    RunEdit edit;
    if (kind == 0) edit.read = [&](std::uint64_t, auto& list) { return spoil(bytes_in(list[0])); };
    if (kind == 1) edit.write = [&](std::uint64_t, auto& list) { return spoil(bytes_in(list[1])); };
    if (kind == 2) edit.inputs = [&](std::uint64_t, auto& value) { return spoil(bytes_in(value)); };
    if (kind == 3) edit.request = [&](std::uint64_t, auto& record) { return spoil(record); };
    if (kind == 4) {
      edit.cycle = [&](std::uint64_t, record::Cycle& cycle) {
        const auto any = [&] { return Duration(test::uniform_int(random, -2'000'000'000, 2'000'000'000)); };
        if (test::uniform_int(random, 0, 400) == 0) cycle.lateness = any();
        if (test::uniform_int(random, 0, 400) == 0) cycle.busy = any();
        return true;
      };
    }
    const auto result = run.replay_with(std::move(edit));
    if (result) CHECK(result->cycles <= run.cycles);
    if (!result) CHECK_FALSE(result.error().message.empty());
  }
}

TEST_CASE("a stepped replay stops where its caller says so") {
  const RecordedRun run;
  record::Reader reader = test::opened(run.path);
  ReplayOptions options;
  options.options.types = {component::component_type<Wheel>()};
  std::vector<std::uint64_t> seen;
  options.step = [&seen](Robot& robot, std::uint64_t cycle) {
    CHECK(robot.description().joints.size() == 2);
    seen.push_back(cycle);
    return cycle < 99;
  };
  const auto result = replay(reader, std::move(options));
  REQUIRE(result);
  CHECK(result->cycles == 99);
  CHECK(result->ended_early == "its caller stopped it before cycle 99");
  CHECK_FALSE(result->difference);
  REQUIRE(seen.size() == 100);
  CHECK(seen.front() == 0);
  CHECK(seen.back() == 99);
}

TEST_CASE("the files of a rotated recording are replayed as one") {
  const RecordedRun run([](RobotOptions& options) { options.recorder.rotate_after = 1s; });
  const std::string stem = run.path.substr(0, run.path.size() - std::string(".mcap").size());
  record::Reader first = test::opened(run.path);
  record::Reader second = test::opened(stem + ".1.mcap");
  record::Reader third = test::opened(stem + ".2.mcap");
  ReplayOptions options;
  options.options.types = {component::component_type<Wheel>()};
  SUBCASE("all of them") {
    options.further_files = {&second, &third};
    const auto result = replay(first, std::move(options));
    REQUIRE(result);
    CHECK(result->cycles > 2000);
    CHECK_FALSE(result->difference);
  }
  SUBCASE("without one of them") {
    options.further_files = {&third};
    const auto result = replay(first, std::move(options));
    REQUIRE_FALSE(result);
    contains(result.error().message, "the recording lacks the ");
  }
}

TEST_CASE("requests that another robot's limits forbid are left out and counted") {
  const RecordedRun run;
  record::Reader reader = test::opened(run.path);
  ReplayOptions options;
  options.options.types = {component::component_type<Wheel>()};
  options.robot = run.description;
  options.robot->joints[0].limits.velocity /= 2;
  const auto result = replay(reader, std::move(options));
  REQUIRE(result);
  CHECK(result->left_out > 0);
  REQUIRE(result->difference);
  CHECK(result->difference->joint == "left_joint");
}

TEST_CASE("the shipped robots repeat bit for bit, and a changed gain is found, in every mode") {
  const ScratchFolder folder;
  struct Case {
    const char* robot;
    const char* output;  ///< of a PID on the second joint; null: no PID
  };
  for (const Case& one : {Case{"mhubo", nullptr}, Case{"arm6", nullptr}, Case{"mit_arm3", "effort"},
                          Case{"mit_arm3", "velocity"}, Case{"odrive_arm", "velocity"}}) {
    const std::string name = one.robot;
    CAPTURE(name);
    auto loaded =
        drives::load_robot_file(fmt::format("{}/examples/robots/{}.json", TAKT_SOURCE_DIR, one.robot));
    REQUIRE(loaded);
    const std::string joint = loaded->joints[1].name;
    if (one.output != nullptr) {
      loaded->controllers.push_back({.name = "pid",
                                     .type = "PidController",
                                     .parameters = {{"joints", joint},
                                                    {"output", one.output},
                                                    {"proportional", "3"},
                                                    {"derivative", "0.1"},
                                                    {"feed_forward", 0.5}}});
    }
    VirtualClock clock;
    RobotOptions options;
    options.clock = &clock;
    options.devices.simulate = true;
    options.recording = folder.file("run.mcap");
    options.overwrite = true;
    options.drain_in_cycle = true;
    const auto robot = made(*loaded, options);
    auto random = test::generator(4);
    Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
      if (state.state == motion::RobotState::ready && state.loop.cycles % 400 == 0)
        it.move({loaded->joints[0].name}, {test::uniform(random, -0.2, 0.2)}, state);
      if (state.time - Time{} > 6s) it.end();
    });
    REQUIRE(robot->run().has_value());
    REQUIRE(robot->finish().has_value());
    CHECK(client.goals() > 0);

    record::Reader reader = test::opened(options.recording);
    const auto result = replay(reader, {});
    REQUIRE(result);
    CAPTURE(result->difference.value_or(ReplayDifference{}).text());
    CHECK(result->differing == 0);
    CHECK(result->cycles == robot->statistics().cycles);
    if (one.output == nullptr) continue;

    record::Reader again = test::opened(options.recording);
    ReplayOptions changed;
    changed.robot = *loaded;
    changed.robot->controllers.back().parameters[2].value = "3.0001";
    const auto other = replay(again, std::move(changed));
    REQUIRE(other);
    REQUIRE(other->difference);
    CHECK(other->difference->joint == joint);
    CHECK(other->difference->field == one.output);
  }
}
