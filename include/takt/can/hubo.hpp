// The boards of the Hubo family on classic CAN, in both directions: frames of a master, and frames of a
// board. A joint board drives one to five motors, interpolates position references at 1 kHz, and answers
// requests. It never sends a frame without a request.
//
// No vendor specification is public. The layouts come from the open drivers (hubo-ach of 2013, HuboCan of
// 2017) and from KAIST's PODO headers. Where these disagree, a comment says so. Text in [ ] is our inference.
// All frames are classic data frames with 11-bit identifiers, all numbers are little-endian, at 1 Mbit/s:
//
// - 0x001         to a board: [board, code, arguments...] (command.hpp, setting.hpp, duty.hpp); to a sensor:
//   sensor.hpp
// - 0x002, 0x003  to a sensor: [sensor, what] (sensor.hpp)
// - 0x010+board   to a board: position references of its motors (reference.hpp)
// - 0x040+sensor  from a sensor: force and torques (sensor.hpp)
// - 0x050+sensor  from a sensor: tilt, inertial (sensor.hpp)
// - 0x060+board   from a board: encoder counts of its motors (encoder.hpp)
// - 0x06E         from the power board, on robots that have one (sensor.hpp)
// - 0x150+board   from a board: status of its motors (status.hpp)
// - 0x1C0+board   from a board: currents (current.hpp) or parameters (parameter.hpp), told apart by asked.hpp
//
// The sources also name 0x190, 0x210 and 0x310 to 0x330, but not their layouts. Boards differ by BoardKind.
// All boards of the wheeled humanoid M-Hubo, numbers 12 to 22, are BoardKind::two_channel. Its grippers are
// channel 1 of boards 21 and 22.
//
// Every function is real-time safe and usable in constant expressions. A decoder reads nothing beyond the
// frame's length. It rejects other frames with unexpected_id, wrong_format, wrong_length or bad_value.
#pragma once

#include "takt/can/hubo/asked.hpp"
#include "takt/can/hubo/command.hpp"
#include "takt/can/hubo/current.hpp"
#include "takt/can/hubo/duty.hpp"
#include "takt/can/hubo/encoder.hpp"
#include "takt/can/hubo/frame.hpp"
#include "takt/can/hubo/parameter.hpp"
#include "takt/can/hubo/reference.hpp"
#include "takt/can/hubo/sensor.hpp"
#include "takt/can/hubo/setting.hpp"
#include "takt/can/hubo/status.hpp"
