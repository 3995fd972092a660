// The importer of URDF files on a file of takt's own that has each kind of joint, transmission and tag.
#include "takt/robot/urdf.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "takt/robot/fingerprint.hpp"
#include "urdf/urdf_text.hpp"

using namespace takt;
using namespace takt::robot;
using namespace takt::test::urdf_text;

namespace {

UrdfImport gantry() { return imported(text_of(gantry_arm)); }

const JointDescription& joint_of(const RobotDescription& robot, std::string_view name) {
  const auto joint = robot.find_joint(name);
  if (!joint) FAIL(name);
  return robot.joints[*joint];
}

}  // namespace

TEST_CASE("joints that move become joints in the order of the file, with their kinds and limits") {
  const RobotDescription robot = gantry().robot;
  CHECK(robot.name == "gantry_arm");
  std::string names;
  for (const JointDescription& joint : robot.joints) names += joint.name + " ";
  CHECK(names == "rail shoulder elbow wrist_flex wrist_roll left_finger wheel ");
  const JointDescription& rail = robot.joints[0];
  CHECK(rail.kind == JointKind::linear);
  CHECK(rail.limits.position_min == -0.5);
  CHECK(rail.limits.position_max == 1.5);
  CHECK(rail.limits.velocity == 0.8);
  CHECK(rail.limits.effort == 400);
  CHECK(rail.counts_per_radian == 20'000);  // of the motor, per rad
  CHECK(rail.plant.viscous_friction == 20);
  CHECK(rail.plant.coulomb_friction == 5);
  CHECK(rail.plant.torque_limit == 400);
  CHECK(rail.plant.start == 0);
  CHECK(robot.joints[1].plant.start == 0.2);  // the allowed position nearest to 0
  CHECK(robot.joints[4].kind == JointKind::continuous);
  CHECK(robot.joints[4].limits.effort == 10);
  CHECK(robot.joints[6].limits.velocity == 1);  // the file has none
  CHECK(robot.joints[6].limits.effort == std::numeric_limits<double>::infinity());
}

TEST_CASE("limits that a file does not have are derived by the options, and the notes say so") {
  UrdfOptions options = servo_options();
  options.acceleration_time = 0.5;
  options.jerk_time = 0.1;
  options.velocity = 3;
  const UrdfImport result = imported(text_of(gantry_arm), options);
  const JointDescription& elbow = joint_of(result.robot, "elbow");
  CHECK(elbow.limits.acceleration == doctest::Approx(5));
  CHECK(elbow.limits.jerk == doctest::Approx(50));
  CHECK(joint_of(result.robot, "wheel").limits.velocity == 3);
  CHECK(has_note(result.notes, "joint/limit", "elbow",
                 "a file has no acceleration limit: the velocity limit is reached in 0.5 s"));
  CHECK(has_note(result.notes, "joint/limit", "elbow",
                 "a file has no jerk limit: the acceleration limit is reached in 0.1 s"));
  CHECK(has_note(result.notes, "joint/limit", "wheel", "no velocity limit above 0: 3 rad/s"));
  CHECK(has_note(result.notes, "joint/limit", "wheel", "no effort limit above 0"));
  CHECK_FALSE(has_note(result.notes, "joint/limit", "elbow", "no effort"));
  // A plant that its effort limit can move: friction is cut to a half, the acceleration takes a quarter.
  CHECK(elbow.plant.viscous_friction * 2.5 == doctest::Approx(40));
  CHECK(elbow.plant.inertia * 5 == doctest::Approx(20));
  CHECK(has_note(result.notes, "joint/dynamics", "elbow", "reduced for the simulated joint"));
}

TEST_CASE("command interfaces narrow the limits, and a state interface gives the start") {
  const UrdfImport result = gantry();
  const JointDescription& flex = joint_of(result.robot, "wrist_flex");
  CHECK(flex.limits.position_min == -1.2);
  CHECK(flex.limits.position_max == 1.4);
  CHECK(flex.limits.velocity == 3);
  CHECK(flex.limits.acceleration == 9);
  CHECK(flex.limits.jerk == 70);
  CHECK(flex.plant.start == 0.4);
  CHECK_FALSE(has_note(result.notes, "joint/limit", "wrist_flex", "a file has no"));
  CHECK(has_note(result.notes, "ros2_control", "wrist_roll",
                 "parameter max left out: \"seven\" is not a number"));
}

TEST_CASE("a range makes a rotary joint of a continuous one, with a note") {
  const auto continuous = [](const std::string& range) {
    return "type=\"continuous\"><limit " + range + " velocity=\"2\" effort=\"3\"/>";
  };
  const std::string control = R"(<ros2_control name="c" type="system">
    <joint name="both"><command_interface name="position"><param name="min">-2.5</param><param name="max">2</param>
    </command_interface></joint>
    <joint name="half"><command_interface name="position"><param name="min">-4</param></command_interface></joint>
    <joint name="odd"><command_interface name="position"><param name="min">2</param><param name="max">-2</param>
    </command_interface></joint></ros2_control>)";
  const UrdfImport result = imported(robot_of({{"limit", continuous("lower='-2.8' upper='2.9'")},
                                               {"both", continuous("lower='-2.8' upper='2.8'")},
                                               {"half", continuous("")},
                                               {"odd", continuous("")},
                                               {"wide", continuous("lower='-1e16' upper='1e16'")},
                                               {"zero", continuous("lower='0' upper='0'")},
                                               {"turned", continuous("lower='1' upper='-1'")},
                                               {"free", continuous("")}},
                                              control));
  const auto is_range = [&](std::string_view name, double least, double most) {
    const JointDescription& joint = joint_of(result.robot, name);
    return joint.kind == JointKind::rotary && joint.limits.position_min == least &&
           joint.limits.position_max == most;
  };
  const double reach = servo_options().protocol->reach(JointDescription{});
  CHECK(is_range("limit", -2.8, 2.9));
  CHECK(has_note(result.notes, "joint/limit", "limit", "continuous in the file, but its range"));
  CHECK(is_range("both", -2.5, 2));
  CHECK(is_range("half", -4, reach));
  CHECK(has_note(result.notes, "joint/limit", "half", "continuous in the file, but its range"));
  for (const char* name : {"odd", "wide", "zero", "turned", "free"})
    CHECK(joint_of(result.robot, name).kind == JointKind::continuous);
  CHECK(has_note(result.notes, "joint/limit", "odd", "turns without end: its lower position limit"));
  CHECK(has_note(result.notes, "joint/limit", "turned", "turns without end: its lower position limit"));
  CHECK_FALSE(has_note(result.notes, "joint/limit", "wide", "continuous in the file"));
  CHECK_FALSE(has_note(result.notes, "joint/limit", "zero", "turns without end"));
}

