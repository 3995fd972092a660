// A motion of many joints through many waypoints: quintic segments end to end, stored as structure of arrays.
// One sample of all joints reads memory in one pass. Make it at set-up (through.hpp, or append() by hand) and
// sample it in the loop. A trajectory of fixed size has no heap and can also be made in the loop
// (fixed_trajectory.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/columns.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/kernels.hpp"
#include "takt/trajectory/quintic.hpp"
#include "takt/trajectory/waypoints.hpp"

namespace takt::trajectory {

/// The place of the last sample. The next sample is usually in the same segment or the next one.
struct Cursor {
  std::size_t segment = 0;
};

/// Which quantities of appended pieces must be continuous with the motion before them.
enum class Continuity : std::uint8_t {
  acceleration,  ///< position, velocity and acceleration
  /// only position: derivatives may step, as between straight lines; find_violation() reports where
  position,
};

namespace detail {

/// The farthest that a piece can be from its start: none of its Bezier control points is farther.
template <class Scalar>
[[nodiscard]] Scalar distance_of(const BasicQuintic<Scalar>& piece) noexcept {
  const Polynomial<Scalar, 6>& c = piece.coefficients();
  const std::array<Scalar, 5> points = {c[1] / 5,                                  //
                                        2 * c[1] / 5 + c[2] / 10,                  //
                                        3 * c[1] / 5 + 3 * c[2] / 10 + c[3] / 10,  //
                                        4 * c[1] / 5 + 6 * c[2] / 10 + 4 * c[3] / 10 + c[4] / 5,
                                        c[1] + c[2] + c[3] + c[4] + c[5]};
  Scalar distance = 0;
  for (const Scalar point : points) distance = std::max(distance, std::abs(point));
  return distance;
}

/// The difference of two states that counts as none: 1e-9 (float: 3e-5) of the distance, and of the speeds
/// and accelerations that follow. To this comes the rounding of the terms, which may cancel each other.
template <class Scalar>
[[nodiscard]] BasicMotionState<Scalar> rounding_of(const BasicQuintic<Scalar>& piece) noexcept {
  constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
  constexpr Scalar part = std::max(static_cast<Scalar>(1e-9), 256 * epsilon);
  const Polynomial<Scalar, 6>& c = piece.coefficients();
  BasicMotionState<Scalar> terms;  // of the polynomial and of its derivatives
  for (std::size_t k = 1; k < c.size(); ++k) {
    const Scalar term = std::abs(c[k]);
    terms.position += term;
    terms.velocity += static_cast<Scalar>(k) * term;
    terms.acceleration += static_cast<Scalar>(k * (k - 1)) * term;
  }
  const Scalar least = part * distance_of(piece) + 128 * epsilon * std::abs(c[0]);
  const auto with = [&](Scalar term) { return least + 16 * epsilon * term; };
  const Scalar rate = 1 / piece.duration();
  return {with(terms.position), with(terms.velocity) * rate, with(terms.acceleration) * rate * rate};
}

template <class Scalar>
[[nodiscard]] BasicMotionState<Scalar> larger_of(const BasicMotionState<Scalar>& a,
                                                 const BasicMotionState<Scalar>& b) noexcept {
  return {std::max(a.position, b.position), std::max(a.velocity, b.velocity),
          std::max(a.acceleration, b.acceleration)};
}

/// Builds trajectories whose pieces join by construction (assemble.hpp).
template <class Scalar>
class Assembly;

}  // namespace detail

template <class Scalar>
class BasicStoredTrajectory;

/// Copyable and movable. Times are seconds from the trajectory's start. With bounds on joints and segments
/// (both or neither) it is a value without heap, and every function is real-time safe. Without bounds, copies
/// and the functions that say so allocate.
template <class Scalar, std::size_t MaxJoints = std::dynamic_extent,
          std::size_t MaxSegments = std::dynamic_extent>
class BasicTrajectory {
  static constexpr bool is_fixed = MaxJoints != std::dynamic_extent;
  static_assert(is_fixed == (MaxSegments != std::dynamic_extent),
                "bound both joints and segments, or neither");
  static_assert(MaxJoints > 0 && MaxSegments > 0);

