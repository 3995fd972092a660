// What the drives get when an owner ends: by a stop, a failure, a loan that ends, a lost device.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "robot/managed.hpp"

using namespace takt;
using namespace takt::robot;
using test::Managed;
using test::Probe;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A controller that pushes a joint.
std::shared_ptr<Probe> pusher(const std::string& name, const std::string& joint, double effort) {
  auto probe = Probe::of(name, {joint}, CommandMode::effort);
  probe->act = [effort](Probe& self) { self.joints[0]->set_effort(effort); };
  return probe;
}

/// A controller that claims interfaces by their names, and commands the first one.
std::shared_ptr<Probe> commander(const std::string& name, const std::vector<std::string>& interfaces,
                                 double value) {
  auto probe =
      std::make_shared<Probe>(name, [interfaces](Probe& self, Resources& resources) -> SetupResult<void> {
        for (const std::string& interface : interfaces) {
          auto claimed = resources.claim(interface);
          if (!claimed) return tl::unexpected<SetupError>(claimed.error());
          if (!self.command) self.command = *claimed;
        }
        return {};
      });
  probe->value = value;
  probe->act = [](Probe& self) { self.command.set(self.value); };
  return probe;
}

/// A controller that passes its input on to a joint.
std::shared_ptr<Probe> follower(const std::string& name, const std::string& joint) {
  auto probe = std::make_shared<Probe>(name, [joint](Probe& self, Resources& resources) -> SetupResult<void> {
    auto claimed = resources.claim_joint(joint, CommandMode::position);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    self.joints.push_back(*claimed);
    auto input = resources.input("setpoint", "rad");
    if (!input) return tl::unexpected<SetupError>(input.error());
    self.input = *input;
    return {};
  });
  probe->act = [](Probe& self) {
    self.value = self.input.get();
    self.joints[0]->follow({self.input.get(), 0, 0});
  };
  return probe;
}

void load(Managed& managed, const std::shared_ptr<Probe>& probe, std::vector<std::string> fallbacks = {}) {
  REQUIRE(managed.manager.load(probe, {.fallbacks = std::move(fallbacks)}).has_value());
}

void stop_robot(Managed& managed, StopCategory category) {
  managed.begin();
  managed.manager.stop_robot({FaultReason::emergency_stop}, category);
  managed.end();
}

void reset(Managed& managed) {
  managed.begin();
  REQUIRE(managed.manager.reset().result == Supervisor::ResetAnswer::Result::done);
  managed.end();
}

/// A device that a controller uses, with a change of modes that takes some cycles.
struct Part final : Device {
  static constexpr component::ComponentMetadata about{.type = "Part",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "device",
                                                      .description = "Fails, and changes modes."};
  explicit Part(std::string name = "part") : Device(about, std::move(name)) {}
  SetupResult<void> on_declare(Declarations& declarations) override {
    return declarations.state(name() + "/level", "", level);
  }
  [[nodiscard]] bool drives(std::size_t joint) const noexcept override { return joint == 0; }
  ModeProgress perform(std::span<const ModeChange> changes) noexcept override {
    REQUIRE(changes.size() == 1);
    REQUIRE(changes[0].joint == 0);
    if (quick > 0) {
      --quick;
    } else if (left > 0) {
      --left;
      return ModeProgress::ongoing;
    }
    mode = changes[0].mode;
    return std::exchange(verdict, ModeProgress::done);
  }
  Status on_execute(const component::CycleTime&) noexcept override { return reads; }
  Status on_state_update(const component::CycleTime&) noexcept override { return writes; }
  double level = 0;
  int quick = 0, left = 0;  ///< so many changes are done at once, then so many calls answer "ongoing"
  CommandMode mode = CommandMode::position;
  ModeProgress verdict = ModeProgress::done;  ///< of the next change
  Status reads, writes;
};

}  // namespace

TEST_CASE("after a stop of category 0 and a reset, a joint that nobody commands gets no effort") {
  for (const bool stays : {false, true}) {
    CAPTURE(stays);
    Managed managed;
    load(managed, pusher("push", "a", -1.5));
    REQUIRE(managed.start("push").has_value());
    managed.make_ready();
    managed.cycle();
    CHECK(managed.drives.commands[0].effort == -1.5);
    stop_robot(managed, StopCategory::category_0);
    CHECK(managed.drives.commands[0].effort == 0);
    CHECK(managed.drives.commands[0].mode == CommandMode::position);
    managed.cycles(3);
    if (!stays) REQUIRE(managed.stop("push").has_value());
    reset(managed);
    int cycles = 0;
    for (; managed.manager.supervisor().state() != RobotState::ready && cycles < 10; ++cycles) {
      CHECK(managed.drives.commands[0].effort == 0);
      CHECK(managed.drives.commands[0].mode == CommandMode::position);
      managed.cycle();
    }
    CHECK(cycles > 0);
    managed.cycle();
    CHECK(managed.drives.commands[0].effort == (stays ? -1.5 : 0));
  }
}

