#include "takt/control/transmission.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "support/random.hpp"

using namespace takt;
using namespace takt::control;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Either sign, not near zero.
double any_reduction(std::mt19937_64& random) {
  const double magnitude = test::uniform(random, 0.1, 200);
  return test::uniform_int(random, 0, 1) == 0 ? magnitude : -magnitude;
}

template <std::size_t Size>
std::array<double, Size> any_values(std::mt19937_64& random) {
  std::array<double, Size> values;
  for (double& value : values) value = test::uniform(random, -10, 10);
  return values;
}

template <std::size_t Size>
double power(const std::array<double, Size>& efforts, const std::array<double, Size>& velocities) {
  return std::inner_product(efforts.begin(), efforts.end(), velocities.begin(), 0.0);
}

template <std::size_t Size>
void equal(const std::array<double, Size>& a, const std::array<double, Size>& b) {
  for (std::size_t i = 0; i < Size; ++i) CHECK(std::abs(a[i] - b[i]) <= 1e-8 * (1 + std::abs(b[i])));
}

/// Checks the conversion from the side with fewer axes to the other and back, and the power for efforts in
/// both directions.
template <std::size_t Joints, std::size_t Actuators>
void check_both_ways(std::mt19937_64& random, const Transmission<Joints, Actuators>& transmission) {
  if constexpr (Joints <= Actuators) {
    const auto joints = any_values<Joints>(random);
    equal(transmission.joint_positions(transmission.actuator_positions(joints)), joints);
    equal(transmission.joint_velocities(transmission.actuator_velocities(joints)), joints);
    equal(transmission.joint_efforts(transmission.actuator_efforts(joints)), joints);
  }
  if constexpr (Actuators <= Joints) {
    const auto actuators = any_values<Actuators>(random);
    equal(transmission.actuator_positions(transmission.joint_positions(actuators)), actuators);
    equal(transmission.actuator_velocities(transmission.joint_velocities(actuators)), actuators);
    equal(transmission.actuator_efforts(transmission.joint_efforts(actuators)), actuators);
  }
  const auto actuator_velocities = any_values<Actuators>(random);
  const auto joint_efforts = any_values<Joints>(random);
  CHECK(power(transmission.actuator_efforts(joint_efforts), actuator_velocities) ==
        doctest::Approx(power(joint_efforts, transmission.joint_velocities(actuator_velocities)))
            .epsilon(1e-9));
  const auto joint_velocities = any_values<Joints>(random);
  const auto actuator_efforts = any_values<Actuators>(random);
  CHECK(power(transmission.joint_efforts(actuator_efforts), joint_velocities) ==
        doctest::Approx(power(actuator_efforts, transmission.actuator_velocities(joint_velocities)))
            .epsilon(1e-9));
}

}  // namespace

TEST_CASE("a gear box slows its joint down and strengthens it") {
  const auto gear = simple_transmission(50.0, 0.5).value();
  CHECK(gear.joint_positions({100})[0] == doctest::Approx(2.5));
  CHECK(gear.joint_velocities({100})[0] == doctest::Approx(2));
  CHECK(gear.joint_efforts({3})[0] == doctest::Approx(150));
  CHECK(gear.actuator_positions({2.5})[0] == doctest::Approx(100));
  CHECK(simple_transmission(-50.0).value().joint_velocities({100})[0] == doctest::Approx(-2));
}

TEST_CASE("a differential and a four-bar linkage follow the formulas of the field") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    const std::array n{any_reduction(random), any_reduction(random)};
    const std::array m{any_reduction(random), any_reduction(random)};
    const auto o = any_values<2>(random);
    const auto a = any_values<2>(random);

    const auto wrist = differential_transmission(n, m, o).value();
    equal(wrist.joint_positions(a),
          {(a[0] / n[0] + a[1] / n[1]) / (2 * m[0]) + o[0], (a[0] / n[0] - a[1] / n[1]) / (2 * m[1]) + o[1]});
    equal(wrist.joint_efforts(a), {m[0] * (n[0] * a[0] + n[1] * a[1]), m[1] * (n[0] * a[0] - n[1] * a[1])});
    equal(wrist.actuator_efforts(a),
          {(a[0] / m[0] + a[1] / m[1]) / (2 * n[0]), (a[0] / m[0] - a[1] / m[1]) / (2 * n[1])});

    const auto linkage = four_bar_transmission(n, m, o).value();
    equal(linkage.joint_positions(a),
          {a[0] / (m[0] * n[0]) + o[0], (a[1] / n[1] - a[0] / (m[0] * n[0])) / m[1] + o[1]});
    equal(linkage.joint_efforts(a), {m[0] * n[0] * a[0] + n[1] * a[1], m[1] * n[1] * a[1]});
    equal(linkage.actuator_efforts(a), {(a[0] - a[1] / m[1]) / (m[0] * n[0]), a[1] / (m[1] * n[1])});
  }
}

TEST_CASE("there and back is where one was, and power is the same on both sides") {
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    check_both_ways(random, simple_transmission(any_reduction(random), test::uniform(random, -3, 3)).value());
    const std::array n{any_reduction(random), any_reduction(random)};
    const std::array m{any_reduction(random), any_reduction(random)};
    check_both_ways(random, differential_transmission(n, m, any_values<2>(random)).value());
    check_both_ways(random, four_bar_transmission(n, m, any_values<2>(random)).value());
    // Well conditioned: the identity plus less than half of a random matrix.
    std::array<double, 9> square = any_values<9>(random);
    for (double& entry : square) entry *= 0.03;
    for (const std::size_t diagonal : {0U, 4U, 8U}) square[diagonal] += 1;
    check_both_ways(random, Transmission<3>::make(square, any_values<3>(random)).value());
    const std::array<double, 6> wide{1, 0.2, 0.5, -0.1, 1, 0.5 + 0.01 * square[1]};
    check_both_ways(random, Transmission<2, 3>::make(wide, any_values<2>(random)).value());
    check_both_ways(random, Transmission<3, 2>::make(wide, any_values<3>(random)).value());
  }
}

