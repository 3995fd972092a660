#include "tools/report_live.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/report/scratch_folder.hpp"
#include "record/report/synthetic.hpp"
#include "support/random.hpp"
#include "takt/record/reader.hpp"
#include "tools/report_html.hpp"
#include "tools/report_plots.hpp"

using namespace takt;
using namespace takt::tools;

namespace {

ReportData read_synthetic(const test::SyntheticOptions& options) {
  std::string path = (std::filesystem::temp_directory_path() / "takt_live_XXXXXX").string();
  const int file = mkstemp(path.data());
  REQUIRE(file >= 0);
  close(file);
  test::write_synthetic(path, options);
  auto data = read_report_data(path);
  std::filesystem::remove(path);
  REQUIRE(data);
  return std::move(*data);
}

std::size_t count_of(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

template <class Float>
std::vector<double> numbers_in(const std::string& base64) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < base64.size() && base64[i] != '='; ++i) {
    word = word << 6 | static_cast<std::uint32_t>(digits.find(base64[i]));
    if (i % 4 > 0) bytes.push_back(static_cast<std::uint8_t>(word >> (6 - 2 * (i % 4))));
  }
  std::vector<Float> floats(bytes.size() / sizeof(Float));
  std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(Float));
  return {floats.begin(), floats.end()};
}

/// A curve in a page.
struct PageCurve {
  std::vector<double> times;
  std::vector<double> values;
};
PageCurve curve_in(const nlohmann::json& page, const std::string& stem, std::size_t panel,
                   std::size_t series) {
  const auto& table = page["figures"].at(stem)["panels"].at(panel)["tables"].at(0);
  return {numbers_in<double>(page["axes"].at(table["x"].get<std::size_t>())),
          numbers_in<float>(table["series"].at(series)["values"])};
}

/// The measured positions of a joint, in degrees, by their seconds.
std::map<double, float> measured_in(const std::string& path, std::size_t joint) {
  std::map<double, float> samples;
  auto reader = record::Reader::open(path);
  REQUIRE(reader);
  std::optional<Time> start;
  while (true) {
    const auto record = reader->next();
    REQUIRE(record);
    if (*record == nullptr) return samples;
    const auto* cycle = std::get_if<record::CycleRecord>(*record);
    if (cycle == nullptr) continue;
    if (!start) start = cycle->cycle.time;
    const double degrees_of = degrees.scale * cycle->joints[joint].measured_position;
    samples[to_seconds(cycle->cycle.time - *start)] = static_cast<float>(degrees_of);
  }
}

constexpr PlotLibrary planted{"planted_library();", ".planted {}"};

}  // namespace

TEST_CASE("curves with samples at equal times have points at equal times, and keep their peaks") {
  auto random = test::generator(1);
  for (int round = 0; round < 50; ++round) {
    Envelope one(16), other(16);
    double low = HUGE_VAL, high = -HUGE_VAL;
    const auto samples = test::uniform_int(random, 1, 300);
    for (std::int64_t i = 0; i < samples; ++i) {
      const double time = 0.1 * static_cast<double>(i);
      const double value = test::uniform(random, -1, 1);
      low = std::min(low, value);
      high = std::max(high, value);
      one.add(time, value);
      other.add(time, i % 3 == 0 ? std::nan("") : -value);
    }
    for (const bool coarse : {false, true}) {
      const auto a = coarse ? one.coarse(4).aligned_points() : one.aligned_points();
      const auto b = coarse ? other.coarse(4).aligned_points() : other.aligned_points();
      REQUIRE(a.size() == b.size());
      CHECK(a.size() <= (coarse ? 8 : 32));
      double least = HUGE_VAL, most = -HUGE_VAL;
      for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i].time == b[i].time);
        CHECK((i == 0 || a[i].time > a[i - 1].time));
        least = std::min(least, a[i].value);
        most = std::max(most, a[i].value);
      }
      CHECK(least == low);
      CHECK(most == high);
    }
  }
}

