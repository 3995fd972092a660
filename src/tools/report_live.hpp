// The data of a report's interactive plots, as JSON for the script report_page.js:
//
//     duration   s
//     sections   [{name, begin, end}]
//     goals      [{label, begin, end, failed}]
//     figures    {stem of a Figure: {kind, panels: [{label, limits, tables: [{x, series}]}]}}
//
// A figure's kind is "time", "histogram" or "goals". `x` is base64 of float64, each series' `values` base64
// of float32, little-endian; NaN is a gap. The tables of a panel may have different x.
#pragma once

#include <string>
#include <string_view>

#include "tools/report_data.hpp"

namespace takt::tools {

/// The stem of the figure with the goals' timeline, which has no picture.
inline constexpr std::string_view timeline_stem = "goals";

/// Whether the figure of this stem is in the JSON text.
[[nodiscard]] bool is_live(const ReportData& data, std::string_view stem);

/// The JSON text, without "<": it can stand in a script element of HTML.
[[nodiscard]] std::string live_json(const ReportData& data);

}  // namespace takt::tools
