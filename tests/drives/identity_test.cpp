// What the drives of each protocol say that they are, and that nothing depends on their answer.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/source_dir.hpp"
#include "takt/app/devices.hpp"
#include "takt/drives/registry.hpp"

using namespace takt;
using namespace std::chrono_literals;

namespace {

/// A robot that ships, simulated, and its masters.
struct Robot {
  explicit Robot(const std::string& name)
      : description(
            drives::load_robot_file(std::string(TAKT_SOURCE_DIR) + "/examples/robots/" + name + ".json")
                .value()),
        hardware(app::Devices::create(description, {.simulate = true}).value()),
        feedback(description.joints.size()),
        commands(description.joints.size()) {}

  void run(Duration duration) {
    for (const Time end = now + duration; now < end;) {
      now += description.period;
      hardware->read(now, feedback);
      hardware->write(now, commands);
    }
  }

  robot::RobotDescription description;
  std::unique_ptr<app::Devices> hardware;
  std::vector<robot::JointFeedback> feedback;
  std::vector<JointCommand> commands;
  Time now{};
};

}  // namespace

TEST_CASE("drives report their identity on request, as far as their protocol can") {
  const std::pair<const char*, const char*> tells[] = {
      {"odrive_arm", "hardware 4.4.58, firmware 0.6.10"}, {"mhubo", "board type 0"}, {"arm6", ""}};
  for (const auto& [name, identity] : tells) {
    const std::string title = name;
    CAPTURE(title);
    Robot robot(name);
    robot.hardware->ask_identity();
    CHECK(robot.hardware->identity(0).empty());
    robot.run(1s);
    for (std::size_t i = 0; i < robot.description.joints.size(); ++i) {
      CHECK(robot.hardware->identity(i) == identity);
      CHECK(robot.feedback[i].drive == DriveState::off);
    }
    CHECK(robot.hardware->identity(robot.description.joints.size()).empty());
    CHECK(robot.hardware->counters().frames_unexpected + robot.hardware->counters().frames_malformed == 0);
  }
}

TEST_CASE("a Damiao tells its ranges, and drives of other makers in MIT mode nothing") {
  Robot robot("mit_arm3");
  robot.run(1s);
  CHECK(robot.hardware->identity(0).empty());
  CHECK(robot.hardware->identity(1).empty());
  CHECK(robot.hardware->identity(2) == "PMAX 12.5, VMAX 30, TMAX 10");
}

TEST_CASE("boards are asked for their identity a few times, and only on request") {
  Robot unasked("mhubo");
  unasked.run(1s);
  CHECK(unasked.hardware->identity(0).empty());

  Robot asked("mhubo");
  asked.hardware->ask_identity();
  asked.run(1s);
  const std::size_t boards =
      asked.hardware->counters().frames_sent - unasked.hardware->counters().frames_sent;
  CHECK(boards > 0);
  CHECK(boards <= asked.description.joints.size());
  asked.run(1s);
  unasked.run(1s);
  CHECK(asked.hardware->counters().frames_sent - unasked.hardware->counters().frames_sent == boards);
}

TEST_CASE("a drive that does not answer has no identity, and the others have theirs") {
  for (const char* const name : {"odrive_arm", "mhubo"}) {
    CAPTURE(name);
    Robot robot(name);
    robot.hardware->simulation()->inject(0, sim::JointFault::silent);
    robot.hardware->ask_identity();
    robot.run(1s);
    CHECK(robot.hardware->identity(0).empty());
    CHECK(robot.feedback[0].drive == DriveState::unknown);
    const std::size_t last = robot.description.joints.size() - 1;
    CHECK(!robot.hardware->identity(last).empty());
    CHECK(robot.feedback[last].drive == DriveState::off);
  }
}
