// Joints without a drive, which move as others do: mimic joints, and any linear coupling
//
//   follower positions = A * joint positions + offsets,    follower velocities = A * joint velocities,
//   joint efforts = A^T * follower efforts.
//
// A is sparse: each follower has its own few terms. Power is the same on both sides.
//
//     auto coupling = robot::JointCoupling::create(description);  // the mimic joints of a robot
//     coupling->positions(joints, followers);                     // in the cycle: no heap, no lock
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "takt/control/error.hpp"
#include "takt/core/error.hpp"
#include "takt/core/finite_math.hpp"
#include "takt/robot/description.hpp"
#include "takt/robot/error.hpp"

namespace takt::robot {

/// The followers of a robot's joints. Set-up allocates; positions(), rates() and add_efforts() are real-time
/// safe and take a multiplication for each term. If a span is shorter than required, they change nothing.
class JointCoupling {
 public:
  /// One term of a follower: its own motion for each rad (or m) of a joint.
  struct Term {
    std::size_t joint = 0;
    double factor = 1;
  };

  /// A coupling of this many joints, without followers.
  explicit JointCoupling(std::size_t joints) noexcept : joints_(joints) {}

  /// The mimic joints of a description, in the order of RobotDescription::mimics. Errors: those of add().
  [[nodiscard]] static Result<JointCoupling> create(const RobotDescription& robot) {
    JointCoupling coupling(robot.joints.size());
    for (const MimicDescription& mimic : robot.mimics) {
      const Term term{mimic.joint, mimic.multiplier};
      if (const auto added = coupling.add(std::span(&term, 1), mimic.offset); !added)
        return tl::unexpected(added.error());
    }
    return coupling;
  }

  /// Adds a follower with its position at joint positions 0, rad or m. Errors: no_such_joint;
  /// control::Errc::not_finite. After an error nothing has changed. Allocates.
  [[nodiscard]] Result<void> add(std::span<const Term> terms, double offset = 0) {
    if (!std::isfinite(offset)) return fail(control::Errc::not_finite);
    for (const Term& term : terms) {
      if (term.joint >= joints_) return fail(Errc::no_such_joint);
      if (!std::isfinite(term.factor)) return fail(control::Errc::not_finite);
    }
    for (const Term& term : terms) terms_.push_back({offsets_.size(), term});
    offsets_.push_back(offset);
    return {};
  }

  /// The number of joints that the followers follow.
  [[nodiscard]] std::size_t joints() const noexcept { return joints_; }
  /// The number of followers.
  [[nodiscard]] std::size_t followers() const noexcept { return offsets_.size(); }

  /// Computes the positions of the followers, rad or m, from those of the joints.
  void positions(std::span<const double> joints, std::span<double> followers) const noexcept {
    if (!fits(joints, followers)) return;
    for (std::size_t i = 0; i < offsets_.size(); ++i) followers[i] = offsets_[i];
    add_motion(joints, followers);
  }
  /// The same for velocities, accelerations and jerks.
  void rates(std::span<const double> joints, std::span<double> followers) const noexcept {
    if (!fits(joints, followers)) return;
    for (std::size_t i = 0; i < offsets_.size(); ++i) followers[i] = 0;
    add_motion(joints, followers);
  }
  /// Adds the efforts that act on the followers, N m or N, to the efforts of the joints that move them.
  void add_efforts(std::span<const double> followers, std::span<double> joints) const noexcept {
    if (!fits(joints, followers)) return;
    for (const Placed& placed : terms_)
      joints[placed.term.joint] += placed.term.factor * followers[placed.follower];
  }

 private:
  struct Placed {
    std::size_t follower = 0;
    Term term;
  };

  [[nodiscard]] bool fits(std::span<const double> joints, std::span<const double> followers) const noexcept {
    return joints.size() >= joints_ && followers.size() >= offsets_.size();
  }
  void add_motion(std::span<const double> joints, std::span<double> followers) const noexcept {
    for (const Placed& placed : terms_)
      followers[placed.follower] += placed.term.factor * joints[placed.term.joint];
  }

  std::size_t joints_;
  std::vector<double> offsets_;  ///< one for each follower
  std::vector<Placed> terms_;
};

}  // namespace takt::robot
