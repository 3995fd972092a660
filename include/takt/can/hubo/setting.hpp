// Stored settings of a board: gains, limits, homing, bounds. All are commands on identifier 0x001: [board,
// code, arguments]. For a setting of one motor, the codes count up with the motor.
//
// Source: the open drivers. Their authors never tried gains, dead zone, encoder resolution, acceleration and
// velocity, gain override, jam limits, error bounds and the new number. A motor's number might count from 1
// in dead_zone to home_motion. Try these settings with the motor unloaded in the air.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/can/hubo/frame.hpp"
#include "takt/can/word.hpp"

namespace takt::can::hubo {

/// The code of the first motor, or of the board.
enum class SettingCode : std::uint8_t {
  gains = 0x07,               ///< 0x07, 0x08 position, 0x09, 0x0A current
  dead_zone = 0x20,           ///< to 0x23: the next code has another meaning
  home_search = 0x30,         ///< to 0x34
  encoder_resolution = 0x38,  ///< to 0x3C
  motion_limits = 0x40,       ///< to 0x44
  lower_limit = 0x50,         ///< to 0x54
  upper_limit = 0x56,         ///< to 0x5A
  home_motion = 0x60,         ///< to 0x64
  gain_override = 0x6F,
  renumber = 0xF0,
  jam_limits = 0xF2,
  error_bounds = 0xF3,
};

/// The control loop that uses the gains.
enum class GainLoop : std::uint8_t { position, current };

/// Gains of a control loop, in the board's own units: 8 bytes. Boards with more than two motors use channel 0
/// for all.
struct Gains {
  std::uint8_t board = 0;
  GainLoop loop = GainLoop::position;
  std::uint8_t channel = 0;  ///< 0 or 1
  std::uint16_t proportional = 0;
  std::uint16_t integral = 0;
  std::uint16_t derivative = 0;

  friend constexpr bool operator==(const Gains&, const Gains&) = default;
};

/// The dead zone of a motor.
struct DeadZone {
  std::uint8_t board = 0;
  std::uint8_t channel = 0;  ///< 0 to 3
  std::uint8_t width = 0;

  friend constexpr bool operator==(const DeadZone&, const DeadZone&) = default;
};

/// The search for a motor's home position, 8 bytes.
struct HomeSearch {
  std::uint8_t board = 0;
  std::uint8_t channel = 0;
  std::uint8_t limit = 0;                    ///< largest number of revolutions
  Rotation direction = Rotation::clockwise;  ///< only here, 0 is clockwise on the wire
  std::int32_t offset = 0;                   ///< counts from the switch to zero

  friend constexpr bool operator==(const HomeSearch&, const HomeSearch&) = default;
};

/// The encoder resolution of a motor.
struct EncoderResolution {
  std::uint8_t board = 0;
  std::uint8_t channel = 0;
  std::uint16_t resolution = 0;  ///< 14 bits
  bool auto_scale = false;
  Rotation motor_direction = Rotation::counterclockwise;

  friend constexpr bool operator==(const EncoderResolution&, const EncoderResolution&) = default;
};

/// The velocity and acceleration limits of a motor.
struct MotionLimits {
  std::uint8_t board = 0;
  std::uint8_t channel = 0;
  std::uint16_t acceleration = 0;
  std::uint16_t velocity = 0;

  friend constexpr bool operator==(const MotionLimits&, const MotionLimits&) = default;
};

/// The end of the travel that the limit is for.
enum class LimitSide : std::uint8_t { lower, upper };

/// A position limit of a motor, 7 bytes.
struct PositionLimit {
  std::uint8_t board = 0;
  std::uint8_t channel = 0;
  LimitSide side = LimitSide::lower;
  bool enable = false;
  bool update = false;
  std::int32_t counts = 0;  ///< of the encoder; the open drivers' documents wrongly say radians

