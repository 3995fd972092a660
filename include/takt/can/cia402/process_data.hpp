// The process data between a master and a CiA 402 drive, in the PDOs that takt maps. The first pair is enough
// for position modes, with one frame in each direction. The second pair carries velocity and torque.
//
// - receive PDO 1, 0x200+node, 7 bytes:  control word 6040h, mode 6060h, target position 607Ah
// - receive PDO 2, 0x300+node, 6 bytes:  target velocity 60FFh, target torque 6071h
// - transmit PDO 1, 0x180+node, 7 bytes: status word 6041h, mode 6061h, position 6064h
// - transmit PDO 2, 0x280+node, 6 bytes: velocity 606Ch, torque 6077h
//
// Positions and velocities are in the drive's own units, torques in thousandths of the rated torque.
// Real-time safe and usable in constant expressions.
#pragma once

#include <array>
#include <cstdint>

#include "takt/can/canopen/pdo.hpp"
#include "takt/can/cia402/state.hpp"
#include "takt/can/word.hpp"

namespace takt::can::cia402 {

/// The latest feedback of a drive.
struct Feedback {
  std::uint16_t status_word = 0;
  Mode mode = Mode::none;
  std::int32_t position = 0;
  std::int32_t velocity = 0;
  std::int16_t torque = 0;

  friend constexpr bool operator==(const Feedback&, const Feedback&) = default;
};

/// The command to a drive.
struct Command {
  std::uint16_t control_word = 0;
  Mode mode = Mode::none;
  std::int32_t position = 0;
  std::int32_t velocity = 0;
  std::int16_t torque = 0;

  friend constexpr bool operator==(const Command&, const Command&) = default;
};

/// The mappings of the four PDOs, for canopen::plan_pdo(), and their data bytes.
inline constexpr std::array<canopen::MappedObject, 3> receive_pdo_1 = {
    {{{0x6040, 0}, 16}, {{0x6060, 0}, 8}, {{0x607A, 0}, 32}}};
inline constexpr std::array<canopen::MappedObject, 2> receive_pdo_2 = {
    {{{0x60FF, 0}, 32}, {{0x6071, 0}, 16}}};
inline constexpr std::array<canopen::MappedObject, 3> transmit_pdo_1 = {
    {{{0x6041, 0}, 16}, {{0x6061, 0}, 8}, {{0x6064, 0}, 32}}};
inline constexpr std::array<canopen::MappedObject, 2> transmit_pdo_2 = {
    {{{0x606C, 0}, 32}, {{0x6077, 0}, 16}}};
inline constexpr std::uint8_t pdo_1_length = 7;
inline constexpr std::uint8_t pdo_2_length = 6;

namespace detail {

constexpr void put_pdo_1(Frame& frame, std::uint32_t id, std::uint16_t word, Mode mode,
                         std::int32_t position) noexcept {
  canopen::detail::begin(frame, id, pdo_1_length);
  const auto mode_byte = static_cast<std::uint8_t>(mode);
  store_little<8>(frame.data.data(), word | std::uint64_t{mode_byte} << 16 |
                                         std::uint64_t{static_cast<std::uint32_t>(position)} << 24);
}
constexpr void put_pdo_2(Frame& frame, std::uint32_t id, std::int32_t velocity,
                         std::int16_t torque) noexcept {
  canopen::detail::begin(frame, id, pdo_2_length);
  store_little<8>(frame.data.data(), static_cast<std::uint32_t>(velocity) |
                                         std::uint64_t{static_cast<std::uint16_t>(torque)} << 32);
}

}  // namespace detail

/// Writes receive PDO 1 or 2 of a node; canopen::is_node(node) must be true.
constexpr void put_receive_pdo_1(Frame& frame, std::uint8_t node, const Command& command) noexcept {
  detail::put_pdo_1(frame, canopen::pdo_id(canopen::PdoDirection::receive, 1, node), command.control_word,
                    command.mode, command.position);
}
/// As put_receive_pdo_1().
constexpr void put_receive_pdo_2(Frame& frame, std::uint8_t node, const Command& command) noexcept {
  detail::put_pdo_2(frame, canopen::pdo_id(canopen::PdoDirection::receive, 2, node), command.velocity,
                    command.torque);
}

/// The content of receive PDO 1, as a message for encode().
struct ReceivePdo1 {
  std::uint8_t node = 1;
  Command command;
};
/// Writes the frame of receive PDO 1. Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const ReceivePdo1& pdo) noexcept {
  if (!canopen::is_node(pdo.node)) return fail(Errc::unknown_node);
  put_receive_pdo_1(frame, pdo.node, pdo.command);
  return {};
}

/// The content of receive PDO 2, as a message for encode().
struct ReceivePdo2 {
  std::uint8_t node = 1;
  Command command;
};
/// Writes the frame of receive PDO 2. Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const ReceivePdo2& pdo) noexcept {
  if (!canopen::is_node(pdo.node)) return fail(Errc::unknown_node);
  put_receive_pdo_2(frame, pdo.node, pdo.command);
  return {};
}

/// Decodes transmit PDO 1 or 2 of any node into the feedback of its drive. On an error nothing changes.
/// Errors: wrong_format, wrong_length.
[[nodiscard]] constexpr Status take_transmit_pdo_1(Feedback& feedback, const Frame& frame) noexcept {
  if (const Status format = canopen::detail::check_format(frame); !format) return format;
  if (frame.length != pdo_1_length) return fail(Errc::wrong_length);
  const std::uint64_t word = load_little<8>(frame.data.data());
  feedback.status_word = static_cast<std::uint16_t>(word);
  feedback.mode = static_cast<Mode>(static_cast<std::int8_t>(word >> 16));
  feedback.position = static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> 24));
  return {};
}
/// As take_transmit_pdo_1().
[[nodiscard]] constexpr Status take_transmit_pdo_2(Feedback& feedback, const Frame& frame) noexcept {
  if (const Status format = canopen::detail::check_format(frame); !format) return format;
  if (frame.length != pdo_2_length) return fail(Errc::wrong_length);
  const std::uint64_t word = load_little<8>(frame.data.data());
  feedback.velocity = static_cast<std::int32_t>(static_cast<std::uint32_t>(word));
  feedback.torque = static_cast<std::int16_t>(word >> 32);
  return {};
}

}  // namespace takt::can::cia402
