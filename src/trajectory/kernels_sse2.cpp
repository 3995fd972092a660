// The inner loops with two doubles at a time. Every 64-bit x86 processor supports them.
#if defined(__x86_64__)
#include <emmintrin.h>

#include <cstddef>
#include <cstdint>

#include "trajectory/instruction_sets.hpp"

namespace takt::trajectory::sse2 {
namespace {

#include "trajectory/kernels_lanes.inc"

struct Two {
  using Vector = __m128d;
  using Half = Two;
  static constexpr std::size_t width = 2;
  static Vector load(const double* from) noexcept { return _mm_load_pd(from); }
  static Vector load_any(const double* from) noexcept { return _mm_loadu_pd(from); }
  static Vector load_part(const double* from, std::size_t) noexcept { return _mm_load_sd(from); }
  static Vector broadcast(double x) noexcept { return _mm_set1_pd(x); }
  static Vector add(Vector x, Vector y) noexcept { return _mm_add_pd(x, y); }
  static Vector subtract(Vector x, Vector y) noexcept { return _mm_sub_pd(x, y); }
  static Vector multiply(Vector x, Vector y) noexcept { return _mm_mul_pd(x, y); }
  static Vector multiply_add(Vector x, Vector y, Vector z) noexcept {
    return _mm_add_pd(_mm_mul_pd(x, y), z);
  }
  static Vector magnitude(Vector x) noexcept { return _mm_andnot_pd(_mm_set1_pd(-0.0), x); }
  /// A NaN in y gives NaN, a NaN in x gives y.
  static Vector min(Vector x, Vector y) noexcept { return _mm_min_pd(x, y); }
  static Vector max(Vector x, Vector y) noexcept { return _mm_max_pd(x, y); }
  /// One bit per lane; it is set if x is above y or if either is NaN.
  static unsigned not_at_most(Vector x, Vector y) noexcept {
    return static_cast<unsigned>(_mm_movemask_pd(_mm_cmpnle_pd(x, y)));
  }
  static void store(Vector x, double* to) noexcept { _mm_storeu_pd(to, x); }
  static void store_whole(Vector x, double* to) noexcept { _mm_store_pd(to, x); }
  static void store_part(Vector x, double* to, std::size_t count) noexcept {
    if (count >= 2) return store(x, to);
    _mm_store_sd(to, x);
  }
};

}  // namespace

Kernels<double> kernels() noexcept { return kernels_of<Two>; }

}  // namespace takt::trajectory::sse2
#endif
