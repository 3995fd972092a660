#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "controllers/controller_rig.hpp"
#include "support/random.hpp"
#include "takt/controllers/force_torque_broadcaster.hpp"
#include "takt/controllers/imu_broadcaster.hpp"
#include "takt/controllers/joint_state_broadcaster.hpp"

using namespace takt;
using namespace takt::controllers;
using namespace takt::test;

namespace {

constexpr double pi = std::numbers::pi;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// A wrist with an inertial unit and a force-torque sensor.
struct Wrist final : robot::Device {
  Wrist() : Device(Sender<double>::about, "wrist") {}
  SetupResult<void> on_declare(robot::Declarations& declarations) override {
    auto done = declarations.sensor("imu", imu);
    return done ? declarations.sensor("wrench", wrench) : done;
  }
  ImuSample imu;
  Wrench wrench;
};

void check_near(const Vector3& a, const Vector3& b) {
  for (std::size_t i = 0; i < 3; ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-9));
}

/// A broadcaster beside the wrist, with a receiver of its samples.
template <class Broadcaster, class Sample>
struct BroadcastRig : ControllerRig {
  BroadcastRig(component::OutPort<Sample> Broadcaster::*port, std::vector<component::Assignment> parameters,
               robot::ControllerConfig config = {})
      : ControllerRig(rig_robot({"a", "b", "c"})) {
    REQUIRE(manager.add(wrist));
    REQUIRE(load(controller, parameters, config) == "");
    connection = component::connect((*controller).*port, receiver.port).value();
    REQUIRE(change({"out"}) == "");
    make_ready();
    receive();
  }
  /// The newest sample; a fresh one or not.
  bool receive() { return receiver.port.read() == shm::Freshness::new_data; }
  const Sample& sample() const { return receiver.port.value(); }

  Wrist wrist;
  std::shared_ptr<Broadcaster> controller = std::make_shared<Broadcaster>("out");
  Receiver<Sample> receiver;
  component::Connection connection;
};

using StatesRig = BroadcastRig<JointStateBroadcaster, JointStates>;
using ImuRig = BroadcastRig<ImuBroadcaster, ImuSample>;
using WrenchRig = BroadcastRig<ForceTorqueBroadcaster, Wrench>;

}  // namespace

TEST_CASE("rotations have their known effect") {
  const Quaternion yaw = from_roll_pitch_yaw({0, 0, pi / 2});
  check_near(rotate(yaw, {1, 0, 0}), {0, 1, 0});
  check_near(rotate(from_roll_pitch_yaw({pi / 2, 0, 0}), {0, 1, 0}), {0, 0, 1});
  check_near(rotate(from_roll_pitch_yaw({0, pi / 2, 0}), {0, 0, 1}), {1, 0, 0});
  // Roll is first, about the fixed axis.
  check_near(rotate(from_roll_pitch_yaw({pi / 2, 0, pi / 2}), {0, 1, 0}), {0, 0, 1});
  CHECK_FALSE(normalised({0, 0, 0, 0}));
  CHECK_FALSE(normalised({not_a_number, 0, 0, 1}));
}

TEST_CASE("products and inverses of rotations act like their sequence") {
  auto random = generator();
  for (std::size_t i = 0; i < count(1000); ++i) {
    const auto angle = [&] { return uniform(random, -pi, pi); };
    const Quaternion p = from_roll_pitch_yaw({angle(), angle(), angle()});
    const Quaternion q = from_roll_pitch_yaw({angle(), angle(), angle()});
    const Vector3 v = {angle(), angle(), angle()};
    const Vector3 once = rotate(product(p, q), v);
    const Vector3 twice = rotate(p, rotate(q, v));
    const Vector3 back = rotate(inverse(p), rotate(p, v));
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(std::abs(once[k] - twice[k]) < 1e-12);
      CHECK(std::abs(back[k] - v[k]) < 1e-12);
    }
  }
}

TEST_CASE("joint states are published in the order of the list, each divisor-th cycle, and in a stop") {
  StatesRig rig(&JointStateBroadcaster::states, {{"joints", "c, a"}}, {.divisor = 5});
  CHECK(rig.controller->names() == std::vector<std::string>{"c", "a"});
  rig.drives.feedback[0].effort = 7;
  rig.drives.feedback[2].effort = 8;
  std::uint64_t samples = 0;
  rig.run(50, [&](int) { samples += rig.receive() ? 1u : 0u; });
  CHECK(samples + (rig.receive() ? 1u : 0u) == 10);
  CHECK(rig.sample().count == 2);
  CHECK(rig.sample().efforts[0] == 8);
  CHECK(rig.sample().efforts[1] == 7);
  CHECK(rig.sample().heard[1] == 1);
  CHECK(rig.sample().positions[0] == rig.drives.feedback[2].position);
  REQUIRE(rig.manager.request_stop(StopCategory::category_0));
  rig.run(20);
  CHECK(rig.receive());
}

TEST_CASE("the effort of a drive that reports none is NaN") {
  StatesRig rig(&JointStateBroadcaster::states, {{"joints", "a, b"}});
  rig.drives.feedback[1].has_effort = false;
  rig.run(5);
  REQUIRE(rig.receive());
  CHECK(rig.sample().efforts[0] == 0);
  CHECK(std::isnan(rig.sample().efforts[1]));
}

TEST_CASE("without a list, all joints are published") {
  StatesRig rig(&JointStateBroadcaster::states, {});
  rig.run(1);
  rig.receive();
  CHECK(rig.sample().count == 3);
  CHECK(rig.load(std::make_shared<JointStateBroadcaster>("x"), {{"joints", "a, a"}}).find("twice") !=
        std::string::npos);
}