TEST_CASE("a coupling in which a direction is lost, or that has no numbers, is refused by name") {
  CHECK(simple_transmission(0.0).error() == Errc::out_of_domain);
  CHECK(simple_transmission(not_a_number).error() == Errc::not_finite);
  CHECK(simple_transmission(infinity).error() == Errc::out_of_domain);
  CHECK(differential_transmission<double>({1, 0}, {1, 1}).error() == Errc::out_of_domain);
  CHECK(four_bar_transmission<double>({1, 1}, {0, 1}).error() == Errc::out_of_domain);
  CHECK(Transmission<2>::make({1, 2, 2, 4}).error() == Errc::out_of_domain);
  CHECK(Transmission<2, 3>::make({1, 2, 3, 2, 4, 6}).error() == Errc::out_of_domain);
  CHECK(Transmission<2>::make({1, 0, 0, not_a_number}).error() == Errc::not_finite);
  CHECK(Transmission<2>::make({1, 0, 0, 1}, {0, infinity}).error() == Errc::not_finite);
}

TEST_CASE_TEMPLATE("every singular coupling is rejected", Scalar, double, float) {
  auto random = test::generator(3);
  const auto any = [&] { return static_cast<Scalar>(test::uniform(random, -1, 1)); };
  for (std::size_t i = 0; i < test::count(2000); ++i) {
    const Scalar scale = static_cast<Scalar>(std::pow(10, test::uniform(random, -4, 4)));
    const Scalar a = scale * any(), b = scale * any(), f = any(), g = any();
    CHECK(BasicTransmission<Scalar, 2>::make({a, b, f * a, f * b}).error() == Errc::out_of_domain);
    const std::array<Scalar, 6> two_rows{a, b, any(), any(), any(), any()};
    std::array<Scalar, 9> three_rows{};
    for (std::size_t k = 0; k < 6; ++k) three_rows[k] = two_rows[k];
    for (std::size_t k = 0; k < 3; ++k) three_rows[6 + k] = f * two_rows[k] + g * two_rows[3 + k];
    CHECK(BasicTransmission<Scalar, 3>::make(three_rows).error() == Errc::out_of_domain);
    const Scalar c = any();
    CHECK(BasicTransmission<Scalar, 2, 3>::make({a, b, c, f * a, f * b, f * c}).error() ==
          Errc::out_of_domain);
    CHECK(BasicTransmission<Scalar, 3, 2>::make({a, f * a, b, f * b, c, f * c}).error() ==
          Errc::out_of_domain);
  }
}

TEST_CASE_TEMPLATE("there and back is where one was, in a coupling as bad as may be, too", Scalar, double,
                   float) {
  auto random = test::generator(4);
  const double worst = std::is_same_v<Scalar, float> ? 2e-3 : 1e-5;
  const auto any = [&] { return static_cast<Scalar>(test::uniform(random, -1, 1)); };
  for (std::size_t i = 0; i < test::count(2000); ++i) {
    // The condition uses each joint's own units, so very different reductions are no bad coupling.
    const Scalar one = static_cast<Scalar>(std::pow(10, test::uniform(random, -4, 4)));
    const Scalar other = static_cast<Scalar>(std::pow(10, test::uniform(random, -4, 4)));
    const Scalar apart = static_cast<Scalar>(std::pow(10, test::uniform(random, -3, 0)));
    const auto square = BasicTransmission<Scalar, 2>::make({one, 0, other, other * apart});
    REQUIRE(square.has_value());
    const auto wide =
        BasicTransmission<Scalar, 2, 3>::make({one, 0, one, other, other * apart, other * (1 - apart / 2)});
    REQUIRE(wide.has_value());
    const std::array<Scalar, 2> joints{one * any(), other * any()};
    const auto same = [&](const std::array<Scalar, 2>& back) {
      CHECK(std::abs(back[0] - joints[0]) <= worst * static_cast<double>(one));
      CHECK(std::abs(back[1] - joints[1]) <= worst * static_cast<double>(other));
    };
    same(square->joint_velocities(square->actuator_velocities(joints)));
    same(wide->joint_velocities(wide->actuator_velocities(joints)));
  }
  // Two joints that move almost together.
  CHECK(Transmission<2, 3>::make({1, 0, 1, 1, 1e-4, 1}).has_value());
  CHECK(Transmission<2>::make({1e-200, 0, 0, 1}).has_value());
  CHECK(BasicTransmission<float, 2>::make({1e-40F, 0, 0, 1}).error() == Errc::out_of_domain);
  const auto near = BasicTransmission<float, 2, 3>::make({1, 0, 1, 1, 1e-3F, 1}).value();
  const auto back = near.joint_velocities(near.actuator_velocities({1, 0}));
  CHECK(back[0] == doctest::Approx(1).epsilon(1e-3));
  CHECK(std::abs(back[1]) < 1e-3F);
}

TEST_CASE("float works as double does") {
  const auto gear = simple_transmission(50.0F, 0.5F).value();
  CHECK(gear.joint_positions({100})[0] == doctest::Approx(2.5));
}
