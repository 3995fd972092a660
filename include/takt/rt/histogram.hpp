// Counts durations in buckets whose width grows with the duration. It resolves microseconds and seconds
// equally well in a few kilobytes. A loop keeps its own timing in it. Recording takes a handful of
// instructions and does not allocate.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/core/time.hpp"

namespace takt::rt {

/// A histogram of durations from 0 to 2^40 ns (18 minutes). Below 32 ns each nanosecond has its own bucket.
/// Above, each octave has 32 buckets, so a percentile is within 1.6 % of a true sample. Negative durations
/// count as 0, longer ones in the last bucket. Minimum, maximum and mean are exact. All functions are
/// real-time safe; percentile() visits each bucket once.
class Histogram {
 public:
  static constexpr std::size_t per_octave = 32;
  static constexpr int octaves = 35;
  static constexpr std::size_t bucket_count = per_octave * (octaves + 1);

  /// Counts one duration. Real-time safe.
  void record(Duration duration) noexcept {
    const std::int64_t value = std::max<std::int64_t>(duration.count(), 0);
    ++counts_[bucket_of(value)];
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    sum_ += static_cast<double>(value);
    ++count_;
  }

  /// Adds all samples of `other`.
  void merge(const Histogram& other) noexcept {
    for (std::size_t i = 0; i < bucket_count; ++i) counts_[i] += other.counts_[i];
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    sum_ += other.sum_;
    count_ += other.count_;
  }

  /// Removes all values.
  void reset() noexcept { *this = Histogram(); }

  /// Returns the number of values.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Returns the smallest value; 0 without values.
  [[nodiscard]] Duration min() const noexcept { return Duration(count_ == 0 ? 0 : min_); }
  /// Returns the largest value; 0 without values.
  [[nodiscard]] Duration max() const noexcept { return Duration(max_); }
  /// Returns the mean value; 0 without values.
  [[nodiscard]] Duration mean() const noexcept {
    return Duration(count_ == 0 ? 0 : static_cast<std::int64_t>(sum_ / static_cast<double>(count_)));
  }

  /// The duration that `percent` (0 to 100) of the samples do not exceed, as the middle of its bucket; 0
  /// without samples.
  [[nodiscard]] Duration percentile(double percent) const noexcept {
    if (count_ == 0) return Duration(0);
    const double wanted = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(count_);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < bucket_count; ++i) {
      seen += counts_[i];
      if (counts_[i] != 0 && static_cast<double>(seen) >= wanted) {
        const std::int64_t middle = lower_bound(i) + (lower_bound(i + 1) - 1 - lower_bound(i)) / 2;
        return Duration(std::clamp(middle, min_, max_));
      }
    }
    return Duration(max_);
  }

  /// The counts of the buckets, for plots.
  [[nodiscard]] std::span<const std::uint64_t> counts() const noexcept { return counts_; }
  /// The shortest duration (ns) in a bucket.
  [[nodiscard]] static constexpr std::int64_t lower_bound(std::size_t bucket) noexcept {
    if (bucket < per_octave) return static_cast<std::int64_t>(bucket);
    const std::size_t octave = bucket / per_octave - 1;
    return static_cast<std::int64_t>((per_octave + bucket % per_octave) << octave);
  }

 private:
  [[nodiscard]] static constexpr std::size_t bucket_of(std::int64_t value) noexcept {
    const auto bits = static_cast<std::uint64_t>(value);
    if (bits < per_octave) return static_cast<std::size_t>(bits);
    const auto octave = static_cast<std::size_t>(std::bit_width(bits)) - 6;  // 32..63 is octave 0
    const std::size_t bucket =
        per_octave * (octave + 1) + static_cast<std::size_t>((bits >> octave) - per_octave);
    return std::min(bucket, bucket_count - 1);
  }

  std::array<std::uint64_t, bucket_count> counts_{};
  std::int64_t min_ = Duration::max().count();
  std::int64_t max_ = 0;
  double sum_ = 0;  // ns; exact up to a sum of 2^53 ns (104 days)
  std::uint64_t count_ = 0;
};
static_assert(sizeof(Histogram) == 8 * (Histogram::bucket_count + 4), "about 9 KiB");

}  // namespace takt::rt
