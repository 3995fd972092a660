#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "robot/managed.hpp"
#include "takt/robot/async_controller.hpp"

using namespace takt;
using namespace takt::robot;
using test::Managed;
using test::Probe;

namespace {

struct Seen {
  double position = 0;
};
struct Wanted {
  double effort = 0;
};

/// Works in another context on copies.
struct Slow final : AsyncController<Seen, Wanted> {
  static constexpr component::ComponentMetadata about{.type = "Slow",
                                                      .version = "1.0.0",
                                                      .vendor = "test",
                                                      .category = "controller",
                                                      .description = "Works beside the cycle."};
  explicit Slow(std::string name, std::uint32_t most_missed)
      : AsyncController(about, std::move(name), most_missed) {}
  SetupResult<void> on_configure(Resources& resources) override {
    auto claimed = resources.claim_joint("a", CommandMode::effort);
    if (!claimed) return tl::unexpected<SetupError>(claimed.error());
    joint = *claimed;
    return {};
  }
  void gather(Seen& seen) noexcept override { seen.position = joint->feedback().position; }
  void compute(const Seen& seen, Wanted& wanted) noexcept override { wanted.effort = 10 * seen.position; }
  void apply(const Wanted& wanted) noexcept override { joint->set_effort(wanted.effort); }
  Joint* joint = nullptr;
};

}  // namespace

TEST_CASE(
    "an asynchronous controller applies results of its present activation, and ends if they stay away") {
  Managed managed;
  component::ExecutionContext beside;
  auto slow = std::make_shared<Slow>("slow", 5);
  REQUIRE(managed.manager.load(slow).has_value());
  REQUIRE(beside.add(slow->worker()).has_value());
  REQUIRE(beside.activate(slow->worker()).has_value());
  managed.drives.feedback[0].position = 0.5;
  managed.make_ready();
  REQUIRE(managed.start("slow").has_value());
  managed.cycle();
  CHECK_FALSE(slow->joint->driven());
  for (int i = 0; i < 5; ++i) {
    beside.run_cycle(managed.now, managed.robot.period);
    managed.cycle();
  }
  CHECK(managed.drives.commands[0].effort == doctest::Approx(5));
  CHECK(slow->missed() == 1);
  // A result of the activation before is dropped.
  beside.run_cycle(managed.now, managed.robot.period);
  REQUIRE(managed.manager.switch_controllers({.start = {"slow"}, .stop = {"slow"}}).has_value());
  managed.cycle();
  CHECK_FALSE(slow->joint->driven());
  managed.cycles(6);
  CHECK(managed.state_of("slow") == ControllerState::failed);
  CHECK(slow->error() == Errc::result_late);
}
