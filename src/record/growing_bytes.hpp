// Bytes that grow as numbers are appended: little endian, as MCAP and CDR have them here.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "takt/core/bytes.hpp"

namespace takt::record {

static_assert(std::endian::native == std::endian::little,
              "takt::record writes the numbers of memory as they are");

using Bytes = std::vector<std::uint8_t>;

/// Appends a number.
template <class T>
requires std::integral<T> || std::floating_point<T>
void append(Bytes& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

/// Appends bytes as they are.
inline void append(Bytes& bytes, std::span<const std::uint8_t> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}
inline void append(Bytes& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

/// Bytes that are written for each cycle. Unlike a vector, they grow without being cleared first.
class Buffer {
 public:
  void clear() noexcept { size_ = 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept {
    return std::span(store_).first(size_);
  }

  template <class T>
  requires std::integral<T> || std::floating_point<T>
  void put(T value) { std::memcpy(grow(sizeof(T)), &value, sizeof(T)); }
  void put(std::span<const std::uint8_t> bytes) {
    if (!bytes.empty()) std::memcpy(grow(bytes.size()), bytes.data(), bytes.size());
  }
  /// Up to the next multiple of `alignment` behind `from`.
  void pad(std::size_t alignment, std::size_t from) {
    for (; (size_ - from) % alignment != 0; *grow(1) = 0) {
    }
  }

 private:
  std::uint8_t* grow(std::size_t count) {
    if (count > store_.size() - size_) store_.resize(2 * (size_ + count));
    size_ += count;
    return store_.data() + size_ - count;
  }

  Bytes store_;  ///< size_ bytes of it are in use
  std::size_t size_ = 0;
};

/// Writes a number over the bytes at `at`, which exist.
template <std::integral T>
void put(Bytes& bytes, std::size_t at, T value) noexcept {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

[[nodiscard]] inline std::span<const std::uint8_t> as_bytes(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
[[nodiscard]] inline std::string_view as_text(std::span<const std::uint8_t> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
/// A text with its length (u32) before it.
[[nodiscard]] inline std::string_view take_text(ByteReader& reader) noexcept {
  return as_text(reader.bytes(reader.little<std::uint32_t>()));
}

}  // namespace takt::record