TEST_CASE("the range of a continuous mimic joint is compared with what the followed joint can do") {
  const std::string follower = R"(type="continuous"><limit lower="-0.5" upper="0.5" velocity="2" effort="3"/>
    <mimic joint="a"/>)";
  CHECK(has_note(imported(robot_of({{"a", turning}, {"b", follower}})).notes, "joint/mimic", "b",
                 "its own limits are not taken over"));
}

TEST_CASE("mimic joints follow a joint with a drive, also through other mimic joints") {
  const UrdfImport result = gantry();
  REQUIRE(result.robot.mimics.size() == 2);
  const MimicDescription& right = result.robot.mimics[0];
  CHECK(right.name == "right_finger");
  CHECK(right.kind == JointKind::linear);
  CHECK(result.robot.joints[right.joint].name == "left_finger");
  CHECK(right.multiplier == -1);
  CHECK(right.offset == 0);
  const MimicDescription& tip = result.robot.mimics[1];
  CHECK(tip.name == "finger_tip");
  CHECK(result.robot.joints[tip.joint].name == "left_finger");
  CHECK(tip.multiplier == -10);
  CHECK(tip.offset == doctest::Approx(0.3));
  CHECK(has_note(result.notes, "joint/mimic", "finger_tip", "it has no drive"));
  CHECK_FALSE(has_note(result.notes, "joint/mimic", "", "its own limits"));
}

TEST_CASE("the older parameters of a mimic joint count, and mimic=\"false\" gives it a drive") {
  const std::string mimics = turning + R"(<mimic joint="a" multiplier="2"/>)";
  const std::string control = R"(<ros2_control name="c" type="system">
    <joint name="b"><param name="mimic">a</param><param name="multiplier">-3</param><param name="offset">0.5</param></joint>
    <joint name="c" mimic="false"><command_interface name="position"/></joint></ros2_control>)";
  const UrdfImport result =
      imported(robot_of({{"a", turning}, {"b", turning}, {"c", mimics}, {"d", mimics}}, control));
  REQUIRE(result.robot.mimics.size() == 2);
  CHECK(result.robot.mimics[0].name == "b");
  CHECK(result.robot.mimics[0].multiplier == -3);
  CHECK(result.robot.mimics[0].offset == 0.5);
  CHECK(result.robot.mimics[1].name == "d");
  CHECK(result.robot.find_joint("c").has_value());
  CHECK(has_note(result.notes, "joint/mimic", "d", "its own limits are not taken over"));
  CHECK(has_note(result.notes, "joint", "a", "taken as if it had a drive"));
  CHECK_FALSE(has_note(result.notes, "joint", "c", "taken as if it had a drive"));
}

