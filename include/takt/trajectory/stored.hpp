// Rebuilds a trajectory from its stored numbers, for example in another process, without changing a bit.
// Numbers from outside are checked: an accepted trajectory is one motion without jumps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/quintic.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::trajectory {

/// Builds a trajectory from the numbers of another one. Allocates; has no global state.
template <class Scalar>
class BasicStoredTrajectory {
 public:
  using Trajectory = BasicTrajectory<Scalar>;
  using State = BasicMotionState<Scalar>;

  /// Allocates for `joints` joints and `segments` segments.
  BasicStoredTrajectory(std::size_t joints, std::size_t segments) : trajectory_(std::vector<State>(joints)) {
    trajectory_.reserve(segments);
  }

  /// The rate 1/duration of segment k, for append(). append() also needs its end time (s from the
  /// trajectory's start) and its coefficients. The coefficients are rows.coefficients[power * rows.stride +
  /// joint].
  [[nodiscard]] static Scalar rate(const Trajectory& trajectory, std::size_t k) noexcept {
    return trajectory.rates_[k];
  }

  /// Appends a segment with coefficients [power of s][joint]. Errors: wrong_size, not_finite, out_of_domain
  /// (domain.hpp, or the rate does not fit the duration), times_not_increasing. Also not_continuous: the
  /// joints differ by more than 1e-6 of the state plus 1e-6 SI units, or rounding. After an error the
  /// trajectory is unchanged.
  [[nodiscard]] Status append(Scalar end_time, Scalar rate, std::span<const Scalar> coefficients) {
    const std::size_t joints = trajectory_.joints_;
    if (joints == 0 || coefficients.size() != 6 * joints) return fail(Errc::wrong_size);
    if (Status status = check_times(end_time, rate); !status) return status;
    for (const Scalar c : coefficients) {
      if (!std::isfinite(c)) return fail(Errc::not_finite);
    }
    for (std::size_t j = 0; j < joints; ++j) {
      Polynomial<Scalar, 6> c;
      for (std::size_t k = 0; k < c.size(); ++k) c[k] = coefficients[k * joints + j];
      const BasicQuintic<Scalar> piece(c, 1 / rate);
      if (Status status = check_state(piece.at(0)); !status) return status;
      if (trajectory_.segments() > 0 && !joins(piece.at(0), j, piece)) return fail(Errc::not_continuous);
    }
    trajectory_.knots_.push_back(end_time);
    trajectory_.rates_.push_back(rate);
    auto& all = trajectory_.coefficients_;
    const std::size_t begin = all.size();
    all.resize(begin + 6 * trajectory_.stride_);
    for (std::size_t k = 0; k < 6; ++k) {
      for (std::size_t j = 0; j < joints; ++j)
        all[begin + k * trajectory_.stride_ + j] = coefficients[k * joints + j];
    }
    return {};
  }

  /// Sets the final states, one per joint. Errors: wrong_size (also without segments), not_finite,
  /// out_of_domain, not_continuous.
  [[nodiscard]] Status end_at(std::span<const State> end) {
    if (end.size() != trajectory_.joints_ || trajectory_.segments() == 0) return fail(Errc::wrong_size);
    for (std::size_t j = 0; j < end.size(); ++j) {
      if (Status status = check_state(end[j]); !status) return status;
      if (!joins(end[j], j, trajectory_.piece(trajectory_.segments() - 1, j)))
        return fail(Errc::not_continuous);
    }
    trajectory_.set_end(end);
    return {};
  }

  /// Finds the worst violation of the limits in the segments `first` .. `last` - 1, as find_violation() does
  /// for a whole trajectory. If rounding makes a segment last longer than its polynomial, it checks the whole
  /// segment.
  [[nodiscard]] std::optional<BasicViolation<Scalar>> find_violation(
      std::span<const BasicJointLimits<Scalar>> limits, std::size_t first, std::size_t last) const noexcept {
    detail::WorstViolation<Scalar> worst;
    trajectory::detail::check_segments(trajectory_, limits, first, last, worst);
    for (std::size_t k = first; k < std::min(last, trajectory_.segments()); ++k) {
      const Scalar lasts = duration(k);
      if (!(lasts * trajectory_.rates_[k] > 1 + relative)) continue;
      for (std::size_t j = 0; j < trajectory_.joints_; ++j) {
        worst.check(trajectory_.piece(k, j).part(0, lasts), j, trajectory_.knots_[k],
                    detail::limits_of(limits, j));
      }
    }
    return worst.result();
  }

  /// The trajectory so far. Its end is correct only after end_at().
  [[nodiscard]] const Trajectory& trajectory() const noexcept { return trajectory_; }
  [[nodiscard]] Trajectory&& take() noexcept { return std::move(trajectory_); }

 private:
  static constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
  /// Relative tolerance between a segment's rate and its knots, for knots so far apart that rounding is
  /// smaller.
  static constexpr Scalar relative = std::max(Scalar(1e-9), 32 * epsilon);

  [[nodiscard]] Scalar duration(std::size_t k) const noexcept {
    return trajectory_.knots_[k + 1] - trajectory_.knots_[k];
  }

  [[nodiscard]] Status check_times(Scalar end_time, Scalar rate) const noexcept {
    if (!std::isfinite(end_time) || !std::isfinite(rate)) return fail(Errc::not_finite);
    const Scalar lasts = end_time - trajectory_.knots_.back();
    if (!(lasts >= 0) || !(end_time > 0)) return fail(Errc::times_not_increasing);
    if (!(rate > 0)) return fail(Errc::out_of_domain);
    if (Status status = check_duration(1 / rate, min_piece_duration); !status) return status;
    if (Status status = check_duration(end_time, min_piece_duration); !status) return status;
    const Scalar allowed = std::max(relative * lasts, 4 * epsilon * end_time);
    return std::abs(lasts - 1 / rate) <= allowed ? Status{} : fail(Errc::out_of_domain);
  }

  /// Whether a state agrees with the end of the last segment. `piece` is the polynomial before or after it.
  [[nodiscard]] bool joins(const State& state, std::size_t joint,
                           const BasicQuintic<Scalar>& piece) const noexcept {
    const std::size_t k = trajectory_.segments() - 1;
    const BasicQuintic<Scalar> before = trajectory_.piece(k, joint);
    const State from = before.at(duration(k));
    // Segments shorter than any segment between waypoints were cut out of longer ones, so their derivatives
    // are exact.
    const auto rounding = [](const BasicQuintic<Scalar>& of) {
      const Scalar lasts = std::max(of.duration(), static_cast<Scalar>(min_duration));
      return detail::rounding_of(of).position / (lasts * lasts);
    };
    constexpr Scalar part = std::max(Scalar(1e-6), 8192 * epsilon);
    const auto near = [](Scalar a, Scalar b, Scalar more) {
      return std::abs(a - b) <= part * (1 + std::abs(b)) + more;
    };
    return near(from.position, state.position, 0) && near(from.velocity, state.velocity, 0) &&
           near(from.acceleration, state.acceleration, std::max(rounding(before), rounding(piece)));
  }

  Trajectory trajectory_;
};
using StoredTrajectory = BasicStoredTrajectory<double>;

}  // namespace takt::trajectory
