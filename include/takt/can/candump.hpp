// Log lines of candump -L (can-utils), the usual format for exchanging CAN recordings:
//
//   - (1795208238.156435) vcan0 123#DEADBEEF      data, 11-bit identifier: three digits
//   - (1795208238.156435) vcan0 1ABCDEF0#00       29-bit identifier: eight digits
//   - (1795208238.156435) can1 123#R4             remote frame for 4 bytes; for 0 bytes, it is R alone
//   - (1795208238.156435) can1 5A1##5112233       CAN FD: flag digit (1 bit-rate switch, 2 ESI, 4 FD), data
//   - (1795208238.156435) can1 20000040#0000000000000000    error frame: its classes with bit 29 set
//   - (1795208238.156435) can1 123#00 R           candump -x and python-can: R received, T transmitted
//
// Also read: leading blanks, stamps with 1 to 9 decimals, points between the data bytes, and a raw length
// code (123#0011223344556677_F). The length code is dropped, because a frame has its length. Not read: CAN
// XL, and candump's screen output. That output has no FD flags, and its time may start anywhere.
//
// The codec and the reader are real-time safe. The header can/candump_file.hpp reads files, can/replay.hpp
// sends them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

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

/// The length of the longest accepted line, without its end: 64 data bytes with points between them, and
/// blanks.
inline constexpr std::size_t max_line = 300;
using Line = can::detail::TextWriter<max_line>;

namespace detail {
inline constexpr std::uint32_t error_flag = 0x2000'0000;
inline constexpr std::uint8_t flag_bit_rate_switch = 1, flag_error_state = 2, flag_fd = 4;

/// Parses one line. The place of an error is where the parser stopped.
class LineParser {
 public:
  explicit constexpr LineParser(std::string_view line) noexcept : text_(line) {}

  [[nodiscard]] constexpr LineResult<LogEntry> parse() noexcept {
    LogEntry entry;
    text_.blanks();
    Status status = stamp(entry.frame);
    if (status) status = interface(entry.interface);
    if (status) status = frame(entry.frame);
    if (status) status = direction(entry.direction);
    if (status) return entry;
    return tl::unexpected<LineError>(
        LineError{status.error(), static_cast<std::uint32_t>(text_.position() + 1)});
  }

 private:
  constexpr Status stamp(Frame& frame) noexcept {
    if (!text_.take('(')) return fail(Errc::bad_line);
    text_.blanks();
    std::int64_t nanoseconds = 0;
    if (const Status whole = decimals(nanoseconds, 20); !whole) return whole;
    if (!text_.take('.')) return fail(Errc::bad_line);
    const std::size_t point = text_.position();
    if (const Status fraction = decimals(nanoseconds, 9); !fraction) return fraction;
    for (std::size_t i = text_.position() - point; i < 9; ++i) {
      if (!append(nanoseconds, 0)) return fail(Errc::out_of_range);
    }
    if (!text_.take(')')) return fail(Errc::bad_line);
    frame.stamp = time_from_nanoseconds(nanoseconds);
    frame.stamp_source = StampSource::software;
    return {};
  }
  /// Appends 1 to `most` digits to the number.
  constexpr Status decimals(std::int64_t& number, std::size_t most) noexcept {
    std::size_t count = 0;
    for (; can::detail::is_digit(text_.peek()); ++count, text_.skip()) {
      if (count == most) return fail(Errc::bad_line);
      if (!append(number, text_.peek() - '0')) return fail(Errc::out_of_range);
    }
    if (count == 0) return fail(Errc::bad_line);
    return {};
  }
  [[nodiscard]] static constexpr bool append(std::int64_t& number, int digit) noexcept {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (number > (most - digit) / 10) return false;
    number = 10 * number + digit;
    return true;
  }

  constexpr Status interface(InterfaceName& into) noexcept {
    text_.blanks();
    const auto name = InterfaceName::create(text_.peek_word());
    if (!name) return fail(Errc::bad_line);
    for (std::size_t i = 0; i < name->text().size(); ++i) text_.skip();
    text_.blanks();
    into = *name;
    return {};
  }

