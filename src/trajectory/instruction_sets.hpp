// The inner loops by instruction set, each compiled in a file of its own (src/kernels.cmake). Call only what the processor has.
#pragma once

#include "takt/trajectory/kernels.hpp"

namespace takt::trajectory {

/// The loops for one joint, whose rows are not padded, are the portable ones but for sampling.
namespace sse2 {
Kernels<double> kernels() noexcept;
}
namespace avx2 {
Kernels<double> kernels() noexcept;
Kernels<double>::Sample sample_one() noexcept;
}  // namespace avx2
namespace avx512 {
Kernels<double> kernels() noexcept;
}

}  // namespace takt::trajectory
