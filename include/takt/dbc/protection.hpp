// The counter and the checksum of a message, by a rule: a sender fills both into an encoded frame, a receiver
// checks them. A DBC file has the two signals, but not how they are computed.
//
//     const auto rule = parse_protection_rule("MotorCommand:Counter:Checksum:crc8_j1850");
//     auto sender = Protection::create(*dbc, *rule);                    // set-up: allocates
//     ...
//     auto frame = command->encode(values);                             // in the loop
//     if (frame) static_cast<void>(sender->protect(*frame));
//
// The checksum covers all bytes of the message but its own, in their order. One object is for one direction,
// since each counts by itself. Real-time safe after set-up.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "takt/can/frame.hpp"
#include "takt/can/signal.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/dbc/database.hpp"

namespace takt::dbc {

/// How a checksum of eight bits is computed.
enum class ChecksumKind : std::uint8_t {
  sum,            ///< the bytes added up, modulo 256
  exclusive_or,   ///< the exclusive or of the bytes
  crc8_j1850,     ///< SAE J1850: polynomial 0x1D, start value 0xFF, inverted
  crc8_2f,        ///< AUTOSAR's CRC8H2F: polynomial 0x2F, start value 0xFF, inverted
  e2e_profile_1,  ///< AUTOSAR's E2E profile 1: 0x1D, start value 0, both bytes of the data ID before the data
};

/// The protection of one message.
struct ProtectionRule {
  std::string message;
  std::string counter;   ///< a signal; it counts up by one, and then starts at 0 again
  std::string checksum;  ///< a signal that is one whole byte
  ChecksumKind kind = ChecksumKind::sum;
  std::uint16_t data_id = 0;  ///< only of e2e_profile_1

  friend bool operator==(const ProtectionRule&, const ProtectionRule&) = default;
};

/// Parses "MESSAGE:COUNTER:CHECKSUM:KIND", with a kind of sum, exclusive_or, crc8_j1850 and crc8_2f, or
/// "MESSAGE:COUNTER:CHECKSUM:e2e_profile_1:0x123". Error: can::Errc::bad_value; the message says what is
/// allowed. Allocates.
[[nodiscard]] SetupResult<ProtectionRule> parse_protection_rule(std::string_view text);

/// What the check of a received frame found.
enum class ProtectionVerdict : std::uint8_t {
  good,            ///< the first frame, or the one after the last
  wrong_length,    ///< the frame is shorter than the message, or has no data
  wrong_checksum,  ///< the data are not those that were sent, or are of another message
  wrong_counter,   ///< the counter has a number that a sender never writes
  repeated,        ///< the counter is that of the last frame
  frames_lost,     ///< the counter went on by more than one
};

/// The number of verdicts; `good` is the first.
inline constexpr std::size_t protection_verdicts = 6;

/// Names the verdict for people, as "wrong checksum".
[[nodiscard]] constexpr std::string_view describe(ProtectionVerdict verdict) noexcept {
  constexpr std::array<std::string_view, protection_verdicts> names{
      "good", "wrong length", "wrong checksum", "wrong counter", "repeated", "frames lost"};
  return names[static_cast<std::size_t>(verdict)];
}

namespace detail {

/// A cyclic redundancy check of eight bits, without inversion.
[[nodiscard]] constexpr std::uint8_t crc8_step(std::uint8_t crc, std::uint8_t byte,
                                               std::uint8_t polynomial) noexcept {
  unsigned rest = static_cast<unsigned>(crc) ^ byte;
  for (int i = 0; i < 8; ++i) rest = (rest & 0x80U) != 0 ? (rest << 1 ^ polynomial) & 0xFFU : rest << 1;
  return static_cast<std::uint8_t>(rest);
}

}  // namespace detail

/// Returns the checksum of all bytes except the one at `place`. Real-time safe.
[[nodiscard]] constexpr std::uint8_t checksum_of(ChecksumKind kind, std::span<const std::uint8_t> data,
                                                 std::size_t place, std::uint16_t data_id = 0) noexcept {
  constexpr std::uint8_t j1850 = 0x1D, h2f = 0x2F;
  const bool is_inverted = kind == ChecksumKind::crc8_j1850 || kind == ChecksumKind::crc8_2f;
  const std::uint8_t polynomial = kind == ChecksumKind::crc8_2f ? h2f : j1850;
  std::uint8_t result = is_inverted ? 0xFF : 0;
  if (kind == ChecksumKind::e2e_profile_1) {
    result = detail::crc8_step(result, static_cast<std::uint8_t>(data_id & 0xFFU), polynomial);
    result = detail::crc8_step(result, static_cast<std::uint8_t>(data_id >> 8), polynomial);
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i == place) continue;
    if (kind == ChecksumKind::sum) {
      result = static_cast<std::uint8_t>(result + data[i]);
    } else if (kind == ChecksumKind::exclusive_or) {
      result = static_cast<std::uint8_t>(result ^ data[i]);
    } else {
      result = detail::crc8_step(result, data[i], polynomial);
    }
  }
  return is_inverted ? static_cast<std::uint8_t>(result ^ 0xFFU) : result;
}

