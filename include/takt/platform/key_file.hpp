// Secret keys in files, and random bytes for new keys. A key file holds the bytes of one key and nothing
// else. It must be a regular file of this user, have mode 0600 or 0400, and have exactly the key's size.
// Otherwise it is rejected, so a program does not start without its key. Not real-time safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "takt/core/error.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/platform/error.hpp"

namespace takt::platform {

/// Reads a key of key.size() bytes. After an error `key` is zeros, and the message has the path and the
/// reason. Errors: no_key_file (it cannot be opened; symbolic links are not followed), key_file_owner,
/// key_file_mode, key_file_size (also if it is no regular file).
[[nodiscard]] SetupResult<void> read_key_file(const std::string& path, std::span<std::uint8_t> key);

/// Reads a key of one of `sizes` bytes and returns its size. `key` must have room for the longest. Errors: as
/// above.
[[nodiscard]] SetupResult<std::size_t> read_key_file(const std::string& path, std::span<std::uint8_t> key,
                                                     std::span<const std::size_t> sizes);

/// Reads a key of `Size` bytes. Errors: as above.
template <std::size_t Size>
[[nodiscard]] SetupResult<std::array<std::uint8_t, Size>> read_key_file(const std::string& path) {
  std::array<std::uint8_t, Size> key{};
  if (auto read = read_key_file(path, key); !read) return tl::unexpected(read.error());
  return key;
}

/// Creates a new file of mode 0600 with the key. Errors: key_file_exists, key_file_failed. After
/// key_file_failed there is no file.
[[nodiscard]] SetupResult<void> write_key_file(const std::string& path, std::span<const std::uint8_t> key);

/// Fills `bytes` with random bytes of the operating system, suitable for keys. Waits after boot until the
/// system has enough entropy. Errors: no_randomness.
[[nodiscard]] Status fill_random(std::span<std::uint8_t> bytes) noexcept;

/// Returns `Size` random bytes. Errors: no_randomness.
template <std::size_t Size>
[[nodiscard]] Result<std::array<std::uint8_t, Size>> random_bytes() noexcept {
  std::array<std::uint8_t, Size> bytes{};
  if (const Status filled = fill_random(bytes); !filled) return fail(filled.error());
  return bytes;
}

}  // namespace takt::platform
