// The replay window against a set of all received numbers, and the end of the sent numbers.
#include "takt/secure/replay_window.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>

#include "support/random.hpp"

using namespace takt;
using namespace takt::secure;

namespace {

template <std::size_t Bits>
ReplayVerdict by_set(const std::set<std::uint64_t>& seen, std::uint64_t sequence) {
  const std::uint64_t highest = seen.empty() ? 0 : *seen.rbegin();
  if (sequence > highest) return ReplayVerdict::newest;
  if (sequence == 0 || highest - sequence >= Bits || seen.count(sequence) > 0) return ReplayVerdict::seen;
  return ReplayVerdict::overtaken;
}

template <std::size_t Bits>
void compare(std::uint64_t first, std::uint64_t salt) {
  auto random = test::generator(salt);
  ReplayWindow<Bits> window;
  std::set<std::uint64_t> seen;
  std::uint64_t around = first;
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    if (test::uniform_int(random, 0, 200) == 0)
      around += static_cast<std::uint64_t>(test::uniform_int(random, 0, 3000));
    const auto back =
        static_cast<std::uint64_t>(test::uniform_int(random, 0, static_cast<std::int64_t>(Bits) + 70));
    const std::uint64_t sequence = around < back ? 0 : around - back;
    around += static_cast<std::uint64_t>(test::uniform_int(random, 0, 2));
    const ReplayVerdict freshness = window.judge(sequence);
    REQUIRE(freshness == by_set<Bits>(seen, sequence));
    if (freshness == ReplayVerdict::seen) continue;
    window.accept(sequence);
    seen.insert(sequence);
    REQUIRE(window.judge(sequence) == ReplayVerdict::seen);
    REQUIRE(window.highest() == *seen.rbegin());
  }
}

}  // namespace

TEST_CASE("a replay window knows what came as a set of all numbers does, as far back as it says") {
  compare<64>(1, 1);
  compare<256>(1, 2);
  compare<1024>(1, 3);
  compare<64>(std::uint64_t{1} << 63, 4);
  compare<1024>(UINT64_MAX - 200'000'000, 5);
}

TEST_CASE("the number zero is never new") {
  const ReplayWindow<64> window;
  CHECK(window.judge(0) == ReplayVerdict::seen);
  CHECK(window.judge(1) == ReplayVerdict::newest);
}

TEST_CASE("after the last number nothing is new any more") {
  ReplayWindow<64> window;
  window.accept(UINT64_MAX);
  CHECK(window.judge(UINT64_MAX) == ReplayVerdict::seen);
  CHECK(window.judge(UINT64_MAX - 1) == ReplayVerdict::overtaken);
  CHECK(window.judge(UINT64_MAX - 64) == ReplayVerdict::seen);
  CHECK(window.judge(1) == ReplayVerdict::seen);
}

TEST_CASE("frames are numbered from one, and none a second time at the end of the numbers") {
  SequenceCounter first;
  CHECK(first.next() == 1u);
  CHECK(first.next() == 2u);
  SequenceCounter last(UINT64_MAX - 1);
  CHECK(last.next() == UINT64_MAX);
  CHECK(last.next().error() == Errc::sequence_end);
  CHECK(last.next().error() == Errc::sequence_end);
}
