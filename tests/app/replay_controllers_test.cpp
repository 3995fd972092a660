// Tests that a recording has each request to the controllers, with its cycle, and that a replay repeats it. A
// request that is lost, changed or impossible is named.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "app/joint_mover.hpp"
#include "app/robot_client.hpp"
#include "app/run_editor.hpp"
#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/app/error.hpp"
#include "takt/app/replay.hpp"
#include "takt/component/error.hpp"
#include "takt/robot/controller.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;
using takt::test::RunEdit;
using Json = nlohmann::json;

namespace {

/// Moves a joint away from where it took it.
class Drift final : public test::JointMover {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Drift");
  explicit Drift(std::string name) : JointMover(about, std::move(name)) {}
  Status on_execute(const component::CycleTime&) noexcept override {
    at_ += *speed * 1e-3;
    joint_->follow({at_, 0, 0});
    return {};
  }
  [[nodiscard]] bool keeps_limits() const noexcept override { return true; }

  component::Parameter<double> speed{*this, "speed", {.initial = 0.1, .minimum = -1, .maximum = 1}};
};

/// A recorded request to the controllers.
struct Seen {
  std::string topic;
  RecordedChange change;
};

/// A recorded run, in which a program loads a controller, starts and stops it, and sets its speed.
class CommandedRun {
 public:
  CommandedRun() {
    VirtualClock clock;
    RobotOptions options;
    options.clock = &clock;
    options.recording = path;
    options.drain_in_cycle = true;
    options.types = {component::component_type<Drift>()};
    const auto robot = made(two_joints(), options);
    ControllerCommands& commands = robot->controllers();
    const auto obeyed = [&commands](const char* json) { return commands.request(json).has_value(); };
    CHECK(obeyed(R"({"load":{"type":"Drift","name":"first"}})"));  // before the first cycle
    std::uint64_t ready = 0;
    Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
      if (state.state != motion::RobotState::ready) return;
      switch (ready++) {
        case 100:
          CHECK(
              obeyed(R"({"load":{"type":"Drift","name":"second","start":true,"parameters":{"speed":0.3}}})"));
          CHECK_FALSE(obeyed(R"({"load":{"type":"Drift","name":"second"}})"));
          CHECK_FALSE(obeyed(R"({"start":{"name":"nobody"}})"));
          CHECK(obeyed(R"({"list":{}})"));
          break;
        case 200:
          set_at = state.loop.cycles;  // the next cycle
          CHECK(commands.set({{"second.speed", -0.1}, {"first.speed", 0.1 + 0.2}}, "Foxglove").empty());
          break;
        case 300:
          CHECK(obeyed(R"({"switch":{"start":["first"],"stop":["second"]}})"));
          CHECK(obeyed(R"({"unload":{"name":"second"}})"));
          break;
        case 400:
          CHECK(obeyed(R"({"set":{"name":"first","parameters":{"speed":-0.2},"who":"test"}})"));
          break;
        case 500:
          it.end();
          break;
        default:
          break;
      }
    });
    REQUIRE(robot->run().has_value());
    CHECK(obeyed(R"({"stop":{"name":"first"}})"));  // after the last cycle: no part of the run
    REQUIRE(robot->finish().has_value());
    cycles = robot->statistics().cycles;
  }

  [[nodiscard]] std::vector<Seen> seen() const {
    std::vector<Seen> list;
    record::Reader reader = test::opened(path);
    while (const record::Record* record = reader.next().value()) {
      const auto* sample = std::get_if<record::SampleRecord>(record);
      if (sample == nullptr || !sample->topic.starts_with("/controllers/")) continue;
      record::CdrReader cdr(sample->message);
      Seen& one = list.emplace_back(Seen{std::string(sample->topic), {}});
      REQUIRE(record::MessageForm::of<RecordedControllerRequest>().read(cdr, one.change.at));
      one.change.json = cdr.text();
      CHECK(cdr.ok());
    }
    return list;
  }
  /// Replays a copy with these changes.
  [[nodiscard]] SetupResult<ReplayResult> replay_with(RunEdit edit, bool has_type = true) const {
    ReplayOptions options;
    if (has_type) options.options.types = {component::component_type<Drift>()};
    return test::replay_copy(path, folder_.file("copy.mcap"), std::move(edit), std::move(options));
  }
  /// The message of the refusal.
  [[nodiscard]] std::string refused_with(RunEdit edit, bool has_type = true) const {
    const auto result = replay_with(std::move(edit), has_type);
    if (result) return "not refused";
    CHECK(result.error().error == Errc::not_replayable);
    return result.error().message;
  }

 private:
  ScratchFolder folder_;

 public:
  std::string path = folder_.file("run.mcap");
  std::uint64_t cycles = 0;
  std::uint64_t set_at = 0;  ///< cycle
};

