// Makes one trajectory from one motion per joint. The joints may change their polynomials at different times:
// jerk-limited motions, parts of other trajectories, rests. The trajectory has a knot wherever a joint
// changes its polynomial. Between two knots each joint keeps its own polynomial, so its motion does not
// change.
//
//     std::vector<JointMotion> motions;
//     motions.emplace_back(running.at(0, 0)).append(running, 0, 0, 1.5);    // part of a trajectory
//     motions.emplace_back(bridge.joint(0).at(0)).append(bridge.joint(0));  // a jerk-limited move
//     Trajectory together = assemble<double>(motions).value();
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/jerk_profile.hpp"
#include "takt/trajectory/point_to_point.hpp"
#include "takt/trajectory/quintic.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::trajectory {

/// The motion of one joint as polynomials end to end. Each appended part must begin at end(), up to rounding;
/// otherwise assemble() fails with not_continuous. For set-up only: it allocates.
template <class Scalar>
class BasicJointMotion {
 public:
  using State = BasicMotionState<Scalar>;
  using Quintic = BasicQuintic<Scalar>;

  /// A polynomial and the time at which it begins.
  struct Piece {
    Scalar begins;  ///< s from the start of the motion
    Quintic polynomial;
  };

  /// A motion of zero duration at `start`. Positions are in rad or m, time is in s.
  explicit BasicJointMotion(const State& start) : start_(start), end_(start) {}

  /// In seconds.
  [[nodiscard]] Scalar duration() const noexcept { return duration_; }
  [[nodiscard]] const State& start() const noexcept { return start_; }
  [[nodiscard]] const State& end() const noexcept { return end_; }

  /// The polynomials in order of time.
  [[nodiscard]] std::span<const Piece> pieces() const noexcept { return pieces_; }

  /// Stays at the end position, at rest, for `duration` seconds. A duration <= 0 adds nothing.
  BasicJointMotion& hold(Scalar duration) {
    if (!(duration > 0)) return *this;
    const State rest{end_.position, 0, 0};
    join(rest);
    add(duration_, standing_at(rest.position, duration));
    return end_at(rest, duration_);
  }

  /// Whether each part began where the motion ended before. The tolerance is 1e-6 of the value plus 1e-6 SI
  /// units (float: 1e-3).
  [[nodiscard]] bool joins() const noexcept { return joins_; }

  /// Whether a part came from a trajectory whose derivatives may step.
  [[nodiscard]] bool may_step() const noexcept { return may_step_; }

  /// The constant polynomial of a joint that rests at `position` for `duration` seconds.
  [[nodiscard]] static Quintic standing_at(Scalar position, Scalar duration) noexcept {
    return Quintic({position, 0, 0, 0, 0, 0}, duration);
  }

  /// Appends a whole jerk-limited motion.
  BasicJointMotion& append(const BasicJerkProfile<Scalar>& motion) {
    const Scalar begin = duration_;
    join(motion.at(0));
    for (std::size_t k = 0; k < motion.phases(); ++k) {
      const Scalar t = motion.begins(k + 1) - motion.begins(k);
      if (!(t > 0)) continue;
      const State from = motion.at(motion.begins(k));
      const Scalar squared = t * t;
      add(begin + motion.begins(k),
          Quintic({from.position, t * from.velocity, squared * from.acceleration / 2,
                   squared * t * motion.jerk(k) / 6, 0, 0},
                  t));
    }
    return end_at(motion.end(), begin + motion.duration());
  }

  /// Appends the motion of `joint` in `source` from time `from` to time `to` (s). Both are clamped to the
  /// duration of `source`.
  BasicJointMotion& append(const BasicTrajectory<Scalar>& source, std::size_t joint, Scalar from,
                           Scalar to = std::numeric_limits<Scalar>::infinity()) {
    from = std::max(from, Scalar(0));
    to = std::min(to, source.duration());
    if (!(from < to)) return *this;
    const Scalar begin = duration_;
    join(source.at(from, joint));
    may_step_ = may_step_ || source.may_step();
    for (std::size_t k = 0; k < source.segments(); ++k) {
      const Scalar knot = source.knot_time(k);
      const Scalar first = std::max(knot, from);
      const Scalar last = std::min(source.knot_time(k + 1), to);
      if (first < last) add(begin + (first - from), source.piece(k, joint).part(first - knot, last - first));
    }
    return end_at(source.at(to, joint), begin + (to - from));
  }

