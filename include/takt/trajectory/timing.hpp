// Finds times for waypoints that have none: the shortest segments for which the motion, from rest to rest,
// keeps its limits. With a stop at each waypoint a formula gives them. Otherwise every duration changes the
// whole spline, so a search finds them. The search works only from rest to rest: slowing a motion down keeps
// its path only if it starts and ends at rest.
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

/// The shortest duration (s) of the quintic from rest to rest over `distance` >= 0. Its peaks are 15/8 d/T,
/// 10/sqrt(3) d/T^2 and 60 d/T^3. Infinity or NaN if no duration keeps the limits. Real-time safe.
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

/// A trajectory with computed durations.
template <class Scalar>
struct BasicTimed {
  BasicTrajectory<Scalar> trajectory;
  Through mode = Through::stop;  ///< the requested mode, or `stop` if that is faster
};
using Timed = BasicTimed<double>;

namespace detail {

/// Searches for the durations of a spline's segments. The need of a segment is a factor for the durations of
/// all segments: multiplied by it, this segment keeps the limits. Slowing down a motion from rest to rest
/// keeps its path. So any durations become a solution when multiplied by the largest need. The search
/// minimises the sum of the durations after that.
///
/// A change in a spline fades within a few segments. So the segments are searched in blocks, all at once. A
/// change is proposed to every block, and one solution of the spline evaluates all changes. Each block keeps
/// its change if it improves the block. Half of the rounds shift the blocks by half a block, so that their
/// borders lie in the middle.
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

  [[nodiscard]] Result<BasicTimed<Scalar>> run() {
    std::vector<Scalar> durations = first_durations();
    if (!std::all_of(durations.begin(), durations.end(), [](Scalar d) { return std::isfinite(d); }))
      return fail(Errc::out_of_domain);
    Candidate best = evaluate(durations, Through::stop);
    if (!best.motion) return fail(best.motion.error());
    if (!std::isfinite(best.total())) return fail(Errc::out_of_domain);
    Through mode = Through::stop;
    if (mode_ != Through::stop) {
      now_ = evaluate(std::move(durations), mode_);
      if (!now_.motion) return fail(now_.motion.error());
      improve();
      if (now_.total() <= best.total()) {
        best = std::move(now_);
        mode = mode_;
      }
    }
    if (Status slowed = best.motion->slow_down(best.scale()); !slowed) return fail(slowed.error());
    return BasicTimed<Scalar>{*std::move(best.motion), mode};
  }

  /// The number of trajectories that were made and evaluated, and its bound. A round that has started may
  /// exceed its own bound by up to four, and the relief its own by one.
  [[nodiscard]] std::size_t evaluations() const noexcept { return evaluations_; }
  [[nodiscard]] static constexpr std::size_t evaluation_bound() noexcept {
    return most_evaluations + 4 + last_evaluations + most_evaluations / relief_share + 1;
  }

 private:
  /// The bound on evaluations x segments x joints of one search, about a second of work; and bounds on the
  /// evaluations.
  static constexpr std::size_t work = 4'000'000;
  static constexpr std::size_t fewest_evaluations = 10;
  static constexpr std::size_t most_evaluations = 500;
  /// The bound on the final evaluations, which even out the durations of many segments.
  static constexpr std::size_t last_evaluations = 30;
  /// The part of the evaluations that may follow, to relieve the neediest segments.
  static constexpr std::size_t relief_share = 5;
  /// Rounds without a gain after which the steps get smaller: each has its own borders of blocks.
  static constexpr int most_stalled = 2;
  /// The first and the last change of one duration (logarithm of the factor).
  static constexpr Scalar first_step = Scalar(0.3);
  static constexpr Scalar last_step = Scalar(0.01);
  /// A smaller relative gain is not worth another round.
  static constexpr Scalar least_gain = Scalar(1e-4);
  /// If levelling gains more than this, the round skips the slower search over single segments.
  static constexpr Scalar great_gain = Scalar(1e-2);
  /// Needs are not computed below this: no first guess is that slow.
  static constexpr Scalar least_need = Scalar(0.1);
  /// The number of segments in a block.
  static constexpr std::size_t block_size = 10;
  /// The number of neighbours that are tried on each side of the segment with the largest need.
  static constexpr std::size_t reach = 2;

