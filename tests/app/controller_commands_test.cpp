// Tests the commands to the controllers of a simulated robot, in virtual time. They are words or JSON. The
// tests show the whole life of a controller, its events, and requests that are wrong.
#include "takt/app/controller_commands.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/robot_client.hpp"
#include "takt/app/error.hpp"
#include "takt/component/error.hpp"
#include "takt/component/plugin.hpp"
#include "takt/robot/error.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;
using Json = nlohmann::json;

namespace {

/// Holds a joint some way beside where it took it; or commands NaN.
class Shift final : public robot::Controller {
 public:
  static constexpr component::ComponentMetadata about{.type = "Shift",
                                                      .version = "1.2.0",
                                                      .vendor = "takt",
                                                      .category = "controller",
                                                      .description = "Holds a joint beside its place."};
  explicit Shift(std::string name) : Controller(about, std::move(name)) {}

  SetupResult<void> on_configure(robot::Resources& resources) override {
    auto joint = resources.claim_joint(joint_name->view(), CommandMode::position);
    if (!joint) return tl::unexpected(joint.error());
    joint_ = *joint;
    return {};
  }
  Status on_activate(const component::CycleTime&) noexcept override {
    from_ = joint_->reference().position;
    return {};
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    joint_->follow({*breaks ? std::numeric_limits<double>::quiet_NaN() : from_ + *by, 0, 0});
    return {};
  }

  component::Parameter<component::FixedText<31>> joint_name{*this, "joint", {.initial = "left_joint"}};
  component::Parameter<double> by{*this, "by", {.initial = 0.1, .minimum = -1, .maximum = 1, .unit = "rad"}};
  component::Parameter<bool> breaks{*this, "breaks", {}};

 private:
  robot::Joint* joint_ = nullptr;
  double from_ = 0;
};

robot::ControllerDescription described(std::string name, std::vector<component::Assignment> parameters = {},
                                       bool start = true) {
  return {.name = std::move(name), .type = "Shift", .parameters = std::move(parameters), .start = start};
}

/// A simulated robot whose commands the test gives once it is ready.
struct Bench {
  explicit Bench(robot::RobotDescription description = two_joints(), RobotOptions options = {}) {
    options.clock = &clock;
    options.types = {component::component_type<Shift>()};
    robot = made(std::move(description), std::move(options));
  }

  /// Runs the robot. In its n-th ready cycle, calls `step(n)`, which returns whether there is more to do.
  template <class Step>
  void run(Step step) {
    std::size_t cycle = 0;
    bool ended = false;
    Client client(*robot, [&](Client& self, const motion::Snapshot& snapshot) {
      last = snapshot;
      if (ended || snapshot.state != motion::RobotState::ready) return;
      ended = !step(cycle++);
      if (ended) self.end();
    });
    REQUIRE(robot->run().has_value());
    CHECK(ended);
  }

  /// The answer to a command in words, without its key.
  Json said(const std::string& words) {
    const auto answer = robot->controllers().command(words);
    if (!answer) FAIL(words << ": " << answer.error().message);
    CHECK(answer->find('\n') == std::string::npos);
    return Json::parse(*answer).begin().value();
  }
  SetupError refused(const std::string& words) {
    const auto answer = robot->controllers().command(words);
    REQUIRE_FALSE(answer.has_value());
    return answer.error();
  }
  SetupError refused_json(const std::string& json) {
    const auto answer = robot->controllers().request(json);
    if (answer) FAIL(json << " -> " << *answer);
    return answer.error();
  }
  std::string state_of(const std::string& name) {
    for (const Json& row : said("list")) {
      if (row["name"] == name) return row["state"];
    }
    return "none";
  }
  std::string owner_of(const std::string& interface) {
    for (const Json& row : said("interfaces")) {
      if (row["name"] == interface && row["kind"] == "command") return row["claimed_by"];
    }
    return "none";
  }

