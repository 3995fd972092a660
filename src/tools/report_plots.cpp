#include "tools/report_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "tools/gnuplot.hpp"
#include "tools/report_panels.hpp"
#include "tools/report_tables.hpp"
#include "tools/report_text.hpp"

namespace takt::tools {
namespace {

constexpr std::string_view limit_colour = "#b3261e";
constexpr std::string_view shade = "#f4f6f8";

constexpr int width = 640;
constexpr int panel_height = 122;  // of one of the panels of a joint
constexpr int panel_gap = 26;
constexpr int panels_top = 48;     // above the first one: the key, and the numbers of the sections
constexpr int panels_bottom = 66;  // below the last one: its axis
constexpr int comparison_height = 420;
constexpr int chart_height = 340;

constexpr std::size_t picture_buckets = 640;  ///< of a curve
constexpr std::size_t max_compared = 24;      ///< sections in one figure

/// The gnuplot script of a figure, drawn twice: as SVG for the page, and as PDF for papers.
class Script : public PlotScript {
 public:
  Script(std::string stem, int height) : stem_(std::move(stem)), height_(height) { style(); }

  void data(std::string_view name, const Envelope& curve) { data_.data(name, curve.coarse(picture_buckets)); }
  void data(std::string_view name, const std::vector<Bin>& bins) {
    data_.add("${} << EOD\n", name);
    for (const Bin& bin : bins) {
      if (bin.count > 0) {
        data_.add("{:.9g} {} {:.9g}\n", (bin.low + bin.high) / 2, bin.count, bin.high - bin.low);
      }
    }
    data_.add("EOD\n");
  }
  void data(std::string_view name, std::string_view lines) { data_.add("${} << EOD\n{}EOD\n", name, lines); }

  /// Every bin; an outline bends at its middle. Empty ones lie below any logarithmic axis of counts.
  void outline_data(std::string_view name, const std::vector<Bin>& bins) {
    data_.add("${} << EOD\n", name);
    for (const Bin& bin : bins) {
      data_.add("{:.9g} {:.9g}\n", (bin.low + bin.high) / 2, std::max(static_cast<double>(bin.count), 0.01));
    }
    data_.add("EOD\n");
  }

  [[nodiscard]] std::string take() {
    return fmt::format(
        "{}do for [kind in \"svg pdf\"] {{\nreset\nif (kind eq \"pdf\") {{\n{}}} else {{\n{}}}\nset output "
        "'{}.'.kind\n{}}}\nunset output\n",
        data_.take(), terminal_of("pdf", width, height_), terminal_of("svg", width, height_), stem_,
        PlotScript::take());
  }

