// A line of text about a running robot, for people.
#pragma once

#include <optional>
#include <string>

#include "takt/robot/supervisor.hpp"

namespace takt::app {

/// One line of a report.
struct ReportLine {
  std::string text;                          ///< without a line end
  bool is_failure = false;                   ///< belongs on the error stream
  std::optional<robot::RobotState> state{};  ///< which the robot has now, of a line about a change of it
};

}  // namespace takt::app