  friend constexpr bool operator==(const PositionLimit&, const PositionLimit&) = default;
};

/// The signal that ends the search for the zero.
enum class HomeMode : std::uint8_t { switch_and_index = 0, switch_only = 1, jam = 2 };

/// The motion of a motor during homing, 7 bytes.
struct HomeMotion {
  std::uint8_t board = 0;
  std::uint8_t channel = 0;
  std::uint8_t acceleration = 0;     ///< in units of 100
  std::uint8_t search_velocity = 0;  ///< velocity to the switch
  std::uint8_t offset_velocity = 0;  ///< velocity from the switch to zero
  HomeMode mode = HomeMode::switch_and_index;
  std::uint8_t duty = 0;  ///< %

  friend constexpr bool operator==(const HomeMotion&, const HomeMotion&) = default;
};

/// A temporary change of the gains in percent, 6 bytes.
struct GainOverride {
  std::uint8_t board = 0;
  std::array<std::uint8_t, channels> percent{};
  std::uint16_t milliseconds = 0;  ///< duration of the change

  friend constexpr bool operator==(const GainOverride&, const GainOverride&) = default;
};

/// The conditions for a jammed or saturated motor, 8 bytes.
struct JamLimits {
  std::uint8_t board = 0;
  std::uint16_t jam_time = 0;            ///< ms
  std::uint16_t saturation_time = 0;     ///< ms
  std::array<std::uint8_t, 2> duties{};  ///< % [the sources do not say which one is the jam's]

  friend constexpr bool operator==(const JamLimits&, const JamLimits&) = default;
};

/// The error bounds of a board, 8 bytes.
struct ErrorBounds {
  std::uint8_t board = 0;
  std::uint16_t input_difference = 0;  ///< largest difference of two successive references
  std::uint16_t largest_error = 0;
  std::uint16_t temperature = 0;

  friend constexpr bool operator==(const ErrorBounds&, const ErrorBounds&) = default;
};

/// Permanently changes the number and CAN rate of a board. Two boards with one number cannot be
/// distinguished. A board with another rate cannot be reached. Therefore the encoder requires a
/// PermanentChange.
struct Renumber {
  std::uint8_t board = 0;
  std::uint8_t number = 0;
  std::uint8_t rate = 0;

