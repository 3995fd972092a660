// A simulated servo drive of takt's CAN FD protocol: one motor, one node. can/servo.hpp describes the frames,
// the states and the watchdog. It latches its position when the group's command arrives, so that all drives
// of a group are measured at the same instant, and answers a moment later.
//
// A command says where the joint is to be when it arrives; from there on its velocity leads the servo's
// reference on. When the next command is overdue by half a period, the reference brakes to rest. The drive
// knows the mode position only; commands in another one are faults. Everything is real-time safe.
#pragma once

#include <cstdint>
#include <optional>

#include "takt/can/frame.hpp"
#include "takt/can/servo.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/servo_axis.hpp"

namespace takt::drives {

struct ServoDriveOptions {
  Duration reply_delay{30'000};  ///< from the end of a command to the reply's entry into the transmit queue
  Duration command_period{1'000'000};  ///< how far apart commands are expected
};

class ServoDrive {
 public:
  /// `node` must be can::servo::is_node().
  ServoDrive(std::uint8_t node, const ServoDriveOptions& options, Time start,
             const robot::JointDescription& joint) noexcept;

  /// Whether the node takes notice of the frame.
  [[nodiscard]] bool accepts(const can::Frame& frame) const noexcept { return frame.id == command_id_; }
  /// Takes a frame that ended on the bus at its stamp.
  void receive(const can::Frame& frame) noexcept;
  /// When the next frame is to be sent; Time::max() when none is.
  [[nodiscard]] Time next_send() const noexcept { return reply_due_; }
  /// That frame, at that time.
  [[nodiscard]] can::Frame take_frame() noexcept;
  /// Lets the motor run up to a time.
  void advance(Time to) noexcept;

  /// What happened to the joint, at the present time.
  void inject(sim::JointFault fault) noexcept;
  void set_load(double torque) noexcept { axis_.set_load(torque); }
  /// Where the joint really is, rad, and how fast it moves, rad/s.
  [[nodiscard]] double position() const noexcept { return axis_.plant().position(ticks_.since(now_)); }
  [[nodiscard]] double velocity() const noexcept { return axis_.plant().velocity(); }

  [[nodiscard]] can::servo::State state() const noexcept { return state_; }
  /// Frames that addressed this drive's group and made no sense to it.
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
  sim::ServoReference commanded_{};  // where the joint was to be at commanded_at_
  sim::ServoReference reference_{};  // what the servo follows now
  Time commanded_at_{};
  Time overdue_at_{};
  Time watchdog_ends_{};
  double direction_;     // of the drive against the joint: -1 on a joint that turns the other way round
  double braking_step_;  // rad/s in one servo period
  std::optional<std::uint8_t> sequence_;  // of the last command
  can::servo::DriveReply reply_{};
  std::uint64_t ignored_ = 0;
};

}  // namespace takt::drives
