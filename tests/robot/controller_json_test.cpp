#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "robot/small_robot.hpp"
#include "takt/robot/description_json.hpp"
#include "takt/robot/fingerprint.hpp"

namespace {

using takt::drives::load_robot;
using takt::robot::Mistake;
using takt::test::places;
using takt::test::small_robot;
using Json = nlohmann::json;

Json controller(const std::string& name) { return {{"name", name}, {"type", "Pid"}}; }

TEST_CASE("controllers have a type, a rate, fallbacks and parameters") {
  Json robot = small_robot();
  robot["controllers"] = {controller("hold"), controller("tip")};
  robot["controllers"][0]["start"] = false;
  robot["controllers"][1].update(Json::parse(R"({"divisor": 4, "phase": 3, "budget_us": 250,
      "over_budget": "error", "fallbacks": ["hold", "trajectory"],
      "parameters": {"gain": 2.5, "count": 3, "on": true, "frame": "tool", "axis": [0, 1]}})"));
  const auto read = load_robot(robot.dump());
  REQUIRE(read);
  REQUIRE(read->controllers.size() == 2);
  const auto& hold = read->controllers[0];
  CHECK(hold.name == "hold");
  CHECK(hold.type == "Pid");
  CHECK_FALSE(hold.start);
  CHECK(hold.config.divisor == 1);
  CHECK(hold.config.budget == takt::Duration(0));
  const auto& tip = read->controllers[1];
  CHECK(tip.start);
  CHECK(tip.config.divisor == 4);
  CHECK(tip.config.phase == 3);
  CHECK(tip.config.budget == std::chrono::microseconds(250));
  CHECK(tip.config.over_budget == takt::component::BudgetAction::error);
  CHECK(tip.config.fallbacks == std::vector<std::string>{"hold", "trajectory"});
  REQUIRE(tip.parameters.size() == 5);
  CHECK(tip.parameters[3].parameter == "gain");
  CHECK(std::get<double>(tip.parameters[3].value) == 2.5);
}

TEST_CASE("a mistake in a controller is named by its place") {
  const std::pair<const char*, Json> cases[] = {{"/controllers/1/name", "a b"},
                                                {"/controllers/1/name", "hold"},
                                                {"/controllers/1/name", "first"},
                                                {"/controllers/1/type", 3},
                                                {"/controllers/1/type", "no type"},
                                                {"/controllers/1/colour", "red"},
                                                {"/controllers/1/divisor", 0},
                                                {"/controllers/1/divisor", 1.5},
                                                {"/controllers/1/phase", 2},
                                                {"/controllers/1/budget_us", 0},
                                                {"/controllers/1/over_budget", "shout"},
                                                {"/controllers/1/fallbacks", "hold"},
                                                {"/controllers/1/fallbacks/0", "tip"},
                                                {"/controllers/0/fallbacks/0", "tip"},
                                                {"/controllers/1/fallbacks/1", "hold"},
                                                {"/controllers/1/parameters", Json::array()},
                                                {"/controllers/1/parameters/gain", nullptr},
                                                {"/controllers/1/start", 1},
                                                {"/controllers/1", 1},
                                                {"/controllers", Json::object()}};
  for (const auto& [pointer, given] : cases) {
    const std::string where = pointer;  // clang 14 captures no structured bindings
    const Json value = given;
    CAPTURE(where);
    CAPTURE(value.dump());
    Json robot = small_robot();
    robot["controllers"] = {controller("hold"), controller("tip")};
    robot["controllers"][1].update({{"divisor", 2}, {"fallbacks", {"hold"}}, {"parameters", {{"gain", 1}}}});
    if (where == "/controllers/0/fallbacks/0") robot["controllers"][0]["fallbacks"] = {"x"};
    robot[Json::json_pointer(where)] = value;
    CHECK(places(robot).contains(where));
  }
  Json robot = small_robot();
  for (int i = 0; i < 65; ++i) robot["controllers"].push_back(controller("c" + std::to_string(i)));
  CHECK(places(robot) == std::multiset<std::string>{"/controllers"});
}

TEST_CASE("the controllers of a robot do not change its fingerprint, because they change no plan") {
  const auto plain = load_robot(small_robot().dump());
  Json robot = small_robot();
  robot["controllers"] = Json::array({controller("tip")});
  const auto with_controller = load_robot(robot.dump());
  REQUIRE(plain);
  REQUIRE(with_controller);
  CHECK(takt::robot::fingerprint(*plain) == takt::robot::fingerprint(*with_controller));
}

}  // namespace
