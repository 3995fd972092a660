// Passes the changes of a robot's state to another thread.
#pragma once

#include <optional>

#include "takt/motion/loop.hpp"
#include "takt/motion/wire.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::app {

/// All changes of the robot's state, in order, also those that last only one cycle.
class StateWatch final : public motion::LoopObserver {
 public:
  struct Seen {
    motion::RobotState state = motion::RobotState::starting;
    motion::Event cause;  ///< its reason is Errc{} for none

    /// Compares without the cause's numbers, which change in each cycle while a robot waits for its drives.
    [[nodiscard]] bool is_like(const Seen& other) const noexcept {
      return state == other.state && cause.reason == other.cause.reason && cause.joint == other.cause.joint;
    }
  };

  void before_cycle(Time) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    const Seen seen{snapshot.state, motion::cause_of(snapshot)};
    if (is_fault(seen.cause.reason)) fault_ = seen.cause;
    if (seen.state == motion::RobotState::ready) fault_ = {};
    if (last_ && seen.is_like(*last_)) return;
    if (changes_.try_push(seen)) last_ = seen;  // a full ring: the next cycle tries again
  }
  /// The next change; std::nullopt if there is none. For one other thread.
  [[nodiscard]] std::optional<Seen> next() noexcept {
    Seen seen;
    if (!changes_.try_pop(seen)) return std::nullopt;
    return seen;
  }
  /// The fault that the robot has not recovered from; call it after the loop's end.
  [[nodiscard]] const motion::Event& fault() const noexcept { return fault_; }

 private:
  /// An operator's stop and the end of the process are not faults.
  [[nodiscard]] static bool is_fault(motion::Errc reason) noexcept {
    return reason != motion::Errc{} && reason != motion::Errc::shutting_down &&
           reason != motion::Errc::emergency_stop;
  }

  shm::SpscRing<Seen> changes_{64};
  std::optional<Seen> last_;  ///< the last change that was pushed
  motion::Event fault_;
};

}  // namespace takt::app
