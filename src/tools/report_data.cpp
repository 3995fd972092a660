#include "tools/report_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include "record/log_message.hpp"
#include "takt/describe.hpp"
#include "takt/motion/error.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/motion/wire.hpp"
#include "takt/robot/error.hpp"
#include "takt/rt/logger.hpp"

namespace takt::tools {
namespace {

constexpr std::size_t max_state_changes = 1000;
constexpr std::size_t max_log_text = 1024;  // bytes
constexpr std::size_t max_close_ups = 12;
constexpr double close_up_seconds = 2;
constexpr double seconds_around_stop = 2;
constexpr double seconds_around_goal = 0.5;
constexpr double longest_goal_part = 5;  // s: of a longer goal, its begin and its end are shown in full
constexpr std::size_t max_full_samples = 300'000;  // of all joints: each has eight curves

double microseconds(Duration duration) { return static_cast<double>(duration.count()) * 1e-3; }

/// Reads a whole recording, passes each record to the visitor, and returns how it ended.
template <class Visitor>
SetupResult<record::Reader> read_records(const RecordingPlace& recording, Visitor&& visit) {
  auto reader = open_recording(recording, true);
  while (reader) {
    const auto found = reader->next();
    if (!found) return tl::unexpected<SetupError>(found.error());
    if (*found == nullptr) break;
    visit(**found);
  }
  return reader;
}

struct Mark {
  Time time;
  std::string text;
};

struct BusRow {
  Time time;
  std::vector<record::BusSample> buses;
};

/// The first reading: everything except the contents of the cycles.
struct Outline {
  std::vector<Mark> marks;
  std::vector<BusRow> buses;
  std::optional<Time> first;
  Time last{};
};

struct OutlineVisitor {
  ReportData& data;
  Outline& outline;

  void operator()(const record::CycleRecord& record) const {
    if (!outline.first) outline.first = record.cycle.time;
    outline.last = record.cycle.time;
    ++data.cycles;
  }
  void operator()(const record::GoalEvent& event) const { data.events.push_back(event); }
  void operator()(const record::BusRecord& record) const {
    outline.buses.push_back({record.time, {record.buses.begin(), record.buses.end()}});
  }
  void operator()(const record::LoopTotals& totals) const { data.totals = totals; }
  void operator()(const record::MarkRecord& mark) const {
    if (outline.marks.size() < max_sections) {
      outline.marks.push_back({mark.time, std::string(mark.text)});
    } else {
      ++data.marks_ignored;
    }
  }
  void operator()(const record::SampleRecord& sample) const {
    record::LogMessage entry;
    if (sample.topic != record::log_topic_name || !entry.read(sample.message)) return;
    if (data.log.size() >= max_log_lines) return void(++data.log_lines_left_out);
    data.log.push_back({sample.time, std::string(to_string(static_cast<rt::LogLevel>(entry.level))),
                        std::string(entry.source.substr(0, max_log_text)),
                        std::string(entry.text.substr(0, max_log_text))});
  }
};

std::vector<Section> make_sections(const ReportData& data, std::vector<Mark> marks) {
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.time < b.time; });
  std::vector<Section> sections;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i].text.empty()) continue;
    Section section;
    section.name = marks[i].text;
    section.from = marks[i].time;
    section.begin = data.seconds(section.from);
    section.end = std::max(data.duration, section.begin);
    if (i + 1 < marks.size()) {
      section.until = marks[i + 1].time;
      section.end = data.seconds(section.until);
    }
    section.joints.resize(data.metadata.joints.size());
    sections.push_back(std::move(section));
  }
  return sections;
}

/// The section that a time belongs to, or null. Sections are in order and do not overlap.
Section* section_at(std::vector<Section>& sections, Time time) {
  const auto after = std::upper_bound(sections.begin(), sections.end(), time,
                                      [](Time t, const Section& section) { return t < section.from; });
  if (after == sections.begin()) return nullptr;
  Section& candidate = *std::prev(after);
  return time < candidate.until ? &candidate : nullptr;
}

