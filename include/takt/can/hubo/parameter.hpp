// Reading the stored values of a board: parameter requests and their answers. Answers have 8 bytes. The
// boards split their values into such pages, and a page may end in the middle of a number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "takt/can/hubo/command.hpp"
#include "takt/can/hubo/frame.hpp"
#include "takt/can/hubo/setting.hpp"

namespace takt::can::hubo {

/// Pages a to f belong to a motor, g to i to the board.
enum class ParameterPage : std::uint8_t { a, b, c, d, e, f, g, h, i };
/// Returns whether the page belongs to a motor.
[[nodiscard]] constexpr bool is_motor_page(ParameterPage page) noexcept { return page <= ParameterPage::f; }

/// Returns the argument of CommandCode::read_parameter. Argument `channel`: 0 to 4; pages of the board have
/// none. As in the older sources, the numbers of motors 3 and 4 are assumed to be 5 higher. [This leaves room
/// for g to i.]
[[nodiscard]] constexpr std::uint8_t parameter_type(ParameterPage page, std::uint8_t channel = 0) noexcept {
  const auto number = static_cast<unsigned>(page);
  if (!is_motor_page(page))
    return static_cast<std::uint8_t>(20 + number - static_cast<unsigned>(ParameterPage::g));
  return static_cast<std::uint8_t>(6U * channel + number + 1 + (channel >= 3 ? 5 : 0));
}
/// Returns the request for one page.
[[nodiscard]] constexpr Command parameter_request(std::uint8_t board, ParameterPage page,
                                                  std::uint8_t channel = 0) noexcept {
  return {board, CommandCode::read_parameter, parameter_type(page, channel)};
}

/// The values in a motor's pages, in the board's own units. The comments name the page.
struct MotorParameters {
  std::uint16_t position_proportional = 0;  // a
  std::uint16_t position_integral = 0;
  std::uint16_t position_derivative = 0;
  std::uint16_t resolution = 0;  ///< 14 bits, of the encoder
  bool auto_scale = false;
  Rotation motor_direction = Rotation::counterclockwise;
  std::uint16_t dead_zone = 0;  // b
  std::uint8_t search_direction = 0;
  std::uint8_t search_mode = 0;
  std::uint16_t search_limit = 0;
  std::int32_t home_offset = 0;            // b and c
  std::int32_t lower_limit = 0;            // c
  std::int32_t upper_limit = 0;            // c and d
  std::uint16_t largest_acceleration = 0;  // d
  std::uint16_t largest_velocity = 0;
  std::uint16_t largest_pwm = 0;
  std::uint16_t largest_current = 0;  // e
  std::uint16_t reserved = 0;
  std::uint16_t current_proportional = 0;
  std::uint16_t current_derivative = 0;
  std::uint16_t current_feed_forward = 0;  // f

  friend constexpr bool operator==(const MotorParameters&, const MotorParameters&) = default;
};

/// The values in a board's pages. [The sources disagree about units: times are written in ms, but some read
/// them in 0.1 s. They warn that rate, home acceleration and jam time may have other places.]
struct BoardParameters {
  std::uint16_t can_rate = 0;  // g
  std::uint8_t board_type = 0;
  std::uint16_t home_acceleration = 0;
  std::array<std::uint16_t, 2> home_velocities{};  // h
  std::uint16_t jam_time = 0;
  std::uint16_t saturation_time = 0;
  std::uint8_t duty_limit = 0;  // i
  std::uint8_t duty_jam = 0;
  std::uint16_t input_difference = 0;
  std::uint16_t largest_error = 0;
  std::uint16_t encoder_or_temperature_error = 0;

  friend constexpr bool operator==(const BoardParameters&, const BoardParameters&) = default;
};

namespace detail {

[[nodiscard]] constexpr std::uint16_t low_word(std::int32_t value) noexcept {
  return static_cast<std::uint16_t>(static_cast<std::uint32_t>(value));
}
[[nodiscard]] constexpr std::uint16_t high_word(std::int32_t value) noexcept {
  return static_cast<std::uint16_t>(static_cast<std::uint32_t>(value) >> 16);
}
[[nodiscard]] constexpr std::int32_t joined(std::uint16_t low, std::uint16_t high) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(high) << 16 | low);
}

constexpr void put_words(Frame& frame, std::array<std::uint16_t, 4> words) noexcept {
  for (std::size_t i = 0; i < words.size(); ++i) put_word(frame, 2 * i, words[i]);
}

[[nodiscard]] constexpr std::uint16_t resolution_word(const MotorParameters& motor) noexcept {
  return static_cast<std::uint16_t>((motor.resolution & 0x3FFFU) | (motor.auto_scale ? 0x4000U : 0U) |
                                    (motor.motor_direction == Rotation::clockwise ? 0x8000U : 0U));
}

}  // namespace detail

