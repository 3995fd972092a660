// Chains, fallbacks, devices and modes under the manager.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "robot/managed.hpp"
#include "support/random.hpp"
#include "takt/robot/async_controller.hpp"

using namespace takt;
using namespace takt::robot;
using test::Managed;
using test::Probe;

namespace {

/// A controller with an input that it passes on to a joint.
std::shared_ptr<Probe> follower(const std::string& name, const std::string& joint) {
  auto probe = std::make_shared<Probe>(name, [joint](Probe& self, Resources& resources) -> SetupResult<void> {
    auto claimed = resources.claim_joint(joint, CommandMode::position);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    self.joints.push_back(*claimed);
    auto input = resources.input("setpoint", "rad");
    if (!input) return tl::unexpected<SetupError>(input.error());
    self.input = *input;
    return resources.output("seen", "rad", self.value);
  });
  probe->trusted = true;
  probe->act = [](Probe& self) {
    self.value = self.input.get();
    if (self.input.driven()) self.joints[0]->follow({self.input.get(), 0, 0});
  };
  return probe;
}

/// A controller that commands an input.
std::shared_ptr<Probe> leader(const std::string& name, const std::string& input) {
  auto probe = std::make_shared<Probe>(name, [input](Probe& self, Resources& resources) -> SetupResult<void> {
    auto claimed = resources.claim(input);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    self.command = *claimed;
    return {};
  });
  probe->act = [](Probe& self) { self.command.set(self.value); };
  return probe;
}

/// A sensor with a struct and a lamp.
struct Board final : Device {
  struct Reading {
    double level = 0;
    std::uint32_t count = 0;
    std::uint32_t spare = 0;
    TAKT_FIELDS(Reading, level, count, spare)
  };
  static constexpr component::ComponentMetadata about{.type = "Board",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "device",
                                                      .description = "A sensor and a lamp."};
  explicit Board(std::string name, SafeValue safe = SafeValue::zero, double rate = 0)
      : Device(about, std::move(name)), safe_(safe), rate_(rate) {}
  SetupResult<void> on_declare(Declarations& declarations) override {
    if (auto done = declarations.sensor(name(), reading); !done) return done;
    return declarations.command(name() + "/lamp", "", lamp, driven, safe_, rate_);
  }
  Status on_execute(const component::CycleTime&) noexcept override {
    ++reading.count;
    return answer;
  }
  Status on_state_update(const component::CycleTime&) noexcept override {
    sent = lamp;
    return {};
  }

  Reading reading;
  double lamp = 0, sent = 0;
  bool driven = false;
  Status answer;

 private:
  SafeValue safe_;
  double rate_;
};

}  // namespace

TEST_CASE(
    "a chain passes a command from its leader to the drive in one cycle, whatever the order of loading") {
  Managed managed;
  auto last = follower("last", "a");
  auto middle = follower("middle", "b");
  middle->configure = [](Probe& self, Resources& resources) -> SetupResult<void> {
    auto claimed = resources.claim("last/setpoint");
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    self.command = *claimed;
    auto input = resources.input("setpoint", "rad");
    if (!input) return tl::unexpected<SetupError>(input.error());
    self.input = *input;
    return {};
  };
  middle->act = [](Probe& self) { self.command.set(2 * self.input.get()); };
  auto first = leader("first", "middle/setpoint");
  REQUIRE(managed.manager.load(last).has_value());
  REQUIRE(managed.manager.load(Probe::of("bystander", {"c"})).has_value());
  REQUIRE(managed.manager.load(middle).has_value());
  REQUIRE(managed.manager.load(first).has_value());
  REQUIRE(managed.manager.switch_controllers({.start = {"first", "last", "middle"}}).has_value());
  managed.make_ready();
  first->value = 0.0001;
  managed.cycle();
  CHECK(managed.drives.commands[0].position == 0.0002);
  const auto list = managed.manager.controllers();
  CHECK(list.front().name == "bystander");
  CHECK(list.back().name == "last");
}