void add_events(ReportData& data) {
  const auto& names = data.metadata.goal_states;
  const auto active = std::find(names.begin(), names.end(), "active") - names.begin();
  std::stable_sort(data.events.begin(), data.events.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  std::unordered_map<std::uint64_t, std::size_t> row_of;
  for (const record::GoalEvent& event : data.events) {
    const double at = data.seconds(event.at);
    const bool accepted = event.state == active && event.first_reference > Time{};
    const double hand_over = microseconds(event.first_reference - event.handed_over);
    const auto add_to = [&](Section& section) {
      ++section.events[event.state];
      if (accepted && event.handed_over > Time{}) section.hand_over_latency.push_back(hand_over);
      if (accepted && event.received > Time{}) {
        section.received_latency.push_back(microseconds(event.first_reference - event.received));
      }
    };
    add_to(data.whole);
    if (Section* section = section_at(data.sections, event.at)) add_to(*section);

    if (event.goal == 0) continue;
    const auto [found, fresh] = row_of.try_emplace(event.goal, data.goals.size());
    if (fresh) {
      GoalRow row;
      row.goal = event.goal;
      row.begin = at;
      data.goals.push_back(row);
    }
    GoalRow& row = data.goals[found->second];
    row.end = at;
    row.state = event.state;
    row.reason = event.reason;
    row.joint = event.joint;
    row.value = event.value;
    row.limit = event.limit;
    if (accepted && ++row.requests == 1 && event.handed_over > Time{}) row.latency = hand_over;
  }
}

void add_buses(ReportData& data, std::vector<BusRow> rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const BusRow& a, const BusRow& b) { return a.time < b.time; });
  data.buses.resize(data.metadata.buses.size());
  for (const BusRow& row : rows) {
    for (std::size_t i = 0; i < row.buses.size(); ++i) {
      BusCurve& curve = data.buses[i];
      if (std::isfinite(row.buses[i].load)) curve.load.add(row.buses[i].load);
      curve.percent.add(data.seconds(row.time), 100 * row.buses[i].load);
      curve.frames = row.buses[i].frames;
      curve.refused = row.buses[i].refused;
    }
  }
}

void add_sample(Tracking& tracking, const record::JointSample& sample, double scale, double time) {
  const double command = scale * sample.command;
  const double reference = scale * sample.reference_position;
  const double measured = scale * sample.measured_position;
  if (std::isfinite(measured)) tracking.measured.add(measured);
  const bool by_goal = sample.goal != 0;
  if (by_goal && !tracking.by_goal) {
    const Range all = tracking.measured;
    tracking = {};
    tracking.by_goal = true;
    tracking.measured = all;
  }
  if (by_goal != tracking.by_goal || !std::isfinite(reference) || !std::isfinite(measured)) return;
  if (by_goal && !std::isfinite(command)) return;
  if (tracking.reference_error.count() == 0) tracking.reference_min = tracking.reference_max = reference;
  tracking.reference_error.add(reference - measured);
  if (by_goal) {
    tracking.command_error.add(command - measured);
    tracking.command_gap = std::max(tracking.command_gap, std::abs(command - reference));
    if (std::isfinite(sample.reference_velocity))
      tracking.delay.add(command - measured, scale * sample.reference_velocity);
  }
  tracking.reference_min = std::min(tracking.reference_min, reference);
  tracking.reference_max = std::max(tracking.reference_max, reference);
  if (const double speed = std::abs(scale * sample.reference_velocity); speed > tracking.top_speed) {
    tracking.top_speed = speed;
    tracking.top_speed_at = time;
  }
}

void add_sample(JointCurves& curves, const record::JointSample& sample, double scale, double time,
                bool known) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const bool owned = sample.goal != 0;  // without a goal there is no command
  curves.command.add(time, owned ? scale * sample.command : none);
  curves.reference.add(time, known ? scale * sample.reference_position : none);
  curves.measured.add(time, known ? scale * sample.measured_position : none);
  curves.reference_velocity.add(time, known ? scale * sample.reference_velocity : none);
  curves.measured_velocity.add(time, known ? scale * sample.measured_velocity : none);
  curves.measured_effort.add(time, known ? sample.measured_effort : none);
  curves.tells_effort =
      curves.tells_effort || (std::isfinite(sample.measured_effort) && sample.measured_effort != 0);
  curves.command_error.add(time, owned ? scale * (sample.command - sample.measured_position) : none);
  curves.reference_error.add(time,
                             known ? scale * (sample.reference_position - sample.measured_position) : none);
}

