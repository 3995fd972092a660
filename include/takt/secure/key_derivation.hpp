// Derives keys from a key, by the counter mode of NIST SP 800-108r1, 4.1, with an authenticator as
// pseudo-random function.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/core/authenticator.hpp"
#include "takt/core/bytes.hpp"

namespace takt {

/// Derives a key of `Size` bytes for one purpose. Keys of different labels or contexts reveal nothing about
/// each other. Block i = 1, 2, ... of 16 bytes is K(i) = PRF(key, i || label || 0 || context || bits of the
/// result). The label is a literal, whose terminating NUL is the 0. The compiler knows all lengths, so
/// nothing can fail. Real-time safe.
template <std::size_t Size, Authenticator A, std::size_t LabelSize, std::size_t ContextSize>
[[nodiscard]] std::array<std::uint8_t, Size> derive_key(
    const A& key, const char (&label)[LabelSize],
    const std::array<std::uint8_t, ContextSize>& context) noexcept {
  static_assert(Size > 0 && Size <= 255 * sizeof(Tag));
  std::array<std::uint8_t, Size> derived{};
  for (std::size_t at = 0; at < Size; at += sizeof(Tag)) {
    std::array<std::uint8_t, 1 + LabelSize + ContextSize + 2> input{};
    ByteWriter writer(input);
    writer.big(static_cast<std::uint8_t>(at / sizeof(Tag) + 1));
    for (const char letter : label) writer.big(static_cast<std::uint8_t>(letter));
    writer.bytes(context);
    writer.big(static_cast<std::uint16_t>(8 * Size));
    const Tag block = key.tag(input);
    std::copy_n(block.begin(), std::min(sizeof(Tag), Size - at),
                derived.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return derived;
}

}  // namespace takt
