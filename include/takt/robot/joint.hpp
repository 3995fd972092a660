// A joint as controllers see it: what was measured, what was commanded last, and what to command now.
//
//     joint.follow({position, velocity, acceleration});   // in each cycle, or only when it changes
//     joint.release();                                    // the manager brings it to rest and holds it
//
// The manager owns the joints (manager.hpp). A controller gets those that it claims (controller.hpp). A
// command stays until the next one, or until its owner ends, its drive loses its power or gets another mode.
// The functions are real-time safe, in the manager's thread. The commands of others than the joint's owner
// are dropped.
#pragma once

#include <array>
#include <cmath>
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
#include "takt/robot/interfaces.hpp"
#include "takt/trajectory/domain.hpp"

namespace takt::robot {

/// The number of no controller.
inline constexpr std::uint16_t nobody = std::numeric_limits<std::uint16_t>::max();

/// The name of a mode: "position", "velocity", "effort"; empty for an unknown number.
[[nodiscard]] constexpr std::string_view to_string(CommandMode mode) noexcept {
  constexpr std::array<std::string_view, 3> names = {"position", "velocity", "effort"};
  const auto index = static_cast<std::size_t>(mode);
  return index < names.size() ? names[index] : std::string_view();
}

/// Whether a claim excludes other controllers.
enum class ClaimKind : std::uint8_t {
  exclusive,  ///< no other controller commands it while this one is active
  /// A controller with an exclusive claim may borrow the joint; it comes back afterwards. The oldest of
  /// several lending ones owns it. A stop of the robot changes no ages.
  lending,
};

class Controller;
class Joint;

/// The manager's knowledge of a joint. Only its cycle changes it.
struct JointRecord {
  /// A command as its owners want it.
  struct Wanted {
    MotionState motion;
    double effort = 0;
  };

  /// A pause of the loop in which the joint was moving.
  struct Pause {
    double position = 0;  ///< that its drive followed a period after the last reference
    double velocity = 0;  ///< of that reference
    double lag = 0;       ///< of the joint behind what its drive followed, before the pause
    Duration time{};      ///< from then to the arrival of the reference that the next feedback answers
    Time heard{};         ///< the stamp of the last feedback
  };

  /// `feedback` is the manager's, and outlives the joint.
  JointRecord(std::string of, std::size_t at, const JointLimits& within, const JointFeedback& seen)
      : name(std::move(of)), index(at), limits(within), feedback(&seen) {
    if (const auto made = control::JointLimiter::make(limits)) limiter = *made;
  }

  std::string name;
  std::size_t index;
  JointLimits limits;
  const JointFeedback* feedback;
  std::optional<control::JointLimiter> limiter;  ///< nothing: the limits are infinite
  control::JointStop stop;
  MotionState reference;  ///< sent last
  Wanted wanted;
  double effort = 0;                           ///< sent last
  CommandMode mode = CommandMode::position;    ///< its owners'
  CommandMode device = CommandMode::position;  ///< the mode that its device was asked for last
  /// What its drive gets. A joint at rest is held by position, or by velocity if it was driven so: its drive
  /// may know no positions.
  CommandMode sent_mode = CommandMode::position;
  Joint* claims = nullptr;          ///< those of active controllers, the newest first
  std::uint16_t owner = nobody;     ///< the newest of its owners
  std::uint64_t changes_until = 0;  ///< cycle; 0: its device does not change the mode for its owners
  std::uint64_t prepared_at = 0;    ///< the last cycle in which it changed the mode for some that start
  std::uint64_t heir = 0;           ///< scratch of a start: which lender will own it, by its age
  std::uint8_t plan = 0;            ///< scratch: the parts that a start claims
  bool is_changing = false;  ///< its device has not finished the last change of mode that it was asked for
  bool driven = false;
  bool was_driven = false;  ///< in the last cycle
  bool trusted = false;     ///< its owners keep the limits by themselves
  bool waits = false;       ///< its drive has not yet answered since a pause of the loop
  bool catches_up = false;  ///< the manager leads it to its command after a pause
  Pause pause;
};

/// One joint under a manager, as a controller claims it, or for everybody to read.
class Joint {
 public:
  /// For a manager: for all to read, or as a controller claims it.
  explicit Joint(JointRecord& record) noexcept : record_(&record) {}
  Joint(JointRecord& record, Controller& controller, bool& refused) noexcept
      : record_(&record), controller_(&controller), gate_{.refused = &refused} {}

