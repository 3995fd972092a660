// The serial-line protocol of Lawicel's adapters (CAN232, CANUSB). Most serial CAN adapters and the kernel's
// slcan driver speak it. Sans-I/O, for both ends: a program behind an adapter, and the firmware of an
// adapter. takt/can/slcan_bus.hpp makes a CanBus of it.
//
// Lines are printable ASCII, each ended by CR (13):
//   - t iii l dd..   T iiiiiiii l dd..   data frame: 11- or 29-bit identifier, length 0-8, that many bytes
//   - r iii l        R iiiiiiii l        remote frame: identifier, the requested length
//   - d iii c dd..   D iiiiiiii c dd..   FD data frame: identifier, data length code 0-F, data
//   - b iii c dd..   B iiiiiiii c dd..   FD data frame with bit-rate switch
//
// FD frames are an extension of the CANable 2.0 firmware, which others use, too. ESI is not carried. With Z1,
// a received frame ends in four more digits: the adapter's time in ms, 0 to 59999, then from 0 again.
//
// Commands: S0 to S8 bit rate, O open, L open listen-only, C close, F status, Z0 and Z1 time stamps off and
// on.
//
// The adapter answers a successful command by CR, or by z CR and Z CR after a frame (11, 29 bits). It answers
// a failed command by BEL (7), without CR, and F by Fxx with the status flags. CANables answer nothing,
// except V by the name of their firmware, and repeat their last line after an empty one. CANtacts answer
// nothing.
//
// Everything is real-time safe: no allocation, and time proportional to the number of bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "takt/can/frame.hpp"
#include "takt/can/text.hpp"

