// Detects a motion that no longer gets closer to its target, by its best progress in a sliding window of
// time.
//
// A threshold for the velocity fails both ways. The noise of a velocity keeps a blocked joint above it, and a
// slow joint under it. The best distance so far has no noise to the wrong side, and counts slow progress.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "takt/core/finite_math.hpp"

namespace takt::controllers {

/// The window of one motion. A value without heap; real-time safe.
class ProgressWindow {
 public:
  /// Begins a motion. `window` in s, > 0. `distance` > 0 is the progress that a window must have.
  void begin(double window, double distance) noexcept {
    *this = {};
    window_ = window;
    distance_ = distance;
  }

  /// Takes the distance to the target after a further `period` (s). Returns whether the best distance
  /// improved by less than `distance` in the last window. False until a first window has passed. NaN counts
  /// as no progress.
  [[nodiscard]] bool stalls(double to_target, double period) noexcept {
    if (to_target < best_) best_ = to_target;
    time_ += period;
    const double slot = window_ / slots;
    // One period may be longer than a slot, and longer than the window.
    for (std::size_t i = 0; i <= slots && time_ >= slot; ++i) {
      time_ -= slot;
      oldest_ = best_then_[next_];
      best_then_[next_] = best_;
      next_ = (next_ + 1) % slots;
      filled_ = std::min(filled_ + 1, slots + 1);
    }
    time_ = std::min(time_, slot);
    return filled_ > slots && !(oldest_ - best_ >= distance_);
  }

 private:
  /// The window's resolution is its length divided by this.
  static constexpr std::size_t slots = 32;

  double window_ = 1;
  double distance_ = 1;
  double time_ = 0;  ///< s since the present slot began
  double best_ = std::numeric_limits<double>::infinity();
  double oldest_ = 0;  ///< the best distance one window ago
  std::array<double, slots> best_then_{};
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace takt::controllers
