#include "takt/controllers/bode.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <vector>

#include "support/random.hpp"
#include "takt/control/error.hpp"
#include "takt/control/generators.hpp"
#include "takt/controllers/error.hpp"

using namespace takt;
using namespace takt::controllers;

namespace {

constexpr double period = 0.001;
constexpr double pi = std::numbers::pi;

struct Plant {
  double frequency;  ///< Hz, undamped
  double damping;

  [[nodiscard]] std::complex<double> response(double f) const {
    const double w0 = 2 * pi * frequency;
    const std::complex<double> s(0, 2 * pi * f);
    return w0 * w0 / (s * s + 2 * damping * w0 * s + w0 * w0);
  }
};

struct Record {
  std::vector<double> input;
  std::vector<double> output;
};

/// The plant under a sweep, integrated by the method of Runge and Kutta with a tenth of the period.
Record swept(const Plant& plant, double first, double last, double duration, double noise = 0) {
  const auto sweep = control::SineSweep::make(1, first, last, duration).value();
  auto random = test::generator();
  const double w0 = 2 * pi * plant.frequency;
  const double h = period / 10;
  double x = 0;
  double v = 0;
  Record record;
  const auto slope = [&](double t, double position, double velocity) {
    return w0 * w0 * (sweep.at(t).position - position) - 2 * plant.damping * w0 * velocity;
  };
  const int samples = static_cast<int>(duration / period);
  for (int k = 0; k < samples; ++k) {
    const double t0 = k * period;
    record.input.push_back(sweep.at(t0).position);
    record.output.push_back(x + noise * test::uniform(random, -1, 1));
    for (int part = 0; part < 10; ++part) {
      const double t = t0 + part * h;
      const double a1 = slope(t, x, v);
      const double v2 = v + h / 2 * a1, a2 = slope(t + h / 2, x + h / 2 * v, v2);
      const double v3 = v + h / 2 * a2, a3 = slope(t + h / 2, x + h / 2 * v2, v3);
      const double v4 = v + h * a3, a4 = slope(t + h, x + h * v3, v4);
      x += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
      v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
  }
  return record;
}

struct Deviation {
  double gain = 0;   ///< dB, the greatest
  double phase = 0;  ///< deg
  std::size_t points = 0;
};

Deviation deviation_of(const std::vector<ResponsePoint>& points, const Plant& plant, double from, double to) {
  Deviation worst;
  for (const ResponsePoint& point : points) {
    if (point.frequency < from || point.frequency > to) continue;
    const auto is = plant.response(point.frequency);
    const double gain = 20 * std::log10(std::abs(is));
    const double phase = std::arg(is) * 180 / pi;
    worst.gain = std::max(worst.gain, std::abs(point.gain - gain));
    worst.phase = std::max(worst.phase, std::abs(std::remainder(point.phase - phase, 360)));
    ++worst.points;
  }
  return worst;
}

}  // namespace

TEST_CASE("the response of a known plant of second order is found from a sweep") {
  for (const Plant plant : {Plant{5, 0.7}, Plant{5, 0.1}, Plant{12, 0.3}}) {
    CAPTURE(plant.frequency);
    CAPTURE(plant.damping);
    const Record record = swept(plant, 0.5, 50, 30);
    const auto points = frequency_response(record.input, record.output, period);
    REQUIRE(points);
    const Deviation worst = deviation_of(*points, plant, 0.6, 42);
    MESSAGE("gain within " << worst.gain << " dB, phase within " << worst.phase << " deg");
    CHECK(worst.points > 70);
    CHECK(worst.gain < 0.2);
    CHECK(worst.phase < 3);
  }
}

TEST_CASE("noise in the output averages out") {
  const Plant plant{5, 0.3};
  const Record record = swept(plant, 0.5, 20, 30, 0.05);
  const auto points = frequency_response(record.input, record.output, period);
  REQUIRE(points);
  const Deviation worst = deviation_of(*points, plant, 0.6, 10);
  MESSAGE("gain within " << worst.gain << " dB, phase within " << worst.phase << " deg");
  CHECK(worst.gain < 0.5);
  CHECK(worst.phase < 5);
}

TEST_CASE("the phase continues beyond half a turn, for example with a delay") {
  const auto sweep = control::SineSweep::make(1, 1, 40, 20).value();
  Record record;
  for (int k = 0; k < 20000; ++k) {
    record.input.push_back(sweep.at(k * period).position);
    record.output.push_back(sweep.at((k - 50) * period).position);
  }
  const auto points = frequency_response(record.input, record.output, period);
  REQUIRE(points);
  for (const ResponsePoint& point : *points) {
    if (point.frequency > 1.2 && point.frequency < 34)
      CHECK(point.phase == doctest::Approx(-360 * 0.05 * point.frequency).epsilon(0.05));
  }
}

TEST_CASE("frequencies that the input does not have are left out") {
  const Record record = swept({5, 0.5}, 2, 8, 20);
  const auto points = frequency_response(record.input, record.output, period);
  REQUIRE(points);
  CHECK(points->front().frequency > 1);
  CHECK(points->back().frequency < 16);
}

TEST_CASE("a record without excitation, with NaN or of different lengths is refused") {
  const std::vector<double> rest(1000, 0.5);
  std::vector<double> bad = rest;
  bad[7] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> shorter(999, 0.5);
  CHECK(frequency_response(rest, rest, period).error() == controllers::Errc::bad_record);
  CHECK(frequency_response(rest, shorter, period).error() == controllers::Errc::bad_record);
  CHECK(frequency_response({}, {}, period).error() == controllers::Errc::bad_record);
  CHECK(frequency_response(bad, rest, period).error() == controllers::Errc::not_finite);
  CHECK(frequency_response(rest, bad, period).error() == controllers::Errc::not_finite);
  CHECK(frequency_response(rest, rest, 0).error() == control::Errc::bad_period);
}
