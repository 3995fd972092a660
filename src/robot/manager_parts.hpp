// What the sources of the manager share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "takt/robot/manager.hpp"

namespace takt::robot {

/// A controller in the manager.
struct Manager::Entry {
  std::shared_ptr<Controller> controller;
  ControllerConfig config;
  ControllerNeeds needs;
  std::uint16_t number = nobody;

  std::vector<std::size_t> cells;    ///< indices of the claimed commands that are no joint's
  std::vector<std::size_t> devices;  ///< indices of the devices that it uses
  std::vector<Entry*> followers;     ///< controllers whose inputs it commands
  std::vector<Entry*> leaders;       ///< controllers that command its inputs; not for the cycle
  std::vector<Entry*> neighbours;    ///< the cycle's: followers and leaders
  std::vector<Entry*> fallbacks;
  /// It is active, or will be once the robot is ready. Only Manager::want() writes it, in the cycle.
  std::atomic<bool> wanted{false};
  std::size_t place = 0;        ///< the cycle's: in running_
  Origin origin{};              ///< the cycle's: who wanted it
  std::uint64_t since = 0;      ///< the cycle's: Manager::wishes_ when it was wanted. A stop keeps it
  std::uint64_t starts_by = 0;  ///< the cycle's: the manager's cycle until which it waits to start; 0: no
  std::uint64_t tried_at = 0;   ///< the cycle's: the manager's cycle of its last attempt to start
  std::uint64_t ended_at = 0;   ///< the cycle's: the manager's cycle in which it ended after step 4
  bool displaces = false;       ///< the cycle's: owners of what it needs end when it starts
  bool falls_back = false;      ///< the cycle's: it failed, or lost a device
  bool marked = false;          ///< the cycle's: scratch of mark_chains()
};

/// Who wanted a controller to run.
enum class Manager::Origin : std::uint8_t {
  user,          ///< whose switch was checked for conflicts
  fallback,      ///< of a failure: owners of what it needs end for it
  stop_fallback  ///< of a controller that a stop suspended: it gives way once the robot is ready
};

/// The outcome of an attempt to start controllers.
struct Manager::Launch {
  ModeProgress progress = ModeProgress::done;
  Error error{};                   ///< if it failed
  const Entry* culprit = nullptr;  ///< the controller that refused; null: none
};

/// A switch while it is applied. It outlives a caller that gives up.
struct Manager::SwitchJob {
  std::vector<Entry*> stop;   ///< leaders first
  std::vector<Entry*> start;  ///< followers first
  std::vector<ModeChange> changes;
  Duration timeout{};
  std::uint64_t wishes = 0;    ///< Manager::wishes_ at the plan, then after the stops
  std::uint64_t deadline = 0;  ///< the manager's cycle
  Error error;
  const Controller* culprit = nullptr;
  std::atomic<bool> done{false};
};

}  // namespace takt::robot
