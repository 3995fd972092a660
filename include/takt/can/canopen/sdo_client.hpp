// The master's end of the SDO of one node: one transfer at a time. It has no clock, no bus, and no buffer of
// its own.
//
//     (void)client.download({0x6060, 0}, bytes);  // or upload(address, room); all only start a transfer
//
//     // Each cycle, until state() is done or aborted; then abort() gives the reason:
//     for (const Frame& frame : received) (void)client.receive(frame);  // frames of the node
//
//     if (client.state() == SdoState::busy)
//       if (const auto frame = client.poll(now)) send(*frame);
//
// A client sends one frame and waits for the answer. So a transfer costs at most one frame in each direction
// per call of poll(). Block transfers are the exception, see sdo_block.hpp. In a download poll() has up to
// 127 segments without an answer between them. In an upload as many segments arrive after one frame. Block
// transfers take half of the frames, and repeat lost segments. Not every server supports them.
//
// The caller limits how many clients poll in one cycle. Every answer is checked: node, transfer step, toggle
// bit, sequence number, CRC, and the stated sizes. An invalid answer aborts the transfer with the abort code
// of the standard. Answers to other objects are late ones of an earlier transfer, and are ignored. Real-time
// safe. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "takt/can/canopen/sdo_block.hpp"
#include "takt/core/time.hpp"

namespace takt::can::canopen {

/// The progress of a transfer.
enum class SdoState : std::uint8_t { idle, busy, done, aborted };

/// The SDO client of one node.
class SdoClient {
 public:
  /// Arguments: `node`, for which is_node() must be true; `timeout`, the longest time for each answer.
  /// `block_segments`, 1 to 127, is the most frames of a block upload that arrive in a row.
  constexpr SdoClient(std::uint8_t node, Duration timeout,
                      std::uint8_t block_segments = max_block_segments) noexcept
      : timeout_(timeout), node_(node), block_segments_(block_segments) {}

  /// Starts to write an object. The bytes in `data` must stay in place until the transfer ends. A transfer in
  /// progress is dropped, and the server drops it, too. Error: wrong_length (no data).
  [[nodiscard]] constexpr Status download(Address object, std::span<const std::uint8_t> data) noexcept {
    return begin_download(object, data, Step::download);
  }
  /// As download(), by a block transfer. A server without them aborts with SdoAbort::unknown_command.
  [[nodiscard]] constexpr Status download_block(Address object, std::span<const std::uint8_t> data) noexcept {
    return begin_download(object, data, Step::block_download);
  }
  /// Starts to write a number, which the client copies. Error: wrong_length (not 1 to 4 bytes).
  [[nodiscard]] constexpr Status download(const ObjectWrite& write) noexcept {
    if (write.bytes < 1 || write.bytes > number_.size()) return fail(Errc::wrong_length);
    begin(write.object, Step::download);
    store_little<4>(number_.data(), write.value);
    own_bytes_ = write.bytes;
    return {};
  }
  /// Starts to read an object into `room`, which must stay in place until the transfer ends.
  constexpr void upload(Address object, std::span<std::uint8_t> room) noexcept {
    begin(object, Step::upload);
    room_ = room;
  }
  /// As upload(), by a block transfer. The server may answer with segments, as it does for short values. A
  /// server without block transfers aborts with SdoAbort::unknown_command.
  constexpr void upload_block(Address object, std::span<std::uint8_t> room) noexcept {
    begin(object, Step::block_upload);
    room_ = room;
  }

  /// Returns the progress of the current or last transfer.
  [[nodiscard]] constexpr SdoState state() const noexcept { return state_; }
  /// The reason after SdoState::aborted. The server may send any number.
  [[nodiscard]] constexpr SdoAbort abort() const noexcept { return abort_; }
  /// The bytes of a completed upload; empty after a download.
  [[nodiscard]] constexpr std::span<const std::uint8_t> received() const noexcept {
    return std::span<const std::uint8_t>(room_).first(std::min(transferred_, room_.size()));
  }
  /// The received bytes as a number: the first four at most.
  [[nodiscard]] constexpr std::uint32_t number() const noexcept {
    std::array<std::uint8_t, 4> bytes{};
    const auto read = received();
    std::copy_n(read.begin(), std::min(read.size(), bytes.size()), bytes.begin());
    return static_cast<std::uint32_t>(load_little<4>(bytes.data()));
  }

