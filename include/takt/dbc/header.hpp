// A C++ header out of a DBC file: typed messages of takt/can/message.hpp, so that a layout which makes no sense does not
// compile, and a program needs neither the file nor a parser. `takt dbc2hpp` and the CMake function takt_add_dbc() call it.
//
// A message becomes a struct in PascalCase, a signal a member in snake_case: MOTOR_STATUS.ShaftSpeed is
// MotorStatus::shaft_speed. Names that C++ does not allow, or that two would have, get a word in front or a number behind.
// A member is
//     an enum     where the signal is an integer without scale and offset, and VAL_ has texts for it,
//     a bool      where it is one bit,
//     an integer  otherwise, if it has neither scale nor offset, and J1939 keeps none of its numbers for what is no value,
//     a double    in physical units else; what VAL_ says of some of its values are constants of that type.
// With the structs come the tuple `Messages` of them all, and visit(frame, visitor), which finds the message of a frame by its
// identifier, of J1939 by its parameter group, as Database::find() does.
//
// The same file and options give the same text, byte for byte. Texts of the file stand in comments and string literals only,
// with what could end these made harmless.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "takt/dbc/database.hpp"

namespace takt::dbc {

struct HeaderOptions {
  std::string source;  ///< what the first line says where the header is from: a file name, without its folder
  /// "robot::drive"; "robot::" puts the source's name behind: drive.dbc is in robot::drive; empty: in drive_dbc.
  std::string name_space;
  std::string node;  ///< only messages that this node sends or receives; empty: all
};

struct Header {
  std::string text;
  std::vector<std::string> warnings;  ///< what of the file is not in it, and why
  std::size_t left_out = 0;           ///< messages among that
};

/// For set-up: allocates. Error: bad_dbc (no such node, or a name space that C++ does not allow).
[[nodiscard]] SetupResult<Header> make_header(const Database& dbc, const HeaderOptions& options);

}  // namespace takt::dbc
