// The inner loop of sampling, as a pointer that each trajectory holds: the portable form is here; where the
// compiled library is linked, it offers the same loop for the instruction sets of its processor, and a
// trajectory takes the best one when it is made. Results of different instruction sets differ by rounding
// only.
#pragma once

#include <cstddef>

namespace takt::trajectory {

/// The loops over joints that are worth having for each instruction set.
template <class Scalar>
struct Kernels {
  /// Position, velocity and acceleration of `joints` quintics at s = 0 .. 1 in one pass. Coefficient k of
  /// joint j is c[k * stride + j], in powers of s; `rate` = 1/duration turns derivatives by s into
  /// derivatives by time.
  using Sample = void (*)(const Scalar* c, std::size_t stride, std::size_t joints, Scalar s, Scalar rate,
                          Scalar* position, Scalar* velocity, Scalar* acceleration) noexcept;
  Sample sample;
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
  return {&detail::sample_portable<Scalar>};
}

/// What a new trajectory uses.
template <class Scalar>
[[nodiscard]] Kernels<Scalar> default_kernels() noexcept {
  return portable_kernels<Scalar>();
}

}  // namespace takt::trajectory
