#include "tools/report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "record/report/scratch_folder.hpp"
#include "record/report/synthetic.hpp"
#include "takt/motion/error.hpp"
#include "takt/record/error.hpp"
#include "tools/report_data.hpp"
#include "tools/report_html.hpp"
#include "tools/report_plots.hpp"
#include "tools/report_tables.hpp"

using namespace takt;
using namespace takt::tools;
using namespace takt::test::reports;

namespace {

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// An environment variable that is set during a test.
class Environment {
 public:
  Environment(const char* name, const char* value)
      : name_(name), before_(std::getenv(name) ? std::getenv(name) : "") {
    setenv(name, value, 1);
  }
  ~Environment() { setenv(name_, before_.c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string before_;
};

/// One joint, ten cycles of 1 ms, errors known by hand.
void write_small(const std::string& path, std::vector<std::string> units = {}) {
  record::Metadata metadata;
  metadata.robot = "small";
  metadata.period = Duration(1'000'000);
  metadata.joints = {"a"};
  metadata.units = std::move(units);
  metadata.buses = {"can0"};
  metadata.robot_states = {"starting", "ready"};
  metadata.goal_states = {"pending", "active"};
  metadata.takt_version = "0.1.0";
  auto recorder = record::Recorder::create(path, metadata);
  REQUIRE(recorder);
  record::Lane& lane = (*recorder)->loop();
  for (int i = 0; i < 10; ++i) {
    record::Cycle cycle;
    cycle.time = Time(std::chrono::milliseconds(100 + i));
    cycle.lateness = Duration(1000 * (i + 1));  // 1 us to 10 us
    cycle.robot_state = i < 2 ? 0 : 1;
    lane.cycle(cycle, [&](std::size_t) {
      record::JointSample sample;
      // From the third cycle on, the command is 1, 2, 3, ... degrees. The error alternates between half a
      // degree and one degree.
      sample.goal = i < 2 ? 0 : 9;
      sample.reference_position = (i - 1) / degrees.scale;
      sample.command = (i - 1 + 0.25) / degrees.scale;
      sample.measured_position = (i - 1 - (i % 2 == 0 ? 0.5 : 1.0)) / degrees.scale;
      sample.reference_velocity = (i == 6 ? 2.0 : 1.0) / degrees.scale;
      return sample;
    });
  }
  record::GoalEvent event;
  event.at = Time(std::chrono::milliseconds(102));
  event.goal = 9;
  event.state = 1;
  event.received = Time(std::chrono::microseconds(101'000));
  event.handed_over = Time(std::chrono::microseconds(101'200));
  event.first_reference = Time(std::chrono::microseconds(102'050));
  lane.event(event);
  const std::array<record::BusSample, 1> quiet{record::BusSample{0.25, 10, 1}};
  const std::array<record::BusSample, 1> busy{record::BusSample{0.75, 30, 2}};
  lane.buses(Time(std::chrono::milliseconds(103)), quiet);
  lane.buses(Time(std::chrono::milliseconds(106)), busy);
  // Written after its cycles, as a server's marks may be.
  lane.mark(Time(std::chrono::milliseconds(104)), "late half");
  lane.mark(Time(std::chrono::milliseconds(108)), "");
  lane.totals({Time(std::chrono::milliseconds(110)), 10, 3});
  REQUIRE((*recorder)->finish());
}

ReportData read_small(std::vector<std::string> units = {}) {
  const ScratchFolder folder;
  const std::string path = (folder / "small").string();
  write_small(path, std::move(units));
  auto data = read_report_data(path);
  REQUIRE(data);
  return std::move(*data);
}

}  // namespace

TEST_CASE("the statistics of a small recording are those computed by hand") {
  const ReportData data = read_small();
  CHECK(data.cycles == 10);
  CHECK(data.duration == doctest::Approx(0.009));
  CHECK(data.overruns() == 3);
  CHECK_FALSE(data.truncated);

  // Eight cycles with a goal: reference - measured alternates between 0.5 and 1, command - measured between
  // 0.75 and 1.25.
  const Tracking& whole = data.whole.joints[0];
  CHECK(whole.moved());
  CHECK(whole.reference_error.count() == 8);
  CHECK(whole.reference_error.mean() == doctest::Approx(0.75));
  CHECK(whole.reference_error.deviation() == doctest::Approx(0.25));
  CHECK(whole.reference_error.max_magnitude() == doctest::Approx(1.0));
  CHECK(whole.command_error.mean() == doctest::Approx(1.0));
  CHECK(whole.command_error.max_magnitude() == doctest::Approx(1.25));
  CHECK(whole.command_gap == doctest::Approx(0.25));
  CHECK(whole.reference_max - whole.reference_min == doctest::Approx(7.0));
  CHECK(whole.top_speed == doctest::Approx(2.0));
  CHECK(whole.top_speed_at == doctest::Approx(0.006));

  // Lateness 1 to 10 us, quantiles by nearest rank.
  const Quantiles lateness = quantiles(data.whole.lateness);
  CHECK(lateness.count == 10);
  CHECK(lateness.min == doctest::Approx(1));
  CHECK(lateness.p50 == doctest::Approx(5));
  CHECK(lateness.p99 == doctest::Approx(10));
  CHECK(lateness.max == doctest::Approx(10));
  REQUIRE(data.periods.size() == 9);
  for (const double period : data.periods) CHECK(period == doctest::Approx(1001));

  REQUIRE(data.whole.hand_over_latency.size() == 1);
  CHECK(data.whole.hand_over_latency[0] == doctest::Approx(850));
  CHECK(data.whole.received_latency[0] == doctest::Approx(1050));
  REQUIRE(data.goals.size() == 1);
  CHECK(data.goals[0].requests == 1);
  CHECK(*data.goals[0].latency == doctest::Approx(850));

  CHECK(data.buses[0].load.mean() == doctest::Approx(0.5));
  CHECK(data.buses[0].load.max_magnitude() == doctest::Approx(0.75));
  CHECK(data.buses[0].frames == 30);
  CHECK(data.buses[0].refused == 2);
  REQUIRE(data.state_changes.size() == 2);
  CHECK(data.state_changes[1].time == doctest::Approx(0.002));
}

TEST_CASE("a section holds the cycles from its mark to the next, wherever the marks stand in the file") {
  const ReportData data = read_small();
  REQUIRE(data.sections.size() == 1);
  const Section& section = data.sections[0];
  CHECK(section.name == "late half");
  CHECK(section.begin == doctest::Approx(0.004));
  CHECK(section.end == doctest::Approx(0.008));
  CHECK(section.lateness.size() == 4);
  CHECK(section.joints[0].reference_error.count() == 4);
  CHECK(section.events.empty());
  CHECK(data.whole.events.at(1) == 1);
}

TEST_CASE("the summary says the same as the statistics") {
  const auto summary = nlohmann::json::parse(summary_json(read_small()));
  CHECK(summary["robot"] == "small");
  CHECK(summary["recording"]["complete"] == true);
  CHECK(summary["loop"]["overruns"] == 3);
  CHECK(summary["sections"][0]["name"] == "late half");
  const auto& whole = summary["whole"];
  CHECK(whole["goal_events"]["active"] == 1);
  CHECK(whole["lateness_us"]["p50"].get<double>() == doctest::Approx(5));
  CHECK(whole["hand_over_to_first_reference_us"]["max"].get<double>() == doctest::Approx(850));
  const auto& joint = whole["tracking"]["joints"][0];
  CHECK(joint["joint"] == "a");
  CHECK(joint["reference_minus_measured_deg"]["std"].get<double>() == doctest::Approx(0.25));
  CHECK(whole["tracking"]["all_moving_joints"]["command_minus_measured_deg"]["mean"].get<double>() ==
        doctest::Approx(1.0));
  CHECK(summary["buses"][0]["load_max"].get<double>() == doctest::Approx(0.75));
}

TEST_CASE("a linear joint is shown in millimetres and stays out of what is said of angles") {
  const ReportData angles = read_small({"rad"});
  const ReportData data = read_small({"m"});
  const double scale = 1e3 / degrees.scale;
  CHECK(data.whole.joints[0].top_speed == doctest::Approx(scale * angles.whole.joints[0].top_speed));

  const auto tracking = nlohmann::json::parse(summary_json(data))["whole"]["tracking"];
  const auto& joint = tracking["joints"][0];
  CHECK(joint["reference_minus_measured_mm"]["std"].get<double>() == doctest::Approx(0.25 * scale));
  CHECK_FALSE(joint.contains("reference_minus_measured_deg"));
  CHECK(tracking["all_moving_joints"]["samples"] == 0);
  CHECK(nlohmann::json::parse(summary_json(angles))["whole"]["tracking"]["all_moving_joints"]["samples"] ==
        8);

  const std::vector<Chapter> chapters = make_figures(data);
  const Figure& figure = chapters.back().figures.front();
  CHECK(figure.script.find("position (mm)") != std::string::npos);
  CHECK(figure.caption.find("Travels 122.2 mm and") == 0);
  const std::string page = index_html(data, {}, "", "");
  CHECK(page.find("<td class=\"text\">a</td><td>mm</td><td>122.17</td>") != std::string::npos);

  const ScratchFolder folder;
  const std::string path = (folder / "small").string();
  write_small(path, {"m"});
  REQUIRE(write_csv(path, data, folder / ""));
  CHECK(contents(folder / "joints.csv").find("a.command_m,a.reference_m,a.reference_m_per_s,") !=
        std::string::npos);
}

TEST_CASE("the tables hold every record and the numbers of the recording") {
  const ScratchFolder folder;
  const std::string path = (folder / "small").string();
  write_small(path);
  REQUIRE(make_report(path, folder / "out"));
  const std::string joints = contents(folder / "out" / "joints.csv");
  CHECK(lines(joints) == 11);
  CHECK(joints.find(
            "time_s,lateness_us,busy_us,robot_state,reason,reason_joint,active_goals,a.command_rad,") == 0);
  CHECK(joints.find("a.measured_rad_per_s,a.goal,a.measured_Nm\n") != std::string::npos);
  CHECK(joints.find("\n0.001000000,2.000,0.000,starting,,,0,") != std::string::npos);
  const std::string events = contents(folder / "out" / "events.csv");
  CHECK(lines(events) == 2);
  CHECK(events.find("\n0.002000000,9,active,,,0,0,0,101000000,101200000,102050000\n") != std::string::npos);
  const std::string buses = contents(folder / "out" / "buses.csv");
  CHECK(buses.find("\n0.006000000,can0,0.75,30,2\n") != std::string::npos);
}

TEST_CASE("a report needs nothing but its page, and the page stays small") {
  const ScratchFolder folder;
  const std::string path = (folder / "recording").string();
  test::write_synthetic(path);
  const auto outcome = make_report(path, folder / "out");
  REQUIRE(outcome);
  if (have_gnuplot()) {
    CHECK(outcome->no_plots == "");
    CHECK(contents(folder / "out" / "plots" / "gnuplot.log") == "");
  }
  const std::string page = contents(folder / "out" / "index.html");
  CHECK(page.size() < 5'000'000);
  for (const char* outside :
       {"src=", "<link", "<script", "@import", "<iframe", "<object", "<img", "url(http"}) {
    CAPTURE(outside);
    CHECK(page.find(outside) == std::string::npos);
  }
  // The only addresses are the XML namespaces of SVG, which no browser loads.
  for (std::size_t at = page.find("://"); at != std::string::npos; at = page.find("://", at + 1)) {
    CHECK(page.substr(at, 14) == "://www.w3.org/");
  }
  if (have_gnuplot()) {
    const auto count = [&](std::string_view what) {
      std::size_t found = 0;
      for (std::size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++found;
      return found;
    };
    CHECK(count("<svg") == count("<figure>"));
    CHECK(count("<figure>") > 10);
    CHECK(count("</svg>") == count("<svg"));
  }
}

TEST_CASE("equal recordings give equal tables and summaries") {
  const ScratchFolder folder;
  for (const char* name : {"one", "two"}) {
    test::SyntheticOptions options;
    options.seconds = 12;
    test::write_synthetic((folder / name).string(), options);
  }
  CHECK(contents(folder / "one") == contents(folder / "two"));
  const auto one = read_report_data((folder / "one").string());
  const auto two = read_report_data((folder / "two").string());
  REQUIRE((one && two));
  CHECK(summary_json(*one) == summary_json(*two));
}

TEST_CASE("names from outside do no harm in files, plots or the page") {
  const ScratchFolder folder;
  const std::string path = (folder / "recording").string();
  test::SyntheticOptions options;
  options.seconds = 12;
  options.joints = {"../../escaped",
                    "<script>alert(1)</script>",
                    "it's \"quoted\" `touch gnuplot_ran`",
                    "a\\\n'; system('touch gnuplot_ran'); print '",
                    "@macro",
                    "<img src=x>",
                    "}} a,b {"};
  options.section = "</style><script>x</script>`touch gnuplot_ran` }\n'\xff";
  test::write_synthetic(path, options);
  const auto outcome = make_report(path, folder / "out");
  REQUIRE(outcome);
  if (have_gnuplot()) CHECK(outcome->no_plots == "");
  const std::string page = contents(folder / "out" / "index.html");
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("<img") == std::string::npos);
  CHECK(page.find("&lt;script&gt;alert(1)") != std::string::npos);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder / "")) {
    CHECK(entry.path().filename() != "gnuplot_ran");
  }
  CHECK(fs::exists(folder / "out" / "plots" / "joint_00_______escaped.gp"));
  const std::string joints = contents(folder / "out" / "joints.csv");
  CHECK(joints.find("\"}} a,b {.command_rad\"") != std::string::npos);
  CHECK(joints.find("\"it's \"\"quoted\"\"") != std::string::npos);
  CHECK(lines(joints) == 12 * 200 + 1);
}

TEST_CASE("without gnuplot all else is written, and the message says what to install") {
  const ScratchFolder folder;
  const std::string path = (folder / "recording").string();
  test::SyntheticOptions options;
  options.seconds = 12;
  test::write_synthetic(path, options);
  fs::create_directory(folder / "nothing");
  const Environment no_programs("PATH", (folder / "nothing").c_str());
  const auto outcome = make_report(path, folder / "out");
  REQUIRE(outcome);
  CHECK(outcome->no_plots.find("apt-get install gnuplot") != std::string::npos);
  CHECK(fs::exists(folder / "out" / "summary.json"));
  CHECK(contents(folder / "out" / "index.html").find("gnuplot is not installed") != std::string::npos);
}

TEST_CASE("recordings with little in them make a report") {
  const ScratchFolder folder;
  SUBCASE("no joint, no cycle") {
    record::Metadata metadata;
    metadata.period = Duration(1);
    auto recorder = record::Recorder::create((folder / "r").string(), metadata);
    REQUIRE(recorder);
    REQUIRE((*recorder)->finish());
  }
  SUBCASE("one cycle with NaN") {
    record::Metadata metadata;
    metadata.period = Duration(1'000'000);
    metadata.joints = {"a"};
    metadata.buses = {"b"};
    auto recorder = record::Recorder::create((folder / "r").string(), metadata);
    REQUIRE(recorder);
    record::Lane& lane = (*recorder)->loop();
    record::Cycle cycle;
    cycle.lateness = Duration(-5);
    lane.cycle(cycle, [](std::size_t) {
      return record::JointSample{std::nan(""), HUGE_VAL, -HUGE_VAL, std::nan(""), 0, 1};
    });
    lane.buses(Time{}, std::array<record::BusSample, 1>{record::BusSample{std::nan(""), 0, 0}});
    REQUIRE((*recorder)->finish());
  }
  SUBCASE("virtual time: never late") {
    test::SyntheticOptions options;
    options.seconds = 12;
    options.timing = false;
    test::write_synthetic((folder / "r").string(), options);
  }
  SUBCASE("cut off") {
    test::SyntheticOptions options;
    options.seconds = 12;
    test::write_synthetic((folder / "r").string(), options);
    fs::resize_file(folder / "r", fs::file_size(folder / "r") / 2);
  }
  const auto outcome = make_report((folder / "r").string(), folder / "out");
  REQUIRE(outcome);
  if (have_gnuplot()) {
    CHECK(outcome->no_plots == "");
    CHECK(contents(folder / "out" / "plots" / "gnuplot.log") == "");
  }
  CHECK(nlohmann::json::accept(contents(folder / "out" / "summary.json")));
}

TEST_CASE("a damaged or missing recording is named") {
  const ScratchFolder folder;
  const auto error_of = [&](const char* name) {
    const auto outcome = make_report((folder / name).string(), folder / "out");
    REQUIRE_FALSE(outcome);
    const std::string path = (folder / name).string();
    CHECK(outcome.error().message.find(path) == 0);
    CHECK(outcome.error().message.find(path, 1) == std::string::npos);
    return outcome.error().error;
  };
  CHECK(error_of("none") == record::Errc::cannot_open);
  std::ofstream(folder / "text") << "hello, this is no recording";
  CHECK(error_of("text") == record::Errc::not_a_recording);
  write_small((folder / "more").string());
  std::ofstream(folder / "more", std::ios::app) << "and more";
  CHECK(error_of("more") == record::Errc::data_after_end);
  CHECK_FALSE(fs::exists(folder / "out"));
}

namespace {

/// A robot with the joints "first" and "second" that stops with a reason for joint 0.
void write_stopped(const std::string& path, motion::Errc reason) {
  record::Metadata metadata;
  metadata.robot = "stopped";
  metadata.period = Duration(1'000'000);
  metadata.joints = {"first", "second"};
  metadata.robot_states = {"starting", "ready", "stopping", "stopped", "down"};
  metadata.goal_states = {"pending", "active", "preempting", "succeeded", "aborted"};
  metadata.reasons = {{static_cast<std::uint16_t>(reason), std::string(motion::reason_name(reason))}};
  auto recorder = record::Recorder::create(path, metadata);
  REQUIRE(recorder);
  for (int i = 0; i < 4; ++i) {
    record::Cycle cycle;
    cycle.time = Time(std::chrono::milliseconds(i));
    cycle.robot_state = i < 2 ? 1 : 3;
    cycle.reason = i < 2 ? std::uint16_t{0} : static_cast<std::uint16_t>(reason);
    (*recorder)->loop().cycle(cycle, [](std::size_t) { return record::JointSample{}; });
  }
  record::GoalEvent event;
  event.at = Time(std::chrono::milliseconds(2));
  event.goal = 7;
  event.state = 4;
  event.reason = static_cast<std::uint16_t>(reason);
  event.value = 95;
  event.limit = 20;
  (*recorder)->loop().event(event);
  REQUIRE((*recorder)->finish());
}

}  // namespace

TEST_CASE("a reason names the joint that it is about, and none where it is about none") {
  const ScratchFolder folder;
  const std::string path = (folder / "r").string();
  const auto report = [&](motion::Errc reason) {
    write_stopped(path, reason);
    REQUIRE(make_report(path, folder / "out"));
    return nlohmann::json::parse(contents(folder / "out" / "summary.json"))["state_changes"].back()["joint"];
  };
  const auto page = [&] { return contents(folder / "out" / "index.html"); };

  CHECK(report(motion::Errc::loop_overrun) == "");
  CHECK(contents(folder / "out" / "events.csv").find(",aborted,loop_overrun,,0,95,20,") != std::string::npos);
  CHECK(contents(folder / "out" / "joints.csv").find(",stopped,loop_overrun,,0,") != std::string::npos);
  CHECK(page().find("(first") == std::string::npos);
  CHECK(page().find("(95, allowed 20)") != std::string::npos);

  CHECK(report(motion::Errc::following_error) == "first");
  CHECK(contents(folder / "out" / "events.csv").find(",aborted,following_error,first,") != std::string::npos);
  CHECK(contents(folder / "out" / "joints.csv").find(",stopped,following_error,first,0,") !=
        std::string::npos);
  CHECK(page().find("(first)") != std::string::npos);
}

TEST_CASE("a fault shows its reason, its joint, and the goal events of the seconds before it") {
  const ScratchFolder folder;
  const std::string path = (folder / "r").string();
  write_stopped(path, motion::Errc::following_error);
  auto data = read_report_data(path);
  REQUIRE(data);
  const std::string page = index_html(*data, {}, "", "");
  CHECK(page.find("0.002 s: stopped, following_error (first)") != std::string::npos);
  CHECK(page.find("<td>0.000</td><td class=\"text\">goal 7 aborted</td><td class=\"text\">following_error "
                  "first</td>") != std::string::npos);
  data->events[0].at = Time(std::chrono::seconds(1));  // after the fault
  CHECK(index_html(*data, {}, "", "").find("goal 7 aborted") == std::string::npos);
  data->state_changes.clear();
  CHECK(index_html(*data, {}, "", "").find("<h2>Why the robot") == std::string::npos);
}

TEST_CASE("a joint's figure shows position, velocity, effort and error with their limits, also as PDF") {
  const ScratchFolder folder;
  const std::string path = (folder / "recording").string();
  test::SyntheticOptions options;
  options.seconds = 12;
  options.limits.position_min = -0.1;  // close to the motion
  options.limits.position_max = 3;     // far from the motion
  options.limits.velocity = 0.8;
  options.limits.effort = 2.5;
  options.following_error = 0.05;
  options.effort = 2;
  test::write_synthetic(path, options);
  REQUIRE(make_report(path, folder / "out"));
  const std::string script = contents(folder / "out" / "plots" / "joint_00_WST.gp");
  for (const char* label : {"'position (°)'", "'velocity (°/s)'", "'effort (N m)'", "'error (°)'",
                            "'limits: -5.73, 171.9 ↑'", "'limits: ±45.84'", "'limits: ±2.5'"}) {
    CAPTURE(label);
    CHECK(script.find(label) != std::string::npos);
  }
  // Every label of a vertical axis is in the picture, for any width of its numbers.
  CHECK(script.find("set ylabel") == std::string::npos);
  if (have_gnuplot()) {
    CHECK(contents(folder / "out" / "plots" / "gnuplot.log") == "");
    CHECK(contents(folder / "out" / "plots" / "joint_00_WST.pdf").find("%PDF") == 0);
    CHECK(contents(folder / "out" / "index.html").find("<a href=\"plots/joint_00_WST.pdf\">") !=
          std::string::npos);
  }

  options.effort = 0;  // the drives report no effort
  test::write_synthetic(path, options);
  REQUIRE(make_report(path, folder / "out"));
  CHECK(contents(folder / "out" / "plots" / "joint_00_WST.gp").find("effort") == std::string::npos);
}

TEST_CASE("no curve begins before the drives have said where they stand") {
  const ScratchFolder folder;
  const std::string path = (folder / "recording").string();
  test::SyntheticOptions options;
  options.seconds = 12;
  test::write_synthetic(path, options);  // starts for 0.3 s
  const auto data = read_report_data(path);
  REQUIRE(data);
  const JointCurves& curves = data->curves[0];
  for (const Envelope* curve :
       {&curves.reference, &curves.measured, &curves.reference_velocity, &curves.measured_velocity}) {
    REQUIRE_FALSE(curve->points().empty());
    CHECK(curve->points().front().time >= 0.29);
  }
}

TEST_CASE("a Bode plot shows the response of a joint that was swept") {
  const ScratchFolder folder;
  record::Metadata metadata;
  metadata.period = Duration(1'000'000);
  metadata.joints = {"hip", "knee"};
  metadata.robot_states = {"ready"};
  auto recorder = record::Recorder::create((folder / "sweep.mcap").string(), metadata);
  REQUIRE(recorder);
  constexpr double seconds = 20;
  constexpr int delay = 4;  // cycles, and half the amplitude
  const auto swept = [](int k) {
    const double t = k * 1e-3;
    return k < 0 ? 0.0 : 0.1 * std::sin(2 * 3.14159265358979 * (0.5 * t + 20 * t * t / seconds));
  };
  for (int k = 0; k < static_cast<int>(seconds * 1000); ++k) {
    record::Cycle cycle;
    cycle.time = Time(Duration((k + 1) * 1'000'000LL));
    (*recorder)->loop().cycle(cycle, [&](std::size_t joint) {
      if (joint == 0) return record::JointSample{};
      return record::JointSample{.reference_position = swept(k), .measured_position = 0.5 * swept(k - delay)};
    });
    REQUIRE((*recorder)->drain());
  }
  REQUIRE((*recorder)->finish());

  const auto data = read_report_data((folder / "sweep.mcap").string(), "knee");
  REQUIRE(data);
  REQUIRE(data->bode);
  CHECK(data->bode->joint == 1);
  std::size_t checked = 0;
  for (const controllers::ResponsePoint& point : data->bode->points) {
    if (point.frequency < 1 || point.frequency > 30) continue;
    CAPTURE(point.frequency);
    CHECK(point.gain == doctest::Approx(-6.02).epsilon(0.02));
    CHECK(std::abs(point.phase + 360 * point.frequency * delay * 1e-3) < 1);
    ++checked;
  }
  CHECK(checked > 30);

  REQUIRE(make_report((folder / "sweep.mcap").string(), folder / "out", {.bode_joint = "knee"}));
  CHECK(contents(folder / "out/bode.csv").starts_with("frequency_hz,gain_db,phase_deg\n"));
  CHECK(contents(folder / "out/index.html").find("Bode plot of knee") != std::string::npos);
  CHECK(fs::file_size(folder / "out/plots/bode_knee.svg") > 1000);

  const auto unknown = read_report_data((folder / "sweep.mcap").string(), "ankle");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message.find("hip, knee") != std::string::npos);
  const auto still = read_report_data((folder / "sweep.mcap").string(), "hip");
  REQUIRE_FALSE(still);
  CHECK(still.error().message.find("--bode hip") == 0);
}
