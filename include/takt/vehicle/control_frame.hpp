// The frame that drives a Furbot: one datagram of 20 bytes, sent a hundred times a second to port 18004.
//
// * Byte 0: "FSTA".
// * Byte 4: time stamp, u32, most significant byte first (timestamp.hpp).
// * Byte 8: steer i32, throttle i32, brake u32.
//
// The only known sender wrote the last three fields in its host's order, least significant byte first. That
// order was never tried on the vehicle, so the caller chooses it. The unit of a count is provisional too: see
// units.hpp.
//
// Every function is real-time safe and usable in constant expressions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/core/bytes.hpp"
#include "takt/core/error.hpp"
#include "takt/vehicle/error.hpp"

namespace takt::vehicle {

/// The UDP port at which the vehicle receives control frames.
inline constexpr std::uint16_t control_port = 18004;
inline constexpr std::uint32_t control_magic = 0x46535441;  ///< "FSTA"
/// The size of a control frame.
inline constexpr std::size_t control_frame_bytes = 20;

/// Byte order of the payload: big, or little as the original sender on x86. The receiver cannot detect a
/// wrong order: small counts become huge, and a vehicle that limits them drives with full pedals. Try it with
/// the vehicle on blocks.
using ByteOrder = std::endian;

/// A control frame in raw counts.
struct ControlFrame {
  /// ms, see timestamp.hpp.
  std::uint32_t stamp = 0;
  /// To the left, or to the right if the unit's sign is negative (units.hpp).
  std::int32_t steer = 0;
  /// Negative drives backwards.
  std::int32_t throttle = 0;
  std::uint32_t brake = 0;  ///< in counts, from 0

  friend constexpr bool operator==(const ControlFrame&, const ControlFrame&) = default;
};

/// Decodes a control frame. Errors: too_short, bad_len (too long), bad_magic.
[[nodiscard]] constexpr Result<ControlFrame> decode_control(std::span<const std::uint8_t> datagram,
                                                            ByteOrder payload) noexcept {
  if (datagram.size() < control_frame_bytes) return fail(Errc::too_short);
  if (datagram.size() > control_frame_bytes) return fail(Errc::bad_len);
  ByteReader reader(datagram.first<control_frame_bytes>());
  if (reader.big<std::uint32_t>() != control_magic) return fail(Errc::bad_magic);
  ControlFrame frame;
  frame.stamp = reader.big<std::uint32_t>();
  if (payload == ByteOrder::big) {
    frame.steer = reader.big<std::int32_t>();
    frame.throttle = reader.big<std::int32_t>();
    frame.brake = reader.big<std::uint32_t>();
  } else {
    frame.steer = reader.little<std::int32_t>();
    frame.throttle = reader.little<std::int32_t>();
    frame.brake = reader.little<std::uint32_t>();
  }
  return frame;
}

/// Encodes a control frame into `out` and returns its size, 20 bytes. Error: no_room; `out` is then
/// unchanged.
[[nodiscard]] constexpr Result<std::size_t> encode_control(const ControlFrame& frame,
                                                           std::span<std::uint8_t> out,
                                                           ByteOrder payload) noexcept {
  if (out.size() < control_frame_bytes) return fail(Errc::no_room);
  ByteWriter writer(out.first<control_frame_bytes>());
  writer.big(control_magic);
  writer.big(frame.stamp);
  if (payload == ByteOrder::big) {
    writer.big(frame.steer);
    writer.big(frame.throttle);
    writer.big(frame.brake);
  } else {
    writer.little(frame.steer);
    writer.little(frame.throttle);
    writer.little(frame.brake);
  }
  return writer.position();
}

}  // namespace takt::vehicle
