// The inner loops with eight doubles at a time.
#if defined(__x86_64__)
#if !defined(__clang__)
#pragma GCC diagnostic ignored \
    "-Wmaybe-uninitialized"  // g++ 12 takes its own header's undefined operands for mistakes
#endif
#include <immintrin.h>

#include <cstddef>

#include "control/instruction_sets.hpp"

namespace takt::control::avx512 {
namespace {

#include "control/kernels_lanes.inc"

struct Eight {
  using Scalar = double;
  using Pack [[gnu::vector_size(64)]] = double;
  using Half = Four;
  static constexpr std::size_t width = 8;
  static unsigned not_zero(Pack x) noexcept {
    return _mm512_cmp_pd_mask(x, _mm512_setzero_pd(), _CMP_NEQ_UQ);
  }
};

}  // namespace

PidKernels pid_kernels() noexcept { return pid_kernels_of<Eight>; }

}  // namespace takt::control::avx512
#endif