 public:
  using State = BasicMotionState<Scalar>;
  using Cursor = trajectory::Cursor;

  /// No joints, no segments.
  BasicTrajectory() = default;

  /// At `start`, one state per joint, without segments. Allocates. append() checks these states.
  explicit BasicTrajectory(std::span<const State> start) requires(!is_fixed) { stand_at(start); }

  /// Discards the motion and starts at `start`, one state per joint, without segments. Allocates only if the
  /// memory from before is too small. Errors: wrong_size (no joints), too_many_joints, not_finite,
  /// out_of_domain. After an error the trajectory is unchanged.
  [[nodiscard]] Status restart(std::span<const State> start) noexcept(is_fixed) {
    if (start.empty()) return fail(Errc::wrong_size);
    if (Status status = check_room(start.size(), 0); !status) return status;
    for (const State& state : start) {
      if (Status status = check_state(state); !status) return status;
    }
    stand_at(start);
    return {};
  }

  /// Allocates memory, so that this many append() calls do not allocate.
  void reserve(std::size_t segments) requires(!is_fixed) {
    knots_.reserve(segments + 1);
    rates_.reserve(segments);
    coefficients_.reserve(6 * stride_ * segments);
  }

  /// Continues from the present end to the states `end` in `duration` seconds. Errors: wrong_size,
  /// too_many_segments, not_finite, out_of_domain (domain.hpp). After an error the trajectory is unchanged.
  /// Allocates unless reserve() did.
  [[nodiscard]] Status append(std::span<const State> end, Scalar duration) noexcept(is_fixed) {
    if (Status status = check_append(end, duration); !status) return status;
    if (segments() == 0) {  // the start is checked here first
      for (std::size_t j = 0; j < joints_; ++j) {
        if (Status status = check_state(end_state(j)); !status) return status;
      }
    }
    append_unchecked(end, duration, [&](std::size_t j) {
      return BasicQuintic<Scalar>::between(end_state(j), end[j], duration);
    });
    return {};
  }

  /// Continues with one polynomial per joint, all of one duration, from the present end to the states `end`.
  /// The pieces must fit to 1e-9 (float: 3e-5) of the distance, speed and acceleration of this piece or the
  /// one before it. The first pieces must begin with the position, velocity and acceleration of the start for
  /// any `continuity`. Errors: not_continuous, and those of append() above. Allocates as that does.
  [[nodiscard]] Status append(std::span<const BasicQuintic<Scalar>> pieces, std::span<const State> end,
                              Continuity continuity = Continuity::acceleration) noexcept(is_fixed) {
    if (Status status = check_pieces(pieces, end, min_duration); !status) return status;
    const bool steps = continuity == Continuity::position && segments() > 0;
    for (std::size_t j = 0; j < joints_; ++j) {
      if (!joins(pieces[j], j, end[j], steps)) return fail(Errc::not_continuous);
    }
    may_step_ = may_step_ || steps;
    append_unchecked(end, pieces.front().duration(), [&](std::size_t j) { return pieces[j]; });
    return {};
  }

  /// Replaces the motion by the one through waypoints with all derivatives given. Allocates only if the
  /// memory from before is too small. Errors: those of check_waypoints(), no_velocities (velocities or
  /// accelerations are missing), too_many_joints, too_many_segments. After an error the trajectory is
  /// unchanged.
  [[nodiscard]] Status assign(const BasicWaypoints<Scalar>& waypoints) noexcept(is_fixed) {
    if (Status status = check_waypoints(waypoints); !status) return status;
    if (waypoints.velocities.empty() || waypoints.accelerations.empty()) return fail(Errc::no_velocities);
    if (Status status = take_times(waypoints); !status) return status;
    kernels_->solve(waypoints.positions.data(), waypoints.velocities.data(), waypoints.accelerations.data(),
                    joints_, waypoints.times.data(), segments(), coefficients_.data(), stride_);
    take_end_row(0, waypoints.positions);
    take_end_row(1, waypoints.velocities);
    take_end_row(2, waypoints.accelerations);
    return {};
  }

