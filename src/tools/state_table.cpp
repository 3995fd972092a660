#include "tools/state_table.hpp"

#include <fmt/format.h>
#include <algorithm>

#include <iterator>

namespace takt::tools {

std::string state_table(const motion::StateReply& state) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}", motion::state_name(state.robot));
  if (state.reason != motion::Errc{}) {
    fmt::format_to(out, ": {}", motion::describe(state.reason));
    if (!state.joint.empty()) fmt::format_to(out, " ({})", state.joint);
  }
  fmt::format_to(out, "   {:.3f} s   {} active goals\n", state.time, state.active_goals);
  fmt::format_to(out, "loop   {} cycles, {} overruns, {:.1f} us late, {:.1f} us busy\n", state.cycles,
                 state.overruns, state.lateness_us, state.busy_us);
  fmt::format_to(out, "bus    {} frames sent, {} received, {} refused, {} malformed, {} unexpected\n\n",
                 state.bus.frames_sent, state.bus.frames_received, state.bus.frames_refused,
                 state.bus.frames_malformed, state.bus.frames_unexpected);
  std::size_t width = 5;
  for (const std::string& name : state.joint_names) width = std::max(width, name.size());
  fmt::format_to(out, "{:<{}}  {:>10}  {:>10}  {:>10}  {:>10}  {:>6}  {}\n", "joint", width, "reference",
                 "measured", "error", "velocity", "goal", "drive");
  for (std::size_t i = 0; i < state.joint_names.size(); ++i) {
    const std::string goal = state.goal[i] == 0 ? "-" : std::to_string(state.goal[i]);
    fmt::format_to(out, "{:<{}}  {:>10.5f}  {:>10.5f}  {:>10.5f}  {:>10.5f}  {:>6}  {}\n",
                   state.joint_names[i], width, state.reference[i], state.measured[i],
                   state.reference[i] - state.measured[i], state.measured_velocity[i], goal, state.drive[i]);
  }
  fmt::format_to(out, "(rad, rad/s; m, m/s for linear joints)\n");
  return text;
}

}  // namespace takt::tools
