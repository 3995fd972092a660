#include "tools/report_live.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "tools/gnuplot.hpp"
#include "tools/report_panels.hpp"
#include "tools/report_text.hpp"

namespace takt::tools {
namespace {

using Json = nlohmann::ordered_json;
using Points = std::vector<Envelope::Point>;

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i) word = word << 8 | (i < count ? bytes[at + i] : 0U);
    for (std::size_t i = 0; i < 4; ++i) result += i <= count ? digits[word >> (18 - 6 * i) & 63] : '=';
  }
  return result;
}

template <class Float, class Bits>
std::string base64_of(std::span<const double> values) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(values.size() * sizeof(Float));
  for (const double value : values) {
    const auto bits = std::bit_cast<Bits>(static_cast<Float>(value));
    for (std::size_t i = 0; i < sizeof(Float); ++i)
      bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i) & 0xff));
  }
  return base64(bytes);
}

std::string base64_floats(std::span<const double> values) { return base64_of<float, std::uint32_t>(values); }
std::string base64_doubles(std::span<const double> values) {
  return base64_of<double, std::uint64_t>(values);
}

std::vector<double> times_of(const Points& points) {
  std::vector<double> times;
  for (const Envelope::Point& point : points) times.push_back(point.time);
  return times;
}

std::vector<double> values_of(const Points& points) {
  std::vector<double> values;
  for (const Envelope::Point& point : points) values.push_back(point.value);
  return values;
}

/// A curve of a joint: each sample where the page has them, otherwise thinned.
Points points_of(const ReportData& data, std::size_t joint, Envelope JointCurves::*part) {
  Points points;
  for (const Stretch& stretch : data.stretches) {
    const Points more = (stretch.curves[joint].*part).aligned_points();
    points.insert(points.end(), more.begin(), more.end());
  }
  return points;
}

