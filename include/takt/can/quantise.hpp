// From a physical number to the integer that stands in a frame: rounding and overflow, once for all codecs.
// Rounding is to the nearest, ties away from zero (a positive and a negative number of equal size give the
// same magnitude), never truncation: decode, encode, decode gives the same number again. Real-time safe and
// usable in constant expressions.
#pragma once

#include <cstdint>

#include "takt/can/error.hpp"

namespace takt::can {

/// What happens to a number that is too large for its field. A number that is not finite is always an error.
enum class Overflow : std::uint8_t {
  error,  ///< Errc::out_of_range
  clamp,  ///< the nearest number that fits
  wrap,   ///< the low bits of the rounded number, if that fits 64 bits; otherwise Errc::out_of_range
};

[[nodiscard]] constexpr bool is_finite(double value) noexcept {
  return value - value == 0;  // std::isfinite is not constexpr in C++20
}

/// The nearest integer, ties away from zero. `value` must be finite and of magnitude below 2^63.
[[nodiscard]] constexpr std::int64_t round_half_away(double value) noexcept {
  const auto whole = static_cast<std::int64_t>(value);
  // The subtraction is exact, and so is doubling: adding 0.5 before truncating would not be.
  return whole + static_cast<std::int64_t>(2 * (value - static_cast<double>(whole)));
}

/// The integer within low..high that is nearest to a finite number. |low|, |high| must be below 2^53.
[[nodiscard]] constexpr std::int64_t round_clamped(double value, std::int64_t low,
                                                   std::int64_t high) noexcept {
  const auto least = static_cast<double>(low);
  const auto most = static_cast<double>(high);
  // In this form, unlike std::clamp, each comparison is one instruction without a branch.
  const double above = value < least ? least : value;
  return round_half_away(most < above ? most : above);
}

/// As round_clamped(), for numbers from outside. Error: not_finite.
[[nodiscard]] constexpr Result<std::int64_t> quantise(double value, std::int64_t low,
                                                      std::int64_t high) noexcept {
  if (!is_finite(value)) return fail(Errc::not_finite);
  return round_clamped(value, low, high);
}

}  // namespace takt::can
