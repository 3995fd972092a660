// The newest value of something, from one writer to any number of readers: the writer never waits for
// anybody, and no reader ever sees a value that is half old and half new. Two slots take turns, so that a
// reader meets the writer only when it is overtaken by a whole write, and a writer that dies in the middle of
// one leaves the value before it readable.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "takt/shm/latest_value.hpp"
#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"

namespace takt::shm {

/// A value from one writer to many readers. Wait-free for the writer; a reader tries a bounded number of
/// times. Real-time safe.
template <class T, class Machine = Processor>
class BroadcastValue {
  static_assert(std::is_trivially_copyable_v<T>, "values are copied as words");

 public:
  BroadcastValue() = default;
  BroadcastValue(const BroadcastValue&) = delete;
  BroadcastValue& operator=(const BroadcastValue&) = delete;

  /// Publishes a copy of `value`. One thread at a time.
  void write(const T& value) noexcept {
    // relaxed: only the writer writes this word.
    const std::uint32_t version = next(published_.load(std::memory_order_relaxed));
    // relaxed: ordered before the words of the slot, as each of them is a release store that comes after it.
    started_.store(version, std::memory_order_relaxed);
    const Words words = to_words(value);
    Slot& slot = slots_[version % 2];
    for (std::size_t i = 0; i < word_count; ++i) {
      // release: a reader that sees this word also sees that the write has started, and discards it.
      slot.words[i].store(words[i], std::memory_order_release);
    }
    // release: a reader that sees the version sees all of its words.
    published_.store(version, std::memory_order_release);
  }

 private:
  template <class W>
  using Atomic = typename Machine::template Atomic<W>;
  using Word = std::uintptr_t;
  static constexpr std::size_t word_count = (sizeof(T) + sizeof(Word) - 1) / sizeof(Word);
  using Words = std::array<Word, word_count>;

  struct alignas(cache_line) Slot {
    std::array<Atomic<Word>, word_count> words{};
  };

 public:
  /// One reader's view; each thread has its own. The value must outlive it.
  class Reader {
   public:
    /// How often a read tries again when a write overtakes it. Each failure takes a whole write within one
    /// read.
    static constexpr int attempts = 16;

    explicit Reader(const BroadcastValue& value) noexcept : value_(&value) {}

    /// Copies the latest value, new or old. `out` stays as it is when nothing was ever written, and (told as
    /// old_data) when the writer overtook every attempt.
    [[nodiscard]] Freshness read(T& out) noexcept {
      for (int attempt = 0; attempt < attempts; ++attempt) {
        // acquire: pairs with the writer's last release; the words of this version are there.
        const std::uint32_t version = value_->published_.load(std::memory_order_acquire);
        if (version == 0) return Freshness::none;
        Words words;
        const Slot& slot = value_->slots_[version % 2];
        for (std::size_t i = 0; i < word_count; ++i) {
          // acquire: if the word is of a later write, the load below sees that this write has started.
          words[i] = slot.words[i].load(std::memory_order_acquire);
        }
        // relaxed: ordered after the words by their acquires. The slot is written again two versions later.
        const std::uint32_t started = value_->started_.load(std::memory_order_relaxed);
        if (started - version >= 2) continue;
        std::memcpy(static_cast<void*>(&out), words.data(), sizeof(T));
        if (version == seen_) return Freshness::old_data;
        seen_ = version;
        return Freshness::new_data;
      }
      return Freshness::old_data;
    }

   private:
    const BroadcastValue* value_;
    std::uint32_t seen_ = 0;  // the version that was read last
  };

 private:
  /// Versions run over from the largest to 2: 0 says that there is none, and 1 would be the slot that is
  /// being read.
  [[nodiscard]] static constexpr std::uint32_t next(std::uint32_t version) noexcept {
    return version == 0xffffffff ? 2 : version + 1;
  }
  [[nodiscard]] static Words to_words(const T& value) noexcept {
    Words words{};
    std::memcpy(words.data(), &value, sizeof(T));
    return words;
  }

  alignas(cache_line) Atomic<std::uint32_t> published_{0};  // the version that may be read; 0 = none
  Atomic<std::uint32_t> started_{0};                        // the version that is being or has been written
  Slot slots_[2];
};
static_assert(sizeof(BroadcastValue<std::uint64_t>) == 3 * cache_line,
              "a line for the versions and one for each slot");

}  // namespace takt::shm
