// The table as text and as an HTML page.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "table.hpp"

namespace paper {
namespace {

constexpr std::size_t name_width = 42;
constexpr std::size_t cell_width = 13;
constexpr std::size_t text_width = 107;

/// Breaks a sentence into indented lines.
std::string wrapped(std::string_view text) {
  std::string result;
  std::size_t used = text_width;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (used + word.size() + 1 > text_width) {
      result += result.empty() ? "  " : "\n  ";
      used = 2;
    } else {
      result += ' ';
      ++used;
    }
    result += word;
    used += word.size();
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return result + '\n';
}

std::string html(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else {
      result += c;
    }
  }
  return result;
}

constexpr std::string_view page_begin = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>takt: the experiment</title><style>
:root { --ink: #1f262d; --soft: #66707a; --rule: #dfe3e8; --blue: #0072b2; --red: #b3261e; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: var(--ink);
       font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 36px 28px 64px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 6px; font-weight: 650; letter-spacing: -0.01em; }
p { margin: 0; max-width: 84ch; }
a { color: var(--blue); }
.lead { color: var(--soft); font-size: 16px; }
.links { margin: 14px 0 0; }
.links a { margin-right: 24px; }
.notice { border-left: 4px solid var(--red); background: #fdf3f2; padding: 10px 14px; margin: 16px 0 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; margin-top: 8px; }
th, td { padding: 6px 0 6px 18px; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td { border-top: 1px solid var(--rule); }
th { color: var(--soft); font-weight: 500; padding-top: 32px; vertical-align: bottom; }
th:first-child { color: var(--ink); font-weight: 650; font-size: 17px; }
td.there { color: var(--soft); }
td.note { color: var(--soft); font-size: 13px; white-space: normal; padding-bottom: 0; }
p.note { color: var(--soft); font-size: 13px; max-width: 110ch; margin-top: 12px; }
td.note p { max-width: 110ch; }
figure { margin: 28px 0 0; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: 13px; margin-top: 6px; max-width: 110ch; }
</style></head><body><main>
<h1>Three ways to ask two robots for motion</h1>
<p class="lead">A wheeled humanoid at 200 Hz and a 6-joint arm at 1 kHz, on simulated drives behind real CAN frames, asked over TCP. The column “there” is what was measured on M-Hubo with ROS and PODO.</p>
<p class="links"><a href="mhubo/index.html">Report of the humanoid’s run</a><a href="arm6/index.html">Report of the arm’s run</a><a href="summary.json">All numbers as JSON</a></p>
)html";

}  // namespace

std::string to_text(const Findings& findings) {
  std::string text;
  const auto out = std::back_inserter(text);
  for (const Group& group : findings.groups) {
    fmt::format_to(out, "\n{:<{}}", group.title, name_width);
    for (const std::string& column : group.columns) fmt::format_to(out, "{:>{}}", column, cell_width);
    fmt::format_to(out, "\n{:─<{}}\n", "", name_width + cell_width * group.columns.size());
    for (const auto& row : group.rows) {
      fmt::format_to(out, "{:<{}}", row.front(), name_width);
      for (std::size_t i = 1; i < row.size(); ++i) fmt::format_to(out, "{:>{}}", row[i], cell_width);
      text += '\n';
    }
    if (!group.note.empty()) text += wrapped(group.note);
  }
  if (!findings.repeats.empty()) text += '\n';
  for (const std::string& repeat : findings.repeats) text += wrapped(repeat + '.');
  for (const std::string& mistake : findings.mistakes)
    fmt::format_to(out, "\nNOT AS EXPECTED: {}\n", mistake);
  return text;
}

std::string to_html(const Findings& findings, const std::string& picture) {
  std::string page(page_begin);
  const auto out = std::back_inserter(page);
  for (const std::string& mistake : findings.mistakes)
    fmt::format_to(out, "<p class=\"notice\">Not as expected: {}</p>\n", html(mistake));
  if (const std::size_t begin = picture.find("<svg"); begin != std::string::npos) {
    fmt::format_to(out,
                   "<figure>{}<figcaption>The waist turns by half a turn in 5 s, commanded in three ways. "
                   "Above, 0.4 s at full "
                   "speed; below, command − measured over the whole motion.</figcaption></figure>\n",
                   std::string_view(picture).substr(begin));
  }
  page += "<div class=\"scroll\"><table>\n";
  for (const Group& group : findings.groups) {
    fmt::format_to(out, "<tbody><tr><th>{}</th>", html(group.title));
    // Every row of one of the tables has six cells.
    constexpr std::size_t most = 5;
    const std::size_t spare = most - group.columns.size();
    const auto filler = [&](const char* tag) {
      return spare > 0 ? fmt::format("<{0} colspan=\"{1}\"></{0}>", tag, spare) : "";
    };
    page += filler("th");
    for (const std::string& column : group.columns) fmt::format_to(out, "<th>{}</th>", html(column));
    page += "</tr>\n";
    for (const auto& row : group.rows) {
      fmt::format_to(out, "<tr><td>{}</td>{}", html(row.front()), filler("td"));
      for (std::size_t i = 1; i < row.size(); ++i) {
        const bool there = group.columns[i - 1] == "there";
        fmt::format_to(out, "<td{}>{}</td>", there ? " class=\"there\"" : "", html(row[i]));
      }
      page += "</tr>\n";
    }
    if (!group.note.empty())
      fmt::format_to(out, "<tr><td class=\"note\" colspan=\"6\"><p>{}</p></td></tr>\n", html(group.note));
    page += "</tbody>\n";
  }
  page += "</table></div>\n";
  for (const std::string& repeat : findings.repeats)
    fmt::format_to(out, "<p class=\"note\">{}.</p>\n", html(repeat));
  return page + "</main></body></html>\n";
}

}  // namespace paper
