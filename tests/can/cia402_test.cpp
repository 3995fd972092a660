// Tests the drive state machine against the standard's table of transitions, for every status word. Tests the
// control of one drive against a small drive model that follows that table.
#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/can/cia402/drive_control.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::cia402;
using namespace std::chrono_literals;

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

/// The transitions of a control word: from, to, and the word's bits 7 to 0 (^ for a rising edge).
struct Transition {
  State from;
  State to;
  std::string_view bits;
};
constexpr std::array<Transition, 15> transitions = {{
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

std::optional<State> next_state(State state, std::uint32_t word, std::uint32_t previous) {
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

constexpr std::uint16_t word_of(State state) {
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

}  // namespace

TEST_CASE("every status word tells the state of the standard's table, or none") {
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

TEST_CASE(
    "whatever the drive says, bit 7 rises only in a fault that is to be cleared, and nothing enables "
    "meanwhile") {
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

TEST_CASE("a drive comes up in four cycles, in its mode and where it stands, and goes down in one") {
  Rig rig;
  rig.demand = {.target = Target::operation_enabled, .position = 5000};
  const std::vector<std::uint16_t> expected = {0x06, 0x07, 0x0F, 0x0F};
  for (const std::uint16_t word : expected) {
    rig.cycle();
    CHECK(rig.command.control_word == word);
  }
  CHECK(rig.control.enabled());
  CHECK(rig.drive.target_when_enabled == 1000);
  CHECK(rig.command.position == 5000);  // only after the change
  rig.demand.target = Target::off;
  rig.cycle();
  CHECK(rig.drive.state == State::switch_on_disabled);
}

TEST_CASE("a drive that does not confirm its mode is not enabled, and the mode is called refused") {
  Rig rig;
  rig.drive.has_mode = false;
  rig.demand = {.target = Target::operation_enabled, .mode = Mode::cyclic_torque};
  rig.cycles(1000);
  CHECK(rig.drive.state == State::switched_on);
  CHECK_FALSE(rig.control.mode_refused());
  rig.cycles(2);
  CHECK(rig.control.mode_refused());
  rig.drive.has_mode = true;
  rig.cycles(3);
  CHECK(rig.control.enabled());
  CHECK_FALSE(rig.control.mode_refused());
}

TEST_CASE("a mode that changes while the drive is enabled takes effect when it is confirmed") {
  Rig rig;
  rig.enable();
  rig.demand.position = 1234;
  rig.cycle();
  rig.drive.has_mode = false;
  rig.demand.mode = Mode::cyclic_velocity;
  rig.demand.position = 9999;
  rig.demand.velocity = 77;
  rig.cycles(3);
  CHECK(rig.command.mode == Mode::cyclic_velocity);
  CHECK(rig.command.position == 1234);
  CHECK(rig.command.velocity == 0);
  CHECK(rig.drive.state == State::operation_enabled);
  rig.drive.has_mode = true;
  rig.cycles(2);
  CHECK(rig.command.velocity == 77);
}

TEST_CASE("a mode that changes while the drive is enabled moves nothing before the drive is in it") {
  for (const Mode from : {Mode::cyclic_position, Mode::cyclic_velocity, Mode::cyclic_torque,
                          Mode::profile_position, Mode::profile_velocity, Mode::homing}) {
    for (const Mode to :
         {Mode::cyclic_position, Mode::cyclic_velocity, Mode::cyclic_torque, Mode::profile_velocity}) {
      if (from == to) continue;
      CAPTURE(static_cast<int>(from));
      CAPTURE(static_cast<int>(to));
      Rig rig;
      rig.enable(from);
      rig.demand.position = from == Mode::cyclic_position ? 1010 : 1'000'000;
      rig.demand.velocity = 500;
      rig.demand.torque = 50;
      rig.cycles(3);
      rig.drive.position = from == Mode::cyclic_position ? 1000 : 2000;
      rig.drive.has_mode = false;
      rig.cycle();  // reports its present position
      rig.demand.mode = to;
      for (int wait = 0; wait < 3; ++wait) {
        rig.drive.position += from == Mode::cyclic_position ? 0 : 5;  // it is still moving
        const std::int32_t told = rig.control.feedback().position;
        rig.cycle();
        CHECK(rig.command.mode == to);
        CHECK(rig.command.position == (from == Mode::cyclic_position ? 1010 : told));
        const bool keeps_velocity = from == Mode::cyclic_velocity || from == Mode::profile_velocity;
        CHECK(rig.command.velocity == (keeps_velocity ? 500 : 0));
        CHECK(rig.command.torque == (from == Mode::cyclic_torque ? 50 : 0));
      }
      rig.drive.has_mode = true;
      rig.cycles(2);
      CHECK(rig.command.velocity == 500);
      CHECK(rig.command.torque == 50);
      CHECK(rig.command.position == rig.demand.position);
    }
  }
}

TEST_CASE(
    "a drive that does not take the mode that it is to change to moves on no longer than a silent one") {
  for (const Mode from : {Mode::cyclic_velocity, Mode::cyclic_torque, Mode::profile_velocity,
                          Mode::profile_position, Mode::homing}) {
    for (const bool halts : {false, true}) {
      CAPTURE(static_cast<int>(from));
      CAPTURE(halts);
      Rig rig;
      rig.enable(from);
      rig.demand.velocity = 500;
      rig.demand.torque = 50;
      rig.cycles(3);
      rig.drive.has_mode = false;
      rig.demand.mode = Mode::cyclic_position;
      rig.cycles(halts ? 1 : 51);
      const bool moved = from == Mode::cyclic_velocity || from == Mode::profile_velocity;
      CHECK(rig.command.velocity == (moved ? 500 : 0));
      CHECK(rig.command.torque == (from == Mode::cyclic_torque ? 50 : 0));
      CHECK_FALSE(rig.high(control::halt));
      rig.demand.halt = halts;
      rig.drive.position = 3000;
      rig.cycles(2);
      CHECK(rig.command.velocity == 0);
      CHECK(rig.command.torque == 0);
      CHECK(rig.command.position == 3000);  // the commanded mode would not move the drive either
      CHECK(rig.high(control::halt) == (from != Mode::cyclic_velocity && from != Mode::cyclic_torque));
      CHECK(rig.drive.state == State::operation_enabled);
      rig.demand.halt = false;
      rig.demand.position = 3000;
      rig.drive.has_mode = true;
      rig.cycles(2);
      CHECK(rig.control.mode_confirmed());
      CHECK_FALSE(rig.high(control::halt));
    }
  }
}

TEST_CASE(
    "an enabled drive whose answers are lost is held where it was told to be, until operation is wanted "
    "anew") {
  Rig rig;
  rig.enable();
  rig.drive.position = 900;  // it lags behind
  rig.demand.velocity = 3;
  const auto move = [&](int cycles) {
    while (cycles-- > 0) {
      rig.demand.position += 10;
      const std::int32_t before = rig.command.position;
      rig.cycle();
      CHECK(rig.command.position >= before);
      CHECK(rig.command.position <= before + 10);
    }
  };
  move(20);
  rig.deaf = true;
  move(50);
  const std::int32_t last = rig.command.position;
  CHECK(last == 1700);
  move(30);
  CHECK(rig.control.silent());
  CHECK(rig.control.held());
  CHECK(rig.command.position == last);
  CHECK(rig.command.velocity == 0);
  rig.deaf = false;
  move(20);
  CHECK(rig.control.enabled());
  CHECK(rig.control.held());
  CHECK(rig.command.position == last);
  rig.drive.position = last;
  rig.demand.target = Target::switched_on;
  rig.cycles(2);
  CHECK_FALSE(rig.control.held());
  rig.demand.target = Target::operation_enabled;
  rig.demand.position = last;
  rig.cycles(3);
  CHECK(rig.control.enabled());
  move(5);
  CHECK(rig.command.position == last + 50);
}

TEST_CASE("a status word that makes no sense changes nothing, unless they all do for long") {
  Rig rig;
  rig.enable();
  rig.drive.position = 900;
  rig.demand.position = 1010;
  rig.cycle();
  rig.drive.bits = 0x0068;  // together with 0x27: not a state
  rig.cycles(2);
  CHECK_FALSE(rig.control.state().has_value());
  CHECK(rig.command.control_word == 0x0F);
  CHECK(rig.command.position == 1010);
  rig.demand.position = 1020;
  rig.cycle();
  CHECK(rig.command.position == 1020);
  rig.cycles(60);
  CHECK(rig.control.silent());
  CHECK(rig.control.held());
}

TEST_CASE("a fault stays until it is cleared, by a rising edge") {
  Rig rig;
  rig.enable();
  rig.drive.state = State::fault;
  rig.cycles(50);
  CHECK(rig.drive.edges == 0);
  CHECK(rig.control.state() == State::fault);
  CHECK(rig.command.control_word == 0);
  rig.demand.clear_fault = true;
  rig.cycle();
  rig.demand.clear_fault = false;
  CHECK(rig.drive.edges == 1);
  CHECK(rig.drive.state == State::switch_on_disabled);
  rig.cycles(5);
  CHECK(rig.control.enabled());
  CHECK(rig.drive.edges == 1);
}

TEST_CASE("a fault that persists sees a few edges, each a few cycles long, and no more") {
  Rig rig;
  rig.drive.state = State::fault_reaction_active;
  rig.demand = {.target = Target::operation_enabled, .clear_fault = true};
  rig.cycles(3);
  CHECK(rig.drive.edges == 0);  // the drive would ignore it
  rig.drive.state = State::fault;
  rig.demand.clear_fault = false;
  rig.cycle();
  rig.demand.clear_fault = true;
  int longest = 0, run = 0;
  for (int i = 0; i < 200; ++i) {
    rig.cycle();
    rig.drive.state = State::fault;
    rig.control.heard({word_of(State::fault), rig.drive.mode, 0, 0, 0}, rig.now);
    rig.demand.clear_fault = false;
    run = rig.high(control::fault_reset) ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  CHECK(rig.drive.edges == 4);
  CHECK(longest == 5);
}

TEST_CASE("quick stop: a drive that stays there is enabled from there, another one by way of off") {
  for (const QuickStop option : {QuickStop::quick_ramp, QuickStop::quick_ramp_and_stay}) {
    Rig rig(DriveOptions{.quick_stop = option});
    rig.enable();
    rig.demand.target = Target::quick_stop;
    rig.cycle();
    CHECK(rig.drive.state == State::quick_stop_active);
    rig.cycles(5);
    CHECK(rig.drive.state == State::quick_stop_active);
    rig.drive.position = 1500;
    rig.cycle();
    rig.demand.target = Target::operation_enabled;
    rig.cycle();
    CHECK(rig.drive.state == (stays(option) ? State::operation_enabled : State::switch_on_disabled));
    rig.cycles(4);
    CHECK(rig.control.enabled());
    CHECK(rig.drive.target_when_enabled == 1500);
  }
}

TEST_CASE("halt is bit 8 in the profile modes, and holding still in the cyclic ones") {
  Rig rig;
  rig.enable(Mode::profile_velocity);
  rig.demand.velocity = 50;
  rig.demand.halt = true;
  rig.cycle();
  CHECK(rig.high(control::halt));
  CHECK(rig.command.velocity == 50);
  rig.demand = {.target = Target::operation_enabled, .mode = Mode::cyclic_velocity, .velocity = 50};
  rig.cycles(3);
  CHECK(rig.command.velocity == 50);
  rig.demand.halt = true;
  rig.cycle();
  CHECK_FALSE(rig.high(control::halt));
  CHECK(rig.command.velocity == 0);
}

TEST_CASE("profile position: each target goes through the whole handshake, and the latest wins") {
  Rig rig;
  rig.enable(Mode::profile_position);
  CHECK(rig.high(control::new_setpoint));
  CHECK(rig.command.position == 1000);
  rig.demand.position = 2000;
  rig.cycles(3);
  CHECK(rig.high(control::new_setpoint));  // still the first target, not acknowledged
  CHECK(rig.command.position == 1000);
  rig.drive.bits = status::setpoint_acknowledge | status::target_reached;
  rig.cycles(2);
  CHECK_FALSE(rig.high(control::new_setpoint));
  CHECK(rig.command.position == 1000);
  CHECK_FALSE(rig.control.target_reached());  // refers to the previous target
  rig.demand.position = 3000;
  rig.drive.bits = status::target_reached;
  rig.cycles(2);
  CHECK(rig.high(control::new_setpoint));
  CHECK(rig.command.position == 3000);  // 2000 was never sent
  rig.drive.bits = status::setpoint_acknowledge;
  rig.cycles(2);
  rig.drive.bits = 0;
  rig.cycles(5);
  CHECK_FALSE(rig.high(control::new_setpoint));
  CHECK(rig.high(control::change_immediately));
  CHECK_FALSE(rig.control.target_reached());
  rig.drive.bits = status::target_reached;
  rig.cycle();
  CHECK(rig.control.target_reached());
}

TEST_CASE(
    "homing starts, and ends attained, failed or interrupted, whatever was reported of an earlier one") {
  struct Case {
    std::uint16_t bits;
    Homing expected;
  };
  for (const Case& c : {Case{status::homing_attained | status::target_reached, Homing::attained},
                        Case{status::homing_error, Homing::failed},
                        Case{status::homing_error | status::target_reached, Homing::failed},
                        Case{status::target_reached, Homing::interrupted}}) {
    Rig rig;
    rig.enable(Mode::homing);
    rig.drive.bits = status::homing_attained | status::target_reached;  // from an earlier homing
    rig.cycles(3);
    CHECK(rig.control.homing() == Homing::idle);
    CHECK_FALSE(rig.high(control::start_homing));
    rig.demand.home = true;
    rig.cycles(50);  // until homing starts
    CHECK(rig.control.homing() == Homing::running);
    CHECK(rig.high(control::start_homing));
    rig.drive.bits = 0;
    rig.cycles(100);
    CHECK(rig.control.homing() == Homing::running);
    rig.drive.bits = status::homing_attained;  // at home, but still moving
    rig.cycles(3);
    CHECK(rig.control.homing() == Homing::running);
    rig.drive.bits = c.bits;
    rig.cycles(2);
    CHECK(rig.control.homing() == c.expected);
    CHECK_FALSE(rig.high(control::start_homing));
    rig.cycles(20);
    CHECK(rig.control.homing() == c.expected);
    rig.demand.home = false;
    rig.cycle();
    CHECK(rig.control.homing() == Homing::idle);
  }
  Rig quick;  // a drive at home never reports that homing runs
  quick.enable(Mode::homing);
  quick.drive.bits = status::homing_attained | status::target_reached;
  quick.demand.home = true;
  quick.cycles(101);
  CHECK(quick.control.homing() == Homing::attained);
}

TEST_CASE("a drive that does not answer is silent, in no state, and is told nothing new but to stop") {
  Rig rig;
  rig.enable();
  rig.deaf = true;
  rig.cycles(50);
  CHECK_FALSE(rig.control.silent());
  CHECK(rig.control.unanswered() == 50);
  rig.cycles(1);
  CHECK(rig.control.silent());
  CHECK_FALSE(rig.control.state().has_value());
  CHECK(rig.command.control_word == 0x0F);
  rig.demand.target = Target::quick_stop;
  rig.cycle();
  CHECK(rig.command.control_word == 0x02);
  rig.demand.target = Target::off;
  rig.cycle();
  CHECK(rig.command.control_word == 0x00);
  rig.deaf = false;
  rig.cycles(2);
  CHECK(rig.control.state() == State::switch_on_disabled);
  CHECK(rig.control.unanswered() == 0);
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

TEST_CASE("control of a drive keeps the rules of the loop") {
  Rig rig;
  rig.demand.target = Target::operation_enabled;
  Frame frame;
  Feedback feedback;
  test::RtGuard guard;
  for (int i = 0; i < 1000; ++i) {
    rig.now += 1ms;
    put_receive_pdo_1(frame, 5, rig.control.step(rig.demand, rig.now));
    put_receive_pdo_2(frame, 5, rig.command);
    (void)take_transmit_pdo_1(feedback, frame);
    rig.control.heard(feedback, rig.now);
  }
  CHECK(guard.report() == "");
}
