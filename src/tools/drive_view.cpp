#include "tools/drive_view.hpp"

#include <fmt/format.h>

#include <cmath>

namespace takt::tools {
namespace {

/// "a required system is silent (steering)".
std::string reason_text(const DriveView& view) {
  std::string text{to_string(view.reason.cause)};
  if (!view.system.empty()) text += fmt::format(" ({})", view.system);
  return text;
}

}  // namespace

double seconds_old(const DriveView& view) {
  return view.age == Duration::max() ? INFINITY : to_seconds(view.age);
}

std::string situation_text(const DriveView& view) {
  std::string text{to_string(view.state)};
  if (view.reason.cause != vehicle::StopCause::none) text += ": " + reason_text(view);
  if (view.halted) text += ", which is halted: an operator at the vehicle must let it continue";
  return text;
}

std::string live_line(const DriveView& view, std::size_t columns) {
  const double old = seconds_old(view);
  const auto& [x, y, heading] = view.estimate.pose;
  std::string line = fmt::format(
      "{:<8} {:.2f} of {:.2f} m/s, {:.2f} of {:.2f} rad/s, at ({:.2f} {:.2f}) m {:.2f} rad, {}, steer {:.2f} "
      "throttle {:.2f} brake {:.2f}, battery {}, lost {}",
      to_string(view.state), view.estimate.twist.forward, view.commanded.forward,
      view.estimate.twist.rotation, view.commanded.rotation, x, y, heading,
      std::isfinite(old) ? fmt::format("{:.0f} ms old", old * 1e3) : "never received", view.command.steering,
      view.command.throttle, view.command.brake,
      view.charge ? fmt::format("{:.0f} %", *view.charge * 100) : "unknown", view.heard.lost);
  if (line.size() > columns) line.resize(columns);
  return line;
}

std::string log_line(const DriveView& view) {
  const auto& [x, y, heading] = view.estimate.pose;
  return fmt::format(
      "{:.6f},{},{},{:.1f},{:.4f},{:.4f},{:.5f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.3f},{:.3f},{},{},{},{},"
      "{},{},"
      "{}\n",
      to_seconds(view.time.time_since_epoch()), to_string(view.state), to_string(view.reason.cause),
      seconds_old(view) * 1e3, x, y, heading, view.estimate.twist.forward, view.estimate.twist.rotation,
      view.commanded.forward, view.commanded.rotation, view.command.steering, view.command.throttle,
      view.command.brake, view.sent.sent, view.heard.taken, view.heard.lost, view.heard.late,
      view.heard.duplicated, view.heard.malformed, view.sent.refused);
}

}  // namespace takt::tools
