// The inner loops with four doubles at a time.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>

#include "control/instruction_sets.hpp"

namespace takt::control::avx2 {
namespace {

struct Two {
  using Scalar = double;
  using Pack [[gnu::vector_size(16)]] = double;
  static constexpr std::size_t width = 2;
  static unsigned not_zero(Pack x) noexcept {
    return static_cast<unsigned>(_mm_movemask_pd(_mm_cmpneq_pd(x, _mm_setzero_pd())));
  }
};

struct Four {
  using Scalar = double;
  using Pack [[gnu::vector_size(32)]] = double;
  using Half = Two;
  static constexpr std::size_t width = 4;
  static unsigned not_zero(Pack x) noexcept {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(x, _mm256_setzero_pd(), _CMP_NEQ_UQ)));
  }
};

}  // namespace

PidKernels pid_kernels() noexcept { return pid_kernels_of<Four>; }

}  // namespace takt::control::avx2
#endif
