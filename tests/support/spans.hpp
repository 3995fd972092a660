// Takes the spans of a tracer, and judges how they lie in each other.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "takt/rt/tracer.hpp"

namespace takt::test {

/// All spans that wait, in the order of their ends.
inline std::vector<rt::TraceSpan> take_all(rt::Tracer& tracer) {
  std::vector<rt::TraceSpan> all;
  std::array<rt::TraceSpan, 7> some;
  while (const std::size_t count = tracer.take(some))
    all.insert(all.end(), some.begin(), some.begin() + count);
  return all;
}

inline bool lies_in(const rt::TraceSpan& inner, const rt::TraceSpan& outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

/// Names two spans that overlap without one lying in the other; empty: there are none.
inline std::string overlap_in(const std::vector<rt::TraceSpan>& spans) {
  for (const rt::TraceSpan& a : spans) {
    for (const rt::TraceSpan& b : spans) {
      if (a.end <= b.begin || b.end <= a.begin || lies_in(a, b) || lies_in(b, a)) continue;
      return std::string(rt::text_of(a.name)) + " and " + std::string(rt::text_of(b.name));
    }
  }
  return {};
}

/// The spans of this name.
inline std::vector<rt::TraceSpan> named(const std::vector<rt::TraceSpan>& spans, std::string_view name) {
  std::vector<rt::TraceSpan> found;
  std::ranges::copy_if(spans, std::back_inserter(found),
                       [&](const rt::TraceSpan& span) { return rt::text_of(span.name) == name; });
  return found;
}

/// The names of the spans that lie in this one, without itself, in the order of their beginnings.
inline std::vector<std::string> names_within(std::vector<rt::TraceSpan> spans, const rt::TraceSpan& outer) {
  std::ranges::stable_sort(spans, {}, &rt::TraceSpan::begin);
  std::vector<std::string> names;
  for (const rt::TraceSpan& span : spans) {
    const bool is_outer = span.begin == outer.begin && span.end == outer.end && span.name == outer.name;
    if (!is_outer && lies_in(span, outer)) names.emplace_back(rt::text_of(span.name));
  }
  return names;
}

}  // namespace takt::test
