// The two error counters of a CAN controller, and what follows from them: how a node that destroys frames, or cannot send any,
// takes itself off the bus before it harms the others. For simulated nodes, and for controllers whose rules software has to
// keep.
//
// Source: ISO 11898-1:2015, 12.1.4 (fault confinement). Real-time safe and usable in constant expressions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "takt/can/bus_state.hpp"

namespace takt::can {

/// After bus-off a node takes part again once it has seen so many runs of so many recessive bits.
inline constexpr std::uint32_t recovery_runs = 128;
inline constexpr std::uint32_t recovery_run_bits = 11;
/// An error-passive sender leaves the bus to others for so many bits after each of its frames.
inline constexpr std::uint32_t suspend_bits = 8;

/// The counters of one node. In bus-off they stand until recovered().
class FaultConfinement {
 public:
  [[nodiscard]] constexpr BusState state() const noexcept {
    const unsigned worst = std::max<unsigned>(transmit_, receive_);
    if (transmit_ >= 256) return BusState::bus_off;
    if (worst >= 128) return BusState::passive;
    return worst >= 96 ? BusState::warning : BusState::active;
  }
  [[nodiscard]] constexpr bool is_passive() const noexcept { return transmit_ >= 128 || receive_ >= 128; }
  [[nodiscard]] constexpr bool is_bus_off() const noexcept { return transmit_ >= 256; }
  /// As controllers report them: in a byte each.
  [[nodiscard]] constexpr ErrorCounters counters() const noexcept {
    return {static_cast<std::uint8_t>(std::min<unsigned>(transmit_, 255)),
            static_cast<std::uint8_t>(receive_)};
  }

  /// A frame was sent, and acknowledged.
  constexpr void sent() noexcept {
    if (!is_bus_off() && transmit_ > 0) --transmit_;
  }
  /// A frame was received as it should be. From error-passive it is but a short way back.
  constexpr void received() noexcept {
    if (is_bus_off() || receive_ == 0) return;
    receive_ = receive_ > 127 ? receive_after_passive : static_cast<std::uint16_t>(receive_ - 1);
  }
  /// A frame that this node sent was destroyed.
  constexpr void send_failed() noexcept {
    if (!is_bus_off()) transmit_ = static_cast<std::uint16_t>(transmit_ + 8);
  }
  /// Nobody acknowledged a frame of this node. Alone on its bus it becomes passive, and never bus-off.
  constexpr void not_acknowledged() noexcept {
    if (!is_passive()) send_failed();
  }
  /// A frame of another node was found to be wrong, by this node among others.
  constexpr void receive_failed() noexcept { add_receive(1); }
  /// This node alone found it wrong, and the others answered its error flag: most likely the fault is its own.
  constexpr void misread() noexcept { add_receive(1 + 8); }

  /// recovery_runs have been seen after bus-off.
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
