// The panels of a joint: which curves stand in which of them, for pictures and for interactive plots.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/report_data.hpp"

namespace takt::tools {

/// A curve of a panel.
struct Line {
  std::string_view name;      ///< letters and '_'
  const JointCurves* curves;  ///< of the whole recording, or of a close-up
  Envelope JointCurves::*part;
  std::string_view title;  ///< in the key; empty: it is in the key of the first panel
  double width;            ///< pixels
  std::string_view colour;

  [[nodiscard]] const Envelope& curve() const noexcept { return curves->*part; }
};

/// One of the panels of a joint, which share their time axis.
struct TimePanel {
  std::string label;           ///< of its vertical axis
  std::vector<Line> lines;     ///< from bottom to top: each is narrower than the one below
  std::vector<double> limits;  ///< an infinite one is not drawn
  bool with_zero = false;      ///< the axis includes 0
  std::vector<Line> others{};  ///< of the recording that this is compared with, at times of their own
};

/// Position, velocity, effort and tracking error, as far as recorded. `curves` are of this joint, and must
/// outlive the panels.
[[nodiscard]] std::vector<TimePanel> panels_of(const ReportData& data, std::size_t joint,
                                               const JointCurves& curves);

/// The name of a joint's files: joint_00_elbow.
[[nodiscard]] std::string joint_stem(const ReportData& data, std::size_t joint);

/// The colour of a bus in every plot.
[[nodiscard]] std::string_view bus_colour(std::size_t bus) noexcept;

inline constexpr std::string_view other_colour = "#009e73";  ///< of another recording
inline constexpr std::string_view command_colour = "#9a9a9a";
inline constexpr std::string_view command_tint = "#c0c6cc";    ///< of a broad line below others
inline constexpr std::string_view reference_tint = "#80b9d9";  ///< of areas

}  // namespace takt::tools
