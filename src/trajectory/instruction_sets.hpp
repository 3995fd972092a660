// The inner loops by instruction set, each compiled in its own file (src/kernels.cmake). Call only what the
// processor supports.
#pragma once

#include "takt/trajectory/kernels.hpp"

namespace takt::trajectory {

/// Rows of one joint are not padded. Their loops are the portable ones, except for sampling.
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