TEST_CASE("without power a joint gets its measured position only, also under a controller of the stop") {
  for (const CommandMode mode : {CommandMode::velocity, CommandMode::effort}) {
    Managed managed;
    auto probe = Probe::of("rides", {"a"}, mode);
    probe->rides_on = true;
    probe->act = [mode](Probe& self) {
      if (mode == CommandMode::velocity) self.joints[0]->set_velocity(0.5);
      if (mode == CommandMode::effort) self.joints[0]->set_effort(2);
    };
    load(managed, probe);
    REQUIRE(managed.start("rides").has_value());
    managed.make_ready();
    managed.cycles(100);
    stop_robot(managed, StopCategory::category_0);
    for (int i = 0; i < 5; ++i) {
      managed.drives.feedback[0].position += 0.01;
      managed.cycle();
      CHECK_FALSE(managed.drives.commands[0].want_power);
      CHECK(managed.drives.commands[0].position == managed.drives.feedback[0].position);
      CHECK(managed.drives.commands[0].velocity == 0);
      CHECK(managed.drives.commands[0].effort == 0);
    }
    CHECK(managed.state_of("rides") == ControllerState::active);
  }
}

TEST_CASE("a borrower's NaN ends the borrower alone, and its effort ends with it") {
  Managed managed;
  auto lender = Probe::of("lender", {"a"}, CommandMode::position, ClaimKind::lending);
  auto borrower = pusher("borrower", "a", 3);
  load(managed, lender);
  load(managed, borrower);
  managed.make_ready();
  REQUIRE(managed.start("lender").has_value());
  REQUIRE(managed.start("borrower").has_value());
  managed.cycle();
  CHECK(managed.drives.commands[0].effort == 3);
  lender->act = [](Probe& self) { self.joints[0]->follow({self.joints[0]->reference().position, 0, 0}); };
  managed.cycle();
  CHECK(managed.drives.commands[0].effort == 3);  // a lender commands nothing meanwhile
  borrower->act = [](Probe& self) { self.joints[0]->set_effort(not_a_number); };
  managed.cycle();
  CHECK(managed.state_of("borrower") == ControllerState::failed);
  CHECK(managed.state_of("lender") == ControllerState::active);
  CHECK(lender->returned == 1);
  for (int i = 0; i < 3; ++i) {
    CHECK(managed.drives.commands[0].effort == 0);
    CHECK(managed.drives.commands[0].mode == CommandMode::position);
    managed.cycle();
  }
  CHECK(lender->joints[0]->driven());
}

TEST_CASE("a borrower that is stopped leaves no feed-forward to the lender") {
  Managed managed;
  auto lender = Probe::of("lender", {"a"}, CommandMode::position, ClaimKind::lending);
  lender->act = [](Probe& self) { self.joints[0]->follow({self.joints[0]->reference().position, 0, 0}); };
  load(managed, lender);
  load(managed, pusher("borrower", "a", 3));
  managed.make_ready();
  REQUIRE(managed.start("lender").has_value());
  REQUIRE(managed.start("borrower").has_value());
  managed.cycles(3);
  REQUIRE(managed.stop("borrower").has_value());
  managed.cycle();
  CHECK(managed.drives.commands[0].effort == 0);
}

