// The smoothest way through via points: of all motions through given positions at given times, the one with the least integral
// of squared jerk is a quintic spline whose third and fourth derivatives are continuous. Its unknowns are the velocity and
// acceleration at each inner waypoint; the conditions couple neighbours only, so that they are found in O(waypoints).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/trajectory/error.hpp"

namespace takt::trajectory {

/// Solves for the inner velocities and accelerations of a minimum-jerk spline. The workspace is sized when it is made; solve()
/// does not allocate. Always in double: the fourth derivative has nothing left of a float.
///
/// Continuity of snap and jerk at waypoint i, with l and r the durations of the segments before and after it, reads
///     B(l) x[i-1] + A(l, r) x[i] + B(r)^T x[i+1] = y[i],    x = (velocity, acceleration)
/// where A is symmetric and the whole matrix positive definite (it is the Hessian of the integral), so block elimination
/// without pivoting is stable.
class MinimumJerkSpline {
 public:
  explicit MinimumJerkSpline(std::size_t max_waypoints)
      : durations_(max_waypoints),
        inverses_(max_waypoints),
        factors_(max_waypoints),
        max_waypoints_(max_waypoints) {}

  /// Fills the rows between the first and the last of `velocities` and `accelerations`; those two rows are the boundary
  /// conditions. Rows as in BasicWaypoints; times must rise. Errors: wrong_size.
  [[nodiscard]] Status solve(std::size_t joints, std::span<const double> times,
                             std::span<const double> positions, std::span<double> velocities,
                             std::span<double> accelerations) noexcept {
    const std::size_t waypoints = times.size();
    if (joints == 0 || waypoints > max_waypoints_) return fail(Errc::wrong_size);
    for (const std::size_t size : {positions.size(), velocities.size(), accelerations.size()}) {
      if (size / joints != waypoints || size % joints != 0) return fail(Errc::wrong_size);
    }
    if (waypoints < 3) return {};
    factor(times);
    eliminate(joints, waypoints - 1, positions.data(), velocities.data(), accelerations.data());
    substitute(joints, waypoints - 1, velocities.data(), accelerations.data());
    return {};
  }

 private:
  struct Matrix {
    double vv = 0, va = 0, av = 0, aa = 0;
  };

  [[nodiscard]] static Matrix product(const Matrix& x, const Matrix& y) noexcept {
    return {x.vv * y.vv + x.va * y.av, x.vv * y.va + x.va * y.aa, x.av * y.vv + x.aa * y.av,
            x.av * y.va + x.aa * y.aa};
  }
  /// How a waypoint depends on the one before it, `duration` earlier.
  [[nodiscard]] static Matrix coupling(double duration) noexcept {
    const double rate = 1 / duration;
    return {168 * rate * rate * rate, 24 * rate * rate, -24 * rate * rate, -3 * rate};
  }
  [[nodiscard]] static Matrix transposed(const Matrix& m) noexcept { return {m.vv, m.av, m.va, m.aa}; }

  void factor(std::span<const double> times) noexcept {
    for (std::size_t i = 0; i + 1 < times.size(); ++i) durations_[i] = times[i + 1] - times[i];
    for (std::size_t i = 1; i + 1 < times.size(); ++i) {
      const double l = 1 / durations_[i - 1];
      const double r = 1 / durations_[i];
      Matrix pivot{192 * (l * l * l + r * r * r), 36 * (r * r - l * l), 36 * (r * r - l * l), 9 * (l + r)};
      if (i > 1) {
        const Matrix b = coupling(durations_[i - 1]);
        factors_[i] = product(b, inverses_[i - 1]);
        const Matrix fill = product(factors_[i], transposed(b));
        pivot = {pivot.vv - fill.vv, pivot.va - fill.va, pivot.av - fill.av, pivot.aa - fill.aa};
      }
      const double determinant = pivot.vv * pivot.aa - pivot.va * pivot.av;
      inverses_[i] = {pivot.aa / determinant, -pivot.va / determinant, -pivot.av / determinant,
                      pivot.vv / determinant};
    }
  }

  /// Right-hand sides, each minus what the waypoints before it contribute.
  void eliminate(std::size_t joints, std::size_t last, const double* p, double* v, double* a) const noexcept {
    for (std::size_t i = 1; i < last; ++i) {
      const double l = 1 / durations_[i - 1];
      const double r = 1 / durations_[i];
      const double l3 = 60 * l * l * l;
      const double r3 = 60 * r * r * r;
      // The known states at the two ends move to the right-hand side; in between, elimination takes their place.
      const Matrix before = i == 1 ? coupling(durations_[0]) : factors_[i];
      const Matrix after = i + 1 == last ? transposed(coupling(durations_[i])) : Matrix{};
      const std::size_t row = i * joints;
      for (std::size_t j = row; j < row + joints; ++j) {
        const double d_left = p[j] - p[j - joints];
        const double d_right = p[j + joints] - p[j];
        const double v_before = v[j - joints], a_before = a[j - joints];
        const double v_after = v[j + joints], a_after = a[j + joints];
        const double y_v = 6 * (l3 * l * d_left + r3 * r * d_right);
        const double y_a = r3 * d_right - l3 * d_left;
        v[j] = y_v - before.vv * v_before - before.va * a_before - (after.vv * v_after + after.va * a_after);
        a[j] = y_a - before.av * v_before - before.aa * a_before - (after.av * v_after + after.aa * a_after);
      }
    }
  }

  void substitute(std::size_t joints, std::size_t last, double* v, double* a) const noexcept {
    for (std::size_t i = last - 1; i > 0; --i) {
      const Matrix after = i + 1 == last ? Matrix{} : transposed(coupling(durations_[i]));
      const Matrix& inverse = inverses_[i];
      const std::size_t row = i * joints;
      for (std::size_t j = row; j < row + joints; ++j) {
        const double v_after = v[j + joints], a_after = a[j + joints];
        const double y_v = v[j] - after.vv * v_after - after.va * a_after;
        const double y_a = a[j] - after.av * v_after - after.aa * a_after;
        v[j] = inverse.vv * y_v + inverse.va * y_a;
        a[j] = inverse.av * y_v + inverse.aa * y_a;
      }
    }
  }

  std::vector<double> durations_;
  std::vector<Matrix> inverses_;  // of the pivots
  std::vector<Matrix> factors_;   // coupling times the inverse of the pivot before
  std::size_t max_waypoints_;
};

}  // namespace takt::trajectory
