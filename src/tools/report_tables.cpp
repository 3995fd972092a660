#include "tools/report_tables.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "tools/report_comparison.hpp"
#include "tools/report_text.hpp"

namespace takt::tools {
namespace {

using Json = nlohmann::ordered_json;

/// A text file that is written line by line; it keeps the first failure.
class TextFile {
 public:
  explicit TextFile(const std::filesystem::path& path)
      : path_(path.string()), file_(std::fopen(path_.c_str(), "wbe")) {
    if (!file_) fail_now();
  }
  /// Appends to the present line.
  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Arguments>(arguments)...);
  }
  void end_line() {
    buffer_.push_back('\n');
    if (buffer_.size() >= flush_size) flush();
  }
  [[nodiscard]] SetupResult<void> close() {
    flush();
    if (file_ && std::fclose(file_.release()) != 0) fail_now();
    if (!failure_.empty()) return takt::fail(record::Errc::write_failed, failure_);
    return {};
  }

 private:
  static constexpr std::size_t flush_size = std::size_t{1} << 18;
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  void flush() {
    if (file_ && std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) fail_now();
    buffer_.clear();
  }
  void fail_now() {
    if (failure_.empty()) failure_ = path_ + ": " + std::strerror(errno);
  }

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  fmt::memory_buffer buffer_;
  std::string failure_;
};

SetupResult<void> write_joints(const RecordingPlace& recording, const ReportData& data,
                               const std::filesystem::path& path) {
  auto reader = open_recording(recording, true);
  if (!reader) return tl::unexpected<SetupError>(reader.error());
  TextFile file(path);
  file.add("time_s,lateness_us,busy_us,robot_state,reason,reason_joint,active_goals");
  for (std::size_t i = 0; i < data.metadata.joints.size(); ++i) {
    for (const char* column :
         {"command_{}", "reference_{}", "reference_{}_per_s", "measured_{}", "measured_{}_per_s", "goal"}) {
      const std::string name = fmt::format(fmt::runtime(column), data.unit(i).recorded);
      file.add(",{}", csv_cell(data.metadata.joints[i] + "." + name));
    }
    file.add(",{}",
             csv_cell(fmt::format("{}.measured_{}", data.metadata.joints[i], data.unit(i).effort_column)));
  }
  file.end_line();
  while (true) {
    const auto found = reader->next();
    if (!found) return tl::unexpected<SetupError>(found.error());
    if (*found == nullptr) break;
    const auto* record = std::get_if<record::CycleRecord>(*found);
    if (record == nullptr) continue;
    const record::Cycle& cycle = record->cycle;
    file.add("{:.9f},", data.seconds(cycle.time));
    if (data.is_own) {
      file.add("{:.3f},{:.3f},{},{},{},{}", to_seconds(cycle.lateness) * 1e6, to_seconds(cycle.busy) * 1e6,
               csv_cell(data.robot_state(cycle.robot_state)), csv_cell(data.reason(cycle.reason)),
               csv_cell(data.joint(cycle.reason, cycle.reason_joint)), cycle.active_goals);
    } else {
      file.add(",,,,,");  // not measured
    }
    for (const record::JointSample& joint : record->joints) {
      file.add(",{},{},{},{},{},{},{}", joint.command, joint.reference_position, joint.reference_velocity,
               joint.measured_position, joint.measured_velocity,
               data.is_own ? fmt::format("{}", joint.goal) : std::string(), joint.measured_effort);
    }
    file.end_line();
  }
  return file.close();
}

SetupResult<void> write_events(const ReportData& data, const std::filesystem::path& path) {
  TextFile file(path);
  file.add(
      "time_s,goal,state,reason,joint,reason_time_s,reason_value,reason_limit,received_ns,handed_over_ns,"
      "first_reference_ns");
  file.end_line();
  for (const record::GoalEvent& event : data.events) {
    const std::string joint = data.joint(event.reason, event.joint);
    file.add("{:.9f},{},{},{},{},{},{},{},{},{},{}", data.seconds(event.at), event.goal,
             csv_cell(data.goal_state(event.state)), csv_cell(data.reason(event.reason)), csv_cell(joint),
             event.time, event.value, event.limit, to_nanoseconds(event.received),
             to_nanoseconds(event.handed_over), to_nanoseconds(event.first_reference));
    file.end_line();
  }
  return file.close();
}

