// The instruction sets of the compiled inner loops (kernels.cmake), and whether this process may use them.
#pragma once

#include <cstdint>

namespace takt {

/// Instruction sets that not every 64-bit x86 processor has.
enum class InstructionSet : std::uint8_t {
  avx2,    ///< with FMA
  avx512,  ///< F and VL
};

[[nodiscard]] bool processor_has(InstructionSet set) noexcept;

}  // namespace takt
