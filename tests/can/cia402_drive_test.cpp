// Tests the control of one drive against a small drive model that follows the standard's table. The drive
// comes up, faults, stops, falls silent or answers nonsense.
#include <doctest/doctest.h>

#include <chrono>
#include <vector>

#include "can/cia402_model.hpp"
#include "support/rt_guard.hpp"
#include "takt/can/cia402/drive_control.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::cia402;
using namespace takt::test::cia402_model;
using namespace std::chrono_literals;

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

TEST_CASE("an enabled drive without answers holds its last command until operation is requested again") {
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

TEST_CASE("every drive sees the edge that clears its fault, however seldom it reads its control word") {
  for (int every = 1; every <= 80; ++every) {
    for (int phase = 0; phase < every; ++phase) {
      CAPTURE(every);
      CAPTURE(phase);
      DriveControl control;
      ModelDrive drive{.state = State::fault};
      Command read;
      Time now{};
      control.heard(drive.answer(read), now);
      for (int i = 0; i < 200; ++i) {
        now += 1ms;
        const Command command = control.step({.clear_fault = i == 0}, now);
        if (i % every == phase) read = command;
        control.heard(drive.answer(read), now);
      }
      CHECK(drive.state == State::switch_on_disabled);
      CHECK(drive.edges == 1);
    }
  }
}

TEST_CASE("one invalid status word does not end the pulses that clear a fault") {
  Rig rig;
  rig.drive.state = State::fault;
  rig.cycle();
  rig.drive.previous = 0x80;  // so that it misses the first pulse
  rig.demand.clear_fault = true;
  rig.cycle();
  rig.demand.clear_fault = false;
  rig.drive.bits = 0x0060;  // together with 0x08: not a state
  rig.cycles(3);
  rig.drive.bits = 0;
  rig.cycles(20);
  CHECK(rig.drive.edges == 1);
}

TEST_CASE("a fault that persists sees a few edges, each longer than the one before, and no more") {
  Rig rig;
  rig.drive.state = State::fault_reaction_active;
  rig.demand = {.target = Target::operation_enabled, .clear_fault = true};
  rig.cycles(3);
  CHECK(rig.drive.edges == 0);  // the drive would ignore it
  rig.drive.state = State::fault;
  rig.demand.clear_fault = false;
  rig.cycle();
  rig.demand.clear_fault = true;
  std::vector<int> pulses;
  bool was_high = false;
  for (int i = 0; i < 300; ++i) {
    rig.cycle();
    rig.drive.state = State::fault;
    rig.control.heard({word_of(State::fault), rig.drive.mode, 0, 0, 0}, rig.now);
    rig.demand.clear_fault = false;
    const bool is_high = rig.high(control::fault_reset);
    if (is_high && !was_high) pulses.push_back(0);
    if (is_high) ++pulses.back();
    was_high = is_high;
  }
  CHECK(rig.drive.edges == 3);
  CHECK(pulses == std::vector<int>{5, 20, 80});
}

TEST_CASE("quick stop: a drive that stays there is enabled from there, another one through off") {
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

TEST_CASE("a drive that does not answer is silent, in no state, and gets no new command but a stop") {
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
