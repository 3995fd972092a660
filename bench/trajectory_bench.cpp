// The cost of sampling, solving and checking trajectories, beside hand-written minima and Orocos KDL. Names
// are <topic>/<case>/<implementation>. Only ratios within one run are meaningful.
#include <benchmark/benchmark.h>
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/minimum_jerk.hpp"
#include "takt/trajectory/speed_scaling.hpp"
#include "takt/trajectory/stop.hpp"
#include "takt/trajectory/through.hpp"
#include "takt/trajectory/tolerances.hpp"
#include "takt/trajectory/wrap.hpp"
#include "trajectory_table.hpp"

#ifdef TAKT_BENCH_KDL
#include <kdl/velocityprofile_spline.hpp>
#endif

namespace {

using namespace takt;
using namespace takt::trajectory;
using namespace takt::bench;

constexpr std::size_t many_waypoints = 10'000;

void sample_takt(benchmark::State& state, std::size_t joints) {
  const Trajectory trajectory = through(Table(joints).view(), Through::given).value();
  Results out(joints);
  Ticks ticks(trajectory.duration());
  Cursor cursor;
  for (auto _ : state) {
    trajectory.sample(ticks.next(), cursor, out.p, out.v, out.a);
    benchmark::DoNotOptimize(out.p.data());
    benchmark::ClobberMemory();
  }
}

/// The cost of the benchmark's own loop, which is subtracted from the ratios.
void sample_nothing(benchmark::State& state, std::size_t joints) {
  const Table table(joints);
  Ticks ticks(table.times.back());
  for (auto _ : state) {
    benchmark::DoNotOptimize(ticks.next());
    benchmark::ClobberMemory();
  }
}

/// The minimal cost of a sample: a structure of arrays padded to whole vectors, without checks.
struct Floor {
  std::size_t stride;
  std::vector<double> knots;
  double* c;
  std::size_t segment = 0;

  explicit Floor(const Table& table)
      : stride((table.joints + 7) / 8 * 8),
        knots(table.times),
        c(static_cast<double*>(std::aligned_alloc(64, (waypoints - 1) * 6 * stride * sizeof(double)))) {
    std::memset(c, 0, (waypoints - 1) * 6 * stride * sizeof(double));
    for (std::size_t k = 0; k + 1 < waypoints; ++k) {
      const double duration = knots[k + 1] - knots[k];
      for (std::size_t j = 0; j < table.joints; ++j) {
        const auto quintic = Quintic::between(table.state(k, j), table.state(k + 1, j), duration);
        for (std::size_t i = 0; i < 6; ++i) {
          c[(k * 6 + i) * stride + j] = quintic.coefficients()[i] / std::pow(duration, i);
        }
      }
    }
  }
  ~Floor() { std::free(c); }
  Floor(const Floor&) = delete;
  Floor& operator=(const Floor&) = delete;

  /// The start of the segment that contains t.
  double start_of(double t) {
    if (t < knots[segment]) segment = 0;
    while (segment + 2 < knots.size() && t >= knots[segment + 1]) ++segment;
    return knots[segment];
  }

  [[gnu::target("avx2,fma")]] void sample_avx2(double t, std::size_t joints, double* position,
                                               double* velocity, double* acceleration) {
    const __m256d s = _mm256_set1_pd(t - start_of(t));
    const __m256d two = _mm256_set1_pd(2);
    const double* row = c + segment * 6 * stride;
    for (std::size_t j = 0; j < joints; j += 4, row += 4) {
      __m256d p = _mm256_load_pd(row + 5 * stride);
      __m256d v = p;
      p = _mm256_fmadd_pd(p, s, _mm256_load_pd(row + 4 * stride));
      __m256d a = v;
      v = _mm256_fmadd_pd(v, s, p);
      p = _mm256_fmadd_pd(p, s, _mm256_load_pd(row + 3 * stride));
      a = _mm256_fmadd_pd(a, s, v);
      v = _mm256_fmadd_pd(v, s, p);
      p = _mm256_fmadd_pd(p, s, _mm256_load_pd(row + 2 * stride));
      a = _mm256_fmadd_pd(a, s, v);
      v = _mm256_fmadd_pd(v, s, p);
      p = _mm256_fmadd_pd(p, s, _mm256_load_pd(row + stride));
      a = _mm256_fmadd_pd(a, s, v);
      v = _mm256_fmadd_pd(v, s, p);
      p = _mm256_fmadd_pd(p, s, _mm256_load_pd(row));
      _mm256_storeu_pd(position + j, p);
      _mm256_storeu_pd(velocity + j, v);
      _mm256_storeu_pd(acceleration + j, _mm256_mul_pd(a, two));
    }
  }