TEST_CASE("a failed controller commands nothing from on_error, neither a free joint nor an owned one") {
  struct Zombie final : Probe {
    using Probe::Probe;
    void on_error(const component::CycleTime&) noexcept override {
      joints[0]->follow({1, 0, 0});
      command.set(7);
    }
  };
  Managed managed;
  load(managed, follower("led", "b"));
  auto zombie =
      std::make_shared<Zombie>("zombie", [](Probe& self, Resources& resources) -> SetupResult<void> {
        self.joints.push_back(resources.claim_joint("a", CommandMode::position).value());
        self.command = resources.claim("led/setpoint").value();
        return {};
      });
  auto heir = Probe::of("heir", {"a"});
  load(managed, zombie);
  load(managed, heir);
  REQUIRE(managed.manager.switch_controllers({.start = {"zombie", "led"}}).has_value());
  managed.make_ready();
  zombie->execution = fail(Errc::device_lost);
  managed.cycles(50);
  CHECK(managed.state_of("zombie") == ControllerState::failed);
  CHECK(managed.drives.commands[0].position == 0);
  REQUIRE(managed.manager.switch_controllers({.start = {"heir", "led"}}).has_value());
  managed.cycles(50);
  CHECK(managed.drives.commands[0].position == 0);
  CHECK(managed.drives.commands[1].position == 0);
}

TEST_CASE("a leader's NaN never reaches its follower, which ends with the chain without a failure") {
  Managed managed;
  auto pid = follower("pid", "a");
  auto boss = commander("boss", {"pid/setpoint"}, 0);
  load(managed, pusher("hold", "a", 2));
  load(managed, pid);
  load(managed, boss, {"hold"});
  REQUIRE(managed.manager.switch_controllers({.start = {"boss", "pid"}}).has_value());
  managed.make_ready();
  boss->value = not_a_number;
  managed.cycle();
  CHECK(std::isfinite(pid->value));
  CHECK(managed.state_of("boss") == ControllerState::failed);
  CHECK(boss->error() == Errc::command_not_finite);
  CHECK(managed.state_of("pid") == ControllerState::inactive);
  CHECK(managed.drives.commands[0].effort == 2);
}

TEST_CASE("all joints of a controller that commands NaN come to rest in that cycle") {
  Managed managed;
  auto probe = Probe::of("bad", {"a", "b"}, CommandMode::effort);
  probe->act = [](Probe& self) {
    self.joints[0]->set_effort(3);
    self.joints[1]->set_effort(self.value);
  };
  load(managed, probe);
  REQUIRE(managed.start("bad").has_value());
  managed.make_ready();
  managed.cycle();
  CHECK(managed.drives.commands[0].effort == 3);
  probe->value = not_a_number;
  managed.cycle();
  CHECK(managed.drives.commands[0].effort == 0);
  CHECK(managed.drives.commands[0].mode == CommandMode::position);
}

TEST_CASE("a lost device, and one that cannot write, execute a fallback once in that cycle") {
  for (const bool writing : {false, true}) {
    CAPTURE(writing);
    Managed managed;
    Part part;
    REQUIRE(managed.manager.add(part).has_value());
    auto user = Probe::of("user", {"b"});
    user->configure = [](Probe& self, Resources& resources) -> SetupResult<void> {
      self.seen = resources.state("part/level").value();
      self.joints.push_back(resources.claim_joint("b", CommandMode::position).value());
      return {};
    };
    auto spare = Probe::of("spare", {"b"});
    load(managed, spare);
    load(managed, user, {"spare"});
    REQUIRE(managed.start("user").has_value());
    managed.make_ready();
    (writing ? part.writes : part.reads) = fail(Errc::device_lost);
    managed.cycle();
    if (writing) managed.cycle();
    CHECK(managed.state_of("user") == ControllerState::inactive);
    CHECK(managed.state_of("spare") == ControllerState::active);
    CHECK(spare->executions == 1);
  }
}

TEST_CASE(
    "a fallback that fails in its first execution, or an update that fails, ends and leaves its joint") {
  struct Updater final : Probe {
    using Probe::Probe;
    Status on_state_update(const component::CycleTime&) noexcept override { return update; }
    Status update;
  };
  Managed managed;
  auto main = std::make_shared<Updater>("main", Probe::of("", {"a"})->configure);
  auto first = Probe::of("first", {"a"});
  auto second = pusher("second", "a", 4);
  load(managed, second);
  load(managed, first, {"second"});
  load(managed, main, {"first"});
  REQUIRE(managed.start("main").has_value());
  managed.make_ready();
  first->execution = fail(Errc::device_lost);
  main->update = fail(Errc::device_lost);
  managed.cycle();
  const int before = main->executions;
  managed.cycle();
  CHECK(main->executions == before);
  CHECK(first->executions == 1);
  CHECK(second->executions == 1);
  CHECK(managed.state_of("second") == ControllerState::active);
  CHECK(managed.drives.commands[0].effort == 4);
}

