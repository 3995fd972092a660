// Lines of Vector's ASC logs (CANoe, CANalyzer, python-can). They begin with a header that sets the base of
// the numbers and the kind of the stamps:
//
//   date Sun Nov 29 02:56:10.123 pm 2026
//   base hex  timestamps absolute
//   internal events logged
//   Begin Triggerblock Sun Nov 29 02:56:10.123 pm 2026
//      0.000000 Start of measurement
//      0.015991 1  123             Rx   d 2 11 22  Length = 240015 BitCount = 124 ID = 291
//      0.016991 1  1ABCDEF0x       Tx   r 4
//      0.017500 1  ErrorFrame
//      0.018000 CANFD   2 Rx        5A1   Name      1 0 9 12 11 22 33 44 55 66 77 88 99 AA BB CC  0 0 3000
//   End TriggerBlock
//
// The interface of an entry is the channel's number: "1". Stamps count from the start of the measurement,
// because the date has no time zone. Relative stamps count from the line before, and are added up. A line
// CANFD is a classic frame if its flags are not 0, and have none of EDL, BRS and ESI.
//
// Lines without a frame are passed over and counted: error frames, statistics, other buses, and requests to
// send (TxRq), which a line Tx repeats. The class candump::LogReader reads whole logs. Real-time safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>

#include "takt/can/frame.hpp"
#include "takt/can/log_entry.hpp"
#include "takt/can/text.hpp"

namespace takt::can::asc {

/// The length of the longest line that may have a frame; the rest of a longer line is not looked at.
inline constexpr std::size_t max_line = 512;

/// The number of lines without a frame.
struct PassedOver {
  std::uint64_t error_frames = 0;
  std::uint64_t other_events = 0;

