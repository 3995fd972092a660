// Logs of CAN frames. The usual format for exchanging them are the lines of candump -L (can-utils):
//
//   - (1795208238.156435) vcan0 123#DEADBEEF      data, 11-bit identifier: three digits
//   - (1795208238.156435) vcan0 1ABCDEF0#00       29-bit identifier: eight digits
//   - (1795208238.156435) can1 123#R4             remote frame for 4 bytes; for 0 bytes, it is R alone
//   - (1795208238.156435) can1 5A1##5112233       CAN FD: flag digit (1 bit-rate switch, 2 ESI, 4 FD), data
//   - (1795208238.156435) can1 20000040#0000000000000000    error frame: its classes with bit 29 set
//   - (1795208238.156435) can1 123#00 R           candump -x and python-can: R received, T transmitted
//
// Also read: leading blanks, stamps with 1 to 9 decimals, points between the data bytes, and a raw length
// code (123#0011223344556677_F). The length code is dropped, because a frame has its length.
//
// What candump prints to a screen is read, too. Two digits of the length mean FD. Its FD flags are known only
// from candump -x. Without candump -t there is no stamp, and -td and -tz let the time start at 0:
//
//   -  can0  123   [4]  DE AD BE EF
//   -  (1795208238.156435)  can0  1ABCDEF0   [2]  remote request
//   -  (000.156435)  can0  RX B -  5A1  [03]  11 22 33   '."3'
//
// The class LogReader also reads Vector's ASC logs, by their header (can/asc.hpp). Not read: CAN XL, the
// dates of candump -tA, and the lines of text of candump -e.
//
// The codec and the reader are real-time safe. The header can/candump_file.hpp reads files.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "takt/can/asc.hpp"
#include "takt/can/frame.hpp"
#include "takt/can/log_entry.hpp"
#include "takt/can/text.hpp"

