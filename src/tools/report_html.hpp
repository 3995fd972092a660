// The report as one HTML file that needs nothing else: pictures inlined, no script, no address.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/report_data.hpp"
#include "tools/report_plots.hpp"

namespace takt::tools {

/// The page, with the pictures that are found in `plots`; `notice`, if not empty, says why some are missing.
[[nodiscard]] std::string index_html(const ReportData& data, const std::vector<Chapter>& chapters,
                                     const std::filesystem::path& plots, const std::string& notice);

}  // namespace takt::tools
