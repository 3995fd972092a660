// CAN frames byte for byte as Linux's sockets read and write them, with their control messages. Makes no
// system call.
#pragma once

#include <time.h>  // for errqueue.h, which does not include it

#include <linux/can.h>
#include <linux/errqueue.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "takt/can/frame.hpp"

namespace takt::platform::detail {

/// Room for a classic or an FD frame. Their size distinguishes them.
using KernelFrame = std::array<std::uint8_t, CANFD_MTU>;

/// Decodes a frame from a socket. Errors: wrong_length (neither classic nor FD, or too much data),
/// wrong_format (an FD frame marked remote or error), id_too_large.
[[nodiscard]] inline Result<can::Frame> from_kernel(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.size() != CAN_MTU && bytes.size() != CANFD_MTU) return fail(can::Errc::wrong_length);
  canfd_frame raw{};
  std::memcpy(&raw, bytes.data(), bytes.size());
  can::Frame frame;
  frame.fd = bytes.size() == CANFD_MTU;
  frame.error = (raw.can_id & CAN_ERR_FLAG) != 0;
  frame.extended = !frame.error && (raw.can_id & CAN_EFF_FLAG) != 0;
  frame.remote = !frame.error && (raw.can_id & CAN_RTR_FLAG) != 0;
  frame.id = raw.can_id & can::max_extended_id;
  frame.length = raw.len;
  if (frame.fd && (frame.remote || frame.error)) return fail(can::Errc::wrong_format);
  if (!frame.error && !frame.extended && frame.id > can::max_standard_id)
    return fail(can::Errc::id_too_large);
  if (!can::is_frame_length(raw.len, {.fd = frame.fd})) return fail(can::Errc::wrong_length);
  frame.bit_rate_switch = frame.fd && (raw.flags & CANFD_BRS) != 0;
  frame.error_state = frame.fd && (raw.flags & CANFD_ESI) != 0;
  if (!frame.remote) std::copy_n(raw.data, raw.len, frame.data.begin());
  return frame;
}

/// Encodes a frame for a socket. Returns its bytes, or 0 for a frame that no bus can carry.
[[nodiscard]] inline std::size_t to_kernel(const can::Frame& frame,
                                           std::span<std::uint8_t, CANFD_MTU> bytes) noexcept {
  if (frame.error || frame.id > (frame.extended ? can::max_extended_id : can::max_standard_id)) return 0;
  if (frame.fd && frame.remote) return 0;
  if (!frame.fd && (frame.bit_rate_switch || frame.error_state)) return 0;
  if (!can::is_frame_length(frame.length, {.fd = frame.fd})) return 0;
  canfd_frame raw{};
  raw.can_id = frame.id | (frame.extended ? CAN_EFF_FLAG : 0U) | (frame.remote ? CAN_RTR_FLAG : 0U);
  raw.len = frame.length;
  raw.flags = static_cast<std::uint8_t>((frame.bit_rate_switch ? CANFD_BRS : 0U) |
                                        (frame.error_state ? CANFD_ESI : 0U));
  if (!frame.remote) std::copy_n(frame.data.begin(), frame.length, raw.data);
  const std::size_t size = frame.fd ? CANFD_MTU : CAN_MTU;
  std::memcpy(bytes.data(), &raw, size);
  return size;
}

/// The control messages of a frame.
struct Ancillary {
  std::optional<std::int64_t> software_stamp{};  ///< ns, CLOCK_REALTIME
  std::optional<std::int64_t> hardware_stamp{};  ///< ns, the controller's clock
  std::optional<std::uint32_t> dropped{};        ///< lost frames since the socket was opened, modulo 2^32
};

/// Room for the control messages of a frame.
inline constexpr std::size_t control_bytes =
    CMSG_SPACE(sizeof(scm_timestamping)) + CMSG_SPACE(sizeof(std::uint32_t));

/// A time stamp in ns. Empty if there is none (all zero) or it is invalid.
[[nodiscard]] inline std::optional<std::int64_t> nanoseconds_of(const timespec& time) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  constexpr std::int64_t most = std::int64_t{1} << 33;  // s, 272 years: below 2^63 ns
  const bool is_normal = time.tv_nsec >= 0 && time.tv_nsec < second && time.tv_sec >= 0 && time.tv_sec < most;
  if (!is_normal || (time.tv_sec == 0 && time.tv_nsec == 0)) return std::nullopt;
  return std::int64_t{time.tv_sec} * second + time.tv_nsec;
}

/// Reads control messages with any content. Skips unknown messages and those that are too short.
[[nodiscard]] inline Ancillary read_ancillary(std::span<const std::uint8_t> control) noexcept {
  Ancillary found;
  while (control.size() >= sizeof(cmsghdr)) {
    cmsghdr header{};
    std::memcpy(&header, control.data(), sizeof header);
    const std::size_t length = std::min<std::size_t>(header.cmsg_len, control.size());
    if (length < CMSG_LEN(0)) break;
    const std::span<const std::uint8_t> data = control.subspan(CMSG_LEN(0), length - CMSG_LEN(0));
    if (header.cmsg_level == SOL_SOCKET && header.cmsg_type == SCM_TIMESTAMPING &&
        data.size() >= sizeof(scm_timestamping)) {
      scm_timestamping stamps{};
      std::memcpy(&stamps, data.data(), sizeof stamps);
      found.software_stamp = nanoseconds_of(stamps.ts[0]);
      found.hardware_stamp = nanoseconds_of(stamps.ts[2]);
    } else if (header.cmsg_level == SOL_SOCKET && header.cmsg_type == SO_RXQ_OVFL &&
               data.size() >= sizeof(std::uint32_t)) {
      std::uint32_t dropped = 0;
      std::memcpy(&dropped, data.data(), sizeof dropped);
      found.dropped = dropped;
    }
    control = control.subspan(std::min<std::size_t>(CMSG_ALIGN(length), control.size()));
  }
  return found;
}

}  // namespace takt::platform::detail