 private:
  void join(const State& next) noexcept {
    constexpr Scalar part = std::max(Scalar(1e-6), 8192 * std::numeric_limits<Scalar>::epsilon());
    const auto near = [](Scalar a, Scalar b) { return std::abs(a - b) <= part * (1 + std::abs(a)); };
    joins_ = joins_ && near(end_.position, next.position) && near(end_.velocity, next.velocity) &&
             near(end_.acceleration, next.acceleration);
  }

  void add(Scalar begins, const Quintic& polynomial) {
    pieces_.push_back({begins, polynomial});
    duration_ = begins + polynomial.duration();
  }

  BasicJointMotion& end_at(const State& end, Scalar duration) {
    end_ = end;
    duration_ = duration;
    return *this;
  }

  State start_;
  State end_;
  Scalar duration_ = 0;
  bool joins_ = true;
  bool may_step_ = false;
  std::vector<Piece> pieces_;
};
using JointMotion = BasicJointMotion<double>;

namespace detail {

/// Cuts one joint's motion at increasing times.
template <class Scalar>
class Cutter {
 public:
  explicit Cutter(const BasicJointMotion<Scalar>& motion) noexcept : motion_(motion) {}

  /// The polynomial between two times. The joint may change its polynomial only near these times.
  [[nodiscard]] BasicQuintic<Scalar> cut(Scalar from, Scalar to) noexcept {
    const auto pieces = motion_.pieces();
    const Scalar middle = from + (to - from) / 2;
    if (middle >= motion_.duration())
      return BasicJointMotion<Scalar>::standing_at(motion_.end().position, to - from);
    while (next_ < pieces.size() && pieces[next_].begins <= middle) ++next_;
    const auto& piece = pieces[next_ - 1];
    return piece.polynomial.part(from - piece.begins, to - from);
  }

 private:
  const BasicJointMotion<Scalar>& motion_;
  std::size_t next_ = 1;
};

template <class Scalar>
[[nodiscard]] bool at_rest(const BasicMotionState<Scalar>& state) noexcept {
  return state.velocity == 0 && state.acceleration == 0;
}

/// Two times that differ by less than this count as equal: the difference is rounding, or too short for a
/// segment.
template <class Scalar>
[[nodiscard]] Scalar same_time(Scalar duration) noexcept {
  return std::max(static_cast<Scalar>(min_piece_duration),
                  8 * std::numeric_limits<Scalar>::epsilon() * duration);
}

/// Two knots further apart than this (s) must not be merged. In float this limits the duration.
inline constexpr double longest_merge = 1e-4;

/// The times at which any joint changes its polynomial, from 0 to the end of the longest motion.
template <class Scalar>
[[nodiscard]] std::vector<Scalar> common_knots(std::span<const BasicJointMotion<Scalar>> motions) {
  std::vector<Scalar> times;
  for (const auto& motion : motions) {
    for (const auto& piece : motion.pieces()) times.push_back(piece.begins);
    times.push_back(motion.duration());
  }
  std::sort(times.begin(), times.end());
  const Scalar end = times.back();
  const Scalar least = same_time(end);
  std::vector<Scalar> knots{0};
  for (const Scalar time : times) {
    if (time - knots.back() > least && end - time > least) knots.push_back(time);
  }
  if (end - knots.back() > least) knots.push_back(end);
  return knots;
}

template <class Scalar>
class Assembly {
 public:
  using State = BasicMotionState<Scalar>;

  explicit Assembly(std::span<const BasicJointMotion<Scalar>> motions)
      : motions_(motions), knots_(common_knots(motions)) {}

  [[nodiscard]] Result<BasicTrajectory<Scalar>> run() const {
    for (const auto& motion : motions_) {
      if (Status status = check(motion); !status) return fail(status.error());
    }
    if (same_time(knots_.back()) > static_cast<Scalar>(longest_merge)) return fail(Errc::out_of_domain);
    std::vector<State> states;
    std::vector<Cutter<Scalar>> cutters;
    for (const auto& motion : motions_) {
      states.push_back(motion.start());
      cutters.emplace_back(motion);
    }
    BasicTrajectory<Scalar> trajectory(states);
    trajectory.reserve(knots_.size() - 1);
    for (const auto& motion : motions_) trajectory.may_step_ = trajectory.may_step_ || motion.may_step();
    std::vector<BasicQuintic<Scalar>> pieces(motions_.size());
    for (std::size_t k = 1; k < knots_.size(); ++k) {
      for (std::size_t j = 0; j < motions_.size(); ++j) {
        pieces[j] = cutters[j].cut(knots_[k - 1], knots_[k]);
        states[j] = k + 1 < knots_.size() ? pieces[j].at(pieces[j].duration()) : motions_[j].end();
      }
      if (Status status = trajectory.check_pieces(pieces, states, min_piece_duration); !status)
        return fail(status.error());
      trajectory.append_unchecked(states, pieces.front().duration(),
                                  [&](std::size_t j) { return pieces[j]; });
    }
    return trajectory;
  }

