// Reads and writes numbers in byte buffers from outside. Every access is checked against the buffer. A reader
// that ran out of bytes stays failed and returns zeros, so a decoder reads all its fields and checks ok()
// once. Buffers need no alignment, and function names state the byte order. Everything here is real-time safe
// and usable in constant expressions.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace takt {

namespace detail {
template <std::size_t Size>
using unsigned_of_size =
    std::conditional_t<Size == 1, std::uint8_t,
                       std::conditional_t<Size == 2, std::uint16_t,
                                          std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;
}  // namespace detail

/// A number that a wire format can contain: integers, float, double.
template <class T>
concept WireNumber = std::is_arithmetic_v<T> && !std::same_as<T, bool> && sizeof(T) <= 8;

/// Reads numbers one after another from a span. It does not own the span.
class ByteReader {
 public:
  explicit constexpr ByteReader(std::span<const std::uint8_t> bytes) noexcept : bytes_(bytes) {}

  /// The next number, least significant byte first; 0 after the end of the buffer.
  template <WireNumber T>
  [[nodiscard]] constexpr T little() noexcept {
    return read<T, false>();
  }
  /// The next number, most significant byte first; 0 after the end of the buffer.
  template <WireNumber T>
  [[nodiscard]] constexpr T big() noexcept {
    return read<T, true>();
  }
  /// The next `count` bytes. An empty span, and failure, if fewer bytes are left.
  [[nodiscard]] constexpr std::span<const std::uint8_t> bytes(std::size_t count) noexcept {
    if (!take(count)) return {};
    return bytes_.subspan(position_ - count, count);
  }
  /// Skips `count` bytes; fails if fewer bytes are left.
  constexpr void skip(std::size_t count) noexcept { static_cast<void>(take(count)); }

  /// False after any read beyond the end of the buffer.
  [[nodiscard]] constexpr bool ok() const noexcept { return ok_; }
  [[nodiscard]] constexpr std::size_t position() const noexcept { return position_; }
  [[nodiscard]] constexpr std::size_t remaining() const noexcept { return bytes_.size() - position_; }

 private:
  constexpr bool take(std::size_t count) noexcept {
    if (!ok_ || count > remaining()) {
      ok_ = false;
      return false;
    }
    position_ += count;
    return true;
  }
  template <class T, bool MostSignificantFirst>
  constexpr T read() noexcept {
    using Bits = detail::unsigned_of_size<sizeof(T)>;
    if (!take(sizeof(T))) return T{};
    Bits bits = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      const std::size_t shift = 8 * (MostSignificantFirst ? sizeof(T) - 1 - i : i);
      bits = static_cast<Bits>(bits | static_cast<Bits>(Bits{bytes_[position_ - sizeof(T) + i]} << shift));
    }
    return std::bit_cast<T>(bits);
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

/// Writes numbers one after another into a span. It does not own the span. A number that does not fit is not
/// written, not even partly.
class ByteWriter {
 public:
  explicit constexpr ByteWriter(std::span<std::uint8_t> bytes) noexcept : bytes_(bytes) {}

  /// Writes a number, least significant byte first.
  template <WireNumber T>
  constexpr void little(T value) noexcept {
    write<T, false>(value);
  }
  /// Writes a number, most significant byte first.
  template <WireNumber T>
  constexpr void big(T value) noexcept {
    write<T, true>(value);
  }
  /// Writes bytes as they are.
  constexpr void bytes(std::span<const std::uint8_t> source) noexcept {
    if (!take(source.size())) return;
    for (std::size_t i = 0; i < source.size(); ++i) bytes_[position_ - source.size() + i] = source[i];
  }

  /// False after any write beyond the end of the buffer.
  [[nodiscard]] constexpr bool ok() const noexcept { return ok_; }
  [[nodiscard]] constexpr std::size_t position() const noexcept { return position_; }
  /// The bytes written so far.
  [[nodiscard]] constexpr std::span<const std::uint8_t> written() const noexcept {
    return bytes_.first(position_);
  }

 private:
  constexpr bool take(std::size_t count) noexcept {
    if (!ok_ || count > bytes_.size() - position_) {
      ok_ = false;
      return false;
    }
    position_ += count;
    return true;
  }
  template <class T, bool MostSignificantFirst>
  constexpr void write(T value) noexcept {
    using Bits = detail::unsigned_of_size<sizeof(T)>;
    if (!take(sizeof(T))) return;
    const Bits bits = std::bit_cast<Bits>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      const std::size_t shift = 8 * (MostSignificantFirst ? sizeof(T) - 1 - i : i);
      bytes_[position_ - sizeof(T) + i] = static_cast<std::uint8_t>(bits >> shift);
    }
  }

  std::span<std::uint8_t> bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace takt
