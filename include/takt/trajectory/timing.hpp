// Times for waypoints that have none: how long each segment must take at least so that the motion, from rest to rest, keeps the
// limits. With a stop at each waypoint there is a formula; otherwise every duration changes the whole spline, and the durations
// are searched for. For a motion that starts or ends at speed there is no such search: slowed down it would be another path.
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

/// A trajectory whose durations were found.
template <class Scalar>
struct BasicTimed {
  BasicTrajectory<Scalar> trajectory;
  Through mode =
      Through::stop;  ///< how it goes through its waypoints: as was asked for, or `stop` where that is faster
};
using Timed = BasicTimed<double>;

namespace detail {

/// Searches for the durations of a spline's segments. The need of a segment is by what its duration must be multiplied to keep
/// the limits in it if the durations of all others are multiplied by the same: a motion from rest to rest keeps its path when it
/// is slowed down. So any durations are a solution, after multiplication by the largest need; the search is for those whose sum
/// is then the smallest.
///
/// A spline forgets within a few segments what it does elsewhere. So the segments are searched in blocks, all at once: a change is
/// proposed to every block, one solution of the spline judges them all, and each block keeps what is good for itself. Where blocks
/// meet, the other half of the rounds has a block's middle.
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

  /// How many trajectories were made and judged, and how many there can be: a round that has begun is ended, by up to four more.
  [[nodiscard]] std::size_t evaluations() const noexcept { return evaluations_; }
  [[nodiscard]] static constexpr std::size_t evaluation_bound() noexcept {
    return most_evaluations + 4 + last_evaluations;
  }

 private:
  /// Evaluations times segments times joints of one search, about a second's worth; and bounds on the evaluations.
  static constexpr std::size_t work = 4'000'000;
  static constexpr std::size_t fewest_evaluations = 10;
  static constexpr std::size_t most_evaluations = 500;
  /// And on those that follow, by which the durations of many segments are evened out.
  static constexpr std::size_t last_evaluations = 30;
  /// By how much (its logarithm) one duration is changed at first, and at last.
  static constexpr Scalar first_step = Scalar(0.3);
  static constexpr Scalar last_step = Scalar(0.01);
  /// What is not worth another round.
  static constexpr Scalar least_gain = Scalar(1e-4);
  /// A round that gains more than this by levelling does without the slower search for single segments.
  static constexpr Scalar great_gain = Scalar(1e-2);
  /// Needs are not computed below this: so slow is no first guess.
  static constexpr Scalar least_need = Scalar(0.1);
  /// Segments in a block.
  static constexpr std::size_t block_size = 10;
  /// How many neighbours of the segment that needs most are tried.
  static constexpr std::size_t reach = 2;

  struct Candidate {
    std::vector<Scalar> durations;
    Result<BasicTrajectory<Scalar>> motion = fail(Errc::out_of_domain);
    std::vector<Scalar> needs;

    /// The segment in [first, last) that needs most.
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

    /// How long the block would take if it were alone.
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

  /// How long segment k takes at least if the motion stops at both its ends; infinite where no duration will do, or where nothing
  /// says which one.
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

  /// Cuts the segments into blocks, from where the middles of the last ones were.
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

  /// How long all takes if each block keeps the limits by itself.
  [[nodiscard]] Scalar time_of_blocks(const Candidate& candidate) const {
    Scalar sum = 0;
    for (const Block& block : blocks_) sum += block.time(candidate);
    return sum;
  }

