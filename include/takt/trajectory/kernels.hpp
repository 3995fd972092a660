// The inner loops over joints, as a table of functions that each trajectory points to. The portable forms are
// here. If the compiled library is linked, it offers the same loops for the instruction sets of the
// processor. A trajectory takes the best ones when it is made. Results of different instruction sets differ
// only by rounding.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "takt/core/compiled_library.hpp"
#include "takt/core/finite_math.hpp"

namespace takt::trajectory {

/// The loops that have a faster form for some instruction set. Coefficients are those of quintics in powers
/// of s = 0 .. 1. Coefficient k of joint j is c[k * stride + j]; rows are aligned and padded as in
/// columns.hpp. Every loop is real-time safe.
template <class Scalar>
struct Kernels {
  /// The number of joints in one mask of may_exceed(), and the distance between the rows of its bounds.
  static constexpr std::size_t block = 64;

  /// Position, velocity and acceleration of `joints` quintics at s, in one pass. `rate` = 1/duration turns
  /// derivatives by s into derivatives by time.
  using Sample = void (*)(const Scalar* c, std::size_t stride, std::size_t joints, Scalar s, Scalar rate,
                          Scalar* position, Scalar* velocity, Scalar* acceleration) noexcept;
  /// The quintics between waypoints. Takes rows of `joints` positions, velocities and accelerations, one row
  /// for each of segments + 1 times. Writes six rows of coefficients for each segment.
  using Solve = void (*)(const Scalar* p, const Scalar* v, const Scalar* a, std::size_t joints,
                         const Scalar* times, std::size_t segments, Scalar* c, std::size_t stride) noexcept;
  /// Whether the magnitude of every number is at most `largest`. A NaN gives false.
  using AllWithin = bool (*)(const Scalar* numbers, std::size_t count, Scalar largest) noexcept;
  /// Which of at most `block` joints may leave their limits within a segment of `duration` seconds, one bit
  /// per joint. A joint's bit is 0 if the Bernstein coefficients of its position and derivatives prove that
  /// it keeps its limits. The rows of `limits` hold `block` numbers, aligned as the coefficients: position
  /// minimum and maximum, velocity, acceleration, jerk.
  using MayExceed = std::uint64_t (*)(const Scalar* c, std::size_t stride, std::size_t joints,
                                      Scalar duration, const Scalar* limits) noexcept;
  Sample sample;
  Solve solve;
  AllWithin all_within;
  MayExceed may_exceed;
};

namespace detail {

/// Repeated synthetic division. One Horner pass gives the value, the first derivative and half the second
/// derivative (Knuth, The Art of Computer Programming 2, 4.6.4).
template <class Scalar>
void sample_portable(const Scalar* c, std::size_t stride, std::size_t joints, Scalar s, Scalar rate,
                     Scalar* position, Scalar* velocity, Scalar* acceleration) noexcept {
  const Scalar twice_rate_squared = 2 * rate * rate;
  for (std::size_t j = 0; j < joints; ++j) {
    Scalar p = c[5 * stride + j];
    Scalar v = p;
    p = p * s + c[4 * stride + j];
    Scalar a = v;
    v = v * s + p;
    p = p * s + c[3 * stride + j];
    a = a * s + v;
    v = v * s + p;
    p = p * s + c[2 * stride + j];
    a = a * s + v;
    v = v * s + p;
    p = p * s + c[stride + j];
    a = a * s + v;
    v = v * s + p;
    p = p * s + c[j];
    position[j] = p;
    velocity[j] = v * rate;
    acceleration[j] = a * twice_rate_squared;
  }
}

/// The upper three coefficients by s of a quintic. It moves by d and has velocities v0, v1 and half
/// accelerations a0, a1 (both by s) at its ends. The lower three coefficients are its start, v0 and a0.
/// Source: the Hermite conditions, solved by hand.
template <class Scalar>
struct UpperCoefficients {
  Scalar third;
  Scalar fourth;
  Scalar fifth;

