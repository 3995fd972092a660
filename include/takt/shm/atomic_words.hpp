// Copies a value word by word while another thread may be writing it. Each word is atomic, so the copy is no
// data race. A reader detects afterwards, by a mark beside the words, whether the copy mixes two values.
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

/// A byte range inside a value.
struct Piece {
  std::size_t first = 0;  ///< bytes from the beginning of the value
  // Length of the range in bytes.
  std::size_t bytes = 0;
};

namespace detail {

/// How many words hold a value of `bytes` bytes.
[[nodiscard]] constexpr std::size_t words_for(std::size_t bytes) noexcept {
  return (bytes + sizeof(std::uintptr_t) - 1) / sizeof(std::uintptr_t);
}

/// Calls `copy(size)` with the number of bytes that word `i` holds of a value of `bytes` bytes. All words are
/// whole except possibly the last.
///
/// Values are copied by words everywhere. A load wider than the stores before it waits until those stores
/// have left the core.
template <class Copy>
void copy_word(std::size_t bytes, std::size_t i, Copy copy) noexcept {
  // If the size is a multiple of a word, the compiler drops the second branch.
  if (bytes % sizeof(std::uintptr_t) == 0 || i < bytes / sizeof(std::uintptr_t)) {
    copy(sizeof(std::uintptr_t));
  } else {
    copy(bytes % sizeof(std::uintptr_t));
  }
}

/// The protocol around the next three functions:
///
/// - The writer marks the place as being written (relaxed), stores the words, and marks it as complete
///   (release).
/// - The reader loads the mark (acquire), loads the words, and loads the mark again (relaxed). It accepts the
///   copy if both marks are equal.
///
/// store_words() stores the words `first` to `end` - 1 of a value of `bytes` bytes.
template <class AtomicWord>
void store_words(AtomicWord* words, const std::byte* value, std::size_t bytes, std::size_t first,
                 std::size_t end) noexcept {
  for (std::size_t i = first; i < end; ++i) {
    std::uintptr_t word = 0;
    copy_word(bytes, i, [&](std::size_t size) { std::memcpy(&word, value + i * sizeof(word), size); });
    // release: a reader that sees this word also sees the mark before it, and discards its copy.
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
    // acquire: if this word belongs to a later write, the second load of the mark sees that this write has
    // begun.
    copy[i] = words[i].load(std::memory_order_acquire);
  }
}
inline void take_words(const std::uintptr_t* copy, std::byte* value, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < words_for(bytes); ++i) {
    copy_word(bytes, i, [&](std::size_t size) { std::memcpy(value + i * sizeof(copy[i]), &copy[i], size); });
  }
}

/// The words of one T, shared by one writer and any number of readers. Real-time safe.
template <class T, class Machine = Processor>
class AtomicWords {
  static_assert(std::is_trivially_copyable_v<T>, "values are copied as words");
  static constexpr std::size_t count = words_for(sizeof(T));

 public:
  /// A copy that may mix two values until the mark confirms it.
  class Copy {
   public:
    /// Writes the copied words into `value`.
    void to(T& value) const noexcept {
      take_words(words_.data(), reinterpret_cast<std::byte*>(&value), sizeof(T));
    }

   private:
    friend AtomicWords;
    std::array<std::uintptr_t, count> words_;
  };

  /// Stores the whole value.
  void store(const T& value) noexcept {
    store_words(words_.data(), reinterpret_cast<const std::byte*>(&value), sizeof(T));
  }

  /// Stores a value whose bytes are those of `head` and then those of `tail`. The head consists of words.
  template <class Head, class Tail>
  void store(const Head& head, const Tail& tail) noexcept {
    static_assert(sizeof(Head) % sizeof(std::uintptr_t) == 0 && sizeof(Head) + sizeof(Tail) <= sizeof(T));
    static_assert(std::is_trivially_copyable_v<Head> && std::is_trivially_copyable_v<Tail>);
    store_words(words_.data(), reinterpret_cast<const std::byte*>(&head), sizeof(Head));
    store_words(words_.data() + sizeof(Head) / sizeof(std::uintptr_t),
                reinterpret_cast<const std::byte*>(&tail), sizeof(Tail));
  }

  /// Stores the words that contain `piece` of the value. The other words keep their contents.
  void store(const T& value, const Piece& piece) noexcept {
    store_words(words_.data(), reinterpret_cast<const std::byte*>(&value), sizeof(T),
                piece.first / sizeof(std::uintptr_t), words_for(piece.first + piece.bytes));
  }

  /// A hint to the processor: a store of `piece` follows soon.
  void prefetch_to_write(const Piece& piece) const noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(&words_) + piece.first;
    for (std::size_t i = 0; i < piece.bytes; i += cache_line) Machine::prefetch_to_write(bytes + i);
  }

  /// Loads all words.
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
