// Sampling with four doubles at a time and fused multiply-add.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "trajectory/instruction_sets.hpp"

namespace takt::trajectory::avx2 {
namespace {

#include "trajectory/sample_lanes.inc"

struct Four {
  using Vector = __m256d;
  static constexpr std::size_t width = 4;
  static Vector load(const double* from) noexcept { return _mm256_load_pd(from); }
  static Vector broadcast(double x) noexcept { return _mm256_set1_pd(x); }
  static Vector multiply(Vector x, Vector y) noexcept { return _mm256_mul_pd(x, y); }
  static Vector multiply_add(Vector x, Vector y, Vector z) noexcept { return _mm256_fmadd_pd(x, y, z); }
  static void store(Vector x, double* to) noexcept { _mm256_storeu_pd(to, x); }
  static void store_part(Vector x, double* to, std::size_t count) noexcept {
    alignas(32) static constexpr std::int64_t masks[3][4] = {{-1, 0, 0, 0}, {-1, -1, 0, 0}, {-1, -1, -1, 0}};
    _mm256_maskstore_pd(to, _mm256_load_si256(reinterpret_cast<const __m256i*>(masks[count - 1])), x);
  }
};

/// One joint: a chain of scalar instructions.
struct One {
  using Vector = double;
  static constexpr std::size_t width = 1;
  static double load(const double* from) noexcept { return *from; }
  static double broadcast(double x) noexcept { return x; }
  static double multiply(double x, double y) noexcept { return x * y; }
  static double multiply_add(double x, double y, double z) noexcept { return __builtin_fma(x, y, z); }
  static void store(double x, double* to) noexcept { *to = x; }
};

}  // namespace

Kernels<double> kernels() noexcept { return {&sample<Four>, &sample<One>}; }

}  // namespace takt::trajectory::avx2
#endif
