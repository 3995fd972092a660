// Tests the drive state machine against the standard's table of transitions, for every status word. Tests the
// process data as the bytes of their mapping.
#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "can/cia402_model.hpp"
#include "support/random.hpp"
#include "takt/can/cia402/drive_control.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::cia402;
using namespace takt::test::cia402_model;

namespace {

constexpr std::array states = {State::not_ready_to_switch_on, State::switch_on_disabled,
                               State::ready_to_switch_on,     State::switched_on,
                               State::operation_enabled,      State::quick_stop_active,
                               State::fault_reaction_active,  State::fault};
constexpr std::array targets = {Target::off, Target::ready, Target::switched_on, Target::operation_enabled,
                                Target::quick_stop};

/// The rows of the standard: bits 15 to 0; x matches both values.
constexpr std::array<std::string_view, 8> patterns = {
    "xxxxxxxxx0xx0000", "xxxxxxxxx1xx0000", "xxxxxxxxx01x0001", "xxxxxxxxx01x0011",
    "xxxxxxxxx01x0111", "xxxxxxxxx00x0111", "xxxxxxxxx0xx1111", "xxxxxxxxx0xx1000"};

bool matches(std::uint32_t word, std::string_view pattern) {
  for (std::size_t i = 0; i < 16; ++i) {
    const char bit = (word >> (15 - i) & 1U) != 0 ? '1' : '0';
    if (pattern[i] != 'x' && pattern[i] != bit) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("every status word gives the state of the standard's table, or none") {
  std::array<int, 9> seen{};
  for (std::uint32_t word = 0; word <= 0xFFFF; ++word) {
    std::optional<State> expected;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (!matches(word, patterns[i])) continue;
      REQUIRE_FALSE(expected.has_value());
      expected = states[i];
    }
    ++seen[expected ? static_cast<std::size_t>(*expected) : 8];
    REQUIRE(state_of(static_cast<std::uint16_t>(word)) == expected);
  }
  for (const int count : seen) CHECK(count > 0);
  for (const State state : states) CHECK(state_of(word_of(state)) == state);
}

TEST_CASE("for every status word, target and past, one control word never causes more than one transition") {
  for (std::uint32_t status = 0; status <= 0xFFFF; ++status) {
    const auto state = state_of(static_cast<std::uint16_t>(status));
    for (const Target target : targets) {
      for (const std::uint16_t previous :
           std::initializer_list<std::uint16_t>{0x00, 0x06, 0x07, 0x0F, 0x02, 0x80, 0x9F, 0x10F}) {
        for (const bool resume : {false, true}) {
          const std::uint16_t word = next_control_word(state, target, previous, resume);
          REQUIRE((word & ~0x0FU) == 0);  // no mode-specific bit and no fault reset
          if (!state) {
            if (target == Target::off) REQUIRE(word == 0);
            if (target == Target::quick_stop) REQUIRE(word == 2);
            continue;
          }
          const auto first = next_state(*state, word, previous);
          if (*state == State::fault || *state == State::fault_reaction_active ||
              *state == State::not_ready_to_switch_on) {
            REQUIRE_FALSE(first.has_value());
          }
          if (*state == State::fault) REQUIRE(word != control::enable_operation);
          if (first) REQUIRE_FALSE(next_state(*first, word, word).has_value());
        }
      }
    }
  }
}

TEST_CASE("every state that listens reaches every target, and stays there") {
  for (const State from : states) {
    if (from == State::fault || from == State::fault_reaction_active || from == State::not_ready_to_switch_on)
      continue;
    for (const Target target : targets) {
      for (const bool resume : {false, true}) {
        State state = from;
        std::uint16_t previous = 0;
        int moves = 0;
        for (int i = 0; i < 20; ++i) {
          const std::uint16_t word = next_control_word(state, target, previous, resume);
          const auto next = next_state(state, word, previous);
          if (next) ++moves;
          state = next.value_or(state);
          previous = word;
        }
        CHECK(moves <= 4);
        switch (target) {
          case Target::off:
            CHECK(state == State::switch_on_disabled);
            break;
          case Target::ready:
            CHECK(state == State::ready_to_switch_on);
            break;
          case Target::switched_on:
            CHECK(state == State::switched_on);
            break;
          case Target::operation_enabled:
            CHECK(state == State::operation_enabled);
            CHECK((from != State::quick_stop_active || (moves == 1) == resume));
            break;
          case Target::quick_stop:
            CHECK(state == (from == State::operation_enabled || from == State::quick_stop_active
                                ? State::quick_stop_active
                                : State::switch_on_disabled));
            break;
        }
      }
    }
  }
}

TEST_CASE("for any status word, bit 7 rises only to clear a fault, and the drive is not enabled meanwhile") {
  for (std::uint32_t status = 0; status <= 0xFFFF; ++status) {
    const auto state = state_of(static_cast<std::uint16_t>(status));
    for (const Target target : targets) {
      for (const bool confirmed : {false, true}) {
        DriveControl control;
        Demand demand;
        demand.target = target;
        (void)control.step(demand, Time{});
        control.heard({static_cast<std::uint16_t>(status), confirmed ? demand.mode : Mode::none, 0, 0, 0},
                      Time{});
        const Command quiet = control.step(demand, Time{});
        REQUIRE((quiet.control_word & control::fault_reset) == 0);
        demand.clear_fault = true;
        const Command command = control.step(demand, Time{});
        REQUIRE(((command.control_word & control::fault_reset) != 0) == (state == State::fault));
        if (state == State::fault) REQUIRE((command.control_word & 0x0F) == 0);
        if (!confirmed && state != State::operation_enabled) REQUIRE((command.control_word & 0x0F) != 0x0F);
      }
    }
  }
}

TEST_CASE("process data are the bytes of their mapping, both ways") {
  Frame frame;
  put_receive_pdo_1(frame, 5, {0x010F, Mode::cyclic_position, -2, 0, 0});
  CHECK(frame == *make_frame(0x205, std::vector<std::uint8_t>{0x0F, 0x01, 8, 0xFE, 0xFF, 0xFF, 0xFF}));
  put_receive_pdo_2(frame, 127, {0, Mode::none, 0, 0x01020304, -3});
  CHECK(frame == *make_frame(0x37F, std::vector<std::uint8_t>{4, 3, 2, 1, 0xFD, 0xFF}));

  auto random = test::generator(72);
  for (int i = 0; i < 1000; ++i) {
    Feedback sent{static_cast<std::uint16_t>(random()), static_cast<Mode>(static_cast<std::int8_t>(random())),
                  static_cast<std::int32_t>(random()), static_cast<std::int32_t>(random()),
                  static_cast<std::int16_t>(random())};
    Frame first, second;
    put_receive_pdo_1(first, 5, {sent.status_word, sent.mode, sent.position, 0, 0});
    put_receive_pdo_2(second, 5, {0, Mode::none, 0, sent.velocity, sent.torque});
    Feedback got;
    CHECK(take_transmit_pdo_1(got, first));
    CHECK(take_transmit_pdo_2(got, second));
    CHECK(got == sent);
  }
  for (int length = 0; length < 256; ++length) {
    Feedback untouched;
    frame = Frame{};
    frame.data.fill(0xFF);
    frame.length = static_cast<std::uint8_t>(length);
    CHECK(take_transmit_pdo_1(untouched, frame).has_value() == (length == 7));
    if (length != 7) CHECK(untouched == Feedback{});
    CHECK(take_transmit_pdo_2(untouched, frame).has_value() == (length == 6));
  }
  const auto bits = [](auto objects) {
    std::size_t sum = 0;
    for (const auto& mapped : objects) sum += mapped.bits;
    return sum;
  };
  CHECK(bits(receive_pdo_1) == 8 * pdo_1_length);
  CHECK(bits(transmit_pdo_1) == 8 * pdo_1_length);
  CHECK(bits(receive_pdo_2) == 8 * pdo_2_length);
  CHECK(bits(transmit_pdo_2) == 8 * pdo_2_length);
}
