// The picture of a finished drive: the path, with the places and causes of the stops. It also shows speed,
// steering and the telemetry's age over time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/vehicle/stop_cause.hpp"
#include "tools/drive_view.hpp"
#include "tools/report_statistics.hpp"

namespace takt::tools {

class PlotScript;

class DrivePlot {
 public:
  /// Checks at once whether a picture can be made, and creates the file. FILE.gp, the script for gnuplot,
  /// stays beside it. Error: write_failed (not .png or .svg; cannot be written; gnuplot is missing or
  /// failed).
  [[nodiscard]] static SetupResult<DrivePlot> open(const std::string& file);

  /// Adds the next moment. The memory for all of them is bounded.
  void add(const DriveView& view);

  /// Errors: write_failed.
  [[nodiscard]] SetupResult<void> draw() const;

 private:
  struct Place {
    double x = 0;  ///< m
    double y = 0;
  };
  /// A stop of the vehicle, as far as it was received, with its cause and the cause's time.
  struct Stop {
    double time = 0;  ///< s
    Place place{};
    std::string why{};
    std::string system{};  ///< empty unless the cause is a system
  };

  explicit DrivePlot(std::filesystem::path file) : file_(std::move(file)) {}

  [[nodiscard]] PlotScript script() const;
  void add_place(Place place);
  void add_stop(const DriveView& view, double time);
  void draw_path(PlotScript& script) const;
  /// The labels of the stops: each has the numbers of all stops within `near` (m) of its first one.
  [[nodiscard]] std::vector<std::string> numbers(double near) const;
  void list_stops(PlotScript& script) const;
  void draw_curves(PlotScript& script) const;
  [[nodiscard]] SetupResult<void> run(PlotScript script) const;

  std::filesystem::path file_;
  std::optional<Time> begin_{};
  double end_ = 0;  ///< s
  std::vector<Place> path_{};
  double spacing_ = 0.02;  ///< m between points of the path
  std::vector<Stop> stops_{};
  std::size_t stop_count_ = 0;
  vehicle::StopReason reason_{};
  Envelope speed_{};
  Envelope told_steering_{};
  Envelope steering_{};
  Envelope age_{};
};

}  // namespace takt::tools
