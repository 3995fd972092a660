#include "tools/report_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "tools/report_comparison.hpp"
#include "tools/report_live.hpp"
#include "tools/report_panels.hpp"
#include "tools/report_text.hpp"

namespace takt::tools {
namespace {

constexpr std::size_t max_goal_rows = 200;
constexpr std::size_t max_faults = 50;
constexpr std::size_t max_rows_before_fault = 30;
constexpr double seconds_before_fault = 2;

constexpr std::string_view style = R"css(
:root { --paper: #fff; --ink: #1f262d; --soft: #66707a; --rule: #dfe3e8; --shade: #f4f6f8; --blue: #0072b2; --red: #b3261e;
        --warn: #fdf3f2; color-scheme: light; }
:root[data-theme=dark] { --paper: #15191e; --ink: #e4e8ec; --soft: #9aa5b0; --rule: #333b44; --shade: #1e242b; --blue: #4ea8de;
                         --red: #f2766b; --warn: #33201f; color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
       font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1360px; margin: 0 auto; padding: 36px 28px 64px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 4px; font-weight: 650; letter-spacing: -0.01em; }
h2 { font-size: 20px; margin: 44px 0 4px; font-weight: 650; letter-spacing: -0.005em; }
h3 { font-size: 15px; margin: 0 0 6px; font-weight: 600; overflow-wrap: anywhere; }
p { margin: 0 0 12px; max-width: 78ch; }
.soft, .lead { color: var(--soft); }
.lead { font-size: 16px; margin: 0; overflow-wrap: anywhere; }
.notice { border-left: 4px solid var(--red); background: var(--warn); padding: 10px 14px; margin: 16px 0 0; max-width: none; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(185px, 1fr)); gap: 12px; margin: 24px 0 0; padding: 0; }
.tile { border: 1px solid var(--rule); border-radius: 8px; padding: 14px 16px 12px; }
.tile b { display: block; font-size: 25px; line-height: 1.2; font-weight: 620; letter-spacing: -0.01em;
          font-variant-numeric: tabular-nums; }
.tile span { display: block; font-size: 13px; line-height: 1.4; color: var(--soft); margin-top: 4px; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 520px), 1fr)); gap: 20px; margin-top: 14px; }
figure { margin: 0; border: 1px solid var(--rule); border-radius: 8px; padding: 14px 16px 12px; break-inside: avoid; }
figure svg { display: block; width: 100%; height: auto; background: #fff; border-radius: 4px; }
:root[data-theme=dark] figure svg { filter: invert(0.91) hue-rotate(180deg); }
.plot { min-height: 60px; }
.plot .uplot, .plot .u-legend { font: 12px/1.3 system-ui, sans-serif; }
.plot .u-legend { text-align: left; color: var(--soft); }
.plot .u-legend th, .plot .u-legend td { border: 0; padding: 1px 4px; white-space: nowrap; color: var(--ink); }
.plot .u-legend .u-value { min-width: 9ch; text-align: left; }
.plot .u-select { background: var(--blue); opacity: 0.2; }
.plot .u-cursor-x, .plot .u-cursor-y { border-color: var(--soft); }
.bar { position: sticky; top: 0; z-index: 2; display: flex; gap: 6px; align-items: center; padding: 8px 0; margin: -8px 0 12px;
       background: var(--paper); border-bottom: 1px solid var(--rule); }
.bar button { font: inherit; color: var(--ink); background: var(--shade); border: 1px solid var(--rule); border-radius: 6px; padding: 2px 10px;
              cursor: pointer; }
.bar output { color: var(--soft); font-variant-numeric: tabular-nums; margin: 0 auto 0 8px; }
[data-time][tabindex] { cursor: pointer; }
[data-time][tabindex]:hover, .chosen { background: var(--shade); }
figure.wide { grid-column: 1 / -1; }
figcaption a { color: var(--blue); }
figcaption { font-size: 13.5px; color: var(--soft); margin-top: 6px; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin-top: 14px; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; min-width: 100%; }
th, td { padding: 6px 0 6px 14px; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th { color: var(--soft); font-weight: 500; vertical-align: bottom; }
td:first-child, th:first-child { padding-left: 4px; }
td.text, th.text { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 15ch; }
th.group { text-align: right; border-bottom: 0; padding-bottom: 0; color: var(--ink); font-weight: 600; }
tr.whole td { border-top: 2px solid var(--ink); }
tr.head td { background: var(--shade); font-weight: 600; text-align: left; padding-left: 8px; }
details { margin-top: 12px; }
summary { cursor: pointer; color: var(--blue); }
.swatch { display: inline-block; width: 22px; height: 3px; vertical-align: middle; margin: 0 6px 2px 14px; border-radius: 2px; }
@media print {
  .bar { display: none; } main { max-width: none; padding: 0; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 10px; } figure { padding: 8px; }
  .plot .uplot, .plot .u-wrap { width: 100% !important; height: auto !important; }
  .plot .u-wrap canvas { width: 100% !important; height: auto !important; }
  .plot .u-over, .plot .u-under { display: none; }
  h2, h2 + p { break-after: avoid; }
  .scroll { overflow: visible; } table { font-size: 10px; min-width: 0; width: 100%; } table:has(.group) { font-size: 7px; }
  th, td { padding: 2px 0 2px 4px; white-space: normal; } td.text, th.text { min-width: 6ch; }
}
)css";

/// Formats text; {} accepts only HTML.
class Page {
 public:
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }
  void raw(std::string_view html_text) { text_ += html_text; }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, "\u202f");
  return digits;
}

