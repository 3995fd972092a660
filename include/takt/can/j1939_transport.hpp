// Receives J1939 messages of 9 to 1785 bytes (SAE J1939-21, 5.10). Broadcasts (BAM) are not confirmed.
// Messages to one device (RTS, CTS) are confirmed, and lost packets are requested again. Sans-I/O: frames and
// the time go in, frames and messages come out. The sending end is takt/can/j1939_sender.hpp. Both ends share
// parts of this header.
//
//     TransportReceiver<4> receiver(own_address);
//
//     // Each cycle:
//     for (const Frame& frame : received)
//       if (const auto event = receiver.receive(frame, now)) take(*event);
//
//     while (const auto event = receiver.poll(now)) take(*event);  // aborted messages
//     while (const auto frame = receiver.next_frame()) bus.send({&*frame, 1});
//
// Each source can have one broadcast and one message to this device in progress. These are separate sessions
// and never mix. The memory is inside the object: `Sessions` times 1785 bytes. A sender with many addresses
// can occupy all sessions; further messages are then refused and counted.
//
// Each session ends after a bounded time: 1.25 s, and 200 ms for each packet and each repeated packet. For
// 255 packets without loss that is 52.25 s. Real-time safe. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "takt/can/j1939.hpp"
#include "takt/core/time.hpp"

namespace takt::can::j1939 {

inline constexpr std::size_t bytes_per_packet = 7;
inline constexpr std::size_t min_transport_length = 9;  ///< bytes: shorter messages are single frames

// Timeouts of J1939-21. This end always responds within Tr, because it answers at once.
inline constexpr Duration time_tr =
    std::chrono::milliseconds(200);  ///< to respond; also the longest time between two packets
inline constexpr Duration time_t1 = std::chrono::milliseconds(750);   ///< receiver: from packet to packet
inline constexpr Duration time_t2 = std::chrono::milliseconds(1250);  ///< receiver: from its CTS to a packet
inline constexpr Duration time_t3 =
    std::chrono::milliseconds(1250);  ///< sender: from its last packet to an answer
inline constexpr Duration time_t4 =
    std::chrono::milliseconds(1050);  ///< sender: from a CTS that says "wait" to the next CTS
inline constexpr Duration time_between_packets = std::chrono::milliseconds(50);  ///< of a BAM, at least

/// The reason for an aborted message. Values up to 8 and `other` are those of an abort frame.
enum class AbortReason : std::uint8_t {
  busy = 1,               ///< a session with this device is open already
  resources = 2,          ///< no memory for another session
  timeout = 3,            ///< the other side was silent for too long
  cts_while_sending = 4,  ///< CTS before the packets of the last CTS were sent
  retransmits = 5,        ///< packets were requested again too often
  unexpected_data = 6,
  bad_sequence = 7,  ///< a packet is missing and cannot be requested again
  duplicate = 8,
  other = 250,     ///< a frame of the other side is invalid
  replaced = 254,  ///< never in a frame: the sender started a new message
};

/// The control byte of a connection management message (SAE J1939-21).
enum class Control : std::uint8_t { rts = 16, cts = 17, end = 19, bam = 32, abort = 255 };

/// Returns the number of packets of a message of `length` bytes.
[[nodiscard]] constexpr std::uint8_t packets_for(std::size_t length) noexcept {
  return static_cast<std::uint8_t>((length + bytes_per_packet - 1) / bytes_per_packet);
}

namespace detail {
/// A frame of the transport protocol. Both addresses are one byte, so it cannot fail.
[[nodiscard]] constexpr Frame transport_frame(std::uint32_t pgn, std::uint8_t source,
                                              std::uint8_t destination,
                                              const std::array<std::uint8_t, 8>& data) noexcept {
  return *make_frame({.priority = 7, .pgn = pgn, .source = source, .destination = destination}, data);
}

/// A connection management frame: control byte, four bytes of arguments, and the PGN of the session.
[[nodiscard]] constexpr Frame control_frame(Control control, std::uint8_t source, std::uint8_t destination,
                                            std::uint32_t pgn, std::array<std::uint8_t, 4> own) noexcept {
  std::array<std::uint8_t, 8> data = {static_cast<std::uint8_t>(control), own[0], own[1], own[2], own[3]};
  store_little<3>(data.data() + 5, pgn);
  return transport_frame(pgn_transport_management, source, destination, data);
}
[[nodiscard]] constexpr Frame abort_frame(AbortReason reason, std::uint8_t source, std::uint8_t destination,
                                          std::uint32_t pgn) noexcept {
  return control_frame(Control::abort, source, destination, pgn,
                       {static_cast<std::uint8_t>(reason), 0xFF, 0xFF, 0xFF});
}
[[nodiscard]] constexpr std::uint32_t carried_pgn(const Frame& frame) noexcept {
  return static_cast<std::uint32_t>(load_little<3>(frame.data.data() + 5));
}
[[nodiscard]] constexpr bool is_transport(const Frame& frame, const Id& id) noexcept {
  return is_message(frame) && frame.length == 8 &&
         (id.pgn == pgn_transport_management || id.pgn == pgn_transport_data);
}
}  // namespace detail

/// A complete message, or the reason for which it was aborted.
struct TransportEvent {
  std::uint32_t pgn = 0;
  std::uint8_t source = null_address;
  std::uint8_t destination = broadcast_address;
  std::optional<AbortReason> aborted{};     ///< nullopt: `message` holds the complete message
  std::span<const std::uint8_t> message{};  ///< valid until the next call of the receiver
};

template <std::size_t Sessions>
/// Receives the long messages of one device, up to `Sessions` at a time.
class TransportReceiver {
 public:
  /// The options of a receiver.
  struct Config {
    std::uint8_t packets_at_once = 16;  ///< packets requested by one CTS, 1 to 255
    std::uint8_t retransmits = 2;       ///< how often a message's missing packets are requested again
  };
  /// The counters of a receiver since its start.
  struct Counters {
    std::uint64_t messages = 0;
    std::uint64_t aborted = 0;  ///< messages that were started and aborted
    std::uint64_t refused = 0;  ///< messages for which no session was free
    std::uint64_t bad = 0;  ///< invalid frames: wrong sizes, packets without a session, wrong destinations
    std::uint64_t duplicates = 0;  ///< packets that were received before
    std::uint64_t unsent = 0;      ///< answers that were lost because next_frame() was not called

