#include "tools/report_statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "support/random.hpp"
#include "tools/report_text.hpp"

using namespace takt;
using namespace takt::tools;

TEST_CASE("moments agree with their definition, whole or merged") {
  auto random = test::generator();
  for (std::size_t i = 0; i < test::count(200); ++i) {
    std::vector<double> values;
    Moments all, left, right;
    const auto size = static_cast<std::size_t>(test::uniform_int(random, 1, 60));
    const auto cut = static_cast<std::size_t>(test::uniform_int(random, 0, static_cast<std::int64_t>(size)));
    for (std::size_t k = 0; k < size; ++k) {
      values.push_back(test::uniform(random, 999, 1001));
      all.add(values.back());
      (k < cut ? left : right).add(values.back());
    }
    double mean = 0, variance = 0;
    for (const double value : values) mean += value / static_cast<double>(size);
    for (const double value : values) variance += (value - mean) * (value - mean) / static_cast<double>(size);
    left.merge(right);
    for (const Moments& moments : {all, left}) {
      CHECK(moments.count() == size);
      CHECK(moments.mean() == doctest::Approx(mean).epsilon(1e-12));
      CHECK(moments.deviation() == doctest::Approx(std::sqrt(variance)).epsilon(1e-8));
    }
  }
}

TEST_CASE("quantiles are by nearest rank") {
  std::vector<double> values;
  for (int i = 1000; i > 0; --i) values.push_back(i);
  const Quantiles of = quantiles(values);
  CHECK(of.min == 1);
  CHECK(of.p50 == 500);
  CHECK(of.p99 == 990);
  CHECK(of.p999 == 999);
  CHECK(of.max == 1000);
  CHECK(quantiles({7}).p999 == 7);
  CHECK(quantiles({}).count == 0);
  CHECK(quantiles({2, 1}).p50 == 1);
}

TEST_CASE("an envelope keeps every sample of a short curve and every peak of a long one") {
  Envelope shortish(10);
  for (int i = 0; i < 10; ++i) shortish.add(i, i * i);
  CHECK(shortish.points().size() == 10);

  auto random = test::generator();
  for (std::size_t run = 0; run < test::count(50); ++run) {
    Envelope envelope(16);
    double low = 1e9, high = -1e9;
    const std::int64_t size = test::uniform_int(random, 1, 2000);
    for (std::int64_t i = 0; i < size; ++i) {
      const double value = test::uniform(random, -1, 1);
      low = std::min(low, value);
      high = std::max(high, value);
      envelope.add(static_cast<double>(i), value);
    }
    const auto points = envelope.points();
    CHECK(points.size() <= 32);
    double found_low = 1e9, found_high = -1e9, last = -1;
    for (const auto& point : points) {
      CHECK(point.time > last);
      last = point.time;
      found_low = std::min(found_low, point.value);
      found_high = std::max(found_high, point.value);
    }
    CHECK(found_low == low);
    CHECK(found_high == high);
  }
}

TEST_CASE("a gap in a curve stays a gap") {
  Envelope envelope(100);
  for (int i = 0; i < 9; ++i) envelope.add(i, i >= 3 && i < 6 ? std::nan("") : 1.0);
  const auto points = envelope.points();
  REQUIRE(points.size() == 7);
  CHECK(std::isnan(points[3].value));
}

TEST_CASE("histograms lose no value") {
  const std::vector<double> values{-5, 0, 0.49, 0.5, 0.99, 1, 17};
  const auto bins = linear_histogram(values, 0, 1, 2);
  CHECK(bins[0].count == 3);
  CHECK(bins[1].count == 4);
  CHECK(bins[1].low == doctest::Approx(0.5));

  const auto decades = log_histogram({0, -1, 0.5, 2, 20, 21, 2000}, 1, 1);
  REQUIRE(decades.size() == 4);
  CHECK(decades[0].count == 4);
  CHECK(decades[1].count == 2);
  CHECK(decades[2].count == 0);
  CHECK(decades[3].count == 1);
  CHECK(decades[3].low == doctest::Approx(1000));
}

TEST_CASE("text from outside is made harmless for each place") {
  CHECK(html("<a href=\"x\">'&'</a>") == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  CHECK(html("\x01\n") == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(plot_label("it's `ls`") == "it\u2019s \u2018ls\u2018");
  CHECK(plot_label(std::string(1000, 'x')).size() < 60);
  CHECK(file_stem("../../etc/passwd") == "______etc_passwd");
  CHECK(file_stem(std::string(1000, 'x')).size() == 40);
  CHECK(csv_cell("plain") == "plain");
  CHECK(csv_cell("a,\"b\"\n") == "\"a,\"\"b\"\"\xef\xbf\xbd\"");
}

TEST_CASE("bytes that are not UTF-8 are replaced, others stay") {
  CHECK(printable("\u00b0 \u2212 \U0001F916") == "\u00b0 \u2212 \U0001F916");
  const std::string bad = "\xef\xbf\xbd";
  CHECK(printable("\xc3") == bad);                      // cut off
  CHECK(printable("\xc0\xaf") == bad + bad);            // overlong
  CHECK(printable("\xed\xa0\x80") == bad + bad + bad);  // surrogate
  CHECK(printable("\xf4\x90\x80\x80") == bad + bad + bad + bad);
  CHECK(printable("\xc2\x85") == bad);  // a control character of two bytes
}

TEST_CASE("durations read well") {
  CHECK(duration_text(0) == "0");
  CHECK(duration_text(0.74) == "740 ns");
  CHECK(duration_text(3.456) == "3.46 \u00b5s");
  CHECK(duration_text(12.34) == "12.3 \u00b5s");
  CHECK(duration_text(999.4) == "999 \u00b5s");
  CHECK(duration_text(4567) == "4.57 ms");
  CHECK(duration_text(1.2e6) == "1.20 s");
}

TEST_CASE("a delay is found and taken out of an error, whole or in parts") {
  DelayFit whole;
  DelayFit first;
  DelayFit second;
  for (int i = 0; i < 400; ++i) {
    const double velocity = 60 * std::sin(i * 0.05);
    const double own = i % 2 == 0 ? 0.01 : -0.01;
    const double error = 0.3 + 0.009 * velocity + own;
    whole.add(error, velocity);
    (i < 150 ? first : second).add(error, velocity);
  }
  first.merge(second);
  for (const DelayFit& fit : {whole, first}) {
    CHECK(fit.delay() == doctest::Approx(0.009).epsilon(1e-3));
    CHECK(fit.residual() == doctest::Approx(0.01).epsilon(1e-2));
  }
  CHECK(DelayFit().delay() == 0);
  CHECK(DelayFit().residual() == 0);
}
