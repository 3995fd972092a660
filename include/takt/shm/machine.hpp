// The machine on which the algorithms of this room run: its atomic words and copy operations. Programs use
// Processor. The tests use a model that runs the same code step by step, in every order that the C++ memory
// model allows, and reports errors.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

namespace takt::shm {

/// The real processor. Everything is real-time safe.
struct Processor {
  template <class Word>
  using Atomic = std::atomic<Word>;

  /// Copies memory that no other thread uses.
  static void copy(void* to, const void* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }

  /// Copies memory that no other thread uses. Both places are aligned to `alignment`.
  ///
  /// The compiler then needs no code for odd addresses, which halves the time of a long message between
  /// cores. It copies pieces of 64 bytes, because the string instruction for long copies is a tenth slower
  /// there.
  template <std::size_t alignment>
  static void copy(void* to, const void* from, std::size_t bytes) noexcept {
    constexpr std::size_t piece = 64;
    const auto copy_some = [&](std::size_t some) {
      std::memcpy(std::assume_aligned<alignment>(static_cast<std::byte*>(to)),
                  std::assume_aligned<alignment>(static_cast<const std::byte*>(from)), some);
    };
    for (; bytes >= piece; bytes -= piece) {
      copy_some(piece);
      to = static_cast<std::byte*>(to) + piece;
      from = static_cast<const std::byte*>(from) + piece;
    }
    copy_some(bytes);
  }

  /// Copies a value that no other thread uses. A short value is assigned, so the compiler keeps a fresh one
  /// in registers. Through memory, a wide load would wait until the narrow stores before it have left the
  /// core.
  template <class T>
  static void copy_value(T& to, const T& from) noexcept {
    // Bytes. The compiler copies a longer value with a string instruction.
    constexpr std::size_t longest_assigned = 256;
    if constexpr (std::is_copy_assignable_v<T> && sizeof(T) <= longest_assigned) {
      to = from;
    } else {
      copy<alignof(T)>(&to, &from, sizeof(T));
    }
  }

  /// Requests a cache line before it is needed. A hint without effect on the data.
  static void prefetch_to_read([[maybe_unused]] const void* place) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(place, 0);
#endif
  }
  /// Loads the cache line of `place` for writing. It is a hint, and may do nothing.
  static void prefetch_to_write([[maybe_unused]] const void* place) noexcept {
#if defined(__GNUC__) && defined(__x86_64__)
    // When compiled for the oldest processors, the builtin fetches the line only for reading. The store would
    // then request it again. Processors without this instruction ignore it.
    __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(place)));
#elif defined(__GNUC__)
    __builtin_prefetch(place, 1);
#endif
  }
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
                  std::atomic<std::uintptr_t>::is_always_lock_free,
              "this room needs atomic 32-bit words and pointers in hardware");

}  // namespace takt::shm
