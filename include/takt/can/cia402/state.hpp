// The state machine of drives (CiA 402-2, IEC 61800-7-201): the state out of the status word, the control
// word that goes one step towards where the drive is wanted, the modes of operation, and the bits that the
// modes give a meaning of their own. Pure functions of words: next_control_word() never asks for more than
// one transition, and for nothing at all in a fault, which only a rising edge of bit 7 leaves
// (drive_control.hpp makes it). Real-time safe and usable in constant expressions.
#pragma once

#include <cstdint>
#include <optional>

namespace takt::can::cia402 {

enum class State : std::uint8_t {
  not_ready_to_switch_on,  ///< starts up by itself
  switch_on_disabled,
  ready_to_switch_on,
  switched_on,  ///< power stage on, not moving
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

/// Modes of operation, objects 6060h and 6061h; negative ones are the manufacturer's.
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

/// What a drive does on a quick stop, object 605Ah. The last three end in quick_stop_active and wait there;
/// the others go on to switch_on_disabled.
enum class QuickStop : std::int16_t {
  coast = 0,
  slow_down = 1,      ///< on the slow-down ramp
  quick_ramp = 2,     ///< on the quick-stop ramp
  current_limit = 3,  ///< as hard as the current allows
  slow_down_and_stay = 5,
  quick_ramp_and_stay = 6,
  current_limit_and_stay = 7,
};
[[nodiscard]] constexpr bool stays(QuickStop option) noexcept {
  return option >= QuickStop::slow_down_and_stay;
}

/// The state that a status word tells; nothing where it tells none.
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

/// Where a drive is wanted.
enum class Target : std::uint8_t {
  off,          ///< switch_on_disabled: without torque, at once
  ready,        ///< ready_to_switch_on
  switched_on,  ///< power stage on, not moving
  operation_enabled,
  quick_stop,  ///< stopped as object 605Ah says
};

namespace detail {

/// The command that goes one step up, or down, from a state in which the drive listens.
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

/// The command bits (0 to 3) that go one transition from `state` towards `target`, or hold what is reached.
/// Where the status word told no state, switching off and quick stop are still asked for, anything else is
/// what it was in the `previous` control word. `resume`: the drive stays in quick_stop_active and can be
/// enabled from there (transition 16); others are switched off first.
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

/// How far homing is, out of bits 10, 12 and 13 of the status word.
enum class Homing : std::uint8_t {
  idle,     ///< nobody asked for it
  running,  ///< or at home, but still moving
  attained,
  interrupted,  ///< or never started
  failed,
};
[[nodiscard]] constexpr Homing homing_of(std::uint16_t status_word) noexcept {
  if ((status_word & status::homing_error) != 0) return Homing::failed;
  const bool reached = (status_word & status::target_reached) != 0;
  if ((status_word & status::homing_attained) != 0) return reached ? Homing::attained : Homing::running;
  return reached ? Homing::interrupted : Homing::running;
}

}  // namespace takt::can::cia402
