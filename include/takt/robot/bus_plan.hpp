// What the buses of a robot carry in each cycle, by its description alone: how much of a bus that takes, at which rate it would
// fit, how many frames an interface is handed at once, and which identifiers a master listens to.
//
//     const robot::BusPlan plan = robot::plan_bus(description, 0);
//     auto bus = platform::SocketCanBus::open("can0", {.filters = plan.filters, .frames_per_cycle = plan.frames_per_cycle()});
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

/// The part of a bus that the frames of its cycles may take, with as many stuff bits as can be: a description that asks for more
/// is refused. The rest is for start-up, orders, faults and repetitions.
inline constexpr double largest_bus_load = 0.9;

/// A bus while all of its drives run.
struct BusPlan {
  can::BitRates rates;
  Duration period{};                        ///< of the cycle
  std::vector<can::PlannedFrame> commands;  ///< of the master
  std::vector<can::PlannedFrame> replies;   ///< of the drives and sensors
  std::vector<can::Filter> filters;  ///< of all that the master listens to, start-up and faults included

  /// Adds a frame of the master, or of a drive, of `length` bytes in each cycle.
  void command(std::size_t length, can::FrameFormat format = {});
  void reply(std::size_t length, can::FrameFormat format = {});
  /// Adds an identifier that the master listens to.
  void listen_to(std::uint32_t id) { filters.push_back({.id = id}); }

  /// The part of the bus that its frames take, with as many stuff bits as can be; above 1 they do not fit.
  [[nodiscard]] double load() const;
  /// The highest rate of the cycle at which load() is largest_bus_load, in Hz; 0 if none is.
  [[nodiscard]] double fitting_rate() const;
  /// How many frames the master hands to the bus at once; an interface with a shorter queue delays some to the next cycle.
  [[nodiscard]] std::size_t frames_per_cycle() const;
};

/// The plan of a bus of the description, by its protocol. One without joints is empty.
[[nodiscard]] BusPlan plan_bus(const RobotDescription& description, std::size_t bus);

}  // namespace takt::robot
