// The supervisor of a robot. It powers the drives, watches them and the loop, and latches a stop until a
// reset. It owns no motion: the manager obeys its orders, and reports when all joints stand.
//
//     if (const auto stop = supervisor.begin(feedback, missed, references)) stop_all_motion(*stop);
//     if (supervisor.restarts(0)) references[0] = {feedback[0].position, 0, 0};
//     // one period of motion
//     supervisor.settle(is_moving);
//     commands[0].want_power = supervisor.powers(0);
//
// Start. All drives are powered. A joint's reference begins at its measured position, once its drive is ready
// and the joint stands. The robot is ready when that holds for all joints.
//
// Stop. A silent or faulty drive, a following error, a loop that was away for too long, and stop() lead to
// `stopping`. When all joints stand, each is held or released, and the stop is latched. A joint that does not
// obey is powered off. A silent one with JointDescription::keep_commanding stays at its last reference, with
// power. A joint that was pushed off its reference holds its measured position.
//
// A drive that left requests unanswered must come back where it was. An incremental encoder restarts at 0,
// and its joint would then move too far. A joint whose position jumped meanwhile by more than its following
// error, and by more than it needed to stop, stays off. A reset that accepts positions, or the drive's search
// of its home, takes the position as true. Without a following error nothing is checked.
//
// An emergency stop and a protective stop latch alike. A protective stop always ends with the power on. It is
// for guards and for software that must not move the robot now.
//
// Silence counts in cycles, because a paused loop sent its drives nothing. The loop is judged before the
// drives for the same reason. The robot may have any number of joints.
//
// Everything but the constructor is real-time safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "takt/core/joint.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::robot {

/// The state of the whole robot.
enum class RobotState : std::uint8_t {
  starting,  ///< drives are powering up and reporting their positions
  ready,     ///< accepts motion
  stopping,  ///< a bounded stop is under way after a fault, an emergency stop or a shutdown request
  stopped,   ///< latched after a fault or an emergency stop; reset leads back to starting
  down,      ///< shut down: drives off, the loop may end
};

/// The name of a state: "starting", "ready", "stopping", "stopped", "down". Real-time safe.
[[nodiscard]] constexpr std::string_view state_name(RobotState state) noexcept {
  switch (state) {
    case RobotState::starting:
      return "starting";
    case RobotState::ready:
      return "ready";
    case RobotState::stopping:
      return "stopping";
    case RobotState::stopped:
      return "stopped";
    case RobotState::down:
      return "down";
  }
  return "unknown";
}

/// Why a robot stops, or does not become ready.
enum class FaultReason : std::uint8_t {
  loop_overrun,     ///< value and limit: periods in a row without a cycle
  bus_down,         ///< the interface of the joint's bus
  drive_silent,     ///< value and limit: s without an answer
  drive_fault,      ///< value: the drive's own fault word
  drive_off,        ///< without a command
  following_error,  ///< value and limit: rad or m
  position_jumped,  ///< while its drive was away. Value and limit: rad or m
  emergency_stop,   ///< asked for
  protective_stop,  ///< asked for
  shutting_down,    ///< asked for
  power_off,        ///< RobotDescription::power is false: the robot stays in state starting
};

/// A reason with its joint and numbers.
struct RobotFault {
  FaultReason reason{};
  std::size_t joint = 0;
  double value = 0;
  double limit = 0;
};

/// Watches one robot. For one thread, the loop's.
class Supervisor {
 public:
  /// Sizes all memory for the robot. Allocates: call it at set-up.
  explicit Supervisor(const RobotDescription& robot);

  // ---- the cycle

  /// Begins a cycle. `feedback` and `references` have one entry per joint; a reference is that of the cycle
  /// whose answer the feedback is. `missed`: periods in a row without a cycle before this one. Returns why
  /// all motion must come to a bounded stop now, if it must.
  [[nodiscard]] std::optional<RobotFault> begin(std::span<const JointFeedback> feedback, std::uint64_t missed,
                                                std::span<const MotionState> references) noexcept;
  /// Whether the joint's reference is the measured position, at rest, from this cycle on.
  [[nodiscard]] bool restarts(std::size_t joint) const noexcept { return joints_[joint].restarts; }
  /// Whether a joint that restarts stays at its reference instead, because its drive is not heard.
  [[nodiscard]] bool freezes(std::size_t joint) const noexcept { return joints_[joint].freezes; }
  /// Whether one of the joints restarts.
  [[nodiscard]] bool any_restarts() const noexcept { return any_restarts_; }
  /// Latches the stop when no joint is `moving` any more. Call it after the motion of the cycle.
  void settle(bool moving) noexcept;