    friend bool operator==(const Counters&, const Counters&) = default;
  };

  explicit constexpr TransportReceiver(std::uint8_t own_address) noexcept
      : TransportReceiver(own_address, Config{}) {}
  constexpr TransportReceiver(std::uint8_t own_address, const Config& config) noexcept
      : own_(own_address), config_(config) {
    config_.packets_at_once = std::max<std::uint8_t>(config.packets_at_once, 1);
  }

  /// Takes a received frame. Returns an event if it completes or aborts a message. Frames of other protocols,
  /// for other devices or from this device are ignored. Real-time safe.
  constexpr std::optional<TransportEvent> receive(const Frame& frame, Time now) noexcept {
    const Id id = decode_id(frame.id);
    if (!detail::is_transport(frame, id) || id.source == own_) return std::nullopt;
    if (id.destination != own_ && id.destination != broadcast_address) return std::nullopt;
    if (id.source > max_address) return bad();
    if (id.pgn == pgn_transport_data) return take_packet(frame, id, now);
    switch (static_cast<Control>(frame.data[0])) {
      case Control::rts:
      case Control::bam:
        return begin(frame, id, now);
      case Control::abort:
        return take_abort(frame, id);
      case Control::cts:
      case Control::end:
        return std::nullopt;  // for a sender
    }
    return bad();
  }

  /// Returns a message that timed out, if any. Call it until it returns nothing. Real-time safe.
  constexpr std::optional<TransportEvent> poll(Time now) noexcept {
    for (Session& session : sessions_) {
      if (session.open && now > session.deadline) return abort(session, AbortReason::timeout, true);
    }
    return std::nullopt;
  }

  /// Returns the next answer to send, if any. Call it until it returns nothing. Real-time safe.
  constexpr std::optional<Frame> next_frame() noexcept {
    if (answer_count_ == 0) return std::nullopt;
    const Frame frame = answers_[first_answer_];
    first_answer_ = (first_answer_ + 1) % answers_.size();
    --answer_count_;
    return frame;
  }