  constexpr Status frame(Frame& frame) noexcept {
    if (const Status status = identifier(frame); !status) return status;
    if (!text_.take('#')) return fail(Errc::bad_line);
    if (text_.peek() == '#') {
      text_.skip();
      return fd_body(frame);
    }
    if (!frame.error && text_.take('R')) {
      frame.remote = true;
      const auto digit = text_.hex(1);
      if (digit && *digit > max_classic_length) return fail(Errc::wrong_length);
      frame.length = static_cast<std::uint8_t>(digit.value_or(0));
    } else if (const Status status = data(frame, max_classic_length); !status) {
      return status;
    }
    return length_code(frame);
  }
  /// Parses three digits (11 bits) or eight (29 bits).
  constexpr Status identifier(Frame& frame) noexcept {
    const std::size_t digits = text_.peek_word().find('#');
    if (digits != 3 && digits != 8) return fail(Errc::bad_line);
    const auto id = text_.hex(digits);
    if (!id) return fail(Errc::bad_line);
    frame.error = digits == 8 && (*id & error_flag) != 0;
    frame.extended = digits == 8 && !frame.error;
    frame.id = frame.error ? *id & ~error_flag : *id;
    if (frame.id > (digits == 8 ? max_extended_id : max_standard_id)) return fail(Errc::id_too_large);
    return {};
  }
  constexpr Status fd_body(Frame& frame) noexcept {
    const auto flags = text_.hex(1);
    if (!flags || frame.error) return fail(Errc::bad_line);
    if (*flags > (flag_bit_rate_switch | flag_error_state | flag_fd)) return fail(Errc::bad_value);
    frame.fd = true;
    frame.bit_rate_switch = (*flags & flag_bit_rate_switch) != 0;
    frame.error_state = (*flags & flag_error_state) != 0;
    if (const Status status = data(frame, max_fd_length); !status) return status;
    if (!is_frame_length(frame.length, {.fd = true})) return fail(Errc::wrong_length);
    return {};
  }
  constexpr Status data(Frame& frame, std::size_t most) noexcept {
    std::size_t length = 0;
    while (!text_.at_end() && text_.peek() != ' ' && text_.peek() != '\t' && text_.peek() != '_') {
      if (length == most) return fail(Errc::payload_too_long);
      const auto byte = text_.hex(2);
      if (!byte) return fail(Errc::bad_line);
      frame.data[length++] = static_cast<std::uint8_t>(*byte);
      static_cast<void>(text_.take('.'));
    }
    frame.length = static_cast<std::uint8_t>(length);
    return {};
  }
  /// The raw length code of a classic frame of 8 bytes, 9 to 15.
  constexpr Status length_code(const Frame& frame) noexcept {
    if (!text_.take('_')) return {};
    const auto code = text_.hex(1);
    if (!code || *code <= max_classic_length || frame.length != max_classic_length)
      return fail(Errc::bad_line);
    return {};
  }

  constexpr Status direction(Direction& into) noexcept {
    text_.blanks();
    if (text_.take('R')) {
      into = Direction::received;
    } else if (text_.take('T')) {
      into = Direction::transmitted;
    }
    text_.blanks();
    if (!text_.at_end()) return fail(Errc::bad_line);
    return {};
  }

  can::detail::TextReader text_;
};

constexpr Status check(const LogEntry& entry) noexcept {
  const Frame& frame = entry.frame;
  if (entry.interface.text().empty()) return fail(Errc::bad_value);
  if (to_nanoseconds(frame.stamp) < 0) return fail(Errc::out_of_range);
  const bool long_id = frame.extended || frame.error;
  if (frame.id > (long_id ? max_extended_id & ~(frame.error ? error_flag : 0U) : max_standard_id)) {
    return fail(Errc::id_too_large);
  }
  const bool has_fd_flags = frame.bit_rate_switch || frame.error_state;
  const bool is_odd = (has_fd_flags && !frame.fd) || (frame.extended && frame.error);
  if (frame.fd + frame.remote + frame.error > 1 || is_odd) return fail(Errc::wrong_format);
  if (!is_frame_length(frame.length, {.fd = frame.fd})) return fail(Errc::wrong_length);
  return {};
}

constexpr void put_frame(Line& line, const Frame& frame) noexcept {
  line.hex(frame.error ? frame.id | error_flag : frame.id, frame.extended || frame.error ? 8 : 3);
  line.put('#');
  if (frame.remote) {
    line.put('R');
    if (frame.length > 0) line.decimal(frame.length, 1);
    return;
  }
  if (frame.fd) {
    line.put('#');
    line.hex(
        (frame.bit_rate_switch ? flag_bit_rate_switch : 0U) | (frame.error_state ? flag_error_state : 0U), 1);
  }
  line.bytes(frame.payload());
}
}  // namespace detail