/// Attributes of an element that moves the plots to these seconds.
std::string times(double begin, double end) {
  return fmt::format(" data-time=\"{:.6f}\" data-until=\"{:.6f}\"", begin, end);
}

/// Replaces every `from` by `to`.
void replace_all(std::string& text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// A picture as part of the page: without parts for a separate file, and with unique names.
std::string inline_svg(const std::filesystem::path& path, const Figure& figure) {
  std::ifstream file(path, std::ios::binary);
  std::string svg{std::istreambuf_iterator<char>(file), {}};
  const std::size_t begin = svg.find("<svg");
  if (begin == std::string::npos || svg.find("</svg>") == std::string::npos) return {};
  svg.erase(0, begin);
  for (const auto& [open, close] :
       {std::pair{"<title>Gnuplot</title>", ""}, std::pair{"<desc>", "</desc>"}}) {
    const std::size_t from = svg.find(open);
    if (from == std::string::npos) continue;
    const std::size_t to = svg.find(close, from + std::string_view(open).size());
    svg.erase(from, to == std::string::npos ? 0
                                            : std::max(to, from + std::string_view(open).size()) - from +
                                                  std::string_view(close).size());
  }
  const std::string prefix = figure.stem + "_";
  replace_all(svg, "id=\"", "id=\"" + prefix);
  replace_all(svg, "id='", "id='" + prefix);
  replace_all(svg, "url(#", "url(#" + prefix);
  replace_all(svg, "href='#", "href='#" + prefix);
  replace_all(svg, "href=\"#", "href=\"#" + prefix);
  svg.insert(4, fmt::format(" role=\"img\" aria-label=\"{}\"", html(figure.title)));
  return svg;
}

std::size_t count_of(const ReportData& data, const Section& section, std::string_view state) {
  std::size_t count = 0;
  for (const auto& [code, events] : section.events) {
    if (data.goal_state(code) == state) count += events;
  }
  return count;
}

void add_tile(Page& page, const std::string& value, const std::string& text) {
  page.add("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", value, text);
}

void add_tiles(Page& page, const ReportData& data) {
  const Quantiles lateness = quantiles(data.whole.lateness);
  const Quantiles hand_over = quantiles(data.whole.hand_over_latency);
  const Tracking tracking = data.together(data.whole);
  page.raw("<section class=\"tiles\">\n");
  if (data.totals) {
    add_tile(page, grouped(data.totals->overruns),
             fmt::format("periods missed of {}", grouped(data.totals->cycles)));
  }
  if (lateness.count > 0) {
    add_tile(page, duration_text(lateness.p99),
             fmt::format("loop lateness at p99; {} in the median, {} at worst", duration_text(lateness.p50),
                         duration_text(lateness.max)));
  }
  if (hand_over.count > 0) {
    add_tile(page, duration_text(hand_over.max),
             fmt::format("from hand-over to first reference at worst; {} in the median",
                         duration_text(hand_over.p50)));
  }
  if (data.is_own) {
    add_tile(page, grouped(count_of(data, data.whole, "active")),
             fmt::format("requests accepted; refused: {}, goals aborted: {}",
                         grouped(count_of(data, data.whole, "rejected")),
                         grouped(count_of(data, data.whole, "aborted"))));
  }
  if (tracking.reference_error.count() > 0) {
    add_tile(page, fmt::format("{:.3f}°", tracking.reference_error.deviation()),
             fmt::format("tracking error: standard deviation of reference − measured; {:.2f}° at most",
                         tracking.reference_error.max_magnitude()));
  }
  double load = 0;
  for (const BusCurve& bus : data.buses) load = std::max(load, bus.load.max_magnitude());
  if (load > 0) add_tile(page, fmt::format("{:.0f} %", 100 * load), "load of the busiest bus at most");
  page.raw("</section>\n");
}

void add_notices(Page& page, const ReportData& data, const std::string& notice) {
  const auto add = [&](const std::string& text) { page.add("<p class=\"notice\">{}</p>\n", text); };
  if (data.truncated) add("The recording was cut off: it has no end. Its whole chunks are shown.");
  for (const record::LostPart& part : data.lost)
    add("Damaged, and left out: " + html(part.text(data.start)) + ".");
  for (const record::LeftOut& one : data.left_out) add("Left out: " + html(one.text()) + ".");
  if (data.dropped.value_or(0) > 0) {
    add(fmt::format("{} records were dropped while recording, because the disk was too slow or full.",
                    grouped(*data.dropped)));
  }
  if (data.marks_ignored > 0) {
    add(fmt::format("Only the first {} marks are shown; {} more were found.", max_sections,
                    grouped(data.marks_ignored)));
  }
  if (data.cycles == 0) add("The recording holds no cycle.");
  if (!notice.empty()) add(html(notice));
}

void add_section_row(Page& page, const ReportData& data, const Section& section, const std::string& number,
                     std::string_view row_class) {
  const Tracking tracking = data.together(section);
  const Quantiles lateness = quantiles(section.lateness);
  const Quantiles hand_over = quantiles(section.hand_over_latency);
  const Quantiles received = quantiles(section.received_latency);
  const auto time = [](const Quantiles& of, double value) {
    return of.count > 0 ? duration_text(value) : std::string("–");
  };
  const auto angle = [&](const Moments& error, double value) {
    return error.count() > 0 ? fmt::format("{:.3f}", value) : std::string("–");
  };
  page.add("<tr class=\"{}\"{}><td>{}</td><td class=\"text\">{}</td><td>{:.1f} – {:.1f}</td>", row_class,
           times(section.begin, section.end), number, html(section.name), section.begin, section.end);
  page.add("<td>{}</td><td>{}</td>", grouped(count_of(data, section, "active")),
           grouped(count_of(data, section, "rejected")));
  page.add("<td>{}</td><td>{}</td><td>{}</td>", time(hand_over, hand_over.p50),
           time(hand_over, hand_over.p99), time(hand_over, hand_over.max));
  page.add("<td>{}</td><td>{}</td>", time(received, received.p99), time(received, received.max));
  page.add("<td>{}</td><td>{}</td>", time(lateness, lateness.p99), time(lateness, lateness.max));
  page.add("<td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
           angle(tracking.command_error, tracking.command_error.deviation()),
           angle(tracking.command_error, tracking.command_error.max_magnitude()),
           angle(tracking.reference_error, tracking.reference_error.deviation()),
           angle(tracking.reference_error, tracking.reference_error.max_magnitude()));
}

void add_sections(Page& page, const ReportData& data) {
  if (!data.is_own) return;
  page.raw(R"(<h2>Sections</h2>
<p class="soft">One row for each marked part of the recording. Command error is command − measured, reference error is reference − measured, both over the rotary joints that moved: while a goal owned them, or all the time if no goal did.</p>
<div class="scroll"><table><thead>
<tr><th class="group" colspan="3"></th><th class="group" colspan="2">requests</th><th class="group" colspan="3">hand-over to first reference</th><th class="group" colspan="2">socket to first reference</th><th class="group" colspan="2">loop lateness</th><th class="group" colspan="2">command error (°)</th><th class="group" colspan="2">reference error (°)</th></tr>
<tr><th></th><th class="text">section</th><th>time (s)</th><th>accepted</th><th>refused</th><th>p50</th><th>p99</th><th>max</th><th>p99</th><th>max</th><th>p99</th><th>max</th><th>std</th><th>max</th><th>std</th><th>max</th></tr></thead><tbody>
)");
  for (std::size_t i = 0; i < data.sections.size(); ++i) {
    add_section_row(page, data, data.sections[i], fmt::format("{}", i + 1), "");
  }
  add_section_row(page, data, data.whole, "", "whole");
  page.raw("</tbody></table></div>\n");
}

/// A number of a table; "–" for NaN.
std::string number_text(double value) {
  return std::isnan(value) ? std::string("–") : fmt::format("{:.6g}", value);
}

void add_comparison(Page& page, const ReportData& data) {
  if (!data.against) return;
  page.add(
      "<h2>Compared with {}</h2>\n<p class=\"soft\">The numbers of both recordings. Curves of the other one "
      "are green, from the first cycle of each. Tracking error is reference − measured.</p>\n"
      "<div class=\"scroll\"><table><thead><tr><th class=\"text\">quantity</th><th>unit</th><th>this "
      "recording</th><th>the other</th><th>ratio</th></tr></thead><tbody>\n",
      html(data.against->file));
  for (const ComparedNumber& row : compared_numbers(data)) {
    const double ratio = row.there != 0 ? row.here / row.there : std::numeric_limits<double>::quiet_NaN();
    page.add("<tr><td class=\"text\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
             html(row.name), html(row.unit), number_text(row.here), number_text(row.there),
             std::isnan(ratio) ? std::string("–") : fmt::format("{:.3f}", ratio));
  }
  page.raw("</tbody></table></div>\n");
}

void add_tracking_rows(Page& page, const ReportData& data, const Section& section, const std::string& title) {
  page.add("<tr class=\"head\"><td colspan=\"11\">{}</td></tr>\n", title);
  for (std::size_t i = 0; i < section.joints.size(); ++i) {
    const Tracking& joint = section.joints[i];
    if (!joint.moved() || joint.reference_error.count() == 0) continue;
    page.add("<tr><td class=\"text\">{}</td><td>{}</td><td>{:.2f}</td>", html(data.metadata.joints[i]),
             data.unit(i).name,
             joint.by_goal ? joint.reference_max - joint.reference_min : joint.measured.width());
    for (const Moments* error : {&joint.command_error, &joint.reference_error}) {
      if (error->count() == 0) {
        page.raw("<td>–</td><td>–</td><td>–</td>");
        continue;
      }
      page.add("<td>{:.4f}</td><td>{:.4f}</td><td>{:.4f}</td>", error->mean(), error->deviation(),
               error->max_magnitude());
    }
    if (joint.by_goal)
      page.add("<td>{:.2f}</td><td>{:.4f}</td></tr>\n", joint.delay.delay() * 1e3, joint.delay.residual());
    else
      page.raw("<td>–</td><td>–</td></tr>\n");
  }
}

void add_tracking(Page& page, const ReportData& data) {
  const std::vector<Tracking>& joints = data.whole.joints;
  const auto is_listed = [](const Tracking& joint) {
    return joint.moved() && joint.reference_error.count() > 0;
  };
  if (std::none_of(joints.begin(), joints.end(), is_listed)) return;
  page.raw(R"(<h2>Tracking error, joint by joint</h2>
<p class="soft">Degrees, or millimetres of linear joints, over the cycles in which a goal owned the joint, or all cycles if no goal did: how far the measured position was from what the goal asked for (command), and from what was sent to the drive (reference). Part of the error is only delay, from a drive that interpolates between references and from a measurement that is a cycle old. The last columns give the best-fitting delay, and the standard deviation of the command error without it.</p>
<details><summary>Show the table</summary><div class="scroll"><table><thead>
<tr><th class="group" colspan="3"></th><th class="group" colspan="3">command − measured</th><th class="group" colspan="3">reference − measured</th><th class="group" colspan="2">delay</th></tr>
<tr><th class="text">joint</th><th>unit</th><th>travel</th><th>mean</th><th>std</th><th>max</th><th>mean</th><th>std</th><th>max</th><th>ms</th><th>std without</th></tr></thead><tbody>
)");
  for (std::size_t i = 0; i < data.sections.size(); ++i) {
    add_tracking_rows(page, data, data.sections[i],
                      fmt::format("{}. {}", i + 1, html(data.sections[i].name)));
  }
  add_tracking_rows(page, data, data.whole, "Whole recording");
  page.raw("</tbody></table></div></details>\n");
}

void add_goals(Page& page, const ReportData& data) {
  if (data.goals.empty()) return;
  page.raw(R"(<h2>Goals</h2>
<p class="soft">Each goal with the state that it ended in. The latency is that of its first request, from hand-over to its first reference.</p>
<div class="scroll"><table><thead><tr><th>goal</th><th>begin (s)</th><th>end (s)</th><th class="text">state</th><th class="text">reason</th><th>requests</th><th>latency</th></tr></thead><tbody>
)");
  for (std::size_t i = 0; i < std::min(data.goals.size(), max_goal_rows); ++i) {
    const GoalRow& goal = data.goals[i];
    std::string reason = html(data.reason(goal.reason));
    if (goal.reason != 0 && (goal.value != 0 || goal.limit != 0)) {
      const std::string joint = data.joint(goal.reason, goal.joint);
      reason += fmt::format(" <span class=\"soft\">({}{}{:.3g}, allowed {:.3g})</span>", html(joint),
                            joint.empty() ? "" : ": ", goal.value, goal.limit);
    }
    page.add(
        "<tr{}><td>{}</td><td>{:.3f}</td><td>{:.3f}</td><td class=\"text\">{}</td><td "
        "class=\"text\">{}</td><td>{}</td>"
        "<td>{}</td></tr>\n",
        times(goal.begin, goal.end), goal.goal, goal.begin, goal.end, html(data.goal_state(goal.state)),
        reason, grouped(goal.requests), goal.latency ? duration_text(*goal.latency) : std::string("–"));
  }
  page.raw("</tbody></table></div>\n");
  if (data.goals.size() > max_goal_rows) {
    page.add("<p class=\"soft\">… and {} more, in events.csv.</p>\n",
             grouped(data.goals.size() - max_goal_rows));
  }
}

void add_state_changes(Page& page, const ReportData& data) {
  if (data.state_changes.empty()) return;
  page.raw(R"(<h2>States of the robot</h2>
<div class="scroll"><table><thead><tr><th>time (s)</th><th class="text">state</th><th class="text">reason</th></tr></thead><tbody>
)");
  for (const StateChange& change : data.state_changes) {
    std::string reason = html(data.reason(change.reason));
    if (const std::string joint = data.joint(change.reason, change.joint); !joint.empty())
      reason += fmt::format(" <span class=\"soft\">({})</span>", html(joint));
    page.add("<tr{}><td>{:.3f}</td><td class=\"text\">{}</td><td class=\"text\">{}</td></tr>\n",
             times(change.time, change.time), change.time, html(data.robot_state(change.state)), reason);
  }
  page.raw("</tbody></table></div>\n");
  if (data.state_changes_ignored > 0) {
    page.add("<p class=\"soft\">… and {} more, in joints.csv.</p>\n", grouped(data.state_changes_ignored));
  }
}

/// The cells of a log line behind its time.
std::string log_cells(const LogLine& line) {
  return fmt::format("<td class=\"text\">{} {}</td><td class=\"text\">{}</td>", html(line.level),
                     html(line.source), html(line.text));
}

/// Goals that came to the same state one after the other share a row. An event without a goal answers another
/// request, for example a stop.
std::string event_cells(const ReportData& data, std::span<const record::GoalEvent> events) {
  const record::GoalEvent& event = events.back();
  std::string who = event.goal == 0 ? "a request without a goal" : fmt::format("goal {}", event.goal);
  if (events.size() > 1)
    who = event.goal == 0
              ? fmt::format("{} requests without goals", events.size())
              : fmt::format("{} goals, {} to {}", events.size(), events.front().goal, events.back().goal);
  return fmt::format("<td class=\"text\">{} {}</td><td class=\"text\">{} {}</td>", who,
                     html(data.goal_state(event.state)), html(data.reason(event.reason)),
                     html(data.joint(event.reason, event.joint)));
}

/// How many events from the first on can share its row.
std::size_t alike(std::span<const record::GoalEvent> events) {
  const auto differs = [&first = events.front()](const record::GoalEvent& other) {
    return other.state != first.state || other.reason != first.reason || other.joint != first.joint ||
           (other.goal == 0) != (first.goal == 0);
  };
  return static_cast<std::size_t>(std::ranges::find_if(events, differs) - events.begin());
}

void add_log(Page& page, const ReportData& data) {
  if (data.log.empty()) return;
  page.add(
      "<h2>Log</h2>\n<details><summary>Show {} lines</summary><div class=\"scroll\"><table><thead><tr>"
      "<th>time (s)</th><th class=\"text\">level, source</th><th class=\"text\">text</th></tr></thead>"
      "<tbody>\n",
      grouped(data.log.size()));
  for (const LogLine& line : data.log) {
    const double at = data.seconds(line.at);
    page.add("<tr{}><td>{:.3f}</td>{}</tr>\n", times(at, at), at, log_cells(line));
  }
  page.raw("</tbody></table></div></details>\n");
  if (data.log_lines_left_out > 0)
    page.add("<p class=\"soft\">… and {} more lines.</p>\n", grouped(data.log_lines_left_out));
}

/// The joint's largest tracking error in these seconds, with its unit; empty without one.
std::string largest_error(const ReportData& data, const StateChange& stop, double begin) {
  if (data.joint(stop.reason, stop.joint).empty() || stop.joint >= data.curves.size()) return {};
  double largest = -1;
  for (const Envelope::Point& point : data.curves[stop.joint].reference_error.points()) {
    if (point.time >= begin && point.time <= stop.time)
      largest = std::max(largest, std::abs(point.value));  // a gap is NaN, which max() passes over
  }
  return largest < 0 ? std::string() : fmt::format("{:.3f}{}", largest, data.unit(stop.joint).suffix);
}

void add_fault(Page& page, const ReportData& data, const StateChange& stop) {
  const double begin = std::max(0.0, stop.time - seconds_before_fault);
  const std::string joint = data.joint(stop.reason, stop.joint);
  const bool plotted = !joint.empty() && stop.joint < data.curves.size();
  page.add("<tr class=\"head\"{}{}><td colspan=\"3\">{:.3f} s: {}, {}", times(begin, stop.time),
           plotted ? fmt::format(" data-joint=\"{}\"", joint_stem(data, stop.joint)) : std::string(),
           stop.time, html(data.robot_state(stop.state)), html(data.reason(stop.reason)));
  if (!joint.empty()) page.add(" ({})", html(joint));
  if (const std::string error = largest_error(data, stop, begin); !error.empty())
    page.add(", |reference − measured| up to {}", error);
  page.raw("</td></tr>\n");
  std::vector<std::pair<double, std::string>> before;
  const auto is_before = [&](Time time) {
    return data.seconds(time) >= begin && data.seconds(time) <= stop.time;
  };
  std::vector<record::GoalEvent> events;
  std::ranges::copy_if(data.events, std::back_inserter(events), is_before, &record::GoalEvent::at);
  for (std::span<const record::GoalEvent> rest(events); !rest.empty();) {
    const std::size_t count = alike(rest);
    before.emplace_back(data.seconds(rest[count - 1].at), event_cells(data, rest.first(count)));
    rest = rest.subspan(count);
  }
  for (const LogLine& line : data.log) {
    if (is_before(line.at)) before.emplace_back(data.seconds(line.at), log_cells(line));
  }
  std::ranges::stable_sort(before, {}, &std::pair<double, std::string>::first);
  const std::size_t left_out = before.size() - std::min<std::size_t>(before.size(), max_rows_before_fault);
  if (left_out > 0) page.add("<tr><td colspan=\"3\">{} earlier ones, and</td></tr>\n", left_out);
  for (const auto& [at, cells] : std::span(before).subspan(left_out))
    page.add("<tr{}><td>{:.3f}</td>{}</tr>\n", times(at, at), at - stop.time, cells);
}

/// Every stop, with the goal events and log lines before it.
void add_faults(Page& page, const ReportData& data) {
  std::size_t faults = 0;
  for (std::size_t i = 0; i < data.state_changes.size(); ++i) {
    if (!data.is_stop(i) || faults++ >= max_faults) continue;
    if (faults == 1) {
      page.add(
          "<h2>Why the robot stopped</h2>\n<p class=\"soft\">Each stop with its reason, and the goal events "
          "and log lines of the {} s before it. Their times count from the stop.</p>\n<div "
          "class=\"scroll\"><table><tbody>\n",
          seconds_before_fault);
    }
    add_fault(page, data, data.state_changes[i]);
  }
  if (faults > 0) page.raw("</tbody></table></div>\n");
  if (faults > max_faults) page.add("<p class=\"soft\">… and {} more.</p>\n", faults - max_faults);
}

/// A link to the figure's PDF beside the page; empty without that file.
std::string link_to_pdf(const std::filesystem::path& plots, const Figure& figure) {
  const std::string name = figure.stem + ".pdf";
  if (!std::filesystem::exists(plots / name)) return {};
  return fmt::format(" <a href=\"plots/{}\">PDF</a>", name);
}

/// The close-up's seconds, which the plots of its joint show from sample to sample.
std::string close_up_times(const ReportData& data, const Figure& figure) {
  if (!figure.close_up) return {};
  const CloseUp& close_up = data.close_ups[*figure.close_up];
  return times(close_up.begin, close_up.end) +
         fmt::format(" data-joint=\"{}\"", joint_stem(data, close_up.joint));
}

void add_figure(Page& page, const ReportData& data, const Figure& figure, const std::filesystem::path& plots,
                bool live) {
  page.add("<figure{}><h3>{}</h3>\n", live ? close_up_times(data, figure) : "", html(figure.title));
  const std::string picture = inline_svg(plots / (figure.stem + ".svg"), figure);
  if (live && is_live(data, figure.stem)) {
    page.add("<div class=\"plot\" data-plot=\"{}\"></div><noscript>{}</noscript>", figure.stem, picture);
  } else {
    page.raw(picture);
  }
  page.add("<figcaption>{}{}</figcaption></figure>\n", html(figure.caption), link_to_pdf(plots, figure));
}

void add_chapter(Page& page, const ReportData& data, const Chapter& chapter,
                 const std::filesystem::path& plots, bool live) {
  page.add("<h2>{}</h2>\n<div class=\"figures\">\n", html(chapter.title));
  for (const Figure& figure : chapter.figures) add_figure(page, data, figure, plots, live);
  page.raw("</div>\n");
}

void add_timeline(Page& page, const ReportData& data) {
  if (!is_live(data, timeline_stem)) return;
  page.add(
      "<h2>Timeline</h2>\n<p class=\"soft\">The robot's states, and the goals; red "
      "lines are stops. Drag to zoom, with Shift to pan; Ctrl and the wheel "
      "zoom too, and a double click shows everything. A click on a row below moves all plots to its time. "
      "A click in a legend hides its curve. A grey bar at the bottom of a plot marks where its curves are "
      "thinned to the lowest and the highest of neighbouring samples. Around stops, goals and fastest "
      "moments "
      "they have every sample.</p>\n"
      "<div class=\"figures\"><figure class=\"wide\"><div class=\"plot\" data-plot=\"{}\"></div></figure>"
      "</div>\n",
      timeline_stem);
}

void add_head(Page& page, const std::string& robot, const PlotLibrary& library) {
  page.add(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{} – takt "
      "report</title>\n"
      "<style>{}{}</style></head>\n<body><main>\n",
      library.present() ? "; script-src 'unsafe-inline'" : "", robot, library.style, style);
}

void add_scripts(Page& page, const ReportData& data, const PlotLibrary& library) {
  page.add("<script type=\"application/json\" id=\"takt-data\">{}</script>\n", live_json(data));
  for (const std::string_view script : {library.script, page_script})
    page.add("<script>{}</script>\n", script);
}

}  // namespace

