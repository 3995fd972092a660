// Loads and stores of a few bytes of a frame as one number, for all codecs of this room. Each takes one or
// two machine instructions where the processor allows it. In a constant expression the result is the same.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace takt::can {

namespace detail {
/// Whether the processor can copy `Count` bytes as one integer.
template <std::size_t Count>
inline constexpr bool copies_as_word = std::endian::native == std::endian::little &&
                                       (Count == 2 || Count == 4 || Count == 8);

template <std::size_t Count>
using word_of_size = std::conditional_t<Count == 2, std::uint16_t,
                                        std::conditional_t<Count == 4, std::uint32_t, std::uint64_t>>;

/// The largest power of two below `Count`. Odd counts are copied in two pieces.
template <std::size_t Count>
inline constexpr std::size_t first_piece = std::bit_floor(Count - 1);
}  // namespace detail

/// Returns `Count` bytes as a number; the first byte is the least significant. Real-time safe.
template <std::size_t Count>
[[nodiscard]] constexpr std::uint64_t load_little(const std::uint8_t* bytes) noexcept {
  static_assert(Count >= 1 && Count <= 8);
  if constexpr (Count == 1) {
    return *bytes;
  } else {
    if constexpr (detail::copies_as_word<Count>) {
      if (!std::is_constant_evaluated()) {
        detail::word_of_size<Count> word;
        std::memcpy(&word, bytes, Count);
        return word;
      }
    }
    constexpr std::size_t first = detail::first_piece<Count>;
    return load_little<first>(bytes) | load_little<Count - first>(bytes + first) << (8 * first);
  }
}

/// Stores the low `Count` bytes of a number, the least significant first. Real-time safe.
template <std::size_t Count>
constexpr void store_little(std::uint8_t* bytes, std::uint64_t value) noexcept {
  static_assert(Count >= 1 && Count <= 8);
  if constexpr (Count == 1) {
    *bytes = static_cast<std::uint8_t>(value);
  } else {
    if constexpr (detail::copies_as_word<Count>) {
      if (!std::is_constant_evaluated()) {
        const auto word = static_cast<detail::word_of_size<Count>>(value);
        std::memcpy(bytes, &word, Count);
        return;
      }
    }
    constexpr std::size_t first = detail::first_piece<Count>;
    store_little<first>(bytes, value);
    store_little<Count - first>(bytes + first, value >> (8 * first));
  }
}

}  // namespace takt::can