  constexpr UpperCoefficients(Scalar d, Scalar v0, Scalar v1, Scalar a0, Scalar a1) noexcept
      : third(10 * d - 6 * v0 - 4 * v1 - 3 * a0 + a1),
        fourth(-15 * d + 8 * v0 + 7 * v1 + 3 * a0 - 2 * a1),
        fifth(6 * d - 3 * (v0 + v1) - a0 + a1) {}
};

template <class Scalar>
void solve_portable(const Scalar* p, const Scalar* v, const Scalar* a, std::size_t joints,
                    const Scalar* times, std::size_t segments, Scalar* c, std::size_t stride) noexcept {
  for (std::size_t k = 0; k < segments; ++k, p += joints, v += joints, a += joints, c += 6 * stride) {
    const Scalar duration = times[k + 1] - times[k];
    const Scalar half_square = duration * duration / 2;
    // The rows do not overlap. The compiler cannot check that for so many rows, and vector instructions are
    // faster.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
    for (std::size_t j = 0; j < joints; ++j) {
      const Scalar v0 = v[j] * duration;
      const Scalar a0 = a[j] * half_square;
      const UpperCoefficients<Scalar> upper(p[joints + j] - p[j], v0, v[joints + j] * duration, a0,
                                            a[joints + j] * half_square);
      c[j] = p[j];
      c[stride + j] = v0;
      c[2 * stride + j] = a0;
      c[3 * stride + j] = upper.third;
      c[4 * stride + j] = upper.fourth;
      c[5 * stride + j] = upper.fifth;
    }
  }
}

/// The bit pattern of a non-negative float grows with its value; infinity and NaN are above all others. So a
/// difference of bits is negative if a number is too large. Compilers turn this loop over integers, which has
/// no branch, into vector instructions.
template <class Scalar>
[[nodiscard]] bool all_within_portable(const Scalar* numbers, std::size_t count, Scalar largest) noexcept {
  using Bits = std::conditional_t<sizeof(Scalar) == 8, std::uint64_t, std::uint32_t>;
  constexpr Bits magnitude = std::numeric_limits<Bits>::max() >> 1;
  const Bits bound = std::bit_cast<Bits>(largest);
  Bits differences = 0;
  for (std::size_t i = 0; i < count; ++i)
    differences |= bound - (std::bit_cast<Bits>(numbers[i]) & magnitude);
  return differences <= magnitude;
}

[[nodiscard]] constexpr double binomial(std::size_t n, std::size_t k) noexcept {
  double result = 1;
  for (std::size_t i = 0; i < k; ++i)
    result = result * static_cast<double>(n - i) / static_cast<double>(i + 1);
  return result;
}

/// Converts polynomial coefficients, each divided by binomial(Count - 1, k), into Bernstein coefficients on
/// [0, 1]. Formula: b[i] = sum over k <= i of binomial(i, k) c[k], by the additions of Pascal's triangle.
/// Source: Farin, Curves and Surfaces for CAGD.
template <class Number, std::size_t Count>
constexpr void to_bernstein(std::array<Number, Count>& c) noexcept {
  for (std::size_t row = 1; row < Count; ++row) {
    for (std::size_t i = Count - 1; i >= row; --i) c[i] += c[i - 1];
  }
}

/// The weight of coefficient k of a quintic in the input of to_bernstein(), for the derivative of the given
/// order by s.
[[nodiscard]] constexpr double bernstein_weight(std::size_t order, std::size_t k) noexcept {
  double weight = 1 / binomial(5 - order, k - order);
  for (std::size_t i = 0; i < order; ++i) weight *= static_cast<double>(k - i);
  return weight;
}

/// The Bernstein coefficients of one joint's derivative of the given order by s.
template <std::size_t Order, class Scalar>
[[nodiscard]] std::array<Scalar, 6 - Order> bernstein(const Scalar* c, std::size_t stride) noexcept {
  std::array<Scalar, 6 - Order> b;
  for (std::size_t k = Order; k < 6; ++k)
    b[k - Order] = static_cast<Scalar>(bernstein_weight(Order, k)) * c[k * stride];
  to_bernstein(b);
  return b;
}

/// The smallest and the largest of some Bernstein coefficients. Both are NaN if the last coefficient is NaN.
/// The last coefficient is the sum of all terms, so it is NaN if any other one is.
template <class Scalar>
struct Hull {
  Scalar least;
  Scalar most;

  template <std::size_t Count>
  explicit Hull(const std::array<Scalar, Count>& b) noexcept : least(b[0]), most(b[0]) {
    for (std::size_t i = 1; i < Count; ++i) {
      least = std::min(b[i], least);
      most = std::max(b[i], most);
    }
  }
  /// The comparisons make NaN count as outside.
  [[nodiscard]] bool within(Scalar low, Scalar high) const noexcept { return least >= low && most <= high; }
};

template <std::size_t Order, class Scalar>
[[nodiscard]] bool derivative_within(const Scalar* c, std::size_t stride, Scalar largest) noexcept {
  return Hull<Scalar>(bernstein<Order>(c, stride)).within(-largest, largest);
}

template <class Scalar>
[[nodiscard]] std::uint64_t may_exceed_portable(const Scalar* c, std::size_t stride, std::size_t joints,
                                                Scalar duration, const Scalar* limits) noexcept {
  constexpr std::size_t block = Kernels<Scalar>::block;
  const Scalar squared = duration * duration;
  std::uint64_t joints_in_doubt = 0;
  for (std::size_t j = 0; j < joints; ++j, ++c, ++limits) {
    const bool within = Hull<Scalar>(bernstein<0>(c, stride)).within(limits[0], limits[block]) &&
                        derivative_within<1>(c, stride, limits[2 * block] * duration) &&
                        derivative_within<2>(c, stride, limits[3 * block] * squared) &&
                        derivative_within<3>(c, stride, limits[4 * block] * squared * duration);
    joints_in_doubt |= std::uint64_t{!within} << j;
  }
  return joints_in_doubt;
}

}  // namespace detail

/// The loops in standard C++.
template <class Scalar>
inline constexpr Kernels<Scalar> portable_kernels{
    &detail::sample_portable<Scalar>, &detail::solve_portable<Scalar>, &detail::all_within_portable<Scalar>,
    &detail::may_exceed_portable<Scalar>};

}  // namespace takt::trajectory

/// The best loops of the compiled library for this processor and `joints` joints. Rows of one joint are not
/// padded and need other loops. It is there where the compiled library is linked.
extern "C" TAKT_OF_LIBRARY const takt::trajectory::Kernels<double>* takt_trajectory_kernels(
    std::size_t joints) noexcept;

namespace takt::trajectory {

/// The loops that a new motion of `joints` joints uses: those of the compiled library if it is linked, else
/// the portable ones.
template <class Scalar>
[[nodiscard]] const Kernels<Scalar>& kernels_for([[maybe_unused]] std::size_t joints) noexcept {
  if constexpr (std::is_same_v<Scalar, double>) {
    if (is_linked(&takt_trajectory_kernels)) return *takt_trajectory_kernels(joints);
  }
  return portable_kernels<Scalar>;
}

}  // namespace takt::trajectory
