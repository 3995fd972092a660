// The report as a function, for the sub-command and for tests.
#pragma once

#include <filesystem>
#include <string>

#include "takt/core/setup_error.hpp"

namespace takt::tools {

/// What was made of a recording.
struct ReportOutcome {
  std::string sentence;  ///< what was read, for the terminal
  std::string no_plots;  ///< why there are no plots; empty when there are
};

/// Writes joints.csv, events.csv, buses.csv, summary.json, plots/ and index.html into `directory`, which is made if it does not
/// exist. A missing gnuplot costs the plots, not the rest. Errors: those of record::Reader, write_failed.
[[nodiscard]] SetupResult<ReportOutcome> make_report(const std::string& recording,
                                                     const std::filesystem::path& directory);

}  // namespace takt::tools
