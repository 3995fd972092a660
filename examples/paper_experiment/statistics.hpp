// The usual quantiles of real-time measurements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace paper {

struct Quantiles {
  std::size_t count = 0;
  double p50 = 0;
  double p99 = 0;
  double p99_9 = 0;
  double max = 0;
};

/// By nearest rank: the p-quantile is the smallest value that is not below a share p of all values.
[[nodiscard]] inline Quantiles quantiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto rank = [&](std::size_t thousandths) {
    return values[std::max<std::size_t>((values.size() * thousandths + 999) / 1000, 1) - 1];
  };
  return {values.size(), rank(500), rank(990), rank(999), values.back()};
}

}  // namespace paper
