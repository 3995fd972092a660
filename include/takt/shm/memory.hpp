// What every algorithm of this room is built on: the size of a cache line, and lines of raw memory. The rings
// and buffers here work over any memory with this alignment: a heap block, a shared segment, the RAM of a
// microcontroller.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace takt::shm {

/// The unit that two processor cores pass to and fro. It is part of the layout that two programs must agree on, so it is one
/// number for every machine.
inline constexpr std::size_t cache_line = 64;

/// How far words that different sides write lie apart: processors fetch lines in pairs.
inline constexpr std::size_t apart = 2 * cache_line;

/// One line of raw memory; arrays of it are how the owning forms of this room hold their slots.
struct alignas(cache_line) Line {
  std::byte bytes[cache_line];
};
static_assert(sizeof(Line) == cache_line);

/// One end of an exchange, apart from all that the other end touches.
template <class End>
struct alignas(apart) OwnLine {
  End end;
};

/// Where an object lies. What stands for one of a size that the compiler does not know has an overload of its own (opaque.hpp).
template <class Object>
[[nodiscard]] std::span<const std::byte> bytes_in(const Object& object) noexcept {
  return std::as_bytes(std::span<const Object, 1>(&object, 1));
}

/// How many lines are asked for before they are needed, at most: of a large object often only its beginning is in use, and behind
/// so many the processor follows by itself.
inline constexpr std::size_t prefetched_lines = 16;

/// Asks for the lines of an object, from the `first` on, before they are written or read. A hint.
template <class Machine, class Object>
void prefetch_to_write(const Object& object, std::size_t first = 0) noexcept {
  const std::span<const std::byte> bytes = bytes_in(object);
  const std::size_t end = std::min(bytes.size(), prefetched_lines * cache_line);
  for (std::size_t i = first * cache_line; i < end; i += cache_line)
    Machine::prefetch_to_write(bytes.data() + i);
}
template <class Machine, class Object>
void prefetch_to_read(const Object& object) noexcept {
  const std::span<const std::byte> bytes = bytes_in(object);
  const std::size_t end = std::min(bytes.size(), prefetched_lines * cache_line);
  for (std::size_t i = 0; i < end; i += cache_line) Machine::prefetch_to_read(bytes.data() + i);
}

/// How many lines hold `bytes` bytes.
[[nodiscard]] constexpr std::size_t lines_for(std::size_t bytes) noexcept {
  return bytes / cache_line + (bytes % cache_line != 0 ? 1 : 0);
}

/// The capacity that a ring really has when `wanted` is asked for: the next power of two, at least 2 and at
/// most 2^31, so that 32-bit indexes may run over and still tell full from empty.
[[nodiscard]] constexpr std::uint32_t ring_capacity(std::size_t wanted) noexcept {
  constexpr std::size_t most = std::size_t{1} << 31;
  if (wanted <= 2) return 2;
  return static_cast<std::uint32_t>(wanted >= most ? most : std::bit_ceil(wanted));
}

}  // namespace takt::shm