SetupResult<void> write_buses(const RecordingPlace& recording, const ReportData& data,
                              const std::filesystem::path& path) {
  auto reader = open_recording(recording, true);
  if (!reader) return tl::unexpected<SetupError>(reader.error());
  TextFile file(path);
  file.add("time_s,bus,load,frames,refused");
  file.end_line();
  while (true) {
    const auto found = reader->next();
    if (!found) return tl::unexpected<SetupError>(found.error());
    if (*found == nullptr) break;
    const auto* record = std::get_if<record::BusRecord>(*found);
    if (record == nullptr) continue;
    for (std::size_t i = 0; i < record->buses.size(); ++i) {
      const record::BusSample& bus = record->buses[i];
      file.add("{:.9f},{},{},{},{}", data.seconds(record->time), csv_cell(data.metadata.buses[i]), bus.load,
               bus.frames, bus.refused);
      file.end_line();
    }
  }
  return file.close();
}

SetupResult<void> write_log(const ReportData& data, const std::filesystem::path& path) {
  TextFile file(path);
  file.add("time_s,level,source,text");
  file.end_line();
  for (const LogLine& line : data.log) {
    file.add("{:.9f},{},{},{}", data.seconds(line.at), line.level, csv_cell(line.source),
             csv_cell(line.text));
    file.end_line();
  }
  return file.close();
}

// ---- summary.json ----

/// A number that may not be recorded.
template <class Number>
Json to_json(const std::optional<Number>& number) {
  return number ? Json(*number) : Json();
}

Json lost_json(const ReportData& data) {
  Json parts = Json::array();
  const auto seconds = [&](const std::optional<Time>& time) {
    return time ? Json(data.seconds(*time)) : Json();
  };
  for (const record::LostPart& part : data.lost) {
    parts.push_back({{"reason", printable(part.reason.message)},
                     {"chunk", part.chunk},
                     {"bytes", part.size},
                     {"messages", to_json(part.messages)},
                     {"from_s", seconds(part.from)},
                     {"until_s", seconds(part.until)}});
  }
  return parts;
}

Json left_out_json(const ReportData& data) {
  Json all = Json::array();
  for (const record::LeftOut& one : data.left_out) {
    all.push_back(
        {{"topic", printable(one.topic)}, {"messages", one.messages}, {"reason", printable(one.reason)}});
  }
  return all;
}

Json to_json(const Quantiles& of) {
  if (of.count == 0) return Json{{"count", 0}};
  return Json{{"count", of.count}, {"min", of.min},    {"p50", of.p50},
              {"p99", of.p99},     {"p99_9", of.p999}, {"max", of.max}};
}

Json to_json(const Moments& of) {
  if (of.count() == 0) return Json();
  return Json{{"mean", of.mean()}, {"std", of.deviation()}, {"max", of.max_magnitude()}};
}

Json to_json(const Tracking& of, const Unit& unit) {
  const bool has_command = of.command_error.count() > 0;
  return Json{{"samples", of.reference_error.count()},
              {fmt::format("command_minus_measured_{}", unit.key), to_json(of.command_error)},
              {fmt::format("reference_minus_measured_{}", unit.key), to_json(of.reference_error)},
              {"lag_ms", has_command ? Json(of.delay.delay() * 1e3) : Json()},
              {fmt::format("residual_std_{}", unit.key), has_command ? Json(of.delay.residual()) : Json()}};
}

