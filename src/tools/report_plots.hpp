// The figures of a report. Each is a gnuplot script that contains its data and stays beside the picture, so
// that an author can change it. Text from outside appears only as escaped labels, and gnuplot runs without a
// shell.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "tools/report_data.hpp"

namespace takt::tools {

struct Figure {
  std::string stem;  ///< file name without extension: letters, digits, '-' and '_'
  std::string title;
  std::string caption;  ///< what the figure shows, in a sentence
  std::string script;   ///< gnuplot; writes <stem>.svg and <stem>.pdf into the directory that it runs in
  std::optional<std::size_t> close_up{};  ///< the index of the close-up that it shows, if it shows one
};

/// A part of the report with its figures.
struct Chapter {
  std::string title;
  std::vector<Figure> figures;
};

/// The chapters of everything in the recording.
[[nodiscard]] std::vector<Chapter> make_figures(const ReportData& data);

/// Writes the scripts into `directory`, and runs gnuplot there. Error: write_failed, if a script cannot be
/// written, or gnuplot is missing or failed; the message says what to do.
[[nodiscard]] SetupResult<void> draw(const std::vector<Chapter>& chapters,
                                     const std::filesystem::path& directory);

}  // namespace takt::tools