std::string index_html(const ReportData& data, const std::vector<Chapter>& chapters,
                       const std::filesystem::path& plots, const std::string& notice,
                       const PlotLibrary& library) {
  const bool live = library.present();
  const std::string robot = html(data.metadata.robot.empty() ? "Recording" : data.metadata.robot);
  Page page;
  add_head(page, robot, library);
  page.add("<h1>{}</h1>\n<p class=\"lead\">", robot);
  page.raw(data.duration < 1 ? fmt::format("{:.3g} s", data.duration)
                             : fmt::format("{:.1f} s", data.duration));
  if (data.has_period())
    page.add(" at {}{:.4g} Hz", data.is_own ? "" : "about ", 1 / to_seconds(data.metadata.period));
  page.add(" · {}: {} · joints: {}", data.is_own ? "cycles" : "times", grouped(data.cycles),
           data.metadata.joints.size());
  if (data.is_own) page.add(" · buses: {}", data.metadata.buses.size());
  if (!data.metadata.created.empty()) page.add(" · {}", html(data.metadata.created));
  if (data.is_own) page.add(" · takt {}", html(data.metadata.takt_version));
  page.raw("</p>\n");
  add_notices(page, data, notice);
  add_tiles(page, data);
  add_comparison(page, data);
  add_faults(page, data);
  if (live) add_timeline(page, data);
  add_sections(page, data);
  for (const Chapter& chapter : chapters) add_chapter(page, data, chapter, plots, live);
  add_tracking(page, data);
  add_goals(page, data);
  add_state_changes(page, data);
  add_log(page, data);
  page.raw("</main>\n");
  if (live) add_scripts(page, data, library);
  page.raw("</body></html>\n");
  return page.take();
}

}  // namespace takt::tools
