// URDF files that are wrong or hostile: a named mistake with its line, and nothing on standard error.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <string>

#include "support/random.hpp"
#include "takt/robot/urdf.hpp"
#include "urdf/urdf_text.hpp"

using namespace takt;
using namespace takt::robot;
using namespace takt::test::urdf_text;

namespace {

bool says(const Mistake& found, std::string_view text) {
  const bool has = found.reason.find(text) != std::string::npos;
  if (!has) MESSAGE(found.reason);
  return has;
}

}  // namespace

TEST_CASE("what is not a URDF file is refused with its line") {
  CHECK(says(mistake(""), "not XML"));
  CHECK_FALSE(mistake("{}").reason.empty());
  CHECK(says(mistake("<robot name='r'><link name='a'></robot>"), "not XML"));
  CHECK(mistake("<robot name='r'>\n<link name='a'>\n</robot>").line > 0);
  CHECK(says(mistake("<sdf/>"), "the root is <sdf>, not <robot>"));
  CHECK(says(mistake(std::string("<robot\0/>", 9)), "NUL"));
  CHECK(says(mistake("<robot name='\xff'/>"), "not UTF-8"));
  CHECK(says(mistake(std::string((std::size_t{4} << 20) + 1, ' ')), "larger than 4 MiB"));
  const Mistake macro = mistake("<robot name='r'>\n<xacro:arm/></robot>");
  CHECK(says(macro, "<xacro:arm> is a macro"));
  CHECK(macro.line == 2);
  CHECK(says(mistake("<robot name='r'/>"), "urdfdom refuses the robot"));
  CHECK(says(mistake("<robot/>"), "urdfdom refuses the robot"));
  const auto missing = import_urdf_file("/nowhere/robot.urdf", servo_options());
  REQUIRE_FALSE(missing);
  CHECK_FALSE(missing.error().mistakes.empty());
}

TEST_CASE("joints and links that contradict each other are refused by name") {
  CHECK(says(mistake(robot_of({{"a", "type='fixed'>"}})), "no joint is left to command"));
  CHECK(says(mistake(robot_of({{"a", "type='revolute'>"}})), "urdfdom refuses the robot"));
  CHECK(says(mistake(robot_of({{"a", "type='sliding'>"}})), "sliding"));
  CHECK(says(
      mistake(robot_of({{"a", turning}, {"b", "type='fixed'>"}},
                       "<joint name='c' type='fixed'><parent link='base'/><child link='a_link'/></joint>")),
      "joint c: another joint has the child link a_link"));
  CHECK(says(mistake("<robot name='r'><link name='a'/><link name='b'/><link name='c'/>"
                     "<joint name='x' type='continuous'><parent link='a'/><child link='b'/></joint>"
                     "<joint name='y' type='continuous'><parent link='b'/><child link='a'/></joint></robot>"),
             "its link b is its own ancestor"));
  CHECK(says(mistake(robot_of({{"a", turning}, {"a", turning}})), "a"));
  CHECK(says(
      mistake(robot_of({{"a", R"(type="revolute"><limit lower="nan" upper="1" velocity="2" effort="3"/>)"}})),
      "urdfdom refuses the robot"));
}

TEST_CASE("a file with too many parts, or too deeply nested, is refused") {
  std::vector<std::pair<std::string, std::string>> joints;
  for (int i = 0; i < 4097; ++i) joints.emplace_back("j" + std::to_string(i), turning);
  CHECK(says(mistake(robot_of(joints)), "at most 4096"));
  std::string chain = "<robot name='r'><link name='l0'/>";
  for (int i = 0; i < 4095; ++i) {
    const std::string from = std::to_string(i), to = std::to_string(i + 1);
    chain += "<link name='l" + to + "'/><joint name='j" + to + "' type='fixed'><parent link='l" + from +
             "'/><child link='l" + to + "'/></joint>";
  }
  CHECK(says(mistake(chain + "</robot>"), "no joint is left to command"));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  CHECK(says(mistake("<robot name='r'>" + deep), "not XML"));
}

