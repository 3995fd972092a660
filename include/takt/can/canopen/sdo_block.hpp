// SDO block transfers (CiA 301, 7.2.4.3.9 to 7.2.4.3.17) carry long values in fewer frames than segments do.
// The sender of the data sends up to 127 segments of seven bytes without an answer: a sub-block. The
// receiver acknowledges those that came in sequence, and the sender repeats the rest in the next sub-block.
// At the end both compare the size and a CRC.
//
//   sender                                      receiver
//   C6 address, size                      ->
//                                         <-    A4 address, segments in a sub-block
//   01 to 7F: segments, 81 to FF the last ->
//                                         <-    A2 last segment in sequence, segments in the next sub-block
//   C1 unused bytes of the last one, CRC  ->
//                                         <-    A1
//
// That is a download. An upload begins with a request of the receiver (A4) and the answer of the sender (C6).
// Then A3 of the receiver starts the first sub-block. So client and server share both ends, which are here.
// They handle frames only; sdo_client.hpp and sdo_server.hpp have the steps. Each call costs the time of one
// segment. Real-time safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/can/canopen/sdo.hpp"

namespace takt::can::canopen {

/// The most segments of a sub-block.
inline constexpr std::uint8_t max_block_segments = 127;

namespace detail {

// The upper three bits of the first byte, as in sdo.hpp. Segments use all bits otherwise.
inline constexpr std::uint8_t block_sender_command = 0xC0;
inline constexpr std::uint8_t block_receiver_command = 0xA0;
// The lower bits. A sender has only the lowest one for its step; the receiver has two.
inline constexpr std::uint8_t block_step_mask = 0x03;
inline constexpr std::uint8_t block_initiate = 0;
inline constexpr std::uint8_t block_end = 1;
inline constexpr std::uint8_t block_acknowledge = 2;
inline constexpr std::uint8_t block_start = 3;
inline constexpr std::uint8_t block_size_bit = 0x02;
inline constexpr std::uint8_t block_crc_bit = 0x04;
// The first byte of a segment.
inline constexpr std::uint8_t block_last_bit = 0x80;
inline constexpr std::uint8_t block_number_mask = 0x7F;

/// Up to this size, in bytes, segments need no more frames than a block. The client lets a server use them.
inline constexpr std::uint8_t block_threshold = 28;
/// Sub-blocks in a row without a segment in sequence that end a transfer.
inline constexpr std::uint8_t max_fruitless = 5;

/// Whether the first byte is that of a sender or receiver of a block in this step.
[[nodiscard]] constexpr bool is_block_step(std::uint8_t byte, std::uint8_t command,
                                           std::uint8_t step) noexcept {
  const unsigned mask = command == block_sender_command ? block_end : block_step_mask;
  return (byte & (command_mask | mask)) == (command | step);
}

/// The CRC of more bytes: polynomial 1021h; begins with 0.
[[nodiscard]] constexpr std::uint16_t block_crc(std::uint16_t crc,
                                                std::span<const std::uint8_t> bytes) noexcept {
  unsigned sum = crc;
  for (const std::uint8_t byte : bytes) {
    sum = (sum >> 8 | sum << 8) & 0xFFFFU;
    sum ^= byte;
    sum ^= (sum & 0xFFU) >> 4;
    sum ^= sum << 12 & 0xFFFFU;
    sum ^= (sum & 0xFFU) << 5;
  }
  return static_cast<std::uint16_t>(sum);
}

/// The end of a block transfer that sends the data.
class BlockSender {
 public:
  /// Arguments: `data`, which must stay in place until the transfer ends; `segments`, in the first sub-block;
  /// `with_crc`, whether the receiver checks it. Error: block_size.
  [[nodiscard]] constexpr SdoAbort begin(std::span<const std::uint8_t> data, std::uint8_t segments,
                                         bool with_crc) noexcept {
    *this = {};
    data_ = data;
    total_ = std::max<std::size_t>((data.size() + sdo_segment - 1) / sdo_segment, 1);
    with_crc_ = with_crc;
    return set_segments(segments);
  }
  /// Returns whether the sub-block has another segment to send.
  [[nodiscard]] constexpr bool has_segment() const noexcept {
    return sent_ < segments_ && acknowledged_ + sent_ < total_;
  }
  /// Returns whether the receiver has all segments.
  [[nodiscard]] constexpr bool is_complete() const noexcept { return acknowledged_ == total_; }

