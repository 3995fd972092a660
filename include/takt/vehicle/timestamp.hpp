// The time stamps of a vehicle's frames: milliseconds since Unix second 1 531 000 000 (2018-07-07T21:46:40Z),
// modulo 2^32. They wrap every 49.7 days. So two stamps are compared on the circle, as serial numbers are
// (RFC 1982). Only the receiver's clock tells the turn to which a stamp belongs. It is provisional that
// vehicles use this epoch; differences and order hold for any epoch.
//
// Every function is real-time safe and usable in constant expressions.
#pragma once

#include <chrono>
#include <cstdint>

namespace takt::vehicle {

/// Unix time in ms: `std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now())`.
using UnixTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// The Unix time of stamp 0.
inline constexpr UnixTime stamp_epoch{std::chrono::seconds(1'531'000'000)};

/// The stamp of a point in time, which may be before the epoch.
[[nodiscard]] constexpr std::uint32_t to_stamp(UnixTime time) noexcept {
  const auto count = [](UnixTime t) { return static_cast<std::uint32_t>(t.time_since_epoch().count()); };
  return count(time) - count(stamp_epoch);
}

/// How much later `stamp` is than `other`, by the shorter direction on the circle, within 24.8 days. Negative
/// if it is earlier.
[[nodiscard]] constexpr std::chrono::milliseconds stamp_difference(std::uint32_t stamp,
                                                                   std::uint32_t other) noexcept {
  return std::chrono::milliseconds(static_cast<std::int32_t>(stamp - other));
}

/// Whether `stamp` is later than `other`, by the shorter direction. False for both if they are exactly half a
/// turn apart.
[[nodiscard]] constexpr bool newer(std::uint32_t stamp, std::uint32_t other) noexcept {
  return stamp_difference(stamp, other).count() > 0;
}

/// The point in time with this stamp that is nearest to the receiver's time. The receiver's clock may be
/// wrong by 24.8 days.
[[nodiscard]] constexpr UnixTime unwrap(std::uint32_t stamp, UnixTime receiver) noexcept {
  return receiver + stamp_difference(stamp, to_stamp(receiver));
}

}  // namespace takt::vehicle
