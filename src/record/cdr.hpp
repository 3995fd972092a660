// CDR as ROS 2 uses it: XCDR1. A message begins with four bytes: 00 01 00 00 is little endian, and takt
// writes that; 00 00 00 00 is big endian. Each number is aligned to its size, counted from the byte after
// these. A string is its length with the final NUL (u32), its bytes, and NUL. A sequence is its length (u32)
// and its elements.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "record/growing_bytes.hpp"

namespace takt::record {

inline constexpr std::array<std::uint8_t, 4> cdr_header{0, 1, 0, 0};

/// Writes one message into a buffer, which it keeps between messages.
class CdrWriter {
 public:
  /// Begins a message, and forgets the one before.
  void begin() {
    buffer_.clear();
    buffer_.put(cdr_header);
  }
  template <class T>
  void number(T value) {
    buffer_.pad(sizeof(T), cdr_header.size());
    buffer_.put(value);
  }
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size() + 1));
    buffer_.put(as_bytes(text));
    buffer_.put(std::uint8_t{0});
  }
  /// A sequence of numbers.
  template <class T>
  void numbers(std::span<const T> values) {
    number(static_cast<std::uint32_t>(values.size()));
    if (values.empty()) return;
    array({reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()}, sizeof(T));
  }
  /// The elements of an array of numbers of `size` bytes each.
  void array(std::span<const std::uint8_t> elements, std::size_t size) {
    buffer_.pad(size, cdr_header.size());
    buffer_.put(elements);
  }
  /// Valid until the next begin().
  [[nodiscard]] std::span<const std::uint8_t> message() const noexcept { return buffer_.bytes(); }

 private:
  Buffer buffer_;
};

/// Appends a std_msgs/Header to the message that was begun. `stamp`: ns since 1970.
inline void write_header(CdrWriter& writer, std::uint64_t stamp, std::string_view frame) {
  constexpr std::uint64_t second = 1'000'000'000;
  writer.number(static_cast<std::uint32_t>(stamp / second));
  writer.number(static_cast<std::uint32_t>(stamp % second));
  writer.text(frame);
}

/// Reads one message from outside. Like ByteReader, it stays failed after the end of the bytes.
class CdrReader {
 public:
  /// The orders of bytes that a caller accepts. array() gives the bytes as they are.
  enum class Order : std::uint8_t { little, any };

  /// Fails for any other encapsulation. Its last two bytes are options, which do not matter.
  explicit CdrReader(std::span<const std::uint8_t> message, Order order = Order::little) noexcept
      : ok_(message.size() >= cdr_header.size() && message[0] == 0 &&
            (message[1] == 1 || (message[1] == 0 && order == Order::any))),
        is_big_endian_(ok_ && message[1] == 0) {
    if (ok_) body_ = message.subspan(cdr_header.size());
  }

  template <class T>
  requires std::integral<T> || std::floating_point<T>
  [[nodiscard]] T number() noexcept {
    const std::span<const std::uint8_t> bytes = take(sizeof(T), sizeof(T));
    std::array<std::uint8_t, sizeof(T)> in_order{};
    std::copy(bytes.begin(), bytes.end(), in_order.begin());
    if (is_big_endian_) std::reverse(in_order.begin(), in_order.end());
    return std::bit_cast<T>(in_order);
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
  bool is_big_endian_;
};

}  // namespace takt::record
