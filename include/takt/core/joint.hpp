// Joints, their states and their limits, shared by all rooms. SI units: rad, rad/s, rad/s^2, rad/s^3, N m for
// rotary joints; m, m/s, m/s^2, m/s^3, N for linear ones. Plain data; real-time safe.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "takt/core/fields.hpp"
#include "takt/core/finite_math.hpp"

namespace takt {

/// The maximum number of joints of one robot, so that a set of joints is one machine word (JointSet).
inline constexpr std::size_t max_joints = 64;

/// Limits that a joint must never exceed. Velocity, acceleration, jerk and effort are magnitudes and hold in
/// both directions. An infinite limit is no limit.
template <class Scalar>
struct BasicJointLimits {
  Scalar position_min = -std::numeric_limits<Scalar>::infinity();
  Scalar position_max = std::numeric_limits<Scalar>::infinity();
  Scalar velocity = std::numeric_limits<Scalar>::infinity();
  Scalar acceleration = std::numeric_limits<Scalar>::infinity();
  Scalar jerk = std::numeric_limits<Scalar>::infinity();
  Scalar effort = std::numeric_limits<Scalar>::infinity();

  TAKT_FIELDS(BasicJointLimits, position_min, position_max, velocity, acceleration, jerk, effort)
  friend constexpr bool operator==(const BasicJointLimits&, const BasicJointLimits&) = default;
};
using JointLimits = BasicJointLimits<double>;

/// Position, velocity and acceleration, for example of a reference.
template <class Scalar>
struct BasicMotionState {
  Scalar position = 0;
  Scalar velocity = 0;
  Scalar acceleration = 0;

  TAKT_FIELDS(BasicMotionState, position, velocity, acceleration)
  friend constexpr bool operator==(const BasicMotionState&, const BasicMotionState&) = default;
};
using MotionState = BasicMotionState<double>;

/// The behaviour of a joint after a stop because of a fault, a lost client or a shutdown.
enum class SafeBehaviour : std::uint8_t {
  hold,     ///< stays where it stopped, drive on
  release,  ///< switches the drive off: for joints that are safe without power
};

/// How a stop ends (IEC 60204-1). A lower category is more urgent. The numbers are part of the C API.
enum class StopCategory : std::uint8_t {
  category_0 = 0,  ///< power is removed at once; a vehicle brakes fully
  category_1 = 1,  ///< bounded stop, then power is removed
  category_2 = 2,  ///< bounded stop, power stays on
};

/// The state that a drive reports.
enum class DriveState : std::uint8_t {
  unknown,  ///< has not answered yet
  off,      ///< answers, power stage off
  ready,    ///< power on and following references
  fault,    ///< the drive or its master has a fault; see JointFeedback::fault
  no_bus,   ///< its bus is down: no frames pass
};

/// Which part of a command a drive follows.
enum class CommandMode : std::uint8_t { position, velocity, effort };

/// The next command of one joint. After a change of mode the drive keeps its last command until
/// robot::JointFeedback::mode shows the new mode. If that takes longer than the drive may be silent, its
/// velocity and effort commands become 0 until then. Hence start a new mode from the measured position and
/// velocity. Drives without the mode stay in their present one, and follow its last command.
struct JointCommand {
  double position = 0;  ///< rad or m
  double velocity = 0;  ///< rad/s or m/s; in CommandMode::position a feed-forward, for drives that support it
  double acceleration = 0;   ///< rad/s^2 or m/s^2: a feed-forward, for drives that support it
  bool want_power = false;   ///< true: switch the drive on, by the hardware's sequence; false: off, at once
  bool clear_fault = false;  ///< asks a faulty drive to clear its fault; set for one cycle
  CommandMode mode = CommandMode::position;
  double effort = 0;  ///< N m or N
};

/// A set of joints by index in one machine word, so that single instructions test and change ownership and
/// claims. Real-time safe.
class JointSet {
 public:
  constexpr JointSet() = default;

  /// The joints 0 .. count-1. A count above max_joints means all joints.
  [[nodiscard]] static constexpr JointSet first(std::size_t count) noexcept {
    return JointSet(count >= max_joints ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
  }
  /// The inverse of bits(): bit j stands for joint j.
  [[nodiscard]] static constexpr JointSet from_bits(std::uint64_t bits) noexcept { return JointSet(bits); }

  /// An index >= max_joints is ignored, here and in erase().
  constexpr void insert(std::size_t joint) noexcept { bits_ |= bit(joint); }
  constexpr void erase(std::size_t joint) noexcept { bits_ &= ~bit(joint); }
  /// False for an index >= max_joints.
  [[nodiscard]] constexpr bool contains(std::size_t joint) const noexcept {
    return (bits_ & bit(joint)) != 0;
  }
  /// Returns whether the set has no member.
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  /// Returns the number of members.
  [[nodiscard]] constexpr std::size_t size() const noexcept {
    return static_cast<std::size_t>(std::popcount(bits_));
  }
  /// Returns the set as a bit mask: bit n is joint n.
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }

  /// Calls visit(joint) for each member in increasing order.
  template <class Visitor>
  constexpr void for_each(Visitor&& visit) const noexcept(noexcept(visit(std::size_t{}))) {
    for (std::uint64_t rest = bits_; rest != 0; rest &= rest - 1) {
      visit(static_cast<std::size_t>(std::countr_zero(rest)));
    }
  }

  /// The member with `column` smaller members: the joint of a table's column. 0 if there is none.
  [[nodiscard]] constexpr std::size_t at(std::size_t column) const noexcept {
    std::size_t found = 0;
    for_each([&](std::size_t joint) noexcept {
      if (column-- == 0) found = joint;
    });
    return found;
  }

  friend constexpr JointSet operator|(JointSet a, JointSet b) noexcept { return JointSet(a.bits_ | b.bits_); }
  friend constexpr JointSet operator&(JointSet a, JointSet b) noexcept { return JointSet(a.bits_ & b.bits_); }
  friend constexpr JointSet operator-(JointSet a, JointSet b) noexcept {
    return JointSet(a.bits_ & ~b.bits_);
  }
  friend constexpr bool operator==(JointSet, JointSet) = default;

 private:
  explicit constexpr JointSet(std::uint64_t bits) noexcept : bits_(bits) {}
  /// Joints >= max_joints are in no set, so an index from outside needs no check.
  [[nodiscard]] static constexpr std::uint64_t bit(std::size_t joint) noexcept {
    return joint < max_joints ? std::uint64_t{1} << joint : 0;
  }

  std::uint64_t bits_ = 0;
};

/// In memory, a JointSet is its bits (core/fields.hpp).
template <>
struct NumberOf<JointSet> {
  using Type = std::uint64_t;
};

}  // namespace takt
