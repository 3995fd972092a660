// The problem that the trajectory benchmarks share with those of peers: a table of random waypoints, and the
// loop's ticks.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "takt/trajectory/waypoints.hpp"

namespace takt::bench {

inline constexpr std::size_t waypoints = 100;
inline constexpr double period = 1e-3;

struct Table {
  std::size_t joints;
  std::vector<double> times, positions, velocities, accelerations;

  explicit Table(std::size_t count, std::size_t rows = waypoints) : joints(count) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (std::size_t k = 0; k < rows; ++k) times.push_back(0.1 * static_cast<double>(k));
    for (std::size_t i = 0; i < rows * joints; ++i) {
      positions.push_back(uniform(random));
      velocities.push_back(uniform(random));
      accelerations.push_back(uniform(random));
    }
  }
  [[nodiscard]] trajectory::Waypoints view() const {
    return {joints, times, positions, velocities, accelerations};
  }
  [[nodiscard]] MotionState state(std::size_t k, std::size_t j) const {
    const std::size_t i = k * joints + j;
    return {positions[i], velocities[i], accelerations[i]};
  }
};

struct Results {
  explicit Results(std::size_t joints) : p(joints + 8), v(joints + 8), a(joints + 8) {}
  std::vector<double> p, v, a;
};

/// Steps through the trajectory's time, period by period, repeatedly.
class Ticks {
 public:
  explicit Ticks(double duration) : duration_(duration) {}
  double next() {
    t_ += period;
    if (t_ >= duration_) t_ = 0;
    return t_;
  }

 private:
  double duration_;
  double t_ = 0;
};

}  // namespace takt::bench