  /// Lets every block take over the durations if they are better for it, and says which ones did.
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
    } else {  // they were bad for each other
      taken.assign(blocks_.size(), false);
    }
    return taken;
  }

  /// Shortens every segment that needs less than the neediest one of its block, by a part of the difference.
  void level(Scalar step) {
    std::vector<Scalar> durations = now_.durations;
    for (const Block& block : blocks_) {
      const Scalar most = now_.needs[now_.neediest(block.first, block.last)];
      for (std::size_t k = block.first; k < block.last; ++k)
        durations[k] *= std::pow(now_.needs[k] / most, step);
    }
    propose(std::move(durations));
  }

  /// Makes one segment of each block longer, or else shorter: first the second before its neediest one, at last the second
  /// behind it.
  void vary(Scalar step) {
    std::vector<std::size_t> neediest;
    for (const Block& block : blocks_) neediest.push_back(now_.neediest(block.first, block.last));
    for (std::size_t i = 0; i <= 2 * reach && evaluations_ < most_; ++i) {
      std::vector<bool> taken(blocks_.size());
      for (const Scalar factor : {std::exp(step), std::exp(-step)}) {
        std::vector<Scalar> durations = now_.durations;
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
          const std::size_t k = neediest[b] + i;
          if (!taken[b] && k >= blocks_[b].first + reach && k < blocks_[b].last + reach)
            durations[k - reach] *= factor;
        }
        taken = propose(std::move(durations));
      }
    }
  }

  /// Multiplies each duration by the largest need around it, smoothed: where it hardly changes from one segment to the next the
  /// path stays, and the largest need becomes one everywhere. False if that does no good.
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
    Candidate even = evaluate(std::move(durations), mode_);
    const bool better = even.motion && even.total() < now_.total() * (1 - least_gain);
    if (better) now_ = std::move(even);
    return better;
  }

  void improve() {
    most_ = std::clamp(work / (segments_ * waypoints_.joints), fewest_evaluations, most_evaluations);
    for (Scalar step = first_step; evaluations_ < most_ && step > last_step;) {
      cut_blocks();
      if (blocks_.size() > 1) even_out();
      const Scalar before = time_of_blocks(now_);
      level(step);
      if (time_of_blocks(now_) > before * (1 - great_gain)) vary(step);
      if (time_of_blocks(now_) > before * (1 - least_gain)) step /= 2;
    }
    for (std::size_t i = 0; i < last_evaluations && blocks_.size() > 1 && even_out(); ++i) continue;
  }

  BasicWaypoints<Scalar> waypoints_;
  Through mode_;
  std::span<const BasicJointLimits<Scalar>> limits_;
  std::size_t segments_;
  std::vector<Scalar> rest_;  // zeros: velocities and accelerations that are not given
  std::size_t evaluations_ = 0;
  std::size_t most_ = 0;  // evaluations
  std::vector<Block> blocks_;
  Candidate now_;
};

}  // namespace detail

/// The trajectory through the waypoints, from rest to rest, with durations of its own that keep the limits of velocity,
/// acceleration and jerk (one entry for each joint), and touch one of them or the shortest durations that there may be: those of
/// `times`, which may be empty, and min_duration. Velocities and accelerations are not looked at, and positions between the
/// waypoints are not held to their limits: whether they leave them, find_violation() says of the result.
///
/// The shortest there is with `stop`. With the others a local search, whose result over up to ten segments was within 1 % of the
/// shortest that brute force found in the mean; in the worst of a hundred cases within 4 %, with `monotone` 10 %. Over 100 to
/// 10 000 random waypoints of six joints it took 0.83 to 0.89 (`smooth`), 0.75 to 0.76 (`cubic`) and 0.97 (`monotone`) of the time
/// that stopping at each waypoint takes, along smooth paths a half to a quarter. Where going through turns out slower than
/// stopping, as at waypoints that lie to and fro, the motion stops at each, and `mode` says so: it is never slower than that.
/// At set-up only: allocates, and takes up to some seconds (100 000 waypoints; usually milliseconds), in which it makes at most
/// 534 trajectories.
/// Errors: those of through() but for missing times; no_velocities (`given` has none), wrong_size (limits), out_of_domain (a
/// limit of NaN, or of zero for a joint that moves; a segment without a given time in which no joint moves that has a limit; a
/// motion beyond domain.hpp).
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
