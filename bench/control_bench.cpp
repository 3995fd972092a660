// PID steps and odometry against hand-written ones of equal features: the same formulas, limits, first-step rule and finite check,
// and nothing else around them.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "takt/control/joint_limiter.hpp"
#include "takt/control/pid.hpp"
#include "takt/control/pid_bank.hpp"
#include "takt/mobile/odometry.hpp"

namespace {

using namespace takt;
using namespace takt::control;

constexpr double period = 1e-3;
/// As ROS 2's controller is most often used: the form of the peer that it is compared with.
constexpr PidForm form = conventions::ros2_back_calculation;

PidGains gains(std::size_t i) {
  PidGains g;
  g.proportional = 10 + 0.1 * static_cast<double>(i);
  g.integral = 3;
  g.derivative = 0.5;
  g.derivative_weight = 1;
  g.integral_min = -5;
  g.integral_max = 5;
  g.output_min = -20;
  g.output_max = 20;
  return g;
}

/// A PID of the same form by hand.
struct HandWritten {
  double kp, ki, kd, b, c, filter, tracking, dead_band, integral_min, integral_max, output_min, output_max;
  double integral = 0, slope = 0, slope_of = 0, output = 0;

  double step(double r, double y, double h, double feed_forward) {
    if (!(h > 0 && h <= 10)) return output;
    const double e = r - y;
    const double now = c * r - y;
    const double d = (filter * slope + (now - slope_of)) / (filter + h);
    const double wanted = kp * (b * r - y) + integral + kd * d + feed_forward;
    double out = wanted < output_min ? output_min : wanted;
    out = out > output_max ? output_max : out;
    double next = integral;
    if (std::abs(e) > dead_band) {
      next = integral + h * (ki * e + tracking * (out - wanted));
      next = next < integral_min ? integral_min : next;
      next = next > integral_max ? integral_max : next;
    }
    if (!((wanted - wanted) + (next - next) == 0)) return output;
    integral = next;
    slope = d;
    slope_of = now;
    output = out;
    return out;
  }
};

HandWritten by_hand(std::size_t i) {
  const PidGains g = gains(i);
  return {g.proportional,
          g.integral,
          g.derivative,
          1,
          1,
          0,
          1 / std::sqrt(g.derivative / g.integral),
          0,
          g.integral_min,
          g.integral_max,
          g.output_min,
          g.output_max};
}

void pid_takt(benchmark::State& state) {
  auto pid = *BasicPid<double, form>::make(gains(0));
  double y = 0;
  for (auto _ : state) {
    y += 1e-3 * (pid.step(1, y, period).value - y);
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(pid_takt)->Name("control/pid/1/takt");

void pid_floor(benchmark::State& state) {
  HandWritten pid = by_hand(0);
  benchmark::DoNotOptimize(pid);
  double y = 0;
  for (auto _ : state) {
    y += 1e-3 * (pid.step(1, y, period, 0) - y);
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(pid_floor)->Name("control/pid/1/floor");

void bank_takt(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  std::vector<PidGains> all;
  for (std::size_t i = 0; i < size; ++i) all.push_back(gains(i));
  auto bank = *BasicPidBank<double, form>::make(all);
  std::vector<double> r(size, 1), y(size, 0.5), u(size);
  for (auto _ : state) {
    auto held = bank.step(r, y, period, u);
    benchmark::DoNotOptimize(held);
    benchmark::DoNotOptimize(u.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(bank_takt)->Name("control/pid_bank/takt")->Arg(7)->Arg(20)->Arg(64);

void bank_one_by_one(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  std::vector<HandWritten> pids;
  for (std::size_t i = 0; i < size; ++i) pids.push_back(by_hand(i));
  std::vector<double> r(size, 1), y(size, 0.5), u(size);
  for (auto _ : state) {
    for (std::size_t i = 0; i < size; ++i) u[i] = pids[i].step(r[i], y[i], period, 0);
    benchmark::DoNotOptimize(u.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(bank_one_by_one)->Name("control/pid_bank/one_by_one")->Arg(7)->Arg(20)->Arg(64);

/// The same features as plain loops over arrays, as the compiler vectorises them or not.
void bank_floor(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const auto rows = [n](double value) { return std::vector<double>(n, value); };
  auto kp = rows(10), ki = rows(3), kd = rows(0.5), b = rows(1), c = rows(1), filter = rows(0),
       rate = rows(1 / period);
  auto tracking = rows(2.4), dead = rows(0), imin = rows(-5), imax = rows(5), umin = rows(-20),
       umax = rows(20);
  auto integral = rows(0), slope = rows(0), before = rows(0), r = rows(1), y = rows(0.5), u = rows(0);
  double* const __restrict I = integral.data();
  double* const __restrict D = slope.data();
  double* const __restrict B = before.data();
  double* const __restrict U = u.data();
  for (auto _ : state) {
    for (std::size_t i = 0; i < n; ++i) {
      const double e = r[i] - y[i];
      const double now = c[i] * r[i] - y[i];
      const double d = (filter[i] * D[i] + (now - B[i])) * rate[i];
      const double wanted = kp[i] * (b[i] * r[i] - y[i]) + I[i] + kd[i] * d;
      double out = wanted < umin[i] ? umin[i] : wanted;
      out = out > umax[i] ? umax[i] : out;
      double next = I[i] + period * (ki[i] * e + tracking[i] * (out - wanted));
      next = next < imin[i] ? imin[i] : next;
      next = next > imax[i] ? imax[i] : next;
      next = std::abs(e) > dead[i] ? next : I[i];
      const bool good = (wanted - wanted) + (next - next) == 0;
      I[i] = good ? next : I[i];
      D[i] = good ? d : D[i];
      B[i] = good ? now : B[i];
      U[i] = good ? out : U[i];
    }
    benchmark::DoNotOptimize(U);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(bank_floor)->Name("control/pid_bank/floor")->Arg(7)->Arg(20)->Arg(64);

void limiter(benchmark::State& state) {
  JointLimits limits;
  limits.position_min = -2;
  limits.position_max = 2;
  limits.velocity = 2;
  limits.acceleration = 10;
  limits.jerk = 200;
  auto joint = *JointLimiter::make(limits);
  int k = 0;
  for (auto _ : state) {
    auto step = joint.toward_position(++k % 2000 < 1000 ? 1.5 : -1.5, period);
    benchmark::DoNotOptimize(step);
  }
}
BENCHMARK(limiter)->Name("control/joint_limiter/takt");

void arc_takt(benchmark::State& state) {
  mobile::Pose pose;
  mobile::Twist motion{0.01, 0, 0.003};
  for (auto _ : state) {
    benchmark::DoNotOptimize(motion);
    pose = mobile::moved(pose, motion);
    benchmark::DoNotOptimize(pose);
  }
}
BENCHMARK(arc_takt)->Name("mobile/exact_arc/takt");

void arc_floor(benchmark::State& state) {
  double x = 0, y = 0, heading = 0, way = 0.01, turn = 0.003;
  for (auto _ : state) {
    benchmark::DoNotOptimize(way);
    benchmark::DoNotOptimize(turn);
    const double half = turn / 2;
    const double chord = half != 0 ? way * std::sin(half) / half : way;
    x += chord * std::cos(heading + half);
    y += chord * std::sin(heading + half);
    heading = std::remainder(heading + turn, 6.283185307179586);
    benchmark::DoNotOptimize(x);
    benchmark::DoNotOptimize(y);
    benchmark::DoNotOptimize(heading);
  }
}
BENCHMARK(arc_floor)->Name("mobile/exact_arc/floor");

void odometry_takt(benchmark::State& state) {
  auto odometry = *mobile::Odometry::make({.noise = {1e-4, 1e-4, 1e-4, 1e-4}});
  for (auto _ : state) {
    benchmark::DoNotOptimize(odometry.move({0.01, 0, 0.003}));
    benchmark::DoNotOptimize(odometry);
  }
}
BENCHMARK(odometry_takt)->Name("mobile/odometry_with_covariance/takt");

}  // namespace