TEST_CASE("transmissions of ROS 1 and of ros2_control are taken, by their roles") {
  const UrdfImport result = imported(text_of(gantry_arm), {.protocol = drives::find("cia402")});
  const RobotDescription& robot = result.robot;
  REQUIRE(robot.transmissions.size() == 3);
  const TransmissionDescription& rail = robot.transmissions[0];
  CHECK(rail.name == "rail_transmission");
  CHECK(rail.kind == TransmissionKind::simple);
  CHECK(rail.joints[0].joint == 0);
  CHECK(rail.joints[0].offset == 0.25);
  CHECK(rail.actuators[0].name == "rail_motor");
  CHECK(rail.actuators[0].reduction == -40);
  const TransmissionDescription& arm = robot.transmissions[1];
  CHECK(arm.kind == TransmissionKind::four_bar);
  CHECK(robot.joints[arm.joints[0].joint].name == "shoulder");
  CHECK(arm.joints[0].offset == 0.1);
  CHECK(arm.joints[1].reduction == 1.5);
  CHECK(arm.actuators[0].name == "shoulder_motor");
  CHECK(arm.actuators[1].reduction == 60);
  const TransmissionDescription& wrist = robot.transmissions[2];
  CHECK(wrist.kind == TransmissionKind::differential);
  CHECK(wrist.joints[0].reduction == 10);
  CHECK(wrist.joints[0].offset == 0.5);
  CHECK(wrist.joints[1].reduction == -20);
  CHECK(wrist.actuators[1].name == "wrist_motor_b");
}

TEST_CASE("a transmission is left out if the position words of the drives do not hold its actuators") {
  const UrdfImport result = gantry();  // servo drives
  CHECK(result.robot.transmissions.size() == 2);
  CHECK(has_note(result.notes, "transmission", "arm_transmission", "not taken over: actuator "));
}

TEST_CASE("a continuous joint that its actuators do not turn far is named with its range and the way on") {
  const std::string roll = R"(type="continuous"><limit velocity="2" effort="3"/>)";
  const std::string wrist = R"(<transmission name="w" type="WristTransmission">
    <rightActuator name="right" mechanicalReduction="60"/><leftActuator name="left" mechanicalReduction="60"/>
    <flexJoint name="flex" mechanicalReduction="1"/><rollJoint name="roll" mechanicalReduction="1"/></transmission>)";
  const std::string urdf = robot_of({{"flex", turning}, {"roll", roll}}, wrist);
  const UrdfImport result = imported(urdf);
  REQUIRE(result.robot.transmissions.size() == 1);
  const JointLimits& limits = joint_of(result.robot, "roll").limits;
  const auto note = std::find_if(result.notes.begin(), result.notes.end(), [](const UrdfNote& each) {
    return each.tag == "transmission/joint" && each.names == std::vector<std::string>{"roll"};
  });
  REQUIRE(note != result.notes.end());
  CAPTURE(note->reason);
  CHECK(note->reason.find(fmt::format("turns only from {:.3g} to {:.3g} rad", limits.position_min,
                                      limits.position_max)) != std::string::npos);
  CHECK(note->reason.find("protocol servo") != std::string::npos);
  CHECK(note->reason.find("--protocol") != std::string::npos);
  const UrdfImport wide = imported(urdf, {.protocol = drives::find("cia402")});
  CHECK_FALSE(has_note(wide.notes, "transmission/joint", "roll", ""));
}

TEST_CASE("the PR2's wrist is a differential: its roll the sum, its flexion the difference") {
  const std::string wrist = R"(<transmission name="w" type="WristTransmission">
    <rightActuator name="right" mechanicalReduction="60"/><leftActuator name="left" mechanicalReduction="50"/>
    <flexJoint name="flex" mechanicalReduction="-2"/><rollJoint name="roll" mechanicalReduction="3"/></transmission>)";
  const UrdfImport result =
      imported(robot_of({{"flex", turning}, {"roll", turning}}, wrist), {.protocol = drives::find("cia402")});
  REQUIRE(result.robot.transmissions.size() == 1);
  const TransmissionDescription& made = result.robot.transmissions[0];
  CHECK(made.kind == TransmissionKind::differential);
  CHECK(made.joints[0].joint == 1);
  CHECK(made.joints[0].reduction == -3);
  CHECK(made.joints[1].joint == 0);
  CHECK(made.joints[1].reduction == -2);
  CHECK(made.actuators[0].name == "right");
  CHECK(made.actuators[1].reduction == 50);
}

