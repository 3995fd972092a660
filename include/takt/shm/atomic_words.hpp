// A value that is copied while somebody may be writing it: word by word, each word atomic, so that the race is none in the
// language's sense, and whoever reads can find out afterwards that what was read does not belong together.
#pragma once

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

 public:
  /// A copy that may not belong together, until the mark says so.
  class Copy {
   public:
    void to(T& value) const noexcept { std::memcpy(static_cast<void*>(&value), words_.data(), sizeof(T)); }

   private:
    friend AtomicWords;
    std::array<Word, count> words_;
  };

  void store(const T& value) noexcept {
    Copy copy;
    copy.words_.back() = 0;  // it may not be filled
    std::memcpy(copy.words_.data(), &value, sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
      // release: a reader that sees this word also sees the mark before it, and discards what it has read.
      words_[i].store(copy.words_[i], std::memory_order_release);
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
