// The machine that the algorithms of this room run on: its atomic words and its way of copying. There is one
// for use, the processor. The other runs in the tests: it executes the very same code step by step, in every
// order and with every reordering that the C++ memory model allows, and reports what can go wrong.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace takt::shm {

struct Processor {
  template <class Word>
  using Atomic = std::atomic<Word>;

  /// Copies memory that nobody else uses at the moment.
  static void copy(void* to, const void* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
                  std::atomic<std::uintptr_t>::is_always_lock_free,
              "this room needs atomic 32-bit words and pointers in hardware");

}  // namespace takt::shm
