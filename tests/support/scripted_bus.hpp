// A CAN bus for hardware tests. It records sent frames, delivers the test's frames, and takes only as many
// frames as the test allows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "takt/can/frame.hpp"

namespace takt::test {

class ScriptedBus {
 public:
  std::size_t send(std::span<const can::Frame> frames) noexcept {
    const std::size_t taken = std::min(frames.size(), room);
    sent.insert(sent.end(), frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(taken));
    return taken;
  }
  std::size_t receive(std::span<can::Frame> frames) noexcept {
    const std::size_t given = std::min(frames.size(), incoming.size());
    std::copy_n(incoming.begin(), given, frames.begin());
    incoming.erase(incoming.begin(), incoming.begin() + static_cast<std::ptrdiff_t>(given));
    return given;
  }

  std::vector<can::Frame> sent;                                ///< all frames since the test last cleared it
  std::vector<can::Frame> incoming;                            ///< not yet received
  std::size_t room = std::numeric_limits<std::size_t>::max();  ///< frames that one send() takes
};
static_assert(can::CanBus<ScriptedBus>);

}  // namespace takt::test
