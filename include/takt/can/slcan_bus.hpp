// A CAN adapter on a serial line, or on another byte stream, as a CanBus. Frames are lines of the slcan
// protocol. A frame is taken whole or not at all, even if the line takes only a few bytes at a time.
//
//     auto line = *platform::SerialLine::open("/dev/ttyACM0", 1'000'000);
//     platform::SteadyClock clock;
//     can::SlcanBus bus(line, clock);
//     if (!bus.open(1'000'000)) give_up();  // sends C, C, S8, O to the adapter
//     bus.send(frames); bus.receive(frames);
//
// Limits of the protocol: an adapter confirms commands without naming them, and drops frames if its own queue
// is full (status()). Its own stamps have 1 ms resolution, so the frames get the time of arrival instead.
// Real-time safe if the port and the clock are. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "takt/can/slcan.hpp"
#include "takt/core/byte_stream.hpp"
#include "takt/core/time.hpp"

namespace takt::can {

/// The counters of an SlcanBus since its start.
struct SlcanCounters {
  std::uint64_t sent = 0;        ///< frames taken
  std::uint64_t no_room = 0;     ///< frames not taken, because the queue was full
  std::uint64_t invalid = 0;     ///< frames that slcan cannot carry: taken and dropped
  std::uint64_t received = 0;    ///< frames
  std::uint64_t refusals = 0;    ///< BEL: refused frames and commands. A closed adapter refuses C
  std::uint64_t unexpected = 0;  ///< lines that only a program sends, never an adapter
  std::uint64_t malformed = 0;   ///< lines that could not be decoded
  std::uint64_t too_long = 0;    ///< lines longer than max_line

  friend bool operator==(const SlcanCounters&, const SlcanCounters&) = default;
};

/// Satisfies CanBus. The port and the clock must outlive it. At most `Capacity` bytes wait for the port. The
/// default holds 40 frames of 8 bytes, half of what USB-serial drivers buffer. At 1 Mbit/s (8N1) it drains in
/// 10 ms.
template <BytePort Port, Clock C, std::size_t Capacity = 1024>
class SlcanBus {
  static_assert(Capacity >= slcan::max_line);

 public:
  SlcanBus(Port& port, C& clock) noexcept : port_(&port), clock_(&clock) {}

  /// Closes the adapter's channel, sets its bit rate (bit/s) and opens it. The adapter's answers are counted
  /// later. Errors: out_of_range (not one of slcan::bit_rates), no_room (the queue is full).
  [[nodiscard]] Status open(std::uint32_t bits_per_second, bool listen_only = false) noexcept {
    const auto rate = slcan::set_bit_rate(bits_per_second);
    if (!rate) return fail(rate.error());
    can::detail::TextWriter<32> lines;
    // The first C also ends a partial line in the adapter. After an empty line, CANables send their last
    // frame again.
    lines.put(slcan::close_channel);
    lines.put(slcan::close_channel);
    lines.put(rate->text());
    lines.put(listen_only ? slcan::listen_only : slcan::open_channel);
    return command(lines.text());
  }
  /// Closes the adapter's channel. Error: no_room.
  [[nodiscard]] Status close() noexcept { return command(slcan::close_channel); }
  /// Requests the status. After receive() took the answer, status() returns it. Error: no_room.
  [[nodiscard]] Status ask_status() noexcept { return command(slcan::ask_status); }
  /// Returns the adapter's last answer. The request clears the adapter's latched flags.
  [[nodiscard]] const std::optional<slcan::AdapterStatus>& status() const noexcept { return status_; }

  /// Takes frames in order; returns how many. The others found the queue full and are counted in `no_room`.
  std::size_t send(std::span<const Frame> frames) noexcept {
    std::size_t taken = 0;
    for (; taken < frames.size(); ++taken) {
      const auto line = slcan::encode_line(frames[taken]);
      if (!line) {
        ++counters_.invalid;
      } else if (queue(line->text())) {
        ++counters_.sent;
      } else {
        break;
      }
    }
    counters_.no_room += frames.size() - taken;
    flush();
    return taken;
  }

