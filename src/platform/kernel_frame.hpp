// Frames as Linux's CAN sockets read and write them, byte for byte, and what comes beside them. Nothing here calls the system.
#pragma once

#include <time.h>  // for errqueue.h, which does not ask for it

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

/// Room for a classic or an FD frame: the kernel tells them apart by their size.
using KernelFrame = std::array<std::uint8_t, CANFD_MTU>;

/// The frame in what a socket gave. Error: wrong_length (neither classic nor FD, or more data than its format has), wrong_format
/// (of an FD frame: remote, or an error), id_too_large.
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

/// Writes a frame for a socket; returns how many bytes it takes, 0 for one that no bus can carry.
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

/// What the kernel tells beside a frame.
struct Ancillary {
  std::optional<std::int64_t> software_stamp{};  ///< ns, CLOCK_REALTIME
  std::optional<std::int64_t> hardware_stamp{};  ///< ns, of the controller
  std::optional<std::uint32_t> dropped{};        ///< frames since the socket was made, modulo 2^32
};

/// Room for the control messages of a frame.
inline constexpr std::size_t control_bytes =
    CMSG_SPACE(sizeof(scm_timestamping)) + CMSG_SPACE(sizeof(std::uint32_t));

/// Nothing, for no stamp (all zero), or one that is none.
[[nodiscard]] inline std::optional<std::int64_t> nanoseconds_of(const timespec& time) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  constexpr std::int64_t most = std::int64_t{1} << 33;  // seconds, 272 years: below 2^63 ns
  const bool is_normal = time.tv_nsec >= 0 && time.tv_nsec < second && time.tv_sec >= 0 && time.tv_sec < most;
  if (!is_normal || (time.tv_sec == 0 && time.tv_nsec == 0)) return std::nullopt;
  return std::int64_t{time.tv_sec} * second + time.tv_nsec;
}

/// Reads the control messages, whatever they hold: what is too short, or not known, is passed over.
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
