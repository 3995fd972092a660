// The cost of one sample of all joints with peers: position, velocity and acceleration. Each peer is used as
// its own controller uses it. Their sources are optional (see trajectory_bench.cmake); without any of them,
// this file is empty.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "trajectory_table.hpp"

#ifdef TAKT_BENCH_ROS_CONTROLLERS
#include <trajectory_interface/quintic_spline_segment.h>
#include <trajectory_interface/trajectory_interface.h>
#endif
#ifdef TAKT_BENCH_ROS2_CONTROLLERS
#include <joint_trajectory_controller/trajectory.hpp>
#endif
#ifdef TAKT_BENCH_RUCKIG
#include <ruckig/ruckig.hpp>
#endif

namespace {

using namespace takt::bench;

template <class Column>
[[maybe_unused]] std::vector<double> row(const Column& column, std::size_t k, std::size_t joints) {
  const auto begin = column.begin() + static_cast<std::ptrdiff_t>(k * joints);
  return {begin, begin + static_cast<std::ptrdiff_t>(joints)};
}

#ifdef TAKT_BENCH_ROS_CONTROLLERS
void sample_ros_controllers(benchmark::State& state, std::size_t joints) {
  using Segment = trajectory_interface::QuinticSplineSegment<double>;
  const Table table(joints);
  const auto point = [&](std::size_t k) {
    Segment::State result;
    result.position = row(table.positions, k, joints);
    result.velocity = row(table.velocities, k, joints);
    result.acceleration = row(table.accelerations, k, joints);
    return result;
  };
  std::vector<Segment> segments;
  for (std::size_t k = 0; k + 1 < waypoints; ++k)
    segments.emplace_back(table.times[k], point(k), table.times[k + 1], point(k + 1));
  Segment::State out = point(0);
  Ticks ticks(table.times.back());
  for (auto _ : state) {
    trajectory_interface::sample(segments, ticks.next(), out);
    benchmark::DoNotOptimize(out.position.data());
    benchmark::ClobberMemory();
  }
}
#endif

#ifdef TAKT_BENCH_ROS2_CONTROLLERS
void sample_ros2_controllers(benchmark::State& state, std::size_t joints) {
  using namespace joint_trajectory_controller;
  const Table table(joints);
  const rclcpp::Time start(1'000'000'000);
  auto message = std::make_shared<trajectory_msgs::msg::JointTrajectory>();
  message->header.stamp = start;
  for (std::size_t k = 0; k < waypoints; ++k) {
    trajectory_msgs::msg::JointTrajectoryPoint point;
    point.time_from_start = rclcpp::Duration::from_seconds(table.times[k]);
    point.positions = row(table.positions, k, joints);
    point.velocities = row(table.velocities, k, joints);
    point.accelerations = row(table.accelerations, k, joints);
    message->points.push_back(point);
  }
  Trajectory trajectory(start, message->points[0], message);
  trajectory_msgs::msg::JointTrajectoryPoint out;
  TrajectoryPointConstIter from, to;
  Ticks ticks(table.times.back());
  double before = 0;
  for (auto _ : state) {
    const double t = ticks.next();
    if (t < before) trajectory.update(message);  // its cursor only moves forward
    before = t;
    trajectory.sample(start + rclcpp::Duration::from_seconds(t), interpolation_methods::DEFAULT_INTERPOLATION,
                      out, from, to);
    benchmark::DoNotOptimize(out.positions.data());
    benchmark::ClobberMemory();
  }
}
#endif

#ifdef TAKT_BENCH_RUCKIG
/// From rest to rest: it has no other waypoints.
template <std::size_t Joints>
void sample_ruckig(benchmark::State& state) {
  const Table table(Joints);
  ruckig::Ruckig<Joints> planner;
  ruckig::InputParameter<Joints> input;
  ruckig::Trajectory<Joints> trajectory;
  for (std::size_t j = 0; j < Joints; ++j) {
    input.current_position[j] = table.positions[j];
    input.target_position[j] = table.positions[Joints + j];
    input.max_velocity[j] = 0.3;
    input.max_acceleration[j] = 1;
    input.max_jerk[j] = 10;
  }
  if (planner.calculate(input, trajectory) < 0) return state.SkipWithError("no trajectory");
  std::array<double, Joints> p{}, v{}, a{};
  Ticks ticks(trajectory.get_duration());
  for (auto _ : state) {
    trajectory.at_time(ticks.next(), p, v, a);
    benchmark::DoNotOptimize(p.data());
    benchmark::ClobberMemory();
  }
}
#endif

[[maybe_unused]] std::string name_of(std::size_t joints, const char* peer) {
  return "trajectory/sample_100pts/" + std::to_string(joints) + "/" + peer;
}

const bool registered = [] {
#ifdef TAKT_BENCH_RUCKIG
  benchmark::RegisterBenchmark(name_of(1, "ruckig").c_str(), sample_ruckig<1>);
  benchmark::RegisterBenchmark(name_of(7, "ruckig").c_str(), sample_ruckig<7>);
  benchmark::RegisterBenchmark(name_of(20, "ruckig").c_str(), sample_ruckig<20>);
  benchmark::RegisterBenchmark(name_of(64, "ruckig").c_str(), sample_ruckig<64>);
#endif
  for ([[maybe_unused]] const std::size_t joints : {1UL, 7UL, 20UL, 64UL}) {
#ifdef TAKT_BENCH_ROS_CONTROLLERS
    benchmark::RegisterBenchmark(name_of(joints, "ros_controllers").c_str(), sample_ros_controllers, joints);
#endif
#ifdef TAKT_BENCH_ROS2_CONTROLLERS
    benchmark::RegisterBenchmark(name_of(joints, "ros2_controllers").c_str(), sample_ros2_controllers,
                                 joints);
#endif
  }
  return true;
}();

}  // namespace
