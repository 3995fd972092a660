// Joints, their states and their limits, shared by all rooms. SI units: rad, rad/s, rad/s^2, rad/s^3, N m for
// rotary joints; m, m/s, m/s^2, m/s^3, N for linear ones. Plain data; real-time safe.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

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

  friend constexpr bool operator==(const BasicJointLimits&, const BasicJointLimits&) = default;
};
using JointLimits = BasicJointLimits<double>;

/// Position, velocity and acceleration, for example of a reference.
template <class Scalar>
struct BasicMotionState {
  Scalar position = 0;
  Scalar velocity = 0;
  Scalar acceleration = 0;

  friend constexpr bool operator==(const BasicMotionState&, const BasicMotionState&) = default;
};
using MotionState = BasicMotionState<double>;

/// The behaviour of a joint after a stop because of a fault, a lost client or a shutdown.
enum class SafeBehaviour : std::uint8_t {
  hold,     ///< stays where it stopped, drive on
  release,  ///< switches the drive off: for joints that are safe without power
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
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  [[nodiscard]] constexpr std::size_t size() const noexcept {
    return static_cast<std::size_t>(std::popcount(bits_));
  }
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

}  // namespace takt
