// Sampling with two doubles at a time: what every 64-bit x86 has.
#if defined(__x86_64__)
#include <emmintrin.h>

#include <cstddef>

#include "trajectory/instruction_sets.hpp"

namespace takt::trajectory::sse2 {
namespace {

#include "trajectory/sample_lanes.inc"

struct Two {
  using Vector = __m128d;
  static constexpr std::size_t width = 2;
  static Vector load(const double* from) noexcept { return _mm_load_pd(from); }
  static Vector broadcast(double x) noexcept { return _mm_set1_pd(x); }
  static Vector multiply(Vector x, Vector y) noexcept { return _mm_mul_pd(x, y); }
  static Vector multiply_add(Vector x, Vector y, Vector z) noexcept {
    return _mm_add_pd(_mm_mul_pd(x, y), z);
  }
  static void store(Vector x, double* to) noexcept { _mm_storeu_pd(to, x); }
  static void store_part(Vector x, double* to, std::size_t) noexcept { _mm_store_sd(to, x); }
};

}  // namespace

Kernels<double> kernels() noexcept { return {&sample<Two>, &detail::sample_portable<double>}; }

}  // namespace takt::trajectory::sse2
#endif