  // ---- requests, between begin() and settle()

  /// Stops the robot; the caller stops all motion. `power_off` releases all joints once they stand. The first
  /// of several reasons is kept.
  void stop(const RobotFault& fault, bool power_off) noexcept;
  /// Releases all joints at once.
  void power_off() noexcept;
  /// Begins the end of the process: stop(), then off, then RobotState::down. Returns false if it has begun
  /// before.
  [[nodiscard]] bool shut_down() noexcept;

  /// The answer to a reset.
  struct ResetAnswer {
    enum class Result : std::uint8_t {
      done,             ///< the drives are powered again, and faults cleared; also if the robot is ready
      not_stopped,      ///< the robot is still stopping, or is down
      bus_down,         ///< the bus of `joint` is down, so its drive would not get the command
      position_jumped,  ///< the joint's position is not accepted
    };
    Result result{};
    std::size_t joint = 0;
    double value = 0;  ///< position_jumped: rad or m
    double limit = 0;  ///< position_jumped: rad or m
  };
  /// Leaves a latched stop. `accepts_positions`: positions that jumped are right.
  [[nodiscard]] ResetAnswer reset(bool accepts_positions = false) noexcept;

  // ---- the present state

  /// The state after the last call.
  [[nodiscard]] RobotState state() const noexcept { return state_; }
  /// Why the robot stopped or is not ready yet; nothing if there is no reason.
  [[nodiscard]] const std::optional<RobotFault>& fault() const noexcept { return fault_; }
  /// The last feedback of all joints.
  [[nodiscard]] std::span<const JointFeedback> feedback() const noexcept { return feedback_; }
  /// Whether the joint's drive is to be on.
  [[nodiscard]] bool powers(std::size_t joint) const noexcept { return joints_[joint].powered; }
  /// Whether a drive holds the joint at its reference. If not, the reference follows the measured position,
  /// so that switching on causes no jump.
  [[nodiscard]] bool holds(std::size_t joint) const noexcept {
    return joints_[joint].powered && (state_ != RobotState::starting || joints_[joint].settled);
  }
  /// Whether drives clear their faults in this cycle.
  [[nodiscard]] bool clears_faults() const noexcept { return clears_faults_; }

 private:
  [[nodiscard]] double seconds(std::uint64_t cycles) const noexcept;
  [[nodiscard]] std::optional<RobotFault> fault_of(std::size_t joint,
                                                   const MotionState& reference) const noexcept;
  [[nodiscard]] bool keeps(std::size_t joint, const RobotFault& fault) const noexcept;
  void take(std::span<const JointFeedback> feedback, std::uint64_t missed) noexcept;
  void watch_position(std::size_t joint, const JointFeedback& now) noexcept;
  [[nodiscard]] std::optional<RobotFault> watch_loop(std::uint64_t missed) noexcept;
  void watch_start(std::span<const MotionState> references) noexcept;
  [[nodiscard]] std::optional<RobotFault> watch_drives(bool was_ready,
                                                       std::span<const MotionState> references) noexcept;

  struct Joint {
    double max_velocity = 0;     ///< rad/s or m/s
    double deceleration = 0;     ///< rad/s^2 or m/s^2
    double following_error = 0;  ///< rad or m
    SafeBehaviour safe = SafeBehaviour::hold;
    bool keep_commanding = false;
    std::uint64_t answered = 0;  ///< cycle of its drive's latest answer
    double jump = 0;             ///< of its position, not accepted yet; 0: none. rad or m
    double most_jump = 0;        ///< allowed then
    bool powered = true;         ///< its drive is to be on
    bool settled = false;        ///< state starting: its drive was seen ready
    bool restarts = false;       ///< in this cycle
    bool freezes = false;        ///< in this cycle
  };

  Duration period_;
  bool power_;
  std::uint32_t overrun_limit_;
  std::uint32_t silence_limit_;  ///< cycles
  std::vector<Joint> joints_;
  std::vector<JointFeedback> feedback_;

  std::uint64_t cycle_ = 0;
  std::uint64_t pause_ = 0;         ///< periods without a cycle in the loop's last pause
  std::uint64_t paused_until_ = 0;  ///< cycle after that pause
  RobotState state_ = RobotState::starting;
  std::optional<RobotFault> fault_;
  bool powers_off_after_stop_ = false;
  bool goes_down_ = false;  ///< after the stop
  bool clears_faults_ = false;
  bool any_restarts_ = false;
  std::uint64_t waiting_since_ = 0;  ///< cycle in which the robot began to wait for its drives
};

}  // namespace takt::robot