TEST_CASE("a fallback that cannot start ends nobody") {
  for (const bool refuses : {false, true}) {
    CAPTURE(refuses);
    Managed managed;
    auto main = Probe::of("main", {"a"});
    auto busy = Probe::of("busy", {"b"});
    busy->act = [](Probe& self) { self.joints[0]->follow({0.001 * self.executions, 1, 0}); };
    load(managed, follower("idle", "c"));
    auto spare =
        std::make_shared<Probe>("spare", [=](Probe& self, Resources& resources) -> SetupResult<void> {
          for (const char* joint : {"a", "b"})
            self.joints.push_back(resources.claim_joint(joint, CommandMode::position).value());
          if (!refuses) self.command = resources.claim("idle/setpoint").value();
          return {};
        });
    load(managed, spare);
    load(managed, main, {"spare"});
    load(managed, busy);
    REQUIRE(managed.manager.switch_controllers({.start = {"main", "busy"}}).has_value());
    managed.make_ready();
    managed.cycles(100);
    if (refuses) spare->activation = fail(Errc::device_refuses);
    main->execution = fail(Errc::device_lost);
    managed.cycle();
    CHECK(managed.state_of("spare") == ControllerState::inactive);
    CHECK(managed.state_of("busy") == ControllerState::active);
    CHECK(busy->activations == 1);
    CHECK(busy->joints[0]->driven());
  }
}

TEST_CASE("a chain resumes and returns as a whole, or not at all") {
  for (const bool rollback : {false, true}) {
    CAPTURE(rollback);
    Managed managed;
    auto pid = follower("pid", "a");
    auto boss = commander("boss", {"pid/setpoint"}, 0);
    auto bad = Probe::of("bad", {"a"});
    for (const auto& probe : {pid, boss, bad}) load(managed, probe);
    bad->activation = fail(Errc::device_refuses);
    REQUIRE(managed.manager.switch_controllers({.start = {"boss", "pid"}}).has_value());
    managed.make_ready();
    pid->activation = fail(Errc::device_refuses);
    if (rollback) {
      CHECK_FALSE(
          managed.manager.switch_controllers({.start = {"bad"}, .stop = {"boss", "pid"}}).has_value());
    } else {
      stop_robot(managed, StopCategory::category_2);
      managed.cycles(3);
      reset(managed);
    }
    const int before = boss->executions;
    managed.cycles(3);
    CHECK(managed.state_of("pid") == ControllerState::inactive);
    CHECK(managed.state_of("boss") == ControllerState::inactive);
    CHECK(boss->executions == before);
  }
}

TEST_CASE("a leader that works in a stop does not go on without its follower") {
  Managed managed;
  auto boss = commander("boss", {"pid/setpoint"}, 0);
  boss->rides_on = true;
  load(managed, follower("pid", "a"));
  load(managed, boss);
  REQUIRE(managed.manager.switch_controllers({.start = {"boss", "pid"}}).has_value());
  managed.make_ready();
  stop_robot(managed, StopCategory::category_2);
  CHECK(managed.state_of("boss") == ControllerState::suspended);
  managed.cycles(3);
  reset(managed);
  managed.cycles(3);
  CHECK(managed.state_of("boss") == ControllerState::active);
  CHECK(managed.state_of("pid") == ControllerState::active);
}

TEST_CASE("every start waits for the change of modes: of a switch before ready, resume, rollback, fallback") {
  enum class Path { before_ready, resume, rollback, fallback };
  for (const Path path : {Path::before_ready, Path::resume, Path::rollback, Path::fallback}) {
    CAPTURE(static_cast<int>(path));
    Managed managed;
    Part part;
    REQUIRE(managed.manager.add(part).has_value());
    auto push = pusher("push", "a", 3);
    auto other = Probe::of("other", {"a"});
    load(managed, push);
    load(managed, other, {"push"});
    if (path == Path::before_ready) {
      part.left = 10;
      REQUIRE(managed.start("push").has_value());
    }
    managed.make_ready();
    part.left = 0;
    if (path == Path::before_ready) {
      CHECK(push->activations == 0);
    } else {
      REQUIRE(managed.start(path == Path::fallback ? "other" : "push").has_value());
      managed.cycle();
    }
    part.mode = CommandMode::position;
    if (path == Path::resume) {
      stop_robot(managed, StopCategory::category_2);
      managed.cycles(3);
      part.left = 5;
      reset(managed);
    } else if (path == Path::rollback) {
      other->activation = fail(Errc::device_refuses);
      CHECK_FALSE(managed.manager.switch_controllers({.start = {"other"}, .stop = {"push"}}).has_value());
      CHECK(managed.state_of("push") == ControllerState::active);
      part.quick = 1;
      part.left = 5;
      CHECK_FALSE(managed.manager.switch_controllers({.start = {"other"}, .stop = {"push"}}).has_value());
    } else if (path == Path::fallback) {
      part.left = 5;
      other->execution = fail(Errc::device_lost);
    }
    int waited = 0;
    for (; part.mode != CommandMode::effort && waited < 20; ++waited) {
      managed.cycle();
      if (part.mode != CommandMode::effort) CHECK(managed.drives.commands[0].effort == 0);
    }
    managed.cycle();
    CHECK(part.mode == CommandMode::effort);
    CHECK(managed.state_of("push") == ControllerState::active);
    CHECK(managed.drives.commands[0].effort == 3);
  }
}

