// An owner loses its joints by silence or by bad references, or lets go of them. Each joint without an owner
// then does what is safe.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "shm/joint_robot.hpp"

using namespace takt;
using namespace takt::shm;
using namespace takt::test::joint_robot;

TEST_CASE("an owner slot that owns no joint loses nothing by silence") {
  Robot robot({}, 3);
  robot.cycle();
  JointClient watcher = robot.client(0);
  (void)watcher.update();
  watcher.publish(robot.now());
  JointClient former = robot.owner(1, set_of({2}));
  former.want({});
  (void)former.update();
  former.publish(robot.now());
  for (int i = 0; i < 10; ++i) robot.cycle();
  for (const std::size_t owner_slot : {0u, 1u}) {
    CAPTURE(owner_slot);
    CHECK(robot.image().session[owner_slot] == 1);
    CHECK(robot.image().lost[owner_slot] == 0);
    CHECK(robot.image().answer[owner_slot] == OwnerSlotAnswer::none);
  }
}

TEST_CASE("an owner loses its joints after exactly as many silent cycles as are allowed, and one") {
  for (const std::uint32_t allowed : {0u, 1u, 2u, 7u, 100u}) {
    CAPTURE(allowed);
    Robot robot({}, allowed);
    robot.cycle();
    JointClient client = robot.owner(1, set_of({0, 4}));
    for (int i = 0; i < 3; ++i) {  // each command arrives in the last cycle before the timeout
      for (std::uint32_t cycle = 0; cycle < allowed; ++cycle) robot.cycle();
      CHECK(robot.owned(1) == set_of({0, 4}));
      (void)client.update();
      client.publish(robot.now());
      robot.cycle();
    }
    for (std::uint32_t cycle = 0; cycle < allowed; ++cycle) {
      robot.cycle();
      CHECK(robot.owned(1) == set_of({0, 4}));
    }
    robot.cycle();
    CHECK(robot.owned(1).empty());
    CHECK(robot.image().owner[0] == no_owner);
    CHECK(robot.image().answer[1] == OwnerSlotAnswer::silent);
    CHECK(robot.image().lost[1] == 1);
    for (int i = 0; i < 10; ++i) robot.cycle();
    CHECK(robot.image().lost[1] == 1);
  }
}

TEST_CASE("a heartbeat that stands still is silence, one that runs over is not") {
  Robot robot({}, 5);
  robot.cycle();
  RawOwnerSlot owner_slot(robot, 0);
  owner_slot.command.wanted = set_of({1});
  owner_slot.command.heartbeat = 0xffffffff - 10;
  for (int i = 0; i < 20; ++i) {
    owner_slot.send();
    for (int silent = 0; silent < 4; ++silent) robot.cycle();
    CHECK(robot.image().owner[1] == 0);
  }
  CHECK(owner_slot.command.heartbeat == 9);
  owner_slot.send();
  robot.cycle();
  for (int i = 0; i < 6; ++i) {
    CHECK(robot.image().owner[1] == 0);
    owner_slot.send_again();
    robot.cycle();
  }
  CHECK(robot.image().owner[1] == no_owner);
  for (int i = 0; i < 10; ++i) {
    owner_slot.send_again();
    robot.cycle();
    CHECK(robot.image().owner[1] == no_owner);
  }
  owner_slot.send();
  robot.cycle();
  CHECK(robot.image().owner[1] == 0);
}

TEST_CASE(
    "a command with NaN is reported, the last valid one holds, and then the owner slot counts as silent") {
  const JointReference good{{0.5, 0.25, 0.125}, 1, JointMode::position};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::array<JointReference, 5> bad{{{{not_a_number, 0, 0}, 0, JointMode::position},
                                           {{0, infinity, 0}, 0, JointMode::position},
                                           {{0, 0, -infinity}, 0, JointMode::velocity},
                                           {{0, 0, 0}, not_a_number, JointMode::effort},
                                           {{0, 0, 0}, 0, static_cast<JointMode>(4)}}};
  enum class End { good_again, let_go, silence };
  for (const End end : {End::good_again, End::let_go, End::silence}) {
    for (std::size_t kind = 0; kind < bad.size(); ++kind) {
      CAPTURE(kind);
      Robot robot({}, 5);
      robot.cycle();
      RawOwnerSlot owner_slot(robot, 2);
      owner_slot.command.wanted = set_of({1, 4});
      owner_slot.command.set(1, good);
      owner_slot.command.set(4, good);
      for (int i = 0; i < 3; ++i) {
        owner_slot.send();
        robot.cycle();
      }
      REQUIRE(robot.reference(4) == good);
      owner_slot.command.set(4, bad[kind]);
      owner_slot.command.position[1] = 0.75;
      for (std::uint32_t i = 1; i <= 4; ++i) {
        owner_slot.send();
        robot.cycle();
        CHECK(robot.reference(4) == good);
        CHECK(robot.reference(1) == good);  // a command is accepted or rejected as a whole
        CHECK(robot.image().error[2] == (kind == 4 ? Errc::unknown_mode : Errc::bad_reference));
        CHECK(robot.image().error_joint[2] == 4);
        CHECK(robot.image().rejected[2] == i);
        CHECK(robot.owned(2) == set_of({1, 4}));
      }
      robot.cycle();
      CHECK(robot.image().rejected[2] == 4);  // each one is counted once
      CHECK(robot.owned(2) == set_of({1, 4}));
      if (end == End::good_again) owner_slot.command.set(4, good);
      if (end == End::let_go) owner_slot.command.wanted = set_of({1});
      owner_slot.send();
      robot.cycle();
      if (end == End::silence) {
        CHECK(robot.owned(2).empty());
        CHECK(robot.reference(4) == position_reference(0.5));
      } else {
        CHECK(robot.owned(2) == owner_slot.command.wanted);
        CHECK(robot.image().error[2] == Errc{});
        CHECK(robot.reference(1).motion.position == 0.75);
      }
    }
  }
}

