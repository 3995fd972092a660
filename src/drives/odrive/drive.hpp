// A simulated ODrive: one motor, one node. It has CANSimple of firmware 0.6 (drives/odrive/frames.hpp): a
// heartbeat every 100 ms, an estimate every 10 ms, and answers to remote frames. It takes set-points in
// passthrough. Errors switch the motor off, and stay until they are cleared. It has a watchdog, if
// configured. As on a real drive, a set-point holds until the next one, without a watchdog forever.
// Everything is real-time safe.
#pragma once

#include <algorithm>
#include <cstdint>

#include "drives/odrive/frames.hpp"
#include "drives/odrive/setup.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/joint_fault.hpp"
#include "takt/sim/servo_axis.hpp"

namespace takt::drives {

struct OdriveDriveOptions {
  Duration reply_delay{50'000};  ///< from the end of a question to the answer's entry into the transmit queue
  Duration heartbeat{100'000'000};
  Duration estimate{10'000'000};
};

class OdriveDrive {
 public:
  using State = odrive::Heartbeat::State;

  /// The joint must have a setup.
  OdriveDrive(std::uint8_t node, const OdriveDriveOptions& options, Time start,
              const robot::JointDescription& joint) noexcept;

  /// Whether the node uses this frame; not one of its own.
  [[nodiscard]] bool accepts(const can::Frame& frame) const noexcept {
    const bool is_to_it = !frame.extended && odrive_frame::node_of(frame) == setup_.node;
    return is_to_it && (frame.remote || (bit_of(frame) & answers) == 0);
  }
  /// Handles a frame that ended on the bus at its stamp.
  void receive(const can::Frame& frame) noexcept;
  /// Time of the next frame to send; Time::max() for none.
  [[nodiscard]] Time next_send() const noexcept {
    if (silent_) return Time::max();
    return std::min({heartbeat_due_, estimate_due_, asked_ != 0 ? answer_due_ : Time::max()});
  }
  /// That frame. Call it at that time.
  [[nodiscard]] can::Frame take_frame() noexcept;
  /// Runs the motor up to a time.
  void advance(Time to) noexcept;

  /// Injects a fault at the present time, or ends it with JointFault::none.
  void inject(sim::JointFault fault) noexcept;
  void attach(sim::PhysicsJoint& physics) noexcept { axis_.attach(physics); }
  void set_load(double torque) noexcept { axis_.set_load(torque); }
  /// The joint's true position and velocity, rad or m.
  [[nodiscard]] double position() const noexcept { return axis_.plant().position(ticks_.since(now_)); }
  [[nodiscard]] double velocity() const noexcept { return axis_.plant().velocity(); }

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] odrive::SetMode mode() const noexcept { return mode_; }
  [[nodiscard]] odrive::SetLimits limits() const noexcept { return limits_; }
  /// Number of frames to this node that it could not use.
  [[nodiscard]] std::uint64_t ignored() const noexcept { return ignored_; }

  /// The limits of an unconfigured drive.
  static constexpr odrive::SetLimits as_delivered{.velocity = 2, .current = 10};

 private:
  void take(const odrive::SetState& order) noexcept;
  void take(const odrive::SetMode& order) noexcept;
  void take(const odrive::SetPosition& order) noexcept;
  void take(const odrive::SetVelocity& order) noexcept;
  void take(const odrive::SetTorque& order) noexcept;
  void take(const odrive::SetLimits& order) noexcept;
  void take(const odrive::ClearErrors& order) noexcept;
  template <class Message>
  void take(const Message&) noexcept {  // messages that only drives send
    ++ignored_;
  }

  /// The messages that it sends, and that can be requested.
  static constexpr std::uint32_t answers =
      1U << odrive::Version::message.id | 1U << odrive::Heartbeat::message.id |
      1U << odrive::Errors::message.id | 1U << odrive::Estimate::message.id |
      1U << odrive::Torques::message.id;
  [[nodiscard]] static std::uint32_t bit_of(const can::Frame& frame) noexcept {
    return 1U << odrive_frame::of_node_0(frame).id;
  }

  void run(Time tick) noexcept;
  void follow() noexcept;
  void fail(std::uint32_t error) noexcept;
  void notice_faults() noexcept;
  [[nodiscard]] odrive::Estimate estimate() const noexcept;
  [[nodiscard]] can::Frame answer(std::uint32_t message) const noexcept;
  [[nodiscard]] can::Frame heartbeat() const noexcept;

  OdriveSetup setup_;
  OdriveDriveOptions options_;
  sim::ServoTicks ticks_;
  Time now_;
  sim::ServoAxis axis_;
  State state_ = State::idle;
  odrive::Heartbeat::Result result_{};
  std::uint32_t errors_ = 0;
  std::uint32_t disarm_reason_ = 0;
  odrive::SetMode mode_{odrive::SetMode::Control::position, odrive::SetMode::Input::passthrough};
  odrive::SetLimits limits_ = as_delivered;
  odrive::SetPosition input_{};      // of all modes, in turns, turns/s and N m
  sim::ServoReference reference_{};  // of the joint
  double velocity_ = 0;              // of the joint, smoothed as the drive's estimator does
  bool silent_ = false;
  std::uint32_t asked_ = 0;  // one bit for each message
  Time answer_due_{};
  Time heartbeat_due_;
  Time estimate_due_;
  Time watchdog_ends_ = Time::max();
  std::uint64_t ignored_ = 0;
};

}  // namespace takt::drives
