// The textbook's way through via points: a cubic spline with continuous acceleration. The unknowns are the velocities at the
// waypoints; continuity of acceleration couples neighbours only, so that they are found in O(waypoints).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/trajectory/error.hpp"

namespace takt::trajectory {

/// What a cubic spline keeps at its first and its last waypoint.
enum class CubicEnds : std::uint8_t {
  natural,  ///< no acceleration; the velocity is free
  clamped,  ///< the velocity that is given; the acceleration is free
  full,  ///< the velocity and the acceleration that are given: the first and the last segment are quartic for it (4-3-...-3-4)
};

/// Solves for velocities and accelerations of a cubic spline. The workspace is sized when it is made; solve() does not allocate.
///
/// With r = 1/duration and d the distance of a segment, half the acceleration at the start and at the end of a cubic is
///     3 r^2 d - r (2 v0 + v1)     and     -3 r^2 d + r (v0 + 2 v1),
/// at the inner end of a quartic whose other end has acceleration a it is
///     a/2 + 6 r^2 d - 3 r (v0 + v1) where it starts there, and a/2 - 6 r^2 d + 3 r (v0 + v1) where it ends there.
/// Equating both sides of each waypoint gives a tridiagonal matrix whose diagonal dominates: elimination needs no pivoting.
/// Source: de Boor, A Practical Guide to Splines, chapter IV; for the quartic ends Paul, Robot Manipulators, chapter 5.
class CubicSpline {
 public:
  explicit CubicSpline(std::size_t max_waypoints) : upper_(max_waypoints), pivots_(max_waypoints) {}

  /// Fills all rows of `velocities` and `accelerations` but what `ends` keeps of the first and the last. Rows as in
  /// BasicWaypoints; times must rise. Errors: one_waypoint, wrong_size.
  [[nodiscard]] Status solve(std::size_t joints, std::span<const double> times,
                             std::span<const double> positions, std::span<double> velocities,
                             std::span<double> accelerations, CubicEnds ends) noexcept {
    const std::size_t waypoints = times.size();
    if (waypoints == 1) return fail(Errc::one_waypoint);
    if (joints == 0 || waypoints == 0 || waypoints > pivots_.size()) return fail(Errc::wrong_size);
    for (const std::size_t size : {positions.size(), velocities.size(), accelerations.size()}) {
      if (size / joints != waypoints || size % joints != 0) return fail(Errc::wrong_size);
    }
    joints_ = joints;
    last_ = waypoints - 1;
    ends_ = ends;
    times_ = times.data();
    p_ = positions.data();
    v_ = velocities.data();
    a_ = accelerations.data();
    eliminate();
    substitute();
    for (std::size_t i = 0; i <= last_; ++i) fill_accelerations(i);
    return {};
  }

 private:
  /// The weights in half the acceleration at one end of a segment: `distance` of d, `here` and `there` of the velocities at this
  /// and at the other end, `other` of the other end's acceleration.
  struct Side {
    double distance = 0, here = 0, there = 0, other = 0;
  };

  /// Of segment k, whose ends it is symmetric in but for the sign of `other`.
  [[nodiscard]] Side side(std::size_t k, bool other_end_is_outer) const noexcept {
    const double rate = 1 / duration(k);
    if (other_end_is_outer && ends_ == CubicEnds::full) return {6 * rate * rate, 3 * rate, 3 * rate, 0.5};
    return {3 * rate * rate, 2 * rate, rate, 0};
  }
  [[nodiscard]] Side before(std::size_t i) const noexcept { return i > 0 ? side(i - 1, i == 1) : Side{}; }
  [[nodiscard]] Side after(std::size_t i) const noexcept {
    return i < last_ ? side(i, i + 1 == last_) : Side{};
  }
  [[nodiscard]] double duration(std::size_t k) const noexcept { return times_[k + 1] - times_[k]; }
  [[nodiscard]] bool is_known(std::size_t i) const noexcept {
    return ends_ != CubicEnds::natural && (i == 0 || i == last_);
  }

  void eliminate() noexcept {
    for (std::size_t i = 0; i <= last_; ++i) {
      const bool known = is_known(i);
      const Side l = known ? Side{} : before(i);
      const Side r = known ? Side{} : after(i);
      const double diagonal = known ? 1 : l.here + r.here;
      pivots_[i] = 1 / (diagonal - (i > 0 ? l.there * upper_[i - 1] : 0));
      upper_[i] = r.there * pivots_[i];
      if (known) continue;
      const double* const p = p_ + i * joints_;
      double* const v = v_ + i * joints_;
      // Beyond the ends everything has the weight zero.
      const std::size_t b = i > 0 ? joints_ : 0;
      const std::size_t e = i < last_ ? joints_ : 0;
      for (std::size_t j = 0; j < joints_; ++j) {
        const double half = r.other * a_[last_ * joints_ + j] - l.other * a_[j];
        const double right = l.distance * (p[j] - (p - b)[j]) + r.distance * (p[e + j] - p[j]) + half;
        v[j] = (right - (b > 0 ? l.there * (v - b)[j] : 0)) * pivots_[i];
      }
    }
  }

  void substitute() noexcept {
    for (std::size_t i = last_; i-- > 0;) {
      for (std::size_t j = i * joints_; j < (i + 1) * joints_; ++j) v_[j] -= upper_[i] * v_[j + joints_];
    }
  }

  void fill_accelerations(std::size_t i) noexcept {
    const bool outer = i == 0 || i == last_;
    if (outer && ends_ == CubicEnds::full) return;
    // From the longer neighbour: rounding there does no harm in the shorter one.
    const bool use_after = i == 0 || (i < last_ && duration(i) > duration(i - 1));
    const Side side = use_after ? after(i) : before(i);
    const std::size_t other = use_after ? (i + 1) * joints_ : (i - 1) * joints_;
    const std::size_t end = use_after ? last_ * joints_ : 0;
    const double sign = use_after ? 1 : -1;
    for (std::size_t j = 0; j < joints_; ++j) {
      const std::size_t here = i * joints_ + j;
      const double velocities = side.here * v_[here] + side.there * v_[other + j];
      const double half = side.distance * (p_[other + j] - p_[here]) - sign * velocities;
      a_[here] = ends_ == CubicEnds::natural && outer ? 0 : 2 * (half + side.other * a_[end + j]);
    }
  }

  std::size_t joints_ = 0;
  std::size_t last_ = 0;
  CubicEnds ends_ = CubicEnds::natural;
  const double* times_ = nullptr;
  const double* p_ = nullptr;
  double* v_ = nullptr;
  double* a_ = nullptr;
  std::vector<double> upper_;   // beside the diagonal, after elimination
  std::vector<double> pivots_;  // their inverses
};

}  // namespace takt::trajectory