  friend constexpr bool operator==(const PassedOver&, const PassedOver&) = default;
};

namespace detail {
using can::detail::TextReader;
using candump::Direction;
using candump::InterfaceName;
using candump::LogEntry;

/// A whole word as a number; nullopt if it is none, or above 32 bits.
[[nodiscard]] constexpr std::optional<std::uint32_t> number_of(std::string_view word,
                                                               std::uint32_t base) noexcept {
  if (word.empty()) return std::nullopt;
  std::uint64_t number = 0;
  for (const char letter : word) {
    const auto digit = can::detail::hex_value(letter);
    if (!digit || *digit >= base) return std::nullopt;
    number = number * base + *digit;
    if (number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  }
  return static_cast<std::uint32_t>(number);
}

[[nodiscard]] constexpr std::string_view next_word(TextReader text) noexcept { return text.take_word(); }

/// Takes a word that is a number up to `most`. Errors: bad_line (no number), `beyond`. Then it takes nothing.
constexpr Status take_number(TextReader& text, std::uint32_t base, std::uint32_t most, Errc beyond,
                             std::uint32_t& into) noexcept {
  text.blanks();
  const auto number = number_of(text.peek_word(), base);
  if (!number) return fail(Errc::bad_line);
  if (*number > most) return fail(beyond);
  static_cast<void>(text.take_word());
  into = *number;
  return {};
}

/// An identifier; an x behind it marks one of 29 bits.
constexpr Status take_identifier(TextReader& text, std::uint32_t base, Frame& frame) noexcept {
  text.blanks();
  std::string_view word = text.peek_word();
  frame.extended = word.ends_with('x') || word.ends_with('X');
  if (frame.extended) word.remove_suffix(1);
  const auto id = number_of(word, base);
  if (!id) return fail(Errc::bad_line);
  if (*id > (frame.extended ? max_extended_id : max_standard_id)) return fail(Errc::id_too_large);
  static_cast<void>(text.take_word());
  frame.id = *id;
  return {};
}

constexpr Status take_data(TextReader& text, std::uint32_t base, Frame& frame) noexcept {
  for (std::size_t i = 0; i < frame.length; ++i) {
    std::uint32_t byte = 0;
    if (const Status status = take_number(text, base, 0xFF, Errc::out_of_range, byte); !status) return status;
    frame.data[i] = static_cast<std::uint8_t>(byte);
  }
  return {};
}

/// The data bytes of a classic frame with this length code: codes above 8 stand for 8.
[[nodiscard]] constexpr std::uint8_t classic_length(std::uint32_t code) noexcept {
  return static_cast<std::uint8_t>(std::min<std::uint32_t>(code, max_classic_length));
}

/// "d 8 11 22 ...", "r 4" or "r".
constexpr Status take_classic_body(TextReader& text, std::uint32_t base, Frame& frame) noexcept {
  text.blanks();
  const std::string_view kind = text.peek_word();
  if (kind != "d" && kind != "r") return fail(Errc::bad_line);
  static_cast<void>(text.take_word());
  frame.remote = kind == "r";
  if (frame.remote && !number_of(next_word(text), base)) return {};
  std::uint32_t code = 0;
  if (const Status status = take_number(text, base, 15, Errc::wrong_length, code); !status) return status;
  frame.length = classic_length(code);
  return frame.remote ? Status{} : take_data(text, base, frame);
}

/// What follows the data of a line CANFD: duration, length in bits, and the flags.
inline constexpr std::uint32_t flag_remote = 1U << 4, flags_fd = 7U << 12;
[[nodiscard]] constexpr std::uint32_t flags_behind(TextReader text) noexcept {
  for (int i = 0; i < 2; ++i) static_cast<void>(text.take_word());
  return number_of(text.take_word(), 16).value_or(0);
}

/// "1 0 8  8 11 22 ...": bit-rate switch, ESI, length code, length, data. A name may stand before them.
constexpr Status take_fd_body(TextReader& text, std::uint32_t base, Frame& frame) noexcept {
  if (!number_of(next_word(text), 2)) static_cast<void>(text.take_word());
  std::uint32_t rate_switch = 0, error_state = 0, code = 0, length = 0;
  Status status = take_number(text, 10, 1, Errc::bad_value, rate_switch);
  if (status) status = take_number(text, 10, 1, Errc::bad_value, error_state);
  if (status) status = take_number(text, 16, 15, Errc::wrong_length, code);
  if (status) status = take_number(text, 10, max_fd_length, Errc::wrong_length, length);
  if (!status) return status;
  if (!is_frame_length(length, {.fd = true})) return fail(Errc::wrong_length);
  frame.length = static_cast<std::uint8_t>(length);
  if (status = take_data(text, base, frame); !status) return status;
  const std::uint32_t flags = flags_behind(text);
  const bool is_classic = flags != 0 && (flags & flags_fd) == 0 && length <= max_classic_length &&
                          rate_switch == 0 && error_state == 0;
  frame.fd = !is_classic;
  frame.bit_rate_switch = rate_switch != 0;
  frame.error_state = error_state != 0;
  frame.remote = is_classic && (flags & flag_remote) != 0;
  if (!frame.remote) return {};
  frame.length = classic_length(code);
  frame.data = {};
  return {};
}

}  // namespace detail

/// Parses the lines of one log, in order.
class Parser {
 public:
  using Parsed = candump::LineResult<std::optional<candump::LogEntry>>;

  /// Whether a log may begin with this line.
  [[nodiscard]] static constexpr bool is_header(std::string_view line) noexcept {
    const std::string_view word = detail::next_word(detail::TextReader(line));
    return word == "date" || word == "base" || word.starts_with("//");
  }

  /// Parses the next line, without its end; nullopt for a line without a frame. Errors: bad_line,
  /// id_too_large, wrong_length, bad_value, out_of_range (a data byte, or a stamp beyond 2^63 ns).
  [[nodiscard]] constexpr Parsed parse(std::string_view line) noexcept {
    detail::TextReader text(line);
    std::optional<candump::LogEntry> entry;
    text.blanks();
    const Status status = can::detail::is_digit(text.peek()) ? event(text, entry) : remark(text);
    if (status) return entry;
    return tl::unexpected<candump::LineError>(
        candump::LineError{status.error(), static_cast<std::uint32_t>(text.position() + 1)});
  }

