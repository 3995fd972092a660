// The base of every algorithm in this room: the size of a cache line, and lines of raw memory. The rings and
// buffers work over any memory with this alignment: a heap block, a shared segment, the RAM of a
// microcontroller.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace takt::shm {

/// The unit that processor cores exchange, in bytes. Two programs must agree on it, so it is the same for
/// every machine.
inline constexpr std::size_t cache_line = 64;

/// The distance in bytes between words that different sides write. It is two lines because processors fetch
/// lines in pairs.
inline constexpr std::size_t interference_size = 2 * cache_line;

/// One line of raw memory. The exchanges that own their memory allocate arrays of it.
struct alignas(cache_line) Line {
  std::byte bytes[cache_line];
};
static_assert(sizeof(Line) == cache_line);

/// One end of an exchange, on lines that the other end does not touch.
template <class End>
struct alignas(interference_size) OwnLine {
  End end;
};

/// The bytes of an object. Objects of a size unknown to the compiler have their own overload (opaque.hpp).
template <class Object>
[[nodiscard]] std::span<const std::byte> bytes_in(const Object& object) noexcept {
  return std::as_bytes(std::span<const Object, 1>(&object, 1));
}

/// The largest number of lines to prefetch. Large objects often use only their beginning, and the processor
/// prefetches later lines by itself.
inline constexpr std::size_t prefetched_lines = 16;

/// Prefetches the lines of an object, from line `first` on. A hint without effect on the data.
template <class Machine, class Object>
void prefetch_to_write(const Object& object, std::size_t first = 0) noexcept {
  const std::span<const std::byte> bytes = bytes_in(object);
  const std::size_t end = std::min(bytes.size(), prefetched_lines * cache_line);
  for (std::size_t i = first * cache_line; i < end; i += cache_line)
    Machine::prefetch_to_write(bytes.data() + i);
}
/// Loads the cache lines of an object for reading. It is a hint, and may do nothing.
template <class Machine, class Object>
void prefetch_to_read(const Object& object) noexcept {
  const std::span<const std::byte> bytes = bytes_in(object);
  const std::size_t end = std::min(bytes.size(), prefetched_lines * cache_line);
  for (std::size_t i = 0; i < end; i += cache_line) Machine::prefetch_to_read(bytes.data() + i);
}

/// The number of lines that hold `bytes` bytes.
[[nodiscard]] constexpr std::size_t lines_for(std::size_t bytes) noexcept {
  return bytes / cache_line + (bytes % cache_line != 0 ? 1 : 0);
}

/// The capacity of a ring for `wanted` messages: the next power of two, at least 2 and at most 2^31. Within
/// these limits 32-bit indexes can wrap and still distinguish a full ring from an empty one.
[[nodiscard]] constexpr std::uint32_t ring_capacity(std::size_t wanted) noexcept {
  constexpr std::size_t most = std::size_t{1} << 31;
  if (wanted <= 2) return 2;
  return static_cast<std::uint32_t>(wanted >= most ? most : std::bit_ceil(wanted));
}

}  // namespace takt::shm
