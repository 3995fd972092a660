// The report as one self-contained HTML file: pictures inlined, no scripts, no links to other hosts.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/report_data.hpp"
#include "tools/report_plots.hpp"

namespace takt::tools {

/// The page with the pictures that exist in `plots`. If `notice` is not empty, it tells why some are missing.
[[nodiscard]] std::string index_html(const ReportData& data, const std::vector<Chapter>& chapters,
                                     const std::filesystem::path& plots, const std::string& notice);

}  // namespace takt::tools