  /// Replaces the motion by the one that rests at each waypoint. Ignores given derivatives. Allocates as
  /// assign() does. Errors: those of check_waypoints(), too_many_joints, too_many_segments. After an error
  /// the trajectory is unchanged.
  [[nodiscard]] Status assign_stops(const BasicWaypoints<Scalar>& waypoints) noexcept(is_fixed) {
    if (Status status = check_waypoints(waypoints); !status) return status;
    if (Status status = take_times(waypoints); !status) return status;
    std::fill(end_.begin(), end_.end(), Scalar{0});
    // Two rows of zeros: the derivatives at both ends of every segment.
    const Scalar* const rest = end_.data() + stride_;
    for (std::size_t k = 0; k < segments(); ++k) {
      kernels_->solve(waypoints.positions.data() + k * joints_, rest, rest, joints_,
                      waypoints.times.data() + k, 1, coefficients_.data() + 6 * stride_ * k, stride_);
    }
    take_end_row(0, waypoints.positions);
    return {};
  }

  /// Returns the number of joints.
  [[nodiscard]] std::size_t joints() const noexcept { return joints_; }
  /// Returns the number of segments between waypoints.
  [[nodiscard]] std::size_t segments() const noexcept { return rates_.size(); }

  /// Seconds from the first waypoint to the last.
  [[nodiscard]] Scalar duration() const noexcept { return knots_.empty() ? 0 : knots_.back(); }

  /// The time of waypoint k in s; beyond the last waypoint the duration.
  [[nodiscard]] Scalar knot_time(std::size_t k) const noexcept {
    return k < knots_.size() ? knots_[k] : duration();
  }

  /// The state at waypoint k; beyond the last waypoint the end.
  [[nodiscard]] State knot(std::size_t k, std::size_t joint) const noexcept {
    if (joint >= joints_) return {};
    return k < segments() ? piece(k, joint).at(0) : end_state(joint);
  }

  /// One joint's state at t seconds; before the start and after the end the state there. Real-time safe,
  /// O(log segments).
  [[nodiscard]] State at(Scalar t, std::size_t joint) const noexcept {
    if (joint >= joints_) return {};
    if (segments() == 0 || t >= duration()) return end_state(joint);
    if (!(t > 0)) return piece(0, joint).at(0);
    const std::size_t segment = find(t);
    return piece(segment, joint).at(t - knots_[segment]);
  }

  /// Writes the state of all joints at t seconds; before the start and after the end exactly the state there.
  /// A span shorter than joints() receives that many joints. Each caller needs its own cursor. Real-time
  /// safe: amortised O(1) per joint if t increases from call to call, and O(log segments) more for any t.
  void sample(Scalar t, Cursor& cursor, std::span<Scalar> position, std::span<Scalar> velocity,
              std::span<Scalar> acceleration) const noexcept {
    const std::size_t count = std::min({joints_, position.size(), velocity.size(), acceleration.size()});
    if (count == 0) return;
    t = t > 0 ? t : 0;  // NaN gives the start
    if (t >= knots_.back()) {
      std::copy_n(end_.data(), count, position.data());
      std::copy_n(end_.data() + stride_, count, velocity.data());
      std::copy_n(end_.data() + 2 * stride_, count, acceleration.data());
      return;
    }
    const std::size_t k = find(t, cursor);
    kernels_->sample(coefficients_.data() + 6 * stride_ * k, stride_, count, (t - knots_[k]) * rates_[k],
                     rates_[k], position.data(), velocity.data(), acceleration.data());
  }

