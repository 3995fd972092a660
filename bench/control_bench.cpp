// PID steps and odometry against hand-written ones with equal features: the same formulas, limits, first-step
// rule and finite check.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <string>
#include <vector>

#include "control_problem.hpp"
#include "takt/control/joint_limiter.hpp"
#include "takt/control/pid.hpp"
#include "takt/control/pid_bank.hpp"
#include "takt/control/rate_limiter.hpp"
#include "takt/control/transmission.hpp"
#include "takt/mobile/odometry.hpp"

namespace {

using namespace takt;
using namespace takt::control;
using namespace takt::bench;

/// A hand-written PID of the same form.
struct HandWritten {
  double integral = 0;
  double kp, ki, kd, b, c, filter, tracking, dead_band, integral_min, integral_max, output_min, output_max;
  double slope = 0, slope_of = 0, output = 0;

  double step(double r, double y, double h, double feed_forward) {
    if (!(h > 0 && h <= 10)) return output;
    const double e = r - y;
    const double now = c * r - y;
    const double d = (filter * slope + (now - slope_of)) / (filter + h);
    const double wanted = kp * (b * r - y) + feed_forward + integral + kd * d;
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
  return {0,
          g.proportional,
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
  step_many(state, 1, [&](Signals& signals) {
    signals.outputs[0] =
        pid.step(signals.setpoints[0], signals.measured[0], period, signals.feed_forward[0]).value;
  });
}
BENCHMARK(pid_takt)->Name("control/pid/1/takt");

void pid_floor(benchmark::State& state) {
  HandWritten pid = by_hand(0);
  step_many(state, 1, [&](Signals& signals) {
    signals.outputs[0] = pid.step(signals.setpoints[0], signals.measured[0], period, signals.feed_forward[0]);
  });
}
BENCHMARK(pid_floor)->Name("control/pid/1/floor");

void bank_takt(benchmark::State& state, std::size_t size) {
  std::vector<PidGains> all;
  for (std::size_t i = 0; i < size; ++i) all.push_back(gains(i));
  auto bank = *BasicPidBank<double, form>::make(all);
  step_many(state, size, [&](Signals& signals) {
    auto held = bank.step(signals.setpoints, signals.measured, period, signals.outputs, signals.feed_forward);
    benchmark::DoNotOptimize(held);
  });
}

void bank_one_by_one(benchmark::State& state, std::size_t size) {
  std::vector<HandWritten> pids;
  for (std::size_t i = 0; i < size; ++i) pids.push_back(by_hand(i));
  step_many(state, size, [&](Signals& signals) {
    for (std::size_t i = 0; i < size; ++i)
      signals.outputs[i] =
          pids[i].step(signals.setpoints[i], signals.measured[i], period, signals.feed_forward[i]);
  });
}

/// The same features as a plain loop over cache-aligned arrays. The compiler vectorises it for the
/// processor's instruction set.
class BankFloor {
 public:
  explicit BankFloor(std::size_t size) : size_(size) {
    for (std::size_t i = 0; i < size; ++i) {
      const HandWritten pid = by_hand(i);
      kp[i] = pid.kp;
      ki[i] = pid.ki;
      kd[i] = pid.kd;
      b[i] = pid.b;
      c[i] = pid.c;
      filter[i] = pid.filter;
      tracking[i] = pid.tracking;
      dead_band[i] = pid.dead_band;
      integral_min[i] = pid.integral_min;
      integral_max[i] = pid.integral_max;
      output_min[i] = pid.output_min;
      output_max[i] = pid.output_max;
      rate[i] = 1 / (pid.filter + period);
    }
  }

  using Step = void (*)(BankFloor&, const Signals&, double* out);
  static Step best() {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return step_avx512;
    return __builtin_cpu_supports("avx2") ? step_avx2 : step_baseline;
  }

 private:
  static void step_baseline(BankFloor& floor, const Signals& in, double* out) { floor.step(in, out); }
  [[gnu::target("avx2")]] static void step_avx2(BankFloor& floor, const Signals& in, double* out) {
    floor.step(in, out);
  }
  [[gnu::target("avx512f,avx512vl,prefer-vector-width=512")]] static void step_avx512(BankFloor& floor,
                                                                                      const Signals& in,
                                                                                      double* out) {
    floor.step(in, out);
  }

  [[gnu::always_inline]] inline void step(const Signals& in, double* __restrict out) {
    const double* const __restrict r = in.setpoints.data();
    const double* const __restrict y = in.measured.data();
    const double* const __restrict f = in.feed_forward.data();
    const std::size_t n = size_;
#pragma GCC ivdep
    for (std::size_t i = 0; i < n; ++i) {
      const double e = r[i] - y[i];
      const double now = c[i] * r[i] - y[i];
      const double d = (filter[i] * slope[i] + (now - before[i])) * rate[i];
      const double wanted = kp[i] * (b[i] * r[i] - y[i]) + f[i] + integral[i] + kd[i] * d;
      double limited = wanted < output_min[i] ? output_min[i] : wanted;
      limited = limited > output_max[i] ? output_max[i] : limited;
      double next = integral[i] + period * (ki[i] * e + tracking[i] * (limited - wanted));
      next = next < integral_min[i] ? integral_min[i] : next;
      next = next > integral_max[i] ? integral_max[i] : next;
      next = std::abs(e) > dead_band[i] ? next : integral[i];
      const bool good = (wanted - wanted) + (next - next) == 0;
      integral[i] = good ? next : integral[i];
      slope[i] = good ? d : slope[i];
      before[i] = good ? now : before[i];
      last[i] = good ? limited : last[i];
      out[i] = last[i];
    }
  }

  struct Row {
    alignas(64) double number[max_joints] = {};
    double& operator[](std::size_t i) { return number[i]; }
  };
  std::size_t size_;
  Row kp, ki, kd, b, c, filter, tracking, dead_band, integral_min, integral_max, output_min, output_max, rate;
  Row integral, slope, before, last;
};

void bank_floor(benchmark::State& state, std::size_t size) {
  BankFloor floor(size);
  const auto step = BankFloor::best();
  step_many(state, size, [&](Signals& signals) { step(floor, signals, signals.outputs.data()); });
}

const bool banks_registered = [] {
  for (const std::size_t size : {7UL, 20UL, 64UL}) {
    const auto add = [size](const char* who, auto* run) {
      const std::string name = "control/pid_bank/" + std::to_string(size) + "/" + who;
      benchmark::RegisterBenchmark(name.c_str(), run, size);
    };
    add("takt", bank_takt);
    add("floor", bank_floor);
    add("one_by_one", bank_one_by_one);
  }
  return true;
}();

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

void rate_limiter(benchmark::State& state) {
  auto limiter = *RateLimiter::make({-2, 2, 1, 2, 1, 2, 10});
  int k = 0;
  for (auto _ : state) {
    auto step = limiter.step(++k % 2000 < 1000 ? 2 : -2, period);
    benchmark::DoNotOptimize(step);
  }
}
BENCHMARK(rate_limiter)->Name("control/rate_limiter/takt");

/// From two motors to the two joints of a wrist and back, as a loop does in each period.
void transmission_takt(benchmark::State& state) {
  const auto wrist = *differential_transmission<double>({50, 50}, {1, 1});
  std::array<double, 2> actuators{0.1, 0.2};
  for (auto _ : state) {
    actuators = wrist.actuator_positions(wrist.joint_positions(actuators));
    benchmark::DoNotOptimize(actuators);
  }
}
BENCHMARK(transmission_takt)->Name("control/differential_transmission/takt");

void transmission_floor(benchmark::State& state) {
  double a = 0.1, b = 0.2, n = 50, offset = 0;
  benchmark::DoNotOptimize(n);
  benchmark::DoNotOptimize(offset);
  const double down = 1 / (2 * n);
  for (auto _ : state) {
    const double first = down * (a + b) + offset;
    const double second = down * (a - b) + offset;
    a = n * ((first - offset) + (second - offset));
    b = n * ((first - offset) - (second - offset));
    benchmark::DoNotOptimize(a);
    benchmark::DoNotOptimize(b);
  }
}
BENCHMARK(transmission_floor)->Name("control/differential_transmission/floor");

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

/// The heading is wrapped by comparison, because a step is less than a turn.
void arc_floor(benchmark::State& state) {
  constexpr double pi = std::numbers::pi;
  double x = 0, y = 0, heading = 0, way = 0.01, turn = 0.003;
  for (auto _ : state) {
    benchmark::DoNotOptimize(way);
    benchmark::DoNotOptimize(turn);
    const double half = turn / 2;
    const double chord = half != 0 ? way * std::sin(half) / half : way;
    x += chord * std::cos(heading + half);
    y += chord * std::sin(heading + half);
    heading += turn;
    if (heading > pi) heading -= 2 * pi;
    if (heading <= -pi) heading += 2 * pi;
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
