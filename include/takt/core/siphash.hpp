// SipHash-2-4 with an output of 128 bits, a pseudo-random function for short messages. It takes about a
// nanosecond per two bytes, and a few instructions on a microcontroller. It has no table, and no branch or
// address that depends on the key. Source: J.-P. Aumasson and D. J. Bernstein: "SipHash: a fast short-input
// PRF" (2012), and the 128-bit variant of the authors' reference implementation.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/core/authenticator.hpp"

namespace takt {

namespace detail {
/// Least significant byte first, as everywhere in SipHash.
[[nodiscard]] constexpr std::uint64_t little_word(const std::uint8_t* bytes, std::size_t count = 8) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
  return word;
}

/// The state of one hash.
struct SipState {
  std::uint64_t v0, v1, v2, v3;

  constexpr SipState(std::uint64_t k0, std::uint64_t k1) noexcept
      : v0(k0 ^ 0x736f6d6570736575),
        v1(k1 ^ 0x646f72616e646f6d ^ 0xee),
        v2(k0 ^ 0x6c7967656e657261),
        v3(k1 ^ 0x7465646279746573) {}

  constexpr void round() noexcept {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  constexpr void compress(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
  /// Eight bytes of the result.
  [[nodiscard]] constexpr std::uint64_t finish() noexcept {
    for (int i = 0; i < 4; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }
};
}  // namespace detail

/// SipHash-2-4-128 with one key; an Authenticator. Real-time safe.
class SipHash128 {
 public:
  static constexpr std::size_t key_size = 16;

  explicit constexpr SipHash128(std::span<const std::uint8_t, key_size> key) noexcept
      : k0_(detail::little_word(key.data())), k1_(detail::little_word(key.data() + 8)) {}

  /// The tag of the bytes. Real-time safe; the time depends only on their number.
  [[nodiscard]] constexpr Tag tag(std::span<const std::uint8_t> bytes) const noexcept {
    detail::SipState state(k0_, k1_);
    const std::size_t whole = bytes.size() / 8 * 8;
    for (std::size_t i = 0; i < whole; i += 8) state.compress(detail::little_word(bytes.data() + i));
    const std::uint64_t rest = detail::little_word(bytes.data() + whole, bytes.size() - whole);
    state.compress(std::uint64_t{bytes.size()} << 56 | rest);
    state.v2 ^= 0xee;
    const std::uint64_t low = state.finish();
    state.v1 ^= 0xdd;
    const std::uint64_t high = state.finish();
    Tag tag{};
    for (std::size_t i = 0; i < 8; ++i) {
      tag[i] = static_cast<std::uint8_t>(low >> (8 * i));
      tag[8 + i] = static_cast<std::uint8_t>(high >> (8 * i));
    }
    return tag;
  }

 private:
  std::uint64_t k0_;
  std::uint64_t k1_;
};
static_assert(Authenticator<SipHash128>);

}  // namespace takt
