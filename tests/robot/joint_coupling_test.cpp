// Joints that follow others: mimic joints and sums of several joints.
#include "takt/robot/joint_coupling.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::robot;

TEST_CASE("a mimic joint has the position multiplier * other + offset, and the velocity multiplier * other") {
  RobotDescription robot;
  robot.joints.resize(3);
  robot.mimics = {{"finger", JointKind::linear, 2, -1, 0.04}, {"knuckle", JointKind::rotary, 0, 0.5, 0}};
  const auto coupling = JointCoupling::create(robot);
  REQUIRE(coupling);
  CHECK(coupling->joints() == 3);
  CHECK(coupling->followers() == 2);
  const std::array<double, 3> joints{1, 7, 0.01};
  std::array<double, 2> followers{9, 9};
  coupling->positions(joints, followers);
  CHECK(followers[0] == doctest::Approx(0.03));
  CHECK(followers[1] == 0.5);
  coupling->rates(joints, followers);
  CHECK(followers[0] == -0.01);
  CHECK(followers[1] == 0.5);
}

TEST_CASE("a linear coupling follows several joints, and power is the same on both sides") {
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    auto random = test::generator(i);
    JointCoupling coupling(4);
    for (int follower = 0; follower < 3; ++follower) {
      std::vector<JointCoupling::Term> terms;
      for (std::size_t joint = 0; joint < 4; ++joint) terms.push_back({joint, test::uniform(random, -2, 2)});
      REQUIRE(coupling.add(terms, test::uniform(random, -1, 1)));
    }
    std::array<double, 4> velocities{}, efforts{};
    std::array<double, 3> follower_velocities{}, follower_efforts{};
    for (double& value : velocities) value = test::uniform(random, -3, 3);
    for (double& value : follower_efforts) value = test::uniform(random, -3, 3);
    coupling.rates(velocities, follower_velocities);
    coupling.add_efforts(follower_efforts, efforts);
    const double there = std::inner_product(efforts.begin(), efforts.end(), velocities.begin(), 0.0);
    const double here = std::inner_product(follower_efforts.begin(), follower_efforts.end(),
                                           follower_velocities.begin(), 0.0);
    CHECK(there == doctest::Approx(here).epsilon(1e-12));
  }
}

TEST_CASE("a coupling neither allocates nor locks in the cycle, and a short span changes nothing") {
  JointCoupling coupling(2);
  const std::array<JointCoupling::Term, 2> terms{{{0, 1}, {1, 2}}};
  REQUIRE(coupling.add(terms, 0.5));
  std::array<double, 2> joints{1, 1};
  std::array<double, 1> follower{};
  test::RtGuard guard;
  coupling.positions(joints, follower);
  coupling.add_efforts(follower, joints);
  coupling.rates(std::span(joints).first(1), follower);
  coupling.positions(joints, {});
  CHECK(guard.report() == "");
  CHECK(follower[0] == 3.5);
  CHECK(joints == std::array<double, 2>{4.5, 8});
}

TEST_CASE("a term of a missing joint or a number that is not finite is rejected, and nothing is added") {
  JointCoupling coupling(2);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const JointCoupling::Term missing{2, 1};
  const JointCoupling::Term infinite{0, infinity};
  CHECK(coupling.add(std::span(&missing, 1)).error() == Errc::no_such_joint);
  CHECK(coupling.add(std::span(&infinite, 1)).error() == control::Errc::not_finite);
  CHECK(coupling.add({}, infinity).error() == control::Errc::not_finite);
  CHECK(coupling.followers() == 0);
  RobotDescription robot;
  robot.mimics = {{"lonely", JointKind::rotary, 0, 1, 0}};
  CHECK(JointCoupling::create(robot).error() == Errc::no_such_joint);
}
