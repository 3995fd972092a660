// Turns a fuzzer's bytes into CAN frames: any identifier, flag and length, also those that no bus can carry.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/can/frame.hpp"

namespace takt::test {

/// Takes the next frame off the front of `bytes`: flags, length, identifier (2 bytes), then as many data
/// bytes as there are. A length above 64 is handed on as it is, with 64 bytes of data.
inline can::Frame next_frame(std::span<const std::uint8_t>& bytes) {
  const auto next = [&]() -> std::uint8_t {
    if (bytes.empty()) return 0;
    const std::uint8_t byte = bytes.front();
    bytes = bytes.subspan(1);
    return byte;
  };
  can::Frame frame;
  const unsigned flags = next();
  frame.extended = (flags & 1U) != 0;
  frame.remote = (flags & 2U) != 0;
  frame.fd = (flags & 4U) != 0;
  frame.bit_rate_switch = (flags & 8U) != 0;
  frame.error_state = (flags & 16U) != 0;
  frame.length = next();
  frame.id = next();
  frame.id |= static_cast<std::uint32_t>(next()) << 8;
  for (std::size_t i = 0; i < std::min<std::size_t>(frame.length, frame.data.size()); ++i)
    frame.data[i] = next();
  return frame;
}

}  // namespace takt::test
