// A loop that was away in the middle of a move goes on from where the drives are, whatever their kind.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/paused_robot.hpp"
#include "sim/simulated_host.hpp"
#include "support/random.hpp"
#include "takt/app/devices.hpp"
#include "takt/drives/registry.hpp"

using namespace takt;
using namespace std::chrono_literals;
using test::PausedRobot;
using test::simulated_host::robot_on;

namespace {

/// The robot in a simulation without physics, which shows each joint in each step of its servo.
class Simulated {
 public:
  explicit Simulated(const robot::RobotDescription& description)
      : hardware_(std::move(app::Devices::create(description, {.simulate = true}).value())),
        velocities_(description.joints.size()),
        limits_(limits_of(description)),
        robot(description, *hardware_, [this](Time time) { look(time); }) {}

  /// The largest acceleration of a joint since the last call, in limits.
  double acceleration() { return std::exchange(acceleration_, 0); }
  /// The largest distance between a joint and its reference at present, rad.
  double distance() {
    double largest = 0;
    for (std::size_t i = 0; i < velocities_.size(); ++i)
      largest =
          std::max(largest, std::abs(robot.reference(i).position - hardware_->simulation()->position(i)));
    return largest;
  }

 private:
  void look(Time time) {
    hardware_->simulation()->advance(time);
    for (std::size_t i = 0; i < velocities_.size(); ++i) {
      const double velocity = hardware_->simulation()->velocity(i);
      const double change = velocity - std::exchange(velocities_[i], velocity);
      acceleration_ = std::max(acceleration_, std::abs(change) / sim::servo_seconds / limits_[i]);
    }
  }
  static std::vector<double> limits_of(const robot::RobotDescription& description) {
    std::vector<double> limits;
    for (const auto& joint : description.joints) limits.push_back(joint.limits.acceleration);
    return limits;
  }
  std::unique_ptr<app::Devices> hardware_;
  std::vector<double> velocities_;
  std::vector<double> limits_;
  double acceleration_ = 0;

 public:
  PausedRobot robot;
};

}  // namespace

TEST_CASE("a pause in the middle of a move is no lash, whatever the drives do meanwhile") {
  const std::vector<std::string> protocols{"servo", "cia402", "hubo", "mit", "odrive"};
  const std::size_t cases = test::count(60);
  for (std::size_t k = 0; k < cases; ++k) {
    auto random = test::generator(k);
    const std::string& protocol = protocols[k % protocols.size()];
    const robot::RobotDescription description = robot_on(protocol);
    const double period = to_seconds(description.period);
    auto missed = static_cast<std::uint64_t>(std::lround(test::uniform(random, 0.003, 0.06) / period));
    // Longer ones switch MIT-mode drives off.
    if (protocol == "mit") missed = std::min(missed, std::uint64_t{description.overrun_limit});
    Simulated world(description);
    Simulated twin(description);  // whose loop is never away
    PausedRobot& robot = world.robot;
    std::vector<double> distances;
    std::vector<double> aims;
    for (std::size_t i = 0; i < description.joints.size(); ++i) {
      const JointLimits& limits = description.joints[i].limits;
      const double from = robot.reference(i).position;
      const double up = std::min(limits.position_max - from, 2.0);
      const double down = std::min(from - limits.position_min, 2.0);
      distances.push_back(test::uniform(random, 0.3, 0.8) * (up > down ? up : -down));
      aims.push_back(from + distances.back());
    }
    const double least = test::uniform(random, 0, 2);
    robot.move(distances, least);
    (void)twin.acceleration();
    twin.robot.move(distances, least);
    for (int i = 0; i < 8000 && twin.robot.is_moving(); ++i) twin.robot.cycle();
    const double undisturbed = twin.acceleration();
    const double begin = test::uniform(random, 0.1, 0.9) * robot.duration();
    CAPTURE(protocol);
    CAPTURE(missed);
    CAPTURE(begin / robot.duration());
    CAPTURE(k);
    for (double t = 0; t < begin; t += period) robot.cycle();
    (void)world.acceleration();
    robot.cycle(missed);
    robot.cycle();
    robot.cycle();
    // The drive's own motion until the first reference that knows where it is. It may have stopped at once.
    const double by_itself = world.acceleration();
    (void)robot.peaks();
    for (int i = 0; i < 8000 && (robot.is_moving() || i < 400); ++i) robot.cycle();
    const PausedRobot::Peaks references = robot.peaks();
    CHECK(references.velocity < 1.001);
    CHECK(references.acceleration < 1.001);
    CHECK(references.jerk < 1.001);
    CHECK(world.acceleration() < 1.5 * std::max({by_itself, undisturbed, 1.0}));
    if (protocol == "servo") CHECK(by_itself < 3);
    const bool may_go_on = missed <= description.overrun_limit;
    CHECK(robot.last.state == (may_go_on ? motion::GoalState::succeeded : motion::GoalState::aborted));
    for (std::size_t i = 0; i < aims.size() && may_go_on; ++i)
      CHECK(robot.reference(i).position == doctest::Approx(aims[i]).epsilon(1e-9));
  }
}
