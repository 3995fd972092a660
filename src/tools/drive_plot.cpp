#include "tools/drive_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "takt/record/error.hpp"
#include "tools/gnuplot.hpp"
#include "tools/report_tables.hpp"
#include "tools/report_text.hpp"

namespace takt::tools {
namespace {

constexpr int plot_width = 1000;
constexpr int plot_height = 900;
constexpr std::size_t max_places = 8000;
constexpr std::size_t max_stops = 10;  ///< the space beside the path

// From above.
constexpr Panel path_panel{0.97, 0.545};
constexpr double path_right = 0.57;
constexpr Panel speed_panel{0.455, 0.335};
constexpr Panel steering_panel{0.29, 0.19};
constexpr Panel age_panel{0.15, 0.055};

}  // namespace

SetupResult<DrivePlot> DrivePlot::open(const std::string& file) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  const bool named = file.ends_with(".png") || file.ends_with(".svg");
  if (!named || std::ranges::any_of(file, is_control))
    return fail(record::Errc::write_failed, file + ": a picture must be a .png or .svg file");
  const DrivePlot plot{std::filesystem::path(file)};
  if (auto begun = plot.run(plot.script()); !begun) {
    std::error_code ignored;
    std::filesystem::remove(file + ".gp", ignored);
    return tl::unexpected<SetupError>(begun.error());
  }
  return plot;
}

void DrivePlot::add(const DriveView& view) {
  if (!begin_) begin_ = view.time;
  end_ = to_seconds(view.time - *begin_);
  if (view.estimate.stamp != Time{}) add_place({view.estimate.pose.x, view.estimate.pose.y});
  add_stop(view, end_);
  speed_.add(end_, view.speed.value_or(NAN));
  told_steering_.add(end_, view.command.steering);
  steering_.add(end_, view.steering.value_or(NAN));
  age_.add(end_, seconds_old(view));
}

void DrivePlot::add_place(Place place) {
  if (!path_.empty() && std::hypot(place.x - path_.back().x, place.y - path_.back().y) < spacing_) return;
  path_.push_back(place);
  if (path_.size() < max_places) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < path_.size(); i += 2) path_[kept++] = path_[i];
  path_.resize(kept);
  spacing_ *= 2;
}

void DrivePlot::add_stop(const DriveView& view, double time) {
  const bool stops =
      view.state == vehicle::SupervisorState::stopping || view.state == vehicle::SupervisorState::stopped;
  const bool begins = stops && view.reason != reason_;
  reason_ = stops ? view.reason : vehicle::StopReason{};
  if (begins && ++stop_count_ <= max_stops)
    stops_.push_back({time, {}, std::string(to_string(view.reason.cause)), std::string(view.system)});
  if (stops && !stops_.empty() && stop_count_ == stops_.size())
    stops_.back().place = {view.estimate.pose.x, view.estimate.pose.y};
}

SetupResult<void> DrivePlot::draw() const {
  PlotScript picture = script();
  picture.add("set multiplot\nset lmargin at screen 0.08\n");
  draw_path(picture);
  draw_curves(picture);
  picture.add("unset multiplot\n");
  return run(std::move(picture));
}

PlotScript DrivePlot::script() const {
  return PlotScript(file_.filename().string(), plot_width, plot_height);
}

void DrivePlot::draw_path(PlotScript& script) const {
  Place low;
  Place high;
  script.add("$path << EOD\n");
  for (const Place& place : path_) {
    script.add("{:.3f} {:.3f}\n", place.x, place.y);
    low = {std::min(low.x, place.x), std::min(low.y, place.y)};
    high = {std::max(high.x, place.x), std::max(high.y, place.y)};
  }
  script.add("{}EOD\n", path_.empty() ? "NaN NaN\n" : "");
  list_stops(script);
  script.panel(path_panel, path_right);
  const double span = std::max(high.x - low.x, high.y - low.y);
  const double room = 0.05 * std::max(span, 10.0);
  script.add("set size ratio -1\nset xrange [{:.3f}:{:.3f}]\nset yrange [{:.3f}:{:.3f}]\n", low.x - room,
             high.x + room, low.y - room, high.y + room);
  script.axis('x', "x (m), odom");
  script.axis('y', "y (m)");
  const std::vector<std::string> labels = numbers(0.04 * (span + 2 * room));
  for (std::size_t i = 0; i < stops_.size(); ++i) {
    script.add(
        "set label '{}' at {:.3f}, {:.3f} point pointtype 7 pointsize 0.9 linecolor rgb '{}' left offset "
        "0.6,0.6 front textcolor rgb '{}'\n",
        labels[i], stops_[i].place.x, stops_[i].place.y, measured_colour, measured_colour);
  }
  script.add(
      "unset key\nplot $path with lines linewidth 1.6 linecolor rgb '{}'\nset size noratio\nset ytics "
      "autofreq\n",
      reference_colour);
}

