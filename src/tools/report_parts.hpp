// Text that the build puts into the program for the pages of reports (cmake/TaktReport.cmake).
#pragma once

#include <string_view>

namespace takt::tools {

/// The plotting library uPlot; empty if the build could not get it.
struct PlotLibrary {
  std::string_view script{};
  std::string_view style{};

  [[nodiscard]] bool present() const noexcept { return !script.empty() && !style.empty(); }
};

extern const PlotLibrary bundled_plots;
extern const std::string_view page_script;  ///< report_page.js, unchanged

}  // namespace takt::tools