 private:
  struct Data : PlotScript {
    Data() = default;
  };
  std::string stem_;
  int height_;
  Data data_;
};

/// Shades every second section and numbers them all, in figures that show the whole recording.
void add_sections(Script& script, const ReportData& data, bool with_numbers) {
  for (std::size_t i = 0; i < data.sections.size(); ++i) {
    const Section& section = data.sections[i];
    if (i % 2 == 0) {
      script.add(
          "set object {} rectangle from {:.6f}, graph 0 to {:.6f}, graph 1 behind fillcolor rgb '{}' "
          "fillstyle solid 1 noborder\n",
          i + 1, std::max(section.begin, 0.0), std::min(section.end, data.duration), shade);
    }
    const double begin = std::max(section.begin, 0.0);
    const double end = std::min(section.end, data.duration);
    if (with_numbers && end - begin > 0.025 * data.duration) {
      script.add("set label {} '{}' at {:.6f}, graph 1.045 center textcolor rgb '#8a929b' font ',11'\n",
                 i + 1, i + 1, (section.begin + section.end) / 2);
    }
  }
}

/// The panel's curves, and those of the other recording below them.
std::vector<Line> all_lines(const TimePanel& panel) {
  std::vector<Line> lines = panel.others;
  lines.insert(lines.end(), panel.lines.begin(), panel.lines.end());
  return lines;
}

/// The range of the curves' values, extended to limits that are close. A distant limit would flatten the
/// curves.
std::pair<double, double> range_of(const TimePanel& panel) {
  double low = panel.with_zero ? 0 : std::numeric_limits<double>::infinity();
  double high = panel.with_zero ? 0 : -low;
  for (const Line& line : all_lines(panel)) {
    for (const Envelope::Point& point : line.curve().coarse(picture_buckets).points()) {
      if (std::isnan(point.value)) continue;
      low = std::min(low, point.value);
      high = std::max(high, point.value);
    }
  }
  if (!(low <= high)) low = high = 0;
  const double near = 0.6 * (high - low);
  const auto [least, most] = std::pair(low - near, high + near);
  for (const double limit : panel.limits) {
    if (limit >= least && limit <= most) {
      low = std::min(low, limit);
      high = std::max(high, limit);
    }
  }
  return {low, high};
}

/// Limits as text; an arrow shows the side of a limit outside the axis.
std::string limits_text(const std::vector<double>& limits, double low, double high) {
  const auto is_drawn = [&](double limit) { return limit >= low && limit <= high; };
  if (limits.size() == 2 && limits[0] == -limits[1]) {
    const bool drawn = is_drawn(limits[0]) || is_drawn(limits[1]);
    return fmt::format("±{:.4g}{}", limits[1], drawn ? "" : " ↕");
  }
  std::vector<std::string> words;
  for (const double limit : limits)
    words.push_back(fmt::format("{:.4g}{}", limit, is_drawn(limit) ? "" : limit > high ? " ↑" : " ↓"));
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Names the limits above the panel, at `height` of the figure, and draws those within the axis.
void add_limits(Script& script, const TimePanel& panel, double low, double high, double height) {
  std::vector<double> limits = panel.limits;
  std::erase_if(limits, [](double limit) { return !std::isfinite(limit); });
  if (limits.empty()) return;
  script.add("set label 'limits: {}' at graph 0, screen {:.5f} left font ',11' textcolor rgb '{}'\n",
             limits_text(limits, low, high), height, limit_colour);
  for (const double limit : limits) {
    if (limit < low || limit > high) continue;
    script.add(
        "set arrow from graph 0, first {0:.9g} to graph 1, first {0:.9g} nohead front linewidth 1.2 dashtype "
        "2 "
        "linecolor rgb '{1}'\n",
        limit, limit_colour);
  }
}

/// `top` and `bottom`, and the `head` with key and limits above it, in parts of the figure's height.
void add_panel(Script& script, const TimePanel& panel, double head, double top, double bottom) {
  script.add("set tmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n", top, bottom);
  // gnuplot's own label would be as far left as the axis's longest number, even outside the picture.
  script.add("set label '{}' at screen 0.022, graph 0.5 center rotate by 90 textcolor rgb '{}'\n",
             panel.label, ink);
  const auto [low, high] = range_of(panel);
  script.value_range(low, high);
  add_limits(script, panel, low, high, head);
  script.add("set key at screen 0.985, screen {:.5f} right center horizontal\n", head);
  std::vector<std::string> curves;
  for (const Line& line : all_lines(panel)) {
    // A sample alone has no line.
    const bool is_alone = line.curve().coarse(picture_buckets).points().size() == 1;
    curves.push_back(fmt::format("${} with {} lw {} lc rgb '{}' {}", line.name,
                                 is_alone ? "points pt 7 ps 0.5" : "lines", line.width, line.colour,
                                 line.title.empty() ? "notitle" : fmt::format("title '{}'", line.title)));
  }
  script.add("plot {}\nunset label\nunset arrow\n", fmt::join(curves, ", "));
}

/// Position, velocity, effort (if the drive reports it) and tracking error, over the same time.
std::string joint_script(const std::string& stem, const ReportData& data, std::size_t joint,
                         const JointCurves& curves, double begin, double end, bool whole) {
  const std::vector<TimePanel> panels = panels_of(data, joint, curves);
  const int count = static_cast<int>(panels.size());
  const int height = panels_top + count * panel_height + (count - 1) * panel_gap + panels_bottom;
  const auto from_top = [height](int pixels) { return 1 - static_cast<double>(pixels) / height; };
  Script script(stem, height);
  for (const TimePanel& panel : panels) {
    for (const Line& line : all_lines(panel)) script.data(line.name, line.curve());
  }
  script.add("set multiplot\nset lmargin at screen 0.125\nset rmargin at screen 0.975\n");
  script.add("set xrange [{:.6f}:{:.6f}]\n", begin, end > begin ? end : begin + 1);
  script.add("set xzeroaxis linewidth 1 linetype 1 linecolor rgb '{}'\nset format x ''\n", rule);
  if (whole) add_sections(script, data, true);
  for (int i = 0; i < count; ++i) {
    if (i == count - 1) {
      script.add("set format x '%g'\n");
      script.axis('x', "time (s)");
    }
    const int top = panels_top + i * (panel_height + panel_gap);
    add_panel(script, panels[static_cast<std::size_t>(i)], from_top(i == 0 ? 14 : top - panel_gap / 2),
              from_top(top), from_top(top + panel_height));
  }
  script.add("unset multiplot\n");
  return script.take();
}

Figure close_up_figure(const ReportData& data, const CloseUp& close_up, std::size_t number) {
  const bool marked = !data.sections.empty();
  const Section& section = marked ? data.sections[close_up.section] : data.whole;
  const Tracking& tracking = section.joints[close_up.joint];
  const std::string& joint = data.metadata.joints[close_up.joint];
  const Unit& unit = data.unit(close_up.joint);
  Figure figure;
  figure.stem = fmt::format("closeup_{:02}", number);
  figure.title = marked ? fmt::format("{} · {}. {}", joint, close_up.section + 1, section.name)
                        : fmt::format("{} at its fastest", joint);
  const Moments& error = tracking.by_goal ? tracking.command_error : tracking.reference_error;
  figure.caption = fmt::format(
      "The fastest joint around its fastest moment ({:.1f} {}): over the whole section the measured "
      "position differs from its {} by {:.3f}{} (standard deviation; {:.3f}{} at most).",
      tracking.top_speed, unit.speed, tracking.by_goal ? "command" : "reference", error.deviation(),
      unit.suffix, error.max_magnitude(), unit.suffix);
  figure.script =
      joint_script(figure.stem, data, close_up.joint, close_up.curves, close_up.begin, close_up.end, false);
  return figure;
}

/// Standard deviations per section, to compare different commands.
Figure comparison_figure(const ReportData& data, const std::vector<std::size_t>& sections) {
  Figure figure;
  figure.stem = "tracking_by_section";
  figure.title = "Tracking error, section by section";
  figure.caption =
      "Standard deviation of the tracking error over all rotary joints that moved, on a logarithmic axis. "
      "The "
      "error counts from the command, and from the reference that was sent to the drive.";
  const std::size_t rows = sections.size();
  Script script(figure.stem, std::max(comparison_height, 120 + 34 * static_cast<int>(rows)));
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  std::vector<std::string> tics;
  std::string points;
  for (std::size_t row = 0; row < rows; ++row) {
    const Section& section = data.sections[sections[row]];
    const Tracking all = data.together(section);
    const double command = std::max(all.command_error.deviation(), 1e-6);
    const double reference = std::max(all.reference_error.deviation(), 1e-6);
    low = std::min({low, command, reference});
    high = std::max({high, command, reference});
    tics.push_back(fmt::format("'{}. {}' {}", sections[row] + 1, plot_label(section.name), rows - row));
    points += fmt::format("{} {:.6g} {:.6g}\n", rows - row, command, reference);
  }
  script.data("errors", points);
  script.add(
      "set yrange [0.4:{}.6]\nset ytics ({}) font ',12'\nset logscale x\nset xrange [{:.6g}:{:.6g}]\nset "
      "format x '%g'\n",
      rows, fmt::join(tics, ", "), low / 2, high * 2.5);
  script.axis('x', "standard deviation (°)");
  script.add(
      "set border 1\nplot $errors using 2:1 with points pt 7 ps 1.1 lc rgb '{0}' title 'command − measured', "
      "'' using 3:1 with points pt 7 ps 0.8 lc rgb '{1}' title 'reference − measured', "
      "'' using 2:1:(sprintf('%.3f', $2)) with labels left offset 1,0.05 font ',11' textcolor rgb '{2}' "
      "notitle, "
      "'' using 3:1:(abs($3 - $2) > 0.2 * $2 ? sprintf('%.3f', $3) : '') with labels left offset 1,0.05 "
      "font ',11' textcolor rgb '{2}' notitle\n",
      command_colour, reference_colour, ink);
  figure.script = script.take();
  return figure;
}

/// What the recording tells of a joint, in a sentence.
std::string joint_caption(const ReportData& data, std::size_t joint) {
  const Tracking& tracking = data.whole.joints[joint];
  const std::string_view suffix = data.unit(joint).suffix;
  if (tracking.reference_error.count() > 0) {
    return fmt::format(
        "{}ravels {:.1f}{unit} and stays within {:.3f}{unit} of its reference (standard deviation "
        "{:.3f}{unit}).",
        tracking.by_goal ? "T" : "No goal moved it. It t",
        tracking.by_goal ? tracking.reference_max - tracking.reference_min : tracking.measured.width(),
        tracking.reference_error.max_magnitude(), tracking.reference_error.deviation(),
        fmt::arg("unit", suffix));
  }
  if (tracking.measured.max < tracking.measured.min) return "No position is recorded.";
  return fmt::format("Measured from {:.5g}{unit} to {:.5g}{unit}. No reference is recorded.",
                     tracking.measured.min, tracking.measured.max, fmt::arg("unit", suffix));
}

Figure joint_figure(const ReportData& data, std::size_t joint) {
  Figure figure;
  figure.stem = joint_stem(data, joint);
  figure.title = data.metadata.joints[joint];
  figure.caption = joint_caption(data, joint);
  figure.script = joint_script(figure.stem, data, joint, data.curves[joint], 0, data.duration, true);
  return figure;
}

/// A vertical line with a label at its top; `row` separates the labels of neighbours.
void add_line(Script& script, double x, std::string_view label, std::size_t row) {
  script.add(
      "set arrow from {0:.9g}, graph 0 to {0:.9g}, graph {1:.3f} nohead front linewidth 1 dashtype 2 "
      "linecolor rgb "
      "'{2}'\n",
      x, 1.0 - 0.065 * static_cast<double>(row), ink);
  script.add(
      "set label '{}' at {:.9g}, graph {:.3f} left offset 0.4,-0.3 front font ',11' textcolor rgb '{}'\n",
      label, x, 1.0 - 0.065 * static_cast<double>(row), ink);
}

void logarithmic_counts(Script& script) {
  script.add("set logscale y\nset yrange [0.7:*]\nset format y '%g'\n");
}

Figure lateness_figure(const ReportData& data, const Quantiles& lateness) {
  Figure figure;
  figure.stem = "loop_lateness";
  figure.title = "Lateness of the loop";
  figure.caption = fmt::format(
      "The loop woke {} late in the median, {} at p99 and {} at worst, in {} cycles{}.",
      duration_text(lateness.p50), duration_text(lateness.p99), duration_text(lateness.max), lateness.count,
      data.overruns() ? fmt::format("; {} periods were missed in total", *data.overruns()) : "");
  Script script(figure.stem, chart_height);
  const double low = 0.01;
  const auto bins = log_histogram(data.whole.lateness, low, 20);
  script.data("lateness", bins);
  logarithmic_counts(script);
  script.add("set logscale x\nset xrange [{:.9g}:{:.9g}]\n", std::max(low, lateness.min * 0.6),
             std::max(bins.back().high * 1.6, low * 100));
  script.axis('x', "woken after the due time (µs)");
  script.axis('y', "cycles");
  add_line(script, std::max(lateness.p50, low), "p50", 0);
  add_line(script, std::max(lateness.p99, low), "p99", 1);
  add_line(script, std::max(lateness.p999, low), "p99.9", 2);
  add_line(script, std::max(lateness.max, low), "max", 3);
  script.add("unset key\nplot $lateness using 1:2:3 with boxes lc rgb '{}'\n", reference_tint);
  figure.script = script.take();
  return figure;
}

Figure busy_figure(const ReportData& data, const Quantiles& busy) {
  Figure figure;
  figure.stem = "loop_busy";
  figure.title = "Work of the loop";
  figure.caption = fmt::format("The work of a cycle took {} in the median, {} at p99 and {} at most.",
                               duration_text(busy.p50), duration_text(busy.p99), duration_text(busy.max));
  Script script(figure.stem, chart_height);
  script.data("busy", log_histogram(data.busy, 0.01, 20));
  logarithmic_counts(script);
  script.add("set logscale x\n");
  script.axis('x', "work of a cycle (µs)");
  script.axis('y', "cycles");
  script.add("unset key\nplot $busy using 1:2:3 with boxes lc rgb '{}'\n", reference_tint);
  figure.script = script.take();
  return figure;
}

Figure period_figure(const ReportData& data) {
  const Quantiles period = quantiles(data.periods);
  const Quantiles busy = quantiles(data.busy);
  const double nominal = static_cast<double>(data.metadata.period.count()) * 1e-3;
  Figure figure;
  figure.stem = "loop_period";
  figure.title = "Period of the loop";
  figure.caption = fmt::format(
      "The time between two wake-ups was {} in the median, {} at least and {} at most (nominal: {}); the "
      "work of a cycle took {} at p99 and {} at most.",
      duration_text(period.p50), duration_text(period.min), duration_text(period.max), duration_text(nominal),
      duration_text(busy.p99), duration_text(busy.max));
  Script script(figure.stem, chart_height);
  const double reach = 1.04 * std::max({nominal - period.min, period.max - nominal, nominal * 1e-3});
  script.data("period", linear_histogram(data.periods, nominal - reach, nominal + reach, 151));
  logarithmic_counts(script);
  script.add("set xrange [{:.9g}:{:.9g}]\nset format x '%g'\n", (nominal - reach) * 1e-3,
             (nominal + reach) * 1e-3);
  script.axis('x', "time between wake-ups (ms)");
  script.axis('y', "cycles");
  script.add("unset key\nplot $period using ($1*1e-3):2:($3*1e-3) with boxes lc rgb '{}'\n", reference_tint);
  figure.script = script.take();
  return figure;
}

Figure latency_figure(const ReportData& data) {
  const Quantiles hand_over = quantiles(data.whole.hand_over_latency);
  const Quantiles received = quantiles(data.whole.received_latency);
  const double nominal = static_cast<double>(data.metadata.period.count()) * 1e-3;
  Figure figure;
  figure.stem = "latency";
  figure.title = "From a request to its first reference";
  figure.caption = fmt::format(
      "After its hand-over, a request had its first reference on the bus within {} at p99 and {} at worst. "
      "One "
      "period is {}",
      duration_text(hand_over.p99), duration_text(hand_over.max), duration_text(nominal));
  figure.caption += received.count > 0 ? fmt::format("; counted from its last byte on the socket, {} and {}.",
                                                     duration_text(received.p99), duration_text(received.max))
                                       : ".";
  Script script(figure.stem, chart_height);
  const double high = 1.04 * std::max({hand_over.max, received.max, nominal});
  script.data("hand_over", linear_histogram(data.whole.hand_over_latency, 0, high, 90));
  script.outline_data("received", linear_histogram(data.whole.received_latency, 0, high, 90));
  logarithmic_counts(script);
  script.add("set xrange [0:{:.9g}]\n", high * 1e-3);
  script.axis('x', "latency (ms)");
  script.axis('y', "requests");
  script.add(
      "set arrow from {0:.9g}, graph 0 to {0:.9g}, graph 1 nohead front linewidth 1 dashtype 2 linecolor rgb "
      "'{1}'\n"
      "set label 'one period' at {0:.9g}, graph 0.96 right offset -0.5,0 front font ',11' textcolor rgb "
      "'{1}'\n",
      nominal * 1e-3, ink);
  std::vector<std::string> curves;
  if (hand_over.count > 0) {
    curves.push_back(
        fmt::format("$hand_over using ($1*1e-3):2:($3*1e-3) with boxes lc rgb '{}' title 'from hand-over'",
                    reference_tint));
  }
  if (received.count > 0) {
    curves.push_back(
        fmt::format("$received using ($1*1e-3):2 with histeps lw 1.8 lc rgb '{}' title 'from the socket'",
                    measured_colour));
  }
  script.add("plot {}\n", fmt::join(curves, ", "));
  figure.script = script.take();
  return figure;
}

Figure bus_figure(const ReportData& data) {
  Figure figure;
  figure.stem = "bus_load";
  figure.title = "Load of the buses";
  std::vector<std::string> parts;
  Script script(figure.stem, chart_height);
  std::vector<std::string> curves;
  for (std::size_t i = 0; i < data.buses.size(); ++i) {
    const BusCurve& bus = data.buses[i];
    script.data(fmt::format("bus{}", i), bus.percent);
    curves.push_back(fmt::format("$bus{} with lines lw 1.6 lc rgb '{}' title '{}'", i, bus_colour(i),
                                 plot_label(data.metadata.buses[i])));
    parts.push_back(fmt::format("{} {:.0f} % in the mean and {:.0f} % at most", data.metadata.buses[i],
                                100 * bus.load.mean(), 100 * bus.load.max_magnitude()));
  }
  figure.caption =
      fmt::format("Share of the time in which each bus carried bits: {}.", fmt::join(parts, ", "));
  add_sections(script, data, true);
  script.add("set xrange [0:{:.6f}]\nset yrange [0:100]\n", std::max(data.duration, 1e-3));
  script.axis('x', "time (s)");
  script.axis('y', "bus load (%)");
  script.add("set tmargin 3.2\nset key at screen 0.985, screen 0.985 right top horizontal\n");
  script.add("plot {}\n", fmt::join(curves, ", "));
  figure.script = script.take();
  return figure;
}

/// Gain above phase, over the same logarithmic frequencies.
Figure bode_figure(const ReportData& data, const BodePlot& bode) {
  const std::string& joint = data.metadata.joints[bode.joint];
  const auto [slowest, fastest] = std::pair(bode.points.front(), bode.points.back());
  Figure figure;
  figure.stem = "bode_" + file_stem(joint);
  figure.title = "Bode plot of " + joint;
  figure.caption = fmt::format(
      "The measured position per reference, from {:.3g} Hz ({:.2f} dB, {:.1f}°) to {:.3g} Hz ({:.2f} dB, "
      "{:.1f}°), in all cycles of the recording.",
      slowest.frequency, slowest.gain, slowest.phase, fastest.frequency, fastest.gain, fastest.phase);
  Script script(figure.stem, comparison_height);
  std::string lines;
  for (const controllers::ResponsePoint& point : bode.points)
    lines += fmt::format("{:.9g} {:.9g} {:.9g}\n", point.frequency, point.gain, point.phase);
  script.data("response", lines);
  script.add("set multiplot layout 2,1\nset logscale x\nunset key\nset lmargin 9\n");
  script.axis('y', "gain (dB)");
  script.add("plot $response using 1:2 with linespoints pt 7 ps 0.3 lc rgb '{}'\n", measured_colour);
  script.axis('x', "frequency (Hz)");
  script.axis('y', "phase (°)");
  script.add("plot $response using 1:3 with linespoints pt 7 ps 0.3 lc rgb '{}'\nunset multiplot\n",
             measured_colour);
  figure.script = script.take();
  return figure;
}

}  // namespace

std::vector<Chapter> make_figures(const ReportData& data) {
  std::vector<Chapter> chapters;
  if (data.bode && !data.bode->points.empty())
    chapters.push_back({"Frequency response", {bode_figure(data, *data.bode)}});
  Chapter closer{"A closer look", {}};
  std::vector<std::size_t> moving;
  for (std::size_t i = 0; i < data.sections.size() && moving.size() < max_compared; ++i) {
    if (data.together(data.sections[i]).reference_error.count() > 0) moving.push_back(i);
  }
  if (moving.size() > 1) closer.figures.push_back(comparison_figure(data, moving));
  for (std::size_t i = 0; i < data.close_ups.size(); ++i) {
    closer.figures.push_back(close_up_figure(data, data.close_ups[i], i + 1));
    closer.figures.back().close_up = i;
  }
  chapters.push_back(std::move(closer));

  Chapter timing{"Timing", {}};
  if (!data.whole.hand_over_latency.empty() || !data.whole.received_latency.empty()) {
    timing.figures.push_back(latency_figure(data));
  }
  if (const Quantiles lateness = quantiles(data.whole.lateness); lateness.max > 0) {
    timing.figures.push_back(lateness_figure(data, lateness));
    timing.figures.push_back(period_figure(data));
  }
  if (const Quantiles busy = quantiles(data.busy); busy.max > 0)
    timing.figures.push_back(busy_figure(data, busy));
  const auto seen = [](const BusCurve& bus) { return bus.load.count() > 0; };
  if (std::any_of(data.buses.begin(), data.buses.end(), seen)) timing.figures.push_back(bus_figure(data));
  chapters.push_back(std::move(timing));

  Chapter joints{"Every joint", {}};
  for (std::size_t i = 0; i < data.curves.size(); ++i) {
    if (data.curves[i].has_data()) joints.figures.push_back(joint_figure(data, i));
  }
  chapters.push_back(std::move(joints));
  std::erase_if(chapters, [](const Chapter& chapter) { return chapter.figures.empty(); });
  return chapters;
}

SetupResult<void> draw(const std::vector<Chapter>& chapters, const std::filesystem::path& directory) {
  std::vector<std::string> scripts;
  for (const Chapter& chapter : chapters) {
    for (const Figure& figure : chapter.figures) {
      const std::string name = figure.stem + ".gp";
      // All scripts run in one gnuplot: each starts with a reset.
      if (auto done = write_file(directory / name, "reset session\n" + figure.script); !done) return done;
      scripts.push_back(name);
    }
  }
  if (scripts.empty()) return {};
  return run_gnuplot(scripts, directory);
}

}  // namespace takt::tools
