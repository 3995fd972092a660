// A joint as controllers see it: what was measured, what was commanded last, and what to command now.
//
//     joint.follow({position, velocity, acceleration});   // in each cycle, or only when it changes
//     joint.release();                                    // the manager brings it to rest and holds it
//
// The manager owns the joints (manager.hpp). A controller gets those that it claims (controller.hpp). A
// command stays until the next one. The functions are real-time safe; only the joint's owner commands it, in
// the manager's thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "takt/control/joint_limiter.hpp"
#include "takt/control/joint_stop.hpp"
#include "takt/core/joint.hpp"
#include "takt/robot/hardware.hpp"

namespace takt::robot {

/// The number of no controller.
inline constexpr std::uint16_t nobody = std::numeric_limits<std::uint16_t>::max();

/// The name of a mode: "position", "velocity", "effort"; empty for an unknown number.
[[nodiscard]] constexpr std::string_view to_string(CommandMode mode) noexcept {
  constexpr std::array<std::string_view, 3> names = {"position", "velocity", "effort"};
  const auto index = static_cast<std::size_t>(mode);
  return index < names.size() ? names[index] : std::string_view();
}

/// One joint under a manager.
class Joint {
 public:
  /// `feedback` is the manager's, and outlives the joint.
  Joint(std::string name, std::size_t index, const JointLimits& limits, const JointFeedback& feedback)
      : name_(std::move(name)), index_(index), limits_(limits), feedback_(&feedback) {
    if (const auto limiter = control::JointLimiter::make(limits)) limiter_ = *limiter;
  }

  /// The name in the description.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The index in the description.
  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  /// The limits in the description.
  [[nodiscard]] const JointLimits& limits() const noexcept { return limits_; }
  /// What its drive reported last.
  [[nodiscard]] const JointFeedback& feedback() const noexcept { return *feedback_; }
  /// The reference that was sent last, after all limits. In the modes velocity and effort, its position is
  /// the measured one.
  [[nodiscard]] const MotionState& reference() const noexcept { return reference_; }
  /// The mode in which its owner commands it. CommandMode::position without an owner.
  [[nodiscard]] CommandMode mode() const noexcept { return mode_; }

  /// Commands a position, with velocity and acceleration as feed-forward: in CommandMode::position.
  void follow(const MotionState& motion) noexcept {
    wanted_.motion = motion;
    driven_ = true;
  }
  /// Commands a velocity, rad/s or m/s: in CommandMode::velocity.
  void set_velocity(double velocity) noexcept {
    wanted_.motion.velocity = velocity;
    driven_ = true;
  }
  /// Commands an effort, N m or N. In CommandMode::position it is a feed-forward, for drives that support it.
  void set_effort(double effort) noexcept {
    wanted_.effort = effort;
    driven_ = true;
  }
  /// Gives the joint to the manager, which brings it to rest and holds it until the next command.
  void release() noexcept { driven_ = false; }

  /// Whether its owner commands it.
  [[nodiscard]] bool driven() const noexcept { return driven_; }
  /// Whether the manager brings it to rest.
  [[nodiscard]] bool stopping() const noexcept { return stop_.moving(); }
  /// The number of the controller that owns it; nobody: none.
  [[nodiscard]] std::uint16_t owner() const noexcept { return owner_; }

 private:
  friend class Manager;
  friend class ManagerCycle;

  /// A command as its owner wants it.
  struct Wanted {
    MotionState motion;
    double effort = 0;
  };

  std::string name_;
  std::size_t index_;
  JointLimits limits_;
  const JointFeedback* feedback_;
  std::optional<control::JointLimiter> limiter_;  ///< nothing: the limits are infinite
  control::JointStop stop_;
  MotionState reference_;
  Wanted wanted_;
  double effort_ = 0;                         ///< sent last
  CommandMode mode_ = CommandMode::position;  ///< its owner's
  /// What its drive gets. A joint at rest is held by position, or by velocity if it was driven so: its drive
  /// may know no positions.
  CommandMode sent_mode_ = CommandMode::position;
  std::uint16_t owner_ = nobody;
  std::uint16_t lender_ = nobody;  ///< the controller that lends it to the owner
  bool driven_ = false;
  bool was_driven_ = false;  ///< in the last cycle
  bool trusted_ = false;     ///< its owner keeps the limits by itself
};

}  // namespace takt::robot
