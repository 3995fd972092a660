// A line of text about a running robot, for people.
#pragma once

#include <string>

namespace takt::app {

/// One line of a report.
struct ReportLine {
  std::string text;         ///< without a line end
  bool is_failure = false;  ///< belongs on the error stream
};

}  // namespace takt::app