TEST_CASE("a chain starts and stops as a whole") {
  Managed managed;
  REQUIRE(managed.manager.load(follower("pid", "a")).has_value());
  REQUIRE(managed.manager.load(leader("boss", "pid/setpoint")).has_value());
  managed.make_ready();
  auto alone = managed.start("boss");
  REQUIRE_FALSE(alone.has_value());
  CHECK(alone.error().error == Errc::chain_incomplete);
  REQUIRE(managed.manager.switch_controllers({.start = {"boss", "pid"}}).has_value());
  auto under = managed.stop("pid");
  REQUIRE_FALSE(under.has_value());
  CHECK(under.error().error == Errc::in_use);
  CHECK(under.error().message.find("boss") != std::string::npos);
  REQUIRE(managed.stop("boss").has_value());
  CHECK(managed.state_of("pid") == ControllerState::active);
  REQUIRE(managed.stop("pid").has_value());
  CHECK(managed.manager.unload("pid").error().error == Errc::in_use);
  CHECK(managed.manager.unload("boss").has_value());
  CHECK(managed.manager.unload("pid").has_value());
  CHECK(managed.manager.controllers().empty());
}

TEST_CASE("a load takes effect whole at one boundary, and leaves nothing if it is refused") {
  Managed managed(test::robot_of({"a", "b", "c"}), {.max_controllers = 3});
  REQUIRE(managed.manager.load(follower("pid", "a")).has_value());
  REQUIRE(managed.manager.load(Probe::of("other", {"b"})).has_value());
  managed.make_ready();
  struct Witness final : component::CallWitness {
    void ran(const component::CallNote&) noexcept override { ++calls; }
    int calls = 0;
  } witness;
  managed.manager.context().set_witness(&witness);
  const component::NotedCalls noted({});
  const auto wrong = managed.manager.load(leader("boss", "pid/setpoint"), {.divisor = 0});
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().error == component::Errc::bad_rate);
  CHECK(witness.calls == 0);
  REQUIRE(managed.manager.load(leader("boss", "pid/setpoint")).has_value());
  CHECK(witness.calls == 1);
  const auto beyond = managed.manager.load(Probe::of("more", {"c"}));
  REQUIRE_FALSE(beyond.has_value());
  CHECK(beyond.error().error == component::Errc::too_many_components);
  std::vector<std::string> order;
  for (const auto& status : managed.manager.controllers()) order.push_back(status.name);
  CHECK(order == std::vector<std::string>{"other", "boss", "pid"});
  witness.calls = 0;
  CHECK(managed.manager.unload("boss").has_value());
  CHECK(witness.calls == 1);
  CHECK(managed.manager.unload("pid").has_value());  // nothing of the refused leaders uses it
  managed.cycles(3);
}

TEST_CASE("a failure ends the whole chain in that cycle, and the fallback acts in it") {
  Managed managed;
  auto pid = follower("pid", "a");
  auto boss = leader("boss", "pid/setpoint");
  auto hold = Probe::of("hold", {"a"});
  hold->trusted = true;
  hold->act = [](Probe& self) { self.joints[0]->follow({0.00125, 0, 0}); };
  auto other = Probe::of("other", {"b"});
  REQUIRE(managed.manager.load(hold).has_value());
  REQUIRE(managed.manager.load(pid, {.fallbacks = {"hold"}}).has_value());
  REQUIRE(managed.manager.load(boss).has_value());
  REQUIRE(managed.manager.load(other).has_value());
  REQUIRE(managed.manager.switch_controllers({.start = {"boss", "pid", "other"}}).has_value());
  managed.make_ready();
  pid->execution = fail(Errc::device_lost);
  managed.cycle();
  CHECK(managed.drives.commands[0].position == 0.00125);
  CHECK(managed.state_of("pid") == ControllerState::failed);
  CHECK(managed.state_of("boss") == ControllerState::inactive);
  CHECK(managed.state_of("hold") == ControllerState::active);
  CHECK(managed.state_of("other") == ControllerState::active);
  std::vector<ManagerEvent::Kind> kinds;
  while (const auto event = managed.manager.next_event()) kinds.push_back(event->kind);
  CHECK(kinds == std::vector{ManagerEvent::Kind::controller_failed, ManagerEvent::Kind::controller_ended,
                             ManagerEvent::Kind::fallback_started});
}

