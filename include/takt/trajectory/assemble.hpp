// One trajectory out of motions of single joints that change their polynomials when they like: jerk-limited motions, parts of
// other trajectories, rests. The knots of the trajectory are those of all joints; between two of them each joint has the part of
// its own polynomial, so that nothing about any joint's motion changes.
//
//     std::vector<JointMotion> motions;
//     motions.emplace_back(running.at(0, 0)).append(running, 0, 0, 1.5);   // one joint goes on with something
//     motions.emplace_back(bridge.joint(0).at(0)).append(bridge.joint(0));  // another one does something else
//     Trajectory together = assemble(motions).value();
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

/// One joint's motion in polynomials end to end. What is appended begins where the motion ended before, but for rounding: else
/// assemble() says not_continuous. At set-up only: allocates.
template <class Scalar>
class BasicJointMotion {
 public:
  using State = BasicMotionState<Scalar>;
  using Quintic = BasicQuintic<Scalar>;

  struct Piece {
    Scalar begins;  ///< s from the start of the motion
    Quintic polynomial;
  };

  /// At `start` for no time.
  explicit BasicJointMotion(const State& start) : start_(start), end_(start) {}

  /// Seconds.
  [[nodiscard]] Scalar duration() const noexcept { return duration_; }
  [[nodiscard]] const State& start() const noexcept { return start_; }
  [[nodiscard]] const State& end() const noexcept { return end_; }

  [[nodiscard]] std::span<const Piece> pieces() const noexcept { return pieces_; }

  /// Stands still where it is, at rest. No time or less adds nothing.
  BasicJointMotion& hold(Scalar duration) {
    if (!(duration > 0)) return *this;
    const State rest{end_.position, 0, 0};
    join(rest);
    add(duration_, standing_at(rest.position, duration));
    return end_at(rest, duration_);
  }

  /// Whether everything that was appended began where the motion ended before: to 1e-6 of that, and of 1 SI unit (in float 1e-3).
  [[nodiscard]] bool joins() const noexcept { return joins_; }

  /// Whether it is about a trajectory whose derivatives may step.
  [[nodiscard]] bool may_step() const noexcept { return may_step_; }

  [[nodiscard]] static Quintic standing_at(Scalar position, Scalar duration) noexcept {
    return Quintic({position, 0, 0, 0, 0, 0}, duration);
  }

  /// Goes on with a whole jerk-limited motion.
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

  /// Goes on with what one joint does in a trajectory between two times, as far as that lasts.
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

/// One joint's motion cut at times that rise.
template <class Scalar>
class Cutter {
 public:
  explicit Cutter(const BasicJointMotion<Scalar>& motion) noexcept : motion_(motion) {}

  /// What lies between two times in which the joint changes its polynomial nowhere but near the ends.
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

/// Times that differ by less are the same: rounding, or too short for a segment.
template <class Scalar>
[[nodiscard]] Scalar same_time(Scalar duration) noexcept {
  return std::max(static_cast<Scalar>(min_piece_duration),
                  8 * std::numeric_limits<Scalar>::epsilon() * duration);
}

/// Knots that become one must not be further apart than this (s): in float that bounds the duration.
inline constexpr double longest_merge = 1e-4;

/// When any of the joints changes its polynomial, from 0 to the end of the last.
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

/// The motions of all joints as one trajectory; joint j of it does what motions[j] says. Those that end earlier than others must
/// be at rest then, and stand still. Knots nearer to each other than min_piece_duration, or than rounding, become one: a joint's
/// change of jerk may move by that little, and nothing else. Where nothing moves for any time, the trajectory has no segments. At
/// set-up only: allocates. In float, whose times have seven digits, no motion may last longer than 100 s. Errors: wrong_size (no
/// joints), not_continuous, not_at_rest_at_end, not_finite, out_of_domain.
template <class Scalar>
[[nodiscard]] Result<BasicTrajectory<Scalar>> assemble(std::span<const BasicJointMotion<Scalar>> motions) {
  if (motions.empty()) return fail(Errc::wrong_size);
  return detail::Assembly<Scalar>(motions).run();
}

/// The same motion as a trajectory, which can be checked for its position limits, appended to, and sampled as all others.
/// Allocates. Errors: those of assemble().
template <class Scalar, std::size_t Joints>
[[nodiscard]] Result<BasicTrajectory<Scalar>> to_trajectory(const BasicPointToPoint<Scalar, Joints>& motion) {
  std::vector<BasicJointMotion<Scalar>> motions;
  for (std::size_t j = 0; j < motion.joints(); ++j)
    motions.emplace_back(motion.joint(j).at(0)).append(motion.joint(j));
  return assemble<Scalar>(motions);
}

/// The same motion of some of its joints, in this order. Allocates. Errors: wrong_size (none, or one that it does not have), and
/// those of assemble(), as for a motion at the very edge of the domain.
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

/// The same motion from `from` to `to` seconds, as far as it lasts then; its time starts with 0 there. Allocates. Errors:
/// wrong_size (no joints), not_finite (a NaN), and those of assemble(), as for a motion at the very edge of the domain.
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
