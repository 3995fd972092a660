// Generates a C++ header from a DBC file: typed messages of takt/can/message.hpp. The compiler rejects an
// invalid layout, and the program needs neither the file nor a parser. `takt dbc2hpp` and the CMake function
// takt_add_dbc() call it.
//
// A message becomes a struct in PascalCase, a signal a member in snake_case: MOTOR_STATUS.ShaftSpeed is
// MotorStatus::shaft_speed. Names that C++ forbids get a prefix word, and duplicate names get a number. The
// type of a member is the first that applies:
// - enum: the signal is an integer without scale and offset, and VAL_ has texts for it.
// - bool: the signal is one bit.
// - integer: the signal has neither scale nor offset, and J1939 reserves none of its numbers as codes.
// - double: in physical units. Texts of VAL_ become constants of this type.
//
// The header also has the tuple `Messages` of all structs, and visit(frame, visitor). It finds the message of
// a frame by its identifier, or its J1939 parameter group, as Dbc::find() does.
//
// The same file and options give the same text, byte for byte. Texts of the file appear only in comments and
// string literals, and are escaped so that they cannot end these.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "takt/dbc/database.hpp"

namespace takt::dbc {

/// The options of make_header().
struct HeaderOptions {
  std::string source;  ///< file name without folder, for the first line of the header
  /// The namespace. "robot::drive" is used as it is; "robot::" gets the file's name: robot::drive for
  /// drive.dbc; empty: drive_dbc.
  std::string name_space;
  std::string node;  ///< only messages that this node sends or receives; empty: all
};

/// A generated header.
struct GeneratedHeader {
  std::string text;
  std::vector<std::string> warnings;  ///< parts of the file that are not in the header, with the reason
  std::size_t left_out = 0;           ///< number of messages that are not in the header
};

/// Generates the header. Error: bad_dbc (an unknown node, or a namespace that C++ forbids). For set-up:
/// allocates.
[[nodiscard]] SetupResult<GeneratedHeader> make_header(const Database& dbc, const HeaderOptions& options);

}  // namespace takt::dbc
