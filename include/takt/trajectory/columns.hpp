// Memory for numbers of many joints side by side (structure of arrays): each row holds one number per joint.
// Each row is padded to whole cache lines, so that vector loads are aligned. A row of one joint is not
// padded. The memory lies on the heap or, with a fixed capacity, in the object itself.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "takt/core/finite_math.hpp"

namespace takt::trajectory::detail {

/// Alignment of rows in bytes. Microcontrollers (Arm's M profile) have no vector loads that need it, and
/// little memory.
#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
inline constexpr std::size_t row_alignment = alignof(double);
#else
inline constexpr std::size_t row_alignment = 64;  // a cache line
#endif

/// Distance between the starts of two rows, in numbers.
template <class Scalar>
[[nodiscard]] constexpr std::size_t row_stride(std::size_t joints) noexcept {
  constexpr std::size_t lane = row_alignment / sizeof(Scalar);
  return joints <= 1 ? joints : (joints + lane - 1) / lane * lane;
}

/// An allocator that aligns memory for rows.
template <class T>
struct RowAllocator {
  using value_type = T;
  RowAllocator() = default;
  template <class U>
  // NOLINTNEXTLINE(google-explicit-constructor): the standard asks allocators to convert
  RowAllocator(const RowAllocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(row_alignment)));
  }
  void deallocate(T* memory, std::size_t) noexcept {
    ::operator delete(memory, std::align_val_t(row_alignment));
  }

  friend bool operator==(const RowAllocator&, const RowAllocator&) noexcept { return true; }
};

/// At most `Capacity` numbers in the object itself, with the members of std::vector that trajectories use.
/// The caller checks the capacity first. Real-time safe.
template <class Scalar, std::size_t Capacity>
class FixedColumns {
 public:
  void resize(std::size_t size) noexcept { size_ = std::min(size, Capacity); }
  void push_back(Scalar number) noexcept {
    if (size_ < Capacity) numbers_[size_++] = number;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] Scalar back() const noexcept { return numbers_[size_ - 1]; }
  [[nodiscard]] Scalar* data() noexcept { return numbers_.data(); }
  [[nodiscard]] const Scalar* data() const noexcept { return numbers_.data(); }
  [[nodiscard]] Scalar& operator[](std::size_t i) noexcept { return numbers_[i]; }
  [[nodiscard]] Scalar operator[](std::size_t i) const noexcept { return numbers_[i]; }
  [[nodiscard]] Scalar* begin() noexcept { return data(); }
  [[nodiscard]] Scalar* end() noexcept { return data() + size_; }
  [[nodiscard]] const Scalar* begin() const noexcept { return data(); }
  [[nodiscard]] const Scalar* end() const noexcept { return data() + size_; }

 private:
  alignas(row_alignment) std::array<Scalar, Capacity> numbers_{};
  std::size_t size_ = 0;
};

/// At most `Capacity` numbers in the object. With std::dynamic_extent any number of them on the heap.
template <class Scalar, std::size_t Capacity = std::dynamic_extent>
using Columns = std::conditional_t<Capacity == std::dynamic_extent, std::vector<Scalar, RowAllocator<Scalar>>,
                                   FixedColumns<Scalar, Capacity>>;

/// How many numbers `rows` rows of `joints` joints take. Returns std::dynamic_extent if the joints or the
/// rows are unbounded.
template <class Scalar>
[[nodiscard]] constexpr std::size_t row_capacity(std::size_t rows, std::size_t joints) noexcept {
  const bool bounded = rows != std::dynamic_extent && joints != std::dynamic_extent;
  return bounded ? rows * row_stride<Scalar>(joints) : std::dynamic_extent;
}

}  // namespace takt::trajectory::detail