 private:
  [[nodiscard]] Status check(const BasicJointMotion<Scalar>& motion) const noexcept {
    for (const State& state : {motion.start(), motion.end()}) {
      if (Status status = check_state(state); !status) return status;
    }
    if (!motion.joins()) return fail(Errc::not_continuous);
    if (!std::isfinite(motion.duration())) return fail(Errc::not_finite);
    const bool ends_early = knots_.back() - motion.duration() > same_time(knots_.back());
    if (ends_early && !at_rest(motion.end())) return fail(Errc::not_at_rest_at_end);
    return {};
  }

  std::span<const BasicJointMotion<Scalar>> motions_;
  std::vector<Scalar> knots_;
};

}  // namespace detail

/// Makes one trajectory in which joint j makes the motion motions[j]. A joint whose motion ends earlier must
/// end at rest, and stays there. Knots closer than min_piece_duration, or closer than rounding, become one.
/// This shifts a joint's change of jerk by at most that time and changes nothing else. Motions of zero
/// duration give a trajectory without segments. In float a motion may last at most 100 s, because a float
/// time has seven digits. Errors: wrong_size (no joints), not_continuous, not_at_rest_at_end, not_finite,
/// out_of_domain. For set-up only: it allocates.
template <class Scalar>
[[nodiscard]] Result<BasicTrajectory<Scalar>> assemble(std::span<const BasicJointMotion<Scalar>> motions) {
  if (motions.empty()) return fail(Errc::wrong_size);
  return detail::Assembly<Scalar>(motions).run();
}

/// Converts the motion into a trajectory, which can be checked against position limits, extended and sampled
/// like any other. Errors: those of assemble(). Allocates.
template <class Scalar, std::size_t Joints>
[[nodiscard]] Result<BasicTrajectory<Scalar>> to_trajectory(const BasicPointToPoint<Scalar, Joints>& motion) {
  std::vector<BasicJointMotion<Scalar>> motions;
  for (std::size_t j = 0; j < motion.joints(); ++j)
    motions.emplace_back(motion.joint(j).at(0)).append(motion.joint(j));
  return assemble<Scalar>(motions);
}

/// The motion of the given joints, in the given order. Errors: wrong_size (no joint, or a joint number that
/// does not exist), and those of assemble() for a motion at the edge of the domain. Allocates.
template <class Scalar>
[[nodiscard]] Result<BasicTrajectory<Scalar>> select(const BasicTrajectory<Scalar>& trajectory,
                                                     std::span<const std::size_t> joints) {
  std::vector<BasicJointMotion<Scalar>> motions;
  for (const std::size_t joint : joints) {
    if (joint >= trajectory.joints()) return fail(Errc::wrong_size);
    motions.emplace_back(trajectory.at(0, joint)).append(trajectory, joint, 0);
  }
  return assemble<Scalar>(motions);
}

/// The motion from time `from` to time `to` (s), clamped to its duration. The time of the result starts at 0.
/// Errors: wrong_size (no joints), not_finite (a NaN), and those of assemble() for a motion at the edge of
/// the domain. Allocates.
template <class Scalar>
[[nodiscard]] Result<BasicTrajectory<Scalar>> part(const BasicTrajectory<Scalar>& trajectory, Scalar from,
                                                   Scalar to = std::numeric_limits<Scalar>::infinity()) {
  if (std::isnan(from) || std::isnan(to)) return fail(Errc::not_finite);
  std::vector<BasicJointMotion<Scalar>> motions;
  for (std::size_t j = 0; j < trajectory.joints(); ++j)
    motions.emplace_back(trajectory.at(from, j)).append(trajectory, j, from, to);
  return assemble<Scalar>(motions);
}

}  // namespace takt::trajectory
