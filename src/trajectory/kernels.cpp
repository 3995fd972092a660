// Chooses the sampling loop for the processor that this process runs on.
#include "takt/trajectory/kernels.hpp"

#include "trajectory/instruction_sets.hpp"

namespace takt::trajectory {

Kernels<double> compiled_kernels() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0)
    return avx512::kernels();
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return avx2::kernels();
  return sse2::kernels();
#else
  return portable_kernels<double>();
#endif
}

}  // namespace takt::trajectory
