// The exact length of a frame on the wire in bits: identifier, control field, data, checksum, stuff bits and
// intermission. The stuff bits are those that the frame's own bits cause. Tables step a byte at a time, so
// that a simulated bus can compute every frame. For planning a cycle, the header also gives bounds by length
// alone.
//
// Not counted: error frames, overload frames, and the second ACK bit time that an FD receiver tolerates.
// Real-time safe unless a comment says otherwise; usable in constant expressions.
//
// Sources: ISO 11898-1:2015 (frame formats, stuffing, checksums). The bounds are from Davis, Burns, Bril,
// Lukkien, "Controller Area Network (CAN) schedulability analysis" (2007), extended to FD.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/can/frame.hpp"
#include "takt/core/time.hpp"

namespace takt::can {

/// The bits of one frame, by the bit rate that sends them.
struct FrameBits {
  std::uint32_t nominal = 0;  ///< at the arbitration bit rate; without bit-rate switch, all bits
  std::uint32_t data =
      0;  ///< at the data bit rate: from ESI to the end of the checksum, with bit-rate switch

  /// All bits, at either rate.
  [[nodiscard]] constexpr std::uint32_t total() const noexcept { return nominal + data; }
  friend constexpr bool operator==(const FrameBits&, const FrameBits&) = default;
};

namespace detail {

/// The stuffing rule as an automaton. After five equal bits the sender inserts one opposite bit, which starts
/// the next run. A state is (last bit, length of the run - 1). The inserted bit is counted when the next bit
/// comes, because the frame format decides whether one follows the last bit.
struct StuffState {
  std::uint8_t index = 0;  ///< last bit * 5 + run - 1

  [[nodiscard]] static constexpr StuffState after(bool bit, unsigned run) noexcept {
    return StuffState{static_cast<std::uint8_t>((bit ? 5U : 0U) + run - 1U)};
  }
  [[nodiscard]] constexpr bool last() const noexcept { return index >= 5; }
  [[nodiscard]] constexpr unsigned run() const noexcept { return index % 5U + 1U; }
  [[nodiscard]] constexpr bool stuff_bit_due() const noexcept { return run() == 5; }
};

/// table[state][byte] = next state | stuff bits counted << 4.
using StuffTable = std::array<std::array<std::uint8_t, 256>, 10>;

[[nodiscard]] constexpr StuffTable make_stuff_table() noexcept {
  StuffTable table{};
  for (std::uint8_t start = 0; start < 10; ++start) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      StuffState state{start};
      unsigned stuffed = 0;
      for (unsigned i = 8; i-- > 0;) {
        const bool bit = (byte >> i & 1U) != 0;
        if (state.stuff_bit_due()) {
          ++stuffed;
          state = StuffState::after(!state.last(), 1);
        }
        state = bit == state.last() ? StuffState::after(bit, state.run() + 1) : StuffState::after(bit, 1);
      }
      table[start][byte] = static_cast<std::uint8_t>(state.index | stuffed << 4);
    }
  }
  return table;
}
inline constexpr StuffTable stuff_table = make_stuff_table();

/// Counts the stuff bits of a bit string. Feed it in bytes, first bit first.
class StuffCounter {
 public:
  constexpr void feed(std::uint8_t byte) noexcept {
    const std::uint8_t step = stuff_table[state_.index][byte];
    state_.index = step & 0x0F;
    count_ += step >> 4;
  }
  /// Feeds the low `bytes` bytes of `bits`, most significant first.
  constexpr void feed(std::uint64_t bits, unsigned bytes) noexcept {
    while (bytes-- > 0) feed(static_cast<std::uint8_t>(bits >> (8 * bytes)));
  }
  /// Stuff bits between the bits fed so far. A stuff bit that is due after the last bit is not counted.
  [[nodiscard]] constexpr std::uint32_t count() const noexcept { return count_; }

 private:
  StuffState state_ = StuffState::after(true, 1);  // a bus before the start of a frame is recessive
  std::uint32_t count_ = 0;
};

