// The arithmetic of the report: moments, quantiles, and thinned curves. It takes samples one at a time. So a
// recording of hours needs memory only for its lateness values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace takt::tools {

/// Mean, standard deviation (of the population) and largest magnitude. Welford's recurrence, and Chan's for
/// merging.
class Moments {
 public:
  void add(double value) noexcept {
    ++count_;
    const double delta = value - mean_;
    mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (value - mean_);
    max_magnitude_ = std::max(max_magnitude_, std::abs(value));
  }
  void merge(const Moments& other) noexcept {
    if (other.count_ == 0) return;
    const double n = static_cast<double>(count_);
    const double m = static_cast<double>(other.count_);
    const double delta = other.mean_ - mean_;
    mean_ += delta * m / (n + m);
    squares_ += other.squares_ + delta * delta * n * m / (n + m);
    count_ += other.count_;
    max_magnitude_ = std::max(max_magnitude_, other.max_magnitude_);
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] double mean() const noexcept { return mean_; }
  [[nodiscard]] double deviation() const noexcept {
    return count_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(count_));
  }
  [[nodiscard]] double max_magnitude() const noexcept { return max_magnitude_; }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // sum of squared distances from the mean
  double max_magnitude_ = 0;
};

/// The part of a tracking error that is mere delay: the least-squares line error = offset + delay * velocity,
/// and its residual. A drive that reaches the reference `delay` later has an error that grows with the speed.
/// The residual is the servo's own.
class DelayFit {
 public:
  void add(double error, double velocity) noexcept { merge({1, error, velocity, 0, 0, 0}); }
  void merge(const DelayFit& other) noexcept {
    if (other.count_ == 0) return;
    const double n = count_ + other.count_;
    const double weight = count_ * other.count_ / n;
    const double error_gap = other.error_ - error_;
    const double velocity_gap = other.velocity_ - velocity_;
    errors_ += other.errors_ + weight * error_gap * error_gap;
    velocities_ += other.velocities_ + weight * velocity_gap * velocity_gap;
    products_ += other.products_ + weight * error_gap * velocity_gap;
    error_ += error_gap * other.count_ / n;
    velocity_ += velocity_gap * other.count_ / n;
    count_ = n;
  }

  /// In the time unit of the velocities; 0 without motion.
  [[nodiscard]] double delay() const noexcept { return velocities_ > 0 ? products_ / velocities_ : 0; }
  /// Standard deviation of the error without the delay's part.
  [[nodiscard]] double residual() const noexcept {
    if (count_ == 0) return 0;
    return std::sqrt(std::max(errors_ - delay() * products_, 0.0) / count_);
  }

  DelayFit() = default;

 private:
  DelayFit(double count, double error, double velocity, double errors, double velocities,
           double products) noexcept
      : count_(count),
        error_(error),
        velocity_(velocity),
        errors_(errors),
        velocities_(velocities),
        products_(products) {}

  double count_ = 0;
  double error_ = 0;  // means
  double velocity_ = 0;
  double errors_ = 0;  // sums of squares and products about the means
  double velocities_ = 0;
  double products_ = 0;
};

/// The usual quantiles of real-time systems, by nearest rank. The p-quantile is the smallest value that at
/// least the share p of all values does not exceed.
struct Quantiles {
  std::size_t count = 0;
  double min = 0;
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};

/// The quantiles of a copy of the values; all zero without values.
[[nodiscard]] inline Quantiles quantiles(std::vector<double> values) {
  Quantiles result;
  result.count = values.size();
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  // In thousandths: ceil(p n) in integers, without rounding errors.
  const auto rank = [&](std::size_t thousandths) {
    const std::size_t position = (values.size() * thousandths + 999) / 1000;
    return values[std::max<std::size_t>(position, 1) - 1];
  };
  result.min = values.front();
  result.p50 = rank(500);
  result.p99 = rank(990);
  result.p999 = rank(999);
  result.max = values.back();
  return result;
}

/// A curve reduced to a bounded number of points that keeps every peak. Each bucket of neighbouring samples
/// is drawn by its lowest and highest value. When the buckets are used up, neighbours are merged, so the
/// length may be unknown before.
class Envelope {
 public:
  /// An odd number of buckets is rounded up.
  explicit Envelope(std::size_t buckets = 640) : capacity_(std::max<std::size_t>(2, (buckets + 1) / 2 * 2)) {}

  /// Adds the next sample in time; NaN or infinity leaves a gap.
  void add(double time, double value) {
    if (filled_ == per_bucket_ || buckets_.empty()) {
      if (buckets_.size() == capacity_) halve();
      buckets_.emplace_back();
      filled_ = 0;
    }
    if (filled_++ == 0) buckets_.back().begin = time;
    buckets_.back().end = time;
    if (!std::isfinite(value)) return;
    buckets_.back().add({time, value});
    has_values_ = true;
  }
  /// Whether any sample was finite.
  [[nodiscard]] bool has_values() const noexcept { return has_values_; }
  /// The samples of a bucket; the last one may have fewer. 1: the curve has every sample.
  [[nodiscard]] std::size_t samples_per_bucket() const noexcept { return per_bucket_; }

