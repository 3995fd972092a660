// The device's end of SDO: answers requests from an object dictionary. For simulated devices and for small
// real ones. It has no bus and no clock: a request goes in, the answer comes out. Only a block upload sends
// more frames than it gets requests for; poll() returns them, one by one.
//
//     for (const Frame& request : received) {
//       if (const auto answer = server.receive(request, dictionary); answer && *answer) send(**answer);
//       while (const auto segment = server.poll()) send(*segment);  // or fewer per cycle
//     }
//
// A frame that the bus does not take is lost. In an upload the client asks for it again. Without a clock, a
// server waits for ever for a lost end of a sub-block of a download: the client times out. Real-time safe if
// the dictionary is.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tl/expected.hpp>

#include "takt/can/canopen/sdo_block.hpp"

namespace takt::can::canopen {

/// The object dictionary of a server:
/// - read(address, room): copies an object's value into the room. Returns the number of bytes, or an abort
///   code.
/// - write(address, data): sets a new value. Returns SdoAbort::none, or an abort code.
// clang-format off
template <class D>
concept ObjectDictionary = requires(D& d, Address a, std::span<std::uint8_t> room, std::span<const std::uint8_t> data) {
  { d.read(a, room) } noexcept -> std::same_as<tl::expected<std::size_t, SdoAbort>>;
  { d.write(a, data) } noexcept -> std::same_as<SdoAbort>;
};
// clang-format on

/// Holds one transfer of at most `Capacity` bytes. A new request ends the current transfer.
template <std::size_t Capacity>
class SdoServer {
 public:
  static_assert(Capacity >= 4);
  /// Arguments: `node`, the number of this device, for which is_node() must be true. `block_segments`, 1 to
  /// 127, is the most frames of a block download that arrive in a row.
  explicit constexpr SdoServer(std::uint8_t node, std::uint8_t block_segments = max_block_segments) noexcept
      : node_(node), block_segments_(block_segments) {}

  /// Returns the answer to a frame, if it needs one. Errors: wrong_format, unexpected_id, wrong_length.
  template <ObjectDictionary Dictionary>
  [[nodiscard]] constexpr Result<std::optional<Frame>> receive(const Frame& frame,
                                                               Dictionary& dictionary) noexcept {
    const auto node = detail::node_of(frame, sdo_request_base, detail::sdo_length);
    if (!node) return fail(node.error());
    if (*node != node_) return fail(Errc::unexpected_id);
    return answer(frame, dictionary);
  }
  /// Returns the next segment of a block upload, if one is due. Each is returned once.
  [[nodiscard]] constexpr std::optional<Frame> poll() noexcept {
    if (step_ != Step::block_upload || !sender_.has_segment()) return std::nullopt;
    return sender_.segment(reply_id());
  }
  /// Cancels the current transfer without an answer.
  constexpr void reset() noexcept { step_ = Step::idle; }

 private:
  enum class Step : std::uint8_t { idle, download, upload, block_download, block_upload_offer, block_upload };

  template <class Dictionary>
  constexpr std::optional<Frame> answer(const Frame& frame, Dictionary& dictionary) noexcept {
    const bool in_sub_block = step_ == Step::block_download && !receiver_.is_complete();
    if (in_sub_block && frame.data[0] != detail::abort_command) return take_block_segment(frame);
    switch (frame.data[0] & detail::command_mask) {
      case detail::download_request:
        object_ = detail::address_in(frame);
        return begin_download(frame, dictionary);
      case detail::upload_request:
        object_ = detail::address_in(frame);
        return begin_upload(frame, dictionary);
      case detail::download_segment_request:
        return step_ == Step::download ? take_segment(frame, dictionary) : refuse(SdoAbort::unknown_command);
      case detail::upload_segment_request:
        return step_ == Step::upload ? give_segment(frame) : refuse(SdoAbort::unknown_command);
      case detail::block_sender_command:
        return (frame.data[0] & detail::block_end) == 0 ? begin_block_download(frame)
                                                        : end_block_download(frame, dictionary);
      case detail::block_receiver_command:
        return give_block(frame, dictionary);
      case detail::abort_command:
        step_ = Step::idle;
        return std::nullopt;
      default:
        return refuse(SdoAbort::unknown_command);
    }
  }

