// The plan of a CAN bus, computed from the robot's description: the frames of a cycle, the bus load, and the
// highest cycle rate. It also tells how many frames an interface is handed at once, and the identifiers that
// a master receives.
//
//     const robot::BusPlan plan = robot::plan_bus(description, 0);
//     auto bus = platform::SocketCanBus::open(
//         "can0", {.filters = plan.filters, .frames_per_cycle = plan.frames_per_cycle()});
//
// For set-up: allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/can/bus_load.hpp"
#include "takt/can/filter.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"

namespace takt::robot {

/// The highest allowed bus load of the cyclic frames, with the most stuff bits possible. A description above
/// it is rejected. The rest is for start-up, orders, faults and repetitions.
inline constexpr double largest_bus_load = 0.9;

/// A bus while all of its drives run.
struct BusPlan {
  can::BitRates rates;
  Duration period{};                        ///< of the cycle
  std::vector<can::PlannedFrame> commands;  ///< of the master
  std::vector<can::PlannedFrame> replies;   ///< of the drives and sensors
  std::vector<can::Filter>
      filters;  ///< identifiers of all frames for the master, also of start-up and faults

  /// Adds a frame of `length` bytes in each cycle, sent by the master.
  void command(std::size_t length, can::FrameFormat format = {});
  /// Adds a frame of `length` bytes in each cycle, sent by a drive or sensor.
  void reply(std::size_t length, can::FrameFormat format = {});
  /// Adds an identifier that the master receives.
  void listen_to(std::uint32_t id) { filters.push_back({.id = id}); }

  /// The bus load of the frames of a cycle, with the most stuff bits possible. Above 1 they do not fit.
  [[nodiscard]] double load() const;
  /// The cycle rate at which load() reaches largest_bus_load, Hz; 0 if no rate fits.
  [[nodiscard]] double fitting_rate() const;
  /// How many frames the master hands to the bus at once. An interface with a shorter queue delays some to
  /// the next cycle.
  [[nodiscard]] std::size_t frames_per_cycle() const;
};

/// The plan of a bus of the description, by its protocol; empty for a bus without joints.
[[nodiscard]] BusPlan plan_bus(const RobotDescription& description, std::size_t bus);

}  // namespace takt::robot