  struct Point {
    double time = 0;
    double value = 0;  ///< NaN: a gap
  };

  /// The same curve in at most `buckets` buckets, at least 2.
  [[nodiscard]] Envelope coarse(std::size_t buckets) const {
    Envelope result = *this;
    while (result.buckets_.size() > std::max<std::size_t>(buckets, 2)) result.halve();
    return result;
  }

  /// The lowest and the highest value of each bucket in their order, at the times of its first and its last
  /// sample. Curves with samples at equal times have points at equal times.
  [[nodiscard]] std::vector<Point> aligned_points() const {
    std::vector<Point> result;
    for (const Bucket& bucket : buckets_) {
      const bool rises = bucket.low.time <= bucket.high.time;
      const double none = std::numeric_limits<double>::quiet_NaN();
      result.push_back({bucket.begin, bucket.empty ? none : (rises ? bucket.low : bucket.high).value});
      if (bucket.end == bucket.begin) continue;
      result.push_back({bucket.end, bucket.empty ? none : (rises ? bucket.high : bucket.low).value});
    }
    return result;
  }

  /// At most two points for each bucket, in time order.
  [[nodiscard]] std::vector<Point> points() const {
    std::vector<Point> result;
    bool gap = true;
    for (const Bucket& bucket : buckets_) {
      if (bucket.empty) {
        if (!gap) result.push_back({0, std::numeric_limits<double>::quiet_NaN()});
        gap = true;
        continue;
      }
      gap = false;
      const auto [first, second] = std::minmax(
          bucket.low, bucket.high, [](const Point& a, const Point& b) { return a.time < b.time; });
      result.push_back(first);
      if (second.time > first.time) result.push_back(second);
    }
    return result;
  }

 private:
  struct Bucket {
    double begin = 0;
    double end = 0;
    Point low;
    Point high;
    bool empty = true;

    void add(Point point) {
      if (empty || point.value < low.value) low = point;
      if (empty || point.value > high.value) high = point;
      empty = false;
    }
  };

  /// Merges each pair of neighbours; the last one may have no partner.
  void halve() {
    const std::size_t count = (buckets_.size() + 1) / 2;
    for (std::size_t i = 0; i < count; ++i) {
      Bucket merged = buckets_[2 * i];
      if (2 * i + 1 < buckets_.size()) {
        const Bucket& right = buckets_[2 * i + 1];
        merged.end = right.end;
        if (!right.empty) {
          merged.add(right.low);
          merged.add(right.high);
        }
      }
      buckets_[i] = merged;
    }
    buckets_.resize(count);
    per_bucket_ *= 2;
  }

  std::size_t capacity_;
  std::size_t per_bucket_ = 1;
  std::size_t filled_ = 0;  // samples in the last bucket
  bool has_values_ = false;
  std::vector<Bucket> buckets_;
};

/// A histogram: how many values are in each bin.
struct Bin {
  double low = 0;
  double high = 0;
  std::size_t count = 0;
};

/// `count` bins of equal width from `low` to `high`; values outside fall into the nearest bin.
[[nodiscard]] inline std::vector<Bin> linear_histogram(const std::vector<double>& values, double low,
                                                       double high, std::size_t count) {
  std::vector<Bin> bins(count);
  const double width = (high - low) / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    bins[i].low = low + width * static_cast<double>(i);
    bins[i].high = low + width * static_cast<double>(i + 1);
  }
  const double last = static_cast<double>(count - 1);
  for (const double value : values) {
    const double position = width > 0 ? std::floor((value - low) / width) : 0;
    ++bins[static_cast<std::size_t>(std::clamp(position, 0.0, last))].count;
  }
  return bins;
}

/// Bins of equal ratio, `per_decade` of them in each power of ten, from `low` (positive) to the largest
/// value. Smaller values count in the first bin.
[[nodiscard]] inline std::vector<Bin> log_histogram(const std::vector<double>& values, double low,
                                                    std::size_t per_decade) {
  const auto steps = static_cast<double>(per_decade);
  const auto position = [&](double value) {
    return value <= low ? std::size_t{0} : static_cast<std::size_t>(std::log10(value / low) * steps);
  };
  std::vector<Bin> bins;
  for (const double value : values) {
    const std::size_t index = position(value);
    if (index >= bins.size()) bins.resize(index + 1);
    ++bins[index].count;
  }
  for (std::size_t i = 0; i < bins.size(); ++i) {
    bins[i].low = low * std::pow(10.0, static_cast<double>(i) / steps);
    bins[i].high = low * std::pow(10.0, static_cast<double>(i + 1) / steps);
  }
  return bins;
}

}  // namespace takt::tools
