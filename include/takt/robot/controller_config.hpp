// How a controller runs, and a controller as a robot's file names it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "takt/component/assignment.hpp"
#include "takt/component/placement.hpp"
#include "takt/core/time.hpp"

namespace takt::robot {

/// Where and how a controller runs.
struct ControllerConfig {
  std::uint32_t divisor = 1;  ///< it runs in each divisor-th cycle
  std::uint32_t phase = 0;    ///< cycles
  Duration budget{};          ///< for one execution; 0: not measured
  component::BudgetAction over_budget = component::BudgetAction::count;
  std::vector<std::string> fallbacks{};  ///< loaded controllers that start when this one fails
};

/// A controller to be made and loaded. Its type is looked up when the robot is assembled.
struct ControllerDescription {
  std::string name;
  std::string type;  ///< of a component library (app/component_library.hpp)
  ControllerConfig config{};
  std::vector<component::Assignment> parameters{};
  bool start = true;  ///< it runs as soon as the robot is ready
};

}  // namespace takt::robot