TEST_CASE("a fallback ends whoever owns what it needs, and a failing fallback leaves the joint at rest") {
  Managed managed;
  auto main = Probe::of("main", {"a"});
  auto busy = Probe::of("busy", {"b"});
  auto hold = Probe::of("hold", {"a", "b"});
  REQUIRE(managed.manager.load(hold).has_value());
  REQUIRE(managed.manager.load(main, {.fallbacks = {"hold"}}).has_value());
  REQUIRE(managed.manager.load(busy).has_value());
  REQUIRE(managed.manager.switch_controllers({.start = {"main", "busy"}}).has_value());
  managed.make_ready();
  main->execution = fail(Errc::device_lost);
  managed.cycle();
  CHECK(managed.state_of("hold") == ControllerState::active);
  CHECK(managed.state_of("busy") == ControllerState::inactive);
  // Once more, with a fallback that refuses.
  REQUIRE(managed.stop("hold").has_value());
  REQUIRE(managed.manager.reset_controller("main").has_value());
  main->execution = {};
  REQUIRE(managed.start("main").has_value());
  hold->activation = fail(Errc::device_refuses);
  main->execution = fail(Errc::device_lost);
  managed.cycle();
  CHECK(managed.state_of("hold") == ControllerState::inactive);
  CHECK(main->joints[0]->owner() == nobody);
  CHECK(managed.drives.commands[0].want_power);
}

TEST_CASE("a controller with a divisor and a phase runs in its cycles, and keeps its command between them") {
  Managed managed;
  auto slow = Probe::of("slow", {"a"});
  slow->trusted = true;
  slow->act = [](Probe& self) { self.joints[0]->follow({1e-5 * self.executions, 0, 0}); };
  REQUIRE(managed.manager.load(slow, {.divisor = 4, .phase = 1}).has_value());
  REQUIRE(managed.start("slow").has_value());
  managed.make_ready();
  const int before = slow->executions;
  managed.cycles(40);
  CHECK(slow->executions == before + 10);
  CHECK(managed.drives.commands[0].position == 1e-5 * slow->executions);
  CHECK_FALSE(managed.manager.load(Probe::of("bad", {"b"}), {.divisor = 0}).has_value());
  CHECK_FALSE(managed.manager.load(Probe::of("bad", {"b"}), {.divisor = 2, .phase = 2}).has_value());
}

TEST_CASE("a lost device ends exactly the controllers that use it, and comes back by its policy") {
  Managed managed;
  Board board("board");
  REQUIRE(managed.manager.add(board, {.retry = std::chrono::milliseconds(20)}).has_value());
  auto reader = std::make_shared<Probe>("reader", [](Probe& self, Resources& resources) -> SetupResult<void> {
    auto found = resources.state("board/level");
    if (!found) return tl::unexpected<SetupError>(found.error());
    self.seen = *found;
    auto claimed = resources.claim_joint("a", CommandMode::position);
    self.joints.push_back(*claimed);
    return {};
  });
  auto other = Probe::of("other", {"b"});
  REQUIRE(managed.manager.load(reader).has_value());
  REQUIRE(managed.manager.load(other).has_value());
  REQUIRE(managed.manager.switch_controllers({.start = {"reader", "other"}}).has_value());
  managed.make_ready();
  const int before = reader->executions;
  board.answer = fail(Errc::device_lost);
  managed.cycle();
  CHECK(reader->executions == before);  // it ended before it could read garbage
  CHECK(managed.state_of("reader") == ControllerState::inactive);
  CHECK(managed.state_of("other") == ControllerState::active);
  CHECK(managed.start("reader").error().error == Errc::device_lost);
  board.answer = {};
  managed.cycles(25);
  CHECK(board.state() == component::ComponentState::active);
  CHECK(managed.start("reader").has_value());
  // By hand, too.
  board.answer = fail(Errc::device_lost);
  managed.cycle();
  CHECK(managed.state_of("reader") == ControllerState::inactive);
  board.answer = {};
  REQUIRE(managed.manager.reset_device("board").has_value());
  managed.cycle();
  CHECK(managed.start("reader").has_value());
  CHECK(managed.manager.reset_device("bord").error().error == Errc::no_such_device);
}

