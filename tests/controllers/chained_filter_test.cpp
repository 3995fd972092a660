#include "takt/controllers/chained_filter.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>

#include "controllers/controller_rig.hpp"
#include "takt/controllers/forward.hpp"

using namespace takt;
using namespace takt::controllers;
using namespace takt::test;

namespace {

constexpr double period = 0.001;

/// The greatest output for a sine of amplitude 1 with this frequency, once the filters have settled.
double gain_at(TextFilters filters, double frequency) {
  double most = 0;
  for (int k = 0; k < 20000; ++k) {
    const auto step = filters.step(std::sin(2 * std::numbers::pi * frequency * k * period));
    if (k > 15000) most = std::max(most, std::abs(step.value));
  }
  return most;
}

}  // namespace

TEST_CASE("a text makes a chain of filters") {
  const auto read = [](std::string_view text) { return TextFilters::read(text, period); };
  CHECK(gain_at(read("").value(), 80) == doctest::Approx(1).epsilon(0.01));
  CHECK(gain_at(read("low_pass:30").value(), 30) == doctest::Approx(0.707).epsilon(0.1));
  CHECK(gain_at(read("low_pass2:30").value(), 30) == doctest::Approx(0.707).epsilon(0.01));
  CHECK(gain_at(read("high_pass:30").value(), 3) < 0.02);
  CHECK(gain_at(read("band_pass:30:2").value(), 30) == doctest::Approx(1).epsilon(0.01));
  CHECK(gain_at(read(" low_pass2:200 , notch:50:4").value(), 50) < 0.01);
  CHECK(gain_at(read("rate:2").value(), 10) < 0.1);
}

TEST_CASE("the first sample passes, and a sample that is NaN is ignored") {
  TextFilters filters = TextFilters::read("low_pass:5, notch:50, rate:1", period).value();
  CHECK(filters.step(7).value == doctest::Approx(7));
  const auto bad = filters.step(std::numeric_limits<double>::quiet_NaN());
  CHECK_FALSE(bad.ok());
  CHECK(bad.value == doctest::Approx(7));
  CHECK(filters.step(8).value < 7.01);
  filters.reset();
  CHECK(filters.step(8).value == doctest::Approx(8));
}

TEST_CASE("texts that describe no filters are refused") {
  for (const char* bad :
       {"low_pass", "low_pass:", "low_pass:x", "low_pass:3:1", "what:3", ":", ",", "notch:1:2:3",
        "low_pass:5,,notch:3", "low_pass:nan", "low_pass:-1", "low_pass2:500", "rate:0", "notch:0",
        "rate:1,rate:1,rate:1,rate:1,rate:1,rate:1,rate:1,rate:1,rate:1"})
    CHECK_MESSAGE(!TextFilters::read(bad, period), bad);
}

TEST_CASE("a measured state is filtered, and published") {
  ControllerRig rig(rig_robot({"a"}));
  auto filter = std::make_shared<ChainedFilter>("smooth");
  REQUIRE(rig.load(filter, {{"source", "a/position"}, {"filters", "low_pass:1"}}) == "");
  REQUIRE(rig.change({"smooth"}) == "");
  rig.make_ready();
  CHECK(rig.state("smooth/filtered") == 0);
  rig.run(159, [&](int) { rig.drives.commands[0].position = 1; });  // about one time constant
  CHECK(rig.state("smooth/filtered") == doctest::Approx(1 - std::exp(-1)).epsilon(0.02));
  CHECK(filter->parameters().set("filters", "", "test"));
  rig.run(1, [&](int) { rig.drives.commands[0].position = 0.5; });
  CHECK(rig.state("smooth/filtered") == 0.5);
  const auto refused = filter->parameters().set("filters", "low_pass2:600", "test");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error == controllers::Errc::bad_filters);
}

TEST_CASE("a filter between two controllers smooths the command") {
  ControllerRig rig(rig_robot({"a"}));
  REQUIRE(rig.load(std::make_shared<ForwardController>("forward"), {{"joints", "a"}, {"mode", "velocity"}}) ==
          "");
  REQUIRE(rig.load(std::make_shared<ChainedFilter>("smooth"),
                   {{"filters", "rate:1"}, {"target", "forward/a"}}) == "");
  REQUIRE(rig.change({"forward", "smooth"}) == "");
  rig.make_ready();
  rig.run(10);
  CHECK(rig.drives.feedback[0].velocity == 0);  // nothing drives the input
  REQUIRE(rig.load(std::make_shared<ChainedFilter>("first"),
                   {{"source", "a/effort"}, {"target", "smooth/input"}}) == "");
  REQUIRE(rig.change({"first"}) == "");
  rig.run(1);
  rig.run(1000, [&](int) { rig.drives.feedback[0].effort = 3; });
  CHECK(rig.drives.feedback[0].velocity == doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("a state that is NaN is ignored and counted") {
  struct Gauge final : robot::Device {
    Gauge() : Device(Sender<double>::about, "gauge") {}
    SetupResult<void> on_declare(robot::Declarations& declarations) override {
      return declarations.state("gauge/level", "m", level);
    }
    double level = 2;
  };
  Gauge gauge;
  ControllerRig rig(rig_robot({"a"}));
  REQUIRE(rig.manager.add(gauge));
  REQUIRE(rig.load(std::make_shared<ChainedFilter>("smooth"),
                   {{"source", "gauge/level"}, {"filters", "low_pass:1"}}) == "");
  REQUIRE(rig.change({"smooth"}) == "");
  rig.make_ready();
  gauge.level = std::numeric_limits<double>::infinity();
  rig.run(5);
  CHECK(rig.state("smooth/filtered") == doctest::Approx(2));
  CHECK(rig.state("smooth/rejected") == 5);
  CHECK(rig.status("smooth").state == robot::ControllerState::active);
}
