// Converts a physical number to the integer in a frame. All codecs use this rounding and this overflow
// policy. Rounding is to the nearest integer, ties to even (2.5 to 2, 3.5 to 4), as in IEEE 754, Python and
// lrint(). It has no bias and is symmetric about zero. Truncation is not used, so that decode, encode, decode
// returns the same number. Real-time safe and usable in constant expressions.
#pragma once

#include <cstdint>

#include "takt/can/error.hpp"

#ifdef __FAST_MATH__
#error "takt/can rounds and detects NaN by the rules of IEEE 754: compile without -ffast-math"
#endif

namespace takt::can {

/// The policy for a number that is too large for its field. NaN and infinity are errors under every policy.
enum class Overflow : std::uint8_t {
  error,  ///< Errc::out_of_range
  clamp,  ///< the nearest number that fits
  wrap,   ///< the low bits of the rounded number; Errc::out_of_range if it exceeds 64 bits
};

/// Returns false for NaN and infinity. Real-time safe.
[[nodiscard]] constexpr bool is_finite(double value) noexcept {
  return value - value == 0;  // std::isfinite is not constexpr in C++20
}

/// Returns the nearest whole number, ties to even. Real-time safe. A double has no fraction from 2^52 on.
[[nodiscard]] constexpr double round_half_even(double value) noexcept {
  constexpr double two_to_52 = 4503599627370496.0;
  if (!(value > -two_to_52 && value < two_to_52)) return value;
  // A sum of this size has no room for a fraction, so the processor rounds it, ties to even.
  const double shift = value < 0 ? -two_to_52 : two_to_52;
  return value + shift - shift;
}

/// round_half_even() for magnitudes up to small_magnitude, in one addition and one subtraction. A larger
/// number stays larger, and NaN stays NaN.
inline constexpr unsigned small_bits = 51;
inline constexpr double small_magnitude = 2251799813685248.0;  // 2^51
/// 1.5 * 2^52. A sum with it has no fraction, for either sign, and its low 51 bits are those of the integer.
inline constexpr double small_shift = 6755399441055744.0;
/// Rounds to the nearest integer, half to even. The magnitude must be below small_magnitude.
[[nodiscard]] constexpr double round_small(double value) noexcept {
  return value + small_shift - small_shift;
}

/// Returns the integer in [low, high] that is nearest to a finite number. |low| and |high| must be at most
/// 2^51. Real-time safe.
[[nodiscard]] constexpr std::int64_t round_clamped(double value, std::int64_t low,
                                                   std::int64_t high) noexcept {
  const auto least = static_cast<double>(low);
  const auto most = static_cast<double>(high);
  // Written this way, unlike std::clamp, each comparison is one instruction without a branch.
  const double above = value < least ? least : value;
  return static_cast<std::int64_t>(round_small(most < above ? most : above));
}

}  // namespace takt::can
