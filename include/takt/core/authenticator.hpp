// A message authentication code: a keyed tag over bytes. It proves to a holder of the key that another holder
// of the key made the bytes. This is only the concept. takt/core/siphash.hpp implements it without
// dependencies, takt/platform/blake2b.hpp with libsodium.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace takt {

/// 128 bits. Guessing a tag takes 2^127 tries on average, and the receiver sees each of them.
using Tag = std::array<std::uint8_t, 16>;

/// An authenticator is made from a key of key_size bytes and keeps it; a copy is equivalent. tag(bytes) is a
/// pseudo-random function. A tag looks like noise without the key, so it also serves for deriving keys. Both
/// are real-time safe.
// clang-format off
template <class A>
concept Authenticator = std::copyable<A> &&
    requires(const A& authenticator, std::span<const std::uint8_t, A::key_size> key, std::span<const std::uint8_t> bytes) {
  { A(key) } noexcept;
  { authenticator.tag(bytes) } noexcept -> std::same_as<Tag>;
};
// clang-format on

/// Compares two tags in a time that does not depend on where they differ. Real-time safe. A comparison that
/// stops at the first wrong byte would let an attacker forge a tag byte by byte.
[[nodiscard]] inline bool equal_in_constant_time(std::span<const std::uint8_t, sizeof(Tag)> one,
                                                 std::span<const std::uint8_t, sizeof(Tag)> other) noexcept {
  volatile std::uint8_t differences = 0;  // volatile: the compiler must not stop the loop early
  for (std::size_t i = 0; i < sizeof(Tag); ++i) {
    differences = static_cast<std::uint8_t>(differences | (one[i] ^ other[i]));
  }
  return differences == 0;
}

/// Whether the tag belongs to the bytes. Real-time safe; the time depends only on the number of bytes.
template <Authenticator A>
[[nodiscard]] bool verify(const A& authenticator, std::span<const std::uint8_t> bytes,
                          std::span<const std::uint8_t, sizeof(Tag)> tag) noexcept {
  return equal_in_constant_time(authenticator.tag(bytes), tag);
}

}  // namespace takt