/// The request with this number becomes another one.
RunEdit with(std::uint64_t number, const char* json) {
  return {.change = [=](std::uint64_t, RecordedChange& change) {
    if (change.at.number == number) change.json = json;
    return true;
  }};
}

bool contains(const std::string& text, const std::string& part) {
  CAPTURE(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("a recording has each request to the controllers that took effect, with its cycle and its caller") {
  const CommandedRun run;
  const std::vector<Seen> seen = run.seen();
  REQUIRE(seen.size() == 8);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    CHECK(seen[i].change.at.number == i + 1);
    const char* topic = i == 3 || i == 4 || i == 7 ? "/controllers/parameters" : "/controllers/requests";
    CHECK(seen[i].topic == topic);
  }
  const auto json = [&seen](std::size_t i) { return Json::parse(seen[i].change.json); };
  CHECK(seen[0].change.at.cycle == 0);
  CHECK(json(0)["load"]["name"] == "first");
  CHECK(json(1)["load"]["parameters"] == Json::parse(R"({"speed":0.3})"));
  CHECK_FALSE(json(1)["load"].contains("start"));
  CHECK(json(2)["switch"]["start"] == Json::array({"second"}));
  CHECK(
      json(3) ==
      Json::parse(R"({"set":{"name":"first","parameters":{"speed":0.30000000000000004},"who":"Foxglove"}})"));
  CHECK(json(4)["set"]["parameters"]["speed"] == -0.1);
  CHECK(seen[3].change.at.cycle == run.set_at);
  CHECK(seen[4].change.at.cycle == run.set_at);
  CHECK(json(5)["switch"]["stop"] == Json::array({"second"}));
  CHECK(json(6)["unload"]["name"] == "second");
  CHECK(json(7)["set"]["who"] == "test");
}

TEST_CASE("a replay repeats the requests to the controllers, and another value is found in its cycle") {
  const CommandedRun run;
  const auto same = run.replay_with({});
  REQUIRE(same);
  CHECK_FALSE(same->difference);
  CHECK(same->cycles == run.cycles);

  const auto other =
      run.replay_with(with(5, R"({"set":{"name":"second","parameters":{"speed":-0.100001}}})"));
  REQUIRE(other);
  REQUIRE(other->difference);
  CHECK(other->difference->cycle == run.set_at);
  CHECK(other->difference->joint == "right_joint");

  const auto later = run.replay_with({.change = [](std::uint64_t, RecordedChange& change) {
    if (change.at.number == 8) ++change.at.cycle;
    return true;
  }});
  REQUIRE(later);
  REQUIRE(later->difference);
  CHECK(later->difference->cycle == run.seen().back().change.at.cycle);
}

TEST_CASE("a request to the controllers that is lost, or comes too late, is named") {
  const CommandedRun run;
  // Without the start, the joint differs before the gap shows.
  const auto lost =
      run.replay_with({.change = [](std::uint64_t index, RecordedChange&) { return index != 2; }});
  REQUIRE(lost);
  CHECK(lost->difference);
  CHECK(lost->ended_early == "the recording lacks request 3 to the controllers");
  contains(run.refused_with({.change = [](std::uint64_t index, RecordedChange&) { return index != 0; }}),
           "the recording lacks request 1 to the controllers");
  contains(run.refused_with({.change =
                                 [](std::uint64_t, RecordedChange& change) {
                                   if (change.at.number == 5) change.at.cycle = 7;
                                   return true;
                                 }}),
           "request 5 to the controllers comes after its cycle");
}

TEST_CASE("a request to the controllers that cannot be repeated is named with the reason") {
  const CommandedRun run;
  contains(run.refused_with({}, false), "request 1 to the controllers, {\"load\":");
  contains(run.refused_with({}, false), "\"Drift\" is not a component type");
  contains(run.refused_with(with(7, R"({"unload":{"name":"third"}})")),
           R"(request 7 to the controllers, {"unload":{"name":"third"}}: no controller "third" is loaded)");
  contains(run.refused_with(with(7, "no JSON")), "request 7 to the controllers, no JSON: ");
  contains(run.refused_with(with(7, R"({"list":{}})")), "it changes nothing");

  // A missing plug-in is named with the request that needs it.
  const auto plugin = with(1, R"({"library":{"file":"libdrift.so"}})");
  const std::string missing = run.refused_with(plugin);
  contains(missing, R"({"library":{"file":"libdrift.so"}}: libdrift.so: there is no such file)");
  contains(missing, "no controller \"first\" is loaded");
}

TEST_CASE("requests to the controllers with any bytes end in a result or in a named error") {
  const CommandedRun run;
  auto random = test::generator();
  for (std::size_t i = 0; i < test::count(30); ++i) {
    const auto which = static_cast<std::uint64_t>(test::uniform_int(random, 1, 8));
    const auto result = run.replay_with({.change = [&](std::uint64_t, RecordedChange& change) {
      if (change.at.number != which) return true;
      const auto last = static_cast<std::int64_t>(change.json.size()) - 1;
      for (auto n = test::uniform_int(random, 0, 3); n > 0; --n)
        change.json[static_cast<std::size_t>(test::uniform_int(random, 0, last))] =
            static_cast<char>(test::uniform_int(random, 0, 255));
      if (test::uniform_int(random, 0, 2) == 0)
        change.at.cycle ^= std::uint64_t{1} << test::uniform_int(random, 0, 63);
      change.at.is_between = static_cast<std::uint8_t>(test::uniform_int(random, 0, 255));
      return true;
    }});
    if (result) CHECK(result->cycles <= run.cycles);
    if (!result) CHECK_FALSE(result.error().message.empty());
  }
}

TEST_CASE("requests to the controllers cost a recorded loop neither allocations nor locks") {
  struct Guarded final : motion::LoopObserver {
    void before_cycle(Time) noexcept override {
      if (!guard) guard.emplace();
      // relaxed: it publishes nothing.
      began.store(true, std::memory_order_relaxed);
    }
    void after_cycle(const motion::Snapshot& snapshot) noexcept override {
      if (snapshot.state == motion::RobotState::down) guard->disarm();
    }
    void on_event(const motion::Event&) noexcept override {}
    std::optional<test::RtGuard> guard;
    std::atomic<bool> began{false};
  };
  const ScratchFolder folder;
  VirtualClock clock;
  OwnHardware hardware(2);
  RobotOptions options;
  options.clock = &clock;
  options.hardware = &hardware;
  options.recording = folder.file("run.mcap");
  options.types = {component::component_type<Drift>()};
  const auto robot = made(two_joints(), options);
  Guarded guarded;
  robot->add_observer(guarded);
  std::size_t obeyed = 0;
  std::thread commander([&] {
    const auto command = [&](const char* words) {
      obeyed += robot->controllers().command(words).has_value() ? 1U : 0U;
    };
    while (!guarded.began.load(std::memory_order_relaxed)) std::this_thread::yield();
    for (int i = 0; i < 20; ++i) {
      command("load Drift tip speed=0");
      command("start tip");
      command("set tip speed=0.01");
      command("stop tip");
      command("unload tip");
    }
    robot->shut_down();
  });
  REQUIRE(robot->run().has_value());
  commander.join();
  REQUIRE(guarded.guard.has_value());
  CHECK(guarded.guard->report() == "");
  CHECK(obeyed > 0);
  REQUIRE(robot->finish().has_value());
}
