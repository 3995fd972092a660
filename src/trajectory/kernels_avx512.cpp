// The inner loops with eight doubles at a time and fused multiply-add.
#if defined(__x86_64__)
#if !defined(__clang__)
#pragma GCC diagnostic ignored \
    "-Wmaybe-uninitialized"  // g++ 12 takes its own header's undefined operands for mistakes
#endif
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "trajectory/instruction_sets.hpp"

namespace takt::trajectory::avx512 {
namespace {

#include "trajectory/kernels_lanes.inc"

/// Halves the cost for a few joints, because some processors execute vectors of eight in two halves.
struct Four {
  using Vector = __m256d;
  static constexpr std::size_t width = 4;
  static Vector load_any(const double* from) noexcept { return _mm256_loadu_pd(from); }
  static Vector broadcast(double x) noexcept { return _mm256_set1_pd(x); }
  static Vector multiply(Vector x, Vector y) noexcept { return _mm256_mul_pd(x, y); }
  static Vector multiply_add(Vector x, Vector y, Vector z) noexcept { return _mm256_fmadd_pd(x, y, z); }
  static void store(Vector x, double* to) noexcept { _mm256_storeu_pd(to, x); }
};

struct Eight {
  using Vector = __m512d;
  using Half = Four;
  static constexpr std::size_t width = 8;
  static Vector load(const double* from) noexcept { return _mm512_load_pd(from); }
  static Vector load_any(const double* from) noexcept { return _mm512_loadu_pd(from); }
  static Vector load_part(const double* from, std::size_t count) noexcept {
    return _mm512_maskz_loadu_pd(first(count), from);
  }
  static Vector broadcast(double x) noexcept { return _mm512_set1_pd(x); }
  static Vector add(Vector x, Vector y) noexcept { return _mm512_add_pd(x, y); }
  static Vector subtract(Vector x, Vector y) noexcept { return _mm512_sub_pd(x, y); }
  static Vector multiply(Vector x, Vector y) noexcept { return _mm512_mul_pd(x, y); }
  static Vector multiply_add(Vector x, Vector y, Vector z) noexcept { return _mm512_fmadd_pd(x, y, z); }
  static Vector magnitude(Vector x) noexcept { return _mm512_abs_pd(x); }
  /// A NaN in y gives NaN, a NaN in x gives y.
  static Vector min(Vector x, Vector y) noexcept { return _mm512_min_pd(x, y); }
  static Vector max(Vector x, Vector y) noexcept { return _mm512_max_pd(x, y); }
  /// One bit per lane; it is set if x is above y or if either is NaN.
  static unsigned not_at_most(Vector x, Vector y) noexcept { return _mm512_cmp_pd_mask(x, y, _CMP_NLE_UQ); }
  static void store(Vector x, double* to) noexcept { _mm512_storeu_pd(to, x); }
  static void store_whole(Vector x, double* to) noexcept { _mm512_store_pd(to, x); }
  static void store_part(Vector x, double* to, std::size_t count) noexcept {
    _mm512_mask_storeu_pd(to, first(count), x);
  }

 private:
  static __mmask8 first(std::size_t count) noexcept { return static_cast<__mmask8>((1U << count) - 1); }
};

}  // namespace

Kernels<double> kernels() noexcept { return kernels_of<Eight>; }

}  // namespace takt::trajectory::avx512
#endif