/// Fills or checks the frames of one message.
class Protection {
 public:
  /// Errors: can::Errc::bad_value (no such message or signal), bad_layout (a signal cannot be a counter or a
  /// checksum); the text names it and what is allowed. The database must outlive the object. Allocates.
  [[nodiscard]] static SetupResult<Protection> create(const Database& dbc, const ProtectionRule& rule);

  /// The protected message.
  [[nodiscard]] const MessageCodec& message() const noexcept { return *message_; }

  /// Writes the next counter, from 0 on, and the checksum. On an error the frame and the counter stay as they
  /// are. Errors: can::Errc::unexpected_id (another message), wrong_format (no data frame), wrong_length.
  [[nodiscard]] Status protect(can::Frame& frame) noexcept {
    if (!message_->is_mine(frame)) return fail(can::Errc::unexpected_id);
    if (!frame.is_data()) return fail(can::Errc::wrong_format);
    return protect(std::span(frame.data).first(std::min<std::size_t>(frame.length, frame.data.size())));
  }
  /// As above, for the data of a frame. Error: can::Errc::wrong_length.
  [[nodiscard]] Status protect(std::span<std::uint8_t> data) noexcept {
    if (data.size() < message_->length()) return fail(can::Errc::wrong_length);
    data = data.first(message_->length());
    if (const Status written = can::insert(counter_, data, next_); !written) return written;
    data[place_] = checksum_of(kind_, data, place_, data_id_);
    next_ = following(next_);
    return {};
  }

  /// Checks a frame of message().is_mine(). A frame with a wrong length, checksum or counter does not change
  /// what the next one is compared with.
  [[nodiscard]] ProtectionVerdict check(const can::Frame& frame) noexcept {
    const std::size_t length = std::min<std::size_t>(frame.length, frame.data.size());
    return check(std::span(frame.data).first(frame.is_data() ? length : 0));
  }
  /// As above, for the data of a frame.
  [[nodiscard]] ProtectionVerdict check(std::span<const std::uint8_t> data) noexcept {
    if (data.size() < message_->length()) return ProtectionVerdict::wrong_length;
    data = data.first(message_->length());
    if (data[place_] != checksum_of(kind_, data, place_, data_id_)) return ProtectionVerdict::wrong_checksum;
    const std::uint64_t counter = can::extract(counter_, data).value_or(~std::uint64_t{0});
    if (counter > largest_) return ProtectionVerdict::wrong_counter;
    const bool is_first = !has_seen_;
    const bool is_repeated = has_seen_ && following(counter) == next_;
    const bool is_next = is_first || counter == next_;
    has_seen_ = true;
    next_ = following(counter);
    return is_next       ? ProtectionVerdict::good
           : is_repeated ? ProtectionVerdict::repeated
                         : ProtectionVerdict::frames_lost;
  }

 private:
  Protection() = default;
  [[nodiscard]] std::uint64_t following(std::uint64_t counter) const noexcept {
    return counter == largest_ ? 0 : counter + 1;
  }

  const MessageCodec* message_ = nullptr;
  can::BitField counter_{};
  std::uint64_t largest_ = 0;  ///< number of the counter
  std::size_t place_ = 0;      ///< byte of the checksum
  ChecksumKind kind_ = ChecksumKind::sum;
  std::uint16_t data_id_ = 0;
  std::uint64_t next_ = 0;  ///< expected counter
  bool has_seen_ = false;   ///< a frame with a good checksum
};

}  // namespace takt::dbc
