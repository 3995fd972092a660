// Dumps of ROS messages are parsed unchanged. Written trajectory_msgs/JointTrajectory are parsed again.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "motion/wire_support.hpp"
#include "support/random.hpp"
#include "takt/motion/wire.hpp"
#include "takt/trajectory/through.hpp"

namespace {

using namespace takt::motion;
using Json = nlohmann::json;

std::string dump(const std::string& name) {
  return takt::test::read_file("tests/fuzz/corpus/client_message/" + name + ".json");
}

TrajectoryMessage read(const std::string& text) {
  const auto message = parse_motion_file(text);
  if (!message) FAIL(text << " -> " << message.error().why.message);
  return std::get<TrajectoryMessage>(message->body);
}

std::string refusal(const std::string& text) {
  const auto message = parse_motion_file(text);
  return message ? "" : message.error().why.message;
}

TEST_CASE("the goal of FollowJointTrajectory, as ROS 2 writes it, is a trajectory with its tolerances") {
  const TrajectoryMessage goal = read(dump("ros2_follow_joint_trajectory_goal"));
  TrajectoryMessage expected;
  expected.joints.names = {"elbow_joint", "wrist_1_joint"};
  expected.points = {{0.3, {1.5, -2}, {0, 0}, {}}, {2.000000001, {1.25, -2.5}, {0, 0}, {}}};
  expected.tolerances.path = {{"elbow_joint", 0.1, -1, 0}};
  expected.tolerances.goal = {{"wrist_1_joint", 0.01, 0.05, -1}, {"elbow_joint", 0, 0, 0}};
  expected.tolerances.goal_time = -0.5;
  CHECK(goal == expected);
  // The same goal on the wire, combined with takt's own keys.
  std::string line = dump("ros2_follow_joint_trajectory_goal");
  line = R"({"id":1,"trajectory":{"fit":true,)" + line.substr(line.find('{') + 1) + "}";
  const auto message = parse_client_message(line);
  REQUIRE(message);
  expected.fit = true;
  CHECK(std::get<TrajectoryMessage>(message->body) == expected);
  CHECK(*parse_client_message(to_line(*message)) == *message);
}

TEST_CASE("actions of ROS 1, rosbridge and MoveIt wrap trajectories in their own ways") {
  const TrajectoryMessage ros1 = read(dump("ros1_action_goal"));
  CHECK(ros1.points.size() == 2);
  CHECK(ros1.points[1].time == 2.1);
  CHECK(ros1.tolerances == TolerancesMessage{});
  CHECK(read(dump("rosbridge_joint_trajectory")).joints.names == std::vector<std::string>{"elbow_joint"});
  const TrajectoryMessage moveit = read(dump("moveit_robot_trajectory"));
  CHECK(moveit.points[1].time == 1.25);
  CHECK(read(dump("moveit_display_trajectory")).points[0].positions == std::vector<double>{1.5});
  const auto wire = parse_client_message("{\"trajectory\":" + dump("moveit_robot_trajectory") + "}");
  REQUIRE(wire);
  CHECK(std::get<TrajectoryMessage>(wire->body) == moveit);
}

TEST_CASE("what a dump asks for and takt does not do is refused, and where is said") {
  Json display = Json::parse(dump("moveit_display_trajectory"));
  display["trajectory"].push_back(display["trajectory"][0]);
  CHECK(refusal(display.dump()) == "/trajectory: must be an object, not a list");
  Json robot = Json::parse(dump("moveit_robot_trajectory"));
  robot["multi_dof_joint_trajectory"]["points"].push_back(Json::object());
  CHECK(refusal(robot.dump()) ==
        "/multi_dof_joint_trajectory: must be empty: joints with several axes are not supported");
  Json goal = Json::parse(dump("ros1_action_goal"));
  goal["goal"]["goal_tolerance"].push_back({{"name", "elbow_joint"}, {"acceleration", 1}});
  CHECK(refusal(goal.dump()) ==
        "/goal/goal_tolerance/0/acceleration: must not be above 0: accelerations are not measured");
  goal["goal"]["goal_tolerance"] = {{{"name", "elbow_joint"}}, {{"name", "elbow_joint"}}};
  CHECK(parse_motion_file(goal.dump()).error().why.reason == Errc::duplicate_joint);
  goal["goal"]["goal_tolerance"] = Json::object();
  CHECK_FALSE(refusal(goal.dump()).empty());
  goal["goal"]["goal_tolerance"] = {{{"name", "elbow_joint"}, {"effort", 1}}};
  CHECK_FALSE(refusal(goal.dump()).empty());
  goal["goal"]["goal_tolerance"] = Json::array();
  goal["goal"]["goal_time_tolerance"] = {{"secs", 0.5}, {"nsecs", 0}};
  CHECK_FALSE(refusal(goal.dump()).empty());
  goal["goal"]["goal_time_tolerance"] = {{"secs", 0}, {"nsecs", -1}};
  CHECK_FALSE(refusal(goal.dump()).empty());
  goal["goal"]["goal_time_tolerance"] = nullptr;
  CHECK_FALSE(refusal(goal.dump()).empty());
}

TEST_CASE("a message of the protocol in a file stays one, with its id and without other keys") {
  const auto message = parse_motion_file(
      R"({"id":3,"trajectory":{"joint_names":["a"],"points":[{"time_from_start":1,"positions":[1]}]}})");
  REQUIRE(message);
  CHECK(message->id == "3");
  CHECK(refusal(R"({"mvoe":{}})") != "");
  CHECK(refusal(R"({"id":3})") != "");
  CHECK(refusal(R"({"msg":{"msg":7}})") != "");
}

TEST_CASE("a trajectory that is written for others is read as it was, times to the nanosecond") {
  auto random = takt::test::generator(8);
  for (std::size_t n = 0; n < takt::test::count(300); ++n) {
    TrajectoryMessage message;
    const std::size_t joints = 1 + n % 4;
    for (std::size_t j = 0; j < joints; ++j)
      message.joints.names.push_back("j\"\n\u00e9" + std::to_string(j));
    for (auto& name : message.joints.names) std::erase(name, '\n');
    std::int64_t time = takt::test::uniform_int(random, 0, 1);
    for (auto points = takt::test::uniform_int(random, 2, 6); points > 0; --points) {
      PointMessage& point = message.points.emplace_back();
      point.time = static_cast<double>(time) / 1e9;
      time += takt::test::uniform_int(random, 1, 100'000'000'000);
      for (std::size_t j = 0; j < joints; ++j) {
        point.positions.push_back(takt::test::uniform(random, -1e9, 1e9));
        if (n % 3 > 0) point.velocities.push_back(takt::test::uniform(random, -1, 1) * 1e-300);
        if (n % 3 > 1) point.accelerations.push_back(takt::test::uniform(random, -10, 10));
      }
    }
    const std::string text = to_joint_trajectory(message);
    REQUIRE(read(text) == message);
    // Only the fields of the message, with their types.
    const Json document = Json::parse(text);
    REQUIRE(document.size() == 2);
    for (const Json& point : document["points"]) {
      REQUIRE(point["time_from_start"]["sec"].is_number_integer());
      REQUIRE(point["time_from_start"]["nanosec"].get<int>() < 1'000'000'000);
    }
  }
}

TEST_CASE("a motion becomes a message of its waypoints, and the message the same motion") {
  const std::vector<double> times{0, 0.5, 1.25}, positions{0, 1, 2, -1, 0.5, 0};
  const auto motion = takt::trajectory::through(takt::trajectory::Waypoints{2, times, positions, {}, {}},
                                                takt::trajectory::Through::smooth)
                          .value();
  const TrajectoryMessage message = read(to_joint_trajectory(to_message(motion, {"a", "b"})));
  CHECK(message.joints.names == std::vector<std::string>{"a", "b"});
  REQUIRE(message.points.size() == 3);
  std::vector<double> p, v, a;
  for (const PointMessage& point : message.points) {
    p.insert(p.end(), point.positions.begin(), point.positions.end());
    v.insert(v.end(), point.velocities.begin(), point.velocities.end());
    a.insert(a.end(), point.accelerations.begin(), point.accelerations.end());
  }
  const auto again = takt::trajectory::through(takt::trajectory::Waypoints{2, times, p, v, a},
                                               takt::trajectory::Through::given)
                         .value();
  for (double t = 0; t <= 1.25; t += 0.01) {
    for (std::size_t j = 0; j < 2; ++j) {
      CHECK(std::abs(again.at(t, j).position - motion.at(t, j).position) < 1e-12);
      CHECK(std::abs(again.at(t, j).acceleration - motion.at(t, j).acceleration) < 1e-9);
    }
  }
  CHECK(to_message({}, {}).points.empty());
}

TEST_CASE("the planned trajectory that ships survives the way through a file for others") {
  const TrajectoryMessage planned = takt::test::planned_ur_trajectory();
  CHECK(read(to_joint_trajectory(planned)) == planned);
}

}  // namespace
