#include "takt/control/ros_limits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "support/random.hpp"

using namespace takt;
using namespace takt::control;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double h = 0.1;

JointLimits limits() {
  JointLimits l;
  l.position_min = -1;
  l.position_max = 1;
  l.velocity = 2;
  l.acceleration = 5;
  l.effort = 8;
  return l;
}
constexpr SoftLimits soft{-0.8, 0.8, 4, 10};

MotionState at(double position, double velocity = 0) { return {position, velocity, 0}; }

// The originals again, with the order and the flags of their code.

struct Flags {
  explicit Flags(const JointLimits& l)
      : position(std::isfinite(l.position_min)),
        velocity(std::isfinite(l.velocity)),
        acceleration(std::isfinite(l.acceleration)),
        effort(std::isfinite(l.effort)) {}
  bool position, velocity, acceleration, effort;
};

double saturate(double value, double low, double high) { return std::min(std::max(value, low), high); }

struct Ros1Original {
  JointLimits l;
  std::optional<SoftLimits> s;
  double previous_position = not_a_number;
  double previous_velocity = 0;
  Flags has{l};

  std::pair<double, double> soft_velocities(double x) const {
    if (!has.position) return {-l.velocity, l.velocity};
    return {saturate(-s->position_gain * (x - s->position_min), -l.velocity, l.velocity),
            saturate(-s->position_gain * (x - s->position_max), -l.velocity, l.velocity)};
  }

  std::optional<double> position(double command, const MeasuredState& measured, double dt) {
    if (std::isnan(previous_position)) previous_position = *measured.position;
    const double pos = previous_position;
    double low = 0, high = 0;
    if (s) {
      const auto [soft_min, soft_max] = soft_velocities(pos);
      low = pos + soft_min * dt;
      high = pos + soft_max * dt;
      if (has.position) {
        low = std::max(low, l.position_min);
        high = std::min(high, l.position_max);
      }
    } else {
      const double delta = l.velocity * dt;
      low = std::max(pos - delta, l.position_min);
      high = std::min(pos + delta, l.position_max);
    }
    return previous_position = saturate(command, low, high);
  }

  std::optional<double> velocity(double command, const MeasuredState& measured, double dt) {
    auto [low, high] = s ? soft_velocities(*measured.position) : std::pair(-l.velocity, l.velocity);
    if (has.acceleration) {
      const double from = s ? *measured.velocity : previous_velocity;
      low = std::max(from - l.acceleration * dt, low);
      high = std::min(from + l.acceleration * dt, high);
    }
    return previous_velocity = saturate(command, low, high);
  }

  double effort(double command, const MeasuredState& measured) const {
    double low = -l.effort, high = l.effort;
    if (s) {
      const auto [soft_min, soft_max] = soft_velocities(*measured.position);
      low = saturate(-s->velocity_gain * (*measured.velocity - soft_min), -l.effort, l.effort);
      high = saturate(-s->velocity_gain * (*measured.velocity - soft_max), -l.effort, l.effort);
      return saturate(command, low, high);
    }
    if (has.position && *measured.position < l.position_min) {
      low = 0;
    } else if (has.position && *measured.position > l.position_max) {
      high = 0;
    }
    if (*measured.velocity < -l.velocity) {
      low = 0;
    } else if (*measured.velocity > l.velocity) {
      high = 0;
    }
    return saturate(command, low, high);
  }
};

struct Ros2Original {
  JointLimits l;
  std::optional<SoftLimits> s;
  std::optional<double> previous_position = {}, previous_velocity = {};
  Flags has{l};

  std::pair<double, double> soft_velocities(std::optional<double> prev, std::optional<double> actual) const {
    const double from = prev.value_or(infinity), act = actual.value_or(infinity);
    if (!has.velocity) return {-infinity, infinity};
    double low = -l.velocity, high = l.velocity;
    const bool soft_range = s->position_max - s->position_min > 1e-10;
    if (has.position && soft_range && std::abs(s->position_gain) > 1e-10 && std::isfinite(from)) {
      low = std::clamp(-s->position_gain * (from - s->position_min), -l.velocity, l.velocity);
      high = std::clamp(-s->position_gain * (from - s->position_max), -l.velocity, l.velocity);
      if (std::isfinite(act) && (act < l.position_min - 0.002 || act > l.position_max + 0.002)) {
        low = high = 0;
      } else if (act < s->position_min || act > s->position_max) {
        low = std::copysign(1.0 * (3.14159265358979323846 / 180.0), low);
        high = std::copysign(1.0 * (3.14159265358979323846 / 180.0), high);
      }
    }
    return {low, high};
  }

