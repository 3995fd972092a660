// Receive filters: which identifiers a program wants, as the pairs of identifier and mask that kernels and
// controllers take. merge_filters() makes them few.
//
//     std::array wanted = {can::filter_of<DriveStatus>(), can::Filter{.id = 0x080},
//                          can::Filter{.id = 0x180, .mask = 0x780}};
//     const std::span<can::Filter> filters = can::merge_filters(wanted);
//
// Pure: it works within the caller's memory. It is for set-up: the time grows with the square of the number
// of filters.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "takt/can/frame.hpp"

namespace takt::can {

/// The number of filters that a SocketCAN socket takes.
inline constexpr std::size_t max_filters = 512;

/// Passes the identifiers of one format that equal `id` in the bits that are one in `mask`.
struct Filter {
  std::uint32_t id = 0;
  std::uint32_t mask = max_extended_id;  ///< of an 11-bit identifier only the lower 11 bits count
  bool extended = false;

  /// Returns whether the filter passes this identifier. Real-time safe.
  [[nodiscard]] constexpr bool passes(std::uint32_t other, bool other_extended) const noexcept {
    const std::uint32_t width = extended ? max_extended_id : max_standard_id;
    return extended == other_extended && ((id ^ other) & mask & width) == 0;
  }

  friend constexpr bool operator==(const Filter&, const Filter&) = default;
};

/// Returns the filter of a typed message (can/message.hpp). For messages of a database, see
/// MessageCodec::filter().
template <class T>
[[nodiscard]] constexpr Filter filter_of() noexcept {
  return {T::message.id, T::message.id_mask, T::message.format.extended};
}

namespace detail {

/// Clears the bits that do not count, so that filters that pass the same identifiers compare equal.
[[nodiscard]] constexpr Filter normal_form(const Filter& filter) noexcept {
  const std::uint32_t mask = filter.mask & (filter.extended ? max_extended_id : max_standard_id);
  return {filter.id & mask, mask, filter.extended};
}

[[nodiscard]] constexpr bool covers(const Filter& wide, const Filter& narrow) noexcept {
  return (wide.mask & ~narrow.mask) == 0 && wide.passes(narrow.id, narrow.extended);
}

/// The number of identifiers that the filter passes.
[[nodiscard]] constexpr std::uint32_t breadth(const Filter& filter) noexcept {
  return 1U << ((filter.extended ? 29 : 11) - std::popcount(filter.mask));
}

/// The narrowest filter that passes the identifiers of both. Both must have the same format.
[[nodiscard]] constexpr Filter join(const Filter& a, const Filter& b) noexcept {
  return normal_form({a.id, a.mask & b.mask & ~(a.id ^ b.id), a.extended});
}

/// Removes each filter that another filter covers. Keeps the order.
[[nodiscard]] constexpr std::span<Filter> without_covered(std::span<Filter> filters) noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const Filter filter = filters[i];
    const auto covers_it = [&](const Filter& other) { return covers(other, filter); };
    const bool is_covered = std::ranges::any_of(filters.first(kept), covers_it) ||
                            std::ranges::any_of(filters.subspan(i + 1), covers_it);
    if (!is_covered) filters[kept++] = filter;
  }
  return filters.first(kept);
}

/// Joins pairs that differ only in this one bit of the identifier. The set of passed identifiers does not
/// change.
[[nodiscard]] constexpr std::span<Filter> join_twins(std::span<Filter> filters, std::uint32_t bit) noexcept {
  const auto key = [bit](const Filter& f) { return std::tuple(f.extended, f.mask, f.id & ~bit, f.id & bit); };
  std::ranges::sort(filters, {}, key);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    Filter filter = filters[i];
    const bool has_twin =
        i + 1 < filters.size() && filters[i + 1] == Filter{filter.id | bit, filter.mask, filter.extended};
    if ((filter.mask & bit) != 0 && (filter.id & bit) == 0 && has_twin) {
      filter = join(filter, filters[++i]);
    }
    filters[kept++] = filter;
  }
  return filters.first(kept);
}

/// Joins the two neighbours, in the order of identifiers, whose join adds the fewest unwanted identifiers.
/// Removes the filters that the join covers.
[[nodiscard]] constexpr std::span<Filter> join_cheapest(std::span<Filter> filters) noexcept {
  std::size_t best = filters.size();
  std::int64_t lowest = 0;
  for (std::size_t i = 0; i + 1 < filters.size(); ++i) {
    if (filters[i].extended != filters[i + 1].extended) continue;
    const std::int64_t cost = std::int64_t{breadth(join(filters[i], filters[i + 1]))} - breadth(filters[i]) -
                              breadth(filters[i + 1]);
    if (best < filters.size() && cost >= lowest) continue;
    best = i;
    lowest = cost;
  }
  const Filter joint = join(filters[best], filters[best + 1]);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    if (i != best && covers(joint, filters[i])) continue;
    filters[kept++] = i == best ? joint : filters[i];
  }
  return filters.first(kept);
}

}  // namespace detail

/// Reduces the filters, in place, and returns the front part of the same memory that holds the result.
/// Argument `limit`: the largest number of filters to return; at least 2 is used, one for each format. The
/// result passes exactly the same identifiers if that needs no more than `limit` filters. Otherwise it passes
/// additional ones. The result is small but not always the smallest, because that search takes exponential
/// time. Not for the cycle.
[[nodiscard]] constexpr std::span<Filter> merge_filters(std::span<Filter> filters,
                                                        std::size_t limit = max_filters) noexcept {
  std::ranges::transform(filters, filters.begin(), detail::normal_form);
  std::size_t before = 0;
  do {
    before = filters.size();
    filters = detail::without_covered(filters);
    for (std::uint32_t bit = 1; bit <= max_extended_id; bit <<= 1U)
      filters = detail::join_twins(filters, bit);
  } while (filters.size() < before);
  std::ranges::sort(filters, {}, [](const Filter& f) { return std::tuple(f.extended, f.id); });
  while (filters.size() > std::max<std::size_t>(limit, 2)) {
    filters = detail::join_cheapest(filters);
  }
  return filters;
}

}  // namespace takt::can
