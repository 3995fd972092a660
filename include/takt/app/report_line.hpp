// A line for people about a robot that runs.
#pragma once

#include <string>

namespace takt::app {

struct ReportLine {
  std::string text;         ///< without an end of line
  bool is_failure = false;  ///< for the errors' stream
};

}  // namespace takt::app