TEST_CASE("numbers beyond all machines are brought into the ranges of a description, with a note") {
  const std::string huge =
      R"(type="revolute"><limit lower="-1e99" upper="1e99" velocity="1e12" effort="1e300"/>
    <dynamics damping="1e300" friction="1e300"/><mimic joint="b" multiplier="1e200"/>)";
  const std::string joint =
      R"(type="prismatic"><limit lower="-1e99" upper="1e99" velocity="1e12" effort="1e300"/>
    <dynamics damping="1e300" friction="1e300"/>)";
  const UrdfImport result = imported(robot_of({{"a", joint}, {"b", turning}, {"c", huge}}));
  const JointLimits& limits = result.robot.joints[0].limits;
  CHECK(limits.position_max == doctest::Approx(128));
  CHECK(limits.velocity == 1);
  CHECK(has_note(result.notes, "joint/limit", "a", "position limits reduced"));
  CHECK(has_note(result.notes, "joint/mimic", "c", "left out"));
}

TEST_CASE("mimic joints in a circle or of a missing joint are left out by name") {
  const auto mimics = [](const char* other) {
    return turning + "<mimic joint=\"" + std::string(other) + "\"/>";
  };
  const UrdfImport result = imported(robot_of(
      {{"a", turning}, {"b", mimics("c")}, {"c", mimics("b")}, {"d", mimics("d")}, {"e", mimics("none")}}));
  CHECK(result.robot.mimics.empty());
  for (const char* name : {"b", "c", "d"})
    CHECK(has_note(result.notes, "joint/mimic", name, "left out: the mimic joints follow each other"));
  CHECK(has_note(result.notes, "joint/mimic", "e", "left out: the joint that it follows"));
}

TEST_CASE("a refusal keeps the notes that explain it") {
  const auto mimics = [](const char* other) {
    return turning + "<mimic joint=\"" + std::string(other) + "\"/>";
  };
  const std::string stuck = R"(type="revolute"><limit lower="1" upper="1" velocity="2" effort="3"/>)";
  const auto result =
      import_urdf(robot_of({{"a", mimics("b")}, {"b", mimics("a")}, {"c", stuck}}), servo_options());
  REQUIRE_FALSE(result);
  CHECK(says(result.error().mistakes.front(), "the notes say why"));
  CHECK(has_note(result.error().notes, "joint/mimic", "a", "left out: the mimic joints follow each other"));
  CHECK(has_note(result.error().notes, "joint/mimic", "b", "left out: the mimic joints follow each other"));
  CHECK(has_note(result.error().notes, "joint/limit", "c", "joint left out: its lower position limit"));
}

TEST_CASE("options that are no numbers of a robot are refused by name") {
  const std::string robot = robot_of({{"a", turning}});
  CHECK(says(mistake(robot, UrdfOptions{}), "no drive protocol"));
  UrdfOptions options = servo_options();
  for (const double bad : {0.0, -1.0, 1e10, std::numeric_limits<double>::quiet_NaN()}) {
    options.rate = bad;
    CHECK(says(mistake(robot, options), "a rate of"));
    options = servo_options();
    options.jerk_time = bad;
    CHECK(says(mistake(robot, options), "jerk_time"));
    options = servo_options();
  }
}

TEST_CASE("nothing is printed, whatever urdfdom has to say") {
  std::array<int, 2> ends{};
  REQUIRE(pipe2(ends.data(), O_NONBLOCK) == 0);
  const int standard_error = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  const auto refused = import_urdf(robot_of({{"a", "type='revolute'>"}}), servo_options());
  const auto taken = import_urdf(text_of(gantry_arm), servo_options());
  dup2(standard_error, STDERR_FILENO);
  std::array<char, 64> printed{};
  CHECK(read(ends[0], printed.data(), printed.size()) == -1);
  CHECK_FALSE(refused);
  CHECK(taken);
  for (const int end : {ends[0], ends[1], standard_error}) close(end);
}

TEST_CASE("a damaged file is refused with a reason, or gives a description that loads") {
  const std::string whole = text_of(gantry_arm);
  for (std::size_t i = 0; i < test::count(300); ++i) {
    auto random = test::generator(i);
    std::string text = whole;
    for (int change = 0; change < 3; ++change) {
      const auto at =
          static_cast<std::size_t>(test::uniform_int(random, 0, static_cast<std::int64_t>(text.size()) - 1));
      if (test::uniform_int(random, 0, 1) == 0)
        text[at] = "<>/\"=0-9e. x"[test::uniform_int(random, 0, 11)];
      else
        text.erase(at, static_cast<std::size_t>(test::uniform_int(random, 1, 40)));
    }
    const auto result = import_urdf(text, servo_options());
    if (result)
      CHECK(drives::load_robot(to_json(result->robot)).has_value());
    else
      CHECK_FALSE(result.error().mistakes.front().reason.empty());
  }
}
