// The configuration of a CiA 402 drive by its master: SDO writes that set the cyclic synchronous modes,
// takt's PDOs (can/cia402/process_data.hpp), and heartbeats in both directions. For set-up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "takt/can/canopen/pdo.hpp"
#include "takt/can/canopen/sdo.hpp"
#include "takt/can/cia402/process_data.hpp"
#include "takt/can/cia402/state.hpp"
#include "takt/core/time.hpp"

namespace takt::drives {

/// The master's node id in its heartbeat.
inline constexpr std::uint8_t cia402_master_node = 127;

/// The drive's timeout for the master's heartbeat: 50 ms to 60 s, and longer than a pause of `overrun_limit`
/// periods. When a pause begins, the last heartbeat may be a quarter of this old. It is at least 50 ms,
/// because the heartbeat shares the bus.
[[nodiscard]] constexpr Duration cia402_watchdog(Duration period, std::uint32_t overrun_limit) noexcept {
  const Duration patience = (Duration::rep{overrun_limit} + 3) * period * 4 / 3;
  return std::clamp(patience, Duration(50'000'000), Duration(60'000'000'000));
}

/// The periods and timeouts of a drive on the bus.
struct Cia402Timing {
  Duration period{1'000'000};         ///< of the loop, and of SYNC
  Duration silence{50'000'000};       ///< timeout of process data, counted in cycles with a request
  Duration heartbeat{100'000'000};    ///< of the drives
  Duration sdo_timeout{200'000'000};  ///< for each answer
  Duration retry{500'000'000};        ///< from a failed configuration to the next attempt
  Duration identity{500'000'000};     ///< the most that a request for the identity delays a start
};

/// A joint whose drive searches its home by itself after each start. The search moves the joint for seconds,
/// so keep its path free. A number of 0 leaves the drive's own setting.
struct Cia402Home {
  std::size_t joint = 0;    ///< of the robot
  std::int8_t method = 37;  ///< 6098h; 37: the present position is home
  double switch_speed = 0;  ///< rad/s, 6099h:1: during the search for the switch
  double zero_speed = 0;    ///< rad/s, 6099h:2: during the search for the index pulse
  double acceleration = 0;  ///< rad/s^2, 609Ah
  /// rad, 607Ch: by the standard, the distance from home to zero; some drives use the opposite sign.
  double offset = 0;
  Duration most{60'000'000'000};  ///< timeout of the search
};

/// All that a master configures in one drive.
struct Cia402Setup {
  std::uint8_t node = 1;
  double counts_per_radian = 1;  ///< negative reverses the direction
  double rated_effort = 0;  ///< N m at the joint at the drive's rated torque; 0: no velocity and torque modes
  Duration watchdog{50'000'000};  ///< the drive's timeout for the master's heartbeat
  Cia402Timing timing{};
  std::optional<Cia402Home> home{};

  /// Whether all numbers are finite and in the drive's range.
  [[nodiscard]] bool is_good() const noexcept {
    if (!std::isfinite(counts_per_radian) || counts_per_radian == 0) return false;
    if (!std::isfinite(rated_effort) || rated_effort < 0) return false;
    if (!home) return true;
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    const auto fits = [&](double value) { return std::abs(value * counts_per_radian) <= most; };
    return fits(home->switch_speed) && fits(home->zero_speed) && fits(home->acceleration) &&
           fits(home->offset) && home->switch_speed >= 0 && home->zero_speed >= 0 && home->acceleration >= 0;
  }
};

namespace detail {

/// Appends the writes of a home's numbers, except those that are 0. Requires setup.is_good().
inline void append_home(std::vector<can::canopen::ObjectWrite>& writes, const Cia402Setup& setup) {
  const auto counts = [&](double value) {
    return static_cast<std::int32_t>(std::lround(value * setup.counts_per_radian));
  };
  const auto append = [&](can::canopen::Address object, std::int32_t value) {
    writes.push_back({object, static_cast<std::uint32_t>(value), 4});
  };
  // A small number is not rounded to 0: that would leave the drive's own setting, or stop the motion.
  const auto append_magnitude = [&](can::canopen::Address object, double value) {
    if (value != 0) append(object, std::max(std::abs(counts(value)), std::int32_t{1}));
  };
  writes.push_back({{0x6098, 0}, static_cast<std::uint8_t>(setup.home->method), 1});
  append_magnitude({0x6099, 1}, setup.home->switch_speed);
  append_magnitude({0x6099, 2}, setup.home->zero_speed);
  append_magnitude({0x609A, 0}, setup.home->acceleration);
  if (setup.home->offset != 0) append({0x607C, 0}, counts(setup.home->offset));
}

}  // namespace detail

/// The SDO writes that configure a drive. Requires setup.is_good(). Allocates.
[[nodiscard]] inline std::vector<can::canopen::ObjectWrite> cia402_configuration(const Cia402Setup& setup) {
  using can::canopen::PdoDirection;
  const auto in = [](Duration duration, Duration::rep unit) {
    return static_cast<std::uint32_t>((duration.count() + unit - 1) / unit);
  };
  constexpr Duration::rep us = 1'000, ms = 1'000'000;
  const Cia402Timing& timing = setup.timing;
  Duration::rep unit = us;  // of the interpolation period, whose value has 8 bits
  std::int8_t exponent = -6;
  for (; timing.period.count() / unit > 255; ++exponent) unit *= 10;

  // A position ends by itself; a velocity or effort goes on. So a drive with these modes must have a watchdog
  // for its master.
  const bool does_without_watchdog = setup.rated_effort == 0;
  std::vector<can::canopen::ObjectWrite> writes = {
      {{0x1017, 0}, in(timing.heartbeat, ms), 2},
      {{0x1016, 1},
       std::uint32_t{cia402_master_node} << 16 | std::min(in(setup.watchdog, ms), 0xFFFFU),
       4,
       does_without_watchdog},
      {{0x6007, 0}, 1, 2, does_without_watchdog},
      {{0x1006, 0}, in(timing.period, us), 4, true},
      {{0x60C2, 1}, in(timing.period, unit), 1, true},
      {{0x60C2, 2}, static_cast<std::uint8_t>(exponent), 1, true},
      {{0x605A, 0}, static_cast<std::uint32_t>(can::cia402::QuickStop::quick_ramp), 2, true},
      {{0x6060, 0}, static_cast<std::uint32_t>(can::cia402::Mode::cyclic_position), 1}};
  if (setup.home) detail::append_home(writes, setup);
  for (std::uint8_t number = 2; number <= 4;
       ++number) {  // disable the other PDOs, which the drive might send
    const auto index = static_cast<std::uint16_t>(0x1800U + number - 1);
    const std::uint32_t id = pdo_id(PdoDirection::transmit, number, setup.node);
    writes.push_back({{index, 1}, 0xC000'0000U | id, 4, true});
  }
  const auto append = [&](PdoDirection direction, std::uint8_t number,
                          std::span<const can::canopen::MappedObject> objects) {
    const auto plan =
        can::canopen::plan_pdo(direction, number, setup.node, can::canopen::every_sync, objects);
    if (plan) writes.insert(writes.end(), plan->writes().begin(), plan->writes().end());
  };
  append(PdoDirection::receive, 1, can::cia402::receive_pdo_1);
  append(PdoDirection::transmit, 1, can::cia402::transmit_pdo_1);
  if (setup.rated_effort > 0) {
    append(PdoDirection::receive, 2, can::cia402::receive_pdo_2);
    append(PdoDirection::transmit, 2, can::cia402::transmit_pdo_2);
  }
  return writes;
}

}  // namespace takt::drives
