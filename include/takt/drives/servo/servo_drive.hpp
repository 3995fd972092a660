// A simulated servo drive of takt's CAN FD protocol: one motor, one node. can/servo.hpp describes the frames,
// the states and the watchdog. The drive latches its position when the group's command arrives, and replies a
// moment later. So all drives of a group are measured at the same time.
//
// A command has the joint's position at its arrival; from then on the servo's reference moves at the
// commanded velocity. When the next command is overdue by half a period, the reference brakes to rest. The
// drive has position mode only; commands in another mode are faults. Everything is real-time safe.
#pragma once

#include <cstdint>
#include <optional>

#include "takt/can/frame.hpp"
#include "takt/can/servo.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/servo_axis.hpp"

namespace takt::drives {

/// The timing of a simulated drive.
struct ServoDriveOptions {
  Duration reply_delay{30'000};  ///< from the end of a command to the reply's entry into the transmit queue
  Duration command_period{1'000'000};  ///< expected period of commands
};

/// The deceleration of a drive without a command, rad/s^2: the joint's limit of acceleration, with at most
/// half of its torque limit. Real-time safe.
[[nodiscard]] double servo_braking(const robot::JointDescription& joint) noexcept;

/// A simulated drive. Real-time safe after construction.
class ServoDrive {
 public:
  /// Powers up at `start`. `node` must be can::servo::is_node().
  ServoDrive(std::uint8_t node, const ServoDriveOptions& options, Time start,
             const robot::JointDescription& joint) noexcept;

  /// Whether the node uses this frame.
  [[nodiscard]] bool accepts(const can::Frame& frame) const noexcept { return frame.id == command_id_; }
  /// Handles a frame that ended on the bus at its stamp.
  void receive(const can::Frame& frame) noexcept;
  /// Time of the next frame to send; Time::max() for none.
  [[nodiscard]] Time next_send() const noexcept { return reply_due_; }
  /// That frame. Call it at that time.
  [[nodiscard]] can::Frame take_frame() noexcept;
  /// Runs the motor up to a time.
  void advance(Time to) noexcept;

  /// Injects a fault at the present time, or ends it with JointFault::none.
  void inject(sim::JointFault fault) noexcept;
  /// Sets a constant torque against the motor, N m.
  void attach(sim::PhysicsJoint& physics) noexcept { axis_.attach(physics); }
  void set_load(double torque) noexcept { axis_.set_load(torque); }
  /// The joint's true position, rad, and velocity, rad/s.
  [[nodiscard]] double position() const noexcept { return axis_.plant().position(ticks_.since(now_)); }
  [[nodiscard]] double velocity() const noexcept { return axis_.plant().velocity(); }

  /// Returns the state of the drive.
  [[nodiscard]] can::servo::State state() const noexcept { return state_; }
  /// Number of frames to this drive's group that it could not use.
  [[nodiscard]] std::uint64_t ignored() const noexcept { return ignored_; }

 private:
  void obey(const can::servo::NodeCommand& command) noexcept;
  void run(Time tick) noexcept;
  void fail(can::servo::Fault fault) noexcept;
  void notice_faults() noexcept;

  Time reply_due_ = Time::max();
  std::uint32_t command_id_;
  std::uint8_t node_;
  can::servo::State state_ = can::servo::State::off;
  can::servo::Fault fault_ = can::servo::Fault::none;
  bool silent_ = false;
  sim::ServoTicks ticks_;
  Time now_;
  ServoDriveOptions options_;
  sim::ServoAxis axis_;
  sim::ServoReference commanded_{};  // commanded position at commanded_at_
  sim::ServoReference reference_{};  // present reference of the servo
  Time commanded_at_{};
  Time overdue_at_{};
  Time watchdog_ends_{};
  double direction_;                      // -1 if the drive turns in the opposite direction of its joint
  double braking_step_;                   // rad/s in one servo period
  std::optional<std::uint8_t> sequence_;  // of the last command
  can::servo::DriveReply reply_{};
  std::uint64_t ignored_ = 0;
};

}  // namespace takt::drives
