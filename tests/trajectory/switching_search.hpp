// A brute-force reference for minimum-time planning. It searches for a jerk-limited motion of a given
// duration and shares no code with the planner. From many random starts it shifts the switching times of
// every pattern of jerk until the ends fit and the limits hold.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "trajectory/jerk_limited.hpp"

namespace takt::test {

class SwitchingSearch {
 public:
  explicit SwitchingSearch(const JointProblem<double>& problem) : problem_(problem) {}

  /// Whether a motion of this duration was found.
  bool finds(double duration, std::mt19937_64& random, int beginnings = 30) const {
    for (const Pattern& pattern : patterns) {
      for (int i = 0; i < beginnings; ++i) {
        Roots roots;
        for (double& root : roots) root = uniform_int(random, 0, 2) == 0 ? 0.05 : uniform(random, 0.1, 1);
        if (descend(pattern, duration, roots)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t phases = 7;
  static constexpr double good_enough = 1e-16;  // sum of squares of relative errors
  using Pattern = std::array<int, phases>;
  using Roots =
      // Square roots of the phases' shares of the duration, because a square is never negative.
      std::array<double, phases>;

  static constexpr std::array<Pattern, 4> patterns{
      {{1, 0, -1, 0, -1, 0, 1}, {-1, 0, 1, 0, 1, 0, -1}, {1, 0, -1, 0, 1, 0, -1}, {-1, 0, 1, 0, -1, 0, 1}}};

  /// Errors at the end, then excesses over the limits, all relative.
  std::vector<double> errors(const Pattern& pattern, double duration, const Roots& roots) const {
    const auto& limits = problem_.limits;
    double sum = 0;
    for (const double root : roots) sum += root * root;
    std::vector<double> result;
    const auto excess = [&](double value, double low, double high) {
      result.push_back(std::max({0.0, (value - high) / (high - low), (low - value) / (high - low)}));
    };
    double p = problem_.start.position, v = problem_.start.velocity, a = problem_.start.acceleration;
    for (std::size_t k = 0; k < phases; ++k) {
      const double d = duration * roots[k] * roots[k] / sum;
      const double j = pattern[k] * limits.jerk;
      const double turn = j == 0 ? 0 : std::clamp(-a / j, 0.0, d);
      excess(v + turn * (a + turn * j / 2), limits.velocity_min, limits.velocity_max);
      p += d * (v + d * (a / 2 + d * j / 6));
      v += d * (a + d * j / 2);
      a += d * j;
      excess(v, limits.velocity_min, limits.velocity_max);
      excess(a, limits.acceleration_min, limits.acceleration_max);
    }
    const double v_scale = limits.velocity_max - limits.velocity_min;
    result.push_back((p - problem_.target.position) / (v_scale * duration));
    result.push_back((v - problem_.target.velocity) / v_scale);
    result.push_back((a - problem_.target.acceleration) /
                     (limits.acceleration_max - limits.acceleration_min));
    return result;
  }

  static double square(const std::vector<double>& errors) {
    double sum = 0;
    for (const double error : errors) sum += error * error;
    return sum;
  }

  /// The method of Levenberg and Marquardt.
  bool descend(const Pattern& pattern, double duration, Roots roots) const {
    double damping = 1e-3;
    std::vector<double> now = errors(pattern, duration, roots);
    for (int step = 0; step < 60 && damping < 1e8; ++step) {
      if (square(now) < good_enough) return true;
      std::array<std::vector<double>, phases> columns;
      for (std::size_t k = 0; k < phases; ++k) {
        Roots moved = roots;
        moved[k] += 1e-7;
        columns[k] = errors(pattern, duration, moved);
        for (std::size_t i = 0; i < now.size(); ++i) columns[k][i] = (columns[k][i] - now[i]) / 1e-7;
      }
      Roots moved = roots;
      const Roots change = solve(columns, now, damping);
      for (std::size_t k = 0; k < phases; ++k) moved[k] -= change[k];
      const std::vector<double> then = errors(pattern, duration, moved);
      const bool better = square(then) < square(now);
      damping *= better ? 0.2 : 5;
      if (better) roots = moved, now = then;
    }
    return square(now) < good_enough;
  }

  /// (J'J + damping) x = J'e by elimination.
  static Roots solve(const std::array<std::vector<double>, phases>& columns, const std::vector<double>& e,
                     double damping) {
    std::array<std::array<double, phases + 1>, phases> m{};
    for (std::size_t r = 0; r < phases; ++r) {
      for (std::size_t i = 0; i < e.size(); ++i) {
        for (std::size_t c = 0; c < phases; ++c) m[r][c] += columns[r][i] * columns[c][i];
        m[r][phases] += columns[r][i] * e[i];
      }
      m[r][r] += damping;
    }
    for (std::size_t r = 0; r < phases; ++r) {
      for (std::size_t below = r + 1; below < phases; ++below) {
        const double factor = m[below][r] / m[r][r];
        for (std::size_t c = r; c <= phases; ++c) m[below][c] -= factor * m[r][c];
      }
    }
    Roots x{};
    for (std::size_t r = phases; r-- > 0;) {
      x[r] = m[r][phases];
      for (std::size_t c = r + 1; c < phases; ++c) x[r] -= m[r][c] * x[c];
      x[r] /= m[r][r];
    }
    return x;
  }

  JointProblem<double> problem_;
};

}  // namespace takt::test
