// Chooses the inner loops for the processor that this process runs on.
#include <algorithm>

#include "control/instruction_sets.hpp"
#include "core/instruction_set.hpp"
#include "takt/control/pid_kernels.hpp"

namespace takt::control {
namespace {

PidKernels best_kernels() noexcept {
#if defined(__x86_64__)
  if (processor_has(InstructionSet::avx512)) return avx512::pid_kernels();
  if (processor_has(InstructionSet::avx2)) return avx2::pid_kernels();
#endif
  return {};
}

}  // namespace

}  // namespace takt::control

takt::control::PidKernel<double> takt_pid_kernel(const takt::control::PidForm& form) noexcept {
  using takt::control::compiled_forms;
  const auto* const found = std::ranges::find(compiled_forms, form);
  if (found == compiled_forms.end()) return nullptr;
  return takt::control::best_kernels()[static_cast<std::size_t>(found - compiled_forms.begin())];
}
