// Keyed BLAKE2b with 128 bits of output (RFC 7693), by libsodium: an authenticator with a key of 256 bits, for where SipHash's 128
// are thought too few. An optional component: find_package(takt COMPONENTS sodium), takt::sodium.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/core/authenticator.hpp"

namespace takt::platform {

class Blake2b {
 public:
  static constexpr std::size_t key_size = 32;

  explicit Blake2b(std::span<const std::uint8_t, key_size> key) noexcept {
    std::copy(key.begin(), key.end(), key_.begin());
  }

  /// Real-time safe.
  [[nodiscard]] Tag tag(std::span<const std::uint8_t> bytes) const noexcept;

 private:
  std::array<std::uint8_t, key_size> key_{};
};
static_assert(Authenticator<Blake2b>);

}  // namespace takt::platform
