// Network management (CiA 301, 7.2.8): commands that start and stop nodes, boot-up and heartbeat messages,
// and their supervision. A node that boots up again has lost its configuration; NodeMonitor counts boot-ups
// for that reason. Real-time safe.
#pragma once

#include <cstdint>
#include <optional>

#include "takt/can/canopen/object.hpp"
#include "takt/core/time.hpp"

namespace takt::can::canopen {

/// The commands of the master.
enum class NmtCommand : std::uint8_t {
  start = 0x01,
  stop = 0x02,
  enter_pre_operational = 0x80,
  reset_node = 0x81,
  reset_communication = 0x82,
};

inline constexpr std::uint8_t all_nodes = 0;

/// A command of the master to one node or to all.
struct NmtMessage {
  NmtCommand command = NmtCommand::start;
  std::uint8_t node = all_nodes;

  friend constexpr bool operator==(const NmtMessage&, const NmtMessage&) = default;
};

/// The states of a node.
enum class NmtState : std::uint8_t {
  boot_up = 0x00,  ///< sent once after a start or reset; then the node is pre-operational
  stopped = 0x04,
  operational = 0x05,  ///< the only state with process data
  pre_operational = 0x7F,
};

/// A heartbeat or boot-up message of a node.
struct Heartbeat {
  std::uint8_t node = 1;
  NmtState state = NmtState::boot_up;

  friend constexpr bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

namespace detail {

[[nodiscard]] constexpr bool is_known(NmtCommand command) noexcept {
  return command == NmtCommand::start || command == NmtCommand::stop ||
         (command >= NmtCommand::enter_pre_operational && command <= NmtCommand::reset_communication);
}
[[nodiscard]] constexpr bool is_known(NmtState state) noexcept {
  return state == NmtState::boot_up || state == NmtState::stopped || state == NmtState::operational ||
         state == NmtState::pre_operational;
}

}  // namespace detail

/// Encodes a command. Errors: unknown_node, bad_value.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const NmtMessage& message) noexcept {
  if (message.node > max_node) return fail(Errc::unknown_node);
  if (!detail::is_known(message.command)) return fail(Errc::bad_value);
  detail::begin(frame, nmt_id, 2);
  frame.data[0] = static_cast<std::uint8_t>(message.command);
  frame.data[1] = message.node;
  return {};
}

/// Decodes a command. Errors: wrong_format, unexpected_id, wrong_length, unknown_node, bad_value.
[[nodiscard]] constexpr Result<NmtMessage> decode_nmt(const Frame& frame) noexcept {
  if (const Status format = detail::check_format(frame); !format) return fail(format.error());
  if (frame.id != nmt_id) return fail(Errc::unexpected_id);
  if (frame.length != 2) return fail(Errc::wrong_length);
  const NmtMessage message{static_cast<NmtCommand>(frame.data[0]), frame.data[1]};
  if (message.node > max_node) return fail(Errc::unknown_node);
  if (!detail::is_known(message.command)) return fail(Errc::bad_value);
  return message;
}

/// Encodes a heartbeat. Errors: unknown_node, bad_value.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const Heartbeat& heartbeat) noexcept {
  if (!is_node(heartbeat.node)) return fail(Errc::unknown_node);
  if (!detail::is_known(heartbeat.state)) return fail(Errc::bad_value);
  detail::begin(frame, heartbeat_base + heartbeat.node, 1);
  frame.data[0] = static_cast<std::uint8_t>(heartbeat.state);
  return {};
}

/// Decodes a heartbeat. Errors: wrong_format, unexpected_id, wrong_length, bad_value. An answer to node
/// guarding, whose bit 7 toggles, is also a bad_value.
[[nodiscard]] constexpr Result<Heartbeat> decode_heartbeat(const Frame& frame) noexcept {
  const auto node = detail::node_of(frame, heartbeat_base, 1);
  if (!node) return fail(node.error());
  const Heartbeat heartbeat{*node, static_cast<NmtState>(frame.data[0])};
  if (!detail::is_known(heartbeat.state)) return fail(Errc::bad_value);
  return heartbeat;
}

/// Consumes the heartbeat of one node. Supervision starts with the first message, as the standard defines.
class NodeMonitor {
 public:
  /// Argument `timeout`: must be longer than the node's heartbeat period; usual are 1.5 to 3 periods.
  explicit constexpr NodeMonitor(Duration timeout) noexcept : timeout_(timeout) {}

  /// Takes a boot-up or heartbeat whose frame ended at `time`.
  constexpr void heard(NmtState state, Time time) noexcept {
    if (state == NmtState::boot_up) ++boot_ups_;
    state_ = state == NmtState::boot_up ? NmtState::pre_operational : state;
    last_ = time;
    heard_ = true;
    lost_ = false;
  }
  /// Checks the timeout; call it once per cycle. A node without a message for longer is lost until it is
  /// heard again.
  constexpr void check(Time now) noexcept { lost_ = heard_ && now - last_ > timeout_; }

  /// Returns whether any message was received.
  [[nodiscard]] constexpr bool heard() const noexcept { return heard_; }
  /// Returns whether the node timed out at the last check().
  [[nodiscard]] constexpr bool lost() const noexcept { return lost_; }
  /// The last reported state; nullopt before the first message and while the node is lost.
  [[nodiscard]] constexpr std::optional<NmtState> state() const noexcept {
    return heard_ && !lost_ ? std::optional(state_) : std::nullopt;
  }
  /// The number of boot-ups. After each one the node has lost its configuration.
  [[nodiscard]] constexpr std::uint32_t boot_ups() const noexcept { return boot_ups_; }

 private:
  Duration timeout_;
  Time last_{};
  std::uint32_t boot_ups_ = 0;
  NmtState state_ = NmtState::pre_operational;
  bool heard_ = false;
  bool lost_ = false;
};

/// Times the heartbeats of a producer: the first is due at once, then one per period. Heartbeats missed in a
/// pause are not sent later.
class HeartbeatTimer {
 public:
  /// Argument `period`: zero or less means never due.
  explicit constexpr HeartbeatTimer(Duration period) noexcept : period_(period) {}

  /// Returns whether a heartbeat is due now; if so, the next is due one period later.
  [[nodiscard]] constexpr bool due(Time now) noexcept {
    if (period_ <= Duration{0} || (started_ && now < next_)) return false;
    next_ = started_ && next_ + period_ > now ? next_ + period_ : now + period_;
    started_ = true;
    return true;
  }
  /// The time of the next heartbeat; in the past before the first one.
  [[nodiscard]] constexpr Time next() const noexcept { return period_ <= Duration{0} ? Time::max() : next_; }

 private:
  Duration period_;
  Time next_ = Time::min();
  bool started_ = false;
};

}  // namespace takt::can::canopen
