#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "robot/small_robot.hpp"
#include "support/random.hpp"
#include "support/source_dir.hpp"
#include "takt/drives/hubo/hubo_settings.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/actuator_space.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/robot/fingerprint.hpp"

namespace {

using takt::drives::load_robot;
using takt::drives::load_robot_file;
using takt::robot::Mistake;
using takt::test::places;
using takt::test::small_robot;
using Json = nlohmann::json;

const std::string source_dir = TAKT_SOURCE_DIR;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("CiA 402 drives have the nodes 1 to 126 of a classic bus") {
  auto robot = small_robot();
  robot["buses"][0]["protocol"] = "cia402";
  CHECK_FALSE(load_robot(robot.dump()));  // a data phase
  robot["buses"][0].erase("data_bit_rate");
  const auto loaded = load_robot(robot.dump());
  REQUIRE(loaded);
  CHECK(loaded->buses[0].protocol == takt::drives::find("cia402"));
  for (auto& joint : robot["joints"]) {
    if (joint["bus"] == "a") joint["board"] = 127;
  }
  CHECK_FALSE(load_robot(robot.dump()));
  robot["joints"][0]["board"] = 126;
  robot["joints"][0]["rated_effort"] = 0;
  CHECK(places(robot) == std::multiset<std::string>{"/joints/0/rated_effort"});
  robot["joints"][0]["rated_effort"] = 40;
  REQUIRE(load_robot(robot.dump()));
  CHECK(load_robot(robot.dump())->joints[0].rated_effort == 40);
}

TEST_CASE("every field of the schema arrives where it belongs") {
  const auto robot = load_robot(small_robot().dump());
  REQUIRE(robot);
  CHECK(robot->name == "two");
  CHECK(robot->period == takt::Duration(2'000'000));
  CHECK(robot->overrun == takt::rt::OverrunPolicy::skip);
  CHECK(robot->overrun_limit == 20);
  CHECK(robot->feedback_timeout == takt::Duration(50'000'000));
  REQUIRE(robot->buses.size() == 2);
  CHECK(robot->buses[0].name == "a");
  CHECK(robot->buses[0].protocol == takt::drives::find("servo"));
  CHECK(robot->buses[0].data_bit_rate == 4'000'000);
  CHECK(robot->buses[1].protocol == takt::drives::find("hubo"));
  CHECK(robot->buses[1].bit_rate == 500'000);
  REQUIRE(robot->joints.size() == 2);
  const auto& first = robot->joints[0];
  CHECK(first.kind == takt::robot::JointKind::linear);
  CHECK(first.limits == takt::JointLimits{1, 2, 3, 4, 5, 6});
  CHECK(first.safe == takt::SafeBehaviour::release);
  CHECK(first.counts_per_radian == -1000);
  CHECK(first.following_error == 0.3);
  CHECK(first.goal_tolerance == 0.1);
  CHECK(first.plant.inertia == 7);
  CHECK(first.plant.viscous_friction == 8);
  CHECK(first.plant.coulomb_friction == 9);
  CHECK(first.plant.torque_limit == 10);
  CHECK(first.plant.bandwidth == 11);
  CHECK(first.plant.start == 1.5);
  const auto& second = robot->joints[1];
  CHECK(second.kind == takt::robot::JointKind::rotary);
  CHECK(second.bus == 1);
  CHECK(second.board == 40);
  CHECK(second.channel == 1);
  CHECK(second.limits.effort == std::numeric_limits<double>::infinity());
  CHECK(second.plant.start == 1);  // nearest to zero within the limits
  REQUIRE(robot->find_group("both") != nullptr);
  CHECK(robot->find_group("both")->joints == std::vector<std::size_t>{1, 0});
}

TEST_CASE("a continuous joint has no limits of position but those of its bus") {
  Json robot = small_robot();
  robot["joints"][0]["kind"] = "continuous";
  robot["joints"][1]["kind"] = "continuous";
  robot["joints"][0].erase("plant");
  CHECK(places(robot) ==
        std::multiset<std::string>{"/joints/0/limits/position", "/joints/1/limits/position"});
  for (Json& joint : robot["joints"]) joint["limits"].erase("position");
  const auto loaded = load_robot(robot.dump());
  REQUIRE(loaded);
  CHECK(loaded->joints[0].kind == takt::robot::JointKind::continuous);
  CHECK(loaded->joints[0].limits.position_max == doctest::Approx(128));
  CHECK(loaded->joints[0].limits.position_min == -loaded->joints[0].limits.position_max);
  CHECK(loaded->joints[1].limits.position_max == doctest::Approx(8'388'607 / 2000.0));
  CHECK(loaded->joints[0].plant.start == 0);
  CHECK(takt::robot::position_unit(loaded->joints[0].kind) == "rad");
}

TEST_CASE("a robot says what its loop does when it is late, and when that is a fault") {
  Json robot = small_robot();
  robot["overrun"] = "catch_up";
  robot["overrun_limit"] = 0;
  const auto loaded = load_robot(robot.dump());
  REQUIRE(loaded);
  CHECK(loaded->overrun == takt::rt::OverrunPolicy::catch_up);
  CHECK(loaded->overrun_limit == 0);
}

TEST_CASE("a cycle that does not fit its bus is refused with the load, and the rate that would fit") {
  // Each of twelve Hubo boards takes 335 us of a cycle, and the status of one 220 us: 4.24 ms of 4.33.
  auto robot = small_robot();
  robot["rate"] = 231;
  robot.erase("groups");
  Json joint = robot["joints"][1];
  robot["joints"] = Json::array();
  for (int i = 0; i < 13; ++i) {
    joint["name"] = "joint" + std::to_string(i);
    joint["bus"] = i < 12 ? "b" : "a";
    joint["board"] = 1 + i;
    joint["channel"] = i < 12 ? 1 : 0;
    robot["joints"].push_back(joint);
  }
  robot["buses"][1]["bit_rate"] = 1'000'000;
  const auto refused = load_robot(robot.dump());
  REQUIRE_FALSE(refused);
  REQUIRE(refused.error().size() == 1);
  CHECK(refused.error()[0].where == "/buses/1");
  CHECK(refused.error()[0].reason ==
        "at 231 Hz the cycle takes 98 % of bus b; at most 90 % are allowed. Use a rate of at most 212 Hz, or "
        "fewer joints on this bus");
  robot["rate"] = 212;
  CHECK(load_robot(robot.dump()));
  robot["rate"] = 213;
  CHECK_FALSE(load_robot(robot.dump()));
}

TEST_CASE("time-outs that contradict each other are a mistake, and it says what is allowed") {
  const auto reason_at = [](const Json& robot, const char* where) {
    const auto loaded = load_robot(robot.dump());
    if (loaded || loaded.error().size() != 1 || loaded.error()[0].where != where) return std::string();
    return loaded.error()[0].reason;
  };
  Json robot = small_robot();  // at 500 Hz, on servo drives and Hubo boards
  robot["overrun_limit"] = 125;
  CHECK(load_robot(robot.dump()));
  robot["overrun_limit"] = 126;
  CHECK(reason_at(robot, "/overrun_limit").find("At most 125") != std::string::npos);
  robot["overrun"] = "catch_up";
  CHECK(load_robot(robot.dump()));
  robot["overrun_limit"] = 20;
  robot["feedback_timeout"] = 0.004;
  CHECK(load_robot(robot.dump()));
  robot["feedback_timeout"] = 0.003;
  CHECK(reason_at(robot, "/feedback_timeout").find("less than 2 periods of the loop, 0.004 s") !=
        std::string::npos);
  robot.erase("feedback_timeout");
  robot["rate"] = 20;
  CHECK(reason_at(robot, "/feedback_timeout").find("0.05 s, the default, is less") != std::string::npos);
  robot["feedback_timeout"] = 1;
  robot["overrun"] = "skip";
  CHECK(reason_at(robot, "/overrun_limit").find("At most 3") != std::string::npos);
  robot.erase("overrun_limit");
  CHECK(reason_at(robot, "/overrun_limit").find("20 (the default) periods of 0.05 s") == 0);
}

TEST_CASE("a drive is silent after as many requests as its time-out has periods, and after one at least") {
  takt::robot::RobotDescription robot;
  CHECK(robot.silence_limit() == 10);
  robot.feedback_timeout = robot.period / 2;
  CHECK(robot.silence_limit() == 1);
  robot.feedback_timeout = takt::Duration::max();
  CHECK(robot.silence_limit() == std::numeric_limits<std::uint32_t>::max());
  robot.period = takt::Duration(0);
  CHECK(robot.silence_limit() == 1);
}

TEST_CASE("the robots that ship load, and hold the poses of their demonstrations") {
  const auto mhubo = load_robot_file(source_dir + "/examples/robots/mhubo.json");
  REQUIRE(mhubo);
  CHECK(mhubo->joints.size() == 17);
  CHECK(mhubo->period == takt::Duration(5'000'000));
  CHECK(mhubo->find_group("arms")->joints.size() == 15);
  const Json demo = Json::parse(text_of(source_dir + "/examples/data/mhubo_store_demo.json"));
  constexpr double degree = 3.14159265358979323846 / 180;
  for (const auto& entry : demo["start_deg"].items()) {
    const std::string& name = entry.key();
    CAPTURE(name);
    const auto joint = mhubo->find_joint(name);
    REQUIRE(joint);
    CHECK(mhubo->joints[*joint].plant.start ==
          doctest::Approx(entry.value().get<double>() * degree).epsilon(1e-5));
  }
  for (const Json& step : demo["steps"]) {
    if (!step.contains("arm") || !step["arm"].contains("joints")) continue;
    for (const auto& entry : step["arm"]["joints"].items()) {
      const std::string& name = entry.key();
      const Json& target = entry.value();
      CAPTURE(name);
      const auto& limits = mhubo->joints[*mhubo->find_joint(name)].limits;
      CHECK(target["deg"].get<double>() * degree >= limits.position_min);
      CHECK(target["deg"].get<double>() * degree <= limits.position_max);
    }
  }

  const auto arm = load_robot_file(source_dir + "/examples/robots/arm6.json");
  REQUIRE(arm);
  CHECK(arm->period == takt::Duration(1'000'000));
  const Json planned = Json::parse(text_of(source_dir + "/examples/data/ur_arm_planned.json"));
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(arm->joints[i].name == planned["joint_names"][i]);
    CHECK(arm->joints[i].plant.start == planned["points"][0]["positions"][i]);
  }
}

TEST_CASE("every mistake is listed, not only the first") {
  Json robot = small_robot();
  robot["rate"] = 0;
  robot["nonsense"] = true;
  robot["buses"][1]["name"] = "a";
  robot["joints"][0]["limits"]["velocity"] = -1;
  robot["joints"][0]["limits"]["position"] = {2, 1};
  robot["joints"][1]["name"] = "first";
  robot["joints"][1]["bus"] = "c";
  robot["groups"]["both"] = {"first", "first", "third"};
  CHECK(places(robot) == std::multiset<std::string>{"/rate", "/nonsense", "/buses/1/name",
                                                    "/joints/0/limits/velocity", "/joints/0/limits/position",
                                                    "/joints/1/name", "/joints/1/bus", "/groups/both/1",
                                                    "/groups/both/2"});
}

TEST_CASE("each rule of the schema is enforced at its place") {
  struct Case {
    const char* where;
    Json value;
  };
  const Case cases[] = {
      {"/name", 5},
      {"/name", ""},
      {"/name", "line\nbreak"},
      {"/rate", "200"},
      {"/rate", 10'001},
      {"/overrun", "stop"},
      {"/overrun", 0},
      {"/overrun_limit", -1},
      {"/overrun_limit", 1.5},
      {"/overrun_limit", 1'000'001},
      {"/feedback_timeout", 0.001},
      {"/goal_time", -1},
      {"/buses", Json::array()},
      {"/buses/0/protocol", "ethercat"},
      {"/buses/0/bit_rate", 123'456},
      {"/buses/0/data_bit_rate", 500'000},
      {"/buses/0/data_bit_rate", 8'000'001},
      {"/buses/1/data_bit_rate", 2'000'000},
      {"/joints", Json::array()},
      {"/joints/0/limits/position", {1}},
      {"/joints/0/limits/acceleration", 0},
      {"/joints/0/limits/jerk", nullptr},
      {"/joints/0/limits/effort", 0},
      {"/joints/0/limits/speed", 1},
      {"/joints/0/safe", "panic"},
      {"/joints/0/kind", "prismatic"},
      {"/joints/0/counts_per_radian", 0},
      {"/joints/0/counts_per_radian", 2e9},
      {"/joints/0/limits/position", {1, 129}},
      {"/joints/0/board", 49},
      {"/joints/0/following_error", 0},
      {"/joints/0/rated_effort", 5},
      {"/joints/1/rated_effort", 5},
      {"/joints/0/goal_tolerance", 0.31},
      {"/joints/0/board", 0},
      {"/joints/0/board", 1.5},
      {"/joints/0/channel", 1},
      {"/joints/1/board", 48},
      {"/joints/1/channel", 2},
      {"/joints/0/plant/inertia", 0},
      {"/joints/0/plant/viscous_friction", -0.1},
      {"/joints/0/plant/start", 2.5},
      {"/joints/0/plant/mass", 1},
      {"/groups", Json::array()},
      {"/groups/both", Json::array()},
      {"/groups/both/0", 1},
  };
  for (const Case& c : cases) {
    CAPTURE(c.where);
    CAPTURE(c.value.dump());
    Json robot = small_robot();
    robot[Json::json_pointer(c.where)] = c.value;
    CHECK(places(robot) == std::multiset<std::string>{c.where});
  }
}

TEST_CASE("a joint whose positions do not fit into the words of its bus is refused") {
  Json robot = small_robot();
  robot["joints"][1]["counts_per_radian"] = 8e6;  // 2 rad are 16 million counts, the bus has 23 bits
  CHECK(places(robot) == std::multiset<std::string>{"/joints/1/limits/position"});
  robot["joints"][1]["counts_per_radian"] = -4e6;
  CHECK(places(robot).empty());
}

TEST_CASE("required keys may not be missing") {
  for (const char* where :
       {"/name", "/rate", "/buses", "/joints", "/buses/0/name", "/buses/0/protocol", "/buses/0/bit_rate",
        "/joints/0/name", "/joints/0/limits", "/joints/0/limits/position", "/joints/0/limits/velocity",
        "/joints/0/limits/acceleration", "/joints/0/limits/jerk", "/joints/0/counts_per_radian",
        "/joints/0/bus", "/joints/0/board"}) {
    CAPTURE(where);
    const Json::json_pointer pointer(where);
    Json robot = small_robot();
    robot.at(pointer.parent_pointer()).erase(pointer.back());
    CHECK(places(robot).count(where) == 1);
  }
}

TEST_CASE("boards of fingers and of the neck have channels of their own, and are of one kind each") {
  const auto with = [](const char* kind, int board, int channel, Json effort) {
    Json robot = small_robot();
    Json& joint = robot["joints"][1];
    joint["drive"]["board_kind"] = kind;
    joint["board"] = board;
    joint["channel"] = channel;
    if (!effort.is_null()) joint["rated_effort"] = effort;
    return robot;
  };
  using Places = std::multiset<std::string>;
  CHECK(places(with("hybrid", 36, 0, nullptr)).empty());
  CHECK(places(with("hybrid", 36, 2, 0.5)).empty());
  CHECK(places(with("hybrid", 36, 2, nullptr)) == Places{"/joints/1/rated_effort"});
  CHECK(places(with("hybrid", 36, 0, 0.5)) == Places{"/joints/1/rated_effort"});
  CHECK(places(with("hybrid", 36, 3, 0.5)) == Places{"/joints/1/channel"});
  CHECK(places(with("neck", 34, 2, nullptr)).empty());
  CHECK(places(with("neck", 35, 2, nullptr)) == Places{"/joints/1/board"});
  CHECK(places(with("hand", 36, 4, 0.5)).empty());
  CHECK(places(with("foot", 36, 0, nullptr)) == Places{"/joints/1/drive/board_kind"});
  Json robot = with("hand", 36, 4, 0.5);
  CHECK(takt::drives::hubo_board_kind(load_robot(robot.dump())->joints[1]) ==
        takt::can::hubo::BoardKind::hand);
  robot["joints"].push_back(robot["joints"][1]);
  robot["joints"][2]["name"] = "third";
  robot["joints"][2]["channel"] = 1;
  CHECK(places(robot).empty());
  robot["joints"][2].erase("rated_effort");
  robot["joints"][2]["drive"]["board_kind"] = "two_channel";
  CHECK(places(robot) == Places{"/joints/2/drive/board_kind"});
  robot = small_robot();
  robot["joints"][0]["drive"]["board_kind"] = "hybrid";
  CHECK(places(robot) == Places{"/joints/0/drive/board_kind"});
}

TEST_CASE("joints of boards whose position words are short reach no farther than those") {
  const auto with = [](const char* kind, int board, double most) {
    Json robot = small_robot();
    Json& joint = robot["joints"][1];
    joint["drive"]["board_kind"] = kind;
    joint["board"] = board;
    joint["channel"] = 0;
    joint["counts_per_radian"] = 4'000;
    joint["limits"]["position"] = {-1, most};
    if (std::string(kind) == "hand") joint["rated_effort"] = 1;
    return places(robot);
  };
  const std::multiset<std::string> too_far{"/joints/1/limits/position"};
  for (const char* kind : {"hybrid", "hand"}) {
    CHECK(with(kind, 36, 8.1).empty());
    CHECK(with(kind, 36, 8.2) == too_far);
  }
  CHECK(with("neck", 34, 3.14).empty());
  CHECK(with("neck", 34, 3.15) == too_far);
  CHECK(with("two_channel", 36, 2'000).empty());
  CHECK(with("two_channel", 36, 2'100) == too_far);
}

TEST_CASE("two joints on one address of a bus clash") {
  Json robot = small_robot();
  robot["joints"][1]["bus"] = "a";
  robot["joints"][1]["board"] = 1;
  robot["joints"][1]["channel"] = 0;
  CHECK(places(robot) == std::multiset<std::string>{"/joints/1/board"});
  robot["joints"][1]["board"] = 2;
  CHECK(places(robot).empty());
}

TEST_CASE("a misspelt protocol or bus is one mistake, whatever the joints say about their drives") {
  Json robot = small_robot();
  robot["joints"][1]["drive"] = {{"board_kind", "two_channel"}};
  REQUIRE(load_robot(robot.dump()));
  robot["buses"][1]["protocol"] = "hobo";
  CHECK(places(robot) == std::multiset<std::string>{"/buses/1/protocol"});
  robot["buses"][1]["protocol"] = "hubo";
  robot["joints"][1]["bus"] = "c";
  CHECK(places(robot) == std::multiset<std::string>{"/joints/1/bus"});
}

TEST_CASE("a robot may run without power, and a silent drive may be commanded on") {
  Json robot = small_robot();
  const auto usual = load_robot(robot.dump());
  REQUIRE(usual);
  CHECK(usual->power);
  CHECK_FALSE(usual->joints[1].keep_commanding);
  robot["power"] = "off";
  robot["joints"][1]["safe"] = "keep_commanding";
  const auto loaded = load_robot(robot.dump());
  REQUIRE(loaded);
  for (const auto& each : {loaded, load_robot(takt::robot::to_json(*loaded))}) {
    REQUIRE(each);
    CHECK_FALSE(each->power);
    CHECK(each->joints[1].safe == takt::SafeBehaviour::hold);
    CHECK(each->joints[1].keep_commanding);
    CHECK(each->joints[0].safe == takt::SafeBehaviour::release);
  }
  robot["joints"][1].erase("safe");
  CHECK(takt::robot::fingerprint(*load_robot(robot.dump())) == takt::robot::fingerprint(*usual));
  robot["power"] = "of";
  robot["joints"][0]["safe"] = "keep";
  CHECK(places(robot) == std::multiset<std::string>{"/power", "/joints/0/safe"});
}

TEST_CASE("a zero offset is the position of the joint where its drive reports 0") {
  Json robot = small_robot();
  robot["joints"][1]["zero_offset"] = 0.25;
  const auto loaded = load_robot(robot.dump());
  REQUIRE(loaded);
  for (const auto& each : {loaded, load_robot(takt::robot::to_json(*loaded))}) {
    REQUIRE(each);
    const auto space = takt::robot::ActuatorSpace::create(*each);
    REQUIRE(space);
    std::vector<double> positions{1.5, 0};
    space->joint_positions(positions, positions);
    CHECK(positions == std::vector<double>{1.5, 0.25});
  }
  robot["transmissions"] = Json::parse(
      R"([{"name": "t", "type": "simple", "joints": [{"name": "second"}], "actuators": [{"name": "m"}]}])");
  CHECK(places(robot) == std::multiset<std::string>{"/joints/1/zero_offset"});
  robot["transmissions"][0]["joints"][0]["name"] = "first";
  robot["transmissions"][0]["actuators"][0]["name"] = "second_drive";
  CHECK(places(robot) == std::multiset<std::string>{"/joints/1/zero_offset"});
}

TEST_CASE("joints of one hubo board, which is powered as a whole, agree on what is safe") {
  Json robot = small_robot();
  robot["joints"][0]["bus"] = "b";
  robot["joints"][0]["board"] = 40;
  robot["joints"][0]["channel"] = 0;  // released, the other joint of the board held
  CHECK(places(robot) == std::multiset<std::string>{"/joints/1/safe"});
  robot["joints"][1]["safe"] = "release";
  CHECK(places(robot).empty());
  robot["joints"][1]["safe"] = "hold";
  robot["joints"][1]["board"] = 41;
  CHECK(places(robot).empty());
}

TEST_CASE("64 joints are the most") {
  Json robot = small_robot();
  robot.erase("groups");
  robot["rate"] = 40;
  robot["overrun_limit"] = 5;
  const auto fill = [&](int count) {
    Json joint = robot["joints"][0];
    robot["joints"] = Json::array();
    for (int i = 0; i < count; ++i) {
      joint["name"] = "j" + std::to_string(i);
      joint["bus"] = i < 40 ? "a" : "b";
      joint["board"] = i < 40 ? 1 + i : i - 40;
      robot["joints"].push_back(joint);
    }
  };
  fill(64);
  CHECK(places(robot).empty());
  fill(65);
  CHECK(places(robot) == std::multiset<std::string>{"/joints"});
}

TEST_CASE("what is not JSON is refused with its line") {
  const auto broken = load_robot("{\n\"name\": \"x\",\n\"rate\": }\n");
  REQUIRE_FALSE(broken);
  REQUIRE(broken.error().size() == 1);
  CHECK(broken.error()[0].line == 3);
  CHECK(to_string(broken.error()[0]).rfind("line 3: ", 0) == 0);

  const auto twice = load_robot(R"({"name": "x", "rate": 1, "rate": 2})");
  REQUIRE_FALSE(twice);
  CHECK(twice.error()[0].where == "/rate");

  const auto infinite = load_robot(R"({"joints": [{}, {"limits": {"jerk": 1e999}}]})");
  REQUIRE_FALSE(infinite);
  CHECK(infinite.error()[0].where == "/joints/1/limits/jerk");

  CHECK_FALSE(load_robot(""));
  CHECK_FALSE(load_robot("null"));
  CHECK_FALSE(load_robot(std::string(100'000, '[')));
  CHECK_FALSE(load_robot("{\"name\": \"\xff\"}"));
  CHECK_FALSE(load_robot(small_robot().dump() + "x"));
  CHECK_FALSE(load_robot_file("/nonexistent/robot.json"));
  CHECK_FALSE(load_robot_file("/"));
}

TEST_CASE("a robot file mutated at random is refused or understood, never more") {
  const std::string good = small_robot().dump();
  auto random = takt::test::generator(1);
  std::size_t refused = 0;
  const std::size_t cases = takt::test::count(3000);
  for (std::size_t i = 0; i < cases; ++i) {
    std::string text = good;
    for (auto edits = takt::test::uniform_int(random, 1, 4); edits > 0; --edits) {
      const auto at = static_cast<std::size_t>(
          takt::test::uniform_int(random, 0, static_cast<std::int64_t>(text.size()) - 1));
      text[at] = static_cast<char>(takt::test::uniform_int(random, 0, 255));
    }
    const auto robot = load_robot(text);
    if (!robot) {
      ++refused;
      REQUIRE_FALSE(robot.error().empty());
      continue;
    }
    for (const auto& joint : robot->joints) REQUIRE(joint.limits.position_min < joint.limits.position_max);
  }
  CHECK(refused > cases / 2);
}

}  // namespace