TEST_CASE("a device that fails in the first cycle after its activation is lost, and tried again") {
  Managed managed;
  Board board("board");
  board.answer = fail(Errc::device_lost);
  REQUIRE(managed.manager.add(board, {.retry = std::chrono::milliseconds(20)}).has_value());
  managed.cycles(70);  // three times in vain
  CHECK(board.state() == component::ComponentState::error);
  board.answer = {};
  managed.cycles(25);
  CHECK(board.state() == component::ComponentState::active);
}

TEST_CASE("structs and numbers of devices are found by name, and mistakes list what there is") {
  Managed managed;
  Board board("board");
  REQUIRE(managed.manager.add(board).has_value());
  std::string wrong_state, wrong_command, wrong_joint, wrong_struct;
  auto probe = std::make_shared<Probe>("probe", [&](Probe&, Resources& resources) -> SetupResult<void> {
    wrong_state = resources.state("board/leve").error().message;
    wrong_command = resources.claim("boar/lamp").error().message;
    wrong_joint = resources.joint("d").error().message;
    wrong_struct = resources.sensor<MotionState>("board").error().message;
    const auto reading = resources.sensor<Board::Reading>("board");
    REQUIRE(reading.has_value());
    CHECK(*reading == &board.reading);
    CHECK(resources.state("a/effort").has_value());
    return {};
  });
  REQUIRE(managed.manager.load(probe).has_value());
  CHECK(wrong_state.find("it has board/level") != std::string::npos);
  CHECK(wrong_command.find("owners are") != std::string::npos);
  CHECK(wrong_joint.find("a, b, c") != std::string::npos);
  CHECK(wrong_struct.find("level f64") != std::string::npos);
  CHECK(wrong_struct.find("acceleration f64") != std::string::npos);
  CHECK_FALSE(managed.manager.load(Probe::of("board", {})).has_value());
  CHECK_FALSE(managed.manager.load(Probe::of("a", {})).has_value());
  Board twin("board");
  CHECK(managed.manager.add(twin).error().error == Errc::duplicate_name);
}

TEST_CASE("a mimic joint is a state that follows its joint") {
  auto robot = test::robot_of({"finger"});
  robot.mimics.push_back({.name = "other_finger", .joint = 0, .multiplier = -2, .offset = 0.5});
  Managed managed(robot);
  std::array<StateHandle, 2> seen;
  auto reader = std::make_shared<Probe>("reader", [&](Probe&, Resources& resources) -> SetupResult<void> {
    seen = {resources.state("other_finger/position").value(),
            resources.state("other_finger/velocity").value()};
    return {};
  });
  REQUIRE(managed.manager.load(reader).has_value());
  managed.drives.feedback[0].position = 0.25;
  managed.drives.feedback[0].velocity = 1;
  managed.cycle();
  CHECK(seen[0].get() == 0);
  CHECK(seen[1].get() == -2);
}

TEST_CASE("a command that nobody owns gets its safe value") {
  struct Case {
    SafeValue safe;
    double rate, after_one, after_many;
  };
  for (const Case& c : {Case{SafeValue::hold, 0, 5, 5}, Case{SafeValue::zero, 0, 0, 0},
                        Case{SafeValue::ramp_to_zero, 1000, 4, 0}}) {
    Managed managed;
    Board board("board", c.safe, c.rate);
    REQUIRE(managed.manager.add(board).has_value());
    auto lamp = leader("lamp", "board/lamp");
    lamp->value = 5;
    REQUIRE(managed.manager.load(lamp).has_value());
    REQUIRE(managed.start("lamp").has_value());
    managed.make_ready();
    CHECK(board.sent == 5);
    REQUIRE(managed.stop("lamp").has_value());
    managed.cycle();
    CHECK(board.sent == c.after_one);
    managed.cycles(10);
    CHECK(board.sent == c.after_many);
  }
}

TEST_CASE("NaN for a command of a device ends the controller, and the last good value stands") {
  Managed managed;
  Board board("board", SafeValue::hold);
  REQUIRE(managed.manager.add(board).has_value());
  auto lamp = leader("lamp", "board/lamp");
  lamp->value = 5;
  REQUIRE(managed.manager.load(lamp).has_value());
  REQUIRE(managed.start("lamp").has_value());
  managed.make_ready();
  lamp->value = std::numeric_limits<double>::quiet_NaN();
  managed.cycle();
  CHECK(board.sent == 5);
  CHECK(managed.state_of("lamp") == ControllerState::failed);
}

