// The report as a function, for the sub-command and for tests.
#pragma once

#include <filesystem>
#include <string>

#include "takt/core/setup_error.hpp"
#include "tools/open_recording.hpp"
#include "tools/report_parts.hpp"

namespace takt::tools {

/// The result of a report.
struct ReportOutcome {
  std::string sentence;  ///< the summary, for the terminal
  std::string no_plots;  ///< the reason for missing plots; empty if there are plots
};

/// Writes joints.csv, events.csv, buses.csv, summary.json, plots/ and index.html into `directory`, and
/// creates it if necessary. With a `library` the page is interactive. With a `bode_joint` there are also
/// bode.csv and the Bode plot of that joint. Without gnuplot only the plots are missing. Errors: those of
/// read_report_data(), write_failed.
[[nodiscard]] SetupResult<ReportOutcome> make_report(const RecordingPlace& recording,
                                                     const std::filesystem::path& directory,
                                                     const PlotLibrary& library = {},
                                                     const std::string& bode_joint = {});

}  // namespace takt::tools
