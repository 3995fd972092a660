// Tests the modes of a drive: cyclic, profile position and homing. Nothing moves in a mode before the drive
// confirms it, and a refused mode is reported.
#include <doctest/doctest.h>

#include "can/cia402_model.hpp"
#include "takt/can/cia402/drive_control.hpp"

using namespace takt;
using namespace takt::can;
using namespace takt::can::cia402;
using namespace takt::test::cia402_model;

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

TEST_CASE("a drive leaves its mode although it takes long, and does so only at rest or only without halt") {
  for (const Mode from : {Mode::profile_velocity, Mode::profile_position, Mode::homing}) {
    for (const bool only_halted : {false, true}) {
      for (int needed = 1; needed <= 100; ++needed) {
        CAPTURE(static_cast<int>(from));
        CAPTURE(only_halted);
        CAPTURE(needed);
        Rig rig;
        rig.enable(from);
        rig.drive.has_mode = false;
        rig.demand.mode = Mode::cyclic_position;
        rig.cycle();
        int passed = 0;
        for (int i = 0; i < 900 && !rig.control.mode_confirmed(); ++i) {
          rig.cycle();
          passed = rig.high(control::halt) == only_halted ? passed + 1 : 0;
          if (passed >= needed) rig.drive.mode = Mode::cyclic_position;
        }
        CHECK(rig.control.mode_confirmed());
        CHECK_FALSE(rig.control.mode_refused());
      }
    }
  }
}

TEST_CASE("a profile position that has to halt does not resume because a mode is late") {
  Rig rig;
  rig.enable(Mode::profile_position);
  rig.drive.has_mode = false;
  rig.demand.mode = Mode::cyclic_position;
  rig.demand.halt = true;
  for (int i = 0; i < 1000; ++i) {
    rig.cycle();
    CHECK(rig.high(control::halt));
  }
}

TEST_CASE("a refused mode is requested again when faults are cleared") {
  Rig rig;
  rig.drive.has_mode = false;
  rig.demand.target = Target::operation_enabled;
  rig.cycles(1100);
  CHECK(rig.control.mode_refused());
  rig.demand.clear_fault = true;
  rig.cycle();
  rig.demand.clear_fault = false;
  CHECK_FALSE(rig.control.mode_refused());
  rig.cycles(990);
  CHECK_FALSE(rig.control.mode_refused());
  rig.cycles(20);
  CHECK(rig.control.mode_refused());
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

TEST_CASE("homing ends attained, failed or interrupted, and ignores the report of an earlier one") {
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