/// Encodes the answer of `board` with one page of a motor, id 0x1C0+board. Errors: unknown_node, bad_value
/// (not a motor's page).
[[nodiscard]] constexpr Status encode_into(Frame& frame, const MotorParameters& motor, std::uint8_t board,
                                           ParameterPage page) noexcept {
  using detail::high_word;
  using detail::low_word;
  if (!is_motor_page(page)) return fail(Errc::bad_value);
  if (const Status status = detail::begin(frame, current_base, board, 8); !status) return status;
  switch (page) {
    case ParameterPage::a:
      detail::put_words(frame, {motor.position_proportional, motor.position_integral,
                                motor.position_derivative, detail::resolution_word(motor)});
      break;
    case ParameterPage::b:
      detail::put_word(frame, 0, motor.dead_zone);
      frame.data[2] = motor.search_direction;
      frame.data[3] = motor.search_mode;
      detail::put_word(frame, 4, motor.search_limit);
      detail::put_word(frame, 6, low_word(motor.home_offset));
      break;
    case ParameterPage::c:
      detail::put_words(frame, {high_word(motor.home_offset), low_word(motor.lower_limit),
                                high_word(motor.lower_limit), low_word(motor.upper_limit)});
      break;
    case ParameterPage::d:
      detail::put_words(frame, {high_word(motor.upper_limit), motor.largest_acceleration,
                                motor.largest_velocity, motor.largest_pwm});
      break;
    case ParameterPage::e:
      detail::put_words(frame, {motor.largest_current, motor.reserved, motor.current_proportional,
                                motor.current_derivative});
      break;
    default:
      detail::put_word(frame, 0, motor.current_feed_forward);
  }
  return {};
}

/// Decodes one page into the values of a motor. Halves of numbers that are in other pages stay. The frame
/// does not contain its page: the request does. Errors: the usual ones, bad_value (not a motor's page).
[[nodiscard]] constexpr Status decode_into(MotorParameters& motor, const Frame& frame,
                                           ParameterPage page) noexcept {
  using detail::high_word;
  using detail::joined;
  using detail::low_word;
  if (!is_motor_page(page)) return fail(Errc::bad_value);
  if (const Status status = detail::check(frame, current_base, 8); !status) return status;
  const std::array<std::uint16_t, 4> words = {detail::word_at(frame, 0), detail::word_at(frame, 2),
                                              detail::word_at(frame, 4), detail::word_at(frame, 6)};
  switch (page) {
    case ParameterPage::a:
      motor.position_proportional = words[0];
      motor.position_integral = words[1];
      motor.position_derivative = words[2];
      motor.resolution = words[3] & 0x3FFFU;
      motor.auto_scale = (words[3] & 0x4000U) != 0;
      motor.motor_direction = (words[3] & 0x8000U) != 0 ? Rotation::clockwise : Rotation::counterclockwise;
      break;
    case ParameterPage::b:
      motor.dead_zone = words[0];
      motor.search_direction = frame.data[2];
      motor.search_mode = frame.data[3];
      motor.search_limit = words[2];
      motor.home_offset = joined(words[3], high_word(motor.home_offset));
      break;
    case ParameterPage::c:
      motor.home_offset = joined(low_word(motor.home_offset), words[0]);
      motor.lower_limit = joined(words[1], words[2]);
      motor.upper_limit = joined(words[3], high_word(motor.upper_limit));
      break;
    case ParameterPage::d:
      motor.upper_limit = joined(low_word(motor.upper_limit), words[0]);
      motor.largest_acceleration = words[1];
      motor.largest_velocity = words[2];
      motor.largest_pwm = words[3];
      break;
    case ParameterPage::e:
      motor.largest_current = words[0];
      motor.reserved = words[1];
      motor.current_proportional = words[2];
      motor.current_derivative = words[3];
      break;
    default:
      motor.current_feed_forward = words[0];
  }
  return {};
}

/// The same for the pages of a board.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const BoardParameters& values, std::uint8_t board,
                                           ParameterPage page) noexcept {
  if (is_motor_page(page)) return fail(Errc::bad_value);
  if (const Status status = detail::begin(frame, current_base, board, 8); !status) return status;
  switch (page) {
    case ParameterPage::g:
      detail::put_word(frame, 2, values.can_rate);
      frame.data[4] = values.board_type;
      detail::put_word(frame, 6, values.home_acceleration);
      break;
    case ParameterPage::h:
      detail::put_words(frame, {values.home_velocities[0], values.home_velocities[1], values.jam_time,
                                values.saturation_time});
      break;
    default:
      frame.data[0] = values.duty_limit;
      frame.data[1] = values.duty_jam;
      detail::put_word(frame, 2, values.input_difference);
      detail::put_word(frame, 4, values.largest_error);
      detail::put_word(frame, 6, values.encoder_or_temperature_error);
  }
  return {};
}

[[nodiscard]] constexpr Status decode_into(BoardParameters& values, const Frame& frame,
                                           ParameterPage page) noexcept {
  if (is_motor_page(page)) return fail(Errc::bad_value);
  if (const Status status = detail::check(frame, current_base, 8); !status) return status;
  switch (page) {
    case ParameterPage::g:
      values.can_rate = detail::word_at(frame, 2);
      values.board_type = frame.data[4];
      values.home_acceleration = detail::word_at(frame, 6);
      break;
    case ParameterPage::h:
      values.home_velocities = {detail::word_at(frame, 0), detail::word_at(frame, 2)};
      values.jam_time = detail::word_at(frame, 4);
      values.saturation_time = detail::word_at(frame, 6);
      break;
    default:
      values.duty_limit = frame.data[0];
      values.duty_jam = frame.data[1];
      values.input_difference = detail::word_at(frame, 2);
      values.largest_error = detail::word_at(frame, 4);
      values.encoder_or_temperature_error = detail::word_at(frame, 6);
  }
  return {};
}

}  // namespace takt::can::hubo
