// From a physical number to the integer that stands in a frame: rounding and overflow, once for all codecs.
// Rounding is to the nearest, ties to even (2.5 is 2, 3.5 is 4), as IEEE 754 rounds, and Python, and lrint():
// without bias, the same for a positive and a negative number of equal size; and never truncation: decode,
// encode, decode gives the same number again. Real-time safe and usable in constant expressions.
#pragma once

#include <cstdint>

#include "takt/can/error.hpp"

#ifdef __FAST_MATH__
#error "takt/can rounds and detects NaN by the rules of IEEE 754: compile without -ffast-math"
#endif

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

/// The nearest whole number, ties to even. From 2^52 on, a double has no fraction.
[[nodiscard]] constexpr double round_half_even(double value) noexcept {
  constexpr double two_to_52 = 4503599627370496.0;
  if (!(value > -two_to_52 && value < two_to_52)) return value;
  // A sum of this size has no room for a fraction: the processor rounds it away, by the rule that we want.
  const double shift = value < 0 ? -two_to_52 : two_to_52;
  return value + shift - shift;
}

/// As round_half_even() for magnitudes up to small_magnitude, in an addition and a subtraction. What is larger
/// stays larger, and what is not a number none.
inline constexpr unsigned small_bits = 51;
inline constexpr double small_magnitude = 2251799813685248.0;  // 2^51
/// 1.5 * 2^52: a sum with it has no fraction, whatever the sign, and in its low 51 bits those of the integer.
inline constexpr double small_shift = 6755399441055744.0;
[[nodiscard]] constexpr double round_small(double value) noexcept {
  return value + small_shift - small_shift;
}

/// The integer within low..high that is nearest to a finite number. |low|, |high| must be at most 2^51.
[[nodiscard]] constexpr std::int64_t round_clamped(double value, std::int64_t low,
                                                   std::int64_t high) noexcept {
  const auto least = static_cast<double>(low);
  const auto most = static_cast<double>(high);
  // In this form, unlike std::clamp, each comparison is one instruction without a branch.
  const double above = value < least ? least : value;
  return static_cast<std::int64_t>(round_small(most < above ? most : above));
}

}  // namespace takt::can
