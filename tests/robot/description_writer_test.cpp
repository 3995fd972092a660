// Writes robot files and loads them as the same description. Reads mimic joints and transmissions, with each
// mistake at its place.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/source_dir.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/robot/fingerprint.hpp"

using namespace takt;
using namespace takt::robot;

namespace {

using Json = nlohmann::json;

Json gripper() {
  return Json::parse(R"({
    "name": "gripper", "rate": 300, "overrun": "catch_up", "overrun_limit": 7, "feedback_timeout": 0.1, "goal_time": 2.5,
    "buses": [{"name": "a", "protocol": "servo", "interface": "can3", "bit_rate": 500000, "data_bit_rate": 4000000},
              {"name": "b", "protocol": "hubo", "bit_rate": 1000000}],
    "joints": [
      {"name": "flex", "bus": "a", "board": 1, "counts_per_radian": -1000, "safe": "release",
       "limits": {"position": [-1, 2], "velocity": 3, "acceleration": 4, "jerk": 5.125, "effort": 6}, "following_error": 0.3,
       "plant": {"inertia": 7, "viscous_friction": 8, "coulomb_friction": 9, "torque_limit": 10, "bandwidth": 11, "start": 1.5}},
      {"name": "roll", "bus": "a", "board": 2, "kind": "continuous", "counts_per_radian": 0.1,
       "limits": {"velocity": 3, "acceleration": 4, "jerk": 5}},
      {"name": "finger", "bus": "b", "board": 3, "channel": 1, "kind": "linear", "counts_per_radian": 2000,
       "limits": {"position": [0, 0.5], "velocity": 3, "acceleration": 4, "jerk": 5}, "drive": {"board_kind": "two_channel"}}],
    "groups": {"wrist": ["roll", "flex"], "all": ["flex", "roll", "finger"]},
    "mimics": [{"name": "other_finger", "kind": "linear", "joint": "finger", "multiplier": -2, "offset": 0.25},
               {"name": "third_finger", "joint": "finger"}],
    "transmissions": [
      {"name": "wrist", "type": "differential",
       "joints": [{"name": "roll", "reduction": -1, "offset": 0.5}, {"name": "flex"}],
       "actuators": [{"name": "left", "reduction": 30}, {"name": "right", "reduction": -30}]},
      {"name": "screw", "type": "simple", "joints": [{"name": "finger", "reduction": 0.001}], "actuators": [{"name": "motor"}]}]
  })");
}

RobotDescription loaded(const std::string& text) {
  auto robot = drives::load_robot(text);
  if (!robot) FAIL(to_string(robot.error().front()));
  return *robot;
}

/// The JSON pointers of all mistakes.
std::multiset<std::string> places(const Json& document) {
  std::multiset<std::string> found;
  const auto robot = drives::load_robot(document.dump());
  if (robot) return found;
  for (const Mistake& mistake : robot.error()) {
    CHECK_FALSE(mistake.reason.empty());
    found.insert(mistake.where);
  }
  return found;
}

/// The places of the mistakes after one value was replaced.
std::multiset<std::string> places_with(const char* pointer, const Json& value) {
  Json robot = gripper();
  robot[Json::json_pointer(pointer)] = value;
  return places(robot);
}

using Places = std::multiset<std::string>;

}  // namespace

TEST_CASE("mimic joints and transmissions of a file arrive where they belong") {
  const RobotDescription robot = loaded(gripper().dump());
  REQUIRE(robot.mimics.size() == 2);
  CHECK(robot.mimics[0].name == "other_finger");
  CHECK(robot.mimics[0].kind == JointKind::linear);
  CHECK(robot.mimics[0].joint == 2);
  CHECK(robot.mimics[0].multiplier == -2);
  CHECK(robot.mimics[0].offset == 0.25);
  CHECK(robot.mimics[1].multiplier == 1);
  CHECK(robot.mimics[1].offset == 0);
  REQUIRE(robot.transmissions.size() == 2);
  const TransmissionDescription& wrist = robot.transmissions[0];
  CHECK(wrist.kind == TransmissionKind::differential);
  REQUIRE(wrist.joints.size() == 2);
  CHECK(wrist.joints[0].joint == 1);
  CHECK(wrist.joints[0].reduction == -1);
  CHECK(wrist.joints[0].offset == 0.5);
  CHECK(wrist.joints[1].joint == 0);
  CHECK(wrist.joints[1].reduction == 1);
  REQUIRE(wrist.actuators.size() == 2);
  CHECK(wrist.actuators[1].name == "right");
  CHECK(wrist.actuators[1].reduction == -30);
  CHECK(robot.transmissions[1].kind == TransmissionKind::simple);
}

TEST_CASE("a continuous joint that its bus lets turn less than once is a note at its place") {
  Json direct = gripper();
  direct.erase("transmissions");
  CHECK(notes_on(loaded(direct.dump())).empty());
  const RobotDescription robot = loaded(gripper().dump());
  const double most = robot.joints[1].limits.position_max;
  REQUIRE(most < 3.14);
  const std::vector<Mistake> notes = notes_on(robot);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].where == "/joints/1");
  CAPTURE(notes[0].reason);
  CHECK(notes[0].reason.find(fmt::format("roll turns only from {:.3g} to {:.3g} rad", -most, most)) == 0);
  CHECK(notes[0].reason.find("protocol servo") != std::string::npos);
}