  std::optional<double> position(double command, const MeasuredState& measured, double dt) {
    double lower = l.position_min, upper = l.position_max;
    if (measured.position && has.position &&
        (*measured.position > upper + 0.0087 || *measured.position < lower - 0.0087))
      return {};
    if (!previous_position) previous_position = measured.position ? *measured.position : command;
    const double previous = *previous_position;
    if (has.velocity) {
      const double delta_vel =
          has.acceleration ? (measured.velocity ? std::fabs(*measured.velocity) : 0.0) + l.acceleration * dt
                           : l.velocity;
      const double delta = std::min(l.velocity, delta_vel) * dt;
      lower = std::max(std::min(previous - delta, upper), lower);
      upper = std::min(std::max(previous + delta, lower), upper);
    }
    if (lower > upper) std::swap(lower, upper);
    if (!s) return previous_position = std::clamp(command, lower, upper);
    double low = -infinity, high = infinity;
    if (s->position_max - s->position_min > 1e-10) low = s->position_min, high = s->position_max;
    if (has.velocity) {
      const auto [soft_min, soft_max] =
          soft_velocities(previous, measured.position ? measured.position : previous);
      low = std::clamp(previous + soft_min * dt, low, high);
      high = std::clamp(previous + soft_max * dt, low, high);
    }
    const double soft_low = low, soft_high = high;
    low = std::max(low, lower);
    high = std::min(high, upper);
    if (low > high) low = soft_low, high = soft_high;
    return previous_position = std::clamp(command, low, high);
  }

  std::optional<double> velocity(double command, const MeasuredState& measured, double dt) {
    if (!previous_velocity) previous_velocity = measured.velocity ? *measured.velocity : command;
    double lower = -infinity, upper = infinity;
    if (has.velocity) {
      lower = -l.velocity, upper = l.velocity;
      if (has.position && measured.position) {
        const double act = *measured.position;
        lower = std::max((l.position_min - act) / dt, lower);
        upper = std::min((l.position_max - act) / dt, upper);
        if (act > l.position_max || act < l.position_min) {
          if ((act < l.position_max + 0.002 && act > l.position_min && command >= 0) ||
              (act > l.position_min - 0.002 && act < l.position_max && command <= 0)) {
            lower = upper = 0;
          } else if (act > l.position_max + 0.002 || act < l.position_min - 0.002) {
            lower = upper = 0;
          }
        }
      }
      if (has.acceleration) {
        lower = std::max(*previous_velocity - l.acceleration * dt, lower);
        upper = std::min(*previous_velocity + l.acceleration * dt, upper);
      }
      if (lower > upper) std::swap(lower, upper);
    }
    if (s) {
      auto [low, high] = soft_velocities(measured.position, measured.position);
      if (has.velocity && has.acceleration && measured.velocity) {
        low = std::max(*measured.velocity - l.acceleration * dt, low);
        high = std::min(*measured.velocity + l.acceleration * dt, high);
      }
      lower = std::max(low, lower);
      upper = std::min(high, upper);
    }
    return previous_velocity = saturate(command, lower, upper);
  }

  double effort(double command, const MeasuredState& measured) const {
    if (!has.effort) return command;
    double lower = -l.effort, upper = l.effort;
    if (has.position && measured.position && measured.velocity) {
      if (*measured.position <= l.position_min && *measured.velocity <= 0) {
        lower = 0;
      } else if (*measured.position >= l.position_max && *measured.velocity >= 0) {
        upper = 0;
      }
    }
    if (has.velocity && measured.velocity) {
      if (*measured.velocity < -l.velocity) {
        lower = 0;
      } else if (*measured.velocity > l.velocity) {
        upper = 0;
      }
    }
    if (!s || !measured.velocity) return saturate(command, lower, upper);
    const auto [soft_min, soft_max] = soft_velocities(measured.position, measured.position);
    const double low = std::clamp(-s->velocity_gain * (*measured.velocity - soft_min), -l.effort, l.effort);
    const double high = std::clamp(-s->velocity_gain * (*measured.velocity - soft_max), -l.effort, l.effort);
    return saturate(command, std::max(low, lower), std::min(high, upper));
  }
};

