// Hostile commands: noise, bang-bang, a swing in every period, creeping, long silence, NaN and infinity.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "support/random.hpp"

/// CHECK for millions of steps: only failures reach the test framework.
#define EXPECT(condition)               \
  do {                                  \
    if (!(condition)) CHECK(condition); \
  } while (false)

namespace takt::test {

template <class Scalar>
class Adversary {
 public:
  /// Moderate commands are within -reach to reach; bang-bang also goes far beyond.
  Adversary(std::mt19937_64& random, double reach) : random_(&random), reach_(reach) {}

  Scalar next() {
    if (uniform_int(*random_, 0, 15) == 0) mood_ = uniform_int(*random_, 0, 6);
    switch (mood_) {
      case 0:
        break;  // unchanged
      case 1:
        last_ = sensible(reach_);
        break;
      case 2:
        last_ = static_cast<Scalar>(coin() ? reach_ : -reach_);
        break;
      case 3:
        last_ = std::isfinite(last_) ? -last_ : sensible(reach_);
        break;
      case 4:
        last_ = (std::isfinite(last_) ? last_ : Scalar(0)) + sensible(1e-3 * reach_);
        break;
      case 5:
        last_ = absurd();
        break;
      default:
        return uniform_int(*random_, 0, 3) == 0 ? absurd() : last_;
    }
    return last_;
  }

 private:
  [[nodiscard]] bool coin() { return uniform_int(*random_, 0, 1) == 0; }
  [[nodiscard]] Scalar sensible(double reach) {
    return static_cast<Scalar>(uniform(*random_, -reach, reach));
  }

  [[nodiscard]] Scalar absurd() {
    using Limits = std::numeric_limits<Scalar>;
    constexpr Scalar numbers[] = {Limits::quiet_NaN(),  Limits::infinity(), Limits::max(),
                                  Limits::denorm_min(), Limits::min(),      Scalar(1e9)};
    const Scalar number = numbers[uniform_int(*random_, 0, 5)];
    return coin() ? number : -number;
  }

  std::mt19937_64* random_;
  double reach_;
  std::int64_t mood_ = 1;
  Scalar last_ = 0;
};

}  // namespace takt::test
