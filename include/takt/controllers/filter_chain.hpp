// Chains of filters that a text describes: "low_pass:30, notch:50:4, rate:2".
//
//   low_pass:F        first order, cut-off F in Hz
//   low_pass2:F[:Q]   second order, quality Q (1/sqrt(2) without it)
//   high_pass:F[:Q]   second order
//   band_pass:F[:Q]   second order, centre F
//   notch:F[:Q]       second order, removes F
//   rate:R            limits the change to R units per second
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <variant>

#include "takt/control/biquad.hpp"
#include "takt/control/low_pass.hpp"
#include "takt/control/rate_limiter.hpp"
#include "takt/control/step.hpp"
#include "takt/core/error.hpp"

namespace takt::controllers {

/// Several filters in series. A value; every function is real-time safe.
class TextFilters {
 public:
  /// The most filters of a chain.
  static constexpr std::size_t most = 8;

  /// No filter: samples pass unchanged.
  TextFilters() = default;

  /// Reads the description, for samples with this period (s). An empty text gives no filter. Errors:
  /// bad_filters (another text, more than 8 filters); those of control::LowPass, Biquad and RateLimiter, such
  /// as a frequency above half the sampling rate.
  [[nodiscard]] static Result<TextFilters> read(std::string_view text, double period) noexcept;

  /// Filters one sample. The first one passes unchanged where the filter lets constants pass. Errors:
  /// not_finite: the sample is ignored, and the value is the last one.
  control::Step step(double sample) noexcept;
  /// The next sample counts as the first again.
  void reset() noexcept { started_ = false; }

 private:
  using Filter = std::variant<control::Biquad, control::LowPass, control::RateLimiter>;

  [[nodiscard]] static Result<Filter> read_one(std::string_view text, double period) noexcept;

  std::array<Filter, most> filters_{};
  std::size_t count_ = 0;
  double period_ = 0;
  double value_ = 0;
  bool started_ = false;
};

}  // namespace takt::controllers
