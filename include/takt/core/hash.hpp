// FNV-1a with 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/). Two programs compare such hashes when
// they meet, to detect that their data differ. It detects mistakes, not malice. constexpr; real-time safe.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace takt {

/// A hash over bytes, in the order of the calls.
class Fnv1a {
 public:
  /// Adds one byte.
  constexpr void byte(std::uint8_t byte) noexcept { value_ = (value_ ^ byte) * 0x100000001b3; }
  /// Adds the characters, without their number.
  constexpr void text(std::string_view text) noexcept {
    for (const char c : text) byte(static_cast<std::uint8_t>(c));
  }
  /// Adds a number as 8 bytes, the least significant first.
  constexpr void number(std::integral auto number) noexcept {
    auto rest = static_cast<std::uint64_t>(number);
    for (int i = 0; i < 8; ++i, rest >>= 8) byte(static_cast<std::uint8_t>(rest));
  }

  /// The hash of all that was added.
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

/// The hash of a text.
[[nodiscard]] constexpr std::uint64_t fnv1a(std::string_view text) noexcept {
  Fnv1a hash;
  hash.text(text);
  return hash.value();
}

}  // namespace takt
