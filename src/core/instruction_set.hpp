// Which of the instruction sets that some inner loops are compiled for (kernels.cmake) this process may use.
#pragma once

#include <cstdint>

namespace takt {

/// What not every 64-bit x86 has.
enum class InstructionSet : std::uint8_t {
  avx2,    ///< with FMA
  avx512,  ///< F and VL
};

[[nodiscard]] bool processor_has(InstructionSet set) noexcept;

}  // namespace takt
