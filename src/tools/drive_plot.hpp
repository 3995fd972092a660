// The picture of a drive, made when it is over: the path with the places where the vehicle stopped, and why; speed, steering and
// the age of what is known, over time.
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
  /// Whether there can be a picture is found out at once, and the file begun: FILE.gp, the script for gnuplot, stays beside it.
  /// Errors: write_failed (not .png or .svg; cannot be written; gnuplot is missing or failed).
  [[nodiscard]] static SetupResult<DrivePlot> open(const std::string& file);

  /// The next moment. The memory for all of them is bounded.
  void add(const DriveView& view);

  /// Errors: write_failed.
  [[nodiscard]] SetupResult<void> draw() const;

 private:
  struct Place {
    double x = 0;  ///< m
    double y = 0;
  };
  /// Where the vehicle came to a stand, as far as that was heard, and what began it when.
  struct Stop {
    double time = 0;  ///< s
    Place place{};
    std::string why{};
    std::string system{};  ///< empty but of a reason that is a system's
  };

  explicit DrivePlot(std::filesystem::path file) : file_(std::move(file)) {}

  [[nodiscard]] PlotScript script() const;
  void add_place(Place place);
  void add_stop(const DriveView& view, double time);
  void draw_path(PlotScript& script) const;
  /// For each stop what stands at its place: the numbers of all that are within `near` (m) of the first of them there.
  [[nodiscard]] std::vector<std::string> numbers(double near) const;
  void list_stops(PlotScript& script) const;
  void draw_curves(PlotScript& script) const;
  [[nodiscard]] SetupResult<void> run(PlotScript script) const;

  std::filesystem::path file_;
  std::optional<Time> begin_{};
  double end_ = 0;  ///< s
  std::vector<Place> path_{};
  double spacing_ = 0.02;  ///< m, of the path's places
  std::vector<Stop> stops_{};
  std::size_t stop_count_ = 0;
  vehicle::StopReason reason_{};
  Envelope speed_{};
  Envelope told_steering_{};
  Envelope steering_{};
  Envelope age_{};
};

}  // namespace takt::tools