/// Limits of which some may be missing. ROS 1 rejects soft limits and efforts without a velocity limit.
JointLimits any_limits(std::mt19937_64& random, bool may_lack_velocity) {
  const auto maybe = [&](double limit) { return test::uniform_int(random, 0, 3) == 0 ? infinity : limit; };
  JointLimits l;
  l.position_max = maybe(test::uniform(random, 0.2, 2));
  l.position_min = std::isfinite(l.position_max) ? -test::uniform(random, 0.2, 2) : -infinity;
  l.velocity = test::uniform(random, 0.1, 4);
  if (may_lack_velocity) l.velocity = maybe(l.velocity);
  l.acceleration = maybe(test::uniform(random, 0.5, 20));
  l.effort = may_lack_velocity ? maybe(test::uniform(random, 1, 20)) : test::uniform(random, 1, 20);
  return l;
}

std::optional<SoftLimits> any_soft_limits(std::mt19937_64& random) {
  if (test::uniform_int(random, 0, 1) == 0) return std::nullopt;
  const auto often = [&](double value) { return test::uniform_int(random, 0, 7) == 0 ? 0 : value; };
  return SoftLimits{-often(test::uniform(random, 0.1, 1.5)), often(test::uniform(random, 0.1, 1.5)),
                    often(test::uniform(random, 0.5, 30)), test::uniform(random, 0.5, 50)};
}

enum class Sensor { none, sometimes, always };

std::optional<double> measured_by(Sensor sensor, std::mt19937_64& random, double value) {
  const bool answers = sensor != Sensor::sometimes || test::uniform_int(random, 0, 1) == 0;
  return sensor != Sensor::none && answers ? std::optional(value) : std::nullopt;
}

/// Gives both the same commands and requires the same numbers, bit for bit. The joint is sometimes outside
/// its range or too fast.
template <class Limiter, class Original>
void same_as(std::uint64_t salt, bool may_lack_velocity, bool may_lack_sensors) {
  auto random = test::generator(salt);
  for (std::size_t i = 0; i < test::count(3000); ++i) {
    const JointLimits l = any_limits(random, may_lack_velocity);
    const auto s = any_soft_limits(random);
    auto limiter = Limiter::make(l, s).value();
    Original original{.l = l, .s = s};
    const auto way = test::uniform_int(random, 0, 2);
    const auto any_sensor = [&] {
      return may_lack_sensors ? static_cast<Sensor>(test::uniform_int(random, 0, 2)) : Sensor::always;
    };
    const Sensor position_sensor = any_sensor(), velocity_sensor = any_sensor();
    const double reach = std::isfinite(l.position_max) ? l.position_max + 0.01 : 2;
    double around = test::uniform(random, -2, reach);
    for (int k = 0; k < 20; ++k) {
      const double command = test::uniform_int(random, 0, 9) == 0 ? 0 : test::uniform(random, -25, 25) / 5;
      if (test::uniform_int(random, 0, 9) == 0) around = reach - test::uniform(random, 0, 0.02);
      around += test::uniform(random, -0.01, 0.01);
      const MeasuredState measured(measured_by(position_sensor, random, around),
                                   measured_by(velocity_sensor, random, test::uniform(random, -5, 5)));
      const double period = test::uniform(random, 1e-3, 0.1);
      if (way == 2) {
        CHECK(limiter.effort(5 * command, measured).value == original.effort(5 * command, measured));
        continue;
      }
      const LimitedStep got = way == 0 ? limiter.position(command, measured, period)
                                       : limiter.velocity(command, measured, period);
      const auto wanted = way == 0 ? original.position(command, measured, period)
                                   : original.velocity(command, measured, period);
      CHECK(got.ok() == wanted.has_value());
      if (wanted) CHECK(got.value == *wanted);
      CHECK(got.limited == (wanted && *wanted != command));
    }
  }
}

}  // namespace

// The expected numbers of these tables are computed by hand from the formulas of the originals.

