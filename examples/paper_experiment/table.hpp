// All measurements of the experiments, the two robots' reports and cyclictest, read from the files of one
// folder. Shown in three forms: text for a terminal, an HTML page, and JSON.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace paper {

/// The marks of the three ways to command the same motion.
inline constexpr std::array<std::string_view, 3> ways{"10 Hz stream held", "200 Hz stream", "one trajectory"};

/// A part of the table: a heading, columns, rows with a cell per column, and notes for the reader.
struct Group {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string note;
};

struct Findings {
  std::vector<Group> groups;
  nlohmann::ordered_json summary;
  std::vector<std::string> repeats;   ///< sections measured again after a pause of the machine
  std::vector<std::string> mistakes;  ///< losses and unexpected outcomes; empty: none
};

/// Reads mhubo.json, arm6.json (the experiments), mhubo/summary.json, arm6/summary.json (their reports),
/// cyclictest.txt and virtual.json in `directory`. Ends the program if one is missing.
[[nodiscard]] Findings gather(const std::string& directory);

[[nodiscard]] std::string to_text(const Findings& findings);
/// One self-contained HTML page. `picture` is an SVG, or empty.
[[nodiscard]] std::string to_html(const Findings& findings, const std::string& picture);

/// Writes the waist joint's three motions from `directory`/mhubo/joints.csv, which `takt report` wrote, to
/// `path`. Each line has the time since the start of the motion (s), and command, reference and measured
/// position (degrees). Two empty lines separate the motions. A motion that was not measured has a single line
/// with the time -1.
void write_ways(const std::string& directory, const std::string& path);

}  // namespace paper