namespace {

/// Drives that take some cycles for a change of mode.
struct SlowDrives final : Device {
  static constexpr component::ComponentMetadata about{.type = "SlowDrives",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "device",
                                                      .description = "Changes modes slowly."};
  explicit SlowDrives(std::string name) : Device(about, std::move(name)) {}
  SetupResult<void> on_declare(Declarations&) override { return {}; }
  bool drives(std::size_t joint) const noexcept override { return joint == 0; }
  SetupResult<void> prepare(std::span<const ModeChange> changes) override {
    if (changes[0].mode == CommandMode::velocity) return fail(Errc::device_refuses, "no velocity here");
    return {};
  }
  ModeProgress perform(std::span<const ModeChange> changes) noexcept override {
    if (changes[0].mode == CommandMode::position) return ModeProgress::done;  // also on the way back
    ++asked;
    return asked < needed ? ModeProgress::ongoing : verdict;
  }
  int asked = 0, needed = 0;
  ModeProgress verdict = ModeProgress::done;
};

}  // namespace

TEST_CASE("a switch waits for the drives' change of mode, and is undone if that fails or takes too long") {
  Managed managed;
  SlowDrives slow("slow");
  REQUIRE(managed.manager.add(slow).has_value());
  auto old = Probe::of("old", {"a"});
  auto fresh = Probe::of("fresh", {"a"}, CommandMode::effort);
  auto fast = Probe::of("fast", {"a"}, CommandMode::velocity);
  for (const auto& probe : {old, fresh, fast}) REQUIRE(managed.manager.load(probe).has_value());
  managed.make_ready();
  REQUIRE(managed.start("old").has_value());
  const auto refused = managed.manager.switch_controllers({.start = {"fast"}, .stop = {"old"}});
  CHECK(refused.error().error == Errc::device_refuses);
  CHECK(refused.error().message.find("no velocity here") != std::string::npos);

  slow.verdict = ModeProgress::failed;
  CHECK(managed.manager.switch_controllers({.start = {"fresh"}, .stop = {"old"}}).error().error ==
        Errc::device_refuses);
  CHECK(managed.state_of("old") == ControllerState::active);
  slow.verdict = ModeProgress::done;

  // The caller waits in another thread while this one runs the cycle.
  const auto switch_beside = [&](int needed, Duration timeout) {
    slow.asked = 0;
    slow.needed = needed;
    SetupResult<void> done;
    std::atomic<bool> over{false};
    std::thread caller([&] {
      done = managed.manager.switch_controllers({.start = {"fresh"}, .stop = {"old"}, .timeout = timeout});
      over = true;
    });
    while (!over) {
      managed.cycle();
      std::this_thread::yield();
    }
    caller.join();
    return done;
  };
  const auto late = switch_beside(1000000, std::chrono::milliseconds(50));
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().error == Errc::switch_timed_out);
  CHECK(managed.state_of("old") == ControllerState::active);
  REQUIRE(switch_beside(20, std::chrono::seconds(1)).has_value());
  CHECK(slow.asked == 20);
  CHECK(managed.state_of("fresh") == ControllerState::active);
  CHECK(managed.state_of("old") == ControllerState::inactive);
}