  /// Returns received frames, oldest first. It reads a bounded number of bytes: the longest lines of that
  /// many frames, and one chunk. It also calls flush().
  std::size_t receive(std::span<Frame> frames) noexcept {
    flush();
    std::size_t count = 0;
    std::size_t budget = frames.size() * slcan::max_line + chunk_.size();
    while (count < frames.size()) {
      if (const auto item = next_item()) {
        if (note(*item)) frames[count++] = stamped(item->frame);
      } else if (!refill(budget)) {
        break;
      }
    }
    counters_.malformed = decoder_.counters().malformed;
    counters_.too_long = decoder_.counters().too_long;
    return count;
  }

  /// Writes waiting bytes to the port, as many as it takes. send() and receive() also call it.
  void flush() noexcept {
    while (begin_ < end_) {
      const std::size_t taken = port_->write(std::span(waiting_).subspan(begin_, end_ - begin_));
      if (taken == 0) return;
      begin_ += std::min(taken, end_ - begin_);
    }
    begin_ = end_ = 0;
  }
  /// The number of bytes that the port has not taken yet.
  [[nodiscard]] std::size_t waiting() const noexcept { return end_ - begin_; }

  /// Returns the counts since the start.
  [[nodiscard]] const SlcanCounters& counters() const noexcept { return counters_; }

 private:
  [[nodiscard]] Status command(std::string_view text) noexcept {
    if (!queue(text)) return fail(Errc::no_room);
    flush();
    return {};
  }
  /// Queues all of the text or nothing.
  [[nodiscard]] bool queue(std::string_view text) noexcept {
    if (waiting_.size() - end_ < text.size()) {
      flush();
      std::copy(waiting_.data() + begin_, waiting_.data() + end_, waiting_.data());
      end_ -= begin_;
      begin_ = 0;
      if (waiting_.size() - end_ < text.size()) return false;
    }
    for (const char letter : text) waiting_[end_++] = static_cast<std::uint8_t>(letter);
    return true;
  }

  [[nodiscard]] std::optional<slcan::Item> next_item() noexcept {
    std::span<const std::uint8_t> unread = std::span(chunk_).subspan(read_, got_ - read_);
    const auto item = decoder_.next(unread);
    read_ = got_ - unread.size();
    return item;
  }
  [[nodiscard]] bool refill(std::size_t& budget) noexcept {
    const std::size_t most = std::min(budget, chunk_.size());
    got_ = std::min(port_->read(std::span(chunk_).first(most)), most);
    read_ = 0;
    budget -= got_;
    return got_ > 0;
  }
  /// Returns whether the item is a frame.
  [[nodiscard]] bool note(const slcan::Item& item) noexcept {
    switch (item.kind) {
      case slcan::Item::Kind::frame:
        ++counters_.received;
        return true;
      case slcan::Item::Kind::refused:
        ++counters_.refusals;
        break;
      case slcan::Item::Kind::status:
        status_ = item.status;
        break;
      case slcan::Item::Kind::command:
        ++counters_.unexpected;
        break;
      case slcan::Item::Kind::done:
      case slcan::Item::Kind::transmitted:
        break;
    }
    return false;
  }
  [[nodiscard]] Frame stamped(Frame frame) noexcept {
    frame.stamp = clock_->now();
    frame.stamp_source = StampSource::software;
    return frame;
  }

  Port* port_;
  C* clock_;
  slcan::Decoder decoder_;
  std::array<std::uint8_t, 256> chunk_{};
  std::size_t read_ = 0;  ///< decoded bytes of the chunk
  std::size_t got_ = 0;   ///< bytes in the chunk
  std::array<std::uint8_t, Capacity> waiting_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::optional<slcan::AdapterStatus> status_;
  SlcanCounters counters_;
};

}  // namespace takt::can