TEST_CASE("a position is saturated by the velocity limit, from the command before") {
  auto ros1 = Ros1Limits::make(limits()).value();
  CHECK(ros1.position(0.9, at(0), h).value == doctest::Approx(0.2));
  CHECK(ros1.position(0.9, at(0), h).value == doctest::Approx(0.4));  // open loop: the joint has not moved
  CHECK(ros1.position(-0.9, at(0), h).value == doctest::Approx(0.2));
  ros1.reset();
  CHECK(ros1.position(0.9, at(0.7), h).value == doctest::Approx(0.9));
  CHECK(ros1.position(5, at(0.7), h).value == 1);

  auto ros2 = Ros2Limits::make(limits()).value();
  CHECK(ros2.position(0.9, at(0), h).value == doctest::Approx(0.05));     // reach 0 + 5 * 0.1 rad/s
  CHECK(ros2.position(0.9, at(0, 1), h).value == doctest::Approx(0.2));   // 1 + 0.5 rad/s
  CHECK(ros2.position(0.9, at(0, -3), h).value == doctest::Approx(0.4));  // the velocity limit
  CHECK(ros2.position(0.9, at(1.1, 0), h).error == Errc::out_of_domain);
  CHECK(ros2.position(0.9, at(1.1, 0), h).value == doctest::Approx(0.4));
}

TEST_CASE("a position nears its soft limit ever more slowly, and may go back at full speed") {
  auto ros1 = Ros1Limits::make(limits(), soft).value();
  CHECK(ros1.position(0.9, at(0.5), h).value == doctest::Approx(0.62));  // 4 (0.8 - 0.5) = 1.2 rad/s
  CHECK(ros1.position(0.9, at(0.5), h).value == doctest::Approx(0.692));
  CHECK(ros1.position(-0.9, at(0.5), h).value == doctest::Approx(0.492));  // 2 rad/s
  auto outside = Ros1Limits::make(limits(), soft).value();
  CHECK(outside.position(0.95, at(0.9), h).value == doctest::Approx(0.86));  // driven back: -4 (0.9 - 0.8)
  auto ros2 = Ros2Limits::make(limits(), soft).value();
  CHECK(ros2.position(0.9, at(0.5, 2), h).value == doctest::Approx(0.62));
  auto ros2_outside = Ros2Limits::make(limits(), soft).value();
  CHECK(ros2_outside.position(0.95, at(0.9), h).value == doctest::Approx(0.8));
}

TEST_CASE("a velocity is saturated by the acceleration limit") {
  auto ros1 = Ros1Limits::make(limits()).value();
  CHECK(ros1.velocity(9, at(0, 1.7), h).value ==
        doctest::Approx(0.5));  // from its own last command, zero at first
  CHECK(ros1.velocity(9, at(0, 1.7), h).value == doctest::Approx(1));
  CHECK(ros1.velocity(-9, at(0), h).value == doctest::Approx(0.5));
  auto ros2 = Ros2Limits::make(limits()).value();
  CHECK(ros2.velocity(9, at(0, 1.7), h).value == doctest::Approx(2));
  // At most 0.5 rad/s to the end of the range, at least 1.5 rad/s by the acceleration limit: the original
  // swaps them.
  CHECK(ros2.velocity(9, at(0.95, 1.7), h).value == doctest::Approx(1.5));
  CHECK(ros2.velocity(0, at(0), h).value == doctest::Approx(1));
  auto outside = Ros2Limits::make(limits()).value();
  CHECK(outside.velocity(9, at(1.001), h).value == 0);
  CHECK(outside.velocity(-9, at(1.5), h).value == 0);
  auto inward = Ros2Limits::make(limits()).value();
  CHECK(inward.velocity(-1, at(1.001, -0.6), h).value == doctest::Approx(-1));
}

TEST_CASE("a velocity near soft limits, and outside them") {
  auto ros1 = Ros1Limits::make(limits(), soft).value();
  CHECK(ros1.velocity(9, at(0.5, 1), h).value == doctest::Approx(1.2));
  CHECK(ros1.velocity(9, at(0.5, 0), h).value == doctest::Approx(0.5));
  auto ros2 = Ros2Limits::make(limits(), soft).value();
  CHECK(ros2.velocity(9, at(0, 1.8), h).value == doctest::Approx(2));
  auto driven = Ros2Limits::make(limits(), soft).value();
  const double degree = 3.14159265358979 / 180;
  CHECK(std::abs(driven.velocity(0, at(0.9), h).value) ==
        doctest::Approx(degree));  // the known error of the original
}

TEST_CASE("efforts do not drive on") {
  const auto ros1 = Ros1Limits::make(limits()).value();
  CHECK(ros1.effort(20, at(0)).value == 8);
  CHECK(ros1.effort(5, at(1.01)).value == 0);
  CHECK(ros1.effort(-5, at(1.01)).value == -5);
  CHECK(ros1.effort(5, at(0, 2.1)).value == 0);
  CHECK(ros1.effort(5, at(1)).value == 5);
  const auto ros2 = Ros2Limits::make(limits()).value();
  CHECK(ros2.effort(5, at(1)).value == 0);
  CHECK(ros2.effort(5, at(1, -0.1)).value == 5);
  const auto soft1 = Ros1Limits::make(limits(), soft).value();
  CHECK(soft1.effort(8, at(0.7, 0.1)).value == doctest::Approx(3));  // -10 (0.1 - 0.4)
  CHECK(soft1.effort(8, at(0.8, 0.5)).value == doctest::Approx(-5));
}