/// The second reading: the contents of the cycles.
class CycleVisitor {
 public:
  explicit CycleVisitor(ReportData& data) : data_(data) {}

  void operator()(const record::CycleRecord& record) {
    const record::Cycle& cycle = record.cycle;
    const double time = data_.seconds(cycle.time);
    times.push_back(time);
    const double lateness = microseconds(cycle.lateness);
    Section* section = section_at(data_.sections, cycle.time);
    if (data_.is_own) {
      data_.whole.lateness.push_back(lateness);
      if (section != nullptr) section->lateness.push_back(lateness);
      data_.busy.push_back(microseconds(cycle.busy));
      note_state(cycle, time);
    }
    const Time woken = cycle.time + cycle.lateness;
    if (last_woken_) data_.periods.push_back(microseconds(woken - *last_woken_));
    last_woken_ = woken;

    const bool known = data_.joints_are_known(cycle);
    for (std::size_t i = 0; i < record.joints.size(); ++i) {
      const double scale = data_.unit(i).scale;
      add_sample(data_.curves[i], record.joints[i], scale, time, known);
      if (!known) continue;
      add_sample(data_.whole.joints[i], record.joints[i], scale, time);
      if (section != nullptr) add_sample(section->joints[i], record.joints[i], scale, time);
    }
  }
  template <class Other>
  void operator()(const Other&) const {}

  std::vector<double> times;  ///< s, of each cycle

 private:
  void note_state(const record::Cycle& cycle, double time) {
    const std::pair<std::uint8_t, std::uint16_t> state{cycle.robot_state, cycle.reason};
    if (!data_.state_changes.empty() && state == last_state_) return;
    last_state_ = state;
    if (data_.state_changes.size() < max_state_changes) {
      data_.state_changes.push_back({time, cycle.robot_state, cycle.reason, cycle.reason_joint});
    } else {
      ++data_.state_changes_ignored;
    }
  }

  ReportData& data_;
  std::optional<Time> last_woken_;                       // of the previous cycle
  std::pair<std::uint8_t, std::uint16_t> last_state_{};  // of the last state change, if any
};

/// The part of a section to show enlarged, if anything moved there. A degree counts as much as a millimetre.
std::optional<CloseUp> close_up_of(const Section& section) {
  const Tracking* fastest = nullptr;
  for (const Tracking& joint : section.joints) {
    if (!joint.moved() || joint.top_speed == 0) continue;
    if (fastest == nullptr || joint.top_speed > fastest->top_speed) fastest = &joint;
  }
  if (fastest == nullptr) return std::nullopt;
  CloseUp close_up;
  close_up.joint = static_cast<std::size_t>(fastest - section.joints.data());
  const double room = std::max(section.begin, section.end - close_up_seconds);
  close_up.begin = std::clamp(fastest->top_speed_at - close_up_seconds / 2, section.begin, room);
  close_up.end = std::min(close_up.begin + close_up_seconds, section.end);
  return close_up;
}

void plan_close_ups(ReportData& data) {
  const std::vector<Section>& sections = data.sections;
  for (std::size_t i = 0; i < sections.size() && data.close_ups.size() < max_close_ups; ++i) {
    if (auto close_up = close_up_of(sections[i])) {
      close_up->section = i;
      data.close_ups.push_back(std::move(*close_up));
    }
  }
  if (sections.empty()) {
    if (auto close_up = close_up_of(data.whole)) data.close_ups.push_back(std::move(*close_up));
  }
}

/// The cycles of which the page shows each sample: what matters most comes first, as long as there is room.
CycleRanges full_ranges(const ReportData& data, std::span<const double> times) {
  const std::size_t joints = std::max<std::size_t>(1, data.metadata.joints.size());
  CycleRanges full(times, max_full_samples / joints);
  for (std::size_t i = 0; i < data.state_changes.size(); ++i) {
    const double at = data.state_changes[i].time;
    if (data.is_stop(i)) full.add(at - seconds_around_stop, at + seconds_around_stop);
  }
  for (const CloseUp& close_up : data.close_ups) full.add(close_up.begin, close_up.end);
  for (std::size_t i = 0; i < std::min(data.goals.size(), max_goal_bars); ++i) {
    const GoalRow& goal = data.goals[i];
    const bool is_long = goal.end - goal.begin > 2 * longest_goal_part;
    full.add(goal.begin - seconds_around_goal,
             is_long ? goal.begin + longest_goal_part : goal.end + seconds_around_goal);
    if (is_long) full.add(goal.end - longest_goal_part, goal.end + seconds_around_goal);
  }
  return full;
}

