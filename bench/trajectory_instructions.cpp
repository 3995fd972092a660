// The loop's functions of the trajectory room. They use the portable loops where the processor under
// callgrind has no vectors.
#include <vector>

#include "instructions.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/speed_scaling.hpp"
#include "takt/trajectory/stop.hpp"
#include "takt/trajectory/through.hpp"
#include "takt/trajectory/tolerances.hpp"
#include "takt/trajectory/wrap.hpp"

namespace takt::bench {
namespace {

using namespace takt::trajectory;

template <std::size_t Joints>
Trajectory a_hundred_points() {
  std::vector<double> times, positions;
  for (std::size_t k = 0; k < 100; ++k) {
    times.push_back(0.1 * static_cast<double>(k));
    for (std::size_t j = 0; j < Joints; ++j)
      positions.push_back(static_cast<double>((k * 7 + j * 3) % 11) / 11);
  }
  return through(Waypoints{Joints, times, positions, {}, {}}, Through::smooth).value();
}

template <std::size_t Joints>
void sample(Counter& count) {
  const Trajectory trajectory = a_hundred_points<Joints>();
  std::vector<double> p(Joints), v(Joints), a(Joints);
  Cursor cursor;
  double t = 0;
  count([&] {
    t += 0.005;
    trajectory.sample(t, cursor, p, v, a);
    keep(p);
  });
}

const Kernel sample_1("trajectory/sample_1_joint", sample<1>);
const Kernel sample_7("trajectory/sample_7_joints", sample<7>);
const Kernel sample_20("trajectory/sample_20_joints", sample<20>);

const Kernel stop("trajectory/plan_stop", [](Counter& count) {
  const JointLimits limits{-3, 3, 2, 5, 50, 1};
  const MotionState from{0, 1.5, 1};
  count([&] {
    keep(from);
    keep(plan_stop(from, limits));
  });
});

const Kernel check("trajectory/check_segment_7_joints", [](Counter& count) {
  QuinticSegment segment(7);
  const std::vector<MotionState> start(7), end(7, MotionState{1, 0, 0});
  const std::vector<JointLimits> limits(7, JointLimits{-1, 2, 3, 9, 90, 1});
  if (!segment.set(start, end, 1)) return;
  count([&] { keep(find_violation(segment, limits)); });
});

/// The speed changes all the time, between rest and the planned speed.
template <std::size_t Joints>
void change_speed(Counter& count) {
  Trajectory trajectory = a_hundred_points<Joints>();
  const std::vector<JointLimits> limits(Joints, JointLimits{-9, 9, 3, 9, 90, 1});
  if (!trajectory.slow_down(required_slowdown(trajectory, limits))) return;
  SpeedScaling scaling;
  const Cursor cursor;
  count([&] {
    if (scaling.steady()) scaling.aim(scaling.speed() == 0 ? 1 : 0);
    keep(scaling.step(trajectory, cursor, limits, std::chrono::milliseconds(1)));
  });
}

const Kernel change_speed_7("trajectory/change_speed_7_joints", change_speed<7>);
const Kernel change_speed_20("trajectory/change_speed_20_joints", change_speed<20>);

const Kernel steady_speed("trajectory/steady_speed_7_joints", [](Counter& count) {
  const Trajectory trajectory = a_hundred_points<7>();
  const std::vector<JointLimits> limits(7);
  SpeedScaling scaling;
  const Cursor cursor;
  count([&] { keep(scaling.step(trajectory, cursor, limits, std::chrono::milliseconds(1))); });
});

const Kernel judge_7("trajectory/judge_7_joints", [](Counter& count) {
  const std::vector<JointTolerance> path(7, {0.1, 0.2, 0}), goal(7, {0.01, 0.05, 0});
  const std::vector<MotionState> reference(7, MotionState{1, 0.5, 0}),
      measured(7, MotionState{1.01, 0.45, 0});
  count([&] {
    keep(measured);
    keep(judge<double>({path, goal, 1}, reference, measured, -1));
  });
});

const Kernel short_way_7("trajectory/take_short_way_7_joints", [](Counter& count) {
  const std::vector<double> start(7, 3), targets{-3, 9, 0.5, -20, 6, 40, 3};
  std::vector<double> positions(7);
  count([&] {
    positions = targets;
    take_short_way<double>(positions, start, JointSet::first(7));
    keep(positions);
  });
});

}  // namespace
}  // namespace takt::bench
