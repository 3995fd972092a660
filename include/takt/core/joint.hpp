// One way to describe a joint and its limits, used by every room. SI units: rad, rad/s, rad/s^2, rad/s^3, N m
// for rotary joints; m, m/s, m/s^2, m/s^3, N for linear ones. Plain data; real-time safe.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "takt/core/finite_math.hpp"

namespace takt {

/// The most joints that one robot can have: a set of joints is one machine word (JointSet).
inline constexpr std::size_t max_joints = 64;

/// What a joint must never exceed. Velocity, acceleration, jerk and effort are magnitudes: the bound holds
/// both ways. An infinite bound is no bound.
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

/// Position and its first two derivatives: what a reference is made of.
template <class Scalar>
struct BasicMotionState {
  Scalar position = 0;
  Scalar velocity = 0;
  Scalar acceleration = 0;

  friend constexpr bool operator==(const BasicMotionState&, const BasicMotionState&) = default;
};
using MotionState = BasicMotionState<double>;

/// What a joint does when the robot is stopped by a fault, a lost client or a shutdown, after its bounded
/// stop.
enum class SafeBehaviour : std::uint8_t {
  hold,     ///< stays where it stopped, drive on
  release,  ///< the drive is switched off: for joints that are safe without power
};

/// A set of joints by index, as one machine word: ownership and claims are tested and changed in single
/// instructions.
class JointSet {
 public:
  constexpr JointSet() = default;

  /// The joints 0 .. count-1; count beyond max_joints means all.
  [[nodiscard]] static constexpr JointSet first(std::size_t count) noexcept {
    return JointSet(count >= max_joints ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
  }
  [[nodiscard]] static constexpr JointSet from_bits(std::uint64_t bits) noexcept { return JointSet(bits); }

  constexpr void insert(std::size_t joint) noexcept { bits_ |= bit(joint); }
  constexpr void erase(std::size_t joint) noexcept { bits_ &= ~bit(joint); }
  [[nodiscard]] constexpr bool contains(std::size_t joint) const noexcept {
    return (bits_ & bit(joint)) != 0;
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  [[nodiscard]] constexpr std::size_t size() const noexcept {
    return static_cast<std::size_t>(std::popcount(bits_));
  }
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }

  /// Calls visit(joint) for each member, in rising order.
  template <class Visitor>
  constexpr void for_each(Visitor&& visit) const noexcept(noexcept(visit(std::size_t{}))) {
    for (std::uint64_t rest = bits_; rest != 0; rest &= rest - 1) {
      visit(static_cast<std::size_t>(std::countr_zero(rest)));
    }
  }

  /// The member that has `column` smaller ones: the joint of a table's column. 0 where there is none.
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
  /// Joints beyond the last are in no set, so an index from outside can be asked for without a check.
  [[nodiscard]] static constexpr std::uint64_t bit(std::size_t joint) noexcept {
    return joint < max_joints ? std::uint64_t{1} << joint : 0;
  }

  std::uint64_t bits_ = 0;
};

}  // namespace takt