/// Parses one line without its end. Errors: bad_line, id_too_large, payload_too_long, wrong_length (no FD
/// length), bad_value (unknown FD flags), out_of_range (a stamp beyond 2^63 ns).
[[nodiscard]] constexpr LineResult<LogEntry> parse_line(std::string_view line) noexcept {
  return detail::LineParser(line).parse();
}

/// The decimals of the seconds. Six are candump's; nine keep the full stamp, but can-utils misread them.
enum class Precision : std::uint8_t { microseconds = 6, nanoseconds = 9 };

/// Returns the line without its end. With nanoseconds, parse_line() returns an equal entry; microseconds are
/// rounded down. Errors: bad_value (no interface), out_of_range (a stamp before 0), id_too_large,
/// wrong_length, wrong_format. The latter means contradicting flags: two of FD, remote and error, FD flags
/// without FD, or an extended error frame.
[[nodiscard]] constexpr Result<Line> format_line(const LogEntry& entry,
                                                 Precision precision = Precision::microseconds) noexcept {
  if (const Status status = detail::check(entry); !status) return fail(status.error());
  const auto stamp = static_cast<std::uint64_t>(to_nanoseconds(entry.frame.stamp));
  const std::uint64_t fraction = stamp % 1'000'000'000;
  Line line("(");
  line.decimal(stamp / 1'000'000'000, 10);
  line.put('.');
  line.decimal(precision == Precision::microseconds ? fraction / 1000 : fraction,
               static_cast<std::size_t>(precision));
  line.put(") ");
  line.put(entry.interface.text());
  line.put(' ');
  detail::put_frame(line, entry.frame);
  if (entry.direction != Direction::unknown) line.put(entry.direction == Direction::received ? " R" : " T");
  return line;
}

/// Splits text into lines and parses them. The text may arrive in pieces of any size. Empty lines are
/// skipped.
class LogReader {
 public:
  /// Takes text from the front of `text` up to the end of the next line. Without a complete line, it takes
  /// all of the text and returns nullopt.
  [[nodiscard]] constexpr std::optional<LineResult<LogEntry>> next(std::string_view& text) noexcept {
    while (!text.empty()) {
      const char letter = text.front();
      text.remove_prefix(1);
      if (letter != '\n') {
        if (size_ < letters_.size()) letters_[size_] = letter;
        size_ = std::min(size_ + 1, letters_.size() + 1);
        continue;
      }
      if (const auto read = finish()) return read;
    }
    return std::nullopt;
  }
  /// Call at the end of the text: returns the last line if it has no line end.
  [[nodiscard]] constexpr std::optional<LineResult<LogEntry>> finish() noexcept {
    ++line_;
    const std::size_t size = std::exchange(size_, 0);
    if (size > letters_.size()) return wrong({Errc::bad_line, static_cast<std::uint32_t>(max_line + 1)});
    std::string_view line(letters_.data(), size);
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    if (line.empty()) return std::nullopt;
    const auto entry = parse_line(line);
    if (!entry) return wrong(entry.error());
    return entry;
  }
  /// The number of complete lines so far.
  [[nodiscard]] constexpr std::uint64_t lines() const noexcept { return line_; }

 private:
  [[nodiscard]] static constexpr bool is_blank(char letter) noexcept {
    return letter == ' ' || letter == '\t' || letter == '\r';
  }
  [[nodiscard]] constexpr LineResult<LogEntry> wrong(LineError error) const noexcept {
    error.line = line_;
    return tl::unexpected<LineError>(error);
  }

  std::array<char, max_line> letters_{};
  std::size_t size_ = 0;
  std::uint64_t line_ = 0;
};

}  // namespace takt::can::candump
