// Shared by the tests of the importer: files, robots of a few joints, and the search for a note.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/source_dir.hpp"
#include "takt/drives/registry.hpp"
#include "takt/robot/urdf.hpp"

namespace takt::test::urdf_text {

inline const std::string gantry_arm = TAKT_SOURCE_DIR "/tests/urdf/gantry_arm.urdf";

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline robot::UrdfOptions servo_options() { return {.protocol = drives::find("servo")}; }

inline robot::UrdfImport imported(std::string_view urdf,
                                  const robot::UrdfOptions& options = servo_options()) {
  auto result = robot::import_urdf(urdf, options);
  if (!result) FAIL(to_string(result.error().mistakes.front()));
  return std::move(*result);
}

/// The first mistake of a file.
inline robot::Mistake mistake(std::string_view urdf, const robot::UrdfOptions& options = servo_options()) {
  const auto result = robot::import_urdf(urdf, options);
  REQUIRE_FALSE(result.has_value());
  REQUIRE_FALSE(result.error().mistakes.empty());
  return result.error().mistakes.front();
}

/// Whether a note of this tag with this beginning of its reason has the name; an empty name: any.
inline bool has_note(const std::vector<robot::UrdfNote>& notes, std::string_view tag, std::string_view name,
                     std::string_view reason) {
  return std::any_of(notes.begin(), notes.end(), [&](const robot::UrdfNote& note) {
    return note.tag == tag && note.reason.starts_with(reason) &&
           (name.empty() || std::find(note.names.begin(), note.names.end(), name) != note.names.end());
  });
}

/// A robot of these joints; each has its own link `<name>_link` on the link `base`.
inline std::string robot_of(const std::vector<std::pair<std::string, std::string>>& joints,
                            const std::string& more = "") {
  std::string text = "<robot name=\"small\"><link name=\"base\"/>";
  for (const auto& [name, rest] : joints) {
    text += "<link name=\"" + name + "_link\"/><joint name=\"" + name + "\" " + rest +
            "<parent link=\"base\"/><child link=\"" + name + "_link\"/></joint>";
  }
  return text + more + "</robot>";
}

inline const std::string turning = R"(type="revolute"><limit lower="-1" upper="1" velocity="2" effort="3"/>)";

}  // namespace takt::test::urdf_text
