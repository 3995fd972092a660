// The differences between the kinds of Hubo board, as their masters see them: the number of motors, their
// modes, and the frames in both directions. Words are the values in a reference; counts are those of
// encoders.
//
//   two_channel  positions of 24 bits; 32 bits come back
//   hybrid       DRC-Hubo's wrists: the roll by position, 16 bits come back; two fingers by current
//   neck         DRC-Hubo's neck: three servos by position, 12 bits
//   hand         Hubo2+'s hands: five fingers by duty; their encoders come back in two halves
//
// An effort is a share of the motor's largest command: 0.1 A, or full duty. Pure; real-time safe.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "takt/can/hubo.hpp"
#include "takt/can/quantise.hpp"

namespace takt::drives {

/// The properties of one kind of board.
template <can::hubo::BoardKind kind>
struct HuboKind;

namespace detail {

/// Shared by the boards whose encoders have counts, and which answer with all of them in one frame.
struct HuboCounts {
  static constexpr std::size_t halves = 1;
  static constexpr std::size_t channels_of_half = can::hubo::max_channels;
  static constexpr bool says_home = false;
  using StatusReply = can::hubo::ShortStatusReply;

  [[nodiscard]] static constexpr double counts_per_radian(double described) noexcept { return described; }
  [[nodiscard]] static constexpr Result<std::int32_t> position_word(double position,
                                                                    double counts_per_radian) noexcept {
    return can::hubo::to_counts(position, counts_per_radian);
  }
  [[nodiscard]] static constexpr std::int32_t resting_word(std::int32_t counts) noexcept { return counts; }
  /// The word of `part` of the largest effort, -1..1; clamped. Error: not_finite.
  [[nodiscard]] static constexpr Result<std::int32_t> effort(double part, std::int32_t most) noexcept {
    if (!can::is_finite(part * most)) return fail(can::Errc::not_finite);
    return static_cast<std::int32_t>(can::round_clamped(part * most, -most, most));
  }
  [[nodiscard]] static constexpr std::size_t half_of(const auto& /*reply*/) noexcept { return 0; }
  [[nodiscard]] static constexpr std::int32_t counts_in(const auto& reply, std::size_t i) noexcept {
    return reply.counts[i];
  }
};

}  // namespace detail

template <>
struct HuboKind<can::hubo::BoardKind::two_channel> : detail::HuboCounts {
  static constexpr std::size_t positions = 2;
  static constexpr std::size_t channels_of_half = 2;
  static constexpr bool says_home = true;
  using Encoders = can::hubo::EncoderReply;
  using StatusReply = can::hubo::StatusReply;
  using Reference = can::hubo::Reference;

  [[nodiscard]] static constexpr Result<std::int32_t> effort_word(double part) noexcept {
    return effort(part, 0);
  }
  /// A board with one motor gets its reference twice.
  [[nodiscard]] static constexpr Reference reference(std::uint8_t board, const auto& motors) noexcept {
    Reference reference{board, {motors[0].commanded, motors[1].commanded}};
    if (!motors[0].attached) reference.counts[0] = reference.counts[1];
    if (!motors[1].attached) reference.counts[1] = reference.counts[0];
    return reference;
  }
};

template <>
struct HuboKind<can::hubo::BoardKind::hybrid> : detail::HuboCounts {
  static constexpr std::size_t positions = 1;
  using Encoders = can::hubo::HybridEncoders;
  using Reference = can::hubo::HybridReference;

  [[nodiscard]] static constexpr Result<std::int32_t> effort_word(double part) noexcept {
    return effort(part, can::hubo::max_finger_current);
  }
  [[nodiscard]] static constexpr Reference reference(std::uint8_t board, const auto& motors) noexcept {
    return {board,
            motors[0].commanded,
            {static_cast<std::int8_t>(motors[1].commanded), static_cast<std::int8_t>(motors[2].commanded)}};
  }
};

/// The words are the joint's angle: of the description's counts per radian only the sign matters. The
/// reference's turn is one count shorter than the encoder's, so a servo that holds its position may move by
/// one count.
template <>
struct HuboKind<can::hubo::BoardKind::neck> : detail::HuboCounts {
  static constexpr std::size_t positions = can::hubo::neck_servos;
  static constexpr std::int32_t middle = 2048;
  using Encoders = can::hubo::NeckEncoders;
  using Reference = can::hubo::NeckReference;

  [[nodiscard]] static double counts_per_radian(double described) noexcept {
    return std::copysign(4096 / (2 * std::numbers::pi), described);
  }
  [[nodiscard]] static constexpr std::int32_t counts_in(const Encoders& reply, std::size_t i) noexcept {
    return reply.words[i] - middle;
  }
  [[nodiscard]] static constexpr Result<std::int32_t> position_word(double position,
                                                                    double counts_per_radian) noexcept {
    const auto word = can::hubo::to_neck_word(counts_per_radian < 0 ? -position : position);
    if (!word) return fail(word.error());
    return *word;
  }
  [[nodiscard]] static constexpr std::int32_t resting_word(std::int32_t counts) noexcept {
    return static_cast<std::int32_t>(can::round_clamped(
        (counts + middle) * (can::hubo::max_neck_word / 4096.0), 0, can::hubo::max_neck_word));
  }
  [[nodiscard]] static constexpr Result<std::int32_t> effort_word(double part) noexcept {
    return effort(part, 0);
  }
  [[nodiscard]] static constexpr Reference reference(std::uint8_t /*board*/, const auto& motors) noexcept {
    Reference reference;
    for (std::size_t i = 0; i < reference.words.size(); ++i)
      reference.words[i] = static_cast<std::uint16_t>(motors[i].commanded);
    return reference;
  }
};

template <>
struct HuboKind<can::hubo::BoardKind::hand> : detail::HuboCounts {
  static constexpr std::size_t positions = 0;
  static constexpr std::size_t halves = 2;
  static constexpr std::size_t channels_of_half = 3;
  static constexpr std::int32_t full_duty = 100;
  using Encoders = can::hubo::HandEncoders;
  using Reference = can::hubo::FingerDuty;

  [[nodiscard]] static constexpr std::size_t half_of(const Encoders& reply) noexcept { return reply.half; }
  [[nodiscard]] static constexpr Result<std::int32_t> effort_word(double part) noexcept {
    return effort(part, full_duty);
  }
  [[nodiscard]] static constexpr Reference reference(std::uint8_t board, const auto& motors) noexcept {
    Reference duty{board, {}};
    for (std::size_t i = 0; i < duty.percent.size(); ++i)
      duty.percent[i] = static_cast<std::int8_t>(motors[i].commanded);
    return duty;
  }
};

}  // namespace takt::drives
