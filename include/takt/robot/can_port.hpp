// A CAN bus that is chosen at run time: SocketCAN, slcan, a virtual bus, a recording. Drives of every
// protocol use this one interface. Hence a new kind of bus changes no drive, and a new drive changes no bus.
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

/// Counted since the bus was opened. Take the difference of two readings for the traffic of an interval.
struct BusTraffic {
  Duration busy{};                   ///< time with frames on the wire
  std::uint64_t frames = 0;          ///< sent and received
  std::uint64_t refused = 0;         ///< frames that found no room in the transmit queue
  std::uint64_t unacknowledged = 0;  ///< attempts to send that no other node acknowledged
};

/// One end of a bus; satisfies can::CanBus. One thread. Every function is real-time safe and never blocks.
class CanPort {
 public:
  virtual ~CanPort() = default;
  CanPort(const CanPort&) = delete;
  CanPort& operator=(const CanPort&) = delete;

  /// Queues the frames, in order. Returns how many were taken.
  virtual std::size_t send(std::span<const can::Frame> frames) noexcept = 0;
  /// Copies received frames, oldest first. Returns how many.
  virtual std::size_t receive(std::span<can::Frame> frames) noexcept = 0;
  /// Whether frames pass. It may change at each send() and receive().
  [[nodiscard]] virtual BusLink link() const noexcept { return BusLink::up; }
  /// Traffic since the bus was opened.
  [[nodiscard]] virtual BusTraffic traffic() const noexcept = 0;

 protected:
  CanPort() = default;
};

}  // namespace takt::robot