/// The checksum of classic frames: polynomial x^15 + x^14 + x^10 + x^8 + x^7 + x^4 + x^3 + 1, start value 0.
[[nodiscard]] constexpr std::array<std::uint16_t, 256> make_crc15_table() noexcept {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 7;
    for (int i = 0; i < 8; ++i) crc = (crc & 0x4000U) != 0 ? crc << 1 ^ 0x4599U : crc << 1;
    table[byte] = static_cast<std::uint16_t>(crc & 0x7FFFU);
  }
  return table;
}
inline constexpr std::array<std::uint16_t, 256> crc15_table = make_crc15_table();

[[nodiscard]] constexpr std::uint16_t crc15_step(std::uint16_t crc, std::uint8_t byte) noexcept {
  return static_cast<std::uint16_t>(
      (static_cast<unsigned>(crc) << 8 ^ crc15_table[(crc >> 7 ^ byte) & 0xFFU]) & 0x7FFFU);
}

/// The first `count` bits of a frame, in the low end of `bits`.
struct Header {
  std::uint64_t bits = 0;
  unsigned count = 0;

  constexpr void append(std::uint32_t value, unsigned width) noexcept {
    bits = bits << width | (value & ((std::uint64_t{1} << width) - 1));
    count += width;
  }
};

/// Feeds a header that does not fill whole bytes. It fills up the front with alternating bits that end in a
/// recessive bit. These cause no stuff bit and leave the automaton in the state of an idle bus.
constexpr void feed_header(StuffCounter& stuff, const Header& header) noexcept {
  constexpr std::uint64_t alternating = 0x5555'5555'5555'5555;
  const unsigned bytes = (header.count + 7) / 8;
  stuff.feed(header.count >= 64 ? header.bits : alternating << header.count | header.bits, bytes);
}

/// Start of frame and arbitration field, without its last bit (RTR or RRS).
[[nodiscard]] constexpr Header identifier_bits(const Frame& frame) noexcept {
  Header header;
  header.append(0, 1);
  if (frame.extended) {
    header.append(frame.id >> 18, 11);
    header.append(0b11, 2);  // SRR, IDE
    header.append(frame.id, 18);
  } else {
    header.append(frame.id, 11);
  }
  return header;
}

[[nodiscard]] constexpr FrameBits classic_frame_bits(const Frame& frame) noexcept {
  const auto length = std::min<std::size_t>(frame.length, max_classic_length);
  Header header = identifier_bits(frame);
  header.append(frame.remote ? 1 : 0, 1);
  header.append(0, 2);  // IDE (extended: r1), r0
  header.append(static_cast<std::uint32_t>(length), 4);

  StuffCounter stuff;
  feed_header(stuff, header);
  std::uint16_t crc = 0;  // leading zero bits leave a checksum that starts at zero unchanged
  for (unsigned bytes = (header.count + 7) / 8; bytes-- > 0;) {
    crc = crc15_step(crc, static_cast<std::uint8_t>(header.bits >> (8 * bytes)));
  }
  const std::size_t data_bytes = frame.remote ? 0 : length;
  for (std::size_t i = 0; i < data_bytes; ++i) {
    stuff.feed(frame.data[i]);
    crc = crc15_step(crc, frame.data[i]);
  }
  // The checksum, then one bit that differs from its last bit. That bit fills the byte, and counts a stuff
  // bit that is due after the checksum.
  const unsigned padding = (crc & 1U) ^ 1U;
  stuff.feed(static_cast<unsigned>(crc) << 1 | padding, 2);

  constexpr std::uint32_t checksum = 15;
  constexpr std::uint32_t trailer = 13;  // CRC delimiter, ACK and its delimiter, 7 EOF, 3 intermission
  return FrameBits{
      header.count + static_cast<std::uint32_t>(8 * data_bytes) + checksum + stuff.count() + trailer, 0};
}

/// The stuff bit counter, the checksum (17 bits up to 16 data bytes, else 21) and the fixed stuff bits. One
/// fixed stuff bit precedes every four bits.
[[nodiscard]] constexpr std::uint32_t fd_checksum_bits(std::size_t length) noexcept {
  return length <= 16 ? 4 + 17 + 6 : 4 + 21 + 7;
}
inline constexpr std::uint32_t fd_trailer_bits = 13;  // as in a classic frame

