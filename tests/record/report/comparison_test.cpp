#include "tools/report_comparison.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "record/report/scratch_folder.hpp"
#include "record/report/synthetic.hpp"
#include "tools/report.hpp"

using namespace takt;
using namespace takt::tools;
using namespace takt::test::reports;

TEST_CASE("two recordings are compared joint by joint and section by section, in numbers and curves") {
  const ScratchFolder folder;
  const std::string path = (folder / "recording").string();
  const std::string other = (folder / "<other>").string();
  test::SyntheticOptions options;
  options.seconds = 12;
  options.joints = {"hip", "knee", "new"};
  test::write_synthetic(path, options);
  options.seconds = 15;
  options.joints = {"knee", "hip", "old"};
  options.section = "another section";
  test::write_synthetic(other, options);
  auto data = read_report_data(path);
  auto there = read_report_data(other);
  REQUIRE((data && there));
  CHECK(compared_numbers(*data).empty());
  data->against = Against{other, std::make_shared<const ReportData>(*there)};
  const auto numbers = compared_numbers(*data);
  const auto row = [&](const std::string& name) {
    const auto found = std::find_if(numbers.begin(), numbers.end(),
                                    [&](const ComparedNumber& one) { return one.name == name; });
    return found == numbers.end() ? std::optional<ComparedNumber>() : *found;
  };
  REQUIRE(row("duration"));
  CHECK(row("duration")->here == data->duration);
  CHECK(row("duration")->there == there->duration);
  REQUIRE(row("knee: tracking error, std"));
  CHECK(row("knee: tracking error, std")->here == data->whole.joints[1].reference_error.deviation());
  CHECK(row("knee: tracking error, std")->there == there->whole.joints[0].reference_error.deviation());
  CHECK_FALSE(row("new: tracking error, std"));
  CHECK_FALSE(row("old: tracking error, std"));
  CHECK(row("one trajectory: tracking error, max"));
  CHECK_FALSE(row("10 Hz stream: tracking error, max"));

  REQUIRE(make_report(path, folder / "out", {.against = RecordingPlace(other)}));
  const std::string page = contents(folder / "out" / "index.html");
  CHECK(page.find("Compared with") != std::string::npos);
  CHECK(page.find("<other>") == std::string::npos);
  CHECK(contents(folder / "out" / "summary.json").find("\"against\"") != std::string::npos);
  const std::string knee = contents(folder / "out" / "plots" / "joint_01_knee.gp");
  CHECK(knee.find("$other_measured << EOD") != std::string::npos);
  CHECK(knee.find("'other recording'") != std::string::npos);
  const std::string lone = contents(folder / "out" / "plots" / "joint_02_new.gp");
  CHECK(lone.find("other_measured") == std::string::npos);
  if (have_gnuplot()) CHECK(contents(folder / "out" / "plots" / "gnuplot.log") == "");

  const auto missing = make_report(path, folder / "out", {.against = RecordingPlace("/no/file")});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("/no/file") != std::string::npos);
}