  /// The name in the description.
  [[nodiscard]] const std::string& name() const noexcept { return record_->name; }
  /// The index in the description.
  [[nodiscard]] std::size_t index() const noexcept { return record_->index; }
  /// The limits in the description.
  [[nodiscard]] const JointLimits& limits() const noexcept { return record_->limits; }
  /// What its drive reported last.
  [[nodiscard]] const JointFeedback& feedback() const noexcept { return *record_->feedback; }
  /// The reference that was sent last, after all limits. In the modes velocity and effort, its position is
  /// the measured one.
  [[nodiscard]] const MotionState& reference() const noexcept { return record_->reference; }
  /// The mode in which its owner commands it. CommandMode::position without an owner.
  [[nodiscard]] CommandMode mode() const noexcept { return record_->mode; }

  // A command counts while the controller owns the joint: while it is active and has not lent it. NaN,
  // infinities and motions beyond trajectory::max_magnitude are rejected, and end the controller in this
  // cycle.

  /// Commands a position, with velocity and acceleration as feed-forward: in CommandMode::position.
  void follow(const MotionState& motion) noexcept {
    if (!gate_.admits(trajectory::is_in_domain(motion))) return;
    record_->wanted.motion = motion;
    record_->driven = true;
  }
  /// Commands a velocity, rad/s or m/s: in CommandMode::velocity.
  void set_velocity(double velocity) noexcept {
    if (!gate_.admits(std::abs(velocity) <= trajectory::max_magnitude)) return;
    record_->wanted.motion.velocity = velocity;
    record_->driven = true;
  }
  /// Commands an effort, N m or N. In CommandMode::position it is a feed-forward, for drives that support it.
  void set_effort(double effort) noexcept {
    if (!gate_.admits(std::isfinite(effort))) return;
    record_->wanted.effort = effort;
    record_->driven = true;
  }
  /// Gives the joint to the manager, which brings it to rest and holds it until the next command.
  void release() noexcept {
    if (gate_.open) record_->driven = false;
  }

  /// Whether its owner commands it.
  [[nodiscard]] bool driven() const noexcept { return record_->driven; }
  /// Whether the manager brings it to rest.
  [[nodiscard]] bool stopping() const noexcept { return record_->stop.moving(); }
  /// Whether its drive goes on by itself since a pause of the loop, and has not yet answered where it is.
  /// Until then commands have no effect, and reference() is what the drive follows.
  [[nodiscard]] bool waits() const noexcept { return record_->waits; }
  /// Whether the manager still leads it to its command after a pause of the loop, within the limits.
  [[nodiscard]] bool catches_up() const noexcept { return record_->catches_up; }
  /// The number of the controller that owns it; nobody: none.
  [[nodiscard]] std::uint16_t owner() const noexcept { return record_->owner; }

 private:
  friend class Manager;
  friend class Resources;

  /// The parts of a command that the controller claims, one bit each: position, velocity, effort,
  /// acceleration.
  static constexpr std::uint8_t acceleration_part = 8;
  [[nodiscard]] static constexpr std::uint8_t part_of(CommandMode mode) noexcept {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(mode));
  }
  /// The mode of a joint with these parts: the lowest one. The others are its feed-forward.
  [[nodiscard]] static constexpr CommandMode mode_of(unsigned parts) noexcept {
    if ((parts & part_of(CommandMode::position)) != 0) return CommandMode::position;
    if ((parts & part_of(CommandMode::velocity)) != 0) return CommandMode::velocity;
    return (parts & part_of(CommandMode::effort)) != 0 ? CommandMode::effort : CommandMode::position;
  }

  JointRecord* record_;
  Controller* controller_ = nullptr;
  Joint* next_ = nullptr;  ///< in JointRecord::claims
  CommandGate gate_;
  std::uint16_t number_ = nobody;  ///< the controller's
  std::uint8_t parts_ = 0;
  ClaimKind kind_ = ClaimKind::lending;
  bool lent_ = false;
};

}  // namespace takt::robot
