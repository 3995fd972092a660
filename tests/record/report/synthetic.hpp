// A recording like a session with a robot, for tests of the report. It has three ways to command the same
// motion, a rejected request, and a goal that ends with a following error.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "takt/record/recorder.hpp"

namespace takt::test {

struct SyntheticOptions {
  std::vector<std::string> joints{"WST", "RSP", "RSR", "RSY", "REB", "RWY",
                                  "RWP", "LSP", "LSR", "LSY", "LEB"};
  std::string section = "10 Hz stream";
  double seconds = 30;
  Duration period{5'000'000};
  JointLimits limits{};        ///< per joint
  double following_error = 0;  ///< per joint; 0: not recorded
  double effort = 0;           ///< largest reported effort
  bool timing = true;          ///< false: every cycle exactly on time, as in virtual time
};

/// A smooth step from 0 to 1 between 0 and 1.
inline double smooth_step(double t) {
  t = std::clamp(t, 0.0, 1.0);
  return t * t * t * (10 + t * (-15 + 6 * t));
}

inline void write_synthetic(const std::string& path, const SyntheticOptions& options = {}) {
  record::Metadata metadata;
  metadata.robot = "synthetic humanoid";
  metadata.period = options.period;
  metadata.joints = options.joints;
  metadata.limits.assign(options.joints.size(), options.limits);
  if (options.following_error > 0)
    metadata.following_errors.assign(options.joints.size(), options.following_error);
  metadata.buses = {"can0", "can1"};
  metadata.robot_states = {"starting", "ready", "stopping", "stopped", "down"};
  metadata.goal_states = {"pending", "active",   "preempting", "succeeded",
                          "aborted", "rejected", "preempted",  "recalled"};
  metadata.reasons = {{21, "velocity_limit"}, {40, "following_error"}};
  metadata.takt_version = "0.1.0";
  auto recorder = record::Recorder::create(path, metadata);
  REQUIRE(recorder);
  record::Lane& lane = (*recorder)->loop();

  auto random = generator(42);
  std::lognormal_distribution<double> late(std::log(3000.0), 0.5);
  std::lognormal_distribution<double> socket(std::log(180'000.0), 0.4);
  const std::size_t joints = options.joints.size();
  std::vector<double> sent(joints, 0.0), measured(joints, 0.0), speed(joints, 0.0);
  const auto cycles = static_cast<std::int64_t>(options.seconds / to_seconds(options.period));
  const double dt = to_seconds(options.period);
  constexpr std::array<double, 4> amplitudes{0.9, 0.5, 0.35, 1.2};
  std::uint64_t overruns = 0;
  std::array<bool, 3> marked{};

  for (std::int64_t k = 0; k < cycles; ++k) {
    const Time now{Duration(1'000'000'000) + k * options.period};
    const double t = static_cast<double>(k) * dt;
    const double part = options.seconds / 3;
    const auto way =
        static_cast<std::size_t>(std::min(2.0, t / part));  // 0: held at 10 Hz, 1: streamed, 2: trajectory
    const double in_part = t - static_cast<double>(way) * part;
    if (!std::exchange(marked[way], true)) {
      lane.mark(now, way == 0 ? options.section : way == 1 ? "200 Hz stream" : "one trajectory");
    }

    const auto wanted = [&](std::size_t joint, double at) {
      if (joint % 5 == 4) return 0.0;
      return amplitudes[joint % 4] * (smooth_step((at - 1) / 2.5) - smooth_step((at - 5) / 2.0));
    };
    const auto reached = [&](double at) { return std::lround((in_part - at) / dt) == 0; };
    const bool owned = in_part > 0.5 && in_part < part - 1.5;
    record::Cycle cycle;
    cycle.time = now;
    if (options.timing) {
      cycle.lateness = Duration(static_cast<std::int64_t>(late(random)) + (k % 1777 == 1776 ? 180'000 : 0));
      cycle.busy = Duration(31'000 + uniform_int(random, -2000, 9000));
      if (k == cycles / 2) cycle.lateness = Duration(1'300'000);
    }
    cycle.robot_state = t < 0.3 ? 0 : t > options.seconds - 0.5 ? 2 : 1;
    cycle.reason = cycle.robot_state == 2 ? 40 : 0;
    cycle.reason_joint = cycle.reason != 0 ? 3 : 0;
    cycle.active_goals = owned ? 1 : 0;
    lane.cycle(cycle, [&](std::size_t joint) {
      const double held = std::floor(in_part * 10) / 10;
      record::JointSample sample;
      sample.command = wanted(joint, way == 0 ? held : in_part);
      // A held command reaches the drive smoothed.
      sent[joint] += (sample.command - sent[joint]) * (way == 0 ? std::min(1.0, 25 * dt) : 1.0);
      sample.reference_position = sent[joint];
      sample.reference_velocity = (wanted(joint, in_part) - wanted(joint, in_part - dt)) / dt;
      const double step = 60 * dt;
      speed[joint] = (sample.reference_position - measured[joint]) * std::min(1.0, step) / dt;
      measured[joint] += speed[joint] * dt;
      sample.measured_position = std::round(measured[joint] * 11'000) / 11'000;
      sample.measured_velocity = speed[joint];
      sample.measured_effort = options.effort * std::sin(t);
      sample.goal = owned && joint % 5 != 4 ? way + 1 : 0;
      return sample;
    });

    const auto accept = [&](std::uint64_t goal) {
      record::GoalEvent event;
      event.at = now;
      event.goal = goal;
      event.state = 1;
      event.first_reference = now + cycle.lateness + Duration(28'000);
      event.handed_over =
          event.first_reference - Duration(uniform_int(random, 60'000, options.period.count()));
      event.received = event.handed_over - Duration(static_cast<std::int64_t>(socket(random)));
      lane.event(event);
    };
    const std::int64_t every = way == 0 ? 20 : 1;
    if (owned && way < 2 && k % every == 0) accept(way + 1);
    if (way == 2 && reached(0.6)) accept(3);
    if (way == 2 && reached(0.2)) {
      record::GoalEvent refused;
      refused.at = now;
      refused.goal = 4;
      refused.state = 5;
      refused.reason = 21;
      refused.joint = 2;
      refused.time = 0.41;
      refused.value = 6.87;
      refused.limit = 5;
      lane.event(refused);
    }
    if (!owned && reached(part - 1.4)) {
      record::GoalEvent ended;
      ended.at = now;
      ended.goal = way + 1;
      ended.state = way == 2 ? 4 : 3;
      ended.reason = way == 2 ? 40 : 0;
      ended.joint = 3;
      ended.value = 0.21;
      ended.limit = 0.2;
      lane.event(ended);
    }
    if (k % 20 == 19) {
      const std::array<record::BusSample, 2> buses{
          record::BusSample{0.62 + uniform(random, -0.01, 0.02), static_cast<std::uint64_t>(k) * 22, 0},
          record::BusSample{0.41 + (owned ? 0.05 : 0.0) + uniform(random, -0.01, 0.01),
                            static_cast<std::uint64_t>(k) * 15, 0}};
      lane.buses(now, buses);
    }
    if (k == cycles / 2 && options.timing) ++overruns;
    REQUIRE((*recorder)->drain());
  }
  lane.totals({Time{Duration(1'000'000'000) + cycles * options.period}, static_cast<std::uint64_t>(cycles),
               overruns});
  REQUIRE((*recorder)->finish());
}

}  // namespace takt::test