  [[gnu::target("avx512f")]] void sample_avx512(double t, std::size_t joints, double* position,
                                                double* velocity, double* acceleration) {
    const __m512d s = _mm512_set1_pd(t - start_of(t));
    const __m512d two = _mm512_set1_pd(2);
    const double* row = c + segment * 6 * stride;
    for (std::size_t j = 0; j < joints; j += 8, row += 8) {
      __m512d p = _mm512_load_pd(row + 5 * stride);
      __m512d v = p;
      p = _mm512_fmadd_pd(p, s, _mm512_load_pd(row + 4 * stride));
      __m512d a = v;
      v = _mm512_fmadd_pd(v, s, p);
      p = _mm512_fmadd_pd(p, s, _mm512_load_pd(row + 3 * stride));
      a = _mm512_fmadd_pd(a, s, v);
      v = _mm512_fmadd_pd(v, s, p);
      p = _mm512_fmadd_pd(p, s, _mm512_load_pd(row + 2 * stride));
      a = _mm512_fmadd_pd(a, s, v);
      v = _mm512_fmadd_pd(v, s, p);
      p = _mm512_fmadd_pd(p, s, _mm512_load_pd(row + stride));
      a = _mm512_fmadd_pd(a, s, v);
      v = _mm512_fmadd_pd(v, s, p);
      p = _mm512_fmadd_pd(p, s, _mm512_load_pd(row));
      _mm512_storeu_pd(position + j, p);
      _mm512_storeu_pd(velocity + j, v);
      _mm512_storeu_pd(acceleration + j, _mm512_mul_pd(a, two));
    }
  }
};

template <auto sample>
void sample_floor_with(benchmark::State& state, std::size_t joints) {
  const Table table(joints);
  Floor floor(table);
  Results out(joints);
  Ticks ticks(table.times.back());
  for (auto _ : state) {
    (floor.*sample)(ticks.next(), joints, out.p.data(), out.v.data(), out.a.data());
    benchmark::DoNotOptimize(out.p.data());
    benchmark::ClobberMemory();
  }
}

/// With the instruction set that the library selects on this processor.
void sample_floor(benchmark::State& state, std::size_t joints) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    return sample_floor_with<&Floor::sample_avx512>(state, joints);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return sample_floor_with<&Floor::sample_avx2>(state, joints);
  state.SkipWithError("no AVX2");
}

void solve_takt(benchmark::State& state, std::size_t joints) {
  const Table table(joints);
  Trajectory trajectory;
  for (auto _ : state) {
    benchmark::DoNotOptimize(trajectory.assign(table.view()).has_value());
    benchmark::ClobberMemory();
  }
}

void smooth_takt(benchmark::State& state, std::size_t joints, std::size_t rows) {
  const Table table(joints, rows);
  for (auto _ : state) benchmark::DoNotOptimize(through(table.view(), Through::smooth));
}

/// The time to copy the coefficients: the lower limit for solving.
void solve_floor(benchmark::State& state, std::size_t joints) {
  const std::size_t size = (waypoints - 1) * 6 * ((joints + 7) / 8 * 8);
  const std::vector<double> from(size, 1.0);
  std::vector<double> to(size);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), size * sizeof(double));
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
}

void spline_takt(benchmark::State& state, std::size_t joints) {
  Table table(joints);
  MinimumJerkSpline spline(waypoints, joints);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        spline.solve(joints, table.times, table.positions, table.velocities, table.accelerations)
            .has_value());
  }
}

/// The peaks of the motion divided by `tightness`. With 1 the limits equal the peaks, so that bounds alone do
/// not decide. With 0.5 everything is far within the limits.
std::vector<JointLimits> limits_of(const Trajectory& trajectory, double tightness) {
  const std::size_t joints = trajectory.joints();
  std::vector<JointLimits> limits(joints);
  for (std::size_t j = 0; j < joints; ++j) {
    double v = 0, a = 0, jerk = 0, low = 0, high = 0;
    for (std::size_t k = 0; k < trajectory.segments(); ++k) {
      const Quintic piece = trajectory.piece(k, j);
      low = std::min(low, piece.position_extrema().min.value);
      high = std::max(high, piece.position_extrema().max.value);
      v = std::max(v, std::abs(piece.velocity_extrema().peak().value));
      a = std::max(a, std::abs(piece.acceleration_extrema().peak().value));
      jerk = std::max(jerk, std::abs(piece.jerk_extrema().peak().value));
    }
    limits[j] = {low / tightness, high / tightness, v / tightness, a / tightness, jerk / tightness, 1};
  }
  return limits;
}

void check_takt(benchmark::State& state, std::size_t joints, std::size_t rows, double tightness) {
  const Trajectory trajectory = through(Table(joints, rows).view(), Through::smooth).value();
  const std::vector<JointLimits> limits = limits_of(trajectory, tightness);
  if (find_violation(trajectory, limits)) return state.SkipWithError("the limits should hold");
  for (auto _ : state) benchmark::DoNotOptimize(find_violation(trajectory, limits).has_value());
}

