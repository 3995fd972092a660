// Motor duties without a control loop, for fingers and compliant joints. All are commands 0x0D on identifier
// 0x001.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/can/hubo/frame.hpp"
#include "takt/can/hubo/reference.hpp"

namespace takt::can::hubo {

inline constexpr std::uint8_t duty_code = 0x0D;

/// Sets all duties of a board to zero: [board, 0x0D, 0].
struct DutyStop {
  std::uint8_t board = 0;

  friend constexpr bool operator==(const DutyStop&, const DutyStop&) = default;
};

/// The unit of a duty on the wire.
enum class DutyUnit : std::uint8_t { percent = 1, per_mille = 3 };

/// The duties of a BoardKind::two_channel.
///
/// - In percent: [board, 0x0D, 1, direction, duty, direction, duty, 0].
/// - In per mille, for compliant joints: [board, 0x0D, 3, two bytes for each motor]. The first byte has bits
///   8-11 of the duty in its upper half and the direction in bit 0. The second byte has bits 0-7.
struct MotorDuty {
  std::uint16_t magnitude = 0;  ///< up to 100 percent or 1000 per mille
  Rotation direction = Rotation::counterclockwise;

  friend constexpr bool operator==(const MotorDuty&, const MotorDuty&) = default;
};
/// A duty command for both motors.
struct DutyCommand {
  std::uint8_t board = 0;
  DutyUnit unit = DutyUnit::percent;
  std::array<MotorDuty, channels> motors{};

  friend constexpr bool operator==(const DutyCommand&, const DutyCommand&) = default;
};

/// The duties of a BoardKind::hybrid or ::hand: [board, 0x0D, 1, one byte for each motor with the sign in bit
/// 7].
struct FingerDuty {
  std::uint8_t board = 0;
  std::array<std::int8_t, max_channels>
      percent{};  ///< -100 to 100; unused channels of the board's kind are 0

  friend constexpr bool operator==(const FingerDuty&, const FingerDuty&) = default;
};

namespace detail {

[[nodiscard]] constexpr std::uint16_t largest_duty(DutyUnit unit) noexcept {
  return unit == DutyUnit::percent ? 100 : 1000;
}

[[nodiscard]] constexpr Status begin_duty(Frame& frame, std::uint8_t board, std::uint8_t mode,
                                          std::uint8_t length) noexcept {
  if (board > max_board) return fail(Errc::unknown_node);
  clear(frame);
  frame.id = command_id;
  frame.length = length;
  frame.data[0] = board;
  frame.data[1] = duty_code;
  frame.data[2] = mode;
  return {};
}

/// Checks for a duty command of that mode with at least this many bytes.
[[nodiscard]] constexpr Status check_duty(const Frame& frame, std::uint8_t mode, std::size_t least) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id != command_id) return fail(Errc::unexpected_id);
  if (frame.length < 3 || frame.length > max_classic_length) return fail(Errc::wrong_length);
  if (frame.data[0] > max_board) return fail(Errc::unknown_node);
  if (frame.data[1] != duty_code || frame.data[2] != mode) return fail(Errc::unknown_command);
  if (frame.length < least) return fail(Errc::wrong_length);
  return {};
}

}  // namespace detail

/// Encodes a stop. Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const DutyStop& stop) noexcept {
  return detail::begin_duty(frame, stop.board, 0, 3);
}
/// Decodes a stop. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(DutyStop& stop, const Frame& frame) noexcept {
  if (const Status status = detail::check_duty(frame, 0, 3); !status) return status;
  stop.board = frame.data[0];
  return {};
}

/// Encodes duties. Errors: unknown_node, out_of_range.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const DutyCommand& command) noexcept {
  const bool is_percent = command.unit == DutyUnit::percent;
  for (const MotorDuty& motor : command.motors) {
    if (motor.magnitude > detail::largest_duty(command.unit)) return fail(Errc::out_of_range);
  }
  const Status status =
      detail::begin_duty(frame, command.board, static_cast<std::uint8_t>(command.unit), is_percent ? 8 : 7);
  if (!status) return status;
  for (std::size_t i = 0; i < channels; ++i) {
    const MotorDuty& motor = command.motors[i];
    const unsigned high = is_percent ? 0U : motor.magnitude >> 4 & 0xF0U;
    frame.data[3 + 2 * i] = static_cast<std::uint8_t>(high | static_cast<unsigned>(motor.direction));
    frame.data[4 + 2 * i] = static_cast<std::uint8_t>(motor.magnitude & 0xFFU);
  }
  return {};
}
/// Decodes duties. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(DutyCommand& command, const Frame& frame) noexcept {
  DutyCommand read;
  read.unit = frame.length > 2 && frame.data[2] == static_cast<std::uint8_t>(DutyUnit::per_mille)
                  ? DutyUnit::per_mille
                  : DutyUnit::percent;
  const bool is_percent = read.unit == DutyUnit::percent;
  if (const Status status = detail::check_duty(frame, static_cast<std::uint8_t>(read.unit), 7); !status)
    return status;
  read.board = frame.data[0];
  for (std::size_t i = 0; i < channels; ++i) {
    const unsigned first = frame.data[3 + 2 * i];
    const unsigned high = is_percent ? 0U : (first & 0xF0U) << 4;
    read.motors[i].direction = static_cast<Rotation>(first & 1U);
    read.motors[i].magnitude = static_cast<std::uint16_t>(high | frame.data[4 + 2 * i]);
    if (read.motors[i].magnitude > detail::largest_duty(read.unit)) return fail(Errc::bad_value);
  }
  command = read;
  return {};
}

/// Encodes duties. Errors: unknown_node, out_of_range.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const FingerDuty& duty, BoardKind kind) noexcept {
  const std::size_t count = channels_of(kind);
  for (std::size_t i = 0; i < count; ++i) {
    if (duty.percent[i] < -100 || duty.percent[i] > 100) return fail(Errc::out_of_range);
  }
  const Status status = detail::begin_duty(frame, duty.board, static_cast<std::uint8_t>(DutyUnit::percent),
                                           static_cast<std::uint8_t>(3 + count));
  if (!status) return status;
  for (std::size_t i = 0; i < count; ++i) frame.data[3 + i] = to_sign_magnitude8(duty.percent[i]);
  return {};
}
/// Decodes the duties of fingers. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(FingerDuty& duty, const Frame& frame, BoardKind kind) noexcept {
  const std::size_t count = channels_of(kind);
  const auto mode = static_cast<std::uint8_t>(DutyUnit::percent);
  if (const Status status = detail::check_duty(frame, mode, 3 + count); !status) return status;
  FingerDuty read;
  read.board = frame.data[0];
  for (std::size_t i = 0; i < count; ++i) {
    read.percent[i] = from_sign_magnitude8(frame.data[3 + i]);
    if (read.percent[i] < -100 || read.percent[i] > 100) return fail(Errc::bad_value);
  }
  duty = read;
  return {};
}

}  // namespace takt::can::hubo
