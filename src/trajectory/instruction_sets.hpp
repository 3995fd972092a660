// The sampling loops by instruction set, each compiled in a file of its own (kernels.cmake). Call only what the processor has.
#pragma once

#include "takt/trajectory/kernels.hpp"

namespace takt::trajectory {

namespace sse2 {
Kernels<double> kernels() noexcept;
}
namespace avx2 {
Kernels<double> kernels() noexcept;
}
namespace avx512 {
Kernels<double> kernels() noexcept;
}

}  // namespace takt::trajectory
