// The machine that the algorithms of this room run on: its atomic words and its way of copying. There is one
// for use, the processor. The other runs in the tests: it executes the very same code step by step, in every
// order and with every reordering that the C++ memory model allows, and reports what can go wrong.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

namespace takt::shm {

struct Processor {
  template <class Word>
  using Atomic = std::atomic<Word>;

  /// Copies memory that nobody else uses at the moment.
  static void copy(void* to, const void* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }

  /// The same, where both places are aligned to `alignment`: where the compiler has to expect any address it copies an odd piece
  /// first, and a long message then takes twice the time from core to core. By pieces of 64 bytes, as it would take the string
  /// instruction for a long one, which is a tenth slower there.
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

  /// Copies a value that no other thread uses meanwhile. It assigns a short value, so that the compiler keeps a fresh one in
  /// registers. Through memory, a wide load would wait until the narrow stores before it have left the core.
  template <class T>
  static void copy_value(T& to, const T& from) noexcept {
    constexpr std::size_t longest_assigned =
        256;  // bytes; a longer one would be copied by a string instruction
    if constexpr (std::is_copy_assignable_v<T> && sizeof(T) <= longest_assigned) {
      to = from;
    } else {
      copy<alignof(T)>(&to, &from, sizeof(T));
    }
  }

  /// Asks for a cache line before it is needed. A hint: no effect on what is read or written.
  static void prefetch_to_read([[maybe_unused]] const void* place) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(place, 0);
#endif
  }
  static void prefetch_to_write([[maybe_unused]] const void* place) noexcept {
#if defined(__GNUC__) && defined(__x86_64__)
    // Compiled for the oldest processors, the builtin fetches the line only for reading, and the store that follows has to ask
    // for it a second time. Those few that do not know this instruction take it as none.
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