TEST_CASE("each mistake of mimic joints and transmissions is named at its place") {
  CHECK(places(gripper()).empty());
  CHECK(places_with("/mimics", 3) == Places{"/mimics"});
  CHECK(places_with("/mimics/0/name", "flex") == Places{"/mimics/0/name"});
  CHECK(places_with("/mimics/1/name", "other_finger") == Places{"/mimics/1/name"});
  CHECK(places_with("/mimics/0/joint", "third_finger") == Places{"/mimics/0/joint"});
  CHECK(places_with("/mimics/0/kind", "fixed") == Places{"/mimics/0/kind"});
  CHECK(places_with("/mimics/0/multiplier", 1e10) == Places{"/mimics/0/multiplier"});
  CHECK(places_with("/mimics/0/offset", "1") == Places{"/mimics/0/offset"});
  CHECK(places_with("/mimics/0/gain", 1) == Places{"/mimics/0/gain"});
  CHECK(places_with("/transmissions/0/type", "belt") ==
        Places{"/transmissions/0/type", "/transmissions/0/joints", "/transmissions/0/actuators"});
  CHECK(places_with("/transmissions/0/type", "four_bar").empty());
  CHECK(places_with("/transmissions/0/joints/0/name", "elbow") == Places{"/transmissions/0/joints/0/name"});
  CHECK(places_with("/transmissions/1/joints/0/name", "flex") == Places{"/transmissions/1/joints/0/name"});
  CHECK(places_with("/transmissions/0/joints/1/reduction", 0) ==
        Places{"/transmissions/0/joints/1/reduction"});
  CHECK(places_with("/transmissions/0/joints/1/offset", nullptr) ==
        Places{"/transmissions/0/joints/1/offset"});
  CHECK(places_with("/transmissions/0/actuators/0/reduction", 0) ==
        Places{"/transmissions/0/actuators/0/reduction"});
  CHECK(places_with("/transmissions/1/actuators/0/name", "left") ==
        Places{"/transmissions/1/actuators/0/name"});
  CHECK(places_with("/transmissions/0/actuators", Json::array({{{"name", "one"}}})) ==
        Places{"/transmissions/0/actuators"});
  CHECK(places_with("/transmissions/0/joints/1/reduction", 1e-9) == Places{});
  CHECK(places_with("/transmissions/0/joints/1/reduction", 1e-320) == Places{"/transmissions"});
}

TEST_CASE("a description that is written and loaded again is the same") {
  const RobotDescription robot = loaded(gripper().dump());
  const std::string text = to_json(robot);
  const RobotDescription again = loaded(text);
  CHECK(fingerprint(again) == fingerprint(robot));
  CHECK(again.buses[0].interface == "can3");
  CHECK(again.joints[0].plant.inertia == 7);
  CHECK(again.joints[0].plant.start == 1.5);
  CHECK(again.joints[0].plant.bandwidth == 11);
  CHECK(to_json(again) == text);
}

TEST_CASE("controllers are written with all that a file may say of them") {
  Json robot = gripper();
  robot["controllers"] = Json::parse(R"([{"name": "hold", "type": "HoldController", "start": false},
      {"name": "pid", "type": "PidController", "divisor": 4, "phase": 1, "budget_us": 250,
       "over_budget": "deactivate", "fallbacks": ["hold"],
       "parameters": {"gain": 2.5, "on": true, "count": 3, "name": "x", "list": [1.5, 2]}}])");
  const std::string text = to_json(loaded(robot.dump()));
  const RobotDescription again = loaded(text);
  REQUIRE(again.controllers.size() == 2);
  CHECK_FALSE(again.controllers[0].start);
  const ControllerDescription& pid = again.controllers[1];
  CHECK(pid.config.divisor == 4);
  CHECK(pid.config.phase == 1);
  CHECK(pid.config.budget == std::chrono::microseconds(250));
  CHECK(pid.config.over_budget == component::BudgetAction::deactivate);
  CHECK(pid.config.fallbacks == std::vector<std::string>{"hold"});
  CHECK(pid.parameters.size() == 5);
  CHECK(to_json(again) == text);
}

TEST_CASE("the robots that ship survive being written") {
  for (const char* name : {"arm6", "mhubo"}) {
    const auto robot =
        drives::load_robot_file(TAKT_SOURCE_DIR "/examples/robots/" + std::string(name) + ".json");
    REQUIRE(robot);
    const std::string text = to_json(*robot);
    CHECK(fingerprint(loaded(text)) == fingerprint(*robot));
    CHECK(to_json(loaded(text)) == text);
  }
}

TEST_CASE("mimic joints and transmissions are part of the fingerprint") {
  const RobotDescription robot = loaded(gripper().dump());
  RobotDescription other = robot;
  other.mimics[0].multiplier = 2;
  CHECK(fingerprint(other) != fingerprint(robot));
  other = robot;
  other.transmissions[0].actuators[0].reduction = 31;
  CHECK(fingerprint(other) != fingerprint(robot));
}
