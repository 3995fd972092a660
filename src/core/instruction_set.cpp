#include "core/instruction_set.hpp"

namespace takt {

#if defined(__x86_64__)
bool processor_has(InstructionSet set) noexcept {
  switch (set) {
    case InstructionSet::avx2:
      return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    case InstructionSet::avx512:
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  }
  return false;
}
#else
bool processor_has(InstructionSet) noexcept { return false; }
#endif

}  // namespace takt