  /// The next segment. has_segment() must be true.
  [[nodiscard]] constexpr Frame segment(std::uint32_t id) noexcept {
    const std::size_t index = acknowledged_ + sent_++;
    const auto left = data_.subspan(index * sdo_segment);
    const auto bytes = left.first(std::min(left.size(), sdo_segment));
    if (index == summed_) {  // not a repetition
      crc_ = block_crc(crc_, bytes);
      ++summed_;
    }
    Frame frame;
    canopen::detail::begin(frame, id, sdo_length);
    frame.data[0] = static_cast<std::uint8_t>(sent_ | (index + 1 == total_ ? block_last_bit : 0U));
    std::copy(bytes.begin(), bytes.end(), frame.data.begin() + 1);
    return frame;
  }
  /// Takes an acknowledge, and begins the next sub-block behind the segments that arrived. Errors:
  /// sequence_number (of a segment that was not sent, or too often of none), block_size.
  [[nodiscard]] constexpr SdoAbort acknowledge(const Frame& frame) noexcept {
    const std::uint8_t number = frame.data[1];
    if (number > sent_) return SdoAbort::sequence_number;
    acknowledged_ += number;
    sent_ = 0;
    if (is_complete()) return SdoAbort::none;
    fruitless_ = number > 0 ? 0 : static_cast<std::uint8_t>(fruitless_ + 1);
    return fruitless_ < max_fruitless ? set_segments(frame.data[2]) : SdoAbort::sequence_number;
  }
  /// The frame after the last sub-block.
  [[nodiscard]] constexpr Frame end(std::uint32_t id) const noexcept {
    const std::size_t unused = total_ * sdo_segment - data_.size();
    Frame frame;
    canopen::detail::begin(frame, id, sdo_length);
    frame.data[0] = static_cast<std::uint8_t>(block_sender_command | block_end | unused << 2);
    store_little<2>(frame.data.data() + 1, with_crc_ ? crc_ : 0U);
    return frame;
  }

 private:
  [[nodiscard]] constexpr SdoAbort set_segments(std::uint8_t segments) noexcept {
    segments_ = segments;
    return segments >= 1 && segments <= max_block_segments ? SdoAbort::none : SdoAbort::block_size;
  }

  std::span<const std::uint8_t> data_{};
  std::size_t total_ = 0;         ///< segments of all data
  std::size_t acknowledged_ = 0;  ///< segments that the receiver has
  std::size_t summed_ = 0;        ///< segments in the CRC
  std::uint16_t crc_ = 0;
  std::uint8_t segments_ = 0;  ///< of the present sub-block, at most
  std::uint8_t sent_ = 0;      ///< segments of the present sub-block
  std::uint8_t fruitless_ = 0;
  bool with_crc_ = false;
};

/// The end of a block transfer that receives the data. It ignores a segment behind a gap: the acknowledge
/// makes the sender repeat it.
class BlockReceiver {
 public:
  /// Arguments: `room`, which must stay in place until the transfer ends; `segments`, in each sub-block, 1 to
  /// 127. `size` is the one that the sender announced, at most that of the room. `with_crc` tells whether the
  /// sender computes the CRC.
  constexpr void begin(std::span<std::uint8_t> room, std::uint8_t segments, std::optional<std::uint32_t> size,
                       bool with_crc) noexcept {
    *this = {};
    room_ = room;
    segments_ = segments;
    announced_ = size;
    with_crc_ = with_crc;
  }
  /// Returns whether the last segment has arrived.
  [[nodiscard]] constexpr bool is_complete() const noexcept { return is_complete_; }
  /// Returns whether a segment of the present sub-block has arrived, in sequence or not.
  [[nodiscard]] constexpr bool is_begun() const noexcept { return is_begun_; }
  /// The segments of the present sub-block that arrived in sequence.
  [[nodiscard]] constexpr std::uint8_t in_sequence() const noexcept { return in_sequence_; }
  /// The reason to abort: sequence_number, too_long or out_of_memory; none otherwise.
  [[nodiscard]] constexpr SdoAbort error() const noexcept { return error_; }
  /// The bytes of the data, once finish() has succeeded.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

