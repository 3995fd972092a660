// Times for waypoints that have none: how long each segment must take at least so that the motion keeps the limits. With a stop
// at each waypoint there is a formula; otherwise every duration changes the whole spline, and the durations are searched for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/limits.hpp"
#include "takt/trajectory/through.hpp"
#include "takt/trajectory/trajectory.hpp"
#include "takt/trajectory/waypoints.hpp"

namespace takt::trajectory {

/// How long the quintic from rest to rest over `distance` (a magnitude) takes at least: its peaks are 15/8 d/T, 10/sqrt(3) d/T^2
/// and 60 d/T^3. Infinite or NaN where no duration will do. Real-time safe.
template <class Scalar>
[[nodiscard]] Scalar shortest_from_rest(
    Scalar distance, const std::type_identity_t<BasicJointLimits<Scalar>>& limits) noexcept {
  if (distance == 0) return 0;
  const Scalar velocity = Scalar(15.0 / 8) * distance / limits.velocity;
  const Scalar acceleration = std::sqrt(Scalar(10 / std::numbers::sqrt3) * distance / limits.acceleration);
  const Scalar jerk = std::cbrt(60 * distance / limits.jerk);
  const Scalar sum = velocity + acceleration + jerk;
  return std::isfinite(sum) ? std::max({velocity, acceleration, jerk}) : sum;
}

namespace detail {

/// Searches for the durations of a spline's segments. The need of a segment is by what its duration must be multiplied to keep
/// the limits in it if the durations of all others are multiplied by the same: a motion from rest to rest keeps its path when it
/// is slowed down. So any durations are a solution, after multiplication by the largest need; the search is for those whose sum
/// is then the smallest.
template <class Scalar>
class DurationSearch {
 public:
  DurationSearch(const BasicWaypoints<Scalar>& waypoints, Through mode,
                 std::span<const BasicJointLimits<Scalar>> limits)
      : waypoints_(waypoints),
        mode_(mode),
        limits_(limits),
        segments_(waypoints.positions.size() / waypoints.joints - 1),
        rest_(waypoints.positions.size()) {}

  [[nodiscard]] Result<BasicTrajectory<Scalar>> run() {
    std::vector<Scalar> durations = first_durations();
    if (!std::all_of(durations.begin(), durations.end(), [](Scalar d) { return std::isfinite(d); }))
      return fail(Errc::out_of_domain);
    Candidate start = evaluate(std::move(durations));
    if (!start.motion) return fail(start.motion.error());
    best_ = std::move(start);
    if (mode_ != Through::stop) improve();
    if (!std::isfinite(best_.total)) return fail(Errc::out_of_domain);
    if (Status slowed = best_.motion->slow_down(best_.scale()); !slowed) return fail(slowed.error());
    return std::move(best_.motion);
  }

 private:
  /// Evaluations times segments times joints of one search, about a second's worth; and bounds on the evaluations.
  static constexpr std::size_t work = 3'000'000;
  static constexpr std::size_t fewest_evaluations = 10;
  static constexpr std::size_t evaluations_per_segment = 20;
  /// By how much (its logarithm) one duration is changed at first, and at last.
  static constexpr Scalar first_step = Scalar(0.3);
  static constexpr Scalar last_step = Scalar(0.01);
  /// What is not worth another round.
  static constexpr Scalar least_gain = Scalar(1e-4);
  /// Needs are not computed below this: so slow is no first guess.
  static constexpr Scalar least_need = Scalar(0.1);
  /// How many neighbours of the segment that needs most are tried.
  static constexpr std::size_t reach = 2;

  struct Candidate {
    std::vector<Scalar> durations;
    Result<BasicTrajectory<Scalar>> motion = fail(Errc::out_of_domain);
    std::vector<Scalar> needs;
    Scalar total = std::numeric_limits<Scalar>::infinity();

    [[nodiscard]] std::size_t neediest() const {
      return static_cast<std::size_t>(std::max_element(needs.begin(), needs.end()) - needs.begin());
    }
    [[nodiscard]] Scalar scale() const { return needs[neediest()]; }
  };

  [[nodiscard]] Scalar shortest(std::size_t k) const {
    const Scalar given = waypoints_.times.empty() ? 0 : waypoints_.times[k + 1] - waypoints_.times[k];
    return std::max(given, static_cast<Scalar>(min_duration));
  }

  /// As if the motion stopped at each waypoint.
  [[nodiscard]] std::vector<Scalar> first_durations() const {
    std::vector<Scalar> durations(segments_);
    for (std::size_t k = 0; k < segments_; ++k) {
      durations[k] = shortest(k);
      for (std::size_t j = 0; j < waypoints_.joints; ++j) {
        const std::size_t i = k * waypoints_.joints + j;
        const Scalar distance =
            std::abs(waypoints_.positions[i + waypoints_.joints] - waypoints_.positions[i]);
        const Scalar least = shortest_from_rest(distance, limits_[j]);
        if (!(least <= durations[k])) durations[k] = least;  // NaN too: it is refused when the motion is made
      }
    }
    return durations;
  }

