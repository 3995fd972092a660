// The inner loops by instruction set, each compiled in its own file (src/kernels.cmake). Call only what the
// processor supports.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "takt/control/pid_kernels.hpp"

namespace takt::control {

/// The forms that have compiled loops: the default one and the conventions.
inline constexpr std::array compiled_forms{PidForm{},
                                           conventions::ros1,
                                           conventions::ros1_anti_windup,
                                           conventions::ros2,
                                           conventions::ros2_conditional,
                                           conventions::ros2_back_calculation,
                                           conventions::dataspeed};

/// One kernel for each of compiled_forms.
using PidKernels = std::array<PidKernel<double>, compiled_forms.size()>;

template <class Lanes>
constexpr PidKernels pid_kernels_of = []<std::size_t... i>(std::index_sequence<i...>) {
  return PidKernels{&detail::step_pids<Lanes, compiled_forms[i]>...};
}
(std::make_index_sequence<compiled_forms.size()>());

namespace avx2 {
PidKernels pid_kernels() noexcept;
}
namespace avx512 {
PidKernels pid_kernels() noexcept;
}

}  // namespace takt::control
