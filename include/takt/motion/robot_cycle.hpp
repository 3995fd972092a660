// One cycle of a robot with a motion server: the manager's steps, with the server's requests and events
// between them. Requests that concern the robot go to the manager, and requests for motion to the trajectory
// controller.
//
//     cycle.begin(now, measured, missed);          // reads the devices
//     while (cycle.accepts_requests() && next(request)) cycle.submit(*request);
//     cycle.advance();                             // moves, and writes the devices
//     cycle.deliver(written, sink);                // events, with the time at which the reference left
//
// The cycle knows no clock and no thread. It therefore runs on the robot, in simulated time and in a test.
// Every function is real-time safe; only the constructor allocates.
#pragma once

#include <cstdint>
#include <utility>

#include "takt/core/time.hpp"
#include "takt/motion/joint_trajectory.hpp"
#include "takt/motion/request.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/robot/manager.hpp"

namespace takt::motion {

/// Runs a manager by the requests of a motion server. For one thread, the loop's.
class RobotCycle {
 public:
  /// `controller` is loaded in the manager. Both must outlive the cycle.
  RobotCycle(robot::Manager& manager, JointTrajectoryController& controller) noexcept
      : manager_(&manager), controller_(&controller) {}

  /// Begins a cycle: reads the devices and reacts to faults. `now`: the nominal time of the cycle.
  /// `measured`: since the cycle before. `missed`: the number of periods in a row without a cycle before this
  /// one.
  void begin(Time now, Duration measured, std::uint64_t missed) noexcept {
    manager_->begin(now, measured, missed);
    controller_->begin(now);
  }
  /// Whether submit() may be called: see JointTrajectoryController.
  [[nodiscard]] bool accepts_requests() const noexcept { return controller_->accepts_requests(); }
  /// Takes one validated request, and borrows it until an event carries it back in `retired`. The requests
  /// emergency_stop, reset, accept_positions and shutdown end in this cycle, `succeeded` or `rejected`.
  void submit(Request& request) noexcept;
  /// Computes one period of motion, and writes the devices.
  void advance() noexcept {
    manager_->control();
    manager_->write();
    manager_->publish();
  }
  /// Passes the events of this cycle, oldest first, to `sink(const Event&) -> bool`. An event that the sink
  /// refuses is offered again in the next cycle. `written` is the time at which the commands were on the bus.
  template <class Sink>
  void deliver(Time written, Sink&& sink) noexcept {
    controller_->deliver(written, std::forward<Sink>(sink));
  }

  /// From the next begin() on, stops all joints, powers off, then enters RobotState::down.
  void shut_down() noexcept { manager_->shut_down(); }
  /// Leaves a latched stop, as a reset request does. Call it between begin() and advance(). Nothing happens
  /// while the robot is still stopping, is down, the bus of a drive is down, or a position that jumped is not
  /// accepted.
  void reset() noexcept { (void)manager_->reset(); }

  /// Fills in the snapshot, except the loop's own counters.
  void describe(Snapshot& snapshot) const noexcept;
  /// The state of the robot after the last begin() or advance().
  [[nodiscard]] RobotState state() const noexcept { return manager_->supervisor().state(); }

 private:
  robot::Manager* manager_;
  JointTrajectoryController* controller_;
};

}  // namespace takt::motion
