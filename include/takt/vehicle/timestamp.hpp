// The time stamps of a vehicle's frames: milliseconds since Unix second 1 531 000 000, 2018-07-07T21:46:40Z, modulo 2^32. They
// begin anew every 49.7 days, so two of them are compared around the circle, as serial numbers are (RFC 1982), and only the
// clock of a receiver tells which turn one belongs to. Whether a vehicle keeps to this epoch is provisional: differences and
// order hold for any. Every function is real-time safe and usable in constant expressions.
#pragma once

#include <chrono>
#include <cstdint>

namespace takt::vehicle {

/// Unix time: `std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now())`.
using UnixTime = std::chrono::sys_time<std::chrono::milliseconds>;

inline constexpr UnixTime stamp_epoch{std::chrono::seconds(1'531'000'000)};

/// The stamp of a point in time, also of one before the epoch.
[[nodiscard]] constexpr std::uint32_t to_stamp(UnixTime time) noexcept {
  const auto count = [](UnixTime t) { return static_cast<std::uint32_t>(t.time_since_epoch().count()); };
  return count(time) - count(stamp_epoch);
}

/// How much later `stamp` is than `other`, by the shorter way round the circle, within 24.8 days; below zero if it is earlier.
[[nodiscard]] constexpr std::chrono::milliseconds stamp_difference(std::uint32_t stamp,
                                                                   std::uint32_t other) noexcept {
  return std::chrono::milliseconds(static_cast<std::int32_t>(stamp - other));
}

/// Later than `other`, by the shorter way round. Of two that are exactly half a turn apart, neither is.
[[nodiscard]] constexpr bool newer(std::uint32_t stamp, std::uint32_t other) noexcept {
  return stamp_difference(stamp, other).count() > 0;
}

/// The point in time nearest to the receiver's that has this stamp; a receiver may be wrong by 24.8 days.
[[nodiscard]] constexpr UnixTime unwrap(std::uint32_t stamp, UnixTime receiver) noexcept {
  return receiver + stamp_difference(stamp, to_stamp(receiver));
}

}  // namespace takt::vehicle
