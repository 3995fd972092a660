#include "tools/state_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include <iterator>

namespace takt::tools {
namespace {

/// Shortens a name longer than `most` in its middle, "left_~joint_1": the ends differ between joints.
std::string shortened(const std::string& name, std::size_t most) {
  if (name.size() <= most) return name;
  const std::size_t head = (most - 1) / 2;
  const std::size_t tail = most - 1 - head;
  return name.substr(0, head) + '~' + name.substr(name.size() - tail);
}

/// The time since a drive's last answer, ms; "-": none yet, or an older server.
std::string age_of(const motion::StateReply& state, std::size_t joint) {
  if (state.age_ms.empty() || state.age_ms[joint] < 0) return "-";
  return fmt::format("{:.{}f}", state.age_ms[joint], state.age_ms[joint] < 99.95 ? 1 : 0);
}

}  // namespace

std::string state_table(const motion::StateReply& state, std::string_view robot, std::size_t columns) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}: {}", robot, motion::state_name(state.robot));
  if (state.reason != motion::Errc{}) {
    const bool has_text = !state.message.empty();  // older servers tell the reason only
    fmt::format_to(out, ": {} [{}]", has_text ? state.message : motion::describe(state.reason),
                   motion::reason_name(state.reason));
  }
  text += motion::next_step(state.robot, state.reason);
  fmt::format_to(out, "\ntime   {:.3f} s, {} active goal{}\n", state.time, state.active_goals,
                 state.active_goals == 1 ? "" : "s");
  fmt::format_to(out, "loop   {} cycles, {} overruns, {:.1f} us late, {:.1f} us busy\n", state.cycles,
                 state.overruns, state.lateness_us, state.busy_us);
  fmt::format_to(out, "bus    {} sent, {} received, {} refused, {} malformed, {} unexpected\n",
                 state.bus.frames_sent, state.bus.frames_received, state.bus.frames_refused,
                 state.bus.frames_malformed, state.bus.frames_unexpected);
  if (!state.starved.empty()) {
    fmt::format_to(out, "       {} frames starved, of {}: their bus was full or down\n",
                   state.bus.frames_starved, fmt::join(state.starved, ", "));
  }
  text += '\n';
  constexpr std::size_t least_width = 8;
  constexpr std::size_t other_columns = 4 * (2 + 9) + (2 + 4) + (2 + 5) + (2 + 7);
  const std::size_t most_width = std::max(columns - std::min(columns, other_columns), least_width);
  std::size_t width = least_width;
  for (const std::string& name : state.joint_names) width = std::max(width, name.size());
  for (const motion::MimicReply& mimic : state.mimics) width = std::max(width, mimic.joint.size());
  width = std::min(width, most_width);
  fmt::format_to(out, "{:<{}}  {:>9}  {:>9}  {:>9}  {:>9}  {:>4}  {:>5}  {}\n", "joint", width, "reference",
                 "measured", "error", "velocity", "age", "goal", "drive");
  for (std::size_t i = 0; i < state.joint_names.size(); ++i) {
    const std::string goal = state.goal[i] == 0 ? "-" : std::to_string(state.goal[i]);
    fmt::format_to(out, "{:<{}}  {:>9.5f}  {:>9.5f}  {:>9.5f}  {:>9.5f}  {:>4}  {:>5}  {}\n",
                   shortened(state.joint_names[i], width), width, state.reference[i], state.measured[i],
                   state.reference[i] - state.measured[i], state.measured_velocity[i], age_of(state, i), goal,
                   state.drive[i]);
  }
  for (const motion::MimicReply& mimic : state.mimics)
    fmt::format_to(out, "{:<{}}  {:>9}  {:>9.5f}  {:>9}  {:>9.5f}  {:>4}  {:>5}  follows\n",
                   shortened(mimic.joint, width), width, "-", mimic.measured, "-", mimic.measured_velocity,
                   "-", "-");
  fmt::format_to(out, "(rad, rad/s; m, m/s for linear joints) (age: ms since the drive's last answer)\n");
  for (const motion::FaultReply& fault : state.faults)
    fmt::format_to(out, "fault  {}: {:#x}, {}\n", fault.joint, fault.code, fault.message);
  for (const motion::GoalStatus& goal : state.goals)
    fmt::format_to(out, "goal   {}: {}\n", goal.goal, motion::state_name(goal.state));
  return text;
}

std::string limits_table(const motion::GreetingReply& robot) {
  std::string text;
  const auto out = std::back_inserter(text);
  std::size_t width = 5;
  for (const std::string& name : robot.joint_names) width = std::max(width, name.size());
  fmt::format_to(out, "\n{:<{}}  {:>10}  {:>10}  {:>10}  {:>12}  {:>10}  {:>10}\n", "limits", width, "least",
                 "most", "velocity", "acceleration", "jerk", "effort");
  for (std::size_t i = 0; i < std::min(robot.limits.size(), robot.joint_names.size()); ++i) {
    const JointLimits& limits = robot.limits[i].limits;
    fmt::format_to(out, "{:<{}}  {:>10.5g}  {:>10.5g}  {:>10.5g}  {:>12.5g}  {:>10.5g}  {:>10.5g}  {}\n",
                   robot.joint_names[i], width, limits.position_min, limits.position_max, limits.velocity,
                   limits.acceleration, limits.jerk, limits.effort, robot.limits[i].unit);
  }
  fmt::format_to(out, "(rad, s, N m; m, s, N for linear joints)\n");
  return text;
}

}  // namespace takt::tools