  /// Returns the counts since the start.
  [[nodiscard]] constexpr const Counters& counters() const noexcept { return counters_; }
  /// The number of messages in progress.
  [[nodiscard]] constexpr std::size_t open_sessions() const noexcept {
    return static_cast<std::size_t>(std::count_if(sessions_.begin(), sessions_.end(),
                                                  [](const Session& session) { return session.open; }));
  }

 private:
  struct Session {
    bool open = false;
    bool broadcast = false;
    bool gap = false;  ///< a packet is missing: the packets after it are not taken
    std::uint8_t source = 0;
    std::uint8_t packets = 0;       ///< number of packets of the message
    std::uint8_t most_at_once = 0;  ///< packets per CTS that both sides accept
    std::uint8_t received = 0;      ///< packets received without a gap, from the first on
    std::uint8_t seen = 0;          ///< the last received packet of the requested ones
    std::uint8_t asked_up_to = 0;   ///< the last requested packet
    std::uint8_t retransmits = 0;
    std::uint16_t length = 0;
    std::uint32_t pgn = 0;
    Time deadline{};  ///< for the next packet
    Time end{};       ///< for the whole session
    std::array<std::uint8_t, max_message_length> data{};
  };

  constexpr std::optional<TransportEvent> bad() noexcept {
    ++counters_.bad;
    return std::nullopt;
  }
  constexpr Session* find(std::uint8_t source, bool broadcast) noexcept {
    for (Session& session : sessions_) {
      if (session.open && session.source == source && session.broadcast == broadcast) return &session;
    }
    return nullptr;
  }
  constexpr Session* find_free() noexcept {
    for (Session& session : sessions_) {
      if (!session.open) return &session;
    }
    return nullptr;
  }

  /// Starts a session, on RTS or BAM.
  constexpr std::optional<TransportEvent> begin(const Frame& frame, const Id& id, Time now) noexcept {
    const bool broadcast = frame.data[0] == static_cast<std::uint8_t>(Control::bam);
    if (broadcast != (id.destination == broadcast_address)) return bad();
    const auto length = static_cast<std::uint16_t>(load_little<2>(frame.data.data() + 1));
    const std::uint32_t pgn = detail::carried_pgn(frame);
    if (length < min_transport_length || length > max_message_length ||
        frame.data[3] != packets_for(length) || pgn > max_pgn) {
      if (!broadcast) answer(detail::abort_frame(AbortReason::other, own_, id.source, pgn));
      return bad();
    }
    Session* session = find(id.source, broadcast);
    std::optional<TransportEvent> event;
    if (session != nullptr) {
      if (!broadcast && session->pgn != pgn) return refuse(AbortReason::busy, id.source, pgn, broadcast);
      event = abort(*session, AbortReason::replaced, false);
    } else if (session = find_free(); session == nullptr) {
      return refuse(AbortReason::resources, id.source, pgn, broadcast);
    }
    open(*session, frame, id, now);
    return event;
  }
  constexpr void open(Session& session, const Frame& frame, const Id& id, Time now) noexcept {
    session.open = true;
    session.broadcast = id.destination == broadcast_address;
    session.gap = false;
    session.source = id.source;
    session.length = static_cast<std::uint16_t>(load_little<2>(frame.data.data() + 1));
    session.packets = frame.data[3];
    session.received = session.seen = 0;
    session.retransmits = 0;
    session.pgn = detail::carried_pgn(frame);
    session.asked_up_to = session.packets;
    session.end = now + time_t2 + session.packets * time_tr;
    await(session, now + time_t1);
    if (session.broadcast) return;
    session.most_at_once = std::clamp<std::uint8_t>(frame.data[4], 1, config_.packets_at_once);
    ask(session, now);
  }
  constexpr std::optional<TransportEvent> refuse(AbortReason reason, std::uint8_t source, std::uint32_t pgn,
                                                 bool broadcast) noexcept {
    ++counters_.refused;
    if (!broadcast) answer(detail::abort_frame(reason, own_, source, pgn));
    return std::nullopt;
  }

  static constexpr void await(Session& session, Time until) noexcept {
    session.deadline = std::min(until, session.end);
  }

