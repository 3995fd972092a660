// A CAN bus that is chosen when the program runs: SocketCAN, slcan, a virtual bus, a recording. Drives of every protocol talk to
// this one interface, so adding a kind of bus changes no drive, and adding a drive changes no bus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/can/frame.hpp"
#include "takt/core/time.hpp"

namespace takt::robot {

/// Whether frames can pass.
enum class BusLink : std::uint8_t {
  up,
  down,  ///< switched off, or its adapter is unplugged; frames pass again once it is back
  off,   ///< the controller left the bus after too many errors (bus-off)
};

/// From the opening on; differences of two readings give the figures of the time between them.
struct BusTraffic {
  Duration busy{};            ///< time with frames on the wire
  std::uint64_t frames = 0;   ///< sent and received
  std::uint64_t refused = 0;  ///< frames that found no room in the transmit queue
};

/// One end of a bus. Satisfies can::CanBus. One thread; every function is real-time safe and never waits.
class CanPort {
 public:
  virtual ~CanPort() = default;
  CanPort(const CanPort&) = delete;
  CanPort& operator=(const CanPort&) = delete;

  /// Takes frames in order; returns how many.
  virtual std::size_t send(std::span<const can::Frame> frames) noexcept = 0;
  /// Frames that have arrived, oldest first; returns how many.
  virtual std::size_t receive(std::span<can::Frame> frames) noexcept = 0;
  [[nodiscard]] virtual BusLink link() const noexcept { return BusLink::up; }
  [[nodiscard]] virtual BusTraffic traffic() const noexcept = 0;

 protected:
  CanPort() = default;
};

}  // namespace takt::robot