TEST_CASE("the plots have every joint, both histograms, the buses and the goals") {
  test::SyntheticOptions options;
  options.seconds = 12;
  const ReportData data = read_synthetic(options);
  const auto json = nlohmann::json::parse(live_json(data));
  CHECK(json["duration"].get<double>() == doctest::Approx(data.duration));
  CHECK(json["sections"].size() == 3);
  CHECK(json["goals"].size() == data.goals.size());
  std::size_t joints = 0;
  for (const auto& [stem, figure] : json["figures"].items()) {
    CHECK(is_live(data, stem));
    if (stem.starts_with("joint_")) ++joints;
    for (const auto& panel : figure.value("panels", nlohmann::json::array())) {
      const auto& table = panel["tables"][0];
      const auto x = json["axes"].at(table["x"].get<std::size_t>()).get<std::string>();
      for (const auto& series : table["series"]) {
        const auto values = series["values"].get<std::string>();
        CHECK(x.size() / 4 * 3 / 8 == values.size() / 4 * 3 / 4);  // as many values as times
      }
    }
  }
  CHECK(joints == data.metadata.joints.size());
  for (const char* stem : {"loop_lateness", "loop_busy", "bus_load", "goals"}) CHECK(is_live(data, stem));
  CHECK_FALSE(is_live(data, "closeup_01"));
}

TEST_CASE("a page has each sample around stops and goals, and the extremes of each bucket elsewhere") {
  const test::reports::ScratchFolder folder;
  const std::string path = (folder / "run.mcap").string();
  test::SyntheticOptions options;
  options.seconds = 300;
  options.joints = {"A", "B", "C"};
  test::write_synthetic(path, options);
  const auto data = read_report_data(path);
  REQUIRE(data);
  const auto page = nlohmann::json::parse(live_json(*data));
  const auto all = measured_in(path, 1);
  const PageCurve curve = curve_in(page, "joint_01_B", 0, 2);
  const auto& times = curve.times;
  const auto& values = curve.values;
  REQUIRE(page["figures"]["joint_01_B"]["panels"][0]["tables"][0]["series"][2]["label"] == "measured");
  REQUIRE(all.size() > 8 * JointCurves::default_buckets);
  REQUIRE(std::ranges::is_sorted(times, std::ranges::less_equal{}));

  const auto has_each_sample = [&](double begin, double end) {
    auto at = std::ranges::lower_bound(times, begin);
    for (auto sample = all.lower_bound(begin); sample != all.upper_bound(end); ++sample, ++at) {
      if (at == times.end() || *at != sample->first) return false;
      const double value = values[static_cast<std::size_t>(at - times.begin())];
      if (sample->first < 0.3) continue;  // at the start, positions are unknown
      if (value != sample->second) return false;
    }
    return true;
  };
  std::size_t stops = 0;
  for (std::size_t i = 0; i < data->state_changes.size(); ++i) {
    if (!data->is_stop(i)) continue;
    ++stops;
    CHECK(has_each_sample(data->state_changes[i].time - 2, data->state_changes[i].time + 2));
  }
  CHECK(stops == 1);
  REQUIRE(data->goals.size() == 4);
  for (const GoalRow& goal : data->goals) {
    CHECK(has_each_sample(goal.begin - 0.5, std::min(goal.begin + 5, goal.end + 0.5)));
    CHECK(has_each_sample(std::max(goal.end - 5, goal.begin - 0.5), goal.end + 0.5));
  }

  std::size_t buckets = 0;
  for (const auto& part : page["thinned"]) {
    CHECK(part["samples"].get<std::size_t>() > 1);
    auto at = std::ranges::lower_bound(times, part["begin"].get<double>()) - times.begin();
    const auto end = std::ranges::upper_bound(times, part["end"].get<double>()) - times.begin();
    for (; at + 1 < end; at += 2, ++buckets) {
      const auto i = static_cast<std::size_t>(at);
      if (times[i + 1] < 0.3) continue;
      float low = HUGE_VALF, high = -HUGE_VALF;
      for (auto sample = all.lower_bound(times[i]); sample != all.upper_bound(times[i + 1]); ++sample) {
        low = std::min(low, sample->second);
        high = std::max(high, sample->second);
      }
      REQUIRE(std::min(values[i], values[i + 1]) == low);
      REQUIRE(std::max(values[i], values[i + 1]) == high);
    }
  }
  CHECK(buckets > 1000);
}

TEST_CASE("a curve that is short has each sample, and nothing is marked as thinned") {
  test::SyntheticOptions options;
  options.seconds = 12;
  const auto page = nlohmann::json::parse(live_json(read_synthetic(options)));
  CHECK(page["thinned"].empty());
  CHECK(page["figures"]["bus_load"]["thinned"].empty());
  CHECK(curve_in(page, "joint_00_WST", 0, 0).times.size() == 2400);
}