TEST_CASE("limits brought along from ROS 1 and ROS 2 give the numbers that they gave there, bit for bit") {
  same_as<Ros1Limits, Ros1Original>(2, false, false);
  same_as<Ros2Limits, Ros2Original>(3, true, false);
}

TEST_CASE("so do joints without a sensor of position or velocity, which only ROS 2 has") {
  same_as<Ros2Limits, Ros2Original>(4, true, true);
}

TEST_CASE("a limiter reports whether it limited") {
  auto ros1 = Ros1Limits::make(limits()).value();
  CHECK(ros1.position(0.9, at(0), h).limited);
  CHECK_FALSE(ros1.position(0.3, at(0), h).limited);
  CHECK(ros1.effort(20, at(0)).limited);
  CHECK_FALSE(ros1.effort(-8, at(0)).limited);
  CHECK_FALSE(ros1.position(not_a_number, at(0), h).limited);  // an error, and reported as one
  auto ros2 = Ros2Limits::make(limits()).value();
  CHECK(ros2.velocity(9, at(0), h).limited);
  CHECK_FALSE(ros2.velocity(0.5, at(0), h).limited);
}

TEST_CASE_TEMPLATE("a missing measurement bounds nothing and gives no NaN", Limits, Ros1Limits, Ros2Limits) {
  const MeasuredState nothing;
  auto joint = Limits::make(limits()).value();
  CHECK(joint.position(0.7, nothing, h).value == 0.7);  // the first command is bounded from itself
  CHECK(joint.position(0.7, nothing, h).ok());
  CHECK(joint.position(-3, MeasuredState(std::nullopt, 5), h).value == doctest::Approx(0.5));  // 2 rad/s
  CHECK(joint.effort(20, nothing).value == 8);
  CHECK(joint.effort(5, MeasuredState(0, std::nullopt)).value == 5);
  auto moving = Limits::make(limits()).value();
  CHECK(moving.velocity(-0.4, nothing, h).value == -0.4);
  CHECK(moving.velocity(9, nothing, h).value == doctest::Approx(0.1));
  CHECK(moving.velocity(0.1, MeasuredState(not_a_number, std::nullopt), h).error == Errc::not_finite);
  CHECK(moving.velocity(0.1, MeasuredState(std::nullopt, infinity), h).error == Errc::not_finite);
}

TEST_CASE("soft limits leave a continuous joint its way, and a gain of zero the effort its limit") {
  JointLimits endless = limits();
  endless.position_min = -infinity;
  endless.position_max = infinity;
  // A URDF's safety_controller that has only a k_velocity.
  const SoftLimits damping{0, 0, 0, 10};
  CHECK(Ros1Limits::make(endless, damping).value().position(5, at(3), h).value == doctest::Approx(3.2));
  CHECK(Ros2Limits::make(endless, damping).value().velocity(9, at(3, 2), h).value == doctest::Approx(2));
  JointLimits any_speed = limits();
  any_speed.velocity = infinity;
  CHECK(Ros1Limits::make(any_speed, SoftLimits{-0.8, 0.8, 0, 0}).value().effort(20, at(0)).value == 8);
  CHECK(Ros2Limits::make(any_speed, SoftLimits{-0.8, 0.8, 0, 0}).value().effort(20, at(0)).value == 8);
}

TEST_CASE("within the formulas no command leaves its range") {
  auto random = test::generator(1);
  for (std::size_t i = 0; i < test::count(300); ++i) {
    auto ros1 = Ros1Limits::make(limits(), soft).value();
    auto ros2 = Ros2Limits::make(limits(), soft).value();
    double x1 = 0, x2 = 0;
    for (int k = 0; k < 200; ++k) {
      const double command = test::uniform(random, -3, 3);
      const double period = test::uniform(random, 0.001, 0.1);
      const double next1 = ros1.position(command, at(x1), period).value;
      CHECK(std::abs(next1) <= 0.8 + 1e-12);
      CHECK(std::abs(next1 - x1) <= 2 * period + 1e-12);
      x1 = next1;
      const double next2 = ros2.position(command, at(x2, test::uniform(random, -2, 2)), period).value;
      CHECK(std::abs(next2) <= 0.8 + 1e-12);
      x2 = next2;
    }
  }
}