namespace takt::can::slcan {

inline constexpr std::uint8_t end_of_line = '\r';
inline constexpr std::uint8_t refusal = '\a';
inline constexpr std::uint16_t stamp_period = 60'000;  ///< ms; the adapter's time then restarts at 0

/// The length of the longest line: an FD frame of 64 bytes with time stamp and CR.
inline constexpr std::size_t max_line = 1 + 8 + 1 + 2 * max_fd_length + 4 + 1;
using Line = can::detail::TextWriter<max_line>;

// Commands, with CR.
inline constexpr std::string_view open_channel = "O\r";
inline constexpr std::string_view listen_only = "L\r";
inline constexpr std::string_view close_channel = "C\r";
inline constexpr std::string_view ask_status = "F\r";
inline constexpr std::string_view stamps_on = "Z1\r";
inline constexpr std::string_view stamps_off = "Z0\r";

/// The bit rates of S0 to S8 in bit/s.
inline constexpr std::array<std::uint32_t, 9> bit_rates = {10'000,  20'000,  50'000,  100'000,  125'000,
                                                           250'000, 500'000, 800'000, 1'000'000};

/// Returns the command that sets this bit rate. Error: out_of_range (not one of the nine bit rates).
[[nodiscard]] constexpr Result<Line> set_bit_rate(std::uint32_t bits_per_second) noexcept {
  for (std::size_t i = 0; i < bit_rates.size(); ++i) {
    if (bit_rates[i] != bits_per_second) continue;
    Line line("S");
    line.decimal(i, 1);
    line.put('\r');
    return line;
  }
  return fail(Errc::out_of_range);
}

/// The status of the adapter's controller: the answer to F.
struct AdapterStatus {
  bool receive_queue_full = false;
  bool transmit_queue_full = false;
  bool error_warning = false;
  bool data_overrun = false;
  bool error_passive = false;
  bool arbitration_lost = false;
  bool bus_error = false;

  friend constexpr bool operator==(const AdapterStatus&, const AdapterStatus&) = default;
};

/// Decodes the status flags of Fxx.
[[nodiscard]] constexpr AdapterStatus decode_status(std::uint8_t flags) noexcept {
  const auto bit = [flags](unsigned number) { return (flags >> number & 1U) != 0; };
  return {bit(0), bit(1), bit(2), bit(3), bit(5), bit(6), bit(7)};
}
/// Encodes the status flags of Fxx.
[[nodiscard]] constexpr std::uint8_t encode_status(const AdapterStatus& status) noexcept {
  return static_cast<std::uint8_t>(
      (status.receive_queue_full ? 1U : 0) | (status.transmit_queue_full ? 1U << 1 : 0) |
      (status.error_warning ? 1U << 2 : 0) | (status.data_overrun ? 1U << 3 : 0) |
      (status.error_passive ? 1U << 5 : 0) | (status.arbitration_lost ? 1U << 6 : 0) |
      (status.bus_error ? 1U << 7 : 0));
}

/// The content of one line, or BEL.
struct Item {
  enum class Kind : std::uint8_t {
    frame,
    done,         ///< CR alone: the last command succeeded
    transmitted,  ///< z or Z: the adapter took the frame
    refused,      ///< BEL: the last command failed
    status,       ///< the answer to F
    command,      ///< for an adapter: one of S O L C F Z
  };
  Kind kind = Kind::done;
  Frame frame{};  ///< its stamp is zero: the line has no time of the program's clock
  std::optional<std::uint16_t> adapter_ms{};  ///< the adapter's time of the frame, 0 to 59999 ms
  AdapterStatus status{};
  char command = '\0';
  std::uint8_t argument = 0;  ///< argument of S and Z

  friend constexpr bool operator==(const Item&, const Item&) = default;
};

namespace detail {
/// The letter that starts a frame: classic data, remote, FD, FD with bit-rate switch. Capitals mean 29 bits.
[[nodiscard]] constexpr std::optional<Frame> frame_kind(char letter) noexcept {
  Frame frame;
  frame.extended = letter >= 'A' && letter <= 'Z';
  switch (letter | 0x20) {
    case 't':
      return frame;
    case 'r':
      frame.remote = true;
      return frame;
    case 'b':
      frame.bit_rate_switch = true;
      [[fallthrough]];
    case 'd':
      frame.fd = true;
      return frame;
    default:
      return std::nullopt;
  }
}

[[nodiscard]] constexpr char letter_of(const Frame& frame) noexcept {
  const char letter = frame.remote ? 'r' : !frame.fd ? 't' : frame.bit_rate_switch ? 'b' : 'd';
  return static_cast<char>(frame.extended ? letter & ~0x20 : letter);
}

[[nodiscard]] constexpr Result<Item> decode_frame(Frame frame, can::detail::TextReader& line) noexcept {
  const auto id = line.hex(frame.extended ? 8 : 3);
  const auto code = line.hex(1);
  if (!id || !code) return fail(Errc::bad_line);
  if (*id > (frame.extended ? max_extended_id : max_standard_id)) return fail(Errc::id_too_large);
  if (!frame.fd && *code > max_classic_length) return fail(Errc::wrong_length);
  frame.id = *id;
  frame.length = fd_lengths[*code];
  for (std::size_t i = 0; i < (frame.remote ? 0U : frame.length); ++i) {
    const auto byte = line.hex(2);
    if (!byte) return fail(Errc::bad_line);
    frame.data[i] = static_cast<std::uint8_t>(*byte);
  }
  Item item{.kind = Item::Kind::frame, .frame = frame};
  if (const auto stamp = line.hex(4)) {
    if (*stamp >= stamp_period) return fail(Errc::bad_line);
    item.adapter_ms = static_cast<std::uint16_t>(*stamp);
  }
  if (!line.at_end()) return fail(Errc::bad_line);
  return item;
}

[[nodiscard]] constexpr Result<Item> decode_other(char letter, can::detail::TextReader& line) noexcept {
  Item item;
  item.command = letter;
  item.kind = Item::Kind::command;
  if (line.at_end()) {
    if (letter == 'z' || letter == 'Z') return Item{.kind = Item::Kind::transmitted};
    if (letter == 'O' || letter == 'L' || letter == 'C' || letter == 'F') return item;
    return fail(Errc::bad_line);
  }
  const auto argument = line.hex(letter == 'F' ? 2 : 1);
  if (!argument || !line.at_end()) return fail(Errc::bad_line);
  item.argument = static_cast<std::uint8_t>(*argument);
  if (letter == 'F') return Item{.kind = Item::Kind::status, .status = decode_status(item.argument)};
  const bool known =
      (letter == 'S' && item.argument < bit_rates.size()) || (letter == 'Z' && item.argument <= 1);
  if (!known) return fail(Errc::bad_line);
  return item;
}
}  // namespace detail

/// Decodes a line without its CR. Errors: bad_line, id_too_large, wrong_length.
[[nodiscard]] constexpr Result<Item> decode_line(std::string_view text) noexcept {
  if (text.empty()) return Item{.kind = Item::Kind::done};
  can::detail::TextReader line(text.substr(1));
  if (const auto frame = detail::frame_kind(text.front())) return detail::decode_frame(*frame, line);
  return detail::decode_other(text.front(), line);
}

/// Returns the line of a frame, with CR. With `adapter_ms` (0 to 59999) it has the time stamp of an adapter.
/// The frame's own stamp and ESI are not sent. Errors: id_too_large, wrong_length, out_of_range, wrong_format
/// (an error frame, remote and FD, or FD flags without FD).
[[nodiscard]] constexpr Result<Line> encode_line(const Frame& frame,
                                                 std::optional<std::uint16_t> adapter_ms = {}) noexcept {
  if (frame.id > (frame.extended ? max_extended_id : max_standard_id)) return fail(Errc::id_too_large);
  const bool has_fd_flags = frame.bit_rate_switch || frame.error_state;
  if (frame.error || (frame.remote && frame.fd) || (has_fd_flags && !frame.fd))
    return fail(Errc::wrong_format);
  if (!is_frame_length(frame.length, {.fd = frame.fd})) return fail(Errc::wrong_length);
  if (adapter_ms && *adapter_ms >= stamp_period) return fail(Errc::out_of_range);
  Line line;
  line.put(detail::letter_of(frame));
  line.hex(frame.id, frame.extended ? 8 : 3);
  line.hex(fd_length_code(frame.length), 1);
  if (!frame.remote) line.bytes(frame.payload());
  if (adapter_ms) line.hex(*adapter_ms, 4);
  line.put('\r');
  return line;
}

/// Returns the adapter's answer to F, with CR.
[[nodiscard]] constexpr Line encode_line(const AdapterStatus& status) noexcept {
  Line line("F");
  line.hex(encode_status(status), 2);
  line.put('\r');
  return line;
}

/// Splits a byte stream into lines and decodes them. An invalid or too long line is dropped and counted.
/// Decoding continues after the next CR or BEL.
class Decoder {
 public:
  struct Counters {
    std::uint64_t malformed = 0;  ///< lines that could not be decoded
    std::uint64_t too_long = 0;   ///< lines longer than max_line

    friend bool operator==(const Counters&, const Counters&) = default;
  };

  /// Takes bytes from the front of `bytes` up to the end of the next item. Without a complete item, it takes
  /// all bytes and returns nullopt.
  [[nodiscard]] constexpr std::optional<Item> next(std::span<const std::uint8_t>& bytes) noexcept {
    while (!bytes.empty()) {
      const std::uint8_t byte = bytes.front();
      bytes = bytes.subspan(1);
      if (byte == end_of_line) {
        if (const auto item = finish_line()) return item;
      } else if (byte == refusal) {
        // BEL stands between lines: the line before it was cut off.
        if (size_ > 0) ++(overflowed_ ? counters_.too_long : counters_.malformed);
        reset();
        return Item{.kind = Item::Kind::refused};
      } else if (byte != '\n' || size_ > 0) {  // some adapters end lines with CR LF
        keep(byte);
      }
    }
    return std::nullopt;
  }

  /// Returns the counts since the start.
  [[nodiscard]] constexpr const Counters& counters() const noexcept { return counters_; }

 private:
  constexpr void keep(std::uint8_t byte) noexcept {
    if (size_ < letters_.size()) {
      letters_[size_++] = static_cast<char>(byte);
    } else {
      overflowed_ = true;
    }
  }
  constexpr std::optional<Item> finish_line() noexcept {
    const auto item = decode_line({letters_.data(), size_});
    const bool overflowed = overflowed_;
    reset();
    if (!overflowed && item) return *item;
    ++(overflowed ? counters_.too_long : counters_.malformed);
    return std::nullopt;
  }
  constexpr void reset() noexcept {
    size_ = 0;
    overflowed_ = false;
  }

  std::array<char, max_line - 1> letters_{};
  std::size_t size_ = 0;
  bool overflowed_ = false;
  Counters counters_;
};

}  // namespace takt::can::slcan