TEST_CASE("ranges of cycles join where they touch, and what is too long for the rest is left out") {
  std::vector<double> times;
  for (int i = 0; i < 100; ++i) times.push_back(i);
  CycleRanges full(times, 20);
  full.add(10, 14);
  full.add(30, 32);
  full.add(12, 16);  // 2 more
  full.add(50, 90);  // too many
  full.add(17, 19);  // touches
  full.add(-5, -1);
  full.add(99.5, 200);
  full.add(98, 200);
  REQUIRE(full.ranges().size() == 3);
  CHECK((full.ranges()[0].first == 10 && full.ranges()[0].last == 20));
  CHECK((full.ranges()[1].first == 30 && full.ranges()[1].last == 33));
  CHECK((full.ranges()[2].first == 98 && full.ranges()[2].last == 100));
  full.add(0, 4);
  full.add(40, 40);  // there is no room
  CHECK(full.ranges().size() == 4);
  CHECK(full.ranges()[0].size() == 5);

  CycleRanges many(times, 1000);
  for (int i = 0; i < 50; ++i) many.add(2 * i, 2 * i);
  many.add(0, 99);
  REQUIRE(many.ranges().size() == 1);
  CHECK(many.ranges()[0].size() == 100);
}

TEST_CASE("the page of many stops and goals of a fast loop stays small") {
  test::SyntheticOptions options;
  options.seconds = 120;
  options.period = Duration(1'000'000);
  options.effort = 1;
  options.timing = false;
  for (int i = 0; i < 13; ++i) options.joints.push_back("X" + std::to_string(i));
  const ReportData data = read_synthetic(options);
  CHECK(live_json(data).size() < 20'000'000 + 300'000 * options.joints.size());
  std::size_t full = 0;
  for (const Stretch& stretch : data.stretches) {
    if (stretch.curves.front().measured.samples_per_bucket() == 1) full += stretch.cycles.size();
  }
  CHECK(full * options.joints.size() <= 300'000);
  CHECK(full > 4000);
}

TEST_CASE("names from outside end no script, and the page runs no script but its own") {
  test::SyntheticOptions options;
  options.seconds = 12;
  options.joints = {"</script><script>alert(1)</script>", "<!--<script>", "\"},{\"", "'\\u003c", "\xff"};
  options.section = "</script><img src=x onerror=alert(1)>";
  const ReportData data = read_synthetic(options);
  CHECK(live_json(data).find('<') == std::string::npos);
  CHECK(nlohmann::json::accept(live_json(data)));
  const std::string page = index_html(data, make_figures(data), "", "", planted);
  CHECK(count_of(page, "<script") == 3);  // the data, the library, the page's own
  CHECK(count_of(page, "</script") == 3);
  CHECK(page.find("<img") == std::string::npos);
  CHECK(page.find("default-src 'none'") != std::string::npos);
}

TEST_CASE("a page has a place for each plot, rows with times, and without the library no script") {
  test::SyntheticOptions options;
  options.seconds = 12;
  const ReportData data = read_synthetic(options);
  const std::string live = index_html(data, make_figures(data), "", "", planted);
  const auto figures = nlohmann::json::parse(live_json(data))["figures"];
  CHECK(count_of(live, "data-plot=\"") == figures.size());
  CHECK(count_of(live, "<tr data-time=\"") >= data.goals.size() + data.state_changes.size());
  CHECK(live.find("planted_library();") != std::string::npos);
  CHECK(live.find(".planted {}") != std::string::npos);

  const std::string still = index_html(data, make_figures(data), "", "");
  CHECK(still.find("<script") == std::string::npos);
  CHECK(still.find("data-plot=\"") == std::string::npos);
  CHECK(still.find("script-src") == std::string::npos);
}

TEST_CASE("the page of a long recording of many joints stays small") {
  test::SyntheticOptions options;
  options.seconds = 600;
  options.period = Duration(20'000'000);
  options.effort = 1;
  for (int i = 0; i < 6; ++i) options.joints.push_back("X" + std::to_string(i));
  const ReportData data = read_synthetic(options);
  CHECK(live_json(data).size() < 8'000'000);
}
