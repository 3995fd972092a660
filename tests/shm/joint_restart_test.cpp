// A process or the hub starts anew. Each joint goes on from what was applied last, and has no owner until one
// asks again.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "shm/joint_robot.hpp"

using namespace takt;
using namespace takt::shm;
using namespace takt::test::joint_robot;

TEST_CASE("a process that restarts in its owner slot has lost the joints of the one before it") {
  std::array<JointSafety, joints> safety;
  safety.fill({SafeBehaviour::hold, 5, 1});
  Robot robot(safety);
  robot.cycle();
  { (void)robot.owner(0, set_of({2, 3}), 10); }
  const JointReference before = robot.reference(2);
  JointClient client = robot.client(0, 11);
  CHECK(client.update() == Freshness::new_data);
  CHECK(client.owned().empty());
  client.want(set_of({2}));
  client.publish(robot.now());
  robot.cycle();
  CHECK(robot.image().session[0] == 11);
  CHECK(robot.owned(0) == set_of({2}));
  CHECK(robot.reference(2) == before);
  CHECK(robot.image().phase[2] == JointPhase::granted);
  CHECK(robot.image().phase[3] == JointPhase::returning);
  CHECK(client.update() == Freshness::new_data);
  CHECK(client.granted() == set_of({2}));
}

TEST_CASE("a restarted hub continues with the applied references, and grants requests to it alone") {
  std::array<JointSafety, joints> safety;
  safety[2] = {SafeBehaviour::hold, 5, 1};
  Robot robot(safety);
  robot.cycle();
  JointClient alive = robot.owner(0, set_of({0}));
  JointClient dead = robot.owner(1, set_of({1, 2}));
  CHECK(alive.update() == Freshness::new_data);
  CHECK(alive.set(0, position_reference(0.5, 1)));
  alive.publish(robot.now());
  robot.cycle();
  const std::uint64_t cycle = robot.image().cycle;
  dead.publish(robot.now());
  alive.publish(robot.now());
  const double before = robot.reference(2).motion.position;

  robot.start_hub();
  robot.cycle();
  CHECK(robot.image().cycle == cycle + 1);
  CHECK(robot.image().started == cycle + 1);
  CHECK(robot.image().owner[0] == no_owner);
  CHECK(robot.reference(0) == position_reference(0.5));
  CHECK(robot.reference(1).mode == JointMode::position);
  CHECK(robot.reference(2).motion.position == doctest::Approx(before + 0.001).epsilon(1e-12));
  alive.publish(robot.now());  // it has not seen the loss yet
  robot.cycle();
  CHECK(robot.image().owner[0] == no_owner);
  CHECK(robot.image().session[0] == 0);

  CHECK(alive.update() == Freshness::new_data);
  CHECK(alive.image().started == cycle + 1);
  CHECK(alive.owned().empty());
  CHECK(alive.set(0, position_reference(7)).error() == Errc::not_owner);
  alive.publish(robot.now());
  robot.cycle();
  CHECK(robot.image().owner[0] == 0);
  CHECK(alive.update() == Freshness::new_data);
  CHECK(alive.granted() == set_of({0}));
  CHECK(alive.reference(0) == position_reference(0.5));
  for (int i = 0; i < 100; ++i) robot.cycle();
  CHECK(robot.image().owner[1] == no_owner);  // an owner slot without a command gets no joint
}

TEST_CASE("a restarted hub rejects NaN and images of another robot") {
  Robot robot;
  robot.cycle();
  { (void)robot.owner(0, set_of({0, 1})); }
  JointImage image = robot.image();
  SUBCASE("numbers") {
    image.ref_position[0] = not_a_number;
    image.position[1] = not_a_number;
    robot.memory().image.write(image);
    robot.start_hub();
    robot.cycle();
    CHECK(robot.reference(0).mode == JointMode::off);
    CHECK(robot.reference(1).mode == JointMode::position);
    CHECK(std::isfinite(robot.image().position[1]));
  }
  SUBCASE("joints") {
    image.joints = 5;
    robot.memory().image.write(image);
    robot.start_hub();
    robot.cycle();
    CHECK(robot.reference(0).mode == JointMode::off);
    CHECK(robot.image().cycle == image.cycle + 1);
  }
}
