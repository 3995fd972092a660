// A keyed tag over bytes, by which whoever has the key knows that another who has it made them: a message
// authentication code. Plain concept; takt/core/siphash.hpp has one without dependency,
// takt/platform/blake2b.hpp one by libsodium.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace takt {

/// 128 bits: guessing one takes 2^127 tries on average, each of which the receiver sees.
using Tag = std::array<std::uint8_t, 16>;

/// Made of a key of key_size bytes, which it keeps; a copy is as good. tag(bytes) is a pseudo-random
/// function: who does not have the key cannot tell it from noise, and so it serves for deriving keys too.
/// Both are real-time safe.
// clang-format off
template <class A>
concept Authenticator = std::copyable<A> &&
    requires(const A& authenticator, std::span<const std::uint8_t, A::key_size> key, std::span<const std::uint8_t> bytes) {
  { A(key) } noexcept;
  { authenticator.tag(bytes) } noexcept -> std::same_as<Tag>;
};
// clang-format on

/// Whether two tags are equal, in a time that does not depend on where they differ: a comparison that stops
/// at the first wrong byte lets a forger find a tag byte by byte. Real-time safe.
[[nodiscard]] inline bool equal_in_constant_time(std::span<const std::uint8_t, sizeof(Tag)> one,
                                                 std::span<const std::uint8_t, sizeof(Tag)> other) noexcept {
  volatile std::uint8_t differences = 0;  // volatile, so that no compiler finds out that it could stop early
  for (std::size_t i = 0; i < sizeof(Tag); ++i) {
    differences = static_cast<std::uint8_t>(differences | (one[i] ^ other[i]));
  }
  return differences == 0;
}

/// Whether the tag is that of the bytes. Real-time safe; the time depends on their number alone.
template <Authenticator A>
[[nodiscard]] bool verify(const A& authenticator, std::span<const std::uint8_t> bytes,
                          std::span<const std::uint8_t, sizeof(Tag)> tag) noexcept {
  return equal_in_constant_time(authenticator.tag(bytes), tag);
}

}  // namespace takt