TEST_CASE("a joint whose owner is gone does what is safe") {
  constexpr double speed = 2;
  std::array<JointSafety, joints> safety;
  safety[0] = {SafeBehaviour::hold};
  safety[1] = {SafeBehaviour::hold, 0.5, speed};
  safety[2] = {SafeBehaviour::release};
  const JointSet all = set_of({0, 1, 2});
  Robot robot(safety, 5);
  robot.cycle();
  JointClient client = robot.owner(0, all);
  JointReference last{{0.9, 3, 4}, 5, JointMode::position};
  SUBCASE("from mode position") {}
  SUBCASE("from mode velocity") { last.mode = JointMode::velocity; }
  SUBCASE("from mode effort") { last.mode = JointMode::effort; }
  SUBCASE("from mode off") { last.mode = JointMode::off; }
  all.for_each([&](std::size_t joint) { REQUIRE(client.set(joint, last)); });
  client.publish(robot.now());
  for (int i = 0; i < 6; ++i) robot.cycle();
  all.for_each([&](std::size_t joint) {
    CHECK(robot.reference(joint).mode == last.mode);
    CHECK(robot.image().owner[joint] == 0);
  });
  std::array<double, joints> before{};
  for (std::size_t joint = 0; joint < joints; ++joint) before[joint] = robot.measured()[joint].position;

  int cycles = 0;
  do {
    const double moved_from = robot.reference(1).motion.position;
    robot.take();
    ++cycles;
    if (last.mode == JointMode::position || cycles > 1)
      CHECK(std::abs(robot.reference(1).motion.position - moved_from) <=
            speed * to_seconds(period) * (1 + 1e-9));
    all.for_each([&](std::size_t joint) {
      CHECK(robot.image().owner[joint] == no_owner);
      CHECK(robot.reference(joint).effort == 0);
      CHECK(robot.reference(joint).motion.acceleration == 0);
    });
    CHECK(robot.reference(0).motion.velocity == 0);
    CHECK(robot.reference(2).mode == JointMode::off);
    if (last.mode == JointMode::velocity) {
      CHECK(robot.reference(0).mode == JointMode::velocity);
    } else if (last.mode == JointMode::off) {
      CHECK(robot.reference(0).mode == JointMode::off);
      CHECK(robot.reference(1).mode == JointMode::off);
    } else {
      CHECK(robot.reference(0) == position_reference(before[0]));
    }
    robot.publish();
  } while (robot.image().phase[1] == JointPhase::returning && cycles < 10'000);
  if (last.mode == JointMode::off) {
    CHECK(cycles == 1);
  } else {
    CHECK(robot.reference(1) == position_reference(0.5));
    CHECK(cycles == std::ceil(std::abs(before[1] - 0.5) / (speed * to_seconds(period)) - 1e-9));
  }
}

TEST_CASE("a released joint becomes safe, and one that is taken over at once is held in between") {
  std::array<JointSafety, joints> safety;
  safety.fill({SafeBehaviour::hold, -1, 1});
  Robot robot(safety, 5);
  robot.cycle();
  JointClient first = robot.owner(0, set_of({0, 1}));
  JointClient second = robot.client(3);
  second.want(set_of({1}));
  first.want({});
  (void)second.update();
  (void)first.update();
  const JointReference before = robot.reference(1);
  second.publish(robot.now());
  first.publish(robot.now());
  robot.cycle();
  CHECK(robot.image().phase[0] == JointPhase::returning);
  CHECK(robot.reference(0).motion.position < 0);
  CHECK(robot.image().owner[1] == 3);
  CHECK(robot.reference(1) == before);
}

TEST_CASE(
    "a joint on its way to its safe position can be claimed, and its new owner starts from where it is "
    "then") {
  std::array<JointSafety, joints> safety;
  safety.fill({SafeBehaviour::hold, 5, 1});
  Robot robot(safety, 2);
  robot.cycle();
  { (void)robot.owner(0, set_of({3})); }
  for (int i = 0; i < 100; ++i) robot.cycle();
  REQUIRE(robot.image().phase[3] == JointPhase::returning);
  JointClient next = robot.client(1);
  next.want(set_of({3}));
  REQUIRE(next.update() == Freshness::new_data);
  next.publish(robot.now());
  robot.cycle();
  const JointReference held = robot.reference(3);
  CHECK(held == position_reference(held.motion.position));
  for (int i = 0; i < 2; ++i) {  // for any number of cycles
    robot.cycle();
    CHECK(robot.reference(3) == held);
  }
  REQUIRE(next.update() == Freshness::new_data);
  CHECK(next.granted() == set_of({3}));
  CHECK(next.reference(3) == held);
}