TEST_CASE("a failure ends exactly those that are connected with it, through any number of controllers") {
  auto random = test::generator();
  for (std::size_t round = 0; round < test::count(20); ++round) {
    Managed managed;
    struct Node {
      std::shared_ptr<Probe> probe;
      std::set<std::size_t> neighbours;
      bool loaded = true, runs = false;
    };
    std::vector<Node> nodes(40);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      // Each node has an input for each later one, so that a follower can have many leaders.
      std::vector<std::size_t> followers;
      for (std::size_t k = 0; k < i; ++k) {
        if (test::uniform_int(random, 0, 39) == 0) followers.push_back(k);
      }
      nodes[i].probe = std::make_shared<Probe>(
          "n" + std::to_string(i), [i, followers](Probe&, Resources& resources) -> SetupResult<void> {
            for (std::size_t k = i + 1; k < 40; ++k) {
              if (auto made = resources.input("from" + std::to_string(k), "1"); !made)
                return tl::unexpected<SetupError>(made.error());
            }
            for (const std::size_t k : followers) {
              auto claimed = resources.claim("n" + std::to_string(k) + "/from" + std::to_string(i));
              if (!claimed) return tl::unexpected<SetupError>(claimed.error());
            }
            return {};
          });
      REQUIRE(managed.manager.load(nodes[i].probe).has_value());
      for (const std::size_t k : followers) {
        nodes[i].neighbours.insert(k);
        nodes[k].neighbours.insert(i);
      }
    }
    // Some are unloaded again: those that nobody commands.
    for (std::size_t i = nodes.size(); i-- > 30;) {
      if (test::uniform_int(random, 0, 2) == 0 && managed.manager.unload(nodes[i].probe->name())) {
        nodes[i].loaded = false;
        for (const std::size_t k : nodes[i].neighbours) nodes[k].neighbours.erase(i);
      }
    }
    SwitchRequest all;
    for (Node& node : nodes) {
      if (node.loaded) all.start.push_back(node.probe->name());
      node.runs = node.loaded;
    }
    REQUIRE(managed.manager.switch_controllers(all).has_value());
    managed.make_ready();
    while (managed.manager.next_event()) {
    }
    for (int failures = 0; failures < 5; ++failures) {
      const auto first = static_cast<std::size_t>(test::uniform_int(random, 0, 39));
      if (!nodes[first].runs) continue;
      nodes[first].probe->fails_once = true;
      managed.cycle();
      std::vector<std::size_t> ended = {first};
      nodes[first].runs = false;
      for (std::size_t i = 0; i < ended.size(); ++i) {
        for (const std::size_t k : nodes[ended[i]].neighbours) {
          if (std::exchange(nodes[k].runs, false)) ended.push_back(k);
        }
      }
      for (const Node& node : nodes)
        CHECK((node.probe->state() == component::ComponentState::active) == node.runs);
      // Leaders end before their followers. The failed one is named first.
      std::vector<std::string> order;
      while (const auto event = managed.manager.next_event()) order.emplace_back(event->component.view());
      CHECK(order.size() == ended.size());
      const auto place = [&](std::size_t i) {
        return std::ranges::find(order, nodes[i].probe->name()) - order.begin();
      };
      CHECK(place(first) == 0);
      for (const std::size_t i : ended) {
        for (const std::size_t k : nodes[i].neighbours) {
          if (i > k && i != first && k != first && std::ranges::count(ended, k) == 1)
            CHECK(place(i) < place(k));
        }
      }
    }
  }
}

TEST_CASE("a controller that was just loaded replaces one in a single cycle, while the joint holds still") {
  Managed managed;
  const auto hold = [](Probe& probe) { probe.joints[0]->follow(probe.joints[0]->reference()); };
  auto old = Probe::of("probe", {"a"});
  old->act = [](Probe& probe) { probe.joints[0]->follow({1, 0, 0}); };
  REQUIRE(managed.manager.load(old).has_value());
  REQUIRE(managed.start("probe").has_value());
  managed.make_ready();
  managed.cycles(2000);
  const double held = managed.manager.joints()[0].reference().position;
  CHECK(held == doctest::Approx(1));

  auto fresh = Probe::of("probe_2", {"a"});
  fresh->act = hold;
  REQUIRE(managed.manager.load(fresh).has_value());
  // The switch is applied between two cycles, so the cycle of the change is seen as a whole.
  REQUIRE(managed.manager.switch_controllers({.start = {"probe_2"}, .stop = {"probe"}}).has_value());
  const int before = old->executions;
  for (int i = 0; i < 5; ++i) {
    managed.cycle();
    CHECK(managed.manager.joints()[0].driven());
    CHECK(managed.drives.commands[0].position == held);
  }
  CHECK(old->executions == before);
  CHECK(fresh->executions == 5);
  CHECK(managed.manager.unload("probe").has_value());
}
