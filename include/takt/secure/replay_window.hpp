// Detects repeated frames by their sequence numbers. Numbers above the highest one are new. One bit marks
// each of the last Bits numbers. Older numbers count as seen. It works as the anti-replay window of IPsec
// (RFC 6479), but with exactly the given width.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/core/error.hpp"
#include "takt/secure/error.hpp"

namespace takt::secure {

/// The result of a check.
enum class ReplayVerdict : std::uint8_t {
  newest,     ///< above all accepted numbers
  overtaken,  ///< not seen yet, but a newer one was accepted
  seen,       ///< seen before, or too old to tell
};

/// The window over the last Bits numbers. Real-time safe.
template <std::size_t Bits>
class ReplayWindow {
  static_assert(Bits >= 64 && Bits <= 1024 && Bits % 64 == 0, "a window has 64 to 1024 bits, by whole words");

 public:
  /// Checks a number without accepting it.
  [[nodiscard]] constexpr ReplayVerdict judge(std::uint64_t sequence) const noexcept {
    if (sequence > highest_) return ReplayVerdict::newest;
    if (highest_ - sequence >= Bits) return ReplayVerdict::seen;
    return (words_[place(sequence)] & bit(sequence)) != 0 ? ReplayVerdict::seen : ReplayVerdict::overtaken;
  }

  /// Marks a number as seen. Call it only for an authenticated frame that judge() did not call seen.
  constexpr void accept(std::uint64_t sequence) noexcept {
    if (sequence > highest_) {
      const std::uint64_t entered = std::min<std::uint64_t>(sequence / 64 - highest_ / 64, words_.size());
      for (std::uint64_t i = 0; i < entered; ++i) words_[place(sequence - 64 * i)] = 0;
      highest_ = sequence;
    }
    words_[place(sequence)] |= bit(sequence);
  }

  /// The highest accepted number; 0 before the first.
  [[nodiscard]] constexpr std::uint64_t highest() const noexcept { return highest_; }

 private:
  static constexpr std::uint64_t bit(std::uint64_t sequence) noexcept {
    return std::uint64_t{1} << sequence % 64;
  }
  /// The ring has one word more than the window, because the window may begin and end in the middle of a
  /// word.
  static constexpr std::size_t place(std::uint64_t sequence) noexcept {
    return static_cast<std::size_t>(sequence / 64 % (Bits / 64 + 1));
  }

  std::array<std::uint64_t, Bits / 64 + 1> words_{1};  // zero is not a valid number: seen
  std::uint64_t highest_ = 0;
};

/// Counts sequence numbers 1, 2, ... for sending. It returns none twice.
class SequenceCounter {
 public:
  /// Argument `last`: the number before the first.
  explicit constexpr SequenceCounter(std::uint64_t last = 0) noexcept : last_(last) {}

  /// The next number. Error: sequence_end after 2^64 - 1 numbers, permanently.
  [[nodiscard]] constexpr Result<std::uint64_t> next() noexcept {
    if (last_ == UINT64_MAX) return fail(Errc::sequence_end);
    return ++last_;
  }

  /// Skips all unused numbers up to this one.
  constexpr void skip_to(std::uint64_t last) noexcept { last_ = std::max(last_, last); }

 private:
  std::uint64_t last_;
};

}  // namespace takt::secure