/// No quick check succeeds: each joint exceeds each of its limits, in each segment more than before.
void check_worst_takt(benchmark::State& state, std::size_t joints, std::size_t rows) {
  Table table(joints, rows);
  for (std::size_t i = 0; i < table.positions.size(); ++i)
    table.positions[i] *= std::pow(1.05, static_cast<double>(i / joints));
  const Trajectory trajectory = through(table.view(), Through::smooth).value();
  const std::vector<JointLimits> limits(joints, JointLimits{-1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1});
  if (!find_violation(trajectory, limits)) return state.SkipWithError("no limit should hold");
  for (auto _ : state) benchmark::DoNotOptimize(find_violation(trajectory, limits).has_value());
}

/// Every limit is half of the peak.
void fit_takt(benchmark::State& state, std::size_t joints, std::size_t rows) {
  const Trajectory trajectory = through(Table(joints, rows).view(), Through::smooth).value();
  std::vector<JointLimits> limits = limits_of(trajectory, 2);
  for (JointLimits& limit : limits) limit.position_min = -(limit.position_max = 1e9);
  for (auto _ : state) benchmark::DoNotOptimize(required_slowdown(trajectory, limits));
}

void stop_takt(benchmark::State& state) {
  const JointLimits limits{-3, 3, 2, 5, 50, 1};
  MotionState from{0, 1.5, 1};
  for (auto _ : state) {
    benchmark::DoNotOptimize(from);
    benchmark::DoNotOptimize(plan_stop(from, limits).duration);
  }
}

/// One period while the speed changes between rest and the planned speed, repeatedly.
void change_speed_takt(benchmark::State& state, std::size_t joints) {
  Trajectory trajectory = through(Table(joints).view(), Through::given).value();
  const std::vector<JointLimits> limits = limits_of(trajectory, 1);
  if (!trajectory.slow_down(required_slowdown(trajectory, limits)))
    return state.SkipWithError("does not fit");
  SpeedScaling scaling;
  Results out(joints);
  Cursor cursor;
  for (auto _ : state) {
    if (scaling.time() >= trajectory.duration()) scaling = SpeedScaling();
    if (scaling.steady()) scaling.aim(scaling.speed() == 0 ? 1 : 0);
    benchmark::DoNotOptimize(scaling.step(trajectory, cursor, limits, from_seconds(period)));
    trajectory.sample(scaling.time(), cursor, out.p, out.v, out.a);
    scaling.scale(out.v, out.a);
    benchmark::ClobberMemory();
  }
}

/// One period at the requested speed.
void steady_speed_takt(benchmark::State& state, std::size_t joints) {
  const Trajectory trajectory = through(Table(joints).view(), Through::given).value();
  const std::vector<JointLimits> limits(joints);
  SpeedScaling scaling;
  const Cursor cursor;
  for (auto _ : state) {
    benchmark::DoNotOptimize(scaling.step(trajectory, cursor, limits, from_seconds(period)));
    benchmark::ClobberMemory();
  }
}

void judge_takt(benchmark::State& state, std::size_t joints) {
  const std::vector<JointTolerance> path(joints, {0.1, 0.2, 0}), goal(joints, {0.01, 0.05, 0});
  const std::vector<MotionState> reference(joints, MotionState{1, 0.5, 0});
  const std::vector<MotionState> measured(joints, MotionState{1.01, 0.45, 0});
  for (auto _ : state) {
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(judge<double>({path, goal, 1}, reference, measured, -1));
  }
}

/// One waypoint, whose positions are copied first.
void short_way_takt(benchmark::State& state, std::size_t joints) {
  const std::vector<double> start(joints, 3), targets(joints, -20);
  std::vector<double> positions(joints);
  for (auto _ : state) {
    std::copy(targets.begin(), targets.end(), positions.begin());
    take_short_way<double>(positions, start, JointSet::first(joints));
    benchmark::DoNotOptimize(positions.data());
    benchmark::ClobberMemory();
  }
}

