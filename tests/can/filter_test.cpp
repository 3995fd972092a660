#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "support/random.hpp"
#include "takt/can/filter.hpp"
#include "takt/can/message.hpp"

using namespace takt;
using namespace takt::can;

namespace {

bool any_passes(std::span<const Filter> filters, std::uint32_t id, bool extended) {
  return std::ranges::any_of(filters, [&](const Filter& filter) { return filter.passes(id, extended); });
}

std::vector<Filter> exact(std::uint32_t first, std::uint32_t count, std::uint32_t step = 1) {
  std::vector<Filter> filters;
  for (std::uint32_t i = 0; i < count; ++i) filters.push_back({.id = first + i * step});
  return filters;
}

struct Status11 {
  static constexpr MessageSpec message{.id = 0x181};
};
struct Engine {
  static constexpr MessageSpec message{
      .id = 0x18F00421, .format = {.extended = true}, .id_mask = 0x00FF'FF00};
};

}  // namespace

TEST_CASE("a typed message gives its filter; one of J1939 for any priority and source") {
  CHECK(filter_of<Status11>().passes(0x181, false));
  CHECK_FALSE(filter_of<Status11>().passes(0x181, true));
  CHECK_FALSE(filter_of<Status11>().passes(0x182, false));
  CHECK(filter_of<Engine>().passes(0x0CF00433, true));
  CHECK_FALSE(filter_of<Engine>().passes(0x0CF00533, true));
}

TEST_CASE("blocks of identifiers become one filter, and nothing else passes it") {
  std::vector<Filter> drives = exact(0x180, 32);
  const auto merged = merge_filters(drives);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0] == Filter{.id = 0x180, .mask = 0x7E0});
  std::vector<Filter> everything = exact(0, 2048);
  REQUIRE(merge_filters(everything).size() == 1);
  CHECK(everything[0].mask == 0);
  std::vector<Filter> crooked =
      exact(0x181, 30);  // 181, 182-183, 184-187, 188-18F, 190-197, 198-19B, 19C-19D, 19E
  CHECK(merge_filters(crooked).size() == 8);
  std::vector<Filter> strided = exact(0x081, 4, 0x100);  // 081, 181, 281, 381
  CHECK(merge_filters(strided).size() == 1);
}

TEST_CASE("redundant and duplicate filters are removed") {
  std::vector filters{Filter{.id = 0x123}, Filter{.id = 0x123}, Filter{.id = 0x100, .mask = 0x700},
                      Filter{.id = 0x123, .extended = true}};
  const auto merged = merge_filters(filters);
  REQUIRE(merged.size() == 2);
  CHECK(any_passes(merged, 0x1FF, false));
  CHECK(any_passes(merged, 0x123, true));
  CHECK(merge_filters({}).empty());
}

TEST_CASE("merging changes nothing of what passes, as long as there is room") {
  std::mt19937_64 random = test::generator();
  for (std::size_t round = 0; round < test::count(200); ++round) {
    std::vector<Filter> wanted(static_cast<std::size_t>(test::uniform_int(random, 0, 60)));
    for (Filter& filter : wanted) {
      filter.extended = test::uniform_int(random, 0, 3) == 0;
      filter.id = static_cast<std::uint32_t>(random()) & 0x8F;  // close together, so that many merge
      filter.mask = ~static_cast<std::uint32_t>(random() & random() & random());
      if (filter.extended) filter.mask |= 0x1FFFF800;
    }
    std::vector<Filter> memory = wanted;
    const auto merged = merge_filters(memory);
    CHECK(merged.size() <= wanted.size());
    for (std::uint32_t id = 0; id <= max_standard_id; ++id) {
      REQUIRE(any_passes(merged, id, false) == any_passes(wanted, id, false));
      REQUIRE(any_passes(merged, id, true) == any_passes(wanted, id, true));
    }
  }
}

TEST_CASE("a limit is kept, and all that is wanted still passes") {
  std::mt19937_64 random = test::generator(1);
  for (const std::size_t limit : {0U, 2U, 7U, 64U}) {
    std::vector<Filter> wanted(300);
    for (Filter& filter : wanted) {
      filter.extended = test::uniform_int(random, 0, 1) == 0;
      filter.id = static_cast<std::uint32_t>(random()) & max_extended_id;
    }
    std::vector<Filter> memory = wanted;
    const auto merged = merge_filters(memory, limit);
    CHECK(merged.size() <= std::max<std::size_t>(limit, 2));
    for (const Filter& filter : wanted) {
      const std::uint32_t id = filter.id & (filter.extended ? max_extended_id : max_standard_id);
      REQUIRE(any_passes(merged, id, filter.extended));
    }
  }
}

TEST_CASE("a limit lets through as little as it can: gaps are closed where they are small") {
  std::vector filters{Filter{.id = 0x100}, Filter{.id = 0x103}, Filter{.id = 0x700}};
  const auto merged = merge_filters(filters, 2);
  REQUIRE(merged.size() == 2);
  CHECK(any_passes(merged, 0x101, false));
  CHECK_FALSE(any_passes(merged, 0x300, false));
  CHECK_FALSE(any_passes(merged, 0x104, false));
}

// If the time grew with the cube of the number of filters, this would take half a minute.
TEST_CASE("the filters of a large database are merged") {
  std::mt19937_64 random = test::generator(2);
  std::vector<Filter> wanted(5'000);
  for (Filter& filter : wanted) {
    filter = {.id = static_cast<std::uint32_t>(random()) & max_extended_id, .extended = true};
  }
  std::vector<Filter> memory = wanted;
  const auto merged = merge_filters(memory);
  // The last join may cover more filters than its two, and so leave room.
  CHECK(merged.size() <= max_filters);
  CHECK(merged.size() > max_filters / 2);
  for (const Filter& filter : wanted) REQUIRE(any_passes(merged, filter.id, true));
}

constexpr std::size_t merged_when_compiled() {
  std::array filters = {Filter{.id = 1}, Filter{.id = 0}, Filter{.id = 1}};
  return merge_filters(filters).size();
}
static_assert(merged_when_compiled() == 1);