TEST_CASE_TEMPLATE("before the first command, too, the value after an error is a number to be used", Limits,
                   Ros1Limits, Ros2Limits) {
  auto l = limits();
  l.position_min = 0.5;
  auto joint = Limits::make(l).value();
  CHECK(joint.position(0.7, at(not_a_number), h).error == Errc::not_finite);
  CHECK(joint.position(0.7, at(not_a_number), h).value == 0.5);
  CHECK(joint.position(not_a_number, at(0.8), h).value == 0.8);
  CHECK(joint.position(0.7, at(infinity), h).value == 0.8);
  CHECK(joint.position(0.7, at(0.9), 0).value == 0.9);
  CHECK(joint.velocity(0.5, at(0.9, not_a_number), h).error == Errc::not_finite);
  CHECK(joint.velocity(0.5, at(0.9, not_a_number), h).value == 0);
  CHECK(joint.velocity(not_a_number, at(0.9, 1), h).value == 0);
}

TEST_CASE_TEMPLATE("the value stays finite when any term overflows", Limits, Ros1Limits, Ros2Limits) {
  auto random = test::generator(31);
  const auto any = [&](bool positive) {
    const double size = std::pow(10.0, test::uniform(random, -300, 308));
    return positive || test::uniform_int(random, 0, 1) == 0 ? size : -size;
  };
  std::size_t refused = 0;
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    const auto band = std::minmax({any(false), any(false)});
    const auto range = std::minmax({any(false), any(false)});
    auto l = limits();
    if (test::uniform_int(random, 0, 1) == 0) l.velocity = infinity;
    if (test::uniform_int(random, 0, 1) == 0) l.effort = infinity;
    l.position_min = range.first;
    l.position_max = range.second;
    auto joint = Limits::make(l, SoftLimits{band.first, band.second, any(true), any(true)}).value();
    const MotionState measured = at(any(false), any(false));
    for (const auto& step : {joint.position(any(false), measured, h), joint.velocity(any(false), measured, h),
                             joint.effort(any(false), measured)}) {
      REQUIRE(std::isfinite(step.value));
      refused += step.error == Errc::not_finite ? 1 : 0;
    }
  }
  // ROS 2 rejects a measurement so far outside before anything can overflow.
  CHECK((refused > 0) == (std::is_same_v<Limits, Ros1Limits>));
}

TEST_CASE("bad numbers change nothing, and bad limits are refused by name") {
  auto ros2 = Ros2Limits::make(limits()).value();
  const double good = ros2.position(0.03, at(0), h).value;
  for (const double bad : {not_a_number, infinity}) {
    CHECK(ros2.position(bad, at(0), h).error == Errc::not_finite);
    CHECK(ros2.position(0, at(bad), h).error == Errc::not_finite);
    CHECK(ros2.position(bad, at(0), h).value == good);
    CHECK(ros2.effort(bad, at(0)).value == 0);
  }
  for (const double period : {0.0, -1.0, not_a_number, infinity})
    CHECK(ros2.position(0, at(0), period).error == Errc::bad_period);
  auto l = limits();
  l.position_min = 2;
  CHECK(Ros1Limits::make(l).error() == Errc::min_above_max);
  l = limits();
  l.velocity = not_a_number;
  CHECK(Ros1Limits::make(l).error() == Errc::not_finite);
  l.velocity = -1;
  CHECK(Ros1Limits::make(l).error() == Errc::out_of_domain);
  CHECK(Ros1Limits::make(limits(), SoftLimits{1, -1, 1, 1}).error() == Errc::min_above_max);
  CHECK(Ros1Limits::make(limits(), SoftLimits{-1, 1, infinity, 1}).error() == Errc::not_finite);
  CHECK(Ros1Limits::make(limits(), SoftLimits{-1, 1, -1, 1}).error() == Errc::out_of_domain);
  CHECK(Ros2Limits::make(limits(), SoftLimits{-1, 1, 1, -1}).error() == Errc::out_of_domain);
  for (const double end : {infinity, -infinity}) {
    l = limits();
    l.position_min = l.position_max = end;
    CHECK(Ros1Limits::make(l).error() == Errc::not_finite);
  }
}
