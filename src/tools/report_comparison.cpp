#include "tools/report_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace takt::tools {
namespace {

class Rows {
 public:
  explicit Rows(const ReportData& here) : here_(here), there_(*here.against->data) {}

  /// `number(data)` is the quantity in a recording.
  template <class Number>
  void add(std::string name, std::string unit, const Number& number) {
    rows_.push_back({std::move(name), std::move(unit), number(here_), number(there_)});
  }
  template <class Samples>
  void add_quantiles(const std::string& name, const Samples& samples) {
    const auto of = [&](const ReportData& data, double Quantiles::*which) {
      const Quantiles all = quantiles(samples(data));
      return all.count > 0 ? all.*which : std::numeric_limits<double>::quiet_NaN();
    };
    add(name + ", p99", "µs", [&](const ReportData& data) { return of(data, &Quantiles::p99); });
    add(name + ", max", "µs", [&](const ReportData& data) { return of(data, &Quantiles::max); });
  }
  void add_tracking(const std::string& name, const Unit& unit, const Tracking& here, const Tracking& there) {
    const std::string text(unit.name);
    rows_.push_back({name + ": tracking error, std", text, here.reference_error.deviation(),
                     there.reference_error.deviation()});
    rows_.push_back({name + ": tracking error, max", text, here.reference_error.max_magnitude(),
                     there.reference_error.max_magnitude()});
  }
  [[nodiscard]] std::vector<ComparedNumber> take() { return std::move(rows_); }

 private:
  const ReportData& here_;
  const ReportData& there_;
  std::vector<ComparedNumber> rows_;
};

double goals_that_ended(const ReportData& data, std::string_view state) {
  if (!data.is_own) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(std::count_if(data.goals.begin(), data.goals.end(), [&](const GoalRow& goal) {
    return data.goal_state(goal.state) == state;
  }));
}

void add_loop(Rows& rows) {
  rows.add("duration", "s", [](const ReportData& data) { return data.duration; });
  rows.add("cycles", "", [](const ReportData& data) { return static_cast<double>(data.cycles); });
  rows.add("periods missed", "", [](const ReportData& data) {
    return data.overruns() ? static_cast<double>(*data.overruns()) : std::numeric_limits<double>::quiet_NaN();
  });
  rows.add_quantiles("loop lateness", [](const ReportData& data) { return data.whole.lateness; });
  rows.add_quantiles("work of a cycle", [](const ReportData& data) { return data.busy; });
  rows.add_quantiles("hand-over to first reference",
                     [](const ReportData& data) { return data.whole.hand_over_latency; });
}

void add_goals(Rows& rows) {
  for (const char* state : {"succeeded", "aborted", "preempted", "rejected"})
    rows.add(fmt::format("goals {}", state), "",
             [&](const ReportData& data) { return goals_that_ended(data, state); });
}

void add_joints(Rows& rows, const ReportData& data) {
  for (std::size_t i = 0; i < data.whole.joints.size(); ++i) {
    const auto there = data.joint_there(i);
    if (!there) continue;
    const Tracking& mine = data.whole.joints[i];
    const Tracking& other = data.against->data->whole.joints[*there];
    const bool are_there = mine.reference_error.count() > 0 && other.reference_error.count() > 0;
    if (are_there && (mine.moved() || other.moved()))
      rows.add_tracking(data.metadata.joints[i], data.unit(i), mine, other);
  }
}

void add_sections(Rows& rows, const ReportData& data) {
  const ReportData& there = *data.against->data;
  for (const Section& section : data.sections) {
    const auto same = std::find_if(there.sections.begin(), there.sections.end(),
                                   [&](const Section& other) { return other.name == section.name; });
    if (same == there.sections.end()) continue;
    const Tracking mine = data.together(section);
    const Tracking other = there.together(*same);
    if (mine.reference_error.count() > 0 && other.reference_error.count() > 0)
      rows.add_tracking(section.name, degrees, mine, other);
  }
}

}  // namespace

std::vector<ComparedNumber> compared_numbers(const ReportData& data) {
  if (!data.against) return {};
  Rows rows(data);
  add_loop(rows);
  add_goals(rows);
  add_joints(rows, data);
  add_sections(rows, data);
  return rows.take();
}

}  // namespace takt::tools
