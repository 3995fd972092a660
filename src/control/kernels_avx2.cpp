// The inner loops with four doubles at a time.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstddef>

#include "control/instruction_sets.hpp"

namespace takt::control::avx2 {
namespace {

#include "control/kernels_lanes.inc"

}  // namespace

PidKernels pid_kernels() noexcept { return pid_kernels_of<Four>; }

}  // namespace takt::control::avx2
#endif
