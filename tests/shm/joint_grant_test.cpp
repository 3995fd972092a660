// A hub grants joints as a whole or not at all, and only for a command to its present image. The answer names
// the joint that is in the way.
#include <doctest/doctest.h>

#include <array>

#include "shm/joint_robot.hpp"

using namespace takt;
using namespace takt::shm;
using namespace takt::test::joint_robot;

TEST_CASE(
    "a new request for joints is granted as a whole or not at all, and the answer names the other owner") {
  Robot robot;
  robot.cycle();
  JointClient first = robot.owner(0, set_of({2, 3}));
  JointClient second = robot.owner(1, set_of({5}));
  const auto both = [&] {
    for (JointClient* client : {&first, &second}) {
      (void)client->update();
      client->publish(robot.now());
    }
    robot.cycle();
  };
  second.want(set_of({1, 3, 4, 5}));
  both();
  CHECK(robot.owned(1) == set_of({5}));
  CHECK(robot.image().answer[1] == OwnerSlotAnswer::refused);
  CHECK(robot.image().refused_joint[1] == 3);
  CHECK(robot.image().owner[1] == no_owner);

  SUBCASE("until what was in the way is let go of, in that very cycle") {
    first.want(set_of({2}));
    both();
    CHECK(robot.owned(0) == set_of({2}));
    CHECK(robot.owned(1) == set_of({1, 3, 4, 5}));
    CHECK(robot.image().answer[1] == OwnerSlotAnswer::granted);
  }
  SUBCASE("a smaller wish is fulfilled at once") {
    second.want(set_of({1, 5}));
    both();
    CHECK(robot.owned(1) == set_of({1, 5}));
  }
  SUBCASE("two that want what the other has are both refused, and keep what they have") {
    first.want(set_of({2, 3, 5}));
    for (int i = 0; i < 20; ++i) both();
    CHECK(robot.owned(0) == set_of({2, 3}));
    CHECK(robot.owned(1) == set_of({5}));
    CHECK(robot.image().answer[0] == OwnerSlotAnswer::refused);
    CHECK(robot.image().answer[1] == OwnerSlotAnswer::refused);
    CHECK(robot.image().refused_joint[0] == 5);
  }
}

TEST_CASE("a command that claims to have seen a future image is not recent") {
  Robot robot;
  robot.cycle();
  RawOwnerSlot owner_slot(robot, 1);
  LatestWriter<OwnerCommand> writer(robot.memory().owner_slots[1]);
  OwnerCommand& command = owner_slot.command;
  command.wanted = set_of({0});
  command.set(0, position_reference(3));
  for (const std::uint64_t ahead : {std::uint64_t{1}, std::uint64_t{2}, ~std::uint64_t{0} / 2}) {
    CAPTURE(ahead);
    ++command.heartbeat;
    command.seen = robot.image().cycle + ahead;
    writer.write(command);
    robot.cycle();
    CHECK(robot.owned(1).empty());
    CHECK(robot.image().session[1] == 0);
  }
  ++command.heartbeat;
  command.seen = robot.image().cycle;
  writer.write(command);
  robot.cycle();
  CHECK(robot.owned(1) == set_of({0}));
  CHECK(robot.image().phase[0] == JointPhase::granted);
}

TEST_CASE("of two requests for the same joints in one cycle, the lower owner slot gets all of them") {
  Robot robot;
  robot.cycle();
  std::array<JointClient, 2> clients{robot.client(3), robot.client(1)};
  clients[0].want(set_of({0, 1, 2}));
  clients[1].want(set_of({2, 3, 4}));
  for (JointClient& client : clients) {
    (void)client.update();
    client.publish(robot.now());
  }
  robot.cycle();
  CHECK(robot.owned(1) == set_of({2, 3, 4}));
  CHECK(robot.owned(3).empty());
  CHECK(robot.image().refused_joint[3] == 2);
}

TEST_CASE("joints that the robot does not have cannot be wanted") {
  Robot robot;
  robot.cycle();
  RawOwnerSlot owner_slot(robot, 0);
  for (const std::size_t beyond : {joints, max_joints - 1}) {
    owner_slot.command.wanted = set_of({0, beyond});
    owner_slot.send();
    robot.cycle();
    CHECK(robot.image().error[0] == Errc::unknown_joint);
    CHECK(robot.image().error_joint[0] == beyond);
    CHECK(robot.owned(0).empty());
  }
}

TEST_CASE("a reference from before the grant is not followed") {
  Robot robot({}, 3);
  robot.cycle();
  JointClient client = robot.owner(0, set_of({2}));
  for (int i = 0; i < 10; ++i) robot.cycle();  // it is paused and misses these images
  CHECK(robot.image().owner[2] == no_owner);
  const JointReference held = robot.reference(2);
  CHECK(client.set(2, position_reference(100)));
  for (int i = 0; i < 5; ++i) {
    client.publish(robot.now());
    robot.cycle();
    CHECK(robot.image().owner[2] == 0);
    CHECK(robot.reference(2) == held);
  }
  CHECK(client.update() == Freshness::new_data);
  CHECK(client.granted() == set_of({2}));
  CHECK(client.reference(2) == held);
}

TEST_CASE("asking for more does not disturb what is owned") {
  Robot robot;
  robot.cycle();
  JointClient client = robot.owner(0, set_of({0}));
  client.want(set_of({0, 1}));
  for (int i = 1; i < 10; ++i) {
    CHECK(client.set(0, position_reference(0.01 * i)));
    client.publish(robot.now());
    robot.cycle();
    CHECK(robot.reference(0).motion.position == 0.01 * i);
    if (i % 3 == 0) (void)client.update();
  }
  CHECK(client.owned() == set_of({0, 1}));
}
