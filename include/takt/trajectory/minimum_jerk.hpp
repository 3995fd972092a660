// The smoothest motion through given positions at given times: the one with the least integral of squared
// jerk. It is a quintic spline whose third and fourth derivatives are continuous. The unknowns are velocity
// and acceleration at each inner waypoint. The conditions couple only neighbours, so the solution takes
// O(waypoints).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/trajectory/error.hpp"

namespace takt::trajectory {

/// Solves for the inner velocities and accelerations of a minimum-jerk spline. The constructor sizes the
/// workspace; solve() does not allocate. It always computes in double: float has too few digits for the
/// fourth derivative.
///
/// Let l and r be the durations of the segments before and after waypoint i. Continuity of snap and jerk
/// there reads
///
///   B(l) x[i-1] + A(l, r) x[i] + B(r)^T x[i+1] = y[i],    x = (velocity, acceleration)
///
/// Here A is symmetric and the whole matrix positive definite, because it is the Hessian of the integral. So
/// block elimination is stable without pivoting. It loses digits if durations differ by orders of magnitude.
/// One step of iterative refinement, a second solution for the residual, restores them.
class MinimumJerkSpline {
 public:
  /// Allocates for at most that many waypoints and joints.
  MinimumJerkSpline(std::size_t max_waypoints, std::size_t max_joints)
      : durations_(max_waypoints),
        inverses_(max_waypoints),
        factors_(max_waypoints),
        rest_v_(max_waypoints * max_joints),
        rest_a_(max_waypoints * max_joints) {}

  /// Fills the inner rows of `velocities` and `accelerations`; their first and last rows are the boundary
  /// conditions. Rows as in BasicWaypoints; times must increase. Errors: wrong_size. Real-time safe.
  [[nodiscard]] Status solve(std::size_t joints, std::span<const double> times,
                             std::span<const double> positions, std::span<double> velocities,
                             std::span<double> accelerations) noexcept {
    const std::size_t waypoints = times.size();
    if (joints == 0 || waypoints > durations_.size() || positions.size() > rest_v_.size())
      return fail(Errc::wrong_size);
    for (const std::size_t size : {positions.size(), velocities.size(), accelerations.size()}) {
      if (size / joints != waypoints || size % joints != 0) return fail(Errc::wrong_size);
    }
    if (waypoints < 3) return {};
    joints_ = joints;
    last_ = waypoints - 1;
    factor(times);
    const auto inner = [&](std::span<double> rows) { return rows.subspan(joints, (waypoints - 2) * joints); };
    for (const std::span<double> rows : {inner(velocities), inner(accelerations)}) {
      std::fill(rows.begin(), rows.end(), 0.0);
    }
    for (int pass = 0; pass < 2; ++pass) {
      leave_over(positions.data(), velocities.data(), accelerations.data());
      eliminate();
      substitute_and_add(velocities.data(), accelerations.data());
    }
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
  /// The coupling of a waypoint with the one that is `duration` seconds before it.
  [[nodiscard]] static Matrix coupling(double duration) noexcept {
    const double rate = 1 / duration;
    return {168 * rate * rate * rate, 24 * rate * rate, -24 * rate * rate, -3 * rate};
  }
  [[nodiscard]] static Matrix transposed(const Matrix& m) noexcept { return {m.vv, m.av, m.va, m.aa}; }

  [[nodiscard]] Matrix diagonal(std::size_t i) const noexcept {
    const double l = 1 / durations_[i - 1];
    const double r = 1 / durations_[i];
    return {192 * (l * l * l + r * r * r), 36 * (r * r - l * l), 36 * (r * r - l * l), 9 * (l + r)};
  }

  void factor(std::span<const double> times) noexcept {
    for (std::size_t i = 0; i < last_; ++i) durations_[i] = times[i + 1] - times[i];
    for (std::size_t i = 1; i < last_; ++i) {
      Matrix pivot = diagonal(i);
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

  /// Residual: rest = y - M x, for the present x in `v` and `a`.
  void leave_over(const double* p, const double* v, const double* a) noexcept {
    for (std::size_t i = 1; i < last_; ++i) {
      const double l = 1 / durations_[i - 1];
      const double r = 1 / durations_[i];
      const double l3 = 60 * l * l * l;
      const double r3 = 60 * r * r * r;
      const Matrix before = coupling(durations_[i - 1]);
      const Matrix here = diagonal(i);
      const Matrix after = transposed(coupling(durations_[i]));
      // The tables do not overlap, which the compiler cannot check.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
      for (std::size_t j = i * joints_; j < (i + 1) * joints_; ++j) {
        const std::size_t b = j - joints_;
        const std::size_t e = j + joints_;
        const double d_left = p[j] - p[b];
        const double d_right = p[e] - p[j];
        rest_v_[j] = 6 * (l3 * l * d_left + r3 * r * d_right) - (before.vv * v[b] + before.va * a[b]) -
                     (here.vv * v[j] + here.va * a[j]) - (after.vv * v[e] + after.va * a[e]);
        rest_a_[j] = r3 * d_right - l3 * d_left - (before.av * v[b] + before.aa * a[b]) -
                     (here.av * v[j] + here.aa * a[j]) - (after.av * v[e] + after.aa * a[e]);
      }
    }
  }

  void eliminate() noexcept {
    for (std::size_t i = 2; i < last_; ++i) {
      const Matrix f = factors_[i];
      for (std::size_t j = i * joints_; j < (i + 1) * joints_; ++j) {
        const double v = rest_v_[j - joints_];
        const double a = rest_a_[j - joints_];
        rest_v_[j] -= f.vv * v + f.va * a;
        rest_a_[j] -= f.av * v + f.aa * a;
      }
    }
  }

  void substitute_and_add(double* v, double* a) noexcept {
    for (std::size_t i = last_ - 1; i > 0; --i) {
      const Matrix after = i + 1 == last_ ? Matrix{} : transposed(coupling(durations_[i]));
      const Matrix inverse = inverses_[i];
      for (std::size_t j = i * joints_; j < (i + 1) * joints_; ++j) {
        const std::size_t e = i + 1 == last_ ? j : j + joints_;
        const double y_v = rest_v_[j] - (after.vv * rest_v_[e] + after.va * rest_a_[e]);
        const double y_a = rest_a_[j] - (after.av * rest_v_[e] + after.aa * rest_a_[e]);
        rest_v_[j] = inverse.vv * y_v + inverse.va * y_a;
        rest_a_[j] = inverse.av * y_v + inverse.aa * y_a;
        v[j] += rest_v_[j];
        a[j] += rest_a_[j];
      }
    }
  }

  std::size_t joints_ = 0;
  std::size_t last_ = 0;
  std::vector<double> durations_;
  std::vector<Matrix> inverses_;  // of the pivots
  std::vector<Matrix> factors_;   // coupling times the inverse of the pivot before
  std::vector<double> rest_v_;    // right-hand side, then solution, of the pass under way
  std::vector<double> rest_a_;
};

}  // namespace takt::trajectory
