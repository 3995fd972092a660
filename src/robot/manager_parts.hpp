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
  /// The claim of one joint, from all interfaces that the controller claims of it.
  struct JointClaim {
    std::size_t joint = 0;
    CommandMode mode{};
    ClaimKind kind{};
  };

  std::shared_ptr<Controller> controller;
  ControllerConfig config;
  ControllerNeeds needs;
  std::uint16_t number = nobody;

  std::vector<JointClaim> joints;
  std::vector<std::size_t> cells;    ///< indices of the claimed commands that are no joint's
  std::vector<std::size_t> devices;  ///< indices of the devices that it uses
  std::vector<Entry*> followers;     ///< controllers whose inputs it commands
  std::vector<Entry*> leaders;       ///< controllers that command its inputs; not for the cycle
  std::vector<Entry*> neighbours;    ///< the cycle's: followers and leaders
  std::vector<Entry*> fallbacks;
  /// It is active, or will be once the robot is ready. Only Manager::want() writes it, in the cycle.
  std::atomic<bool> wanted{false};
  std::size_t place = 0;  ///< the cycle's: in running_
  bool in_chain = false;  ///< the cycle's: scratch of end_chain()
  bool blamed = false;    ///< the cycle's: it commanded NaN or infinity
};

/// A switch while it is applied. It outlives a caller that gives up.
struct Manager::SwitchJob {
  std::vector<Entry*> stop;   ///< leaders first
  std::vector<Entry*> start;  ///< followers first
  std::vector<ModeChange> changes;
  Duration timeout{};
  std::uint64_t wishes = 0;    ///< Manager::wishes_ at the plan
  std::uint64_t deadline = 0;  ///< the manager's cycle
  Error error;
  Controller* culprit = nullptr;
  std::atomic<bool> done{false};
};

}  // namespace takt::robot
