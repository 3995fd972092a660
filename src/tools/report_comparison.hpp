// Two recordings side by side: the numbers of both, row by row. Their curves stand in the same panels
// (report_panels.hpp), from the first cycle of each.
#pragma once

#include <string>
#include <vector>

#include "tools/report_data.hpp"

namespace takt::tools {

/// One quantity in both recordings. NaN: the recording does not have it.
struct ComparedNumber {
  std::string name;
  std::string unit;
  double here = 0;
  double there = 0;
};

/// The loop, the goals, and the tracking of each joint and each section that both recordings have. Empty
/// without ReportData::against.
[[nodiscard]] std::vector<ComparedNumber> compared_numbers(const ReportData& data);

}  // namespace takt::tools
