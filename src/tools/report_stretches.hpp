// Which cycles of a recording the report's page shows sample by sample, so that its size is bounded.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace takt::tools {

/// The cycles from `first` to before `last`, counted from the first of the recording.
struct CycleRange {
  std::size_t first = 0;
  std::size_t last = 0;

  [[nodiscard]] std::size_t size() const noexcept { return last - first; }
};

/// Ranges of cycles that do not touch, in order, with a bounded number of cycles.
class CycleRanges {
 public:
  static constexpr std::size_t max_ranges = 200;

  /// `times`: of all cycles, in seconds, not falling; must outlive this.
  CycleRanges(std::span<const double> times, std::size_t max_cycles) : times_(times), left_(max_cycles) {}

  /// Adds all cycles from `begin` to `end`, in seconds. Adds none of them if they were too many.
  void add(double begin, double end);
  [[nodiscard]] const std::vector<CycleRange>& ranges() const noexcept { return ranges_; }

 private:
  std::span<const double> times_;
  std::size_t left_;
  std::vector<CycleRange> ranges_;
};

}  // namespace takt::tools
