// The sensors of a Hubo robot, requested in each cycle beside its boards.
#include "takt/drives/hubo/hubo_sensors.hpp"
#include "takt/drives/registry.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "support/rt_guard.hpp"
#include "support/scripted_bus.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"

using namespace takt;
using namespace takt::drives;
using namespace takt::robot;
namespace hubo = takt::can::hubo;

namespace {

using Master = HuboHardware<test::ScriptedBus>;

/// A robot with a board on its first bus, and only sensors on the second.
struct Rig {
  explicit Rig(std::vector<HuboSensorPlace> sensors, hubo::Dialect dialect = hubo::Dialect::ach) {
    description.buses.resize(2);
    for (auto& bus : description.buses) bus.protocol = drives::find("hubo");
    description.joints.resize(1);
    auto made = Master::create(description, pointers, {HuboOptions{.dialect = dialect}, sensors});
    if (made) {
      hardware = std::move(*made);
    } else {
      error = made.error();
    }
  }

  std::vector<can::Frame> cycle(std::size_t bus) {
    now += description.period;
    hardware->read(now, feedback);
    hardware->write(now, commands);
    buses[1 - bus].sent.clear();
    return std::exchange(buses[bus].sent, {});
  }

  RobotDescription description;
  std::vector<test::ScriptedBus> buses{2};
  std::vector<test::ScriptedBus*> pointers{&buses[0], &buses[1]};
  std::unique_ptr<Master> hardware;
  SetupError error;
  std::vector<JointFeedback> feedback{1};
  std::vector<JointCommand> commands{1};
  Time now{};
};

}  // namespace

TEST_CASE("each sensor is asked in each cycle for what it measures, in the words of its firmware") {
  Rig rig({{1, 1}, {1, 3}, {1, 7}, {0, 2}});
  const auto sent = rig.cycle(1);
  REQUIRE(sent.size() == 4);
  CHECK(sent[0] == *encode(hubo::SensorRequest{1, hubo::SensorQuery::force_scaled}, hubo::Dialect::ach));
  CHECK(sent[1] == *encode(hubo::SensorRequest{1, hubo::SensorQuery::tilt_scaled}, hubo::Dialect::ach));
  CHECK(sent[2] == *encode(hubo::InertialRequest{3}, hubo::Dialect::ach));
  CHECK(sent[3] == *encode(hubo::SensorRequest{7, hubo::SensorQuery::force_scaled}, hubo::Dialect::ach));
  CHECK(rig.cycle(1) == sent);
  CHECK(rig.cycle(0).size() >= 2 + 2);  // encoder, status, and those of the foot
  CHECK(rig.hardware->counters().frames_refused == 0);

  Rig podo({{1, 3}}, hubo::Dialect::podo);
  CHECK(podo.cycle(1)[0].id == 0x003);
}

TEST_CASE(
    "a sensor value is kept with its time; an implausible one is counted, and the last valid one stands") {
  Rig rig({{1, 1}, {1, 3}});
  const hubo::ForceTorque force{1, 1.25, -2.5, 300};
  can::Frame frame = *encode(force);
  frame.stamp = rig.now + rig.description.period / 2;
  rig.buses[1].incoming = {frame, *encode(hubo::Tilt{1, 0, 0, 1})};
  rig.cycle(1);
  const HuboSensor& foot = *rig.hardware->master(1).sensor(1);
  CHECK(foot.force().heard);
  CHECK(foot.force().value == force);
  CHECK(foot.force().stamp == frame.stamp);
  CHECK(foot.tilt().value.z == 1);
  CHECK(!rig.hardware->master(1).sensor(3)->inertial().heard);
  CHECK(rig.hardware->master(1).sensor(2) == nullptr);

  can::Frame cut = *encode(hubo::ForceTorque{1, 9, 9, 9});
  cut.length = 5;
  can::Frame extended = *encode(hubo::ForceTorque{1, 9, 9, 9});
  extended.extended = true;
  rig.buses[1].incoming = {cut, extended, *encode(hubo::ForceTorque{2, 9, 9, 9}),
                           *encode(hubo::Inertial{3, 0, 0, 0, 0})};
  rig.cycle(1);
  CHECK(foot.force().value == force);
  CHECK(rig.hardware->master(1).sensor(3)->inertial().heard);
  CHECK(rig.hardware->counters().frames_malformed == 1);
  CHECK(rig.hardware->counters().frames_unexpected == 2);  // a different identifier, and an unknown sensor
}

TEST_CASE("sensors that cannot be are refused by their number") {
  const auto refused = [](std::vector<HuboSensorPlace> sensors) { return Rig(std::move(sensors)).error; };
  CHECK(refused({{1, 0}}).error == Errc::bad_address);
  CHECK(refused({{1, 8}}).error == Errc::bad_address);
  CHECK(refused({{1, 8}}).message.find("sensor 8") != std::string::npos);
  CHECK(refused({{1, 4}, {1, 4}}).error == Errc::duplicate_address);
  CHECK(refused({{2, 4}}).error == Errc::no_such_bus);
}

TEST_CASE("sensors keep the rules of the loop") {
  HuboSensor sensor(1);
  const can::Frame force = *encode(hubo::ForceTorque{1, 1, 2, 3});
  const can::Frame tilt = *encode(hubo::Tilt{1, 0, 0, 1});
  can::Frame request;
  bool ok = true;
  test::RtGuard guard;
  for (int i = 0; i < 1000; ++i) {
    ok = ok && sensor.hear(force, Time(Duration(i))) && sensor.hear(tilt, Time(Duration(i)));
    sensor.ask([&](const auto& message) {
      ok = ok && encode_into(request, message, hubo::Dialect::podo).has_value();
    });
  }
  CHECK(guard.report() == "");
  CHECK(ok);
}