  /// Returns the frame to send now, if any. Each frame is returned once; if the bus has no room for it, the
  /// transfer times out. A timeout changes the state to aborted and returns the abort frame.
  [[nodiscard]] constexpr std::optional<Frame> poll(Time now) noexcept {
    if (waiting_ && !due_ && state_ == SdoState::busy) {
      if (std::exchange(progress_, false)) deadline_ = now + timeout_ / 2;
      if (now >= deadline_) end_silence();
    }
    if (!due_) return std::nullopt;
    if (dropped_) return abort_frame(*std::exchange(dropped_, std::nullopt), SdoAbort::general);
    due_ = false;
    if (state_ == SdoState::aborted) return abort_frame(object_, abort_);
    waiting_ = true;
    deadline_ = now + timeout_;
    return next_frame();
  }
  /// Returns whether poll() is to be called at this time: it has a frame, or judges a silence.
  [[nodiscard]] constexpr bool wants_to_send(Time now) const noexcept {
    return due_ || (waiting_ && state_ == SdoState::busy && now >= deadline_);
  }

  /// Takes a frame of the node's SDO. On an error nothing changes. Errors: wrong_format, unexpected_id,
  /// wrong_length.
  constexpr Status receive(const Frame& frame) noexcept {
    const auto node = detail::node_of(frame, sdo_reply_base, detail::sdo_length);
    if (!node) return fail(node.error());
    if (*node != node_) return fail(Errc::unexpected_id);
    if (state_ != SdoState::busy || !waiting_) return {};  // late: no answer is expected
    if (frame.data[0] == detail::abort_command) {
      if (detail::address_in(frame) == object_) {
        end(SdoState::aborted, static_cast<SdoAbort>(detail::number_in(frame)));
      }
      return {};
    }
    answer(frame);
    return {};
  }

 private:
  /// The last frame of the client in each step. Those of block transfers come last.
  enum class Step : std::uint8_t {
    download,
    download_segment,
    upload,
    upload_segment,
    block_download,
    block_segments,
    block_download_end,
    block_upload,
    block_upload_start,
    block_acknowledge,
    block_upload_end,
  };

  constexpr Status begin_download(Address object, std::span<const std::uint8_t> data, Step step) noexcept {
    if (data.empty()) return fail(Errc::wrong_length);
    begin(object, step);
    external_ = data;
    own_bytes_ = 0;
    return {};
  }
  constexpr void begin(Address object, Step step) noexcept {
    // In a sub-block, a server takes any frame but an abort for a segment.
    const bool is_open = state_ == SdoState::busy || due_;
    if (is_open && step_ >= Step::block_download && !dropped_) dropped_ = object_;
    object_ = object;
    state_ = SdoState::busy;
    abort_ = SdoAbort::none;
    transferred_ = 0;
    room_ = {};
    size_.reset();
    toggle_ = false;
    go_on(step);
  }
  constexpr void end(SdoState state, SdoAbort why = SdoAbort::none) noexcept {
    state_ = state;
    abort_ = why;
    waiting_ = due_ = false;
  }
  /// Aborts from this end: the server is notified.
  constexpr void give_up(SdoAbort why) noexcept {
    end(SdoState::aborted, why);
    due_ = true;
  }
  constexpr void go_on(Step step) noexcept {
    step_ = step;
    waiting_ = progress_ = false;
    due_ = true;
  }