TEST_CASE("with claims per interface, an owner that stops leaves nothing, and the others keep their mode") {
  Managed managed(test::robot_of({"a"}), {.claims = ClaimPolicy::per_interface});
  Part part;
  REQUIRE(managed.manager.add(part).has_value());
  auto place = commander("place", {"a/position"}, 0);
  auto rate = commander("rate", {"a/velocity"}, 0);
  auto push = commander("push", {"a/effort"}, 3);
  for (const auto& probe : {place, rate, push}) load(managed, probe);
  REQUIRE(managed.manager.switch_controllers({.start = {"place", "rate", "push"}}).has_value());
  managed.make_ready();
  managed.cycle();
  CHECK(managed.drives.commands[0].mode == CommandMode::position);
  CHECK(managed.drives.commands[0].effort == 3);
  CHECK(part.mode == CommandMode::position);
  SUBCASE("the effort's owner stops") {
    REQUIRE(managed.stop("push").has_value());
    managed.cycle();
    CHECK(managed.drives.commands[0].effort == 0);
    CHECK(managed.drives.commands[0].mode == CommandMode::position);
    CHECK(managed.manager.joints()[0].driven());
  }
  SUBCASE("the effort's owner remains") {
    REQUIRE(managed.manager.switch_controllers({.stop = {"place", "rate"}}).has_value());
    managed.cycles(2);
    CHECK(part.mode == CommandMode::effort);
    CHECK(managed.drives.commands[0].mode == CommandMode::effort);
    CHECK(managed.drives.commands[0].effort == 3);
  }
  SUBCASE("the velocity's owner remains with it") {
    REQUIRE(managed.stop("place").has_value());
    managed.cycles(2);
    CHECK(managed.drives.commands[0].mode == CommandMode::velocity);
  }
  SUBCASE("all resume after a stop") {
    stop_robot(managed, StopCategory::category_2);
    managed.cycles(3);
    reset(managed);
    managed.cycles(3);
    for (const char* name : {"place", "rate", "push"})
      CHECK(managed.state_of(name) == ControllerState::active);
  }
}

TEST_CASE("a joint that returns to its lender is commanded again once its drive has the lender's mode") {
  Managed managed;
  Part part;
  REQUIRE(managed.manager.add(part).has_value());
  auto lender = Probe::of("lender", {"a"}, CommandMode::velocity, ClaimKind::lending);
  lender->act = [](Probe& self) { self.joints[0]->set_velocity(0.01); };
  load(managed, lender);
  load(managed, pusher("borrower", "a", 3));
  managed.make_ready();
  REQUIRE(managed.start("lender").has_value());
  REQUIRE(managed.start("borrower").has_value());
  managed.cycle();
  part.left = 3;
  REQUIRE(managed.stop("borrower").has_value());
  for (int i = 0; i < 3; ++i) {
    CHECK(managed.drives.commands[0].mode != CommandMode::velocity);
    managed.cycle();
  }
  managed.cycles(2);
  CHECK(part.mode == CommandMode::velocity);
  CHECK(managed.drives.commands[0].mode == CommandMode::velocity);
  // A drive that does not get there ends the lender, which has no other mode.
  REQUIRE(managed.start("borrower").has_value());
  managed.cycle();
  part.verdict = ModeProgress::failed;
  REQUIRE(managed.stop("borrower").has_value());
  managed.cycles(2);
  CHECK(managed.state_of("lender") == ControllerState::failed);
  CHECK(lender->error() == Errc::device_refuses);
}
