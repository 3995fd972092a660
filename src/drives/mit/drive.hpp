// A simulated MIT-mode drive of one of the three vendors, with the traits that a careless master overlooks:
//
// * It stores commands while it is disabled; the last one acts when it is enabled. A cheetah does so. The
//   others' documents do not tell, so they do it here too. Exit clears a cheetah's stored command.
// * Its reply has the position before the command, and wraps at the end of the field.
// * FB is a command with the largest gains, except for a Damiao.
// * A cheetah without a command for 25 ms is limp until the next one, without a report.
// * A CubeMars goes on with its last command forever.
// * A Damiao without a frame for its timeout switches off with the error D. In another mode than MIT it
//   ignores all but register frames. It ignores enter for some time after power-on, and has lost what was
//   written.
//
// Everything is real-time safe.
#pragma once

#include <cstdint>

#include "drives/mit/frames.hpp"
#include "drives/mit/setup.hpp"
#include "takt/can/frame.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/joint_fault.hpp"
#include "takt/sim/servo_axis.hpp"

namespace takt::drives::mit {

struct DriveOptions {
  Duration reply_delay{100'000};  ///< from the end of a frame to the reply's entry into the transmit queue
  Duration power_on_delay{100'000'000};  ///< so long after power-on a Damiao ignores enter
};

class Drive {
 public:
  /// setup_of() must accept the joint's settings. Otherwise the drive ignores all frames.
  Drive(std::uint8_t id, const DriveOptions& options, Time start,
        const robot::JointDescription& joint) noexcept;

  /// Whether the node uses this frame.
  [[nodiscard]] bool accepts(const can::Frame& frame) const noexcept {
    return exists_ && !frame.extended &&
           (frame.id == setup_.id || (frame.id == register_id && setup_.vendor == Vendor::damiao));
  }
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
  void attach(sim::PhysicsJoint& physics) noexcept { axis_.attach(physics); }
  void set_load(double torque) noexcept { axis_.set_load(torque); }
  /// The joint's true position, rad, and velocity, rad/s.
  [[nodiscard]] double position() const noexcept { return axis_.plant().position(ticks_.since(now_)); }
  [[nodiscard]] double velocity() const noexcept { return axis_.plant().velocity(); }

  [[nodiscard]] bool enabled() const noexcept { return axis_.on(); }

 private:
  /// A Damiao's registers: until power-off.
  struct Registers {
    std::uint32_t timeout = 0;
    std::uint32_t control_mode = mit_mode;
    std::uint32_t position_range = 0;
    std::uint32_t velocity_range = 0;
    std::uint32_t torque_range = 0;
  };

  [[nodiscard]] Registers stored_registers() const noexcept;
  [[nodiscard]] std::uint32_t* find_register(std::uint8_t number) noexcept;
  void obey(Special special) noexcept;
  void take_register(const RegisterFrame& request) noexcept;
  void answer(const Result<can::Frame>& frame) noexcept;
  void answer_with_state() noexcept;
  void run(Time tick) noexcept;
  void fail(std::uint8_t error) noexcept;
  void notice_faults() noexcept;
  [[nodiscard]] double measured() const noexcept;

  Time reply_due_ = Time::max();
  can::Frame reply_{};
  Setup setup_;
  DriveOptions options_;
  sim::ServoTicks ticks_;
  Time now_;
  Time powered_at_;
  Time fed_at_;  ///< when the latest frame came that its time-out waits for
  sim::ServoAxis axis_;
  double direction_;  ///< of the drive against the joint
  Command command_{};
  Registers registers_{};
  std::uint8_t error_ = 0;
  bool silent_ = false;
  bool exists_;
};

}  // namespace takt::drives::mit
