#include "takt/trajectory/jerk_profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/random.hpp"

using namespace takt;
using namespace takt::trajectory;

namespace {

JerkProfile any_profile(std::mt19937_64& random) {
  JerkProfile profile(
      {test::uniform(random, -1, 1), test::uniform(random, -1, 1), test::uniform(random, -1, 1)});
  for (auto k = test::uniform_int(random, 1, JerkProfile::capacity); k > 0; --k) {
    const double jerk = 10 * static_cast<double>(test::uniform_int(random, -1, 1));
    profile.append({test::uniform(random, 0.01, 1), jerk, profile.end().acceleration});
  }
  return profile;
}

}  // namespace

TEST_CASE("extrema of a jerk profile are never exceeded by dense sampling, and touched by it") {
  auto random = test::generator(120);
  for (std::size_t i = 0; i < test::count(300); ++i) {
    const JerkProfile profile = any_profile(random);
    const auto p = profile.position_extrema();
    const auto v = profile.velocity_extrema();
    const auto a = profile.acceleration_extrema();
    constexpr int samples = 500;
    double highest = -1e9, fastest = -1e9;
    for (int k = 0; k <= samples; ++k) {
      const MotionState state = profile.at(profile.duration() * k / samples);
      REQUIRE(state.position <= p.max.value + 1e-9);
      REQUIRE(state.position >= p.min.value - 1e-9);
      REQUIRE(state.velocity <= v.max.value + 1e-9);
      REQUIRE(state.velocity >= v.min.value - 1e-9);
      REQUIRE(state.acceleration <= a.max.value + 1e-9);
      REQUIRE(state.acceleration >= a.min.value - 1e-9);
      highest = std::max(highest, state.position);
      fastest = std::max(fastest, state.velocity);
    }
    const double step = profile.duration() / samples;
    const double reach = std::max(-v.min.value, v.max.value);
    CHECK(highest >= p.max.value - reach * step);
    CHECK(fastest >= v.max.value - a.peak().value * a.peak().value * step - 100 * step);
    CHECK(profile.at(p.max.time).position == doctest::Approx(p.max.value));
    CHECK(profile.at(v.min.time).velocity == doctest::Approx(v.min.value));
  }
}

TEST_CASE("before its start a profile is at its start, after its end exactly at its end") {
  JerkProfile profile({1, 0, 0});
  profile.append({1, 6, 0});
  profile.append({0, 6, 6});
  CHECK(profile.phases() == 1);
  CHECK(profile.at(0.5).position == doctest::Approx(1.125));
  CHECK(profile.at(-1) == MotionState{1, 0, 0});
  CHECK(profile.at(1) == MotionState{2, 3, 6});
  CHECK(profile.at(9) == MotionState{2, 3, 6});
  profile.end_at({2.5, 0, 0}, 1);
  CHECK(profile.at(1).position == 2.5);
  CHECK(profile.position_extrema().max.value == 2.5);
}

TEST_CASE("what does not fit into a profile is not added") {
  JerkProfile profile(MotionState{});
  for (std::size_t k = 0; k < JerkProfile::capacity + 3; ++k) profile.append({1, 0, 0});
  CHECK(profile.phases() == JerkProfile::capacity);
  CHECK(profile.duration() == JerkProfile::capacity);
}