  /// Whether pieces were appended whose derivatives may step.
  [[nodiscard]] bool may_step() const noexcept { return may_step_; }

  /// The step of one joint's state at waypoint k. All zero if the state steps only by rounding, and at the
  /// ends.
  [[nodiscard]] State step(std::size_t k, std::size_t joint) const noexcept {
    if (k == 0 || k >= segments() || joint >= joints_) return {};
    const BasicQuintic<Scalar> before = piece(k - 1, joint);
    const BasicQuintic<Scalar> after = piece(k, joint);
    const State from = before.at(before.duration());
    const State to = after.at(0);
    const State rounding = detail::larger_of(detail::rounding_of(before), detail::rounding_of(after));
    const auto beyond = [](Scalar change, Scalar allowed) {
      return std::abs(change) <= allowed ? Scalar{0} : change;
    };
    return {beyond(to.position - from.position, rounding.position),
            beyond(to.velocity - from.velocity, rounding.velocity),
            beyond(to.acceleration - from.acceleration, rounding.acceleration)};
  }

  /// Calls visit(joint, velocity, acceleration, jerk) for each joint at t seconds. At a knot the values are
  /// those of the segment that starts there. Makes no calls after the end. Real-time safe; costs and cursor
  /// are those of sample().
  template <class Visit>
  void derivatives(Scalar t, Cursor& cursor, Visit&& visit) const noexcept {
    if (segments() == 0 || t >= knots_.back()) return;
    if (!(t > 0)) t = 0;  // NaN gives the start
    const std::size_t k = find(t, cursor);
    const Scalar rate = rates_[k];
    const Scalar s = (t - knots_[k]) * rate;
    const Scalar* c = coefficients_.data() + 6 * stride_ * k;
    for (std::size_t j = 0; j < joints_; ++j, ++c) {
      const Scalar c2 = 2 * c[2 * stride_];
      const Scalar c3 = 3 * c[3 * stride_];
      const Scalar c4 = 4 * c[4 * stride_];
      const Scalar c5 = 5 * c[5 * stride_];
      visit(j, rate * (c[stride_] + s * (c2 + s * (c3 + s * (c4 + s * c5)))),
            rate * rate * (c2 + s * (2 * c3 + s * (3 * c4 + s * 4 * c5))),
            rate * rate * rate * (2 * c3 + s * (6 * c4 + s * 12 * c5)));
    }
  }

  /// The first knot after t seconds, at which the jerk may step; the end is a knot. Infinite after the end.
  /// Real-time safe; costs and cursor are those of sample().
  [[nodiscard]] Scalar next_knot(Scalar t, Cursor& cursor) const noexcept {
    if (segments() == 0 || t >= knots_.back()) return std::numeric_limits<Scalar>::infinity();
    if (!(t > 0)) t = 0;  // NaN gives the start
    return knots_[find(t, cursor) + 1];
  }

  /// One joint's polynomial in one segment; out of range, a polynomial that rests at zero.
  [[nodiscard]] BasicQuintic<Scalar> piece(std::size_t segment, std::size_t joint) const noexcept {
    if (segment >= segments() || joint >= joints_) return {};
    const Scalar* row = coefficients_.data() + 6 * stride_ * segment + joint;
    return {{row[0], row[stride_], row[2 * stride_], row[3 * stride_], row[4 * stride_], row[5 * stride_]},
            1 / rates_[segment]};
  }

  /// All joints' polynomials in one segment, which must exist.
  [[nodiscard]] detail::SegmentRows<Scalar> rows(std::size_t segment) const noexcept {
    return {kernels_, coefficients_.data() + 6 * stride_ * segment, stride_, joints_, 1 / rates_[segment]};
  }

