#include "takt/rt/histogram.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "support/random.hpp"

using namespace takt;
using rt::Histogram;

TEST_CASE("an empty histogram is all zero") {
  const Histogram histogram;
  CHECK(histogram.count() == 0);
  CHECK(histogram.min() == Duration(0));
  CHECK(histogram.max() == Duration(0));
  CHECK(histogram.mean() == Duration(0));
  CHECK(histogram.percentile(50) == Duration(0));
}

TEST_CASE("buckets cover all durations without gap, none wider than a 32nd of what it holds") {
  for (std::size_t i = 0; i + 1 < Histogram::bucket_count; ++i) {
    const std::int64_t low = Histogram::lower_bound(i);
    const std::int64_t high = Histogram::lower_bound(i + 1);
    REQUIRE(low < high);
    REQUIRE((high - low) * 32 <= std::max<std::int64_t>(low, 32));
    for (const std::int64_t value : {low, high - 1}) {
      Histogram histogram;
      histogram.record(Duration(value));
      REQUIRE(histogram.counts()[i] == 1);
    }
  }
}

TEST_CASE("percentiles are within 1.6 % of the exact ones; minimum, maximum and mean are exact") {
  for (std::size_t round = 0; round < test::count(50); ++round) {
    CAPTURE(round);
    auto random = test::generator(round);
    Histogram histogram;
    std::vector<std::int64_t> samples;
    double sum = 0;
    const auto count = static_cast<std::size_t>(test::uniform_int(random, 1, 2000));
    for (std::size_t i = 0; i < count; ++i) {
      samples.push_back(static_cast<std::int64_t>(std::exp(test::uniform(random, 0, 27))));
      histogram.record(Duration(samples.back()));
      sum += static_cast<double>(samples.back());
    }
    std::sort(samples.begin(), samples.end());
    CHECK(histogram.min().count() == samples.front());
    CHECK(histogram.max().count() == samples.back());
    CHECK(histogram.mean().count() == static_cast<std::int64_t>(sum / static_cast<double>(count)));
    for (const double percent : {0.0, 50.0, 99.0, 99.9, 100.0}) {
      const double rank = std::max(1.0, std::ceil(percent / 100 * static_cast<double>(count)));
      const auto exact = static_cast<double>(samples[static_cast<std::size_t>(rank) - 1]);
      CHECK(std::abs(static_cast<double>(histogram.percentile(percent).count()) - exact) <= exact / 62 + 0.5);
    }
  }
}

TEST_CASE("durations out of range are counted at its ends") {
  Histogram histogram;
  histogram.record(Duration(-5));
  histogram.record(Duration::max());
  histogram.record(Duration::min());
  CHECK(histogram.count() == 3);
  CHECK(histogram.min() == Duration(0));
  CHECK(histogram.max() == Duration::max());
  CHECK(histogram.counts().front() == 2);
  CHECK(histogram.counts().back() == 1);
}

TEST_CASE("merging is the same as recording everything in one") {
  auto random = test::generator();
  Histogram all;
  Histogram parts[3];
  for (int i = 0; i < 1000; ++i) {
    const Duration duration(test::uniform_int(random, 0, 1'000'000));
    all.record(duration);
    parts[i % 3].record(duration);
  }
  parts[0].merge(parts[1]);
  parts[0].merge(parts[2]);
  parts[0].merge(Histogram());
  CHECK(std::equal(all.counts().begin(), all.counts().end(), parts[0].counts().begin()));
  CHECK(all.mean() == parts[0].mean());
  CHECK(all.min() == parts[0].min());
  CHECK(all.max() == parts[0].max());
  all.reset();
  CHECK(all.count() == 0);
}