  friend constexpr bool operator==(const Renumber&, const Renumber&) = default;
};
/// Confirms a change that cannot be undone by switching off.
struct PermanentChange {
  explicit PermanentChange() = default;
};

namespace detail {

/// The codes of a setting, one for each motor, and the length of its frame.
struct SettingRange {
  SettingCode first{};
  std::uint8_t count = 1;
  std::uint8_t length = 0;
};
inline constexpr SettingRange gains_range{SettingCode::gains, 4, 8};
inline constexpr SettingRange dead_zone_range{SettingCode::dead_zone, 4, 3};
inline constexpr SettingRange home_search_range{SettingCode::home_search, max_channels, 8};
inline constexpr SettingRange encoder_resolution_range{SettingCode::encoder_resolution, max_channels, 4};
inline constexpr SettingRange motion_limits_range{SettingCode::motion_limits, max_channels, 6};
inline constexpr SettingRange lower_limit_range{SettingCode::lower_limit, max_channels, 7};
inline constexpr SettingRange upper_limit_range{SettingCode::upper_limit, max_channels, 7};
inline constexpr SettingRange home_motion_range{SettingCode::home_motion, max_channels, 7};
inline constexpr SettingRange gain_changerange{SettingCode::gain_override, 1, 6};
inline constexpr SettingRange renumber_range{SettingCode::renumber, 1, 4};
inline constexpr SettingRange jam_limits_range{SettingCode::jam_limits, 1, 8};
inline constexpr SettingRange error_bounds_range{SettingCode::error_bounds, 1, 8};

/// Starts the frame of a setting. Errors: unknown_node, out_of_range (a channel that lacks this setting).
[[nodiscard]] constexpr Status begin_setting(Frame& frame, std::uint8_t board, SettingRange range,
                                             std::uint8_t channel = 0) noexcept {
  if (board > max_board) return fail(Errc::unknown_node);
  if (channel >= range.count) return fail(Errc::out_of_range);
  clear(frame);
  frame.id = command_id;
  frame.length = range.length;
  frame.data[0] = board;
  frame.data[1] = static_cast<std::uint8_t>(static_cast<unsigned>(range.first) + channel);
  return {};
}

/// Checks a frame of a setting; returns the motor's number. Additional bytes are ignored, as for commands.
[[nodiscard]] constexpr Result<std::uint8_t> check_setting(const Frame& frame, SettingRange range) noexcept {
  if (frame.extended || frame.fd || !frame.is_data()) return fail(Errc::wrong_format);
  if (frame.id != command_id) return fail(Errc::unexpected_id);
  if (frame.length < 2 || frame.length > max_classic_length) return fail(Errc::wrong_length);
  if (frame.data[0] > max_board) return fail(Errc::unknown_node);
  const unsigned channel = static_cast<unsigned>(frame.data[1]) - static_cast<unsigned>(range.first);
  if (channel >= range.count) return fail(Errc::unknown_command);  // also a code below the first
  if (frame.length < range.length) return fail(Errc::wrong_length);
  return static_cast<std::uint8_t>(channel);
}

[[nodiscard]] constexpr std::uint16_t word_at(const Frame& frame, std::size_t byte) noexcept {
  return static_cast<std::uint16_t>(load_little<2>(frame.data.data() + byte));
}
[[nodiscard]] constexpr std::int32_t counts_at(const Frame& frame, std::size_t byte) noexcept {
  return static_cast<std::int32_t>(load_little<4>(frame.data.data() + byte));
}
constexpr void put_word(Frame& frame, std::size_t byte, std::uint16_t word) noexcept {
  store_little<2>(frame.data.data() + byte, word);
}
constexpr void put_counts(Frame& frame, std::size_t byte, std::int32_t counts) noexcept {
  store_little<4>(frame.data.data() + byte, static_cast<std::uint32_t>(counts));
}

}  // namespace detail

// Errors of all encoders: unknown_node, out_of_range.

[[nodiscard]] constexpr Status encode_into(Frame& frame, const Gains& gains) noexcept {
  if (gains.channel >= channels) return fail(Errc::out_of_range);
  const auto code =
      static_cast<std::uint8_t>(gains.channel + (gains.loop == GainLoop::current ? channels : 0));
  if (const Status status = detail::begin_setting(frame, gains.board, detail::gains_range, code); !status)
    return status;
  detail::put_word(frame, 2, gains.proportional);
  detail::put_word(frame, 4, gains.integral);
  detail::put_word(frame, 6, gains.derivative);
  return {};
}
/// Decodes gains. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(Gains& gains, const Frame& frame) noexcept {
  const auto code = detail::check_setting(frame, detail::gains_range);
  if (!code) return fail(code.error());
  gains = {frame.data[0],
           *code >= channels ? GainLoop::current : GainLoop::position,
           static_cast<std::uint8_t>(*code % channels),
           detail::word_at(frame, 2),
           detail::word_at(frame, 4),
           detail::word_at(frame, 6)};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const DeadZone& zone) noexcept {
  const Status status = detail::begin_setting(frame, zone.board, detail::dead_zone_range, zone.channel);
  if (status) frame.data[2] = zone.width;
  return status;
}
/// Decodes a dead zone. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(DeadZone& zone, const Frame& frame) noexcept {
  const auto channel = detail::check_setting(frame, detail::dead_zone_range);
  if (!channel) return fail(channel.error());
  zone = {frame.data[0], *channel, frame.data[2]};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const HomeSearch& search) noexcept {
  const Status status = detail::begin_setting(frame, search.board, detail::home_search_range, search.channel);
  if (!status) return status;
  frame.data[2] = search.limit;
  frame.data[3] = search.direction == Rotation::clockwise ? 0 : 1;
  detail::put_counts(frame, 4, search.offset);
  return {};
}
/// Decodes the search of a homing. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(HomeSearch& search, const Frame& frame) noexcept {
  const auto channel = detail::check_setting(frame, detail::home_search_range);
  if (!channel) return fail(channel.error());
  if (frame.data[3] > 1) return fail(Errc::bad_value);
  search = {frame.data[0], *channel, frame.data[2],
            frame.data[3] == 0 ? Rotation::clockwise : Rotation::counterclockwise,
            detail::counts_at(frame, 4)};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const EncoderResolution& encoder) noexcept {
  if (encoder.resolution > 0x3FFF) return fail(Errc::out_of_range);
  const Status status =
      detail::begin_setting(frame, encoder.board, detail::encoder_resolution_range, encoder.channel);
  if (!status) return status;
  const unsigned word = encoder.resolution | (encoder.auto_scale ? 0x4000U : 0U) |
                        (encoder.motor_direction == Rotation::clockwise ? 0x8000U : 0U);
  detail::put_word(frame, 2, static_cast<std::uint16_t>(word));
  return {};
}
/// Decodes the resolution of an encoder. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(EncoderResolution& encoder, const Frame& frame) noexcept {
  const auto channel = detail::check_setting(frame, detail::encoder_resolution_range);
  if (!channel) return fail(channel.error());
  const unsigned word = detail::word_at(frame, 2);
  encoder = {frame.data[0], *channel, static_cast<std::uint16_t>(word & 0x3FFFU), (word & 0x4000U) != 0,
             (word & 0x8000U) != 0 ? Rotation::clockwise : Rotation::counterclockwise};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const MotionLimits& limits) noexcept {
  const Status status =
      detail::begin_setting(frame, limits.board, detail::motion_limits_range, limits.channel);
  if (!status) return status;
  detail::put_word(frame, 2, limits.acceleration);
  detail::put_word(frame, 4, limits.velocity);
  return {};
}
/// Decodes limits of velocity and acceleration. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(MotionLimits& limits, const Frame& frame) noexcept {
  const auto channel = detail::check_setting(frame, detail::motion_limits_range);
  if (!channel) return fail(channel.error());
  limits = {frame.data[0], *channel, detail::word_at(frame, 2), detail::word_at(frame, 4)};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const PositionLimit& limit) noexcept {
  const detail::SettingRange range =
      limit.side == LimitSide::lower ? detail::lower_limit_range : detail::upper_limit_range;
  if (const Status status = detail::begin_setting(frame, limit.board, range, limit.channel); !status)
    return status;
  frame.data[2] = static_cast<std::uint8_t>((limit.enable ? 1 : 0) | (limit.update ? 2 : 0));
  detail::put_counts(frame, 3, limit.counts);
  return {};
}
/// Decodes a position limit. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(PositionLimit& limit, const Frame& frame) noexcept {
  const bool is_upper = frame.data[1] >= static_cast<std::uint8_t>(SettingCode::upper_limit);
  const auto channel =
      detail::check_setting(frame, is_upper ? detail::upper_limit_range : detail::lower_limit_range);
  if (!channel) return fail(channel.error());
  limit = {frame.data[0],
           *channel,
           is_upper ? LimitSide::upper : LimitSide::lower,
           (frame.data[2] & 1U) != 0,
           (frame.data[2] & 2U) != 0,
           detail::counts_at(frame, 3)};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const HomeMotion& motion) noexcept {
  if (motion.duty > 100) return fail(Errc::out_of_range);
  const Status status = detail::begin_setting(frame, motion.board, detail::home_motion_range, motion.channel);
  if (!status) return status;
  frame.data[2] = motion.acceleration;
  frame.data[3] = motion.search_velocity;
  frame.data[4] = motion.offset_velocity;
  frame.data[5] = static_cast<std::uint8_t>(motion.mode);
  frame.data[6] = motion.duty;
  return {};
}
/// Decodes the motion of a homing. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(HomeMotion& motion, const Frame& frame) noexcept {
  const auto channel = detail::check_setting(frame, detail::home_motion_range);
  if (!channel) return fail(channel.error());
  if (frame.data[5] > static_cast<std::uint8_t>(HomeMode::jam) || frame.data[6] > 100)
    return fail(Errc::bad_value);
  motion = {frame.data[0], *channel,      frame.data[2],
            frame.data[3], frame.data[4], static_cast<HomeMode>(frame.data[5]),
            frame.data[6]};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const GainOverride& change) noexcept {
  const Status status = detail::begin_setting(frame, change.board, detail::gain_changerange);
  if (!status) return status;
  frame.data[2] = change.percent[0];
  frame.data[3] = change.percent[1];
  detail::put_word(frame, 4, change.milliseconds);
  return {};
}
/// Decodes a gain override. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(GainOverride& change, const Frame& frame) noexcept {
  const auto known = detail::check_setting(frame, detail::gain_changerange);
  if (!known) return fail(known.error());
  change = {frame.data[0], {frame.data[2], frame.data[3]}, detail::word_at(frame, 4)};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const JamLimits& limits) noexcept {
  const Status status = detail::begin_setting(frame, limits.board, detail::jam_limits_range);
  if (!status) return status;
  detail::put_word(frame, 2, limits.jam_time);
  detail::put_word(frame, 4, limits.saturation_time);
  frame.data[6] = limits.duties[0];
  frame.data[7] = limits.duties[1];
  return {};
}
/// Decodes limits of jam detection. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(JamLimits& limits, const Frame& frame) noexcept {
  const auto known = detail::check_setting(frame, detail::jam_limits_range);
  if (!known) return fail(known.error());
  limits = {
      frame.data[0], detail::word_at(frame, 2), detail::word_at(frame, 4), {frame.data[6], frame.data[7]}};
  return {};
}

