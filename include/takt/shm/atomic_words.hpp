// A value that is copied while somebody may be writing it: word by word, each word atomic, so that the race is none in the
// language's sense, and whoever reads can find out afterwards that what was read does not belong together.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "takt/shm/machine.hpp"

namespace takt::shm::detail {

/// The words of one T. The protocol around them: the writer marks the place as being written (relaxed), stores the words, and
/// marks it as complete (release). The reader looks at the mark (acquire), loads the words, and looks again (relaxed).
template <class T, class Machine = Processor>
class AtomicWords {
  static_assert(std::is_trivially_copyable_v<T>, "values are copied as words");
  using Word = std::uintptr_t;
  static constexpr std::size_t count = (sizeof(T) + sizeof(Word) - 1) / sizeof(Word);

  /// How much of the value is in a word. Values are copied by words throughout: a processor that has just stored words waits
  /// until they have left it before it can load two of them as one.
  [[nodiscard]] static constexpr std::size_t size_of(std::size_t word) noexcept {
    return std::min(sizeof(Word), sizeof(T) - word * sizeof(Word));
  }

 public:
  /// A copy that may not belong together, until the mark says so.
  class Copy {
   public:
    void to(T& value) const noexcept {
      auto* bytes = reinterpret_cast<std::byte*>(&value);
      for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes + i * sizeof(Word), &words_[i], size_of(i));
    }

   private:
    friend AtomicWords;
    std::array<Word, count> words_;
  };

  void store(const T& value) noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    for (std::size_t i = 0; i < count; ++i) {
      Word word = 0;
      std::memcpy(&word, bytes + i * sizeof(Word), size_of(i));
      // release: a reader that sees this word also sees the mark before it, and discards what it has read.
      words_[i].store(word, std::memory_order_release);
    }
  }

  [[nodiscard]] Copy load() const noexcept {
    Copy copy;
    for (std::size_t i = 0; i < count; ++i) {
      // acquire: if the word is of a later write, the second look at the mark sees that this write has begun.
      copy.words_[i] = words_[i].load(std::memory_order_acquire);
    }
    return copy;
  }

 private:
  std::array<typename Machine::template Atomic<Word>, count> words_{};
};
static_assert(sizeof(AtomicWords<std::uint64_t[7]>) == 56);

}  // namespace takt::shm::detail
