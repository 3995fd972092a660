#include "takt/controllers/bode.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <iterator>
#include <numbers>

#include "takt/control/error.hpp"
#include "takt/controllers/error.hpp"
#include "takt/core/period.hpp"

namespace takt::controllers {
namespace {

constexpr std::size_t fewest_samples = 64;
constexpr double points_per_octave = 12;
constexpr double periods_per_window = 48;
constexpr double fewest_periods = 4;                ///< of the lowest frequency, in the record
constexpr double highest_share = 0.4;               ///< of the sampling rate
constexpr double lowest_power = 1e-3;               ///< of the greatest, below which a frequency is left out
constexpr std::ptrdiff_t windows_side_by_side = 4;  ///< each sample is in so many

/// The sums at one frequency.
struct Sums {
  std::complex<double> cross;
  double power = 0;  ///< of the input
  /// Its mean in windows without an overhang: the ends of a record have all frequencies.
  double inner_power = 0;
};

/// The mean of a record. Drives stand at some position: it is no vibration.
[[nodiscard]] double mean_of(std::span<const double> record) {
  double sum = 0;
  for (const double sample : record) sum += sample;
  return sum / static_cast<double>(record.size());
}

/// The Hann window of this length times the wave of the transform.
[[nodiscard]] std::vector<std::complex<double>> windowed_wave(double turn, std::size_t length) {
  std::vector<std::complex<double>> wave(length);
  for (std::size_t k = 0; k < length; ++k) {
    const double at = static_cast<double>(k);
    const double share = (at + 0.5) / static_cast<double>(length);
    const double weight = 1 - std::cos(2 * std::numbers::pi * share);
    wave[k] = std::polar(weight / static_cast<double>(length), -2 * std::numbers::pi * turn * at);
  }
  return wave;
}

/// One bin of the transform, of the window that begins at this sample. It may overhang both ends of the
/// record, where there is nothing.
[[nodiscard]] std::complex<double> bin_of(std::span<const double> record, double mean, std::ptrdiff_t begin,
                                          std::span<const std::complex<double>> wave) {
  const auto end = std::min(std::ssize(wave), std::ssize(record) - begin);
  std::complex<double> sum;
  for (std::ptrdiff_t k = std::max<std::ptrdiff_t>(-begin, 0); k < end; ++k) {
    const auto at = static_cast<std::size_t>(k);
    sum += (record[static_cast<std::size_t>(begin + k)] - mean) * wave[at];
  }
  return sum;
}

/// `turn`: periods of the frequency in a sample.
[[nodiscard]] Sums sums_at(double turn, std::span<const double> input, std::span<const double> output) {
  const double x_mean = mean_of(input);
  const double y_mean = mean_of(output);
  const double wanted = std::ceil(periods_per_window / turn);
  const std::ptrdiff_t samples = std::ssize(input);
  const std::ptrdiff_t length =
      wanted < static_cast<double>(samples) ? static_cast<std::ptrdiff_t>(wanted) : samples;
  const std::ptrdiff_t stride = std::max<std::ptrdiff_t>(length / windows_side_by_side, 1);
  const auto wave = windowed_wave(turn, static_cast<std::size_t>(length));
  Sums sums;
  double windows = 0;
  // Each sample, also the first and the last, has its part in as many windows.
  for (std::ptrdiff_t begin = (1 - windows_side_by_side) * stride; begin < samples; begin += stride) {
    const std::complex<double> x = bin_of(input, x_mean, begin, wave);
    const std::complex<double> y = bin_of(output, y_mean, begin, wave);
    sums.cross += y * std::conj(x);
    sums.power += std::norm(x);
    if (begin < 0 || begin + length > samples) continue;
    sums.inner_power += std::norm(x);
    windows += 1;
  }
  sums.inner_power /= windows;
  return sums;
}

[[nodiscard]] Status check(std::span<const double> input, std::span<const double> output, double period) {
  if (!is_period(period)) return takt::fail(control::Errc::bad_period);
  if (input.size() != output.size() || input.size() < fewest_samples) return takt::fail(Errc::bad_record);
  for (const std::span<const double> record : {input, output}) {
    if (!std::ranges::all_of(record, [](double sample) { return std::isfinite(sample); }))
      return takt::fail(Errc::not_finite);
  }
  return {};
}

}  // namespace

Result<std::vector<ResponsePoint>> frequency_response(std::span<const double> input,
                                                      std::span<const double> output, double period) {
  if (const Status status = check(input, output, period); !status) return takt::fail(status.error());
  const double lowest = fewest_periods / static_cast<double>(input.size());  // turns per sample
  const double ratio = std::exp2(1 / points_per_octave);
  std::vector<ResponsePoint> points;
  std::vector<double> powers;
  for (double turn = lowest; turn <= highest_share; turn *= ratio) {
    const Sums sums = sums_at(turn, input, output);
    const std::complex<double> response = sums.cross / sums.power;
    powers.push_back(sums.inner_power);
    points.push_back(
        {turn / period, 20 * std::log10(std::abs(response)), std::arg(response) * 180 / std::numbers::pi});
  }
  const double greatest = *std::ranges::max_element(powers);
  if (!(greatest > 0) || !std::isfinite(greatest)) return takt::fail(Errc::bad_record);
  std::vector<ResponsePoint> kept;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (powers[i] < lowest_power * greatest) continue;
    ResponsePoint point = points[i];
    if (!kept.empty()) point.phase += 360 * std::round((kept.back().phase - point.phase) / 360);
    kept.push_back(point);
  }
  return kept;
}

}  // namespace takt::controllers