  [[nodiscard]] Candidate evaluate(std::vector<Scalar> durations) const {
    Candidate candidate;
    const Scalar longest = *std::max_element(durations.begin(), durations.end());
    std::vector<Scalar> times{0};
    for (Scalar& duration : durations) {
      duration = std::max(duration, longest / Scalar(max_duration_ratio / 2));
      times.push_back(times.back() + duration);
    }
    candidate.durations = std::move(durations);
    candidate.motion =
        through(BasicWaypoints<Scalar>{waypoints_.joints, times, waypoints_.positions, rest_, rest_}, mode_);
    if (!candidate.motion) return candidate;
    for (std::size_t k = 0; k < segments_; ++k) candidate.needs.push_back(need(*candidate.motion, k));
    candidate.total = candidate.motion->duration() * candidate.scale();
    return candidate;
  }

  [[nodiscard]] Scalar need(const BasicTrajectory<Scalar>& motion, std::size_t k) const {
    Scalar need = std::max(least_need, shortest(k) / (motion.knot_time(k + 1) - motion.knot_time(k)));
    for (std::size_t j = 0; j < waypoints_.joints; ++j) {
      const BasicQuintic<Scalar> piece = motion.piece(k, j);
      raise_slowdown<1>(piece, limits_[j].velocity, need);
      raise_slowdown<2>(piece, limits_[j].acceleration, need);
      raise_slowdown<3>(piece, limits_[j].jerk, need);
    }
    return need;
  }

  /// Takes the durations over if they are better.
  bool accept(std::vector<Scalar> durations) {
    ++evaluations_;
    Candidate candidate = evaluate(std::move(durations));
    if (!(candidate.total < best_.total * (1 - least_gain))) return false;
    best_ = std::move(candidate);
    return true;
  }

  /// Shortens every segment that needs less than the neediest one, by a part of the difference.
  bool level(Scalar step) {
    std::vector<Scalar> durations = best_.durations;
    const Scalar scale = best_.scale();
    for (std::size_t k = 0; k < segments_; ++k) durations[k] *= std::pow(best_.needs[k] / scale, step);
    return accept(std::move(durations));
  }

  /// Makes one segment longer, or else shorter.
  bool vary(std::size_t k, Scalar step) {
    for (const Scalar factor : {std::exp(step), std::exp(-step)}) {
      std::vector<Scalar> durations = best_.durations;
      durations[k] *= factor;
      if (accept(std::move(durations))) return true;
    }
    return false;
  }

  void improve() {
    const std::size_t most = std::clamp(work / (segments_ * waypoints_.joints), fewest_evaluations,
                                        100 + evaluations_per_segment * segments_);
    Scalar step = first_step;
    while (evaluations_ < most && step > last_step) {
      bool better = level(step);
      const std::size_t neediest = best_.neediest();
      const std::size_t last = std::min(neediest + reach, segments_ - 1);
      for (std::size_t k = neediest - std::min(neediest, reach); k <= last && evaluations_ < most; ++k)
        better = vary(k, step) || better;
      if (!better) step /= 2;
    }
  }

  BasicWaypoints<Scalar> waypoints_;
  Through mode_;
  std::span<const BasicJointLimits<Scalar>> limits_;
  std::size_t segments_;
  std::vector<Scalar> rest_;  // zeros: velocities and accelerations that are not given
  std::size_t evaluations_ = 0;
  Candidate best_;
};

}  // namespace detail

/// The trajectory through the waypoints, from rest to rest, with durations of its own that keep the limits of velocity,
/// acceleration and jerk (one entry for each joint), and touch one of them. `times` may be empty; where they are given, no segment
/// is shorter than they say. Velocities and accelerations are not looked at, and positions between the waypoints are not held to
/// their limits: see find_violation(). The shortest there is with `stop`; with the others a local search, whose result over up to
/// ten segments was within 1 % of the shortest that brute force found in the mean, and 3 % in the worst case. Over hundreds of
/// segments it finds less: the durations of `stop`, levelled out. At set-up only: allocates, and takes up to about a second.
/// Errors: those of through() but for missing times; no_velocities (`given` has none), wrong_size (limits), out_of_domain (a
/// limit of zero or NaN for a joint that moves, or a motion beyond domain.hpp, as without any limits).
template <class Scalar>
[[nodiscard]] Result<BasicTrajectory<Scalar>> through_within(
    const BasicWaypoints<Scalar>& waypoints, Through mode,
    std::span<const std::type_identity_t<BasicJointLimits<Scalar>>> limits) {
  if (mode == Through::given) return fail(Errc::no_velocities);
  if (waypoints.joints == 0 || limits.size() != waypoints.joints) return fail(Errc::wrong_size);
  BasicWaypoints<Scalar> checked{waypoints.joints, waypoints.times, waypoints.positions, {}, {}};
  std::vector<Scalar> any_times;
  if (checked.times.empty()) {
    any_times.resize(waypoints.positions.size() / waypoints.joints);
    for (std::size_t k = 0; k < any_times.size(); ++k) any_times[k] = static_cast<Scalar>(k) * Scalar(1e-2);
    checked.times = any_times;
  }
  if (Status status = check_waypoints(checked); !status) return fail(status.error());
  checked.times = waypoints.times;
  return detail::DurationSearch<Scalar>(checked, mode, limits).run();
}

}  // namespace takt::trajectory