[[nodiscard]] constexpr FrameBits fd_frame_bits(const Frame& frame) noexcept {
  const std::uint8_t code = fd_length_code(frame.length);
  const std::size_t length = fd_lengths[code];
  Header header = identifier_bits(frame);
  header.append(0, 1);                       // RRS
  if (!frame.extended) header.append(0, 1);  // IDE
  header.append(0b10, 2);                    // FDF, res
  header.append(frame.bit_rate_switch ? 1 : 0, 1);
  const std::uint32_t arbitration_bits = header.count;
  StuffCounter arbitration;
  feed_header(arbitration, header);

  header.append(frame.error_state ? 1 : 0, 1);
  header.append(code, 4);
  StuffCounter stuff;
  feed_header(stuff, header);
  for (std::size_t i = 0; i < length; ++i) stuff.feed(frame.data[i]);
  // A stuff bit that is due after the last data bit is not sent: the first fixed stuff bit replaces it.

  const std::uint32_t nominal = arbitration_bits + arbitration.count() + fd_trailer_bits;
  const std::uint32_t data = header.count - arbitration_bits + static_cast<std::uint32_t>(8 * length) +
                             fd_checksum_bits(length) + stuff.count() - arbitration.count();
  return frame.bit_rate_switch ? FrameBits{nominal, data} : FrameBits{nominal + data, 0};
}

/// The bits of the stuffed part whose number does not depend on the length. Classic: all but the data. FD: up
/// to BRS, and ESI with DLC.
[[nodiscard]] constexpr std::uint32_t stuffed_classic_bits(bool extended) noexcept {
  return extended ? 54 : 34;
}
[[nodiscard]] constexpr std::uint32_t fd_arbitration_bits(bool extended) noexcept {
  return extended ? 36 : 17;
}
inline constexpr std::uint32_t fd_control_bits = 5;

/// The bits of a frame of `length` bytes. `stuff(bits)` gives the number of stuff bits in a part of `bits`
/// bits.
template <class StuffBits>
[[nodiscard]] constexpr FrameBits frame_bits_by_length(std::size_t length, FrameFormat format,
                                                       StuffBits stuff) noexcept {
  if (!format.fd) {
    const auto bits = stuffed_classic_bits(format.extended) +
                      static_cast<std::uint32_t>(8 * std::min(length, max_classic_length));
    return FrameBits{bits + stuff(bits) + 13, 0};
  }
  length = fd_lengths[fd_length_code(length)];
  const std::uint32_t arbitration = fd_arbitration_bits(format.extended);
  const std::uint32_t all = arbitration + fd_control_bits + static_cast<std::uint32_t>(8 * length);
  const std::uint32_t nominal = arbitration + stuff(arbitration) + fd_trailer_bits;
  const std::uint32_t data = all - arbitration + stuff(all) - stuff(arbitration) + fd_checksum_bits(length);
  return format.bit_rate_switch ? FrameBits{nominal, data} : FrameBits{nominal + data, 0};
}

}  // namespace detail

/// Returns the exact bits of this frame, intermission included. About 20 ns for 8 bytes. A length that the
/// format does not have counts as the next longer one, at most the longest. Data bytes of a remote frame are
/// ignored.
[[nodiscard]] constexpr FrameBits frame_bits(const Frame& frame) noexcept {
  return frame.fd ? detail::fd_frame_bits(frame) : detail::classic_frame_bits(frame);
}

/// Returns the bits of a frame of `length` data bytes without stuff bits: the lower bound.
[[nodiscard]] constexpr FrameBits min_frame_bits(std::size_t length, FrameFormat format = {}) noexcept {
  return detail::frame_bits_by_length(length, format,
                                      [](std::uint32_t) noexcept { return std::uint32_t{0}; });
}

/// Returns the upper bound for a frame of `length` data bytes. It counts (n - 1) / 4 stuff bits for n bits.
/// For FD, as many stuff bits as possible count at the slower rate, so that the bound also holds for the
/// time.
[[nodiscard]] constexpr FrameBits max_frame_bits(std::size_t length, FrameFormat format = {}) noexcept {
  return detail::frame_bits_by_length(length, format,
                                      [](std::uint32_t bits) noexcept { return (bits - 1) / 4; });
}

/// The mean bits of frames with random identifiers and data.
struct MeanFrameBits {
  double nominal = 0;
  double data = 0;

  /// All bits, at either rate.
  [[nodiscard]] constexpr double total() const noexcept { return nominal + data; }
};

