// The report as a function, for the sub-command and for tests.
#pragma once

#include <filesystem>
#include <optional>
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

/// The optional parts of a report.
struct ReportOptions {
  PlotLibrary library{};                    ///< with it, the page is interactive
  std::string bode_joint{};                 ///< adds bode.csv and the Bode plot of that joint
  std::optional<RecordingPlace> against{};  ///< adds its curves, and a table of both recordings' numbers
};

/// Writes joints.csv, events.csv, buses.csv, summary.json, plots/ and index.html into `directory`, and
/// creates it if necessary. Without gnuplot only the plots are missing. Errors: those of read_report_data(),
/// write_failed.
[[nodiscard]] SetupResult<ReportOutcome> make_report(const RecordingPlace& recording,
                                                     const std::filesystem::path& directory,
                                                     const ReportOptions& options = {});

}  // namespace takt::tools