  [[nodiscard]] constexpr std::uint32_t reply_id() const noexcept { return sdo_reply_base + node_; }
  constexpr std::optional<Frame> refuse(SdoAbort why) noexcept {
    step_ = Step::idle;
    return detail::sdo_frame(reply_id(), detail::abort_command, object_, static_cast<std::uint32_t>(why));
  }
  constexpr std::optional<Frame> written(SdoAbort result, Frame reply) noexcept {
    step_ = Step::idle;
    return result == SdoAbort::none ? std::optional(reply) : refuse(result);
  }

  template <class Dictionary>
  constexpr std::optional<Frame> begin_download(const Frame& frame, Dictionary& dictionary) noexcept {
    const std::uint8_t command = frame.data[0];
    const Frame reply = detail::sdo_frame(reply_id(), detail::download_reply, object_);
    if ((command & detail::expedited_bit) != 0) {
      const auto data = std::span(frame.data).subspan(4, detail::expedited_size(command));
      return written(dictionary.write(object_, data), reply);
    }
    size_.reset();
    if ((command & detail::size_bit) != 0) size_ = detail::number_in(frame);
    if (size_ && *size_ > Capacity) return refuse(SdoAbort::out_of_memory);
    begin(Step::download, 0);
    return reply;
  }
  template <class Dictionary>
  constexpr std::optional<Frame> take_segment(const Frame& frame, Dictionary& dictionary) noexcept {
    if (detail::toggle_in(frame) != toggle_) return refuse(SdoAbort::toggle);
    const auto data = detail::segment_data(frame);
    const std::size_t after = transferred_ + data.size();
    if (size_ && after > *size_) return refuse(SdoAbort::too_long);
    if (after > Capacity) return refuse(SdoAbort::out_of_memory);
    std::copy(data.begin(), data.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(transferred_));
    transferred_ = after;
    const Frame reply = detail::sdo_frame(
        reply_id(), detail::download_segment_reply | (toggle_ ? detail::toggle_bit : 0U), {});
    toggle_ = !toggle_;
    if ((frame.data[0] & detail::last_bit) == 0) return reply;
    if (size_ && after != *size_) return refuse(SdoAbort::wrong_length);
    return written(dictionary.write(object_, std::span<const std::uint8_t>(buffer_).first(after)), reply);
  }

  template <class Dictionary>
  constexpr std::optional<Frame> begin_upload(const Frame& frame, Dictionary& dictionary) noexcept {
    const auto size = dictionary.read(object_, std::span<std::uint8_t>(buffer_));
    if (!size) return refuse(size.error());
    if (*size > Capacity) return refuse(SdoAbort::out_of_memory);
    const auto data = std::span<const std::uint8_t>(buffer_).first(*size);
    const bool is_block = (frame.data[0] & detail::command_mask) == detail::block_receiver_command;
    const std::uint8_t threshold = frame.data[5];  // 0: the client demands a block
    if (is_block && (threshold == 0 || *size > threshold)) return offer_block(frame, data);
    if (*size >= 1 && *size <= detail::sdo_expedited) {
      step_ = Step::idle;
      return detail::expedited_frame(reply_id(), detail::upload_reply, object_, data);
    }
    begin(Step::upload, *size);
    return detail::sdo_frame(reply_id(), detail::upload_reply | detail::size_bit, object_,
                             static_cast<std::uint32_t>(*size));
  }
  constexpr std::optional<Frame> give_segment(const Frame& frame) noexcept {
    if (detail::toggle_in(frame) != toggle_) return refuse(SdoAbort::toggle);
    const auto left = std::span<const std::uint8_t>(buffer_).first(*size_).subspan(transferred_);
    const Frame reply = detail::segment_frame(reply_id(), detail::upload_segment_reply, toggle_, left);
    transferred_ += std::min(left.size(), detail::sdo_segment);
    toggle_ = !toggle_;
    if (transferred_ == *size_) step_ = Step::idle;
    return reply;
  }