std::vector<std::string> DrivePlot::numbers(double near) const {
  std::vector<std::string> labels(stops_.size());
  for (std::size_t i = 0; i < stops_.size(); ++i) {
    const Place& here = stops_[i].place;
    std::size_t first = 0;
    while (first < i && (labels[first].empty() ||
                         std::hypot(stops_[first].place.x - here.x, stops_[first].place.y - here.y) > near))
      ++first;
    labels[first] += fmt::format("{}{}", labels[first].empty() ? "" : ",", i + 1);
  }
  return labels;
}

void DrivePlot::list_stops(PlotScript& script) const {
  constexpr double when = path_right + 0.015;
  constexpr double why = when + 0.095;  // leaves room for the longest reason
  double height = path_panel.top - 0.01;
  const auto say = [&](double left, const std::string& text) {
    script.add("set label '{}' at screen {}, screen {:.4f} left font ',11' textcolor rgb '{}'\n",
               plot_label(text), left, height, ink);
  };
  const auto next_row = [&height] { height -= 0.022; };
  say(when, stop_count_ == 0 ? "no stops" : "stops:");
  for (std::size_t i = 0; i < stops_.size(); ++i) {
    next_row();
    say(when, fmt::format("{}  {:.1f} s", i + 1, stops_[i].time));
    say(why, stops_[i].why);
    if (stops_[i].system.empty()) continue;
    next_row();
    say(why, "(" + stops_[i].system + ")");
  }
  next_row();
  if (stop_count_ > stops_.size()) say(when, fmt::format("and {} more", stop_count_ - stops_.size()));
}

void DrivePlot::draw_curves(PlotScript& script) const {
  script.data("speed", speed_);
  script.data("told", told_steering_);
  script.data("steering", steering_);
  script.data("age", age_);
  script.add("unset label\nunset xlabel\nset format x ''\nset xrange [0:{:.6f}]\n", std::max(end_, 1e-3));
  for (const Stop& stop : stops_) {
    script.add(
        "set arrow from {0:.3f}, graph 0 to {0:.3f}, graph 1 nohead back dashtype 2 linecolor rgb '{1}'\n",
        stop.time, measured_colour);
  }
  script.panel(speed_panel, 0.985);
  script.axis('y', "speed (m/s)");
  script.value_range({&speed_}, true);
  script.add("plot $speed with lines linewidth 1.6 linecolor rgb '{}'\n", reference_colour);

  script.panel(steering_panel, 0.985);
  script.axis('y', "steering (rad)");
  script.value_range({&told_steering_, &steering_}, true);
  script.add(
      "set key at screen 0.985, screen {} bottom right horizontal\n"
      "plot $told with lines linewidth 2.6 linecolor rgb '{}' title 'commanded', $steering with lines "
      "linewidth 1.4 linecolor rgb '{}' title 'reported'\n"
      "unset key\n",
      steering_panel.top + 0.005, reference_colour, measured_colour);

  script.panel(age_panel, 0.985);
  script.add("set format x '%g'\n");
  script.axis('x', "time (s)");
  script.axis('y', "age (s)");
  script.value_range({&age_}, true);
  script.add("plot $age with lines linewidth 1.6 linecolor rgb '{}'\n", measured_colour);
}

SetupResult<void> DrivePlot::run(PlotScript script) const {
  const std::filesystem::path folder = file_.has_parent_path() ? file_.parent_path() : ".";
  const std::string name = file_.filename().string() + ".gp";
  if (auto written = write_file(folder / name, script.take()); !written) return written;
  return run_gnuplot({name}, folder, std::nullopt);
}

}  // namespace takt::tools