  /// Requests the next packets.
  constexpr void ask(Session& session, Time now) noexcept {
    const auto count =
        static_cast<std::uint8_t>(std::min<int>(session.most_at_once, session.packets - session.received));
    session.asked_up_to = static_cast<std::uint8_t>(session.received + count);
    if (session.gap) session.end += count * time_tr;
    session.gap = false;
    session.seen = session.received;
    await(session, now + time_t2);
    answer(detail::control_frame(Control::cts, own_, session.source, session.pgn,
                                 {count, static_cast<std::uint8_t>(session.received + 1), 0xFF, 0xFF}));
  }

  constexpr std::optional<TransportEvent> take_packet(const Frame& frame, const Id& id, Time now) noexcept {
    Session* const session = find(id.source, id.destination == broadcast_address);
    const std::uint8_t sequence = frame.data[0];
    if (session == nullptr || sequence == 0 || sequence > session->asked_up_to) return bad();
    if (sequence <= session->seen) {
      ++counters_.duplicates;
      // A broadcast packet is never repeated: this one belongs to the next message, whose announcement was
      // lost.
      if (session->broadcast) return abort(*session, AbortReason::duplicate, false);
      return std::nullopt;
    }
    session->seen = sequence;
    await(*session, now + time_t1);  // not for duplicates: only a new packet extends the deadline
    session->gap = session->gap || sequence != session->received + 1;
    if (!session->gap) store(*session, frame);
    if (session->gap && session->broadcast) return abort(*session, AbortReason::bad_sequence, false);
    if (sequence < session->asked_up_to) return std::nullopt;
    if (session->gap && session->retransmits++ >= config_.retransmits) {
      return abort(*session, AbortReason::retransmits, true);
    }
    if (session->received == session->packets) return finish(*session);
    ask(*session, now);
    return std::nullopt;
  }
  static constexpr void store(Session& session, const Frame& frame) noexcept {
    // The padding of the last packet lies beyond the message, but within the memory.
    static_assert(max_message_length == 255 * bytes_per_packet);
    const std::size_t at = session.received * bytes_per_packet;
    std::copy_n(frame.data.begin() + 1, bytes_per_packet,
                session.data.begin() + static_cast<std::ptrdiff_t>(at));
    ++session.received;
  }
  constexpr TransportEvent finish(Session& session) noexcept {
    session.open = false;
    ++counters_.messages;
    if (!session.broadcast) {
      answer(detail::control_frame(Control::end, own_, session.source, session.pgn,
                                   {static_cast<std::uint8_t>(session.length),
                                    static_cast<std::uint8_t>(session.length >> 8), session.packets, 0xFF}));
    }
    TransportEvent event = event_of(session);
    event.message = std::span<const std::uint8_t>(session.data).first(session.length);
    return event;
  }

  constexpr std::optional<TransportEvent> take_abort(const Frame& frame, const Id& id) noexcept {
    Session* const session = find(id.source, false);
    if (session == nullptr || id.destination != own_ || session->pgn != detail::carried_pgn(frame))
      return std::nullopt;
    return abort(*session, static_cast<AbortReason>(frame.data[1]), false);
  }
  constexpr TransportEvent abort(Session& session, AbortReason reason, bool tell) noexcept {
    session.open = false;
    ++counters_.aborted;
    if (tell && !session.broadcast) answer(detail::abort_frame(reason, own_, session.source, session.pgn));
    TransportEvent event = event_of(session);
    event.aborted = reason;
    return event;
  }
  [[nodiscard]] constexpr TransportEvent event_of(const Session& session) const noexcept {
    return {.pgn = session.pgn,
            .source = session.source,
            .destination = session.broadcast ? broadcast_address : own_};
  }

  constexpr void answer(const Frame& frame) noexcept {
    if (answer_count_ == answers_.size()) {
      ++counters_.unsent;
      return;
    }
    answers_[(first_answer_ + answer_count_) % answers_.size()] = frame;
    ++answer_count_;
  }

  std::uint8_t own_;
  Config config_;
  std::array<Session, Sessions> sessions_{};
  std::array<Frame, 2 * Sessions + 2> answers_{};
  std::size_t first_answer_ = 0;
  std::size_t answer_count_ = 0;
  Counters counters_;
};

}  // namespace takt::can::j1939
