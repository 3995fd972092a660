// Sends one J1939 message of 9 to 1785 bytes at a time, as a broadcast (BAM) or to one device (RTS, CTS).
// Sans-I/O; takt/can/j1939_transport.hpp is the receiving end.
//
//     TransportSender sender(own_address);
//     (void)sender.start(pgn, destination, data, now);
//
//     // Each cycle, until state() is done or failed:
//     for (const Frame& frame : received) sender.receive(frame, now);
//     sender.poll(now);
//     while (const auto frame = sender.next_frame(now)) bus.send({&*frame, 1});
//
// A device may send one broadcast and one message to each other device at a time: use one sender for each. A
// frame that the bus does not take is lost, so call next_frame() only when the bus has room. Real-time safe.
// One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "takt/can/j1939_transport.hpp"

namespace takt::can::j1939 {

/// The sender of one message at a time.
class TransportSender {
 public:
  enum class State : std::uint8_t {
    idle,
    sending,  ///< packets are due
    waiting,  ///< waits for the receiver
    done,     ///< all packets were sent and, except for a broadcast, confirmed
    failed,   ///< reason() says why
  };
  /// How often a receiver may request packets again in one message.
  static constexpr std::uint8_t max_retransmits = 8;

  /// Argument: the address of this device, 0 to 253.
  explicit constexpr TransportSender(std::uint8_t own_address) noexcept : own_(own_address) {}

  /// Starts a message; copies its data, 9 to 1785 bytes. Errors: no_room (a message is in progress),
  /// payload_too_long, wrong_length (fewer than 9 bytes), out_of_range (PGN). Error bad_value: the
  /// destination is the null or the own address, or a PDU1 PGN does not end in 00.
  [[nodiscard]] constexpr Status start(std::uint32_t pgn, std::uint8_t destination,
                                       std::span<const std::uint8_t> data, Time now) noexcept {
    if (is_busy()) return fail(Errc::no_room);
    if (data.size() > max_message_length) return fail(Errc::payload_too_long);
    if (data.size() < min_transport_length) return fail(Errc::wrong_length);
    if (pgn > max_pgn) return fail(Errc::out_of_range);
    if (destination == null_address || destination == own_) return fail(Errc::bad_value);
    if (is_destined(pgn) && (pgn & 0xFFU) != 0) return fail(Errc::bad_value);
    std::copy(data.begin(), data.end(), data_.begin());
    length_ = static_cast<std::uint16_t>(data.size());
    pgn_ = pgn;
    destination_ = destination;
    sent_ = asked_up_to_ = highest_ = retransmits_ = 0;
    if (is_broadcast()) asked_up_to_ = packets();
    state_ = State::sending;
    opening_ = true;
    next_at_ = now;
    return {};
  }

  /// Takes a received frame. Frames that are not the receiver's answers are ignored.
  constexpr void receive(const Frame& frame, Time now) noexcept {
    const Id id = decode_id(frame.id);
    if (!is_busy() || opening_ || is_broadcast() || !detail::is_transport(frame, id)) return;
    if (id.pgn != pgn_transport_management || id.source != destination_ || id.destination != own_) return;
    if (detail::carried_pgn(frame) != pgn_) return;
    switch (static_cast<Control>(frame.data[0])) {
      case Control::cts:
        return take_cts(frame.data[1], frame.data[2], now);
      case Control::end:
        return take_end(frame);
      case Control::abort:
        return finish(static_cast<AbortReason>(frame.data[1]));
      case Control::rts:
      case Control::bam:
        return;  // the other device's own message
    }
  }

  /// Aborts the message if the receiver is silent for too long. The standard sets no limit for a receiver
  /// that repeats "wait": for that, call cancel().
  constexpr void poll(Time now) noexcept {
    if (state_ == State::waiting && now > deadline_) give_up(AbortReason::timeout);
  }

  /// Returns the next frame that is due at `now`, if any. Call it until it returns nothing.
  constexpr std::optional<Frame> next_frame(Time now) noexcept {
    if (abort_) return std::exchange(abort_, std::nullopt);
    if (state_ != State::sending || now < next_at_) return std::nullopt;
    const bool opens = opening_;
    opening_ = false;
    const Frame frame = opens ? announcement() : packet();
    if (is_broadcast()) {
      next_at_ = now + time_between_packets;
      if (sent_ == packets()) state_ = State::done;
    } else if (sent_ == asked_up_to_) {
      wait(now + time_t3);
    }
    return frame;
  }