/// The time axes of all plots. Those with equal times share one.
class TimeAxes {
 public:
  /// The number of the axis.
  [[nodiscard]] std::size_t add(std::span<const double> times) {
    std::string text = base64_doubles(times);
    const auto known = std::ranges::find(texts_, text);
    if (known != texts_.end()) return static_cast<std::size_t>(known - texts_.begin());
    texts_.push_back(std::move(text));
    return texts_.size() - 1;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  std::vector<std::string> texts_;
};

Json series_of(std::string_view label, std::string_view colour, double line_width,
               std::span<const double> values) {
  return {{"label", printable(label)},
          {"colour", colour},
          {"width", line_width},
          {"values", base64_floats(values)}};
}

std::string label_of(const Line& line) {
  std::string label(line.title.empty() ? line.name : line.title);
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

Json finite(const std::vector<double>& limits) {
  Json result = Json::array();
  for (const double limit : limits) {
    if (std::isfinite(limit)) result.push_back(limit);
  }
  return result;
}

Json panel_json(const ReportData& data, std::size_t joint, const TimePanel& panel, TimeAxes& axes) {
  Json series = Json::array();
  std::vector<double> times;
  for (const Line& line : panel.lines) {
    const Points points = points_of(data, joint, line.part);
    if (times.empty()) times = times_of(points);
    series.push_back(series_of(label_of(line), line.colour, line.width, values_of(points)));
  }
  Json tables = Json::array({{{"x", axes.add(times)}, {"series", std::move(series)}}});
  for (const Line& line : panel.others) {
    const Points points = points_of(*data.against->data, *data.joint_there(joint), line.part);
    Json other = Json::array({series_of(label_of(line), line.colour, line.width, values_of(points))});
    tables.push_back({{"x", axes.add(times_of(points))}, {"series", std::move(other)}});
  }
  return {{"label", panel.label}, {"limits", finite(panel.limits)}, {"tables", std::move(tables)}};
}

Json joint_json(const ReportData& data, std::size_t joint, TimeAxes& axes) {
  Json result = Json::array();
  for (const TimePanel& panel : panels_of(data, joint, data.curves[joint]))
    result.push_back(panel_json(data, joint, panel, axes));
  return {{"kind", "time"}, {"panels", std::move(result)}};
}

/// Where curves have only the lowest and the highest of so many samples.
Json thinned_json(double begin, double end, const Envelope& curve) {
  const std::size_t samples = curve.samples_per_bucket();
  if (samples == 1) return Json::array();
  return Json::array({{{"begin", begin}, {"end", end}, {"samples", samples}}});
}

/// The thinned parts of the curves of all joints.
Json thinned_json(const ReportData& data) {
  Json all = Json::array();
  for (const Stretch& stretch : data.stretches) {
    if (stretch.curves.empty()) continue;
    for (Json& part : thinned_json(stretch.begin, stretch.end, stretch.curves.front().measured))
      all.push_back(std::move(part));
  }
  return all;
}

Json buses_json(const ReportData& data, TimeAxes& axes) {
  Json series = Json::array();
  std::vector<double> times;
  for (std::size_t i = 0; i < data.buses.size(); ++i) {
    const Points points = data.buses[i].percent.aligned_points();
    if (i == 0) times = times_of(points);
    series.push_back(series_of(data.metadata.buses[i], bus_colour(i), 1.6, values_of(points)));
  }
  Json panel{{"label", "bus load (%)"},
             {"limits", Json::array()},
             {"tables", Json::array({{{"x", axes.add(times)}, {"series", std::move(series)}}})}};
  return {{"kind", "time"},
          {"panels", Json::array({std::move(panel)})},
          {"thinned", thinned_json(0, data.duration, data.buses.front().percent)}};
}

/// A histogram of microseconds with a bar for each bin that is not empty.
Json histogram_json(const std::vector<Bin>& bins, std::string_view label, TimeAxes& axes) {
  std::vector<double> middles, counts;
  for (const Bin& bin : bins) {
    if (bin.count == 0) continue;
    middles.push_back((bin.low + bin.high) / 2);
    counts.push_back(static_cast<double>(bin.count));
  }
  Json series = Json::array({series_of("cycles", reference_colour, 1, counts)});
  Json panel{{"label", label},
             {"limits", Json::array()},
             {"tables", Json::array({{{"x", axes.add(middles)}, {"series", std::move(series)}}})}};
  return {{"kind", "histogram"}, {"panels", Json::array({std::move(panel)})}};
}

Json goals_json(const ReportData& data) {
  Json goals = Json::array();
  for (std::size_t i = 0; i < std::min(data.goals.size(), max_goal_bars); ++i) {
    const GoalRow& goal = data.goals[i];
    const std::string state = data.goal_state(goal.state);
    goals.push_back({{"label", printable(fmt::format("{} {}", goal.goal, state))},
                     {"begin", goal.begin},
                     {"end", goal.end},
                     {"failed", state == "aborted" || state == "rejected"}});
  }
  return goals;
}

/// The robot's states, each until the next. A stop is one with a fault.
Json states_json(const ReportData& data) {
  Json states = Json::array();
  for (std::size_t i = 0; i < data.state_changes.size(); ++i) {
    const StateChange& change = data.state_changes[i];
    const bool is_last = i + 1 == data.state_changes.size();
    std::string label = data.robot_state(change.state);
    if (change.reason != 0) label += ": " + data.reason(change.reason);
    states.push_back({{"label", printable(label)},
                      {"begin", change.time},
                      {"end", is_last ? data.duration : data.state_changes[i + 1].time},
                      {"stop", data.is_stop(i)}});
  }
  return states;
}

/// Calls visit(stem, make) for each figure; make(axes) gives its JSON.
template <class Visitor>
void for_each_figure(const ReportData& data, Visitor&& visit) {
  if (!data.goals.empty() || !data.state_changes.empty())
    visit(std::string(timeline_stem), [](TimeAxes&) { return Json{{"kind", "goals"}}; });
  for (std::size_t i = 0; i < data.curves.size(); ++i) {
    if (data.curves[i].has_data())
      visit(joint_stem(data, i), [&](TimeAxes& axes) { return joint_json(data, i, axes); });
  }
  const auto visit_histogram = [&](const char* stem, const std::vector<double>& values, const char* label) {
    if (quantiles(values).max > 0)
      visit(stem,
            [&](TimeAxes& axes) { return histogram_json(log_histogram(values, 0.01, 20), label, axes); });
  };
  visit_histogram("loop_lateness", data.whole.lateness, "woken after the due time (µs)");
  visit_histogram("loop_busy", data.busy, "work of a cycle (µs)");
  if (!data.buses.empty()) visit("bus_load", [&](TimeAxes& axes) { return buses_json(data, axes); });
}

}  // namespace

bool is_live(const ReportData& data, std::string_view stem) {
  bool found = false;
  for_each_figure(data, [&](std::string_view other, const auto&) { found = found || other == stem; });
  return found;
}

std::string live_json(const ReportData& data) {
  Json figures = Json::object();
  TimeAxes axes;
  for_each_figure(data, [&](const std::string& name, const auto& make) { figures[name] = make(axes); });
  Json sections = Json::array();
  for (const Section& section : data.sections) {
    sections.push_back({{"name", printable(section.name)}, {"begin", section.begin}, {"end", section.end}});
  }
  const Json root{{"duration", data.duration},     {"sections", std::move(sections)},
                  {"goals", goals_json(data)},     {"states", states_json(data)},
                  {"thinned", thinned_json(data)}, {"axes", axes.texts()},
                  {"figures", std::move(figures)}};
  std::string text = root.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
    text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace takt::tools