namespace takt::can::candump {

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
    const bool is_screen = is_of_screen(text_);
    Status status;
    if (!is_screen || text_.peek() == '(') status = stamp(entry.frame);
    if (status) status = interface(entry.interface);
    if (status) status = is_screen ? screen(entry) : frame(entry.frame);
    if (status && !is_screen) status = direction(entry.direction);
    if (status) return entry;
    return tl::unexpected<LineError>(
        LineError{status.error(), static_cast<std::uint32_t>(text_.position() + 1)});
  }

 private:
  constexpr Status stamp(Frame& frame) noexcept {
    if (!text_.take('(')) return fail(Errc::bad_line);
    text_.blanks();
    std::int64_t nanoseconds = 0;
    if (const Status seconds = take_seconds(text_, nanoseconds); !seconds) return seconds;
    if (!text_.take(')')) return fail(Errc::bad_line);
    frame.stamp = time_from_nanoseconds(nanoseconds);
    frame.stamp_source = StampSource::software;
    return {};
  }

  constexpr Status interface(InterfaceName& into) noexcept {
    text_.blanks();
    const auto name = InterfaceName::create(text_.peek_word());
    if (!name) return fail(Errc::bad_line);
    static_cast<void>(text_.take_word());
    text_.blanks();
    into = *name;
    return {};
  }

  constexpr Status frame(Frame& frame) noexcept {
    if (const Status status = identifier(frame, text_.peek_word().find('#')); !status) return status;
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
  constexpr Status identifier(Frame& frame, std::size_t digits) noexcept {
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

  // ---- The screen

  /// Whether a length in brackets follows the identifier, as in no other format. A log line never has a '['
  /// there, since its identifier and data are one word.
  [[nodiscard]] static constexpr bool is_of_screen(can::detail::TextReader text) noexcept {
    if (text.take('(')) {
      while (!text.at_end() && !text.take(')')) text.skip();
    }
    static_cast<void>(text.take_word());
    if (is_direction(text)) take_extra(text);
    static_cast<void>(text.take_word());
    text.blanks();
    return text.peek() == '[';
  }
  /// "RX B E" of candump -x: direction, bit-rate switch, ESI. A '-' stands for a flag that is not set.
  [[nodiscard]] static constexpr bool is_direction(can::detail::TextReader text) noexcept {
    const std::string_view word = text.take_word();
    return word == "RX" || word == "TX";
  }
  static constexpr void take_extra(can::detail::TextReader& text) noexcept {
    for (int i = 0; i < 3; ++i) static_cast<void>(text.take_word());
  }

  constexpr Status screen(LogEntry& entry) noexcept {
    Frame& frame = entry.frame;
    if (is_direction(text_)) {
      entry.direction = text_.take_word() == "RX" ? Direction::received : Direction::transmitted;
      frame.bit_rate_switch = text_.take_word() == "B";
      frame.error_state = text_.take_word() == "E";
      text_.blanks();
    }
    if (const Status status = identifier(frame, text_.peek_word().size()); !status) return status;
    if (const Status status = length_in_brackets(frame); !status) return status;
    text_.blanks();
    if (text_.peek_word() == "remote") {
      static_cast<void>(text_.take_word());
      if (text_.take_word() != "request" || frame.fd || frame.error) return fail(Errc::bad_line);
      frame.remote = true;
    } else if (const Status status = spaced_data(frame); !status) {
      return status;
    }
    return screen_end(frame);
  }
  /// "[8]" of a classic frame, "[08]" of an FD frame.
  constexpr Status length_in_brackets(Frame& frame) noexcept {
    text_.blanks();
    if (!text_.take('[')) return fail(Errc::bad_line);
    const std::size_t begin = text_.position();
    std::int64_t length = 0;
    if (const Status status = take_decimals(text_, length, 2); !status) return status;
    frame.fd = text_.position() - begin == 2;
    if (!text_.take(']')) return fail(Errc::bad_line);
    if (!is_frame_length(static_cast<std::size_t>(length), {.fd = frame.fd})) return fail(Errc::wrong_length);
    const bool has_fd_flags = frame.bit_rate_switch || frame.error_state;
    if (frame.fd ? frame.error : has_fd_flags) return fail(Errc::bad_line);
    frame.length = static_cast<std::uint8_t>(length);
    return {};
  }
  constexpr Status spaced_data(Frame& frame) noexcept {
    for (std::uint8_t i = 0; i < frame.length; ++i) {
      text_.blanks();
      const auto byte = text_.hex(2);
      if (!byte) return fail(Errc::bad_line);
      frame.data[i] = static_cast<std::uint8_t>(*byte);
    }
    return {};
  }
  /// After the data only the ASCII letters of candump -a may follow, or the mark of an error frame.
  constexpr Status screen_end(const Frame& frame) noexcept {
    const bool is_end_of_word = text_.at_end() || text_.peek() == ' ' || text_.peek() == '\t';
    text_.blanks();
    if (text_.at_end() || (is_end_of_word && text_.peek() == '\'')) return {};
    if (!frame.error || !is_end_of_word || text_.peek_word() != "ERRORFRAME") return fail(Errc::bad_line);
    static_cast<void>(text_.take_word());
    return {};
  }

  // ----

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

/// Parses one line of candump without its end. A line without a stamp gives StampSource::none. Errors:
/// bad_line, id_too_large, payload_too_long, wrong_length (no FD length), bad_value (unknown FD flags),
/// out_of_range (a stamp beyond 2^63 ns).
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

/// The format of a log.
enum class LogFormat : std::uint8_t {
  candump,  ///< lines of candump, for logs or for the screen
  asc,      ///< Vector's
};

/// Splits text into lines and parses them. The text may arrive in pieces of any size. Empty lines are
/// skipped. A header of an ASC log before any line of candump makes it an ASC log. Of that, lines without a
/// frame are passed over.
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
    const bool is_cut = size_ > letters_.size();
    std::string_view line(letters_.data(), std::min(std::exchange(size_, 0), letters_.size()));
    if (!asc_ && line.size() > max_line) return wrong({Errc::bad_line, max_line + 1});
    while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
    if (line.empty()) return std::nullopt;
    return asc_ ? asc_line(line, is_cut) : candump_line(line);
  }
  /// The format so far: a log is candump's until a header of an ASC log came.
  [[nodiscard]] constexpr LogFormat format() const noexcept {
    return asc_ ? LogFormat::asc : LogFormat::candump;
  }
  /// The lines of an ASC log that have no frame.
  [[nodiscard]] constexpr asc::PassedOver passed_over() const noexcept {
    return asc_ ? asc_->passed_over() : asc::PassedOver{};
  }
  /// The number of complete lines so far.
  [[nodiscard]] constexpr std::uint64_t lines() const noexcept { return line_; }

 private:
  [[nodiscard]] constexpr std::optional<LineResult<LogEntry>> candump_line(std::string_view line) noexcept {
    const auto entry = parse_line(line);
    is_candump_ = is_candump_ || entry;
    if (entry) return entry;
    if (is_candump_ || !asc::Parser::is_header(line)) return wrong(entry.error());
    asc_.emplace();
    return asc_line(line, false);
  }
  /// `is_cut`: the line goes on beyond the longest one.
  [[nodiscard]] constexpr std::optional<LineResult<LogEntry>> asc_line(std::string_view line,
                                                                       bool is_cut) noexcept {
    const auto entry = asc_->parse(line);
    if (!entry) return wrong(entry.error());
    if (!*entry) return std::nullopt;
    if (is_cut) return wrong({Errc::bad_line, asc::max_line + 1});
    return LineResult<LogEntry>(**entry);
  }
  [[nodiscard]] static constexpr bool is_blank(char letter) noexcept {
    return letter == ' ' || letter == '\t' || letter == '\r';
  }
  [[nodiscard]] constexpr LineResult<LogEntry> wrong(LineError error) const noexcept {
    error.line = line_;
    return tl::unexpected<LineError>(error);
  }

  std::array<char, std::max(max_line, asc::max_line)> letters_{};
  std::size_t size_ = 0;
  std::uint64_t line_ = 0;
  bool is_candump_ = false;         ///< a line of candump was read
  std::optional<asc::Parser> asc_;  ///< of an ASC log
};

}  // namespace takt::can::candump
