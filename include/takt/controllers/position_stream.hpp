// The velocity of a stream of positions. Real-time safe.
#pragma once

#include "takt/core/finite_math.hpp"
#include "takt/core/time.hpp"

namespace takt::controllers {

/// Finds the velocity of positions that change in each cycle. A position that stays for some cycles and then
/// steps has none: it is approached as a step, with rest at its end.
class PositionStream {
 public:
  /// The velocity of this position, from the cycle before (rad/s or m/s). `period`: since then. 0 unless the
  /// position changed in this cycle and in the one before.
  [[nodiscard]] double velocity(double position, Duration period) noexcept {
    const double change = position - last_;
    const bool streams = cycles_ >= 2 && change != 0 && changed_ && period > Duration(0);
    if (cycles_ < 2) ++cycles_;
    changed_ = change != 0;
    last_ = position;
    return streams ? change / to_seconds(period) : 0;
  }

 private:
  double last_ = 0;
  int cycles_ = 0;        ///< that were seen, at most 2
  bool changed_ = false;  ///< in the cycle before
};

}  // namespace takt::controllers