TEST_CASE("an inertial unit that is mounted on its side is turned into the robot's frame") {
  ImuRig rig(&ImuBroadcaster::imu, {{"mounting", std::vector<double>{pi / 2, 0, 0}}});
  rig.wrist.imu = {.orientation = from_roll_pitch_yaw({pi / 2, 0, 0}),  // the robot stands level
                   .angular_velocity = {0.1, 0.2, 0.3},
                   .acceleration = {0, 9.81, 0}};
  rig.run(1);
  REQUIRE(rig.receive());
  check_near(rig.sample().angular_velocity, {0.1, -0.3, 0.2});
  check_near(rig.sample().acceleration, {0, 0, 9.81});
  check_near(rotate(rig.sample().orientation, {1, 2, 3}), {1, 2, 3});
  CHECK(rig.state("out.imu/angular_velocity.2") == doctest::Approx(0.2));
  CHECK(rig.state("out.imu/acceleration.2") == doctest::Approx(9.81));
}

TEST_CASE("samples of an inertial unit with NaN are not published; a missing orientation stays zero") {
  ImuRig rig(&ImuBroadcaster::imu, {});
  rig.wrist.imu.orientation = {0, 0, 0, 0};
  rig.run(1);
  REQUIRE(rig.receive());
  CHECK(rig.sample().orientation == Quaternion{0, 0, 0, 0});
  rig.wrist.imu.acceleration[1] = not_a_number;
  rig.run(3);
  CHECK_FALSE(rig.receive());
  CHECK(rig.state("out/rejected") == 3);
}

TEST_CASE("the weight of a tool acts down, and turns about the sensor") {
  const Tool tool{2, {0, 0, 0.1}};
  const double weight = 2 * standard_gravity;
  const Wrench level = weight_of(tool, no_rotation);
  check_near(level.force, {0, 0, -weight});
  check_near(level.torque, {0, 0, 0});
  // The sensor's x axis points down.
  const Wrench turned = weight_of(tool, from_roll_pitch_yaw({0, pi / 2, 0}));
  check_near(turned.force, {weight, 0, 0});
  check_near(turned.torque, {0, 0.1 * weight, 0});
}

TEST_CASE("a contact force is published without the weight of the tool, however the wrist turns") {
  WrenchRig rig(&ForceTorqueBroadcaster::wrench,
                {{"imu", "imu"}, {"mass", 2.0}, {"centre", std::vector<double>{0.01, -0.02, 0.1}}});
  auto random = generator();
  const Tool tool{2, {0.01, -0.02, 0.1}};
  for (int i = 0; i < 50; ++i) {
    const auto angle = [&] { return uniform(random, -pi, pi); };
    rig.wrist.imu.orientation = from_roll_pitch_yaw({angle(), angle(), angle()});
    const Wrench contact{{angle(), angle(), angle()}, {angle(), angle(), angle()}};
    rig.wrist.wrench = contact + weight_of(tool, rig.wrist.imu.orientation);
    rig.run(1);
    REQUIRE(rig.receive());
    check_near(rig.sample().force, contact.force);
    check_near(rig.sample().torque, contact.torque);
  }
  rig.wrist.imu.orientation = {0, 0, 0, 0};
  rig.run(1);
  CHECK_FALSE(rig.receive());
  CHECK(rig.state("out/rejected") == 1);
}

TEST_CASE("zeroing takes the mean offset, and stays right when the tool turns") {
  WrenchRig rig(&ForceTorqueBroadcaster::wrench,
                {{"imu", "imu"}, {"mass", 1.0}, {"zero_samples", std::int64_t{4}}});
  const Wrench offset{{5, -6, 7}, {0.1, 0.2, 0.3}};
  const auto measure = [&](const Quaternion& orientation, const Wrench& contact) {
    rig.wrist.imu.orientation = orientation;
    rig.wrist.wrench = contact + offset + weight_of({1, {}}, orientation);
  };
  measure(no_rotation, {});
  REQUIRE(rig.controller->parameters().set("zero", std::int64_t{1}, "test"));
  rig.run(4, [&](int k) { measure(no_rotation, {{k % 2 == 0 ? 1.0 : -1.0, 0, 0}, {}}); });
  measure(from_roll_pitch_yaw({1, 2, 3}), {{0, 0, 2}, {}});
  rig.run(1);
  REQUIRE(rig.receive());
  check_near(rig.sample().force, {0, 0, 2});
  check_near(rig.sample().torque, {0, 0, 0});
  CHECK(rig.state("out.wrench/force.2") == doctest::Approx(2));
}

TEST_CASE("the low-pass of a wrench starts at its first sample, and a NaN does not reach it") {
  WrenchRig rig(&ForceTorqueBroadcaster::wrench, {{"cutoff", 1.0}});
  rig.wrist.wrench.force = {1, 0, 0};
  rig.run(159);  // about one time constant
  REQUIRE(rig.receive());
  CHECK(rig.sample().force[0] == doctest::Approx(1 - std::exp(-1)).epsilon(0.02));
  rig.wrist.wrench.torque[2] = not_a_number;
  rig.run(2);
  CHECK_FALSE(rig.receive());
  CHECK(rig.state("out/rejected") == 2);
  rig.wrist.wrench.torque[2] = 0;
  REQUIRE(rig.controller->parameters().set("cutoff", 0.0, "test"));
  rig.run(1);
  REQUIRE(rig.receive());
  CHECK(rig.sample().force[0] == 1);
}