#ifdef TAKT_BENCH_KDL
void sample_kdl(benchmark::State& state, std::size_t joints) {
  const Table table(joints);
  std::vector<KDL::VelocityProfile_Spline> profiles((waypoints - 1) * joints);
  for (std::size_t k = 0; k + 1 < waypoints; ++k) {
    for (std::size_t j = 0; j < joints; ++j) {
      const MotionState a = table.state(k, j);
      const MotionState b = table.state(k + 1, j);
      profiles[k * joints + j].SetProfileDuration(a.position, a.velocity, a.acceleration, b.position,
                                                  b.velocity, b.acceleration,
                                                  table.times[k + 1] - table.times[k]);
    }
  }
  Results out(joints);
  Ticks ticks(table.times.back());
  std::size_t segment = 0;
  for (auto _ : state) {
    const double t = ticks.next();
    if (t < table.times[segment]) segment = 0;
    while (segment + 2 < waypoints && t >= table.times[segment + 1]) ++segment;
    const double s = t - table.times[segment];
    for (std::size_t j = 0; j < joints; ++j) {
      const KDL::VelocityProfile& profile = profiles[segment * joints + j];
      out.p[j] = profile.Pos(s);
      out.v[j] = profile.Vel(s);
      out.a[j] = profile.Acc(s);
    }
    benchmark::DoNotOptimize(out.p.data());
    benchmark::ClobberMemory();
  }
}

void solve_kdl(benchmark::State& state, std::size_t joints) {
  const Table table(joints);
  std::vector<KDL::VelocityProfile_Spline> profiles((waypoints - 1) * joints);
  for (auto _ : state) {
    for (std::size_t k = 0; k + 1 < waypoints; ++k) {
      for (std::size_t j = 0; j < joints; ++j) {
        const MotionState a = table.state(k, j);
        const MotionState b = table.state(k + 1, j);
        profiles[k * joints + j].SetProfileDuration(a.position, a.velocity, a.acceleration, b.position,
                                                    b.velocity, b.acceleration,
                                                    table.times[k + 1] - table.times[k]);
      }
    }
    benchmark::DoNotOptimize(profiles.data());
    benchmark::ClobberMemory();
  }
}
#endif

const bool registered = [] {
  constexpr std::size_t twenty = 20;
  for (const std::size_t joints : {1UL, 7UL, 20UL, 64UL}) {
    const std::string name = "trajectory/sample_100pts/" + std::to_string(joints);
    benchmark::RegisterBenchmark((name + "/takt").c_str(), sample_takt, joints);
    benchmark::RegisterBenchmark((name + "/floor").c_str(), sample_floor, joints);
    benchmark::RegisterBenchmark((name + "/loop").c_str(), sample_nothing, joints);
#ifdef TAKT_BENCH_KDL
    benchmark::RegisterBenchmark((name + "/kdl").c_str(), sample_kdl, joints);
#endif
  }
  benchmark::RegisterBenchmark("trajectory/solve_100pts/20/takt", solve_takt, twenty);
  benchmark::RegisterBenchmark("trajectory/solve_100pts/20/floor", solve_floor, twenty);
#ifdef TAKT_BENCH_KDL
  benchmark::RegisterBenchmark("trajectory/solve_100pts/20/kdl", solve_kdl, twenty);
#endif
  benchmark::RegisterBenchmark("trajectory/minimum_jerk_100pts/20/takt", spline_takt, twenty);
  benchmark::RegisterBenchmark("trajectory/through_smooth_100pts/20/takt", smooth_takt, twenty, waypoints);
  benchmark::RegisterBenchmark("trajectory/check_100pts_wide/20/takt", check_takt, twenty, waypoints, 0.5);
  benchmark::RegisterBenchmark("trajectory/check_100pts_tight/20/takt", check_takt, twenty, waypoints, 1.0);
  benchmark::RegisterBenchmark("trajectory/check_100pts_worst/20/takt", check_worst_takt, twenty, waypoints);
  constexpr std::size_t fifteen = 15;
  benchmark::RegisterBenchmark("trajectory/through_smooth_10000pts/15/takt", smooth_takt, fifteen,
                               many_waypoints);
  benchmark::RegisterBenchmark("trajectory/check_10000pts_wide/15/takt", check_takt, fifteen, many_waypoints,
                               0.5);
  benchmark::RegisterBenchmark("trajectory/check_10000pts_tight/15/takt", check_takt, fifteen, many_waypoints,
                               1.0);
  benchmark::RegisterBenchmark("trajectory/fit_10000pts/15/takt", fit_takt, fifteen, many_waypoints);
  benchmark::RegisterBenchmark("trajectory/plan_stop/takt", stop_takt);
  for (const std::size_t joints : {7UL, 20UL}) {
    const std::string name = "trajectory/change_speed_100pts/" + std::to_string(joints) + "/takt";
    benchmark::RegisterBenchmark(name.c_str(), change_speed_takt, joints);
  }
  constexpr std::size_t seven = 7;
  benchmark::RegisterBenchmark("trajectory/steady_speed/7/takt", steady_speed_takt, seven);
  benchmark::RegisterBenchmark("trajectory/judge/7/takt", judge_takt, seven);
  benchmark::RegisterBenchmark("trajectory/take_short_way/7/takt", short_way_takt, seven);
  return true;
}();

}  // namespace
