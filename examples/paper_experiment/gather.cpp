#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

#include "experiment.hpp"
#include "statistics.hpp"
#include "table.hpp"

namespace paper {
namespace {

using Json = nlohmann::ordered_json;

const std::string none = "–";
const std::string not_measured = "not measured";

Json read_json(const std::string& path) {
  Json json = Json::parse(read_file(path), nullptr, false);
  if (json.is_discarded()) give_up(path + " is not JSON");
  return json;
}

const Json& section(const Json& root, std::string_view name) {
  static const Json absent = Json::object();
  for (const Json& one : root.at("sections")) {
    if (one.at("name") == name) return one;
  }
  return absent;
}

/// A row of `cells`, which come from one section, except `there`. Says so if the section was not measured.
std::vector<std::string> section_row(std::string name, const Json& found, std::vector<std::string> cells,
                                     std::string there) {
  if (found.empty()) {
    std::fill(cells.begin(), cells.end(), none);
    cells.front() = not_measured;
  }
  cells.insert(cells.begin(), std::move(name));
  cells.push_back(std::move(there));
  return cells;
}

std::string number(const Json& value, double scale, int digits) {
  return value.is_number() ? fmt::format("{:.{}f}", value.get<double>() * scale, digits) : none;
}

/// p50, p99, p99.9 and max of an object with these members.
std::vector<std::string> quantile_cells(const Json& of, double scale, int digits) {
  std::vector<std::string> cells;
  for (const char* key : {"p50", "p99", "p99_9", "max"})
    cells.push_back(number(of.value(key, Json()), scale, digits));
  return cells;
}

// ---- contents of the files ----

struct Robot {
  std::string title;
  Json experiment;
  Json report;
};

struct Cyclictest {
  std::string scheduling;
  Json quantiles = Json::object();  ///< empty: cyclictest did not run
};

/// cyclictest's histogram: lines of "microseconds count", rounded down, after our own line with the
/// scheduling class.
Cyclictest read_cyclictest(const std::string& path) {
  Cyclictest result;
  std::istringstream text(read_file(path));
  std::map<int, std::size_t> counts;
  std::size_t total = 0;
  double max = 0;
  for (std::string line; std::getline(text, line);) {
    int microseconds = 0;
    std::size_t count = 0;
    if (line.rfind("# scheduling: ", 0) == 0) result.scheduling = line.substr(14);
    (void)std::sscanf(line.c_str(), "# Max Latencies: %lf", &max);
    if (std::sscanf(line.c_str(), "%d %zu", &microseconds, &count) != 2) continue;
    counts[microseconds] += count;
    total += count;
  }
  if (total == 0) return result;
  const auto percentile = [&](double part) {
    std::size_t seen = 0;
    for (const auto& [microseconds, count] : counts) {
      seen += count;
      if (static_cast<double>(seen) >= part * static_cast<double>(total)) return microseconds + 0.5;
    }
    return max;  // beyond the histogram
  };
  result.quantiles = {
      {"p50", percentile(0.5)}, {"p99", percentile(0.99)}, {"p99_9", percentile(0.999)}, {"max", max}};
  return result;
}

// ---- the parts of the table ----

Group requests(const std::vector<Robot>& robots) {
  Group group{"Requests", {"Hz", "sent", "answered", "accepted", "there"}, {}, ""};
  const auto add = [&](const Robot& robot, const std::string& name, const std::string& there) {
    const Json& books = section(robot.experiment, name);
    const auto count = [&](const char* key) { return books.value(key, std::size_t{0}); };
    const double percent = 100 * static_cast<double>(count("answered")) /
                           static_cast<double>(std::max<std::size_t>(count("sent"), 1));
    group.rows.push_back(section_row(
        fmt::format("{}: {}", robot.title, name), books,
        {number(books.value("rate_hz", Json()), 1, 0), fmt::format("{}", count("sent")),
         fmt::format("{} ({:.4g} %)", count("answered"), percent), fmt::format("{}", count("accepted"))},
        there));
  };
  add(robots[0], "200 Hz requests", "67 %");
  add(robots[0], "200 Hz stream", none);
  add(robots[1], "1 kHz requests", none);
  add(robots[1], "1 kHz stream", none);
  group.note = "Each request is a motion that preempts the one before it; a stream sends set-points.";
  return group;
}

Group latencies(const std::vector<Robot>& robots) {
  Group group{"Latency of a request (ms)", {"p50", "p99", "p99.9", "max", "there"}, {}, ""};
  for (const Robot& robot : robots) {
    const bool slow = &robot == robots.data();
    const Json& books = section(robot.experiment, slow ? "200 Hz requests" : "1 kHz requests");
    const auto add = [&](const std::string& what, const char* key, const std::string& there) {
      group.rows.push_back(section_row(fmt::format("{}: {} to first reference", robot.title, what), books,
                                       quantile_cells(books.value(key, Json::object()), 1e-3, 2), there));
    };
    add("hand-over", "handover_to_reference_us", slow ? "22, 27" : none);
    add("socket", "receive_to_reference_us", none);
  }
  group.note =
      "Of the requests at 200 Hz and 1 kHz. Hand-over: the request has entered the loop's queue; socket: its "
      "last byte has "
      "arrived. A request waits for the next period, 5 ms and 1 ms here.";
  return group;
}

Group lateness(const std::vector<Robot>& robots, const Cyclictest& cyclictest) {
  Group group{"Lateness of the loop (µs)", {"p50", "p99", "p99.9", "max", "missed"}, {}, ""};
  for (const Robot& robot : robots) {
    const Json& loop = robot.report.at("loop");
    const Json& found = robot.report.at("whole").at("lateness_us");
    group.rows.push_back(section_row(robot.title, found, quantile_cells(found, 1, 1),
                                     fmt::format("{} of {}", loop.at("overruns").get<std::size_t>(),
                                                 loop.at("cycles").get<std::size_t>())));
  }
  group.rows.push_back(section_row("cyclictest, 1 kHz", cyclictest.quantiles,
                                   quantile_cells(cyclictest.quantiles, 1, 1), none));
  group.note = fmt::format(
      "From when the loop was to wake until it did, at the same scheduling class ({}). takt sleeps and then "
      "spins over the "
      "last microseconds, cyclictest sleeps; what both show at p99.9 and beyond is the machine.",
      cyclictest.scheduling);
  return group;
}

/// The report's numbers of the section that the experiment measured. Interrupted tries have sections of their
/// own.
const Json& waist(const Robot& robot, std::string_view way) {
  static const Json absent = Json::object();
  const Json& measured = section(robot.experiment, way);
  if (measured.empty()) return absent;
  const Json& found = section(robot.report, measured.at("mark").get<std::string>());
  if (found.empty()) return absent;
  for (const Json& joint : found.at("tracking").at("joints")) {
    if (joint.at("joint") == "WST") return joint;
  }
  return absent;
}

Group tracking(const Robot& robot) {
  Group group{"Tracking error, half a turn in 5 s (degrees)",
              {"std", "max", "delay (ms)", "residual std", "there"},
              {},
              ""};
  const auto add = [&](const std::string& title, std::string_view way, const std::string& there) {
    const Json& joint = waist(robot, way);
    const Json error = joint.value("command_minus_measured_deg", Json::object());
    group.rows.push_back(section_row(
        title, joint,
        {number(error.value("std", Json()), 1, 3), number(error.value("max", Json()), 1, 3),
         number(joint.value("lag_ms", Json()), 1, 1), number(joint.value("residual_std_deg", Json()), 1, 3)},
        there));
  };
  add("10 Hz stream, held", ways[0], "1.520");
  add("200 Hz stream, interpolated by the client", ways[1], "0.039");
  add("one trajectory, interpolated by takt", ways[2], "0.061");
  group.note =
      "Command − measured of the waist joint. It contains the way to the drive and back, a pure delay of "
      "about 9 ms (the boards "
      "interpolate over one 5 ms period and answer with the encoder of the cycle before), which at 67 "
      "degrees/s is 0.6 degrees; "
      "a held 10 Hz stream is late by its own period besides. Residual: what is left once the fitted delay "
      "is taken out. "
      "Simulated joints are rigid: a real one leaves more.";
  return group;
}

Group buses(const std::vector<Robot>& robots) {
  Group group{"Bus load (%)",
              {"mean", "max", "frames", "refused"},
              {},
              "From the bits of the real frames, stuffing included."};
  for (const Robot& robot : robots) {
    for (const Json& bus : robot.report.at("buses")) {
      group.rows.push_back({fmt::format("{}: {}", robot.title, bus.at("bus").get<std::string>()),
                            number(bus.at("load_mean"), 100, 1), number(bus.at("load_max"), 100, 1),
                            number(bus.at("frames"), 1, 0), number(bus.at("refused"), 1, 0)});
    }
  }
  return group;
}

Group virtual_time(const Json& runs) {
  Group group{"Virtual time", {"robot time (s)", "times faster", "recordings"}, {}, ""};
  for (const Json& run : runs) {
    group.rows.push_back({run.at("robot").get<std::string>(), number(run.at("simulated_s"), 1, 1),
                          number(run.at("times_faster"), 1, 0),
                          run.at("identical").get<bool>() ? "identical" : "DIFFERENT"});
  }
  group.note =
      "The same loop on a clock that it moves itself, recording included; the recordings are compared byte "
      "by byte.";
  return group;
}

// ---- the verdict ----

/// The names of the repeated sections, each once.
std::vector<std::string> repeats_of(const std::vector<Robot>& robots) {
  std::vector<std::string> repeats;
  for (const Robot& robot : robots) {
    std::map<std::string, std::vector<std::string>> reasons;
    for (const Json& pause : robot.experiment.at("pauses"))
      reasons[pause.at("section").get<std::string>()].push_back(pause.at("why").get<std::string>());
    for (const auto& [name, why] : reasons) {
      if (section(robot.experiment, name).empty()) continue;  // reported there as a mistake
      repeats.push_back(
          fmt::format("{}, {}: repeated {}, because a pause of the machine hit it ({})", robot.title, name,
                      why.size() == 1 ? "once" : fmt::format("{} times", why.size()), why.back()));
    }
  }
  return repeats;
}

std::vector<std::string> mistakes_of(const std::vector<Robot>& robots, const Json& virtual_runs) {
  std::vector<std::string> mistakes;
  for (const Robot& robot : robots) {
    if (const auto lost = robot.experiment.at("lost").get<std::size_t>(); lost > 0)
      mistakes.push_back(fmt::format("{}: {} requests were never answered", robot.title, lost));
    if (const Json& hit = robot.experiment.at("not_measured"); !hit.is_null()) {
      mistakes.push_back(
          fmt::format("{}, {}: not measured, nor what follows: pauses of the machine hit all of its tries; "
                      "in the last one {}",
                      robot.title, hit.at("section").get<std::string>(), hit.at("why").get<std::string>()));
    }
    for (const Json& step : robot.experiment.at("steps")) {
      if (step.at("as_expected").get<bool>()) continue;
      mistakes.push_back(
          fmt::format("{}, {}, {}: expected {}, but {}", robot.title, step.at("section").get<std::string>(),
                      step.at("step").get<std::string>(), step.at("expected").get<std::string>(),
                      step.at("outcome").get<std::string>()));
    }
    if (robot.report.at("recording").at("records_dropped") != 0)
      mistakes.push_back(robot.title + ": the recording has gaps");
  }
  for (const Json& run : virtual_runs) {
    if (!run.at("identical").get<bool>())
      mistakes.push_back(run.at("robot").get<std::string>() + ": two runs in virtual time differ");
  }
  return mistakes;
}

Json summary_of(const std::vector<Robot>& robots, const Cyclictest& cyclictest, const Json& virtual_runs,
                const std::vector<std::string>& mistakes) {
  Json tracking = Json::object();
  for (const std::string_view way : ways) tracking[std::string(way)] = waist(robots[0], way);
  Json by_robot = Json::object();
  for (const Robot& robot : robots) {
    by_robot[robot.report.at("robot").get<std::string>()] = {
        {"experiment", robot.experiment},
        {"loop", robot.report.at("loop")},
        {"lateness_us", robot.report.at("whole").at("lateness_us")},
        {"buses", robot.report.at("buses")}};
  }
  return {{"as_expected", mistakes.empty()},
          {"mistakes", mistakes},
          {"repeats", repeats_of(robots)},
          {"takt_version", robots[0].report.at("takt_version")},
          {"robots", std::move(by_robot)},
          {"waist_tracking", std::move(tracking)},
          {"cyclictest", {{"scheduling", cyclictest.scheduling}, {"lateness_us", cyclictest.quantiles}}},
          {"virtual_time", virtual_runs},
          {"paper",
           {{"answered_at_200_hz", 0.67},
            {"request_to_reference_ms", {22, 27}},
            {"tracking_std_deg",
             {{"10 Hz stream held", 1.520}, {"200 Hz stream", 0.039}, {"one trajectory", 0.061}}}}}};
}

}  // namespace

Findings gather(const std::string& directory) {
  std::vector<Robot> robots;
  for (const auto& [name, title] : {std::pair{"mhubo", "M-Hubo"}, std::pair{"arm6", "6-joint arm"}}) {
    const std::string stem = directory + "/" + name;
    robots.push_back({title, read_json(stem + ".json"), read_json(stem + "/summary.json")});
  }
  const Cyclictest cyclictest = read_cyclictest(directory + "/cyclictest.txt");
  const Json virtual_runs = read_json(directory + "/virtual.json");

  Findings findings;
  findings.groups = {requests(robots),    latencies(robots), lateness(robots, cyclictest),
                     tracking(robots[0]), buses(robots),     virtual_time(virtual_runs)};
  findings.repeats = repeats_of(robots);
  findings.mistakes = mistakes_of(robots, virtual_runs);
  findings.summary = summary_of(robots, cyclictest, virtual_runs, findings.mistakes);
  return findings;
}

}  // namespace paper
