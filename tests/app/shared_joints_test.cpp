// A controller through which other processes move joints in shared memory. Ownership among the processes,
// silence, wrong modes, a stop of the robot, and the manager's claims.
#include "takt/app/shared_joints.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "robot/managed.hpp"
#include "support/rt_guard.hpp"
#include "takt/controllers/error.hpp"
#include "takt/platform/error.hpp"
#include "takt/shm/joint_client.hpp"

using namespace takt;
using namespace takt::app;
using test::Managed;
using test::Probe;

namespace {

/// A name of this process, which nothing else has.
std::string segment_name() { return "takt_test_shared_" + std::to_string(getpid()); }

const struct RemoveAtEnd {
  ~RemoveAtEnd() { (void)platform::Segment::remove_unused(segment_name()); }
} remove_at_end;

std::shared_ptr<SharedJointsController> shared(const std::string& joints, const char* mode = "position") {
  auto controller = std::make_shared<SharedJointsController>("shared");
  const component::Assignment settings[] = {
      {"joints", joints}, {"segment", segment_name()}, {"mode", mode}, {"processes", std::int64_t{2}}};
  REQUIRE(controller->parameters().set(settings, "test").has_value());
  return controller;
}

/// A motion process, in this one.
class Process {
 public:
  explicit Process(std::uint32_t number) : memory_(open()) {
    auto image = memory_.consumer<shm::BroadcastValue<shm::JointImage>>("joints");
    REQUIRE(image.has_value());
    auto slot = memory_.producer<shm::JointSlots>("joint_slots", number);
    REQUIRE(slot.has_value());
    slot_.emplace(std::move(slot->owner_slot));
    client.emplace(image->end, slot->end, static_cast<std::uint32_t>(slot_->owner().epoch));
  }

  /// One cycle: each owned joint gets this reference.
  void cycle(double position, shm::JointMode mode = shm::JointMode::position) {
    (void)client->update();
    client->owned().for_each([&](std::size_t joint) {
      CHECK(client->set(joint, {{position, 0, 0}, 0, mode}).has_value());
    });
    client->publish(Time{});
  }

  std::optional<shm::JointClient> client;

 private:
  static platform::Segment open() {
    auto segment = platform::Segment::open(segment_name());
    REQUIRE(segment.has_value());
    return std::move(*segment);
  }

  platform::Segment memory_;
  std::optional<platform::OwnerSlot> slot_;
};

JointSet joint(std::size_t number) {
  JointSet set;
  set.insert(number);
  return set;
}

}  // namespace

TEST_CASE("a process moves the joints that it owns, within their limits, and another one is refused them") {
  Managed managed;
  REQUIRE(managed.manager.load(shared("c, a")).has_value());
  REQUIRE(managed.start("shared").has_value());
  managed.make_ready();
  Process first(0), second(1);
  first.client->want(joint(0));
  second.client->want(joint(0) | joint(1));
  for (int i = 0; i < 1500; ++i) {
    first.cycle(0.5);
    second.cycle(-0.5);
    managed.cycle();
    CHECK(std::abs(managed.drives.commands[2].velocity) <= 2 + 1e-9);
  }
  CHECK(first.client->answer() == shm::OwnerSlotAnswer::granted);
  CHECK(second.client->answer() == shm::OwnerSlotAnswer::refused);
  CHECK(managed.drives.commands[2].position == doctest::Approx(0.5));  // joint 0 of the image is "c"
  CHECK(managed.drives.commands[0].position == 0);
  CHECK(first.client->image().position[0] == doctest::Approx(0.5));
  second.client->want(joint(1));
  for (int i = 0; i < 1500; ++i) {
    first.cycle(0.5);
    second.cycle(-0.5);
    managed.cycle();
  }
  CHECK(managed.drives.commands[0].position == doctest::Approx(-0.5));
}

TEST_CASE("a silent process loses its joints, which are held, and another one gets them") {
  Managed managed;
  REQUIRE(managed.manager.load(shared("a")).has_value());
  REQUIRE(managed.start("shared").has_value());
  managed.make_ready();
  Process first(0), second(1);
  first.client->want(joint(0));
  for (int i = 0; i < 1500; ++i) {
    first.cycle(0.5);
    managed.cycle();
  }
  managed.cycles(100);
  CHECK(managed.drives.commands[0].position == doctest::Approx(0.5));
  CHECK(managed.drives.commands[0].want_power);
  second.client->want(joint(0));
  for (int i = 0; i < 1500; ++i) {
    second.cycle(0.2);
    managed.cycle();
  }
  CHECK(managed.drives.commands[0].position == doctest::Approx(0.2));
  (void)first.client->update();
  CHECK(first.client->owned().empty());
}

