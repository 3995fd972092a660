// Which of a sender's numbered frames have come already. All numbers above the highest are new; of the last Bits numbers up to it
// each is remembered by a bit; what is older counts as seen. As the anti-replay window of IPsec (RFC 6479), but exactly as wide as
// it says.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/core/error.hpp"
#include "takt/secure/error.hpp"

namespace takt::secure {

enum class Freshness : std::uint8_t {
  newest,     ///< above all that came
  overtaken,  ///< not seen yet, but something newer has come
  seen,       ///< a second time, or too old to tell
};

/// Real-time safe.
template <std::size_t Bits>
class ReplayWindow {
  static_assert(Bits >= 64 && Bits <= 1024 && Bits % 64 == 0, "a window has 64 to 1024 bits, by whole words");

 public:
  [[nodiscard]] constexpr Freshness judge(std::uint64_t sequence) const noexcept {
    if (sequence > highest_) return Freshness::newest;
    if (highest_ - sequence >= Bits) return Freshness::seen;
    return (words_[place(sequence)] & bit(sequence)) != 0 ? Freshness::seen : Freshness::overtaken;
  }

  /// Of a number that was not judged to be seen. Call it only for a frame that is genuine.
  constexpr void accept(std::uint64_t sequence) noexcept {
    if (sequence > highest_) {
      const std::uint64_t entered = std::min<std::uint64_t>(sequence / 64 - highest_ / 64, words_.size());
      for (std::uint64_t i = 0; i < entered; ++i) words_[place(sequence - 64 * i)] = 0;
      highest_ = sequence;
    }
    words_[place(sequence)] |= bit(sequence);
  }

  /// 0 before the first.
  [[nodiscard]] constexpr std::uint64_t highest() const noexcept { return highest_; }

 private:
  static constexpr std::uint64_t bit(std::uint64_t sequence) noexcept {
    return std::uint64_t{1} << sequence % 64;
  }
  /// One word more than the window has, as it begins in the middle of one and ends in the middle of another.
  static constexpr std::size_t place(std::uint64_t sequence) noexcept {
    return static_cast<std::size_t>(sequence / 64 % (Bits / 64 + 1));
  }

  std::array<std::uint64_t, Bits / 64 + 1> words_{1};  // zero is no number of a frame: seen
  std::uint64_t highest_ = 0;
};

/// The numbers of the frames that one sends: 1, 2, ... and none a second time.
class SequenceCounter {
 public:
  explicit constexpr SequenceCounter(std::uint64_t last = 0) noexcept : last_(last) {}

  /// Error: sequence_end, for ever, after 2^64 - 1 frames.
  [[nodiscard]] constexpr Result<std::uint64_t> next() noexcept {
    if (last_ == UINT64_MAX) return fail(Errc::sequence_end);
    return ++last_;
  }

  /// Leaves out all numbers up to this one that were not used yet.
  constexpr void skip_to(std::uint64_t last) noexcept { last_ = std::max(last_, last); }

 private:
  std::uint64_t last_;
};

}  // namespace takt::secure