namespace detail {

/// The stuffing automaton for random bits: it holds the probability of each state.
class MeanStuffCounter {
 public:
  constexpr MeanStuffCounter() noexcept { likely_[StuffState::after(true, 1).index] = 1; }

  constexpr void feed(std::uint32_t bits, unsigned width) noexcept {
    while (width-- > 0) step((bits >> width & 1U) != 0 ? 1 : 0);
  }
  constexpr void feed_random(std::size_t width) noexcept {
    while (width-- > 0) step(0.5);
  }
  /// The expected stuff bits between the bits fed so far. due() gives the one after the last bit.
  [[nodiscard]] constexpr double count() const noexcept { return count_; }
  [[nodiscard]] constexpr double due() const noexcept {
    return likely_[StuffState::after(false, 5).index] + likely_[StuffState::after(true, 5).index];
  }

 private:
  constexpr void step(double one) noexcept {
    count_ += due();
    std::array<double, 10> next{};
    for (std::size_t i = 0; i < likely_.size(); ++i) {
      StuffState state{static_cast<std::uint8_t>(i)};
      if (state.stuff_bit_due()) state = StuffState::after(!state.last(), 1);
      for (const bool bit : {false, true}) {
        const unsigned run = bit == state.last() ? state.run() + 1 : 1;
        next[StuffState::after(bit, run).index] += likely_[i] * (bit ? one : 1 - one);
      }
    }
    likely_ = next;
  }

  std::array<double, 10> likely_{};
  double count_ = 0;
};

constexpr void feed_random_identifier(MeanStuffCounter& stuff, bool extended) noexcept {
  stuff.feed(0, 1);
  stuff.feed_random(11);
  if (!extended) return;
  stuff.feed(0b11, 2);  // SRR, IDE
  stuff.feed_random(18);
}

}  // namespace detail

/// Returns the mean bits of a frame of `length` data bytes, over random identifiers, data and checksums. Not
/// real-time safe: it takes some microseconds.
[[nodiscard]] constexpr MeanFrameBits mean_frame_bits(std::size_t length, FrameFormat format = {}) noexcept {
  const FrameBits least = min_frame_bits(length, format);
  const std::uint8_t code = fd_length_code(format.fd ? length : std::min(length, max_classic_length));
  detail::MeanStuffCounter stuff;
  detail::feed_random_identifier(stuff, format.extended);
  if (!format.fd) {
    stuff.feed(0, 3);  // RTR, and two reserved
    stuff.feed(code, 4);
    stuff.feed_random(8U * code + 15);
    return {least.nominal + stuff.count() + stuff.due(), 0};
  }
  stuff.feed(0, format.extended ? 1 : 2);  // RRS, and IDE
  stuff.feed(0b10, 2);                     // FDF, res
  stuff.feed(format.bit_rate_switch ? 1 : 0, 1);
  const double arbitration = stuff.count();
  stuff.feed(code, 5);  // ESI, DLC
  stuff.feed_random(8U * fd_lengths[code]);
  const double rest = stuff.count() - arbitration;
  if (format.bit_rate_switch) return {least.nominal + arbitration, least.data + rest};
  return {least.nominal + arbitration + rest, 0};
}

/// Returns the time for which these bits occupy the bus, rounded up to the nanosecond. Bit rates are in
/// bit/s; 0 counts as 1. Real-time safe.
[[nodiscard]] constexpr Duration transmission_time(FrameBits bits, std::uint32_t bit_rate,
                                                   std::uint32_t data_bit_rate) noexcept {
  const auto phase = [](std::uint32_t count, std::uint32_t rate) noexcept {
    const std::uint64_t divisor = std::max<std::uint32_t>(rate, 1);
    return (count * std::uint64_t{1'000'000'000} + divisor - 1) / divisor;
  };
  return Duration(
      static_cast<Duration::rep>(phase(bits.nominal, bit_rate) + phase(bits.data, data_bit_rate)));
}

/// Returns the time for which this frame occupies the bus, from its exact bits. Real-time safe.
[[nodiscard]] constexpr Duration transmission_time(const Frame& frame, std::uint32_t bit_rate,
                                                   std::uint32_t data_bit_rate) noexcept {
  return transmission_time(frame_bits(frame), bit_rate, data_bit_rate);
}

}  // namespace takt::can
