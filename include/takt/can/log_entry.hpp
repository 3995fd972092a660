// One entry of a log of CAN frames, and the error of a line. The formats are in can/candump.hpp and
// can/asc.hpp. Plain data; real-time safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tl/expected.hpp>

#include "takt/can/frame.hpp"
#include "takt/can/text.hpp"

namespace takt::can::candump {

/// The name of a network interface, as Linux allows it: 1 to 15 letters without blanks.
class InterfaceName {
 public:
  static constexpr std::size_t max_length = 15;

  constexpr InterfaceName() noexcept = default;
  /// Error: bad_value (not such a name).
  [[nodiscard]] static constexpr Result<InterfaceName> create(std::string_view text) noexcept {
    const auto is_graphic = [](char letter) { return letter > ' ' && letter <= '~'; };
    if (text.empty() || text.size() > max_length || !std::all_of(text.begin(), text.end(), is_graphic)) {
      return fail(Errc::bad_value);
    }
    InterfaceName name;
    name.size_ = static_cast<std::uint8_t>(text.size());
    std::copy(text.begin(), text.end(), name.letters_.begin());
    return name;
  }

  /// Returns the name; valid as long as this object.
  [[nodiscard]] constexpr std::string_view text() const noexcept { return {letters_.data(), size_}; }

  friend constexpr bool operator==(const InterfaceName&, const InterfaceName&) = default;

 private:
  std::array<char, max_length> letters_{};
  std::uint8_t size_ = 0;
};

/// Whether the host received or sent the frame; unknown if the line does not tell.
enum class Direction : std::uint8_t { unknown, received, transmitted };

/// One line of a log. The frame's stamp is the log's time, usually since 1970. The log does not contain the
/// stamp's source, so it is StampSource::software. The identifier of an error frame has no bit 29.
struct LogEntry {
  Frame frame{};
  InterfaceName interface {};
  Direction direction = Direction::unknown;

  friend constexpr bool operator==(const LogEntry&, const LogEntry&) = default;
};

/// The error of a line and its place; `line` and `column` count from 1.
struct LineError {
  Error error{};
  std::uint32_t column = 0;
  std::uint64_t line = 0;  ///< 0 if a single line was read

  friend constexpr bool operator==(const LineError&, const LineError&) = default;
};

template <class T>
using LineResult = tl::expected<T, LineError>;

namespace detail {

/// Appends 1 to `most` digits to the number.
constexpr Status take_decimals(can::detail::TextReader& text, std::int64_t& number,
                               std::size_t most) noexcept {
  std::size_t count = 0;
  for (; can::detail::is_digit(text.peek()); ++count, text.skip()) {
    if (count == most) return fail(Errc::bad_line);
    const int digit = text.peek() - '0';
    if (number > (std::numeric_limits<std::int64_t>::max() - digit) / 10) return fail(Errc::out_of_range);
    number = 10 * number + digit;
  }
  if (count == 0) return fail(Errc::bad_line);
  return {};
}

/// Takes seconds with 1 to 9 decimals. Errors: bad_line, out_of_range (beyond 2^63 ns).
constexpr Status take_seconds(can::detail::TextReader& text, std::int64_t& nanoseconds) noexcept {
  nanoseconds = 0;
  if (const Status whole = take_decimals(text, nanoseconds, 20); !whole) return whole;
  if (!text.take('.')) return fail(Errc::bad_line);
  const std::size_t point = text.position();
  if (const Status fraction = take_decimals(text, nanoseconds, 9); !fraction) return fraction;
  for (std::size_t i = text.position() - point; i < 9; ++i) {
    if (nanoseconds > std::numeric_limits<std::int64_t>::max() / 10) return fail(Errc::out_of_range);
    nanoseconds *= 10;
  }
  return {};
}

}  // namespace detail

}  // namespace takt::can::candump
