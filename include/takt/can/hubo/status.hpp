// Motor status: the answers of the boards to status requests.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/can/hubo/frame.hpp"
#include "takt/can/word.hpp"

namespace takt::can::hubo {

/// The faults of a motor, with the same numbers for both dialects. These are the bits of
/// JointFeedback::fault.
namespace fault {
inline constexpr std::uint32_t jam = 1U << 0;            ///< blocked for longer than the jam time
inline constexpr std::uint32_t pwm_saturated = 1U << 1;  ///< full duty for longer than the saturation time
inline constexpr std::uint32_t big_error = 1U << 2;      ///< position error above its bound
inline constexpr std::uint32_t encoder = 1U << 3;
inline constexpr std::uint32_t driver = 1U << 4;         ///< the power stage reports a fault
inline constexpr std::uint32_t motor_fail_0 = 1U << 5;   ///< ach only
inline constexpr std::uint32_t motor_fail_1 = 1U << 6;   ///< ach only
inline constexpr std::uint32_t position_low = 1U << 7;   ///< at the lower position limit
inline constexpr std::uint32_t position_high = 1U << 8;  ///< at the upper position limit
inline constexpr std::uint32_t velocity = 1U << 9;       ///< ach only
inline constexpr std::uint32_t acceleration = 1U << 10;  ///< ach only
inline constexpr std::uint32_t temperature = 1U << 11;
inline constexpr std::uint32_t big_input = 1U << 12;  ///< podo only: the reference jumped
inline constexpr std::uint32_t current = 1U << 13;    ///< podo only
/// Set by the master, not by a board: the power stage or the control loop went off without a command.
inline constexpr std::uint32_t power_lost = 1U << 31;
/// Set by the master, not by a board: homing failed.
inline constexpr std::uint32_t homing_failed = 1U << 30;

/// Bits that are warnings; all others are faults that stop the motor [our assumption: no source says which].
inline constexpr std::uint32_t warnings =
    pwm_saturated | position_low | position_high | velocity | acceleration;
}  // namespace fault

/// The status of one motor.
struct MotorStatus {
  bool driver_on = false;     ///< power stage on; podo calls the bit HIP [probably the HIP4080 bridge driver]
  bool control_on = false;    ///< position loop runs
  bool current_mode = false;  ///< controls current instead of position
  bool limit_switch = false;
  std::uint8_t home = 0;     ///< 0 to 15; home_done after successful homing; other values are not known
  std::uint32_t faults = 0;  ///< fault::...; bits that the dialect lacks are not sent

  /// Returns whether the power stage and the control loop are on.
  [[nodiscard]] constexpr bool running() const noexcept { return driver_on && control_on; }
  /// Returns whether there is a fault that is not a warning.
  [[nodiscard]] constexpr bool faulty() const noexcept { return (faults & ~fault::warnings) != 0; }
  friend constexpr bool operator==(const MotorStatus&, const MotorStatus&) = default;
};
inline constexpr std::uint8_t home_done = 6;
/// The value of `home` for the wrist roll of DRC-Hubo after homing.
inline constexpr std::uint8_t wrist_home_done = 2;

/// Status of one board, id 0x150+board, 8 bytes, four for each motor:
///
/// - byte 0: b0 driver on, b1 control on, b2 current mode, b3 limit switch, b4-7 home
/// - byte 1, ach:  b0 jam, b1 PWM saturated, b2 big error, b3 encoder, b4 driver, b5-6 motor fail 0 and 1
/// - byte 1, podo: b0 jam, b1 PWM saturated, b2 big error, b3 big input, b4 driver, b5 encoder, b6 current,
///   b7 temperature
/// - byte 2, ach:  b0 lower limit, b1 upper limit, b2 velocity, b3 acceleration, b4 temperature
/// - byte 2, podo: b0 lower limit, b1 upper limit. The other bits are modes (SWM, GOV, FRC, REF, CAN, RPL):
///   ignored, and sent as 0.
/// - byte 3: unused
struct StatusReply {
  std::uint8_t board = 0;
  std::array<MotorStatus, channels> motors{};

