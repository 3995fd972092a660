// Messages that the kernel sends periodically, and timeouts that it watches (Linux, CAN_BCM). Heartbeats and
// SYNC continue while the program is late. The program learns of a silent node without reading each frame.
//
//     auto cyclic = platform::CyclicCan::open("can0");
//     (void)cyclic->start(std::array{heartbeat}, 100ms);
//     (void)cyclic->update(std::array{other_heartbeat});       // from the next period on
//     (void)cyclic->watch({.id = 0x701}, 300ms);
//     for (const auto& event : std::span(events).first(cyclic->receive(events))) take(event);
//
// The kernel sends a message until stop(), or until this object or its process ends. So do not send setpoints
// with it: they would go on after they are stale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "takt/can/frame.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/platform/error.hpp"

namespace takt::platform {

/// The key of a cycle or a watch in the kernel.
struct CyclicMessage {
  std::uint32_t id = 0;   ///< CAN identifier
  bool extended = false;  ///< 29 bits instead of 11
  bool fd = false;        ///< FD frame

  friend constexpr bool operator==(const CyclicMessage&, const CyclicMessage&) = default;
};

/// A watched message has timed out, or has arrived for the first time or after a timeout.
struct CyclicEvent {
  CyclicMessage message;
  bool is_silent = false;  ///< true: timed out; false: it has arrived
};

/// Cycles and watches on one interface. One thread at a time may use it. They continue after the interface
/// went down and up again.
class CyclicCan {
 public:
  /// Largest number of frames in a cycle.
  static constexpr std::size_t max_frames = 256;

  /// Opens an interface such as "can0". With `fd` the interface must be set up for FD frames, which cycles of
  /// FD frames need. Not real-time safe.
  ///
  /// Errors: no_can, no_permission, no_such_can_interface, not_can, can_interface_down, no_can_fd,
  /// can_bus_off, bad_link_message, can_failed. The message contains the interface and the command that fixes
  /// it.
  [[nodiscard]] static SetupResult<CyclicCan> open(const std::string& interface, bool fd = false);
  CyclicCan(CyclicCan&&) noexcept;
  CyclicCan& operator=(CyclicCan&&) noexcept;
  ~CyclicCan();

  /// Sends the frames in turn, one per period, the first at once. The identifier and format of the first
  /// frame are the key of the cycle. A running cycle with the same key restarts. Errors: bad_cycle,
  /// can_failed. Allocates, so not real-time safe.
  [[nodiscard]] Status start(std::span<const can::Frame> frames, Duration period);

  /// Replaces the frames of a running cycle, whose key is the first frame's. The new cycle must not be
  /// longer. The period stays unchanged. Errors: bad_cycle, no_such_cycle, can_failed. Real-time safe: one
  /// system call, which does not wait.
  [[nodiscard]] Status update(std::span<const can::Frame> frames) noexcept;

  /// Stops a cycle. Errors: no_such_cycle.
  [[nodiscard]] Status stop(const CyclicMessage& message) noexcept;

  /// Reports once when the message has not arrived for `timeout`, measured from now, and once when it arrives
  /// again. A second call changes the timeout. Errors: bad_cycle, can_failed.
  [[nodiscard]] Status watch(const CyclicMessage& message, Duration timeout) noexcept;

  /// Stops watching a message. Errors: no_such_cycle.
  [[nodiscard]] Status unwatch(const CyclicMessage& message) noexcept;

  /// Copies the pending events, oldest first, and returns their number. Never waits. Real-time safe: one
  /// system call per event.
  std::size_t receive(std::span<CyclicEvent> events) noexcept;

  /// For poll(): readable if an event is pending.
  [[nodiscard]] int descriptor() const noexcept;

 private:
  struct State;
  explicit CyclicCan(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace takt::platform
