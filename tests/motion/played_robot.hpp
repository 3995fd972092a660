// A robot whose drives the test plays: the manager and the trajectory controller, cycle by cycle.
#pragma once

#include <cstdlib>
#include <memory>

#include "support/played_drives.hpp"
#include "takt/motion/joint_trajectory.hpp"
#include "takt/motion/loop.hpp"
#include "takt/motion/robot_cycle.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/manager.hpp"

namespace takt::test {

/// A manager with the trajectory controller over played drives.
class PlayedRobot {
 public:
  explicit PlayedRobot(const robot::RobotDescription& robot) : drives(robot.joints.size()), manager(robot) {
    const bool made = manager.add(device).has_value() && manager.load(controller).has_value() &&
                      manager.switch_controllers({.start = {motion::trajectory_controller}}).has_value() &&
                      manager.start(Time{}).has_value();
    if (!made) std::abort();
  }
  ~PlayedRobot() { manager.stop(manager.now()); }
  PlayedRobot(const PlayedRobot&) = delete;
  PlayedRobot& operator=(const PlayedRobot&) = delete;

  PlayedDrives drives;
  robot::DriveDevice device{"drives", drives};
  std::shared_ptr<motion::JointTrajectoryController> controller =
      std::make_shared<motion::JointTrajectoryController>(motion::trajectory_controller);
  robot::Manager manager;
  motion::RobotCycle cycle{manager, *controller};
};

}  // namespace takt::test