  /// Aborts the message and notifies the receiver.
  constexpr void cancel() noexcept {
    if (is_busy()) give_up(AbortReason::other);
  }

  /// Returns the progress of the current or last message.
  [[nodiscard]] constexpr State state() const noexcept { return state_; }
  /// Returns whether a message is in progress.
  [[nodiscard]] constexpr bool is_busy() const noexcept {
    return state_ == State::sending || state_ == State::waiting;
  }
  /// The reason why the last message failed, as this end or the receiver reported it.
  [[nodiscard]] constexpr AbortReason reason() const noexcept { return reason_; }

 private:
  [[nodiscard]] constexpr bool is_broadcast() const noexcept { return destination_ == broadcast_address; }
  [[nodiscard]] constexpr std::uint8_t packets() const noexcept { return packets_for(length_); }

  [[nodiscard]] constexpr Frame announcement() const noexcept {
    const auto low = static_cast<std::uint8_t>(length_);
    const auto high = static_cast<std::uint8_t>(length_ >> 8);
    return detail::control_frame(is_broadcast() ? Control::bam : Control::rts, own_, destination_, pgn_,
                                 {low, high, packets(), 0xFF});
  }
  [[nodiscard]] constexpr Frame packet() noexcept {
    const std::size_t at = sent_ * bytes_per_packet;
    std::array<std::uint8_t, 8> data;
    data.fill(0xFF);
    data[0] = ++sent_;
    highest_ = std::max(highest_, sent_);
    const std::size_t count = std::min(bytes_per_packet, length_ - at);
    std::copy_n(data_.begin() + static_cast<std::ptrdiff_t>(at), count, data.begin() + 1);
    return detail::transport_frame(pgn_transport_data, own_, destination_, data);
  }

  constexpr void take_cts(std::uint8_t count, std::uint8_t first, Time now) noexcept {
    if (state_ == State::sending) return give_up(AbortReason::cts_while_sending);
    if (count == 0) return wait(now + time_t4);
    if (first == 0 || first > highest_ + 1 || first + count - 1 > packets())
      return give_up(AbortReason::other);
    if (first <= highest_ && retransmits_++ >= max_retransmits) return give_up(AbortReason::retransmits);
    sent_ = static_cast<std::uint8_t>(first - 1);
    asked_up_to_ = static_cast<std::uint8_t>(sent_ + count);
    state_ = State::sending;
    next_at_ = now;
  }
  constexpr void take_end(const Frame& frame) noexcept {
    if (highest_ != packets() || load_little<2>(frame.data.data() + 1) != length_)
      return give_up(AbortReason::other);
    state_ = State::done;
  }
  constexpr void wait(Time deadline) noexcept {
    state_ = State::waiting;
    deadline_ = deadline;
  }
  constexpr void give_up(AbortReason reason) noexcept {
    if (!is_broadcast() && !opening_) abort_ = detail::abort_frame(reason, own_, destination_, pgn_);
    finish(reason);
  }
  constexpr void finish(AbortReason reason) noexcept {
    state_ = State::failed;
    reason_ = reason;
  }

  std::uint8_t own_;
  std::uint8_t destination_ = broadcast_address;
  std::uint8_t sent_ = 0;         ///< the last packet that was sent in the present run
  std::uint8_t asked_up_to_ = 0;  ///< the last packet that may be sent
  std::uint8_t highest_ = 0;      ///< the highest packet that was sent in this message
  std::uint8_t retransmits_ = 0;
  bool opening_ = false;
  State state_ = State::idle;
  AbortReason reason_ = AbortReason::other;
  std::uint16_t length_ = 0;
  std::uint32_t pgn_ = 0;
  Time next_at_{};
  Time deadline_{};
  std::optional<Frame> abort_;
  std::array<std::uint8_t, max_message_length> data_{};
};

}  // namespace takt::can::j1939
