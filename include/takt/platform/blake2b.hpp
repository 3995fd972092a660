// Keyed BLAKE2b with 128 bits of output (RFC 7693), implemented by libsodium. An authenticator with a key of
// 256 bits, for programs that need a longer key than the 128 bits of SipHash. Optional component:
// find_package(takt COMPONENTS sodium), takt::sodium.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/core/authenticator.hpp"

namespace takt::platform {

/// Satisfies Authenticator. Any number of threads may use one object.
class Blake2b {
 public:
  static constexpr std::size_t key_size = 32;

  /// Copies the key.
  explicit Blake2b(std::span<const std::uint8_t, key_size> key) noexcept {
    std::copy(key.begin(), key.end(), key_.begin());
  }

  /// The tag of the bytes. Real-time safe.
  [[nodiscard]] Tag tag(std::span<const std::uint8_t> bytes) const noexcept;

 private:
  std::array<std::uint8_t, key_size> key_{};
};
static_assert(Authenticator<Blake2b>);

}  // namespace takt::platform
