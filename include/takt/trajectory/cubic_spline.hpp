// The textbook's curve through via points: a cubic spline with continuous acceleration. The unknowns are the
// velocities at the waypoints. Continuity of acceleration couples only neighbours, so the solution takes
// O(waypoints).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/trajectory/error.hpp"

namespace takt::trajectory {

/// Boundary conditions of a cubic spline at its first and its last waypoint.
enum class CubicEnds : std::uint8_t {
  natural,  ///< zero acceleration; the spline finds the velocity
  clamped,  ///< given velocity; the spline finds the acceleration
  full,     ///< given velocity and acceleration: the first and the last segment become quartics (4-3-...-3-4)
};

/// Solves for the velocities and accelerations of a cubic spline. The constructor sizes the workspace;
/// solve() does not allocate.
///
/// Let r = 1/duration and d the distance of a segment. Half the acceleration of a cubic at its start and its
/// end is
///   3 r^2 d - r (2 v0 + v1)     and     -3 r^2 d + r (v0 + 2 v1).
/// For a quartic whose outer end has acceleration a, half the acceleration at its inner end is
///   a/2 + 6 r^2 d - 3 r (v0 + v1)     and     a/2 - 6 r^2 d + 3 r (v0 + v1),
/// if the inner end is the start and the end of the quartic.
/// Equating both sides of each waypoint gives a tridiagonal, diagonally dominant matrix: elimination needs no
/// pivoting. Source: de Boor, A Practical Guide to Splines, chapter IV; for the quartic ends Paul, Robot
/// Manipulators, chapter 5.
class CubicSpline {
 public:
  /// Allocates for at most `max_waypoints` waypoints.
  explicit CubicSpline(std::size_t max_waypoints) : upper_(max_waypoints), pivots_(max_waypoints) {}

  /// Fills all rows of `velocities` and `accelerations`, except the boundary values that `ends` takes as
  /// given. Rows as in BasicWaypoints; times must increase. Errors: one_waypoint, wrong_size. Real-time safe.
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
  /// The weights that give half the acceleration at one end of a segment. Field `distance` multiplies
  /// d. Fields `here` and `there` multiply the velocities at this and the other end. Field `other` multiplies
  /// the acceleration at the other end.
  struct Side {
    double distance = 0, here = 0, there = 0, other = 0;
  };

  /// The weights for segment k. They are the same at both of its ends, except for the sign of `other`.
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
      // A neighbour beyond the ends has the weight zero.
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
    // Computed from the longer neighbour: its rounding errors do not harm the shorter one.
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
  std::vector<double> upper_;   // above the diagonal, after elimination
  std::vector<double> pivots_;  // inverse pivots
};

}  // namespace takt::trajectory