  /// Slows the motion down on the same path: divides velocities by `factor` and accelerations by its square.
  /// Errors: not_finite, out_of_domain (not positive, or durations outside domain.hpp). After an error the
  /// trajectory is unchanged. Real-time safe.
  Status slow_down(Scalar factor) noexcept {
    if (!std::isfinite(factor)) return fail(Errc::not_finite);
    if (!(factor > 0)) return fail(Errc::out_of_domain);
    if (segments() == 0) return {};
    if (Status status = check_duration(duration() * factor); !status) return status;
    for (const Scalar rate : rates_) {
      if (Status status = check_duration(factor / rate, min_piece_duration); !status) return status;
    }
    for (Scalar& knot : knots_) knot *= factor;
    for (Scalar& rate : rates_) rate /= factor;
    for (std::size_t j = 0; j < joints_; ++j) {
      end_[stride_ + j] /= factor;
      end_[2 * stride_ + j] /= factor * factor;
    }
    return {};
  }

 private:
  friend class detail::Assembly<Scalar>;
  friend class BasicStoredTrajectory<Scalar>;

  [[nodiscard]] static Status check_room(std::size_t joints, std::size_t segments) noexcept {
    if (joints > MaxJoints) return fail(Errc::too_many_joints);
    if (segments > MaxSegments) return fail(Errc::too_many_segments);
    return {};
  }

  /// Makes room for joints and segments; the caller then writes the coefficients.
  void resize(std::size_t joints, std::size_t segments) noexcept(is_fixed) {
    joints_ = joints;
    stride_ = detail::row_stride<Scalar>(joints);
    kernels_ = &kernels_for<Scalar>(joints);
    may_step_ = false;
    knots_.resize(segments + 1);
    rates_.resize(segments);
    coefficients_.resize(6 * stride_ * segments);
    end_.resize(3 * stride_);
  }

  void stand_at(std::span<const State> start) noexcept(is_fixed) {
    resize(start.size(), 0);
    knots_[0] = 0;
    set_end(start);
  }

  [[nodiscard]] Status take_times(const BasicWaypoints<Scalar>& waypoints) noexcept(is_fixed) {
    const auto times = waypoints.times;
    const std::size_t count = times.size() - 1;
    if (Status status = check_room(waypoints.joints, count); !status) return status;
    resize(waypoints.joints, count);
    for (std::size_t k = 0; k <= count; ++k) knots_[k] = times[k] - times[0];
    for (std::size_t k = 0; k < count; ++k) rates_[k] = 1 / (times[k + 1] - times[k]);
    return {};
  }

  /// Copies the last waypoint's numbers of one column to a row of the end's state.
  void take_end_row(std::size_t row, std::span<const Scalar> column) noexcept {
    std::copy_n(column.data() + segments() * joints_, joints_, end_.data() + row * stride_);
  }

  [[nodiscard]] State end_state(std::size_t joint) const noexcept {
    return {end_[joint], end_[stride_ + joint], end_[2 * stride_ + joint]};
  }

  void set_end(std::span<const State> end) noexcept {
    for (std::size_t j = 0; j < joints_; ++j) {
      end_[j] = end[j].position;
      end_[stride_ + j] = end[j].velocity;
      end_[2 * stride_ + j] = end[j].acceleration;
    }
  }

  [[nodiscard]] Status check_append(std::span<const State> end, Scalar duration,
                                    double shortest = min_duration) const noexcept {
    if (joints_ == 0 || end.size() != joints_) return fail(Errc::wrong_size);
    if (Status status = check_room(joints_, segments() + 1); !status) return status;
    if (Status status = check_duration(duration, shortest); !status) return status;
    for (const State& state : end) {
      if (Status status = check_state(state); !status) return status;
    }
    return check_duration(knots_.back() + duration, shortest);
  }

  [[nodiscard]] Status check_pieces(std::span<const BasicQuintic<Scalar>> pieces, std::span<const State> end,
                                    double shortest) const noexcept {
    if (pieces.empty() || pieces.size() != joints_) return fail(Errc::wrong_size);
    const Scalar duration = pieces.front().duration();
    if (Status status = check_append(end, duration, shortest); !status) return status;
    for (const BasicQuintic<Scalar>& piece : pieces) {
      if (piece.duration() != duration) return fail(Errc::wrong_size);
      for (const Scalar c : piece.coefficients()) {
        if (!std::isfinite(c)) return fail(Errc::not_finite);
      }
    }
    return {};
  }

