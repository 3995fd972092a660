// Everything that the experiments, the two robots' reports and cyclictest measured, gathered from the files of one folder, and
// shown three ways: as text for a terminal, as a page, and as JSON.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace paper {

/// The marks of the three ways of commanding the same motion.
inline constexpr std::array<std::string_view, 3> ways{"10 Hz stream held", "200 Hz stream", "one trajectory"};

/// A part of the table: a heading, columns, rows of as many cells, and what the reader must know.
struct Group {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::string note;
};

struct Findings {
  std::vector<Group> groups;
  nlohmann::ordered_json summary;
  std::vector<std::string> repeats;   ///< what a pause of the machine hit and was measured again
  std::vector<std::string> mistakes;  ///< what was lost or went otherwise than expected; empty: all is well
};

/// Reads mhubo.json, arm6.json (the experiments), mhubo/summary.json, arm6/summary.json (their reports), cyclictest.txt and
/// virtual.json in `directory`. Ends the program when one is missing.
[[nodiscard]] Findings gather(const std::string& directory);

[[nodiscard]] std::string to_text(const Findings& findings);
/// One page that needs no other file; `picture` is an SVG, or empty.
[[nodiscard]] std::string to_html(const Findings& findings, const std::string& picture);

/// What `takt report` wrote for the waist joint in the three ways of commanding, cut out of `directory`/mhubo/joints.csv: time
/// since the motion began (s), command, reference and measured (degrees), a gap of two lines between the ways. One that was not
/// measured has a single line, of the time -1.
void write_ways(const std::string& directory, const std::string& path);

}  // namespace paper
