// The state machine of drives (CiA 402-2, IEC 61800-7-201). It decodes the state from the status word and
// gives the control word of the next transition. It also has the modes of operation and their bits. Pure
// functions of words. In a fault, next_control_word() requests no transition. Only a rising edge of bit 7
// leaves the fault; drive_control.hpp makes it. Real-time safe and usable in constant expressions.
#pragma once

#include <cstdint>
#include <optional>

namespace takt::can::cia402 {

/// The states of a drive.
enum class State : std::uint8_t {
  not_ready_to_switch_on,  ///< the drive starts up by itself
  switch_on_disabled,
  ready_to_switch_on,
  switched_on,  ///< power stage on, no motion
  operation_enabled,
  quick_stop_active,
  fault_reaction_active,
  fault,
};

/// Bits of the status word, object 6041h.
namespace status {
inline constexpr std::uint16_t voltage_enabled = 1U << 4;
inline constexpr std::uint16_t warning = 1U << 7;
inline constexpr std::uint16_t remote = 1U << 9;
inline constexpr std::uint16_t target_reached = 1U << 10;
inline constexpr std::uint16_t internal_limit = 1U << 11;
inline constexpr std::uint16_t setpoint_acknowledge = 1U << 12;  ///< profile position
inline constexpr std::uint16_t homing_attained = 1U << 12;       ///< homing
inline constexpr std::uint16_t follows_command = 1U << 12;       ///< cyclic modes
inline constexpr std::uint16_t speed_zero = 1U << 12;            ///< profile velocity
inline constexpr std::uint16_t following_error = 1U << 13;       ///< profile and cyclic position
inline constexpr std::uint16_t homing_error = 1U << 13;          ///< homing
}  // namespace status

/// Commands and bits of the control word, object 6040h.
namespace control {
inline constexpr std::uint16_t disable_voltage = 0x0000;
inline constexpr std::uint16_t quick_stop = 0x0002;
inline constexpr std::uint16_t shutdown = 0x0006;
inline constexpr std::uint16_t switch_on = 0x0007;  ///< in operation enabled: disable operation
inline constexpr std::uint16_t enable_operation = 0x000F;
inline constexpr std::uint16_t new_setpoint = 1U << 4;        ///< profile position
inline constexpr std::uint16_t start_homing = 1U << 4;        ///< homing
inline constexpr std::uint16_t change_immediately = 1U << 5;  ///< profile position
inline constexpr std::uint16_t fault_reset = 1U << 7;
inline constexpr std::uint16_t halt = 1U << 8;
}  // namespace control

/// Modes of operation, objects 6060h and 6061h. Negative modes are manufacturer-specific.
enum class Mode : std::int8_t {
  none = 0,
  profile_position = 1,
  profile_velocity = 3,
  profile_torque = 4,
  homing = 6,
  cyclic_position = 8,
  cyclic_velocity = 9,
  cyclic_torque = 10,
};

/// The reaction of a drive to a quick stop, object 605Ah. The last three options stay in quick_stop_active.
/// The others continue to switch_on_disabled.
enum class QuickStop : std::int16_t {
  coast = 0,
  slow_down = 1,      ///< on the slow-down ramp
  quick_ramp = 2,     ///< on the quick-stop ramp
  current_limit = 3,  ///< as fast as the current limit allows
  slow_down_and_stay = 5,
  quick_ramp_and_stay = 6,
  current_limit_and_stay = 7,
};
/// Returns whether a drive with this option stays in quick_stop_active.
[[nodiscard]] constexpr bool stays(QuickStop option) noexcept {
  return option >= QuickStop::slow_down_and_stay;
}

/// Returns the state in a status word; nullopt if it contains no valid state.
[[nodiscard]] constexpr std::optional<State> state_of(std::uint16_t status_word) noexcept {
  switch (status_word & 0x4FU) {
    case 0x00:
      return State::not_ready_to_switch_on;
    case 0x40:
      return State::switch_on_disabled;
    case 0x0F:
      return State::fault_reaction_active;
    case 0x08:
      return State::fault;
    default:
      break;
  }
  switch (status_word & 0x6FU) {
    case 0x21:
      return State::ready_to_switch_on;
    case 0x23:
      return State::switched_on;
    case 0x27:
      return State::operation_enabled;
    case 0x07:
      return State::quick_stop_active;
    default:
      return std::nullopt;
  }
}

/// The wanted state of a drive.
enum class Target : std::uint8_t {
  off,          ///< switch_on_disabled: no torque, immediately
  ready,        ///< ready_to_switch_on
  switched_on,  ///< power stage on, no motion
  operation_enabled,
  quick_stop,  ///< stops as object 605Ah defines
};

namespace detail {

/// The command for one transition towards the target, from a state that accepts commands.
[[nodiscard]] constexpr std::uint16_t step_towards(State state, Target target) noexcept {
  switch (state) {
    case State::switch_on_disabled:
      return control::shutdown;
    case State::ready_to_switch_on:
      return target == Target::ready ? control::shutdown : control::switch_on;
    case State::switched_on:
    case State::operation_enabled:
      return target == Target::ready         ? control::shutdown
             : target == Target::switched_on ? control::switch_on
                                             : control::enable_operation;
    default:
      return control::disable_voltage;
  }
}

}  // namespace detail

/// Returns the command bits (0 to 3) for one transition from `state` towards `target`, or for staying there.
/// Without a valid state, switching off and quick stop are still requested; otherwise the bits of `previous`
/// are repeated. With `resume`, the drive stays in quick_stop_active and can be enabled from there
/// (transition 16). Other drives are switched off first.
[[nodiscard]] constexpr std::uint16_t next_control_word(std::optional<State> state, Target target,
                                                        std::uint16_t previous, bool resume) noexcept {
  if (target == Target::off) return control::disable_voltage;
  if (!state) return target == Target::quick_stop ? control::quick_stop : previous & 0x000FU;
  switch (*state) {
    case State::not_ready_to_switch_on:
    case State::fault_reaction_active:
    case State::fault:
      return control::disable_voltage;
    case State::quick_stop_active:
      if (target == Target::quick_stop) return control::quick_stop;
      return resume && target == Target::operation_enabled ? control::enable_operation
                                                           : control::disable_voltage;
    default:
      return target == Target::quick_stop ? control::quick_stop : detail::step_towards(*state, target);
  }
}

/// The progress of homing, from bits 10, 12 and 13 of the status word.
enum class Homing : std::uint8_t {
  idle,     ///< not requested
  running,  ///< or at home, but still moving
  attained,
  interrupted,  ///< or never started
  failed,
};
/// Returns the progress of homing in a status word.
[[nodiscard]] constexpr Homing homing_of(std::uint16_t status_word) noexcept {
  if ((status_word & status::homing_error) != 0) return Homing::failed;
  const bool reached = (status_word & status::target_reached) != 0;
  if ((status_word & status::homing_attained) != 0) return reached ? Homing::attained : Homing::running;
  return reached ? Homing::interrupted : Homing::running;
}

}  // namespace takt::can::cia402
