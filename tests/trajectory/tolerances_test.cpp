#include "takt/trajectory/tolerances.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "trajectory/samples.hpp"

using namespace takt;
using namespace takt::trajectory;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

/// Two joints with both kinds of tolerance, and half a second to settle.
struct Watch {
  std::vector<JointTolerance> path{{0.1, 0, 0}, {0.2, 1, 0}};
  std::vector<JointTolerance> goal{{0.01, 0.05, 0}, {infinity, 0, 0}};
  std::vector<MotionState> reference{{1, 2, 3}, {-1, 0, 0}};
  std::vector<MotionState> measured = reference;

  [[nodiscard]] Tolerances tolerances() const { return {path, goal, 0.5}; }
  [[nodiscard]] Verdict at(double time_after_end) const {
    return judge<double>(tolerances(), reference, measured, time_after_end);
  }
};

}  // namespace

TEST_CASE("a joint within its path tolerance follows; one beyond it is named, with what it was off by") {
  Watch watch;
  watch.measured[0].position = 1.1 - 1e-9;
  CHECK(watch.at(-1).tracking == Tracking::following);
  watch.measured[1].velocity = -1.5;
  const Verdict verdict = watch.at(-1e-9);
  CHECK(verdict.tracking == Tracking::path_violated);
  CHECK(verdict.worst.joint == 1);
  CHECK(verdict.worst.quantity == Quantity::velocity);
  CHECK(verdict.worst.value == 1.5);
  CHECK(verdict.worst.allowed == 1);
}

TEST_CASE("the worst of several deviations is the one that is most times its tolerance") {
  Watch watch;
  watch.measured[0].position = 1.3;   // 3 times the tolerance
  watch.measured[1].position = -1.5;  // 2.5 times the tolerance
  CHECK(watch.at(-1).worst.joint == 0);
  watch.measured[1].velocity = 3.5;
  CHECK(watch.at(-1).worst.joint == 1);
  CHECK(watch.at(-1).worst.quantity == Quantity::velocity);
}

TEST_CASE("from the end on only the goal tolerances count, and there is time to settle") {
  Watch watch;
  watch.measured[1] = {5, 5, 5};  // beyond its path tolerances; it has no goal tolerance
  CHECK(watch.at(0).tracking == Tracking::reached);
  watch.measured[0].position = 1.02;
  CHECK(watch.at(0).tracking == Tracking::settling);
  CHECK(watch.at(0.5).tracking == Tracking::settling);
  CHECK(watch.at(0.5001).tracking == Tracking::not_in_time);
  CHECK(watch.at(0.5001).worst.allowed == 0.01);
  watch.measured[0].position = 1.005;
  CHECK(watch.at(9).tracking == Tracking::reached);
  watch.measured[0].velocity = 2.1;
  CHECK(watch.at(9).tracking == Tracking::not_in_time);
  CHECK(watch.at(9).worst.quantity == Quantity::velocity);
  CHECK(judge<double>({watch.path, watch.goal, infinity}, watch.reference, watch.measured, 1e9).tracking ==
        Tracking::settling);
}

TEST_CASE("a measurement that is NaN or missing is a violation of what is checked, and of nothing else") {
  Watch watch;
  watch.measured[0] = {1, not_a_number, not_a_number};
  CHECK(watch.at(-1).tracking == Tracking::following);
  watch.measured[1].position = 7;
  watch.measured[0].position = not_a_number;
  CHECK(watch.at(-1).tracking == Tracking::path_violated);
  CHECK(watch.at(-1).worst.joint == 0);
  CHECK(std::isnan(watch.at(-1).worst.value));
  CHECK(watch.at(0).tracking == Tracking::settling);
  watch.measured = {watch.reference[0]};
  CHECK(watch.at(-1).tracking == Tracking::path_violated);
  CHECK(watch.at(-1).worst.joint == 1);
}

TEST_CASE("zero, infinite and missing tolerances ask for nothing") {
  Watch watch;
  watch.measured = {{infinity, not_a_number, 0}, {not_a_number, not_a_number, not_a_number}};
  watch.path = {{0, infinity, 0}};
  watch.goal = {};
  CHECK(watch.at(-1).tracking == Tracking::following);
  CHECK(watch.at(0).tracking == Tracking::reached);
}

TEST_CASE("tolerances that mean nothing are refused by name") {
  CHECK(check_tolerance(JointTolerance{0, infinity, 1}));
  CHECK(check_tolerance(JointTolerance{0, -1, 0}).error() == Errc::tolerance_negative);
  CHECK(check_tolerance(JointTolerance{0, 0, not_a_number}).error() == Errc::not_finite);
  Watch watch;
  CHECK(check_tolerances(watch.tolerances()));
  CHECK(check_tolerances(Tolerances{{}, {}, -1}).error() == Errc::tolerance_negative);
  CHECK(check_tolerances(Tolerances{{}, {}, not_a_number}).error() == Errc::not_finite);
  watch.goal[1].acceleration = -infinity;
  CHECK(check_tolerances(watch.tolerances()).error() == Errc::tolerance_negative);
}

TEST_CASE_TEMPLATE("a verdict says reached or following exactly when every quantity is within its tolerance",
                   Scalar, double, float) {
  auto random = test::generator(72);
  std::size_t within = 0;
  const std::size_t cases = test::count(20000);
  for (std::size_t n = 0; n < cases; ++n) {
    const std::size_t joints = 1 + n % 4;
    std::vector<BasicJointTolerance<Scalar>> tolerances(joints);
    std::vector<BasicMotionState<Scalar>> reference(joints), measured(joints);
    bool expected = true;
    for (std::size_t j = 0; j < joints; ++j) {
      reference[j] = test::any_state<Scalar>(random, 1, 1, 1);
      measured[j] = test::any_state<Scalar>(random, 1, 1, 1);
      const auto tolerance = [&] { return static_cast<Scalar>(std::abs(test::any_number(random, 4))); };
      tolerances[j] = {tolerance(), tolerance(), tolerance()};
      const auto check = [&](Scalar allowed, Scalar a, Scalar b) {
        expected = expected && (allowed == 0 || std::abs(a - b) <= allowed);
      };
      check(tolerances[j].position, reference[j].position, measured[j].position);
      check(tolerances[j].velocity, reference[j].velocity, measured[j].velocity);
      check(tolerances[j].acceleration, reference[j].acceleration, measured[j].acceleration);
    }
    within += expected ? 1 : 0;
    const BasicTolerances<Scalar> both{tolerances, tolerances, 0};
    const Tracking before = judge<Scalar>(both, reference, measured, -1).tracking;
    const Tracking after = judge<Scalar>(both, reference, measured, 1).tracking;
    REQUIRE(before == (expected ? Tracking::following : Tracking::path_violated));
    REQUIRE(after == (expected ? Tracking::reached : Tracking::not_in_time));
  }
  CHECK(within > cases / 20);
  CHECK(within < cases);
}
