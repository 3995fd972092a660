// Pictures by gnuplot. A script contains its data, so that users can change and redraw it. gnuplot is started
// without a shell. Text from outside enters a script only through plot_label() (report_text.hpp).
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "tools/report_statistics.hpp"

namespace takt::tools {

// One meaning, one colour, in every figure (Okabe and Ito's palette, safe for colour-blind readers).
inline constexpr std::string_view reference_colour = "#0072b2";
inline constexpr std::string_view measured_colour = "#d55e00";
inline constexpr std::string_view ink = "#3a4149";
inline constexpr std::string_view rule = "#dfe3e8";

/// The terminal for a picture of this kind, "svg" or "pdf". Width and height are pixels, of a PDF points.
[[nodiscard]] std::string terminal_of(std::string_view kind, int width, int height);

/// Builds one script.
class PlotScript {
 public:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  /// Data of this name: "$name" in the script.
  void data(std::string_view name, const Envelope& curve);
  /// 'x' or 'y'.
  void axis(char which, std::string_view label);
  /// A vertical axis from `low` to `high`, with room beyond, and about four tics at round numbers.
  void value_range(double low, double high);

  [[nodiscard]] std::string take() { return fmt::to_string(text_); }

 protected:
  PlotScript() = default;
  /// Writes the settings that all pictures share, after the terminal's.
  void style();

 private:
  fmt::memory_buffer text_;
};

/// Runs gnuplot on the scripts, in `directory`. Its output goes to the file gnuplot.log there. Error:
/// write_failed, if gnuplot is missing or failed; the message says what to do.
[[nodiscard]] SetupResult<void> run_gnuplot(const std::vector<std::string>& scripts,
                                            const std::filesystem::path& directory);

}  // namespace takt::tools
