// Memory for numbers of many joints side by side (structure of arrays): rows of one number for each joint,
// each row padded to a whole number of cache lines so that vector loads are aligned. One joint is not padded.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace takt::trajectory::detail {

inline constexpr std::size_t cache_line = 64;

/// Distance between rows, in numbers.
template <class Scalar>
[[nodiscard]] constexpr std::size_t row_stride(std::size_t joints) noexcept {
  constexpr std::size_t lane = cache_line / sizeof(Scalar);
  return joints <= 1 ? joints : (joints + lane - 1) / lane * lane;
}

/// Allocates on cache-line boundaries.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor): the standard asks allocators to convert
  CacheLineAllocator(const CacheLineAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(cache_line)));
  }
  void deallocate(T* memory, std::size_t) noexcept {
    ::operator delete(memory, std::align_val_t(cache_line));
  }

  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) noexcept { return true; }
};

template <class Scalar>
using Columns = std::vector<Scalar, CacheLineAllocator<Scalar>>;

}  // namespace takt::trajectory::detail
