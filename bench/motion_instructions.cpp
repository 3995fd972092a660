// The worst-case cost of joining one request to moving joints. The robot has the largest number of joints,
// and no waypoint can be reached in time, so that all methods are tried. It counts a whole cycle of the
// manager, over drives that the benchmark plays.
#include <string>
#include <vector>

#include "instructions.hpp"
#include "motion/played_robot.hpp"
#include "takt/trajectory/through.hpp"

namespace takt::bench {
namespace {

using namespace takt::motion;

robot::RobotDescription many_joints() {
  robot::RobotDescription robot;
  robot.name = "many";
  robot.period = std::chrono::milliseconds(1);
  for (std::size_t i = 0; i < max_joints; ++i) {
    robot::JointDescription joint;
    joint.name = "joint" + std::to_string(i);
    joint.limits = {-3, 3, 2 + 0.01 * static_cast<double>(i), 10, 200, 100};
    joint.following_error = 1;
    joint.goal_tolerance = 1;
    robot.joints.push_back(joint);
  }
  return robot;
}

class JoiningRobot {
 public:
  JoiningRobot() {
    for (auto& joint : robot_.drives.feedback) {
      joint.heard = true;
      joint.drive = DriveState::ready;
    }
    make_request(running_, 1, {2.5}, 100);
    make_request(hasty_, 2, std::vector<double>(16, -1), 0.01);
    for (int i = 0; i < 5; ++i) cycle(nullptr);
    cycle(&running_);
    for (int i = 0; i < 1000; ++i) cycle(nullptr);
  }

  void refuse() { cycle(&hasty_); }
  [[nodiscard]] bool refused() const { return refused_; }

 private:
  void make_request(Request& request, GoalId id, const std::vector<double>& targets, double interval) {
    std::vector<double> times{0};
    std::vector<double> positions(max_joints, 0);
    for (const double target : targets) {
      times.push_back(times.back() + interval);
      for (std::size_t j = 0; j < max_joints; ++j)
        positions.push_back(target + 0.001 * static_cast<double>(j));
    }
    request.kind = RequestKind::trajectory;
    request.goal = id;
    request.joints = JointSet::first(max_joints);
    request.trajectory = *trajectory::through(trajectory::Waypoints{max_joints, times, positions, {}, {}},
                                              trajectory::Through::stop);
    request.lead = trajectory::PointToPoint<>(max_joints);
    for (const auto& joint : description_.joints) request.limits.push_back(joint.limits);
    request.path_tolerance.resize(max_joints);
    request.goal_tolerance.resize(max_joints);
  }

  void cycle(Request* request) {
    now_ += description_.period;
    for (std::size_t j = 0; j < max_joints; ++j) {
      robot_.drives.feedback[j].stamp = now_;
      robot_.drives.feedback[j].position = robot_.drives.commands[j].position;
    }
    robot_.cycle.begin(now_, description_.period, 0);
    if (request != nullptr) robot_.cycle.submit(*request);
    robot_.cycle.advance();
    robot_.cycle.deliver(now_, [this](const Event& event) {
      refused_ = event.state == GoalState::rejected;
      return true;
    });
  }

  robot::RobotDescription description_ = many_joints();
  test::PlayedRobot robot_{description_};
  Request running_;
  Request hasty_;
  Time now_{};
  bool refused_ = false;
};

const Kernel join("motion/cycle_that_refuses_to_join_64_joints", [](Counter& count) {
  JoiningRobot robot;
  count([&] { robot.refuse(); });
  if (!robot.refused()) std::abort();
});

}  // namespace
}  // namespace takt::bench