  [[nodiscard]] constexpr std::span<const std::uint8_t> source() const noexcept {
    return own_bytes_ > 0 ? std::span<const std::uint8_t>(number_).first(own_bytes_) : external_;
  }
  [[nodiscard]] constexpr std::uint32_t request_id() const noexcept { return sdo_request_base + node_; }
  [[nodiscard]] constexpr Frame abort_frame(Address object, SdoAbort why) const noexcept {
    return detail::sdo_frame(request_id(), detail::abort_command, object, static_cast<std::uint32_t>(why));
  }
  [[nodiscard]] constexpr Frame next_frame() noexcept {
    switch (step_) {
      case Step::download:
        if (source().size() <= detail::sdo_expedited)
          return detail::expedited_frame(request_id(), detail::download_request, object_, source());
        return detail::sdo_frame(request_id(), detail::download_request | detail::size_bit, object_,
                                 static_cast<std::uint32_t>(source().size()));
      case Step::download_segment:
        return detail::segment_frame(request_id(), detail::download_segment_request, toggle_,
                                     source().subspan(transferred_));
      case Step::upload:
        return detail::sdo_frame(request_id(), detail::upload_request, object_);
      case Step::upload_segment:
        break;
      default:
        return next_block_frame();
    }
    return detail::sdo_frame(request_id(),
                             detail::upload_segment_request | (toggle_ ? detail::toggle_bit : 0U), {});
  }
  [[nodiscard]] constexpr Frame next_block_frame() noexcept {
    constexpr unsigned sends = detail::block_sender_command;
    constexpr unsigned receives = detail::block_receiver_command;
    switch (step_) {
      case Step::block_download:
        return detail::sdo_frame(request_id(), sends | detail::block_crc_bit | detail::block_size_bit,
                                 object_, static_cast<std::uint32_t>(source().size()));
      case Step::block_segments: {
        const Frame segment = sender_.segment(request_id());
        due_ = sender_.has_segment();
        return segment;
      }
      case Step::block_download_end:
        return sender_.end(request_id());
      case Step::block_upload:
        return detail::sdo_frame(request_id(), receives | detail::block_crc_bit, object_,
                                 block_segments_ | std::uint32_t{detail::block_threshold} << 8);
      case Step::block_upload_start:
        return detail::sdo_frame(request_id(), receives | detail::block_start, {});
      case Step::block_acknowledge:
        return receiver_.acknowledge(request_id());
      default:
        end(SdoState::done);
        return detail::sdo_frame(request_id(), receives | detail::block_end, {});
    }
  }
  /// No answer came in time. If the last segments of a sub-block were lost, the others are acknowledged. That
  /// is after half the timeout, before the server gives up.
  constexpr void end_silence() noexcept {
    if (!expects_segments() || !receiver_.is_begun()) return give_up(SdoAbort::timeout);
    receiver_.end_sub_block();
    end_sub_block();
  }

  constexpr void answer(const Frame& frame) noexcept {
    if (expects_segments()) return take_block_segment(frame);
    const bool first = step_ == Step::download || step_ == Step::upload || step_ == Step::block_download ||
                       step_ == Step::block_upload;
    const bool starts = starts_transfer(frame.data[0]);
    if (starts && detail::address_in(frame) != object_) return;  // late
    if (first && !starts) return;                                // a segment of an earlier transfer
    if (step_ >= Step::block_download) return answer_block(frame);
    const unsigned command = frame.data[0] & detail::command_mask;
    if (command != expected_reply()) return give_up(SdoAbort::unknown_command);
    if (!first && detail::toggle_in(frame) != toggle_) return give_up(SdoAbort::toggle);
    switch (step_) {
      case Step::download:
        if (source().size() <= detail::sdo_expedited) return end(SdoState::done);
        return go_on(Step::download_segment);
      case Step::download_segment:
        return written();
      case Step::upload:
        return begin_reading(frame);
      default:
        return read(frame);
    }
  }
  /// Whether the first byte is that of the answer to a client's first frame. Those have an address.
  [[nodiscard]] static constexpr bool starts_transfer(std::uint8_t byte) noexcept {
    const unsigned command = byte & detail::command_mask;
    return command == detail::upload_reply || command == detail::download_reply ||
           detail::is_block_step(byte, detail::block_sender_command, detail::block_initiate) ||
           detail::is_block_step(byte, detail::block_receiver_command, detail::block_initiate);
  }
  [[nodiscard]] constexpr unsigned expected_reply() const noexcept {
    switch (step_) {
      case Step::download:
        return detail::download_reply;
      case Step::download_segment:
        return detail::download_segment_reply;
      case Step::upload:
        return detail::upload_reply;
      default:
        return detail::upload_segment_reply;
    }
  }

  constexpr void written() noexcept {
    transferred_ += std::min(source().size() - transferred_, detail::sdo_segment);
    if (transferred_ == source().size()) return end(SdoState::done);
    toggle_ = !toggle_;
    go_on(Step::download_segment);
  }
  constexpr void begin_reading(const Frame& frame) noexcept {
    const std::uint8_t command = frame.data[0];
    if ((command & detail::expedited_bit) != 0) {
      const std::size_t claimed = detail::expedited_size(command);
      const bool fits = claimed <= room_.size();
      // Without a size the frame has four bytes. Only the room shows how many of them count.
      if (!fits && (command & detail::size_bit) != 0) return give_up(SdoAbort::out_of_memory);
      transferred_ = std::min(claimed, room_.size());
      std::copy_n(frame.data.begin() + 4, transferred_, room_.begin());
      return end(SdoState::done);
    }
    if ((command & detail::size_bit) != 0) {
      size_ = detail::number_in(frame);
      if (*size_ > room_.size()) return give_up(SdoAbort::out_of_memory);
    }
    go_on(Step::upload_segment);
  }
  constexpr void read(const Frame& frame) noexcept {
    const auto data = detail::segment_data(frame);
    const bool last = (frame.data[0] & detail::last_bit) != 0;
    if (data.empty() && !last) return give_up(SdoAbort::unknown_command);  // it would never end
    const std::size_t after = transferred_ + data.size();
    if (size_ && after > *size_) return give_up(SdoAbort::too_long);
    if (after > room_.size()) return give_up(SdoAbort::out_of_memory);
    std::copy(data.begin(), data.end(), room_.begin() + static_cast<std::ptrdiff_t>(transferred_));
    transferred_ = after;
    if (last) {
      if (size_ && after != *size_) return give_up(SdoAbort::wrong_length);
      return end(SdoState::done);
    }
    toggle_ = !toggle_;
    go_on(Step::upload_segment);
  }

