#include "takt/controllers/progress_window.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using takt::controllers::ProgressWindow;

namespace {

/// The time (s) after which a motion counts as stalled; 0: not within 10 s. `to_target(t)` is its distance.
template <class Motion>
double stalls_after(double window, double distance, const Motion& to_target, double period = 0.001) {
  ProgressWindow progress;
  progress.begin(window, distance);
  for (double t = period; t < 10; t += period) {
    if (progress.stalls(to_target(t), period)) return t;
  }
  return 0;
}

}  // namespace

TEST_CASE("a joint that stands stalls after one window") {
  CHECK(stalls_after(0.5, 0.01, [](double) { return 1.0; }) == doctest::Approx(0.5).epsilon(0.04));
  CHECK(stalls_after(2, 0.01, [](double) { return 1.0; }) == doctest::Approx(2).epsilon(0.04));
}

TEST_CASE("the speed that counts as a stall is the distance per window") {
  const auto at = [](double speed) { return [speed](double t) { return 1 - speed * t; }; };
  CHECK(stalls_after(0.5, 0.01, at(0.019)) > 0);
  CHECK(stalls_after(0.5, 0.01, at(0.021)) == 0);
}

TEST_CASE("noise makes no progress, and hides none") {
  const auto noise = [](double t) { return 0.002 * std::sin(1e4 * t); };  // up to 20 rad/s
  CHECK(stalls_after(0.5, 0.01, [&](double t) { return 1 + noise(t); }) > 0);
  CHECK(stalls_after(0.5, 0.01, [&](double t) { return 1 - 0.05 * t + noise(t); }) == 0);
}

TEST_CASE("a stall after a motion is found within the next window") {
  const double found = stalls_after(0.5, 0.01, [](double t) { return 1 - std::min(t, 1.0) * 0.5; });
  CHECK(found > 1.4);
  CHECK(found < 1.55);
}

TEST_CASE("a motion away from the target is no progress; NaN is none either") {
  CHECK(stalls_after(0.5, 0.01, [](double t) { return 1 + t; }) > 0);
  CHECK(stalls_after(0.5, 0.01, [](double) { return std::numeric_limits<double>::quiet_NaN(); }) > 0);
}

TEST_CASE("periods longer than the window end in bounded time") {
  CHECK(stalls_after(
            0.01, 0.01, [](double) { return 1.0; }, 5.0) == 5.0);
  ProgressWindow progress;
  progress.begin(0.01, 0.01);
  CHECK(progress.stalls(1, 1e300));
}
