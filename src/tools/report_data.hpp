// The contents of a recording for the report: statistics, thinned curves, and events. The file is read twice,
// since marks and events may follow the cycles that they concern. A third reading gives the curves of each
// stretch, for those who zoom, and the close-ups.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/controllers/bode.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/record/format.hpp"
#include "takt/record/metadata.hpp"
#include "tools/open_recording.hpp"
#include "tools/report_statistics.hpp"
#include "tools/report_stretches.hpp"

namespace takt::tools {

/// The unit in which a joint's positions are shown: degrees, or millimetres for a linear joint, as in papers.
struct Unit {
  double scale;               ///< factor from the recording's unit
  std::string_view recorded;  ///< the recording's unit, in names of columns
  std::string_view name;
  std::string_view suffix;         ///< the unit after a number
  std::string_view speed;          ///< the unit of velocity
  std::string_view key;            ///< the unit in summary.json
  std::string_view effort;         ///< the unit of effort, shown as recorded
  std::string_view effort_column;  ///< the same in names of columns
};
inline constexpr Unit degrees{57.295779513082320877, "rad", "°", "°", "°/s", "deg", "N m", "Nm"};
inline constexpr Unit millimetres{1e3, "m", "mm", " mm", "mm/s", "mm", "N", "N"};
/// Of another program's file: joint states do not tell which of their joints are linear.
inline constexpr Unit as_recorded{1,          "rad_or_m", "rad or m", " rad or m", "rad/s or m/s",
                                  "rad_or_m", "N m or N", "Nm_or_N"};

/// The largest number of sections: a recording from outside could have millions.
inline constexpr std::size_t max_sections = 100;

/// The largest number of goals in the plots, for the same reason.
inline constexpr std::size_t max_goal_bars = 2000;

/// The largest number of log lines, for the same reason.
inline constexpr std::size_t max_log_lines = 10'000;

/// The least and the largest of some numbers.
struct Range {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();

  void add(double value) noexcept {
    min = std::min(min, value);
    max = std::max(max, value);
  }
  [[nodiscard]] double width() const noexcept { return max > min ? max - min : 0; }
};

/// How well one joint followed its reference, in the joint's Unit: in the cycles in which a goal owned it.
/// For a joint without goals: in all cycles.
struct Tracking {
  bool by_goal = false;     ///< whether a goal owned it
  Range measured;           ///< in all cycles
  Moments command_error;    ///< command - measured
  Moments reference_error;  ///< reference - measured
  DelayFit delay;           ///< of command - measured against the reference's velocity, in seconds
  double reference_min = 0;
  double reference_max = 0;
  double command_gap = 0;   ///< largest |command - reference|
  double top_speed = 0;     ///< of the reference, per second
  double top_speed_at = 0;  ///< s

  /// Whether the reference or the joint moved by more than a tenth of a degree or millimetre.
  [[nodiscard]] bool moved() const noexcept {
    return std::max(reference_max - reference_min, measured.width()) > 0.1;
  }
};

/// A part of the recording: from one mark to the next, or all of it. Times are seconds since the first cycle.
struct Section {
  std::string name;
  double begin = 0;
  double end = 0;
  Time from = Time::min();  ///< the exact range: from <= time < until
  Time until = Time::max();
  std::vector<Tracking> joints;  ///< one for each joint of the recording
  std::vector<double> lateness;  ///< us, one for each cycle
  std::vector<double>
      hand_over_latency;  ///< us from hand-over to the first reference, one for each accepted request
  std::vector<double> received_latency;        ///< us from the socket to the first reference
  std::map<std::uint8_t, std::size_t> events;  ///< how many goal events led to each state
};

/// The curves of one joint, in its Unit. They have a gap during the start-up, when
/// positions are unknown.
struct JointCurves {
  static constexpr std::size_t default_buckets = 2560;
  explicit JointCurves(std::size_t buckets = default_buckets)
      : command(buckets),
        reference(buckets),
        measured(buckets),
        reference_velocity(buckets),
        measured_velocity(buckets),
        measured_effort(buckets),
        command_error(buckets),
        reference_error(buckets) {}

  Envelope command;
  Envelope reference;
  Envelope measured;
  Envelope reference_velocity;
  Envelope measured_velocity;
  Envelope measured_effort;
  bool tells_effort = false;
  Envelope command_error;
  Envelope reference_error;

