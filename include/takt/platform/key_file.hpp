// Secret keys in files, and the random bytes of which keys are made. A key file holds the bytes of one key and nothing else. It is
// refused unless it is this user's own regular file that nobody else can read or write (mode 0600 or 0400) and has exactly the
// key's size: a program that cannot have its key does not start, rather than go on without one. Not real-time safe.
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

/// Reads the key. Errors, with the path and the reason, upon which `key` is zeros: no_key_file (it cannot be opened; symbolic links
/// are not followed), key_file_owner, key_file_mode, key_file_size (also of what is no regular file).
[[nodiscard]] SetupResult<void> read_key_file(const std::string& path, std::span<std::uint8_t> key);

/// The same for a key of one of these sizes; `key` must hold the longest. Returns the size.
[[nodiscard]] SetupResult<std::size_t> read_key_file(const std::string& path, std::span<std::uint8_t> key,
                                                     std::span<const std::size_t> sizes);

template <std::size_t Size>
[[nodiscard]] SetupResult<std::array<std::uint8_t, Size>> read_key_file(const std::string& path) {
  std::array<std::uint8_t, Size> key{};
  if (auto read = read_key_file(path, key); !read) return tl::unexpected(read.error());
  return key;
}

/// Makes a file of mode 0600 that is not there yet. Errors: key_file_exists, key_file_failed: then there is no file.
[[nodiscard]] SetupResult<void> write_key_file(const std::string& path, std::span<const std::uint8_t> key);

/// Fills with random bytes of the operating system, fit for keys; waits until the machine has gathered enough after its start.
/// Error: no_randomness.
[[nodiscard]] Status fill_random(std::span<std::uint8_t> bytes) noexcept;

template <std::size_t Size>
[[nodiscard]] Result<std::array<std::uint8_t, Size>> random_bytes() noexcept {
  std::array<std::uint8_t, Size> bytes{};
  if (const Status filled = fill_random(bytes); !filled) return fail(filled.error());
  return bytes;
}

}  // namespace takt::platform
