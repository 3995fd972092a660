// A component that drives a vehicle in laps. robot.json connects it to a controller of the robot. That one
// keeps the limits, and brakes when no twist comes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "../vehicle_course.hpp"

#include "takt/component/component.hpp"
#include "takt/component/port.hpp"
#include "takt/controllers/base_drive.hpp"

namespace vehicle_example {

/// Drives laps on the course of the vehicle examples.
struct LapDriver final : takt::component::Component {
  static constexpr takt::component::ComponentMetadata about{.type = "LapDriver",
                                                            .version = "1.0.0",
                                                            .vendor = "takt",
                                                            .category = "navigation",
                                                            .description = "Drives laps on a course."};
  explicit LapDriver(std::string name) : Component(about, std::move(name)) {}

  takt::Status on_execute(const takt::component::CycleTime& cycle) noexcept override {
    if (odometry.read() != takt::shm::Freshness::new_data) return {};
    if (driver_.arrived()) {
      driver_ = {};
      lap.write(++laps_, cycle.time);
    }
    twist.write(driver_.twist(odometry.value().pose), cycle.time);
    return {};
  }

  takt::component::InPort<takt::controllers::OdometrySample> odometry{*this, "odometry"};
  takt::component::OutPort<takt::mobile::Twist> twist{*this, "twist"};
  takt::component::OutPort<std::int64_t> lap{*this, "lap"};  ///< one sample for each

 private:
  vehicle_course::Driver driver_;
  std::int64_t laps_ = 0;
};

}  // namespace vehicle_example
