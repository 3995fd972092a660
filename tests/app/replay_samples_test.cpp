// Tests that a recording has the samples that other components write into ports of controllers, and that a
// replay gives each to the same cycle. A lost or changed sample is named.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/joint_mover.hpp"
#include "app/robot_client.hpp"
#include "app/run_editor.hpp"
#include "support/random.hpp"
#include "takt/app/error.hpp"
#include "takt/app/replay.hpp"
#include "takt/component/connection.hpp"
#include "takt/component/error.hpp"
#include "takt/component/port.hpp"
#include "takt/robot/error.hpp"

using namespace takt;
using namespace takt::app;
using namespace takt::test::robot_client;
using component::Buffering;
using takt::test::RunEdit;

namespace {

struct Push {
  double speed = 0;  ///< rad/s
  std::uint32_t number = 0;

  TAKT_FIELDS(Push, speed, number)
};

/// Moves a joint by the values of a port, and by their stamps. It does not read in each cycle.
class Pushed final : public test::JointMover {
 public:
  static constexpr component::ComponentMetadata about = test::mover("Pushed");
  explicit Pushed(std::string name) : JointMover(about, std::move(name)) {}
  Status on_execute(const component::CycleTime& cycle) noexcept override {
    if (++cycles_ % 3 != 0) {
      while (pushes.read() == shm::Freshness::new_data)
        at_ += 1e-5 * pushes.value().speed * (1 + to_seconds(cycle.time - pushes.stamp()));
    }
    joint_->follow({at_, 0, 0});
    return {};
  }
  [[nodiscard]] bool keeps_limits() const noexcept override { return true; }

  component::InPort<Push> pushes{*this, "pushes"};

 private:
  std::uint64_t cycles_ = 0;
};

/// A component of another context.
struct Pusher final : component::Component {
  static constexpr component::ComponentMetadata about = test::mover("Pusher");
  Pusher() : Component(about, "pusher") {}
  component::OutPort<Push> out{*this, "out"};
};

/// A recorded run, in which a component pushes a joint at random times.
class PushedRun {
 public:
  explicit PushedRun(component::ConnectionOptions how) : how_(how) {
    VirtualClock clock;
    RobotOptions options = with_type();
    options.clock = &clock;
    options.recording = path;
    options.drain_in_cycle = true;
    options.inputs = {{"tip.pushes", how_}};
    const auto robot = made(two_joints(), options);
    REQUIRE(robot->input("tip.pushes") != nullptr);
    CHECK(robot->input("tip.nothing") == nullptr);
    auto connection = component::connect(pusher_.out, *robot->input("tip.pushes"), how_);
    REQUIRE(connection.has_value());
    std::mt19937_64 random = test::generator(1);
    std::uint64_t ready = 0;
    Client client(*robot, [&](Client& it, const motion::Snapshot& state) {
      const std::int64_t count = test::uniform_int(random, -2, 3);
      for (std::int64_t i = 0; i < count; ++i)
        pusher_.out.write({test::uniform(random, -1, 1), static_cast<std::uint32_t>(++written)},
                          state.time - Duration(test::uniform_int(random, 0, 1'000'000)));
      if (state.state != motion::RobotState::ready) return;
      const auto obeyed = [&](const char* json) { return robot->controllers().request(json).has_value(); };
      ++ready;
      if (ready == 100) CHECK(obeyed(R"({"start":{"name":"tip"}})"));
      if (ready == 300) CHECK(obeyed(R"({"stop":{"name":"tip"}})"));
      if (ready == 400) CHECK(obeyed(R"({"start":{"name":"tip"}})"));
      if (ready == 600) it.end();
    });
    REQUIRE(robot->run().has_value());
    REQUIRE(robot->finish().has_value());
    cycles = robot->statistics().cycles;
  }

  [[nodiscard]] SetupResult<ReplayResult> replay_with(RunEdit edit) const {
    ReplayOptions options;
    options.options = with_type();
    return test::replay_copy(path, folder_.file("copy.mcap"), std::move(edit), std::move(options));
  }

 private:
  [[nodiscard]] static RobotOptions with_type() {
    RobotOptions options;
    options.types = {component::component_type<Pushed>()};
    robot::ControllerDescription& tip = options.controllers.emplace_back();
    tip.type = "Pushed";
    tip.name = "tip";
    tip.start = false;
    return options;
  }

  component::ConnectionOptions how_;
  Pusher pusher_;
  ScratchFolder folder_;

 public:
  std::string path = folder_.file("run.mcap");
  std::uint64_t cycles = 0;
  std::uint64_t written = 0;
};

constexpr std::string_view topic = "/inputs/tip.pushes";

/// Changes the sample with this index.
RunEdit at_sample(std::uint64_t index, std::function<bool(std::vector<std::uint8_t>&)> change) {
  return {.further = [=, seen = std::uint64_t{0}](std::string_view of, Time,
                                                  std::vector<std::uint8_t>& value) mutable {
    return of != topic || seen++ != index || change(value);
  }};
}

}  // namespace

TEST_CASE("a replay gives each sample of another context to the cycle that took it in") {
  for (const component::ConnectionOptions how : {component::ConnectionOptions{},
                                                 {.buffering = Buffering::circular, .capacity = 4},
                                                 {.buffering = Buffering::fifo, .capacity = 8}}) {
    CAPTURE(component::to_string(how.buffering));
    const PushedRun run(how);
    std::uint64_t recorded = 0;
    const auto same = run.replay_with({.further = [&](std::string_view of, Time, std::vector<std::uint8_t>&) {
      if (of == topic) ++recorded;
      return true;
    }});
    REQUIRE_MESSAGE(same, same.error().message);
    if (same->difference) FAIL(same->difference->text());
    CHECK(same->cycles == run.cycles);
    CHECK(recorded > run.written / 4);
    CHECK(recorded <= run.written);

    // The check bites: with another value of one sample, the joint moves otherwise.
    const auto other = run.replay_with(at_sample(recorded / 2, [](std::vector<std::uint8_t>& value) {
      const double speed = 1000;
      std::memcpy(value.data() + sample_head, &speed, sizeof speed);
      return true;
    }));
    REQUIRE_MESSAGE(other, other.error().message);
    CHECK((how.buffering == Buffering::latest || other->difference.has_value()));
  }
}

TEST_CASE("a lost sample is named") {
  const PushedRun run({.buffering = Buffering::fifo, .capacity = 8});
  const auto lost = run.replay_with(at_sample(20, [](std::vector<std::uint8_t>&) { return false; }));
  REQUIRE_FALSE(lost.has_value());
  CHECK(lost.error().error == Errc::not_replayable);
  CHECK(lost.error().message.find("lacks sample 21 of /inputs/tip.pushes") != std::string::npos);
}

TEST_CASE("an input of no controller or port is refused by its name") {
  RobotOptions options;
  options.inputs = {{"nobody.port", {}}};
  const SetupError nobody = refusal(two_joints(), options);
  CHECK(nobody.error == robot::Errc::no_such_controller);
  CHECK(nobody.message.find("input \"nobody.port\"") != std::string::npos);
  options.inputs = {{"trajectory.port", {}}};
  const SetupError no_port = refusal(two_joints(), options);
  CHECK(no_port.error == component::Errc::no_such_port);
  CHECK(no_port.message.find("trajectory has no in-port \"port\"") != std::string::npos);
}