Json to_json(const ReportData& data, const Section& section) {
  Json joints = Json::array();
  for (std::size_t i = 0; i < section.joints.size(); ++i) {
    if (!section.joints[i].moved() || section.joints[i].reference_error.count() == 0) continue;
    Json joint{{"joint", data.metadata.joints[i]}};
    joint.update(to_json(section.joints[i], data.unit(i)));
    joints.push_back(std::move(joint));
  }
  Json events = Json::object();
  for (const auto& [state, count] : section.events) events[data.goal_state(state)] = count;
  return Json{
      {"name", printable(section.name)},
      {"begin_s", section.begin},
      {"end_s", section.end},
      {"goal_events", std::move(events)},
      {"hand_over_to_first_reference_us", to_json(quantiles(section.hand_over_latency))},
      {"received_to_first_reference_us", to_json(quantiles(section.received_latency))},
      {"lateness_us", to_json(quantiles(section.lateness))},
      {"tracking",
       {{"all_moving_joints", to_json(data.together(section), degrees)}, {"joints", std::move(joints)}}}};
}

Json against_json(const ReportData& data) {
  Json numbers = Json::array();
  for (const ComparedNumber& row : compared_numbers(data))
    numbers.push_back(
        {{"name", printable(row.name)}, {"unit", row.unit}, {"this", row.here}, {"other", row.there}});
  return {{"file", printable(data.against->file)}, {"numbers", std::move(numbers)}};
}

}  // namespace

SetupResult<void> write_csv(const RecordingPlace& recording, const ReportData& data,
                            const std::filesystem::path& directory) {
  if (auto done = write_joints(recording, data, directory / "joints.csv"); !done) return done;
  if (auto done = write_events(data, directory / "events.csv"); !done) return done;
  if (auto done = write_buses(recording, data, directory / "buses.csv"); !done) return done;
  if (!data.log.empty()) {
    if (auto done = write_log(data, directory / "log.csv"); !done) return done;
  }
  if (!data.bode) return {};
  std::string text = "frequency_hz,gain_db,phase_deg\n";
  for (const controllers::ResponsePoint& point : data.bode->points)
    text += fmt::format("{},{},{}\n", point.frequency, point.gain, point.phase);
  return write_file(directory / "bode.csv", text);
}

std::string summary_json(const ReportData& data) {
  Json buses = Json::array();
  for (std::size_t i = 0; i < data.buses.size(); ++i) {
    const BusCurve& bus = data.buses[i];
    buses.push_back({{"bus", data.metadata.buses[i]},
                     {"load_mean", bus.load.count() > 0 ? Json(bus.load.mean()) : Json()},
                     {"load_max", bus.load.count() > 0 ? Json(bus.load.max_magnitude()) : Json()},
                     {"frames", bus.frames},
                     {"refused", bus.refused}});
  }
  Json sections = Json::array();
  for (const Section& section : data.sections) sections.push_back(to_json(data, section));
  Json changes = Json::array();
  for (const StateChange& change : data.state_changes) {
    changes.push_back({{"time_s", change.time},
                       {"state", data.robot_state(change.state)},
                       {"reason", data.reason(change.reason)},
                       {"joint", data.joint(change.reason, change.joint)}});
  }
  Json root{{"robot", data.metadata.robot},
            {"takt_version", data.metadata.takt_version},
            {"recording",
             {{"complete", data.is_complete()},
              {"cut_off", data.truncated},
              {"lost", lost_json(data)},
              {"left_out", left_out_json(data)},
              {"records_dropped", data.dropped ? Json(*data.dropped) : Json()},
              {"cycles", data.cycles},
              {"duration_s", data.duration},
              {"period_us",
               data.has_period() ? Json(static_cast<double>(data.metadata.period.count()) * 1e-3) : Json()}}},
            {"loop",
             {{"cycles", data.totals   ? Json(data.totals->cycles)
                         : data.is_own ? Json(data.cycles)
                                       : Json()},
              {"overruns", to_json(data.overruns())},
              {"period_us", to_json(quantiles(data.periods))},
              {"busy_us", to_json(quantiles(data.busy))}}},
            {"goals", data.is_own ? Json(data.goals.size()) : Json()},
            {"buses", std::move(buses)},
            {"whole", to_json(data, data.whole)},
            {"sections", std::move(sections)},
            {"state_changes", std::move(changes)}};
  if (data.against) root["against"] = against_json(data);
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

SetupResult<void> write_file(const std::filesystem::path& path, std::string_view contents) {
  TextFile file(path);
  file.add("{}", contents);
  return file.close();
}

}  // namespace takt::tools