  /// The lines without a frame so far.
  [[nodiscard]] constexpr const PassedOver& passed_over() const noexcept { return passed_over_; }

 private:
  constexpr Status remark(detail::TextReader& text) noexcept {
    const std::string_view word = text.peek_word();
    if (word == "base") return base(text);
    if (word == "date") stamp_ = 0;
    const bool is_known = word == "date" || word == "internal" || word == "no" || word == "Begin" ||
                          word == "End" || word.starts_with("//");
    if (!is_known) return fail(Errc::bad_line);
    return {};
  }
  /// "base hex timestamps absolute"
  constexpr Status base(detail::TextReader& text) noexcept {
    static_cast<void>(text.take_word());
    text.blanks();
    const std::string_view base = text.peek_word();
    if (base != "hex" && base != "dec") return fail(Errc::bad_value);
    static_cast<void>(text.take_word());
    std::string_view stamps = "absolute";
    if (detail::next_word(text) == "timestamps") {
      static_cast<void>(text.take_word());
      text.blanks();
      stamps = text.peek_word();
    }
    if (stamps != "absolute" && stamps != "relative") return fail(Errc::bad_value);
    base_ = base == "hex" ? 16 : 10;
    is_relative_ = stamps == "relative";
    return {};
  }

  constexpr Status event(detail::TextReader& text, std::optional<candump::LogEntry>& found) noexcept {
    if (const Status status = stamp(text); !status) return status;
    text.blanks();
    const bool is_fd = text.peek_word() == "CANFD";
    if (is_fd) static_cast<void>(text.take_word());
    const auto channel = candump::InterfaceName::create(detail::next_word(text));
    if (!channel || !detail::number_of(channel->text(), 10)) return other_event();
    static_cast<void>(text.take_word());
    return is_fd ? frame<true>(text, *channel, found) : frame<false>(text, *channel, found);
  }
  constexpr Status stamp(detail::TextReader& text) noexcept {
    std::int64_t read = 0;
    if (const Status status = candump::detail::take_seconds(text, read); !status) return status;
    if (is_relative_ && stamp_ > std::numeric_limits<std::int64_t>::max() - read)
      return fail(Errc::out_of_range);
    stamp_ = is_relative_ ? stamp_ + read : read;
    return {};
  }
  constexpr Status other_event() noexcept {
    ++passed_over_.other_events;
    return {};
  }

  /// A line CANFD has the direction before the identifier, a classic one behind it.
  template <bool is_fd>
  constexpr Status frame(detail::TextReader& text, candump::InterfaceName channel,
                         std::optional<candump::LogEntry>& found) noexcept {
    detail::TextReader ahead = text;
    const std::string_view first = ahead.take_word();
    const std::string_view second = ahead.take_word();
    if ((is_fd ? second : first) == "ErrorFrame") {
      ++passed_over_.error_frames;
      return {};
    }
    const std::string_view direction = is_fd ? first : second;
    if (direction != "Rx" && direction != "Tx") return other_event();
    candump::LogEntry entry{
        .interface = channel,
        .direction = direction == "Rx" ? candump::Direction::received : candump::Direction::transmitted};
    entry.frame.stamp = time_from_nanoseconds(stamp_);
    entry.frame.stamp_source = StampSource::software;
    if (is_fd) static_cast<void>(text.take_word());
    if (const Status status = detail::take_identifier(text, base_, entry.frame); !status) return status;
    if (!is_fd) static_cast<void>(text.take_word());
    const Status body = is_fd ? detail::take_fd_body(text, base_, entry.frame)
                              : detail::take_classic_body(text, base_, entry.frame);
    if (body) found = entry;
    return body;
  }

  std::uint32_t base_ = 16;
  bool is_relative_ = false;
  std::int64_t stamp_ = 0;  ///< ns, of the last event
  PassedOver passed_over_;
};

}  // namespace takt::can::asc
