// The figures of a report: each is a gnuplot script with its data inside, which is kept beside the picture so that an author
// can change and redraw it. Scripts contain no text from outside but labels made harmless, and gnuplot is started without a
// shell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "tools/report_data.hpp"

namespace takt::tools {

struct Figure {
  std::string stem;  ///< file name without extension: letters, digits, '-' and '_'
  std::string title;
  std::string caption;  ///< what is seen, in a sentence
  std::string script;   ///< gnuplot; writes <stem>.svg and <stem>.pdf into the directory that it runs in
};

/// A part of the report with its figures.
struct Chapter {
  std::string title;
  std::vector<Figure> figures;
};

/// Chapters for everything that the recording holds; what it does not hold has no figure.
[[nodiscard]] std::vector<Chapter> make_figures(const ReportData& data);

/// Writes the scripts into `directory` and runs gnuplot there. Errors: write_failed when the scripts could not be written,
/// or gnuplot is missing or failed; the message says what to do.
[[nodiscard]] SetupResult<void> draw(const std::vector<Chapter>& chapters,
                                     const std::filesystem::path& directory);

}  // namespace takt::tools
