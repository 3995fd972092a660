// The frames of Hubo boards and sensors on a bus: for robot/bus_plan.hpp, and for masters that request
// sensors, which no description contains.
#pragma once

#include <cstddef>
#include <span>

#include "takt/drives/hubo/hubo_sensors.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/description.hpp"

namespace takt::drives {

/// Adds the frames of the boards on this bus to the plan. Allocates.
void plan_hubo_boards(const robot::RobotDescription& robot, std::size_t bus, robot::BusPlan& plan);
/// Adds the frames of the sensors on this bus to the plan. Allocates.
void plan_hubo_sensors(std::span<const HuboSensorPlace> sensors, std::size_t bus, robot::BusPlan& plan);

}  // namespace takt::drives
