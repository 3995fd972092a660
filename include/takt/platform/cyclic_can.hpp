// Messages that the kernel sends by itself in a fixed rhythm, and silences that it notices (Linux, CAN_BCM): heartbeats and SYNC go
// on while the program is late, and a node that has fallen silent is reported without looking at each frame.
//
//     auto cyclic = platform::CyclicCan::open("can0");
//     cyclic->start(std::array{heartbeat}, 100ms);
//     cyclic->update(std::array{other_heartbeat});       // from the next beat on
//     cyclic->watch({.id = 0x701}, 300ms);
//     for (const auto& event : events.first(cyclic->receive(events))) ...
//
// What is sent goes on until it is stopped, or this object or its process ends: stale setpoints do not belong here.
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

/// By what the kernel tells cycles and watches apart.
struct CyclicMessage {
  std::uint32_t id = 0;
  bool extended = false;
  bool fd = false;

  friend constexpr bool operator==(const CyclicMessage&, const CyclicMessage&) = default;
};

/// A watched message has fallen silent, or is heard: for the first time, or again.
struct CyclicEvent {
  CyclicMessage message;
  bool is_silent = false;
};

/// One thread at a time. An interface that goes down and comes up again keeps its cycles and watches.
class CyclicCan {
 public:
  static constexpr std::size_t max_frames = 256;

  /// `fd`: the interface must carry FD frames, which cycles of them need. Errors, with a message that names the interface and the
  /// command that mends it: no_can, no_permission, no_such_can_interface, not_can, can_interface_down, no_can_fd, can_bus_off,
  /// bad_link_message, can_failed. Not real-time safe.
  [[nodiscard]] static SetupResult<CyclicCan> open(const std::string& interface, bool fd = false);
  CyclicCan(CyclicCan&&) noexcept;
  CyclicCan& operator=(CyclicCan&&) noexcept;
  ~CyclicCan();

  /// Sends the frames in turn, one each period, the first at once. The identifier and format of the first are the cycle's name; one of
  /// the same name starts anew. Errors: bad_cycle, can_failed. Allocates.
  [[nodiscard]] Status start(std::span<const can::Frame> frames, Duration period);

  /// Replaces the frames of the cycle that the first of them names, by at most as many; its rhythm stays as it is. Errors: bad_cycle,
  /// no_such_cycle, can_failed. Real-time safe: one system call, which does not wait.
  [[nodiscard]] Status update(std::span<const can::Frame> frames) noexcept;

  /// Errors: no_such_cycle.
  [[nodiscard]] Status stop(const CyclicMessage& message) noexcept;

  /// Reports when the message has not come for so long, counted from now on, and when it is heard again; once each. Watching it anew
  /// changes the time. Errors: bad_cycle, can_failed.
  [[nodiscard]] Status watch(const CyclicMessage& message, Duration timeout) noexcept;

  /// Errors: no_such_cycle.
  [[nodiscard]] Status unwatch(const CyclicMessage& message) noexcept;

  /// What has been reported since, oldest first; returns how many. Never waits. Real-time safe: a system call for each event.
  std::size_t receive(std::span<CyclicEvent> events) noexcept;

  /// For a poll: readable when there is an event.
  [[nodiscard]] int descriptor() const noexcept;

 private:
  struct State;
  explicit CyclicCan(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace takt::platform