  struct Candidate {
    std::vector<Scalar> durations;
    Result<BasicTrajectory<Scalar>> motion = fail(Errc::out_of_domain);
    std::vector<Scalar> needs;

    /// The segment in [first, last) with the largest need.
    [[nodiscard]] std::size_t neediest(std::size_t first, std::size_t last) const {
      const auto begin = needs.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = needs.begin() + static_cast<std::ptrdiff_t>(last);
      return static_cast<std::size_t>(std::max_element(begin, end) - needs.begin());
    }
    [[nodiscard]] Scalar scale() const { return *std::max_element(needs.begin(), needs.end()); }
    [[nodiscard]] Scalar total() const { return motion->duration() * scale(); }
  };

  /// The segments [first, last).
  struct Block {
    std::size_t first;
    std::size_t last;

    /// The duration of the block if it were alone.
    [[nodiscard]] Scalar time(const Candidate& candidate) const {
      Scalar sum = 0;
      for (std::size_t k = first; k < last; ++k) sum += candidate.durations[k];
      return sum * candidate.needs[candidate.neediest(first, last)];
    }
  };

  [[nodiscard]] Scalar shortest(std::size_t k) const {
    const Scalar given = waypoints_.times.empty() ? 0 : waypoints_.times[k + 1] - waypoints_.times[k];
    return std::max(given, static_cast<Scalar>(min_duration));
  }

  /// The shortest duration of segment k with stops at both its ends. Infinity if no duration keeps the
  /// limits, or if no limit determines one.
  [[nodiscard]] Scalar shortest_stopping(std::size_t k) const {
    constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
    Scalar shortest = this->shortest(k);
    bool moves = false;
    bool limited = !waypoints_.times.empty();
    for (std::size_t j = 0; j < waypoints_.joints; ++j) {
      const std::size_t i = k * waypoints_.joints + j;
      const Scalar distance = std::abs(waypoints_.positions[i + waypoints_.joints] - waypoints_.positions[i]);
      if (distance == 0) continue;
      const Scalar own = shortest_from_rest(distance, limits_[j]);
      if (!std::isfinite(own)) return infinity;
      shortest = std::max(shortest, own);
      moves = true;
      limited =
          limited || std::min({limits_[j].velocity, limits_[j].acceleration, limits_[j].jerk}) < infinity;
    }
    return moves && !limited ? infinity : shortest;
  }

  [[nodiscard]] std::vector<Scalar> first_durations() const {
    std::vector<Scalar> durations(segments_);
    for (std::size_t k = 0; k < segments_; ++k) durations[k] = shortest_stopping(k);
    return durations;
  }

  [[nodiscard]] Candidate evaluate(std::vector<Scalar> durations, Through mode) {
    ++evaluations_;
    Candidate candidate;
    const Scalar longest = *std::max_element(durations.begin(), durations.end());
    const Scalar least = mode == Through::stop ? 0 : longest / Scalar(max_duration_ratio / 2);
    std::vector<Scalar> times{0};
    for (Scalar& duration : durations) {
      duration = std::max(duration, least);
      times.push_back(times.back() + duration);
    }
    candidate.durations = std::move(durations);
    candidate.motion =
        through(BasicWaypoints<Scalar>{waypoints_.joints, times, waypoints_.positions, rest_, rest_}, mode);
    if (!candidate.motion) return candidate;
    for (std::size_t k = 0; k < segments_; ++k) candidate.needs.push_back(need(*candidate.motion, k));
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

  /// Divides the segments into blocks, with borders at the middles of the previous blocks.
  void cut_blocks() {
    const bool halves_first =
        segments_ > block_size && !blocks_.empty() && blocks_.front().last == block_size;
    blocks_.clear();
    for (std::size_t k = 0; k < segments_;) {
      const std::size_t size = k == 0 && halves_first ? block_size / 2 : block_size;
      blocks_.push_back({k, std::min(k + size, segments_)});
      k += size;
    }
  }

  /// The total duration if each block keeps the limits by itself.
  [[nodiscard]] Scalar time_of_blocks(const Candidate& candidate) const {
    Scalar sum = 0;
    for (const Block& block : blocks_) sum += block.time(candidate);
    return sum;
  }

  /// Proposes durations to every block. Returns which blocks accepted them because they improve the block.
  std::vector<bool> propose(std::vector<Scalar> durations) {
    std::vector<bool> taken(blocks_.size());
    Candidate proposed = evaluate(std::move(durations), mode_);
    if (!proposed.motion) return taken;
    std::vector<Scalar> merged = now_.durations;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto [first, last] = blocks_[b];
      taken[b] = blocks_[b].time(proposed) < blocks_[b].time(now_) * (1 - least_gain);
      for (std::size_t k = first; taken[b] && k < last; ++k) merged[k] = proposed.durations[k];
    }
    const auto count = static_cast<std::size_t>(std::count(taken.begin(), taken.end(), true));
    if (count == 0) return taken;
    if (count < blocks_.size()) proposed = evaluate(std::move(merged), mode_);
    if (proposed.motion && time_of_blocks(proposed) < time_of_blocks(now_)) {
      now_ = std::move(proposed);
    } else {  // the accepted changes harm each other
      taken.assign(blocks_.size(), false);
    }
    return taken;
  }

