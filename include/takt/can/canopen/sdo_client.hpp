// The master's end of the SDO of one node: one transfer at a time. It has no clock, no bus, and no buffer of
// its own.
//
//     (void)client.download({0x6060, 0}, bytes);  // or upload(address, room); both only start
//
//     // Each cycle, until state() is done or aborted; then abort() gives the reason:
//     for (const Frame& frame : received) (void)client.receive(frame);  // frames of the node
//
//     if (client.state() == SdoState::busy)
//       if (const auto frame = client.poll(now)) send(*frame);
//
// A client sends one frame and waits for the answer. So a transfer costs at most one frame in each direction
// per call of poll(). The caller limits how many clients poll in one cycle. Every answer is checked: node,
// transfer step, toggle bit, and the stated sizes. An invalid answer aborts the transfer with the abort code
// of the standard. Answers to other objects are late ones of an earlier transfer, and are ignored. Real-time
// safe. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/can/canopen/sdo.hpp"
#include "takt/core/time.hpp"

namespace takt::can::canopen {

/// The progress of a transfer.
enum class SdoState : std::uint8_t { idle, busy, done, aborted };

/// The SDO client of one node.
class SdoClient {
 public:
  /// Arguments: `node`, for which is_node() must be true; `timeout`, the longest time for each answer.
  constexpr SdoClient(std::uint8_t node, Duration timeout) noexcept : timeout_(timeout), node_(node) {}

  /// Starts to write an object. The bytes in `data` must stay in place until the transfer ends. A transfer in
  /// progress is dropped, and the server drops it, too. Error: wrong_length (no data).
  [[nodiscard]] constexpr Status download(Address object, std::span<const std::uint8_t> data) noexcept {
    if (data.empty()) return fail(Errc::wrong_length);
    begin(object, Step::download);
    external_ = data;
    own_bytes_ = 0;
    return {};
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
    if (waiting_ && state_ == SdoState::busy && now >= deadline_) give_up(SdoAbort::timeout);
    if (!due_) return std::nullopt;
    due_ = false;
    if (state_ == SdoState::aborted) return abort_frame();
    waiting_ = true;
    deadline_ = now + timeout_;
    return next_frame();
  }
  /// Returns whether poll() has a frame at this time.
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
    if ((frame.data[0] & detail::command_mask) == detail::abort_command) {
      if (detail::address_in(frame) == object_) {
        end(SdoState::aborted, static_cast<SdoAbort>(detail::number_in(frame)));
      }
      return {};
    }
    answer(frame);
    return {};
  }

 private:
  enum class Step : std::uint8_t { download, download_segment, upload, upload_segment };

  constexpr void begin(Address object, Step step) noexcept {
    object_ = object;
    step_ = step;
    state_ = SdoState::busy;
    abort_ = SdoAbort::none;
    transferred_ = 0;
    room_ = {};
    size_.reset();
    toggle_ = false;
    waiting_ = false;
    due_ = true;
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
    waiting_ = false;
    due_ = true;
  }

  [[nodiscard]] constexpr std::span<const std::uint8_t> source() const noexcept {
    return own_bytes_ > 0 ? std::span<const std::uint8_t>(number_).first(own_bytes_) : external_;
  }
  [[nodiscard]] constexpr std::uint32_t request_id() const noexcept { return sdo_request_base + node_; }
  [[nodiscard]] constexpr Frame abort_frame() const noexcept {
    return detail::sdo_frame(request_id(), detail::abort_command, object_,
                             static_cast<std::uint32_t>(abort_));
  }
  [[nodiscard]] constexpr Frame next_frame() const noexcept {
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
    }
    return detail::sdo_frame(request_id(),
                             detail::upload_segment_request | (toggle_ ? detail::toggle_bit : 0U), {});
  }

  constexpr void answer(const Frame& frame) noexcept {
    const unsigned command = frame.data[0] & detail::command_mask;
    const bool first = step_ == Step::download || step_ == Step::upload;
    const bool starts = command == detail::upload_reply || command == detail::download_reply;
    if (starts && detail::address_in(frame) != object_) return;  // late
    if (first && !starts) return;                                // a segment of an earlier transfer
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
      case Step::upload_segment:
        return read(frame);
    }
  }
  [[nodiscard]] constexpr unsigned expected_reply() const noexcept {
    switch (step_) {
      case Step::download:
        return detail::download_reply;
      case Step::download_segment:
        return detail::download_segment_reply;
      case Step::upload:
        return detail::upload_reply;
      case Step::upload_segment:
        break;
    }
    return detail::upload_segment_reply;
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

  Duration timeout_;
  Time deadline_{};
  std::span<const std::uint8_t> external_{};
  std::span<std::uint8_t> room_{};
  std::size_t transferred_ = 0;
  std::optional<std::uint32_t> size_{};  ///< size that the server announced
  std::array<std::uint8_t, 4> number_{};
  std::uint8_t own_bytes_ = 0;  ///< bytes to write from number_; 0: write the external data
  Address object_{};
  SdoAbort abort_ = SdoAbort::none;
  std::uint8_t node_;
  Step step_ = Step::upload;
  SdoState state_ = SdoState::idle;
  bool toggle_ = false;
  bool due_ = false;      ///< a frame is due
  bool waiting_ = false;  ///< waiting for the answer to a frame
};

}  // namespace takt::can::canopen
