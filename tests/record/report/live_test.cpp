#include "tools/report_live.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "record/report/synthetic.hpp"
#include "support/random.hpp"
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
      const auto x = table["x"].get<std::string>();
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