  VirtualClock clock;
  std::unique_ptr<Robot> robot;
  motion::Snapshot last;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("controllers of the description and of the caller start with the robot") {
  robot::RobotDescription description = two_joints();
  description.controllers = {described("tip", {{"by", 0.2}})};
  RobotOptions options;
  options.controllers = {described("spare", {{"joint", std::string("right_joint")}}, false)};
  Bench bench(std::move(description), std::move(options));
  CHECK(bench.state_of("tip") == "suspended");
  bench.run([&](std::size_t cycle) {
    if (cycle == 0) {
      CHECK(bench.state_of("tip") == "active");
      CHECK(bench.state_of("trajectory") == "active");
      CHECK(bench.state_of("spare") == "inactive");
      CHECK(bench.owner_of("left_joint/position") == "tip");
      CHECK(bench.owner_of("right_joint/position") == "trajectory");
    }
    return cycle < 1000;
  });
  CHECK(bench.last.joints[0].reference.position == doctest::Approx(0.2));
}

TEST_CASE("a controller lives by words: loaded, started, set, stopped, unloaded") {
  Bench bench;
  bench.run([&](std::size_t cycle) {
    if (cycle == 0) {
      CHECK(bench.said("load Shift tip by=0.3 joint=right_joint") == Json::object());
      CHECK(bench.state_of("tip") == "inactive");
      CHECK(bench.said("start tip") == Json::object());
      CHECK(bench.state_of("tip") == "active");
      CHECK(bench.owner_of("right_joint/velocity") == "tip");
    }
    if (cycle == 700) {
      CHECK(bench.last.joints[1].reference.position == doctest::Approx(0.3));
      bench.said("set tip by=-0.1");
    }
    if (cycle == 1500) {
      CHECK(bench.last.joints[1].reference.position == doctest::Approx(-0.1));
      const Json shown = bench.said("show tip");
      CHECK(shown["version"] == "1.2.0");
      CHECK(shown["claims"] == Json{"right_joint (position)"});
      CHECK(shown["parameters"].size() == 3);
      CHECK(shown["changes"].back()["who"] == "takt ctl");
      CHECK(bench.refused("unload tip").error == robot::Errc::wrong_state);
      bench.said("stop tip");
      CHECK(bench.owner_of("right_joint/position") == "trajectory");
      bench.said("unload tip");
      CHECK(bench.state_of("tip") == "none");
    }
    return cycle < 1500;
  });
}

TEST_CASE("words and JSON are the same requests, with the same answers") {
  Bench bench;
  const std::pair<const char*, const char*> same[] = {
      {"load Shift a", R"({"load":{"type":"Shift","name":"b","parameters":{}}})"},
      {"start a", R"({"stop":{"name":"a"}})"},
      {"switch start=a,b stop=trajectory strictness=best_effort timeout=2",
       R"({"switch":{"start":["trajectory"],"stop":["a","b"],"strictness":"best_effort"}})"},
      {"set a by=0.5", R"({"set":{"name":"a","parameters":{"by":0.5}}})"},
      {"events 3", R"({"events":{"after":3}})"},
      {"unload a", R"({"unload":{"name":"b"}})"}};
  for (const auto& [line, json] : same) {
    const std::string words = line;  // clang 14 captures no structured bindings
    CAPTURE(words);
    const auto first = bench.robot->controllers().command(words);
    if (!first) FAIL(first.error().message);
    const auto second = bench.robot->controllers().request(json);
    if (!second) FAIL(second.error().message);
  }
  CHECK(*bench.robot->controllers().command("list") == *bench.robot->controllers().request(R"({"list":{}})"));
  CHECK(bench.state_of("trajectory") == "suspended");
}

TEST_CASE("a load with start is whole or nothing") {
  Bench bench;
  const auto loaded =
      bench.robot->controllers().request(R"({"load":{"type":"Shift","name":"a","start":true}})");
  REQUIRE(loaded.has_value());
  CHECK(*loaded == R"({"load":{}})");
  CHECK(bench.state_of("a") == "suspended");
  const SetupError error = bench.refused_json(R"({"load":{"type":"Shift","name":"b","start":true}})");
  CHECK(error.error == robot::Errc::claimed);
  CHECK(contains(error.message, "\"left_joint\" belongs to a"));
  CHECK(bench.state_of("b") == "none");
}

TEST_CASE("a controller that commands NaN fails with an event, and leads back by a reset") {
  Bench bench;
  bench.run([&](std::size_t cycle) {
    if (cycle == 0) {
      bench.said("load Shift tip");
      bench.said("start tip");
    }
    if (cycle == 10) bench.said("set tip breaks=true");
    if (cycle == 12) {
      CHECK(bench.state_of("tip") == "failed");
      CHECK(bench.owner_of("left_joint/position") == "trajectory");
      const Json events = bench.said("events");
      REQUIRE(!events.empty());
      CHECK(events[0]["number"] == 1);
      CHECK(events[0]["event"] == "controller_failed");
      CHECK(events[0]["component"] == "tip");
      CHECK(events[0]["text"] == "controller tip failed: the controller commanded NaN or infinity");
      CHECK(bench.said("events " + std::to_string(events.size())).empty());
      CHECK(bench.refused("start tip").error == robot::Errc::wrong_state);
      bench.said("reset tip");
      bench.said("set tip breaks=false");
      bench.said("start tip");
      CHECK(bench.state_of("tip") == "active");
    }
    return cycle < 20;
  });
  // A person reads the same event, among the robot's reports.
  const auto told = reports(*bench.robot);
  CHECK(std::count(told.begin(), told.end(),
                   "controller tip failed: the controller commanded NaN or infinity") == 1);
}

TEST_CASE("events outlive the controller that they are about") {
  Bench bench;
  bench.run([&](std::size_t cycle) {
    if (cycle == 0) {
      bench.said("load Shift tip breaks=true");
      bench.said("start tip");
    }
    if (cycle == 5) {
      CHECK(bench.state_of("tip") == "failed");
      bench.said("unload tip");
      CHECK(bench.said("events")[0]["component"] == "tip");
    }
    return cycle < 5;
  });
}

TEST_CASE("requests that are wrong change nothing, and say what is wrong and what is allowed") {
  Bench bench;
  bench.said("load Shift tip");
  const std::pair<const char*, const char*> words[] = {
      {"", "there is no command \"\"; there are: list, show"},
      {"dance", "there is no command \"dance\""},
      {"start", "the words are: start NAME"},
      {"start tip tip", "\"tip\" is named twice"},
      {"list all", "the words are: list"},
      {"load Shift", "the words are: load TYPE NAME [PARAMETER=VALUE ...]"},
      {"load Shift x by", "\"by\" is not PARAMETER=VALUE"},
      {"set tip by=1 by=2", "\"by\" is named twice"},
      {"load Shift x by=2", "by: 2 is not in"},
      {"load Shift x colour=red", "there is no such parameter"},
      {"load Shift tip", "\"tip\" is a controller, a device or a joint already"},
      {"load Shift left_joint", "\"left_joint\" is a controller, a device or a joint already"},
      {"load Shift drives", "\"drives\" is a controller, a device or a joint already"},
      {"load Shift x joint=neck", "left_joint"},
      {"load Composite x", "not of controllers"},
      {"load Shaft x", "\"Shaft\" is not a component type; there are: Composite"},
      {"start ghost", "\"ghost\" is not loaded"},
      {"stop tip", "tip does not run"},
      {"switch start=tip,tip", "\"tip\" is named twice"},
      {"switch start=tip mood=good", "/switch/mood"},
      {"switch start=tip timeout=0", "/switch/timeout"},
      {"switch start=tip timeout=1e9", "/switch/timeout"},
      {"switch start=tip strictness=kind", "\"strict\", \"best_effort\""},
      {"reset ghost", "no controller \"ghost\" is loaded"},
      {"show ghost", "no controller \"ghost\" is loaded"},
      {"set ghost by=1", "no controller \"ghost\" is loaded"},
      {"unload ghost", "no controller \"ghost\" is loaded"},
      {"events -1", "/events/after"},
      {"events x", "/events/after"},
      {"library /tmp/x.so", "by its name alone"},
      {"library x.so", "no folder"}};
  for (const auto& [given, reason] : words) {
    const std::string line = given;  // as above
    CAPTURE(line);
    const SetupError error = bench.refused(line);
    CAPTURE(error.message);
    CHECK(contains(error.message, reason));
  }
  const std::pair<const char*, const char*> lines[] = {
      {"", ""},
      {"{", ""},
      {"[]", "one key"},
      {"{}", "one key"},
      {R"({"list":{},"show":{}})", "one key"},
      {R"({"list":[]})", "/list"},
      {R"({"list":{"x":1}})", "/list/x"},
      {R"({"start":{}})", "/start/name"},
      {R"({"start":{"name":3}})", "/start/name"},
      {R"({"switch":{"start":"tip"}})", "/switch/start"},
      {R"({"switch":{"start":[1]}})", "/switch/start/0"},
      {R"({"load":{"name":"x","type":"Shift","divisor":0}})", "/load/divisor"},
      {R"({"load":{"name":"x","type":"Shift","divisor":2,"phase":2}})", "/load/phase"},
      {R"({"load":{"name":"a b","type":"Shift"}})", "/load/name"},
      {R"({"load":{"name":"x","type":"Shift","fallbacks":["x"]}})", "/load/fallbacks/0"},
      {R"({"load":{"name":"x","type":"Shift","fallbacks":["ghost"]}})", "\"ghost\" is not loaded"},
      {R"({"load":{"name":"x","type":"Shift","parameters":{"by":null}}})", "/load/parameters/by"},
      {R"({"set":{"name":"tip"}})", "/set/parameters"}};
  for (const auto& [given, reason] : lines) {
    const std::string line = given;  // as above
    CAPTURE(line);
    const SetupError error = bench.refused_json(line);
    CAPTURE(error.message);
    CHECK_FALSE(error.message.empty());
    CHECK(contains(error.message, reason));
  }
  CHECK(bench.said("list").size() == 2);
  CHECK(bench.state_of("tip") == "inactive");
  CHECK(bench.state_of("trajectory") == "suspended");
}

TEST_CASE("a best-effort switch leaves out what cannot be, a strict one does nothing") {
  Bench bench;
  bench.said("load Shift tip");
  CHECK(bench.refused("switch start=tip,ghost").error == robot::Errc::no_such_controller);
  CHECK(bench.state_of("tip") == "inactive");
  bench.said("switch start=tip,ghost strictness=best_effort");
  CHECK(bench.state_of("tip") == "suspended");
}

TEST_CASE("each controller that cannot be loaded is a mistake of the robot") {
  robot::RobotDescription description = two_joints();
  description.controllers = {
      described("tip", {{"by", 2.0}}), described("other"), {.name = "third", .type = "Nobody"}};
  VirtualClock clock;
  RobotOptions options;
  options.clock = &clock;
  options.types = {component::component_type<Shift>()};
  options.libraries = {"none.so"};
  options.controllers = {{.name = "fourth", .type = "Composite"}};
  const SetupError error = refusal(description, options);
  CHECK(error.error == app::Errc::bad_description);
  CAPTURE(error.message);
  CHECK(contains(error.message, "robot pair: libraries: none.so"));
  CHECK(contains(error.message, "\nrobot pair: /controllers/0: "));
  CHECK_FALSE(contains(error.message, "/controllers/1"));
  CHECK(contains(error.message,
                 "\nrobot pair: /controllers/2: \"Nobody\" is not a component type; there are:"));
  CHECK(
      contains(error.message, "\nrobot pair: options.controllers/0: \"Composite\" is a type of components"));

  description.controllers = {described("tip"), described("other")};
  const SetupError claimed = refusal(description, {.clock = &clock, .types = options.types});
  CHECK(contains(claimed.message, "\"left_joint\" belongs to other, and tip claims it too"));
}
