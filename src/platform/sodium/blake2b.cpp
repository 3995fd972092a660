#include "takt/platform/blake2b.hpp"

#include <sodium/crypto_generichash_blake2b.h>

namespace takt::platform {

Tag Blake2b::tag(std::span<const std::uint8_t> bytes) const noexcept {
  static_assert(sizeof(Tag) >= crypto_generichash_blake2b_BYTES_MIN &&
                key_size <= crypto_generichash_blake2b_KEYBYTES_MAX);
  Tag tag{};
  // It fails only for unsupported sizes; ours are supported. sodium_init() is optional; it would choose
  // faster code.
  static_cast<void>(crypto_generichash_blake2b(tag.data(), tag.size(), bytes.data(), bytes.size(),
                                               key_.data(), key_.size()));
  return tag;
}

}  // namespace takt::platform
