#include "takt/controllers/sine_sweep.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "controllers/controller_rig.hpp"
#include "takt/controllers/bode.hpp"

using namespace takt;
using namespace takt::controllers;
using namespace takt::test;

namespace {

struct SweepRig : ControllerRig {
  explicit SweepRig(std::vector<component::Assignment> parameters) : ControllerRig(rig_robot({"a"})) {
    parameters.push_back({"joint", "a"});
    drives.feedback[0].position = 2;
    REQUIRE(load(std::make_shared<SineSweepController>("sweep"), parameters) == "");
    make_ready();
  }
};

}  // namespace

TEST_CASE("a sweep of positions is around the position of its activation, and ends by itself") {
  SweepRig rig({{"amplitude", 0.1}, {"first", 1.0}, {"last", 5.0}, {"duration", 2.0}});
  REQUIRE(rig.change({"sweep"}) == "");
  double low = 2;
  double high = 2;
  rig.run(1900, [&](int) {
    low = std::min(low, rig.drives.feedback[0].position);
    high = std::max(high, rig.drives.feedback[0].position);
  });
  CHECK(low == doctest::Approx(1.9).epsilon(5e-3));
  CHECK(high == doctest::Approx(2.1).epsilon(5e-3));
  CHECK(rig.state("sweep/progress") < 1);
  rig.run(500);
  CHECK(rig.state("sweep/progress") == 1);
  CHECK(rig.drives.feedback[0].velocity == 0);
  CHECK(std::abs(rig.drives.feedback[0].position - 2) < 0.15);
  CHECK(rig.status("sweep").state == robot::ControllerState::inactive);
  REQUIRE(rig.change({"sweep"}) == "");
  rig.run(100);
  CHECK(rig.state("sweep/progress") == doctest::Approx(0.05).epsilon(0.02));
}

TEST_CASE("a sweep that would leave the joint's limits is refused at its activation") {
  const std::vector<std::vector<component::Assignment>> beyond = {
      {{"amplitude", 8.5}, {"last", 0.5}},                           // position, from 2 rad
      {{"amplitude", 1.0}, {"last", 4.0}},                           // velocity 25 rad/s
      {{"amplitude", 0.06}, {"last", 10.0}},                         // acceleration 237 rad/s^2
      {{"mode", "velocity"}, {"amplitude", 21.0}, {"first", 2.0}},   // velocity
      {{"mode", "velocity"}, {"amplitude", 19.0}, {"last", 0.5}},    // position
      {{"mode", "velocity"}, {"amplitude", 2.0}, {"last", 20.0}},    // acceleration 251 rad/s^2
      {{"mode", "effort"}, {"amplitude", 30.0}, {"offset", 21.0}}};  // effort
  for (std::size_t i = 0; i < beyond.size(); ++i) {
    CAPTURE(i);
    SweepRig rig(beyond[i]);
    CHECK(rig.change({"sweep"}).find("could not be activated") != std::string::npos);
    rig.run(10);
    CHECK(rig.drives.feedback[0].position == doctest::Approx(2));
  }
}

TEST_CASE("bad numbers make no sweep") {
  SineSweepController sweep("sweep");
  CHECK_FALSE(sweep.parameters().set("first", 0.0, "test"));
  CHECK_FALSE(sweep.parameters().set("duration", -1.0, "test"));
  CHECK_FALSE(sweep.parameters().set("amplitude", -1.0, "test"));
}

TEST_CASE("the recorded states of a sweep of efforts give the response of the joint") {
  SweepRig rig({{"mode", "effort"}, {"amplitude", 0.5}, {"first", 0.5}, {"last", 20.0}, {"duration", 20.0}});
  rig.drives.friction = 2;
  REQUIRE(rig.change({"sweep"}) == "");
  std::vector<double> input;
  std::vector<double> output;
  rig.run(20000, [&](int) {
    input.push_back(rig.drives.commands[0].effort);
    output.push_back(rig.drives.feedback[0].velocity);
  });
  // In the rig, the velocity of a cycle answers the command of the cycle before.
  input.erase(input.end() - 1);
  output.erase(output.begin());
  const auto points = frequency_response(input, output, to_seconds(rig_period));
  REQUIRE(points);
  for (const ResponsePoint& point : *points) {
    if (point.frequency < 0.6 || point.frequency > 15) continue;
    const std::complex<double> s(0, 2 * std::numbers::pi * point.frequency);
    const std::complex<double> is = 1.0 / (0.1 * s + 2.0);
    CHECK(point.gain == doctest::Approx(20 * std::log10(std::abs(is))).epsilon(0.02));
    CHECK(std::abs(point.phase - std::arg(is) * 180 / std::numbers::pi) < 4);
  }
}

TEST_CASE("the states excitation and response follow the drive") {
  SweepRig rig({{"amplitude", 0.1}, {"first", 2.0}, {"last", 2.0}, {"duration", 5.0}});
  REQUIRE(rig.change({"sweep"}) == "");
  rig.run(437);
  CHECK(rig.state("sweep/response") == rig.drives.feedback[0].position);
  CHECK(rig.state("sweep/excitation") == doctest::Approx(rig.state("sweep/response")));
}