  /// Shortens every segment that needs less than the largest need in its block, by a fraction of the
  /// difference.
  void level(Scalar step) {
    std::vector<Scalar> durations = now_.durations;
    for (const Block& block : blocks_) {
      const Scalar most = now_.needs[now_.neediest(block.first, block.last)];
      for (std::size_t k = block.first; k < block.last; ++k)
        durations[k] *= std::pow(now_.needs[k] / most, step);
    }
    propose(std::move(durations));
  }

  /// Lengthens, else shortens, one segment of each block. Starts two segments before the one with the largest
  /// need, and ends two after it. A block that is alone has all its segments varied.
  void vary(Scalar step) {
    const bool alone = blocks_.size() == 1;
    const std::size_t tried = alone ? segments_ : 2 * reach + 1;
    std::vector<std::size_t> middles;
    for (const Block& block : blocks_)
      middles.push_back(alone ? reach : now_.neediest(block.first, block.last));
    for (std::size_t i = 0; i < tried && evaluations_ < most_; ++i) {
      std::vector<bool> taken(blocks_.size());
      for (const Scalar factor : {std::exp(step), std::exp(-step)}) {
        std::vector<Scalar> durations = now_.durations;
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
          const std::size_t k = middles[b] + i;
          if (!taken[b] && k >= blocks_[b].first + reach && k < blocks_[b].last + reach)
            durations[k - reach] *= factor;
        }
        taken = propose(std::move(durations));
      }
    }
  }

  /// Multiplies each duration by the largest need around it, smoothed. Where this factor hardly changes
  /// between segments, the path stays and the largest need becomes one. Returns false if this does not help.
  bool even_out() {
    const auto around = [&](std::size_t k, const std::vector<Scalar>& values, auto&& visit) {
      for (std::size_t i = k; i <= k + 2 * reach; ++i)
        visit(values[std::clamp(i, reach, segments_ - 1 + reach) - reach]);
    };
    std::vector<Scalar> most(segments_);
    std::vector<Scalar> durations = now_.durations;
    for (std::size_t k = 0; k < segments_; ++k)
      around(k, now_.needs, [&](Scalar need) { most[k] = std::max(most[k], need); });
    for (std::size_t k = 0; k < segments_; ++k) {
      Scalar logarithms = 0;
      around(k, most, [&](Scalar need) { logarithms += std::log(need); });
      durations[k] *= std::exp(logarithms / (2 * reach + 1));
    }
    return take_if_better(evaluate(std::move(durations), mode_));
  }

  /// Lengthens, else shortens, single segments around the one with the largest need, while that shortens the
  /// whole. Few segments decide about it: blocks were improved, each by its own largest need.
  void relieve() {
    const std::size_t most = evaluations_ + most_ / relief_share;
    for (Scalar step = first_step / 2; evaluations_ < most && step > last_step / 2;) {
      const std::size_t first = std::max(now_.neediest(0, segments_), reach) - reach;
      bool better = false;
      for (std::size_t k = first; k <= first + 2 * reach && k < segments_ && evaluations_ < most && !better;
           ++k) {
        for (const Scalar factor : {std::exp(step), std::exp(-step)}) {
          std::vector<Scalar> durations = now_.durations;
          durations[k] *= factor;
          better = take_if_better(evaluate(std::move(durations), mode_));
          if (better) break;
        }
      }
      if (!better) step /= 2;
    }
  }
  bool take_if_better(Candidate candidate) {
    const bool better = candidate.motion && candidate.total() < now_.total() * (1 - least_gain);
    if (better) now_ = std::move(candidate);
    return better;
  }

  void improve() {
    most_ = std::clamp(work / (segments_ * waypoints_.joints), fewest_evaluations, most_evaluations);
    // The rounds shorten the blocks. The whole may get longer by that, so the best one is kept.
    Candidate best = now_;
    const auto keep_best = [&] {
      if (now_.total() < best.total()) best = now_;
    };
    Scalar least = std::numeric_limits<Scalar>::infinity();
    int stalled = 0;
    for (Scalar step = first_step; evaluations_ < most_ && step > last_step;) {
      cut_blocks();
      if (blocks_.size() > 1 && even_out()) keep_best();
      const Scalar before = time_of_blocks(now_);
      level(step);
      if (time_of_blocks(now_) > before * (1 - great_gain)) vary(step);
      keep_best();
      const Scalar after = time_of_blocks(now_);
      stalled = after < least * (1 - least_gain) ? 0 : stalled + 1;
      least = std::min(least, after);
      if (after > before * (1 - least_gain) || stalled == most_stalled) {
        step /= 2;
        stalled = 0;
      }
    }
    for (std::size_t i = 0; i < last_evaluations && blocks_.size() > 1 && even_out(); ++i) continue;
    keep_best();
    now_ = std::move(best);
    if (blocks_.size() > 1) relieve();
  }

  BasicWaypoints<Scalar> waypoints_;
  Through mode_;
  std::span<const BasicJointLimits<Scalar>> limits_;
  std::size_t segments_;
  std::vector<Scalar> rest_;  // zeros: derivatives that are not given
  std::size_t evaluations_ = 0;
  std::size_t most_ = 0;  // bound on evaluations_
  std::vector<Block> blocks_;
  Candidate now_;
};

}  // namespace detail

