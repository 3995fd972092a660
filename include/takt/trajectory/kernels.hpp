// The inner loop of sampling, as a pointer that each trajectory holds: the portable form is here; where the
// compiled library is linked, it offers the same loop for the instruction sets of its processor, and a
// trajectory takes the best one when it is made. Results of different instruction sets differ by rounding
// only.
#pragma once

#include <cstddef>
#include <type_traits>

namespace takt::trajectory {

/// The loops over joints that are worth having for each instruction set.
template <class Scalar>
struct Kernels {
  /// Position, velocity and acceleration of `joints` quintics at s = 0 .. 1 in one pass. Coefficient k of
  /// joint j is c[k * stride + j], in powers of s; rows are aligned and padded as columns.hpp does it.
  /// `rate` = 1/duration turns derivatives by s into derivatives by time.
  using Sample = void (*)(const Scalar* c, std::size_t stride, std::size_t joints, Scalar s, Scalar rate,
                          Scalar* position, Scalar* velocity, Scalar* acceleration) noexcept;
  Sample sample;
  /// The same for one joint, whose rows are not padded.
  Sample sample_one;
};

namespace detail {

/// Repeated synthetic division: one Horner pass whose partial results are the value, the first and half the
/// second derivative (Knuth, The Art of Computer Programming 2, 4.6.4).
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

}  // namespace detail

/// The loops in standard C++. Real-time safe.
template <class Scalar>
[[nodiscard]] constexpr Kernels<Scalar> portable_kernels() noexcept {
  return {&detail::sample_portable<Scalar>, &detail::sample_portable<Scalar>};
}

#if defined(TAKT_COMPILED_KERNELS)
/// The best loops of the compiled library for this processor.
[[nodiscard]] Kernels<double> compiled_kernels() noexcept;
#endif

/// The loop that a new motion of so many joints samples with. Where one program mixes parts that link the compiled library
/// and parts that do not, either choice may be made for all of them: both are right.
template <class Scalar>
[[nodiscard]] typename Kernels<Scalar>::Sample sample_kernel(std::size_t joints) noexcept {
  Kernels<Scalar> kernels = portable_kernels<Scalar>();
#if defined(TAKT_COMPILED_KERNELS)
  if constexpr (std::is_same_v<Scalar, double>) kernels = compiled_kernels();
#endif
  return joints == 1 ? kernels.sample_one : kernels.sample;
}

}  // namespace takt::trajectory