  constexpr std::optional<Frame> begin_block_download(const Frame& frame) noexcept {
    const std::uint8_t command = frame.data[0];
    object_ = detail::address_in(frame);
    std::optional<std::uint32_t> size;
    if ((command & detail::block_size_bit) != 0) size = detail::number_in(frame);
    if (size && *size > Capacity) return refuse(SdoAbort::out_of_memory);
    receiver_.begin(buffer_, block_segments_, size, (command & detail::block_crc_bit) != 0);
    step_ = Step::block_download;
    return detail::sdo_frame(reply_id(), detail::block_receiver_command | detail::block_crc_bit, object_,
                             block_segments_);
  }
  /// An error is answered after the sub-block: the client may send all of it, and its segments look like
  /// requests.
  constexpr std::optional<Frame> take_block_segment(const Frame& frame) noexcept {
    if (!receiver_.take(frame)) return std::nullopt;
    if (receiver_.error() != SdoAbort::none) return refuse(receiver_.error());
    return receiver_.acknowledge(reply_id());
  }
  template <class Dictionary>
  constexpr std::optional<Frame> end_block_download(const Frame& frame, Dictionary& dictionary) noexcept {
    if (step_ != Step::block_download) return refuse(SdoAbort::unknown_command);
    if (const SdoAbort error = receiver_.finish(frame); error != SdoAbort::none) return refuse(error);
    const auto data = std::span<const std::uint8_t>(buffer_).first(receiver_.size());
    return written(dictionary.write(object_, data),
                   detail::sdo_frame(reply_id(), detail::block_receiver_command | detail::block_end, {}));
  }

  constexpr std::optional<Frame> offer_block(const Frame& frame,
                                             std::span<const std::uint8_t> data) noexcept {
    const bool with_crc = (frame.data[0] & detail::block_crc_bit) != 0;
    if (const SdoAbort error = sender_.begin(data, frame.data[4], with_crc); error != SdoAbort::none)
      return refuse(error);
    step_ = Step::block_upload_offer;
    return detail::sdo_frame(reply_id(),
                             detail::block_sender_command | detail::block_crc_bit | detail::block_size_bit,
                             object_, static_cast<std::uint32_t>(data.size()));
  }
  /// The requests of a block upload.
  template <class Dictionary>
  constexpr std::optional<Frame> give_block(const Frame& frame, Dictionary& dictionary) noexcept {
    const unsigned request = frame.data[0] & detail::block_step_mask;
    if (request == detail::block_initiate) {
      object_ = detail::address_in(frame);
      return begin_upload(frame, dictionary);
    }
    if (request == detail::block_start && step_ == Step::block_upload_offer) {
      step_ = Step::block_upload;
      return std::nullopt;
    }
    if (step_ != Step::block_upload) return refuse(SdoAbort::unknown_command);
    if (request == detail::block_acknowledge) {
      if (const SdoAbort error = sender_.acknowledge(frame); error != SdoAbort::none) return refuse(error);
      return sender_.is_complete() ? std::optional(sender_.end(reply_id())) : std::nullopt;
    }
    if (request != detail::block_end || !sender_.is_complete()) return refuse(SdoAbort::unknown_command);
    step_ = Step::idle;
    return std::nullopt;
  }

  constexpr void begin(Step step, std::size_t size) noexcept {
    step_ = step;
    transferred_ = 0;
    toggle_ = false;
    if (step == Step::upload) size_ = static_cast<std::uint32_t>(size);
  }

  std::array<std::uint8_t, Capacity> buffer_{};
  std::size_t transferred_ = 0;
  std::optional<std::uint32_t> size_{};  ///< size of the object, if known
  detail::BlockSender sender_{};
  detail::BlockReceiver receiver_{};
  Address object_{};
  std::uint8_t node_;
  std::uint8_t block_segments_;
  Step step_ = Step::idle;
  bool toggle_ = false;
};

}  // namespace takt::can::canopen
