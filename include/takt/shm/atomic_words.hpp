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
#include "takt/shm/memory.hpp"

namespace takt::shm {

/// Some bytes of a value.
struct Piece {
  std::size_t first = 0;  ///< from the beginning of the value
  std::size_t bytes = 0;
};

namespace detail {

/// How many words hold a value of `bytes` bytes.
[[nodiscard]] constexpr std::size_t words_for(std::size_t bytes) noexcept {
  return (bytes + sizeof(std::uintptr_t) - 1) / sizeof(std::uintptr_t);
}

/// How much of such a value is in word `i`. Values are copied by words throughout: a processor that has just stored words waits
/// until they have left it before it can load two of them as one. The last word has what is left over.
template <class Copy>
void copy_word(std::size_t bytes, std::size_t i, Copy copy) noexcept {
  // Where the compiler knows that nothing is left over, it need not look.
  if (bytes % sizeof(std::uintptr_t) == 0 || i < bytes / sizeof(std::uintptr_t)) {
    copy(sizeof(std::uintptr_t));
  } else {
    copy(bytes % sizeof(std::uintptr_t));
  }
}

/// The protocol around these three: the writer marks the place as being written (relaxed), stores the words, and marks it as
/// complete (release). The reader looks at the mark (acquire), loads the words, looks again (relaxed), and takes what it has loaded
/// if the mark is the same.
template <class AtomicWord>
void store_words(AtomicWord* words, const std::byte* value, std::size_t bytes, std::size_t first,
                 std::size_t end) noexcept {
  for (std::size_t i = first; i < end; ++i) {
    std::uintptr_t word = 0;
    copy_word(bytes, i, [&](std::size_t size) { std::memcpy(&word, value + i * sizeof(word), size); });
    // release: a reader that sees this word also sees the mark before it, and discards what it has read.
    words[i].store(word, std::memory_order_release);
  }
}
template <class AtomicWord>
void store_words(AtomicWord* words, const std::byte* value, std::size_t bytes) noexcept {
  store_words(words, value, bytes, 0, words_for(bytes));
}
template <class AtomicWord>
void load_words(const AtomicWord* words, std::uintptr_t* copy, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < words_for(bytes); ++i) {
    // acquire: if the word is of a later write, the second look at the mark sees that this write has begun.
    copy[i] = words[i].load(std::memory_order_acquire);
  }
}
inline void take_words(const std::uintptr_t* copy, std::byte* value, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < words_for(bytes); ++i) {
    copy_word(bytes, i, [&](std::size_t size) { std::memcpy(value + i * sizeof(copy[i]), &copy[i], size); });
  }
}

/// The words of one T.
template <class T, class Machine = Processor>
class AtomicWords {
  static_assert(std::is_trivially_copyable_v<T>, "values are copied as words");
  static constexpr std::size_t count = words_for(sizeof(T));

 public:
  /// A copy that may not belong together, until the mark says so.
  class Copy {
   public:
    void to(T& value) const noexcept {
      take_words(words_.data(), reinterpret_cast<std::byte*>(&value), sizeof(T));
    }

   private:
    friend AtomicWords;
    std::array<std::uintptr_t, count> words_;
  };

  void store(const T& value) noexcept {
    store_words(words_.data(), reinterpret_cast<const std::byte*>(&value), sizeof(T));
  }

  /// The words that hold `piece` of the value; the others stay as they are.
  void store(const T& value, const Piece& piece) noexcept {
    store_words(words_.data(), reinterpret_cast<const std::byte*>(&value), sizeof(T),
                piece.first / sizeof(std::uintptr_t), words_for(piece.first + piece.bytes));
  }

  /// A hint: a store of `piece` comes soon.
  void prefetch_to_write(const Piece& piece) const noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(&words_) + piece.first;
    for (std::size_t i = 0; i < piece.bytes; i += cache_line) Machine::prefetch_to_write(bytes + i);
  }

  [[nodiscard]] Copy load() const noexcept {
    Copy copy;
    load_words(words_.data(), copy.words_.data(), sizeof(T));
    return copy;
  }

 private:
  std::array<typename Machine::template Atomic<std::uintptr_t>, count> words_{};
};
static_assert(sizeof(AtomicWords<std::uint64_t[7]>) == 56);

}  // namespace detail

}  // namespace takt::shm