  /// Whether a piece begins at the present end of the joint's motion and ends at `end`. If derivatives may
  /// step, only the position at its start counts.
  [[nodiscard]] bool joins(const BasicQuintic<Scalar>& piece, std::size_t joint, const State& end,
                           bool may_step) const noexcept {
    const State own = detail::rounding_of(piece);
    const auto near = [](Scalar a, Scalar b, Scalar allowed) { return std::abs(a - b) <= allowed; };
    const State ends = piece.at(piece.duration());
    if (!near(ends.position, end.position, own.position) ||
        !near(ends.velocity, end.velocity, own.velocity) ||
        !near(ends.acceleration, end.acceleration, own.acceleration))
      return false;
    const State begins = piece.at(0);
    const State before = end_state(joint);
    const auto begins_within = [&](const State& allowed) {
      return near(begins.position, before.position, allowed.position) &&
             (may_step || (near(begins.velocity, before.velocity, allowed.velocity) &&
                           near(begins.acceleration, before.acceleration, allowed.acceleration)));
    };
    if (begins_within(own)) return true;
    return segments() > 0 &&
           begins_within(detail::larger_of(own, detail::rounding_of(this->piece(segments() - 1, joint))));
  }

  template <class PieceOfJoint>
  void append_unchecked(std::span<const State> end, Scalar duration,
                        PieceOfJoint&& piece_of) noexcept(is_fixed) {
    knots_.push_back(knots_.back() + duration);
    rates_.push_back(1 / duration);
    coefficients_.resize(coefficients_.size() + 6 * stride_);
    Scalar* const rows = coefficients_.data() + coefficients_.size() - 6 * stride_;
    for (std::size_t j = 0; j < joints_; ++j) {
      const BasicQuintic<Scalar> piece = piece_of(j);
      for (std::size_t k = 0; k < 6; ++k) rows[k * stride_ + j] = piece.coefficients()[k];
    }
    set_end(end);
  }

  /// The segment that contains t in [0, duration).
  [[nodiscard]] std::size_t find(Scalar t) const noexcept {
    const auto after = std::upper_bound(knots_.begin() + 1, knots_.end() - 1, t);
    return static_cast<std::size_t>(after - knots_.begin()) - 1;
  }

  /// The same segment, usually at the cursor or directly after it.
  [[nodiscard]] std::size_t find(Scalar t, Cursor& cursor) const noexcept {
    std::size_t k = cursor.segment;
    if (k >= segments() || t < knots_[k] || t >= knots_[k + 1]) {
      k = k + 1 < segments() && t >= knots_[k + 1] && t < knots_[k + 2] ? k + 1 : find(t);
      cursor.segment = k;
    }
    return k;
  }

  std::size_t joints_ = 0;
  std::size_t stride_ = 0;
  template <std::size_t Capacity>
  using Columns = detail::Columns<Scalar, Capacity>;
  static constexpr std::size_t max_rows = is_fixed ? 6 * MaxSegments : std::dynamic_extent;
  Columns<is_fixed ? MaxSegments + 1 : std::dynamic_extent> knots_;          // segments + 1 times
  Columns<MaxSegments> rates_;                                               // 1/duration of each segment
  Columns<detail::row_capacity<Scalar>(max_rows, MaxJoints)> coefficients_;  // [segment][power of s][joint]
  Columns<detail::row_capacity<Scalar>(3, MaxJoints)> end_;  // rows: position, velocity, acceleration
  // Set together with the joints, so that an empty object is all zeros and takes no flash.
  const Kernels<Scalar>* kernels_ = nullptr;
  bool may_step_ = false;
};
using Trajectory = BasicTrajectory<double>;

}  // namespace takt::trajectory
