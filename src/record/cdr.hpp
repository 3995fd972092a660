// CDR as ROS 2 uses it: XCDR1, little endian. A message begins with four bytes, 00 01 00 00. Each number is
// aligned to its size, counted from the byte after these. A string is its length with the final NUL (u32),
// its bytes, and NUL. A sequence is its length (u32) and its elements.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "record/growing_bytes.hpp"

namespace takt::record {

inline constexpr std::array<std::uint8_t, 4> cdr_header{0, 1, 0, 0};

/// Writes one message into a buffer, which it keeps between messages.
class CdrWriter {
 public:
  /// Begins a message, and forgets the one before.
  void begin() { bytes_.assign(cdr_header.begin(), cdr_header.end()); }
  template <class T>
  void number(T value) {
    align(sizeof(T));
    append(bytes_, value);
  }
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size() + 1));
    append(bytes_, text);
    bytes_.push_back(0);
  }
  /// A sequence of numbers.
  template <class T>
  void numbers(std::span<const T> values) {
    number(static_cast<std::uint32_t>(values.size()));
    if (!values.empty()) array(as_span(values), sizeof(T));
  }
  /// The elements of an array of numbers of `size` bytes each.
  void array(std::span<const std::uint8_t> elements, std::size_t size) {
    align(size);
    append(bytes_, elements);
  }
  /// Valid until the next begin().
  [[nodiscard]] std::span<const std::uint8_t> message() const noexcept { return bytes_; }

 private:
  template <class T>
  static std::span<const std::uint8_t> as_span(std::span<const T> values) noexcept {
    return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
  }
  void align(std::size_t size) {
    const std::size_t body = bytes_.size() - cdr_header.size();
    bytes_.resize(bytes_.size() + (size - body % size) % size);
  }

  Bytes bytes_;
};

/// Reads one message from outside. Like ByteReader, it stays failed after the end of the bytes.
class CdrReader {
 public:
  /// Fails for any other encapsulation than cdr_header's. Its last two bytes are options, which do not
  /// matter.
  explicit CdrReader(std::span<const std::uint8_t> message) noexcept
      : ok_(message.size() >= cdr_header.size() && message[0] == 0 && message[1] == 1) {
    if (ok_) body_ = message.subspan(cdr_header.size());
  }

  template <class T>
  requires std::integral<T> || std::floating_point<T>
  [[nodiscard]] T number() noexcept {
    const std::span<const std::uint8_t> bytes = take(sizeof(T), sizeof(T));
    T value{};
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  /// Without its NUL. It points into the message.
  [[nodiscard]] std::string_view text() noexcept {
    const std::span<const std::uint8_t> bytes = take(number<std::uint32_t>(), 1);
    return as_text(bytes.first(bytes.empty() ? 0 : bytes.size() - 1));
  }
  /// The length of a sequence whose elements take at least `size` bytes each.
  [[nodiscard]] std::size_t length(std::size_t size) noexcept {
    const auto count = number<std::uint32_t>();
    if (count > (body_.size() - position_) / size) ok_ = false;
    return ok_ ? count : 0;
  }
  /// The bytes of `count` numbers of `size` bytes each.
  [[nodiscard]] std::span<const std::uint8_t> array(std::size_t count, std::size_t size) noexcept {
    if (count > body_.size()) ok_ = false;
    return ok_ ? take(count * size, count == 0 ? 1 : size) : std::span<const std::uint8_t>();
  }

  /// Returns false after any read beyond the end.
  [[nodiscard]] bool ok() const noexcept { return ok_; }

 private:
  std::span<const std::uint8_t> take(std::size_t count, std::size_t alignment) noexcept {
    const std::size_t from = position_ + (alignment - position_ % alignment) % alignment;
    if (!ok_ || from > body_.size() || count > body_.size() - from) {
      ok_ = false;
      return {};
    }
    position_ = from + count;
    return body_.subspan(from, count);
  }

  std::span<const std::uint8_t> body_;
  std::size_t position_ = 0;
  bool ok_;
};

}  // namespace takt::record
