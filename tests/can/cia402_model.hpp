// A small drive model that follows the standard's table of transitions, and a rig that connects it to the
// control of one drive. The tests of the control share them.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "takt/can/cia402/drive_control.hpp"

namespace takt::test::cia402_model {

using namespace can::cia402;
using namespace std::chrono_literals;

/// The transitions of a control word: from, to, and the word's bits 7 to 0 (^ for a rising edge).
struct Transition {
  State from;
  State to;
  std::string_view bits;
};
inline constexpr std::array<Transition, 15> transitions = {{
    {State::switch_on_disabled, State::ready_to_switch_on, "0xxxx110"},  // 2
    {State::ready_to_switch_on, State::switched_on, "0xxxx111"},         // 3
    {State::switched_on, State::operation_enabled, "0xxx1111"},          // 4
    {State::operation_enabled, State::switched_on, "0xxx0111"},          // 5
    {State::switched_on, State::ready_to_switch_on, "0xxxx110"},         // 6
    {State::ready_to_switch_on, State::switch_on_disabled, "0xxxxx0x"},  // 7
    {State::ready_to_switch_on, State::switch_on_disabled, "0xxxx01x"},  // 7
    {State::operation_enabled, State::ready_to_switch_on, "0xxxx110"},   // 8
    {State::operation_enabled, State::switch_on_disabled, "0xxxxx0x"},   // 9
    {State::switched_on, State::switch_on_disabled, "0xxxxx0x"},         // 10
    {State::switched_on, State::switch_on_disabled, "0xxxx01x"},         // 10
    {State::operation_enabled, State::quick_stop_active, "0xxxx01x"},    // 11
    {State::quick_stop_active, State::switch_on_disabled, "0xxxxx0x"},   // 12
    {State::fault, State::switch_on_disabled, "^xxxxxxx"},               // 15
    {State::quick_stop_active, State::operation_enabled, "0xxx1111"},    // 16
}};

inline std::optional<State> next_state(State state, std::uint32_t word, std::uint32_t previous) {
  for (const Transition& transition : transitions) {
    if (transition.from != state) continue;
    bool fits = true;
    for (std::size_t i = 0; i < 8; ++i) {
      const bool bit = (word >> (7 - i) & 1U) != 0;
      const char want = transition.bits[i];
      if (want == '^') fits = fits && bit && (previous >> 7 & 1U) == 0;
      if (want == '0' || want == '1') fits = fits && bit == (want == '1');
    }
    if (fits) return transition.to;
  }
  return std::nullopt;
}

inline constexpr std::uint16_t word_of(State state) {
  constexpr std::array<std::uint16_t, 8> words = {0x0200, 0x0240, 0x0221, 0x0223,
                                                  0x0227, 0x0207, 0x020F, 0x0208};
  return words[static_cast<std::size_t>(state)];
}

/// A drive that executes commands at once and answers in the same cycle.
struct ModelDrive {
  State state = State::switch_on_disabled;
  std::uint16_t previous = 0;
  Mode mode = Mode::none;
  bool has_mode = true;
  std::int32_t position = 1000;
  std::uint16_t bits = 0;  ///< mode-specific bits of the status word
  int edges = 0;
  std::int32_t target_when_enabled = 0;

  Feedback answer(const Command& command) {
    if (has_mode) mode = command.mode;
    if ((command.control_word & 0x80) != 0 && (previous & 0x80) == 0) ++edges;
    if (const auto next = next_state(state, command.control_word, previous)) {
      if (*next == State::operation_enabled) target_when_enabled = command.position;
      state = *next;
    }
    previous = command.control_word;
    return {static_cast<std::uint16_t>(word_of(state) | bits), mode, position, 0, 0};
  }
};

struct Rig {
  DriveControl control;
  ModelDrive drive;
  Demand demand;
  Command command;
  Time now{};
  bool deaf = false;

  explicit Rig(const DriveOptions& options = {}) : control(options) { control.heard(drive.answer({}), now); }
  void cycle() {
    now += 1ms;
    const auto before = drive.state;
    command = control.step(demand, now);
    if (deaf) return;
    control.heard(drive.answer(command), now);
    if (before != State::operation_enabled && drive.state == State::operation_enabled) {
      CHECK(drive.mode == demand.mode);
    }
  }
  void cycles(int count) {
    while (count-- > 0) cycle();
  }
  void enable(Mode mode = Mode::cyclic_position) {
    demand.target = Target::operation_enabled;
    demand.mode = mode;
    demand.position = drive.position;
    cycles(5);
    REQUIRE(control.enabled());
  }
  [[nodiscard]] bool high(std::uint16_t bit) const { return (command.control_word & bit) != 0; }
};

}  // namespace takt::test::cia402_model