TEST_CASE("a reference in another mode releases the joint, and is counted") {
  Managed managed;
  REQUIRE(managed.manager.load(shared("a", "velocity")).has_value());
  REQUIRE(managed.start("shared").has_value());
  managed.make_ready();
  Process process(0);
  process.client->want(joint(0));
  for (int i = 0; i < 10; ++i) {
    process.cycle(0.5);
    managed.cycle();
  }
  CHECK(managed.drives.commands[0].velocity == 0);
  double rejected = 0;
  for (const robot::InterfaceInfo& info : managed.manager.interfaces()) {
    if (info.name == "shared/rejected") rejected = info.value;
  }
  CHECK(rejected > 5);
}

TEST_CASE("after a stop of the robot the processes begin again from the measured positions") {
  Managed managed;
  REQUIRE(managed.manager.load(shared("a")).has_value());
  REQUIRE(managed.start("shared").has_value());
  managed.make_ready();
  Process process(0);
  process.client->want(joint(0));
  for (int i = 0; i < 1500; ++i) {
    process.cycle(0.5);
    managed.cycle();
  }
  managed.begin();
  managed.manager.stop_robot({robot::FaultReason::emergency_stop}, StopCategory::category_0);
  managed.end();
  for (int i = 0; i < 20; ++i) {
    process.cycle(0.5);
    managed.cycle();
  }
  managed.drives.feedback[0].position = -0.3;  // somebody moved the arm
  managed.cycles(5);
  managed.begin();
  (void)managed.manager.reset();
  managed.end();
  managed.cycles(50);
  REQUIRE(managed.manager.supervisor().state() == robot::RobotState::ready);
  CHECK(managed.state_of("shared") == robot::ControllerState::active);
  CHECK(managed.drives.commands[0].position == doctest::Approx(-0.3));
  for (int i = 0; i < 3; ++i) {
    (void)process.client->update();  // alive again: it finds the joint granted anew, where it stands
    process.client->publish(Time{});
    managed.cycle();
  }
  CHECK(process.client->owned() == joint(0));
  CHECK(process.client->reference(0).motion.position == doctest::Approx(-0.3));
}

TEST_CASE("the controller claims its joints in the manager, and names who has them") {
  Managed managed;
  REQUIRE(managed.manager.load(shared("a, b")).has_value());
  REQUIRE(managed.manager.load(Probe::of("other", {"b"})).has_value());
  REQUIRE(managed.start("other").has_value());
  const auto refused = managed.start("shared");
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().error == robot::Errc::claimed);
  CHECK(refused.error().message.find("other") != std::string::npos);
  CHECK(refused.error().message.find("shared") != std::string::npos);
}

TEST_CASE("a second controller on the same segment and an empty list are refused at the load") {
  Managed managed;
  REQUIRE(managed.manager.load(shared("a")).has_value());
  auto second = std::make_shared<SharedJointsController>("second");
  const component::Assignment settings[] = {
      {"joints", "b"}, {"segment", segment_name()}, {"processes", std::int64_t{2}}};
  REQUIRE(second->parameters().set(settings, "test").has_value());
  const auto refused = managed.manager.load(second);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().error == platform::Errc::slot_taken);
  const auto empty = managed.manager.load(std::make_shared<SharedJointsController>("third"));
  REQUIRE_FALSE(empty.has_value());
  CHECK(empty.error().error == controllers::Errc::empty_list);
}

TEST_CASE("serving the processes keeps the real-time rules") {
  Managed managed;
  REQUIRE(managed.manager.load(shared("a, b, c")).has_value());
  REQUIRE(managed.start("shared").has_value());
  managed.make_ready();
  Process process(0);
  process.client->want(JointSet::first(3));
  for (int i = 0; i < 20; ++i) {
    process.cycle(0.1);
    test::RtGuard guard;
    managed.cycle();
    CHECK(guard.report() == "");
  }
}
