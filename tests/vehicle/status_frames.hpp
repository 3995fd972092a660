// A vehicle's status frames, for the tests of their receivers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "takt/vehicle/status_frame.hpp"

namespace takt::test {

/// All systems of a Furbot in this state. `wheels`: the speed of both wheels in counts.
inline vehicle::StatusFrame status_frame(std::uint32_t stamp, std::int32_t wheels = 0,
                                         vehicle::SystemState state = vehicle::SystemState::running) {
  vehicle::StatusFrame frame;
  frame.stamp = stamp;
  for (const auto& layout : frame.layouts().systems()) (void)frame.set(layout.system, state);
  (void)frame.set(vehicle::System::traction, "left_speed", wheels);
  (void)frame.set(vehicle::System::traction, "right_speed", wheels);
  return frame;
}

inline std::vector<std::uint8_t> encoded(const vehicle::StatusFrame& frame) {
  std::array<std::uint8_t, vehicle::max_status_bytes> bytes;
  const std::size_t size = vehicle::encode_status(frame, bytes).value();
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

}  // namespace takt::test