TEST_CASE("everything that is not taken over is named, with the reason") {
  const std::vector<UrdfNote> notes = gantry().notes;
  CHECK(has_note(notes, "joint", "mooring", "left out: a joint of this type has more than one coordinate"));
  CHECK(has_note(notes, "joint", "table", "left out: a joint of this type has more than one coordinate"));
  CHECK(has_note(notes, "joint/limit", "stuck", "joint left out: its lower position limit is not below"));
  CHECK(has_note(notes, "joint", "", "1 fixed joints left out"));
  CHECK(has_note(notes, "joint/safety_controller", "rail", "not taken over"));
  CHECK(has_note(notes, "joint/calibration", "rail", "not taken over"));
  CHECK(has_note(notes, "transmission", "tool_transmission",
                 "not taken over: takt has no type \"ScrewTransmission\""));
  CHECK(has_note(notes, "transmission", "second_rail", "not taken over: another transmission has its joint"));
  CHECK(has_note(notes, "transmission", "mount", "not taken over: a joint of it is fixed"));
  CHECK(has_note(notes, "transmission", "flat", "not taken over: a name or a number is wrong"));
  CHECK(has_note(notes, "ros2_control/hardware", "arm", "not taken over: plug-in some_vendor/ArmSystem"));
  CHECK(has_note(notes, "ros2_control/sensor", "wrist_force", "not taken over"));
  CHECK(has_note(notes, "ros2_control/gpio", "lights", "not taken over"));
  CHECK(has_note(notes, "link", "", "not taken over"));
  CHECK(has_note(notes, "gazebo", "", "not taken over"));
  CHECK(has_note(notes, "buses", "", "a file has none: 1 of protocol servo"));
}

TEST_CASE("a note is a line with the first few names and the number of the others") {
  CHECK(to_string(UrdfNote{"link", "not taken over", {}}) == "link: not taken over");
  CHECK(to_string(UrdfNote{"joint", "fixed", {"a", "b"}}) == "joint of a, b: fixed");
  CHECK(to_string(UrdfNote{"joint", "fixed", {"a", "b", "c", "d", "e", "f", "g", "h"}}) ==
        "joint of a, b, c, d, e, f and 2 others: fixed");
}

TEST_CASE("what is imported can be written and loaded, and the file decides everything") {
  const RobotDescription robot = gantry().robot;
  const auto loaded = drives::load_robot(to_json(robot));
  REQUIRE(loaded);
  CHECK(fingerprint(*loaded) == fingerprint(robot));
  const auto from_file = import_urdf_file(gantry_arm, servo_options());
  REQUIRE(from_file);
  CHECK(to_json(from_file->robot) == to_json(robot));
}

TEST_CASE(
    "all protocols without required settings, and rates from slow to fast, give a description that loads") {
  for (const char* name : {"servo", "cia402"}) {
    for (const double rate : {20.0, 50.0, 200.0, 500.0}) {
      CAPTURE(name);
      CAPTURE(rate);
      UrdfOptions options{.protocol = drives::find(name), .rate = rate};
      const auto result = import_urdf(text_of(gantry_arm), options);
      if (!result) FAIL(to_string(result.error().mistakes.front()));
      CHECK(result->robot.joints.size() == 7);
      CHECK((result->robot.joints[0].rated_effort > 0) == (std::string_view(name) == "cia402"));
    }
  }
}

TEST_CASE("more than 64 joints: those that something moves are taken, and the others are named") {
  std::vector<std::pair<std::string, std::string>> joints;
  std::string transmissions;
  for (int i = 0; i < 140; ++i) {
    const std::string name = "j" + std::to_string(i);
    joints.emplace_back(name, turning);
    if (i % 2 == 0) {
      transmissions += "<transmission name=\"t" + name + "\"><type>SimpleTransmission</type><joint name=\"" +
                       name + "\"/><actuator name=\"m" + name + "\"/></transmission>";
    }
  }
  const UrdfImport result = imported(robot_of(joints, transmissions));
  REQUIRE(result.robot.joints.size() == 64);
  CHECK(result.robot.joints[63].name == "j126");
  CHECK(result.robot.transmissions.size() == 64);
  CHECK(result.robot.buses.size() > 1);
  CHECK(has_note(result.notes, "joint", "j1",
                 "left out: a robot has at most 64 joints, and this one has neither"));
  CHECK(has_note(result.notes, "joint", "j128", "left out: a robot has at most 64 joints"));
  CHECK(has_note(result.notes, "transmission", "tj128", "not taken over: a joint of it is fixed"));
}
