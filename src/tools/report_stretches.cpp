#include "tools/report_stretches.hpp"

#include <algorithm>

namespace takt::tools {

void CycleRanges::add(double begin, double end) {
  const auto index_of = [this](auto found) { return static_cast<std::size_t>(found - times_.begin()); };
  CycleRange all{index_of(std::ranges::lower_bound(times_, begin)),
                 index_of(std::ranges::upper_bound(times_, end))};
  if (all.first >= all.last) return;
  const auto from = std::ranges::lower_bound(ranges_, all.first, {}, &CycleRange::last);
  const auto to = std::ranges::upper_bound(from, ranges_.end(), all.last, {}, &CycleRange::first);
  std::size_t known = 0;
  for (auto range = from; range != to; ++range) {
    known += range->size();
    all = {std::min(all.first, range->first), std::max(all.last, range->last)};
  }
  if (all.size() - known > left_ || (from == to && ranges_.size() == max_ranges)) return;
  left_ -= all.size() - known;
  ranges_.insert(ranges_.erase(from, to), all);
}

}  // namespace takt::tools