  /// Whether the recording has any value of the joint.
  [[nodiscard]] bool has_data() const noexcept {
    return measured.has_values() || measured_velocity.has_values() || tells_effort || reference.has_values();
  }
};

/// A goal's life, from its events.
struct GoalRow {
  std::uint64_t goal = 0;
  double begin = 0;        ///< s: first event
  double end = 0;          ///< s: last event
  std::uint8_t state = 0;  ///< the last one
  std::uint16_t reason = 0;
  std::uint8_t joint = 0;  ///< as in record::GoalEvent
  double value = 0;
  double limit = 0;
  std::size_t requests = 0;       ///< accepted requests with a first reference
  std::optional<double> latency;  ///< us: hand-over to first reference of the first of them
};

struct StateChange {
  double time = 0;  ///< s
  std::uint8_t state = 0;
  std::uint16_t reason = 0;
  std::uint8_t joint = 0;
};

/// An entry of the log.
struct LogLine {
  Time at{};
  std::string level;
  std::string source;
  std::string text;
};

struct BusCurve {
  Moments load;  ///< 0 to 1
  Envelope percent{JointCurves::default_buckets};
  std::uint64_t frames = 0;
  std::uint64_t refused = 0;
};

/// The most interesting seconds of a section: the fastest joint around its fastest moment.
struct CloseUp {
  std::size_t section = 0;  ///< index into sections; without sections: the whole recording
  std::size_t joint = 0;
  double begin = 0;
  double end = 0;
  JointCurves curves;
};

/// Neighbouring cycles whose curves the page shows in the same way: each sample, or thinned.
struct Stretch {
  CycleRange cycles;
  double begin = 0;                 ///< s: the first cycle
  double end = 0;                   ///< s: the last cycle
  std::vector<JointCurves> curves;  ///< one for each joint
};

/// How the measured position of a joint answers to its reference, by frequency.
struct BodePlot {
  std::size_t joint = 0;
  std::vector<controllers::ResponsePoint> points;
};

struct ReportData;

/// The recording that a report compares with.
struct Against {
  std::string file;
  std::shared_ptr<const ReportData> data;  ///< not null
};

struct ReportData {
  record::Metadata metadata;
  bool is_own = true;  ///< takt made the recording; in others, only joints were measured
  bool truncated = false;
  std::vector<record::LostPart> lost;
  std::vector<record::LeftOut> left_out;
  std::optional<std::uint64_t> dropped{};
  std::size_t marks_ignored = 0;  ///< beyond max_sections
  std::size_t cycles = 0;         ///< recorded
  std::optional<record::LoopTotals> totals;
  Time start{};                           ///< of the first cycle
  double duration = 0;                    ///< s from the first cycle to the last
  std::vector<record::GoalEvent> events;  ///< in the order of their times
  std::vector<GoalRow> goals;             ///< in the order of their first events
  std::vector<StateChange> state_changes;
  std::size_t state_changes_ignored = 0;  ///< beyond the first thousand
  std::vector<LogLine> log;               ///< in the order of the recording
  std::size_t log_lines_left_out = 0;     ///< beyond the first max_log_lines
  Section whole;
  std::vector<Section> sections;    ///< as marked; empty without marks
  std::vector<double> periods;      ///< us between wake-ups, one for each pair of consecutive cycles
  std::vector<double> busy;         ///< us of work, one for each cycle
  std::vector<JointCurves> curves;  ///< one for each joint, over the whole recording
  std::vector<Stretch> stretches;   ///< the same in parts, in order
  std::vector<BusCurve> buses;
  std::vector<CloseUp> close_ups;
  std::optional<BodePlot> bode;    ///< if one was asked for
  std::optional<Against> against;  ///< if a comparison was asked for

  [[nodiscard]] double seconds(Time time) const noexcept { return to_seconds(time - start); }
  [[nodiscard]] std::string robot_state(std::uint8_t code) const;
  [[nodiscard]] std::string goal_state(std::uint8_t code) const;
  /// Empty for no reason.
  [[nodiscard]] std::string reason(std::uint16_t code) const;
  /// The joint of a reason; empty if the reason has none.
  [[nodiscard]] std::string joint(std::uint16_t reason, std::uint8_t index) const;
  /// A joint's recorded limits; infinite where the recording has none.
  [[nodiscard]] JointLimits limits(std::size_t joint) const noexcept;
  [[nodiscard]] double following_error(std::size_t joint) const noexcept;
  [[nodiscard]] const Unit& unit(std::size_t joint) const noexcept;
  /// The joint of the same name and unit in the recording that this is compared with, if it has one.
  [[nodiscard]] std::optional<std::size_t> joint_there(std::size_t joint) const;
  /// Whether a state change has a new reason, other than that the program was told to end.
  [[nodiscard]] bool is_stop(std::size_t change) const noexcept;
  /// Whether the joints' positions are known: not during the start-up.
  [[nodiscard]] bool joints_are_known(const record::Cycle& cycle) const;
  /// All rotary joints that moved, together.
  [[nodiscard]] Tracking together(const Section& section) const;
  /// Missed periods: the loop's own count, if it gave one.
  [[nodiscard]] std::optional<std::uint64_t> overruns() const noexcept {
    return totals ? std::optional(totals->overruns) : std::nullopt;
  }
  /// Whether the period is known: one time of another program's file tells none.
  [[nodiscard]] bool has_period() const noexcept { return is_own || duration > 0; }
  /// Whether all that the file once had was read.
  [[nodiscard]] bool is_complete() const noexcept { return !truncated && lost.empty() && left_out.empty(); }
};

/// Reads a recording. With the name of a joint, also computes its Bode plot. Errors: those of record::Reader;
/// robot::Errc::no_such_joint; those of controllers::frequency_response().
[[nodiscard]] SetupResult<ReportData> read_report_data(const RecordingPlace& recording,
                                                       const std::string& bode_joint = {});

}  // namespace takt::tools
