// The two error counters of a CAN controller, and the error state that follows from them. A node that
// destroys frames, or cannot send, takes itself off the bus before it disturbs the others. For simulated
// nodes, and for controllers whose fault confinement is done in software. Real-time safe and usable in
// constant expressions.
//
// Source: ISO 11898-1:2015, 12.1.4 (fault confinement).
#pragma once

#include <algorithm>
#include <cstdint>

#include "takt/can/bus_state.hpp"

namespace takt::can {

/// After bus-off, a node returns once it has seen this many runs of this many recessive bits.
inline constexpr std::uint32_t recovery_runs = 128;
inline constexpr std::uint32_t recovery_run_bits = 11;
/// After each of its frames, an error-passive sender waits this many bits before the next one.
inline constexpr std::uint32_t suspend_bits = 8;

/// The error counters of one node. In bus-off they keep their values until recovered().
class FaultConfinement {
 public:
  /// The error state by the larger counter: warning from 96, passive from 128, bus-off from 256 (transmit
  /// counter only).
  [[nodiscard]] constexpr BusState state() const noexcept {
    const unsigned worst = std::max<unsigned>(transmit_, receive_);
    if (transmit_ >= 256) return BusState::bus_off;
    if (worst >= 128) return BusState::passive;
    return worst >= 96 ? BusState::warning : BusState::active;
  }
  /// Returns whether either counter has reached 128; also true in bus-off.
  [[nodiscard]] constexpr bool is_passive() const noexcept { return transmit_ >= 128 || receive_ >= 128; }
  [[nodiscard]] constexpr bool is_bus_off() const noexcept { return transmit_ >= 256; }
  /// The counters as controllers report them: one byte each.
  [[nodiscard]] constexpr ErrorCounters counters() const noexcept {
    return {static_cast<std::uint8_t>(std::min<unsigned>(transmit_, 255)),
            static_cast<std::uint8_t>(receive_)};
  }

  /// A frame was sent and acknowledged.
  constexpr void sent() noexcept {
    if (!is_bus_off() && transmit_ > 0) --transmit_;
  }
  /// A frame was received without error. From error-passive, one such frame makes the node error-active
  /// again.
  constexpr void received() noexcept {
    if (is_bus_off() || receive_ == 0) return;
    receive_ = receive_ > 127 ? receive_after_passive : static_cast<std::uint16_t>(receive_ - 1);
  }
  /// A frame that this node sent was destroyed.
  constexpr void send_failed() noexcept {
    if (!is_bus_off()) transmit_ = static_cast<std::uint16_t>(transmit_ + 8);
  }
  /// No node acknowledged a frame of this node. A node alone on its bus becomes passive, but never bus-off.
  constexpr void not_acknowledged() noexcept {
    if (!is_passive()) send_failed();
  }
  /// This node and others found an error in another node's frame.
  constexpr void receive_failed() noexcept { add_receive(1); }
  /// This node found an error, and the other nodes answered its error flag. Most likely the fault is its own.
  constexpr void misread() noexcept { add_receive(1 + 8); }

  /// After bus-off, recovery_runs runs of recessive bits were seen.
  constexpr void recovered() noexcept { transmit_ = receive_ = 0; }

  friend constexpr bool operator==(const FaultConfinement&, const FaultConfinement&) = default;

 private:
  static constexpr std::uint16_t receive_after_passive = 119;  // the rule allows 119 to 127

  constexpr void add_receive(unsigned by) noexcept {
    if (!is_bus_off()) receive_ = static_cast<std::uint16_t>(std::min(receive_ + by, 255U));
  }

  std::uint16_t transmit_ = 0;  // at most 255 + 8
  std::uint16_t receive_ = 0;   // at most 255
};

}  // namespace takt::can
