// What Hubo boards and sensors put on a bus: for robot/bus_plan.hpp, and for masters that ask sensors, which no description names.
#pragma once

#include <cstddef>
#include <span>

#include "takt/drives/hubo/hubo_sensors.hpp"
#include "takt/robot/bus_plan.hpp"
#include "takt/robot/description.hpp"

namespace takt::drives {

/// Adds the frames of the boards on this bus. Allocates, as the next one.
void plan_hubo_boards(const robot::RobotDescription& robot, std::size_t bus, robot::BusPlan& plan);
/// Adds the frames of those sensors that are on this bus.
void plan_hubo_sensors(std::span<const HuboSensorPlace> sensors, std::size_t bus, robot::BusPlan& plan);

}  // namespace takt::drives