/// Those cycles, and what is between them, which shares the buckets of a thinned curve.
void plan_stretches(ReportData& data, std::span<const double> times) {
  const CycleRanges full = full_ranges(data, times);
  std::size_t thinned = times.size();
  for (const CycleRange& range : full.ranges()) thinned -= range.size();
  const auto add = [&](CycleRange range, std::size_t buckets) {
    if (range.size() == 0) return;
    const std::vector<JointCurves> curves(data.metadata.joints.size(), JointCurves(buckets));
    data.stretches.push_back({range, times[range.first], times[range.last - 1], curves});
  };
  const auto add_thinned = [&](CycleRange range) {
    const std::size_t most = JointCurves::default_buckets;
    add(range, thinned > most ? range.size() * most / thinned + 1 : range.size());
  };
  std::size_t done = 0;
  for (const CycleRange& range : full.ranges()) {
    add_thinned({done, range.first});
    add(range, range.size());
    done = range.last;
  }
  add_thinned({done, times.size()});
}

/// The third reading: what the second one has planned.
SetupResult<void> add_details(ReportData& data, const RecordingPlace& recording) {
  std::size_t number = 0;
  auto stretch = data.stretches.begin();
  const auto read = read_records(recording, [&](const record::Record& found) {
    const auto* record = std::get_if<record::CycleRecord>(&found);
    if (record == nullptr) return;
    const double time = data.seconds(record->cycle.time);
    const bool known = data.joints_are_known(record->cycle);
    while (stretch != data.stretches.end() && number >= stretch->cycles.last) ++stretch;
    ++number;
    if (stretch == data.stretches.end()) return;
    for (std::size_t i = 0; i < record->joints.size(); ++i)
      add_sample(stretch->curves[i], record->joints[i], data.unit(i).scale, time, known);
    for (CloseUp& close_up : data.close_ups) {
      if (time < close_up.begin || time > close_up.end) continue;
      add_sample(close_up.curves, record->joints[close_up.joint], data.unit(close_up.joint).scale, time,
                 known);
    }
  });
  if (!read) return tl::unexpected<SetupError>(read.error());
  return {};
}

/// One more reading: all samples of one joint, from the end of the start-up on.
SetupResult<void> add_bode(ReportData& data, const RecordingPlace& recording, const std::string& name) {
  const std::vector<std::string>& names = data.metadata.joints;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    return fail(robot::Errc::no_such_joint, fmt::format("--bode {}: {} has no such joint; it has {}", name,
                                                        recording.path, fmt::join(names, ", ")));
  }
  BodePlot bode{static_cast<std::size_t>(found - names.begin()), {}};
  std::vector<double> reference;
  std::vector<double> measured;
  const auto read = read_records(recording, [&](const record::Record& each) {
    const auto* record = std::get_if<record::CycleRecord>(&each);
    if (record == nullptr || !data.joints_are_known(record->cycle)) return;
    reference.push_back(record->joints[bode.joint].reference_position);
    measured.push_back(record->joints[bode.joint].measured_position);
  });
  if (!read) return tl::unexpected<SetupError>(read.error());
  auto points = controllers::frequency_response(reference, measured, to_seconds(data.metadata.period));
  if (!points) return fail(points.error(), fmt::format("--bode {}: {}", name, describe(points.error())));
  bode.points = std::move(*points);
  data.bode = std::move(bode);
  return {};
}

std::string name_of(const std::vector<std::string>& names, std::size_t code) {
  return code < names.size() ? names[code] : fmt::format("{}", code);
}

}  // namespace

const Unit& ReportData::unit(std::size_t joint) const noexcept {
  if (!is_own) return as_recorded;
  return joint < metadata.units.size() && metadata.units[joint] == millimetres.recorded ? millimetres
                                                                                        : degrees;
}