[[nodiscard]] constexpr Status encode_into(Frame& frame, const ErrorBounds& bounds) noexcept {
  const Status status = detail::begin_setting(frame, bounds.board, detail::error_bounds_range);
  if (!status) return status;
  detail::put_word(frame, 2, bounds.input_difference);
  detail::put_word(frame, 4, bounds.largest_error);
  detail::put_word(frame, 6, bounds.temperature);
  return {};
}
/// Decodes error bounds. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(ErrorBounds& bounds, const Frame& frame) noexcept {
  const auto known = detail::check_setting(frame, detail::error_bounds_range);
  if (!known) return fail(known.error());
  bounds = {frame.data[0], detail::word_at(frame, 2), detail::word_at(frame, 4), detail::word_at(frame, 6)};
  return {};
}

/// Also out_of_range for an invalid new number.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const Renumber& renumber, PermanentChange) noexcept {
  if (renumber.number > max_board) return fail(Errc::out_of_range);
  const Status status = detail::begin_setting(frame, renumber.board, detail::renumber_range);
  if (!status) return status;
  frame.data[2] = renumber.number;
  frame.data[3] = renumber.rate;
  return {};
}
/// Decodes a new board number. On an error nothing changes.
/// Errors: wrong_format, unexpected_id, wrong_length, unknown_node, unknown_command.
[[nodiscard]] constexpr Status decode_into(Renumber& renumber, const Frame& frame) noexcept {
  const auto known = detail::check_setting(frame, detail::renumber_range);
  if (!known) return fail(known.error());
  if (frame.data[2] > max_board) return fail(Errc::bad_value);
  renumber = {frame.data[0], frame.data[2], frame.data[3]};
  return {};
}

}  // namespace takt::can::hubo
