// Databases for tests, from the files of this folder and from short texts: J1939, and nested multiplexing.
// The tests of the run-time database share them.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/source_dir.hpp"
#include "takt/dbc/database.hpp"

namespace takt::test::databases {

using dbc::Database;

inline const std::string folder = TAKT_SOURCE_DIR "/tests/dbc/";
using Data = std::vector<std::uint8_t>;

inline Database load(const std::string& name) {
  auto dbc = Database::load(folder + name);
  REQUIRE_MESSAGE(dbc.has_value(), dbc.error().message);
  return std::move(*dbc);
}

inline Database parse(const std::string& text) {
  auto dbc = Database::parse(text);
  REQUIRE_MESSAGE(dbc.has_value(), dbc.error().message);
  return std::move(*dbc);
}

/// A J1939 file with two messages.
inline Database trucks() {
  return parse(
      "BU_: A\n"
      "BO_ 2364540158 EEC1: 8 A\n"
      " SG_ speed : 24|16@1+ (0.125,0) [0|8031.875] \"rpm\" A\n"
      " SG_ torque : 16|8@1+ (1,-125) [-125|125] \"%\" A\n"
      " SG_ lamp : 0|2@1+ (1,0) [0|3] \"\" A\n"
      " SG_ mode : 7|4@0+ (1,0) [0|15] \"\" A\n"
      " SG_ wide : 40|24@1+ (1,0) [0|0] \"\" A\n"
      "BO_ 2565807872 TSC1: 8 A\n"  // 0x18EF1F00 without bit 31: PF 0xEF has a destination
      " SG_ request : 0|8@1- (1,0) [0|0] \"\" A\n"
      " SG_ flag : 8|1@1+ (1,0) [0|0] \"\" A\n"
      "BA_DEF_ \"ProtocolType\" STRING ;\nBA_ \"ProtocolType\" \"J1939\";\n");
}

/// Nested multiplexing: root selects a by 0-1 and b by 2; b selects c and d by 5, and d by 7.
inline Database two_levels() {
  return parse(
      "BU_: A\n"
      "BO_ 5 M: 8 A\n"
      " SG_ root M : 7|8@0+ (1,0) [0|0] \"\" A\n"
      " SG_ a m0 : 16|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ b m2M : 8|8@1- (1,0) [0|0] \"\" A\n"
      " SG_ c m5 : 24|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ d m5 : 32|8@1+ (1,0) [0|0] \"\" A\n"
      " SG_ always : 56|8@1+ (0.5,0) [0|0] \"\" A\n"
      "SG_MUL_VAL_ 5 a root 0-1;\nSG_MUL_VAL_ 5 b root 2-2;\n"
      "SG_MUL_VAL_ 5 c b 5-5;\nSG_MUL_VAL_ 5 d b 5-5, 7-7, 200-255;\n");
}

}  // namespace takt::test::databases