  friend constexpr bool operator==(const StatusReply&, const StatusReply&) = default;
};

namespace detail {

/// The place of a fault in a dialect: bit `wire` of the 16 bits of status bytes 1 and 2.
struct FaultBit {
  std::uint32_t fault;
  unsigned wire;
};
inline constexpr std::array<FaultBit, 12> ach_faults = {{{fault::jam, 0},
                                                         {fault::pwm_saturated, 1},
                                                         {fault::big_error, 2},
                                                         {fault::encoder, 3},
                                                         {fault::driver, 4},
                                                         {fault::motor_fail_0, 5},
                                                         {fault::motor_fail_1, 6},
                                                         {fault::position_low, 8},
                                                         {fault::position_high, 9},
                                                         {fault::velocity, 10},
                                                         {fault::acceleration, 11},
                                                         {fault::temperature, 12}}};
inline constexpr std::array<FaultBit, 10> podo_faults = {{{fault::jam, 0},
                                                          {fault::pwm_saturated, 1},
                                                          {fault::big_error, 2},
                                                          {fault::big_input, 3},
                                                          {fault::driver, 4},
                                                          {fault::encoder, 5},
                                                          {fault::current, 6},
                                                          {fault::temperature, 7},
                                                          {fault::position_low, 8},
                                                          {fault::position_high, 9}}};

[[nodiscard]] constexpr std::span<const FaultBit> faults_of(Dialect dialect) noexcept {
  if (dialect == Dialect::podo) return podo_faults;
  return ach_faults;
}

}  // namespace detail

/// Encodes a status. Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const StatusReply& reply, Dialect dialect) noexcept {
  if (const Status status = detail::begin(frame, status_base, reply.board, 8); !status) return status;
  for (std::size_t i = 0; i < channels; ++i) {
    const MotorStatus& motor = reply.motors[i];
    unsigned word = (motor.driver_on ? 1U : 0U) | (motor.control_on ? 2U : 0U) |
                    (motor.current_mode ? 4U : 0U) | (motor.limit_switch ? 8U : 0U) |
                    (motor.home & 0x0FU) << 4;
    for (const auto& [fault, wire] : detail::faults_of(dialect)) {
      if ((motor.faults & fault) != 0) word |= 1U << (8 + wire);
    }
    store_little<4>(frame.data.data() + 4 * i, word);
  }
  return {};
}

[[nodiscard]] constexpr Status decode_into(StatusReply& reply, const Frame& frame, Dialect dialect) noexcept {
  if (const Status status = detail::check(frame, status_base, 8); !status) return status;
  reply = {static_cast<std::uint8_t>(frame.id - status_base), {}};
  for (std::size_t i = 0; i < channels; ++i) {
    const auto word = static_cast<std::uint32_t>(load_little<4>(frame.data.data() + 4 * i));
    MotorStatus& motor = reply.motors[i];
    motor.driver_on = (word & 1U) != 0;
    motor.control_on = (word & 2U) != 0;
    motor.current_mode = (word & 4U) != 0;
    motor.limit_switch = (word & 8U) != 0;
    motor.home = static_cast<std::uint8_t>(word >> 4 & 0x0FU);
    if (word >> 8 == 0) continue;  // usual case: no faults
    for (const auto& [fault, wire] : detail::faults_of(dialect)) {
      if ((word >> (8 + wire) & 1U) != 0) motor.faults |= fault;
    }
  }
  return {};
}
/// Decodes a status in this dialect. Errors: as decode_into().
[[nodiscard]] constexpr Result<StatusReply> decode_status(const Frame& frame, Dialect dialect) noexcept {
  return decode<StatusReply>(frame, dialect);
}

/// Status of a board with more motors, id 0x150+board, one byte for each motor:
///
/// - b0 driver on, b1 control on, b2 current mode, b3 limit switch, b4 jam, b5 PWM saturated, b6 big error,
///   b7 encoder
///
/// It has no homing state. It is the same in both dialects [not confirmed for a BoardKind::hybrid].
struct ShortStatusReply {
  std::uint8_t board = 0;
  std::array<MotorStatus, max_channels> motors{};  ///< unused channels have the default value

  friend constexpr bool operator==(const ShortStatusReply&, const ShortStatusReply&) = default;
};

namespace detail {

inline constexpr std::array<FaultBit, 4> short_faults = {
    {{fault::jam, 4}, {fault::pwm_saturated, 5}, {fault::big_error, 6}, {fault::encoder, 7}}};

}  // namespace detail

/// Encodes a status. Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const ShortStatusReply& reply,
                                           BoardKind kind) noexcept {
  const auto count = static_cast<std::uint8_t>(channels_of(kind));
  if (const Status status = detail::begin(frame, status_base, reply.board, count); !status) return status;
  for (std::size_t i = 0; i < count; ++i) {
    const MotorStatus& motor = reply.motors[i];
    unsigned byte = (motor.driver_on ? 1U : 0U) | (motor.control_on ? 2U : 0U) |
                    (motor.current_mode ? 4U : 0U) | (motor.limit_switch ? 8U : 0U);
    for (const auto& [fault, wire] : detail::short_faults) {
      if ((motor.faults & fault) != 0) byte |= 1U << wire;
    }
    frame.data[i] = static_cast<std::uint8_t>(byte);
  }
  return {};
}

/// Decodes a status. The length of these frames is not documented: one byte for each motor must be there.
[[nodiscard]] constexpr Status decode_into(ShortStatusReply& reply, const Frame& frame,
                                           BoardKind kind) noexcept {
  const std::size_t count = channels_of(kind);
  if (const Status status = detail::check_least(frame, status_base, count); !status) return status;
  reply = {static_cast<std::uint8_t>(frame.id - status_base), {}};
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned byte = frame.data[i];
    MotorStatus& motor = reply.motors[i];
    motor.driver_on = (byte & 1U) != 0;
    motor.control_on = (byte & 2U) != 0;
    motor.current_mode = (byte & 4U) != 0;
    motor.limit_switch = (byte & 8U) != 0;
    for (const auto& [fault, wire] : detail::short_faults) {
      if ((byte >> wire & 1U) != 0) motor.faults |= fault;
    }
  }
  return {};
}

}  // namespace takt::can::hubo
