// The report as one self-contained HTML file: plots or pictures inlined, no links to other hosts. Its policy
// forbids browsers to load anything, and without plots to run scripts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/report_data.hpp"
#include "tools/report_parts.hpp"
#include "tools/report_plots.hpp"

namespace takt::tools {

/// The page with the pictures that exist in `plots`. With a `library`, the time axes and histograms are
/// interactive, and browsers without scripts show the pictures. If `notice` is not empty, it tells why some
/// are missing.
[[nodiscard]] std::string index_html(const ReportData& data, const std::vector<Chapter>& chapters,
                                     const std::filesystem::path& plots, const std::string& notice,
                                     const PlotLibrary& library = {});

}  // namespace takt::tools
