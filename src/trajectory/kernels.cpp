// Chooses the inner loops for the processor that this process runs on.
#include "takt/trajectory/kernels.hpp"

#include "core/instruction_set.hpp"
#include "trajectory/instruction_sets.hpp"

namespace takt::trajectory {
namespace {

struct Choice {
  Kernels<double> many = portable_kernels<double>;
  Kernels<double> one = portable_kernels<double>;  // joint

  Choice() noexcept {
#if defined(__x86_64__)
    const bool has_avx2 = processor_has(InstructionSet::avx2);
    const bool has_avx512 = processor_has(InstructionSet::avx512);
    many = has_avx512 ? avx512::kernels() : has_avx2 ? avx2::kernels() : sse2::kernels();
    one.all_within = many.all_within;
    if (has_avx2) one.sample = avx2::sample_one();
#endif
  }
};

}  // namespace

}  // namespace takt::trajectory

const takt::trajectory::Kernels<double>* takt_trajectory_kernels(std::size_t joints) noexcept {
  static const takt::trajectory::Choice choice;
  return joints == 1 ? &choice.one : &choice.many;
}
