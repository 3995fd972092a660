// Two schemas of equal length and hash. A peer may exchange one for the other while a reader uses it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "takt/shm/layout.hpp"

namespace takt::test::forged {

inline constexpr std::string_view small = "aaaaaa u8[16],uBkaqFbFlxnwb u8";
inline constexpr std::string_view large = "a u8[1040000],unBbukxlDFuee u8";
static_assert(small.size() == large.size() && fnv1a(small) == fnv1a(large));

/// Makes the elements of a layout's first exchange larger.
inline void enlarge(std::byte* memory) {
  std::byte* const text =
      memory + sizeof(shm::detail::LayoutHeader) + offsetof(shm::detail::LayoutRecord, schema);
  std::copy(large.begin(), large.end(), reinterpret_cast<char*>(text));
}

}  // namespace takt::test::forged
