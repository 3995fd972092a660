// The durations in which one joint can change its velocity and acceleration as requested, at whatever
// distance.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "takt/trajectory/directional_limits.hpp"
#include "takt/trajectory/furthest_motion.hpp"

namespace takt::trajectory::detail {

/// Values that differ by at most this fraction count as equal. It exceeds the rounding error of a long
/// motion. So a plan made again in the middle of a motion returns the rest of that motion, and no detour for
/// the last digit.
template <class Scalar>
inline constexpr Scalar exactness = std::max(Scalar(1e-11), 64 * std::numeric_limits<Scalar>::epsilon());

/// The durations (s) in which one joint's velocity and acceleration can be changed as requested, at whatever
/// distance. They are one unbounded interval, or a bounded and an unbounded one. Source: jerk -j, +j and jerk
/// +j, -j give the bounds of the velocity gained in T seconds. Each has a hold where it reaches the
/// acceleration limit. Both bounds are quadratic in T, then linear.
template <class Scalar>
struct PossibleDurations {
  struct Interval {
    Scalar begin;
    Scalar end;
  };
  static constexpr Scalar never = std::numeric_limits<Scalar>::infinity();
  std::array<Interval, 2> intervals{{{0, never}, {never, never}}};

  PossibleDurations() = default;

  PossibleDurations(const Boundary<Scalar>& ends, const BasicDirectionalLimits<Scalar>& limits,
                    Scalar velocity_scale) noexcept {
    const Scalar straight = std::abs(ends.a1 - ends.a0) / limits.jerk;
    const Scalar more = ends.v1 - ends.v0 - (ends.a0 + ends.a1) / 2 * straight;
    const bool exactly = std::abs(more) <= exactness<Scalar> * velocity_scale;
    const bool rises = exactly ? ends.a0 + ends.a1 >= 0 : more > 0;
    const Rise rise(rises ? ends : ends.mirrored(), rises ? limits : limits.mirrored());
    intervals[0].begin = exactly ? straight : rise.first();
    if (rise.has_gap()) {
      intervals[0].end = std::max(rise.gap_begin(), intervals[0].begin);
      intervals[1].begin = rise.gap_end();
    }
  }

 private:
  /// A change of velocity that is at least that of the straight ramp from a0 to a1.
  struct Rise {
    Scalar sum;
    Scalar gain;
    Scalar jerk;
    Scalar most;
    Scalar least;
    Scalar smaller;
    Scalar high_square;
    Scalar low_square;

    Rise(const Boundary<Scalar>& ends, const BasicDirectionalLimits<Scalar>& limits) noexcept
        : sum(ends.a0 + ends.a1),
          gain((ends.v1 - ends.v0) * limits.jerk),
          jerk(limits.jerk),
          most(limits.acceleration_max),
          least(limits.acceleration_min),
          smaller(std::min(ends.a0, ends.a1)) {
      const Scalar squares = (ends.a0 * ends.a0 + ends.a1 * ends.a1) / 2;
      high_square = std::max(squares + gain, Scalar(0));
      low_square = squares - gain;
    }

    /// The duration through a peak acceleration, given by its square and sign. If the peak exceeds the limit,
    /// the motion holds at the limit.
    [[nodiscard]] Scalar by_way_of(Scalar square, Scalar limit, Scalar sign) const noexcept {
      if (square <= limit * limit) return (2 * std::sqrt(square) - sign * sum) / jerk;
      return (2 * limit - sign * sum + (square - limit * limit) / limit) / jerk;
    }

    [[nodiscard]] Scalar first() const noexcept { return by_way_of(high_square, most, 1); }

    /// Whether the durations have a gap. Both accelerations are then positive, and in the gap the joint gains
    /// too much velocity: the acceleration can dip, but not far enough.
    [[nodiscard]] bool has_gap() const noexcept { return smaller > 0 && low_square > 0; }
    [[nodiscard]] Scalar gap_begin() const noexcept {
      return (sum - 2 * std::min(std::sqrt(low_square), smaller)) / jerk;
    }
    [[nodiscard]] Scalar gap_end() const noexcept { return by_way_of(low_square, -least, -1); }
  };
};

}  // namespace takt::trajectory::detail
