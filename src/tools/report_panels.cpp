#include "tools/report_panels.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "tools/gnuplot.hpp"
#include "tools/report_text.hpp"

namespace takt::tools {
namespace {

constexpr double visible_gap = 0.02;  // ° or mm: a command closer to its reference than this is not drawn

TimePanel position_panel(const ReportData& data, std::size_t joint, const JointCurves& curves,
                         bool show_command) {
  const Unit& unit = data.unit(joint);
  const JointLimits limits = data.limits(joint);
  TimePanel panel{fmt::format("position ({})", unit.name),
                  {},
                  {unit.scale * limits.position_min, unit.scale * limits.position_max}};
  if (show_command)
    panel.lines.push_back({"command", &curves, &JointCurves::command, "command", 4.5, command_tint});
  panel.lines.push_back({"reference", &curves, &JointCurves::reference, "reference", 2.8, reference_tint});
  panel.lines.push_back({"measured", &curves, &JointCurves::measured, "measured", 1.1, measured_colour});
  return panel;
}

TimePanel error_panel(const ReportData& data, std::size_t joint, const JointCurves& curves,
                      bool show_command) {
  const Unit& unit = data.unit(joint);
  const double limit = unit.scale * data.following_error(joint);
  TimePanel panel{fmt::format("error ({})", unit.name), {}, {-limit, limit}, true};
  if (show_command)
    panel.lines.push_back(
        {"command_error", &curves, &JointCurves::command_error, "command − measured", 3.2, command_tint});
  panel.lines.push_back({"reference_error", &curves, &JointCurves::reference_error, "reference − measured",
                         1.4, reference_colour});
  return panel;
}

/// Drops the curves of which the joint has no value, and the panels without a curve.
void drop_empty(std::vector<TimePanel>& panels, const std::vector<std::vector<bool>>& has_values) {
  for (std::size_t i = 0; i < panels.size(); ++i) {
    std::vector<Line> kept;
    for (std::size_t k = 0; k < panels[i].lines.size(); ++k) {
      if (has_values[i][k]) kept.push_back(panels[i].lines[k]);
    }
    panels[i].lines = std::move(kept);
  }
  std::erase_if(panels, [](const TimePanel& panel) { return panel.lines.empty(); });
}

std::vector<std::vector<bool>> with_values(const std::vector<TimePanel>& panels) {
  std::vector<std::vector<bool>> result;
  for (const TimePanel& panel : panels) {
    std::vector<bool>& lines = result.emplace_back();
    for (const Line& line : panel.lines) lines.push_back(line.curve().has_values());
  }
  return result;
}

/// The curves of the same joint in another recording. The first panel is of the position, the last of the
/// error.
void add_others(std::vector<TimePanel>& panels, const JointCurves& other) {
  panels.front().others.push_back(
      {"other_measured", &other, &JointCurves::measured, "other recording", 1.1, other_colour});
  panels[1].others.push_back(
      {"other_velocity", &other, &JointCurves::measured_velocity, "", 1.1, other_colour});
  if (panels.size() == 4)
    panels[2].others.push_back(
        {"other_effort", &other, &JointCurves::measured_effort, "", 1.1, other_colour});
  panels.back().others.push_back(
      {"other_error", &other, &JointCurves::reference_error, "other recording", 1.1, other_colour});
}

std::vector<TimePanel> all_panels_of(const ReportData& data, std::size_t joint, const JointCurves& curves) {
  const bool show_command = data.whole.joints[joint].command_gap > visible_gap;
  const Unit& unit = data.unit(joint);
  const JointLimits limits = data.limits(joint);
  const auto both_ways = [](double limit) { return std::vector<double>{-limit, limit}; };
  std::vector<TimePanel> panels;
  panels.push_back(position_panel(data, joint, curves, show_command));
  panels.push_back(
      {fmt::format("velocity ({})", unit.speed),
       {{"reference_velocity", &curves, &JointCurves::reference_velocity, "", 2.8, reference_tint},
        {"measured_velocity", &curves, &JointCurves::measured_velocity, "", 1.1, measured_colour}},
       both_ways(unit.scale * limits.velocity),
       true});
  if (data.curves[joint].tells_effort) {
    panels.push_back({fmt::format("effort ({})", unit.effort),
                      {{"measured_effort", &curves, &JointCurves::measured_effort, "", 1.1, measured_colour}},
                      both_ways(limits.effort),
                      true});
  }
  panels.push_back(error_panel(data, joint, curves, show_command));
  if (const auto there = data.joint_there(joint)) add_others(panels, data.against->data->curves[*there]);
  return panels;
}

}  // namespace

/// A part of a joint's curves has the same panels as the whole.
std::vector<TimePanel> panels_of(const ReportData& data, std::size_t joint, const JointCurves& curves) {
  std::vector<TimePanel> panels = all_panels_of(data, joint, curves);
  drop_empty(panels, with_values(all_panels_of(data, joint, data.curves[joint])));
  return panels;
}

std::string joint_stem(const ReportData& data, std::size_t joint) {
  return fmt::format("joint_{:02}_{}", joint, file_stem(data.metadata.joints[joint]));
}

std::string_view bus_colour(std::size_t bus) noexcept {
  constexpr std::array<std::string_view, 6> colours{"#0072b2", "#d55e00", "#009e73",
                                                    "#cc79a7", "#e69f00", "#56b4e9"};
  return colours[bus % colours.size()];
}

}  // namespace takt::tools
