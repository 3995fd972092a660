// The inner loops with four doubles at a time and fused multiply-add.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "trajectory/instruction_sets.hpp"

namespace takt::trajectory::avx2 {
namespace {

#include "trajectory/kernels_lanes.inc"

struct Four {
  using Vector = __m256d;
  using Half = Four;
  static constexpr std::size_t width = 4;
  static Vector load(const double* from) noexcept { return _mm256_load_pd(from); }
  static Vector load_any(const double* from) noexcept { return _mm256_loadu_pd(from); }
  static Vector load_part(const double* from, std::size_t count) noexcept {
    return _mm256_maskload_pd(from, first(count));
  }
  static Vector broadcast(double x) noexcept { return _mm256_set1_pd(x); }
  static Vector add(Vector x, Vector y) noexcept { return _mm256_add_pd(x, y); }
  static Vector subtract(Vector x, Vector y) noexcept { return _mm256_sub_pd(x, y); }
  static Vector multiply(Vector x, Vector y) noexcept { return _mm256_mul_pd(x, y); }
  static Vector multiply_add(Vector x, Vector y, Vector z) noexcept { return _mm256_fmadd_pd(x, y, z); }
  static Vector magnitude(Vector x) noexcept { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }
  /// A NaN in y gives NaN, a NaN in x gives y.
  static Vector min(Vector x, Vector y) noexcept { return _mm256_min_pd(x, y); }
  static Vector max(Vector x, Vector y) noexcept { return _mm256_max_pd(x, y); }
  /// One bit per lane; it is set if x is above y or if either is NaN.
  static unsigned not_at_most(Vector x, Vector y) noexcept {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(x, y, _CMP_NLE_UQ)));
  }
  static void store(Vector x, double* to) noexcept { _mm256_storeu_pd(to, x); }
  static void store_whole(Vector x, double* to) noexcept { _mm256_store_pd(to, x); }
  static void store_part(Vector x, double* to, std::size_t count) noexcept {
    // Branches instead of a masked store, which is slow microcode on some processors.
    if (count >= 4) return store(x, to);
    __m128d rest = _mm256_castpd256_pd128(x);
    if (count >= 2) {
      _mm_storeu_pd(to, rest);
      rest = _mm256_extractf128_pd(x, 1);
    }
    if (count % 2 != 0) _mm_store_sd(to + count - 1, rest);
  }

 private:
  static __m256i first(std::size_t count) noexcept {
    alignas(32) static constexpr std::int64_t masks[3][4] = {{-1, 0, 0, 0}, {-1, -1, 0, 0}, {-1, -1, -1, 0}};
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(masks[count - 1]));
  }
};

/// One joint: a chain of scalar instructions.
struct One {
  using Vector = double;
  static constexpr std::size_t width = 1;
  static double load_any(const double* from) noexcept { return *from; }
  static double broadcast(double x) noexcept { return x; }
  static double multiply(double x, double y) noexcept { return x * y; }
  static double multiply_add(double x, double y, double z) noexcept { return __builtin_fma(x, y, z); }
  static void store_part(double x, double* to, std::size_t) noexcept { *to = x; }
};

}  // namespace

Kernels<double> kernels() noexcept { return kernels_of<Four>; }
Kernels<double>::Sample sample_one() noexcept { return &sample<One>; }

}  // namespace takt::trajectory::avx2
#endif