  /// Takes a segment. Returns whether it ends the sub-block. After an error it takes no more data.
  constexpr bool take(const Frame& frame) noexcept {
    const unsigned number = frame.data[0] & block_number_mask;
    const bool is_last = (frame.data[0] & block_last_bit) != 0;
    if (number == 0 || number > segments_) {
      error_ = SdoAbort::sequence_number;
      return true;
    }
    is_begun_ = true;
    if (number == in_sequence_ + 1U && error_ == SdoAbort::none) store(frame, is_last);
    if (!is_last && number != segments_) return false;
    end_sub_block();
    return true;
  }
  /// Ends a sub-block whose last segments were lost. The error is sequence_number if too many sub-blocks in a
  /// row had no segment in sequence.
  constexpr void end_sub_block() noexcept {
    fruitless_ = in_sequence_ > 0 ? 0 : static_cast<std::uint8_t>(fruitless_ + 1);
    if (fruitless_ == max_fruitless) error_ = SdoAbort::sequence_number;
  }
  /// Returns the acknowledge of the sub-block that has ended, and begins the next one.
  [[nodiscard]] constexpr Frame acknowledge(std::uint32_t id) noexcept {
    Frame frame;
    canopen::detail::begin(frame, id, sdo_length);
    frame.data[0] = block_receiver_command | block_acknowledge;
    frame.data[1] = in_sequence_;
    frame.data[2] = segments_;
    in_sequence_ = 0;
    is_begun_ = false;
    return frame;
  }
  /// Checks all data by the frame after the last sub-block. Errors: too_long, wrong_length, out_of_memory,
  /// checksum.
  [[nodiscard]] constexpr SdoAbort finish(const Frame& frame) noexcept {
    const std::size_t size = size_ - (frame.data[0] >> 2 & 7U);
    if (announced_ && size > *announced_) return SdoAbort::too_long;
    if (announced_ && size < *announced_) return SdoAbort::wrong_length;
    if (size > room_.size()) return SdoAbort::out_of_memory;
    size_ = size;
    add_to_crc();
    if (with_crc_ && crc_ != load_little<2>(frame.data.data() + 1)) return SdoAbort::checksum;
    return SdoAbort::none;
  }

 private:
  /// Only the last segment may have unused bytes, whose number comes later. So it may exceed the room here.
  constexpr void store(const Frame& frame, bool is_last) noexcept {
    const std::size_t after = size_ + sdo_segment;
    if (!is_last && announced_ && after > *announced_) {
      error_ = SdoAbort::too_long;
    } else if (!is_last && after > room_.size()) {
      error_ = SdoAbort::out_of_memory;
    } else {
      add_to_crc();
      std::copy_n(frame.data.begin() + 1, std::min(sdo_segment, room_.size() - size_),
                  room_.begin() + static_cast<std::ptrdiff_t>(size_));
      size_ = after;
      ++in_sequence_;
      is_complete_ = is_last;
    }
  }
  /// Adds the bytes of the last segment, once their number is known.
  constexpr void add_to_crc() noexcept {
    crc_ = block_crc(crc_, room_.first(size_).subspan(summed_));
    summed_ = size_;
  }

  std::span<std::uint8_t> room_{};
  std::size_t size_ = 0;    ///< bytes so far, with the unused ones of the last segment
  std::size_t summed_ = 0;  ///< bytes in the CRC
  std::optional<std::uint32_t> announced_{};
  SdoAbort error_ = SdoAbort::none;
  std::uint16_t crc_ = 0;
  std::uint8_t segments_ = 0;
  std::uint8_t in_sequence_ = 0;
  std::uint8_t fruitless_ = 0;
  bool with_crc_ = false;
  bool is_begun_ = false;
  bool is_complete_ = false;
};

}  // namespace detail
}  // namespace takt::can::canopen
