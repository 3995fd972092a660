// A report tells what was measured, and nothing else. This holds for joints that no goal moved, files of
// other programs, damaged files, and stops.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "record/joint_state_message.hpp"
#include "record/mcap_writer.hpp"
#include "record/report/scratch_folder.hpp"
#include "takt/motion/error.hpp"
#include "takt/record/recorder.hpp"
#include "tools/report.hpp"
#include "tools/report_data.hpp"
#include "tools/report_html.hpp"
#include "tools/report_live.hpp"
#include "tools/report_plots.hpp"

using namespace takt;
using namespace takt::tools;
using namespace takt::test::reports;

namespace {

/// A file of another program: a joint with positions, one with velocities and efforts, `count` times.
void write_foreign(const std::string& path, int count = 100) {
  record::McapDefinitions definitions;
  definitions.library = "another program";
  definitions.schemas = {{1, record::joint_state_name, "ros2msg", "..."}};
  definitions.channels = {{1, 1, "/joint_states", "cdr"}};
  record::McapFile file(definitions);
  record::Bytes bytes = file.begin();
  record::ChunkBuilder chunk(nullptr);
  const std::vector<std::string> elbow{"elbow"}, wheel{"wheel"};
  for (int i = 0; i < count; ++i) {
    const std::vector<double> number{std::sin(0.1 * i)};
    const std::uint64_t time = std::uint64_t{10'000'000} * static_cast<std::uint64_t>(i);
    record::CdrWriter writer;
    record::write_joint_state(writer, {time, "", elbow, number, {}, {}});
    chunk.add(1, time, writer.message());
    record::write_joint_state(writer, {time, "", wheel, {}, number, number});
    chunk.add(1, time, writer.message());
  }
  const record::PackedChunk packed = chunk.pack();
  record::append(bytes, std::span<const std::uint8_t>(packed.bytes));
  file.wrote(packed);
  record::append(bytes, std::span<const std::uint8_t>(file.end({"last", {}})));
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

/// Three joints without a goal: one that a controller moves, one that is pushed, one at rest. Then the
/// robot stops for this reason; the goals 1 to 30, and a request without a goal, end before.
void write_without_goals(const std::string& path, motion::Errc reason) {
  record::Metadata metadata;
  metadata.period = Duration(10'000'000);
  metadata.joints = {"moved", "pushed", "resting"};
  metadata.robot_states = {"starting", "ready", "stopping", "stopped", "down"};
  metadata.goal_states = {"pending", "active", "preempting", "succeeded", "aborted", "rejected", "preempted"};
  metadata.reasons = {{static_cast<std::uint16_t>(reason), std::string(motion::reason_name(reason))}};
  auto recorder = record::Recorder::create(path, metadata);
  REQUIRE(recorder);
  for (int i = 0; i < 200; ++i) {
    record::Cycle cycle;
    cycle.time = Time(std::chrono::milliseconds(10 * i));
    cycle.robot_state = i < 190 ? 1 : 4;
    cycle.reason = i < 190 ? std::uint16_t{0} : static_cast<std::uint16_t>(reason);
    const double wave = 0.1 * std::sin(0.1 * i);
    (*recorder)->loop().cycle(cycle, [&](std::size_t joint) {
      record::JointSample sample;
      sample.reference_position = joint == 0 ? wave : 0;
      sample.measured_position = joint == 0 ? 0.99 * wave : joint == 1 ? wave : 0;
      sample.measured_effort = std::nan("");
      return sample;
    });
    REQUIRE((*recorder)->drain());
  }
  for (std::uint64_t goal = 0; goal <= 30; ++goal) {
    record::GoalEvent event;
    event.at = Time(std::chrono::milliseconds(1800 + goal));
    event.goal = (goal + 1) % 31;
    event.state = event.goal == 0 ? 3 : 6;
    (*recorder)->loop().event(event);
  }
  REQUIRE((*recorder)->finish());
}

nlohmann::json summary_of(const ScratchFolder& folder) {
  return nlohmann::json::parse(contents(folder / "out" / "summary.json"));
}

}  // namespace

TEST_CASE("of another program's file each joint has its curves, and nothing is told that nobody measured") {
  const ScratchFolder folder;
  const std::string path = (folder / "other.mcap").string();
  write_foreign(path);
  const auto outcome = make_report(path, folder / "out");
  REQUIRE(outcome);
  CHECK(outcome->sentence == "100 times of 2 joints");
  const std::string page = contents(folder / "out" / "index.html");
  for (const char* words : {"periods missed", "requests accepted", "buses:", "takt </p>", "loop lateness",
                            "<h2>Sections", "<h2>States of the robot", "tracking error:"}) {
    CAPTURE(words);
    CHECK(page.find(words) == std::string::npos);
  }
  const std::string elbow = contents(folder / "out" / "plots" / "joint_00_elbow.gp");
  const std::string wheel = contents(folder / "out" / "plots" / "joint_01_wheel.gp");
  CHECK(elbow.find("'position (rad or m)'") != std::string::npos);
  CHECK(elbow.find("'velocity (rad/s or m/s)'") == std::string::npos);
  CHECK(elbow.find("$reference") == std::string::npos);
  CHECK(elbow.find("'error (rad or m)'") == std::string::npos);
  CHECK(wheel.find("'position (rad or m)'") == std::string::npos);
  CHECK(wheel.find("'velocity (rad/s or m/s)'") != std::string::npos);
  CHECK(wheel.find("'effort (N m or N)'") != std::string::npos);
  // Joint states do not tell which joints are linear, such as the fingers of a gripper.
  CHECK(page.find("°") == std::string::npos);
  CHECK(page.find("Measured from -0.99992 rad or m to 0.99957 rad or m. No reference is recorded.") !=
        std::string::npos);
  const auto summary = summary_of(folder);
  CHECK(summary["recording"]["complete"] == true);
  CHECK(summary["recording"]["records_dropped"].is_null());
  CHECK(summary["loop"]["overruns"].is_null());
  CHECK(summary["loop"]["cycles"].is_null());
  CHECK(summary["loop"]["busy_us"]["count"] == 0);
  CHECK(summary["goals"].is_null());
  CHECK(summary["state_changes"].empty());
  CHECK(contents(folder / "out" / "joints.csv").find("\n0.010000000,,,,,,,nan,nan,nan,0.0998") !=
        std::string::npos);
  const auto data = read_report_data(path);
  REQUIRE(data);
  CHECK(is_live(*data, "joint_00_elbow"));
  CHECK(is_live(*data, "joint_01_wheel"));
}

TEST_CASE("one time of another program's file is drawn as points, and has no rate") {
  const ScratchFolder folder;
  const std::string path = (folder / "other.mcap").string();
  write_foreign(path, 1);
  REQUIRE(make_report(path, folder / "out"));
  const std::string elbow = contents(folder / "out" / "plots" / "joint_00_elbow.gp");
  CHECK(elbow.find("$measured with points pt 7") != std::string::npos);
  CHECK(contents(folder / "out" / "index.html").find(" Hz") == std::string::npos);
  CHECK(summary_of(folder)["recording"]["period_us"].is_null());
}

TEST_CASE("a joint that no goal moved has its curves and its error") {
  const ScratchFolder folder;
  const std::string path = (folder / "r").string();
  write_without_goals(path, motion::Errc::emergency_stop);
  REQUIRE(make_report(path, folder / "out"));
  for (const char* stem : {"joint_00_moved", "joint_01_pushed", "joint_02_resting"})
    CHECK(std::filesystem::exists(folder / "out" / "plots" / (std::string(stem) + ".gp")));
  const auto joints = summary_of(folder)["whole"]["tracking"]["joints"];
  REQUIRE(joints.size() == 2);
  CHECK(joints[0]["joint"] == "moved");
  CHECK(joints[0]["samples"] == 200);
  CHECK(joints[0]["command_minus_measured_deg"].is_null());
  CHECK(joints[0]["lag_ms"].is_null());
  CHECK(joints[1]["joint"] == "pushed");
  CHECK(joints[1]["reference_minus_measured_deg"]["max"].get<double>() ==
        doctest::Approx(5.73).epsilon(0.01));
  const std::string page = contents(folder / "out" / "index.html");
  CHECK(page.find("No goal moved it. It travels 11.5° and stays within 5.7") != std::string::npos);
  CHECK(page.find("periods missed") == std::string::npos);  // the recording has no totals of the loop
}

TEST_CASE("a stop is told with the requests before it, and the normal end of a program is none") {
  const ScratchFolder folder;
  const std::string path = (folder / "r").string();
  write_without_goals(path, motion::Errc::emergency_stop);
  auto data = read_report_data(path);
  REQUIRE(data);
  const std::string page = index_html(*data, {}, "", "");
  CHECK(page.find("<td class=\"text\">30 goals, 1 to 30 preempted</td>") != std::string::npos);
  CHECK(page.find("<td class=\"text\">a request without a goal succeeded</td>") != std::string::npos);
  CHECK(page.find("goal 0") == std::string::npos);
  auto states = nlohmann::json::parse(live_json(*data))["states"];
  REQUIRE(states.size() == 2);
  CHECK(states[0]["label"] == "ready");
  CHECK(states[0]["end"].get<double>() == doctest::Approx(1.9));
  CHECK(states[1]["label"] == "down: emergency_stop");
  CHECK(states[1]["stop"] == true);

  write_without_goals(path, motion::Errc::shutting_down);
  data = read_report_data(path);
  REQUIRE(data);
  CHECK(index_html(*data, {}, "", "").find("Why the robot stopped") == std::string::npos);
  states = nlohmann::json::parse(live_json(*data))["states"];
  CHECK(states[1]["label"] == "down: shutting_down");
  CHECK(states[1]["stop"] == false);
}