/// Makes the trajectory through the waypoints, from rest to rest, with computed durations. It keeps the
/// limits of velocity, acceleration and jerk (one entry per joint). It touches at least one limit or one
/// minimum duration. Minimum durations are min_duration and those of `times`, which may be empty. Given
/// velocities and accelerations are ignored. Positions between the waypoints may exceed their limits: check
/// the result with find_violation().
/// Errors:
/// * Those of through(), except for missing times.
/// * no_velocities: the mode `given` is not possible.
/// * wrong_size: of the limits.
/// * out_of_domain: A limit is NaN, or zero for a joint that moves. A segment without a given time moves no
///   joint that has a limit. The motion is outside domain.hpp.
///
/// For set-up only: allocates. It usually takes milliseconds, for 100 000 waypoints some seconds, and makes
/// at most 635 trajectories.
///
/// `stop` gives the shortest possible motion. The other modes use a local search. Over up to nine segments
/// its result was on average as short as that of brute force. The worst of 3 000 cases was 8 % longer with
/// `smooth`, 5 % with `cubic` and 1 % with `monotone`. Over 100 to 10 000 random waypoints of six joints it
/// took less time than stopping at each waypoint. The fractions were 0.83 to 0.89 (`smooth`), 0.75 to 0.76
/// (`cubic`) and 0.97 (`monotone`). Along smooth paths it took a half to a quarter. The result is never
/// slower than stopping. If stopping is faster, as with waypoints back and forth, the motion stops at each
/// waypoint and `mode` is `stop`.
template <class Scalar>
[[nodiscard]] Result<BasicTimed<Scalar>> through_within(
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