std::optional<std::size_t> ReportData::joint_there(std::size_t joint) const {
  if (!against) return std::nullopt;
  const std::vector<std::string>& names = against->data->metadata.joints;
  const auto found = std::find(names.begin(), names.end(), metadata.joints[joint]);
  if (found == names.end()) return std::nullopt;
  const auto there = static_cast<std::size_t>(found - names.begin());
  return &against->data->unit(there) == &unit(joint) ? std::optional(there) : std::nullopt;
}

Tracking ReportData::together(const Section& section) const {
  Tracking all;
  for (std::size_t i = 0; i < section.joints.size(); ++i) {
    const Tracking& joint = section.joints[i];
    if (!joint.moved() || &unit(i) != &degrees) continue;
    all.command_error.merge(joint.command_error);
    all.reference_error.merge(joint.reference_error);
    all.delay.merge(joint.delay);
  }
  return all;
}

std::string ReportData::robot_state(std::uint8_t code) const { return name_of(metadata.robot_states, code); }
std::string ReportData::goal_state(std::uint8_t code) const { return name_of(metadata.goal_states, code); }
std::string ReportData::joint(std::uint16_t reason, std::uint8_t index) const {
  const bool named = motion::is_about_a_joint(static_cast<motion::Errc>(reason));
  return named ? name_of(metadata.joints, index) : std::string();
}
JointLimits ReportData::limits(std::size_t joint) const noexcept {
  return joint < metadata.limits.size() ? metadata.limits[joint] : JointLimits{};
}
double ReportData::following_error(std::size_t joint) const noexcept {
  return joint < metadata.following_errors.size() ? metadata.following_errors[joint]
                                                  : std::numeric_limits<double>::infinity();
}
bool ReportData::joints_are_known(const record::Cycle& cycle) const {
  return robot_state(cycle.robot_state) != motion::state_name(motion::RobotState::starting);
}
bool ReportData::is_stop(std::size_t change) const noexcept {
  const std::uint16_t reason = state_changes[change].reason;
  const std::uint16_t before = change == 0 ? std::uint16_t{0} : state_changes[change - 1].reason;
  return reason != 0 && reason != before && reason != static_cast<std::uint16_t>(motion::Errc::shutting_down);
}
std::string ReportData::reason(std::uint16_t code) const {
  if (code == 0) return {};
  const auto found = metadata.reasons.find(code);
  return found != metadata.reasons.end() ? found->second : fmt::format("{}", code);
}

SetupResult<ReportData> read_report_data(const RecordingPlace& recording, const std::string& bode_joint) {
  ReportData data;
  Outline outline;
  auto reader = read_records(recording, [&](const record::Record& found) {
    std::visit(OutlineVisitor{data, outline}, found);
  });
  if (!reader) return tl::unexpected<SetupError>(std::move(reader.error()));
  data.metadata = reader->metadata();
  data.is_own = reader->is_own();
  data.truncated = reader->truncated();
  data.lost = reader->lost();
  data.left_out = reader->left_out();
  if (reader->totals()) data.dropped = reader->totals()->dropped;
  data.start = outline.first.value_or(data.log.empty() ? Time{} : data.log.front().at);
  data.duration = outline.first ? to_seconds(outline.last - *outline.first) : 0;

  data.whole.name = "whole recording";
  data.whole.end = data.duration;
  data.whole.joints.resize(data.metadata.joints.size());
  data.curves.resize(data.metadata.joints.size());
  data.sections = make_sections(data, std::move(outline.marks));
  add_events(data);
  add_buses(data, std::move(outline.buses));

  CycleVisitor cycles(data);
  reader = read_records(recording, [&](const record::Record& found) { std::visit(cycles, found); });
  if (!reader) return tl::unexpected<SetupError>(std::move(reader.error()));
  plan_close_ups(data);
  plan_stretches(data, cycles.times);
  if (auto added = add_details(data, recording); !added)
    return tl::unexpected<SetupError>(std::move(added.error()));
  if (bode_joint.empty()) return data;
  if (auto added = add_bode(data, recording, bode_joint); !added)
    return tl::unexpected<SetupError>(std::move(added.error()));
  return data;
}

}  // namespace takt::tools
