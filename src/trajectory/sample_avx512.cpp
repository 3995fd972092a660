// Sampling with eight doubles at a time and fused multiply-add.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>

#include "trajectory/instruction_sets.hpp"

namespace takt::trajectory::avx512 {
namespace {

#include "trajectory/sample_lanes.inc"

struct Eight {
  using Vector = __m512d;
  static constexpr std::size_t width = 8;
  static Vector load(const double* from) noexcept { return _mm512_load_pd(from); }
  static Vector broadcast(double x) noexcept { return _mm512_set1_pd(x); }
  static Vector multiply(Vector x, Vector y) noexcept { return _mm512_mul_pd(x, y); }
  static Vector multiply_add(Vector x, Vector y, Vector z) noexcept { return _mm512_fmadd_pd(x, y, z); }
  static void store(Vector x, double* to) noexcept { _mm512_storeu_pd(to, x); }
  static void store_part(Vector x, double* to, std::size_t count) noexcept {
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1U << count) - 1), x);
  }
};

}  // namespace

Kernels<double> kernels() noexcept { return {&sample<Eight>, avx2::kernels().sample_one}; }

}  // namespace takt::trajectory::avx512
#endif