  constexpr void answer_block(const Frame& frame) noexcept {
    const std::uint8_t byte = frame.data[0];
    const auto is = [byte](std::uint8_t command, std::uint8_t step) {
      return detail::is_block_step(byte, command, step);
    };
    if (step_ == Step::block_download && is(detail::block_receiver_command, detail::block_initiate)) {
      return go_on_sending(sender_.begin(source(), frame.data[4], (byte & detail::block_crc_bit) != 0));
    }
    if (step_ == Step::block_segments && is(detail::block_receiver_command, detail::block_acknowledge))
      return go_on_sending(sender_.acknowledge(frame));
    if (step_ == Step::block_download_end && is(detail::block_receiver_command, detail::block_end))
      return end(SdoState::done);
    if (step_ == Step::block_upload && (byte & detail::command_mask) == detail::upload_reply)
      return begin_reading(frame);
    if (step_ == Step::block_upload && is(detail::block_sender_command, detail::block_initiate))
      return begin_block_reading(frame);
    if (step_ == Step::block_acknowledge && is(detail::block_sender_command, detail::block_end))
      return finish_block_reading(frame);
    give_up(SdoAbort::unknown_command);
  }
  constexpr void go_on_sending(SdoAbort error) noexcept {
    if (error != SdoAbort::none) return give_up(error);
    go_on(sender_.is_complete() ? Step::block_download_end : Step::block_segments);
  }
  constexpr void begin_block_reading(const Frame& frame) noexcept {
    if ((frame.data[0] & detail::block_size_bit) != 0) size_ = detail::number_in(frame);
    if (size_ && *size_ > room_.size()) return give_up(SdoAbort::out_of_memory);
    receiver_.begin(room_, block_segments_, size_, (frame.data[0] & detail::block_crc_bit) != 0);
    go_on(Step::block_upload_start);
  }
  [[nodiscard]] constexpr bool expects_segments() const noexcept {
    return (step_ == Step::block_upload_start || step_ == Step::block_acknowledge) &&
           !receiver_.is_complete();
  }
  constexpr void take_block_segment(const Frame& frame) noexcept {
    const bool is_first = !receiver_.is_begun();
    const std::uint8_t before = receiver_.in_sequence();
    const bool is_over = receiver_.take(frame);
    progress_ = progress_ || is_first || receiver_.in_sequence() != before;
    if (is_over || receiver_.error() != SdoAbort::none) end_sub_block();
  }
  constexpr void end_sub_block() noexcept {
    if (receiver_.error() != SdoAbort::none) return give_up(receiver_.error());
    go_on(Step::block_acknowledge);
  }
  constexpr void finish_block_reading(const Frame& frame) noexcept {
    if (const SdoAbort error = receiver_.finish(frame); error != SdoAbort::none) return give_up(error);
    transferred_ = receiver_.size();
    go_on(Step::block_upload_end);
  }

  Duration timeout_;
  Time deadline_{};
  std::span<const std::uint8_t> external_{};
  std::span<std::uint8_t> room_{};
  std::size_t transferred_ = 0;
  std::optional<std::uint32_t> size_{};  ///< size that the server announced
  detail::BlockSender sender_{};
  detail::BlockReceiver receiver_{};
  std::optional<Address> dropped_{};  ///< object of a block transfer that the server is to drop
  std::array<std::uint8_t, 4> number_{};
  std::uint8_t own_bytes_ = 0;  ///< bytes to write from number_; 0: write the external data
  Address object_{};
  SdoAbort abort_ = SdoAbort::none;
  std::uint8_t node_;
  std::uint8_t block_segments_;
  Step step_ = Step::upload;
  SdoState state_ = SdoState::idle;
  bool toggle_ = false;
  bool due_ = false;       ///< a frame is due
  bool waiting_ = false;   ///< waiting for the answer to a frame
  bool progress_ = false;  ///< a segment came since the last poll()
};

}  // namespace takt::can::canopen
