// Order and age of frames by their stamps: delays, jitter, drift, duplicates, restarts and impossible stamps.
#include "takt/vehicle/stamp_order.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "support/random.hpp"

using namespace takt;
using namespace takt::vehicle;
using namespace std::chrono_literals;

namespace {

constexpr Time start = time_from_nanoseconds(5'000'000'000);
constexpr Duration silence = 100ms;

/// The stamp at this many ms after the start; it wraps soon.
constexpr std::uint32_t stamp(std::int64_t ms) { return static_cast<std::uint32_t>(0xffff'ff00 + ms); }

Time at(std::int64_t ms) { return start + std::chrono::milliseconds(ms); }

}  // namespace

TEST_CASE("frames in order are the newest, also around the end of the stamps") {
  StampOrder order(silence);
  CHECK(order.admit(stamp(0), at(5)) == Arrival::first);
  for (int ms = 10; ms < 1000; ms += 10) {
    CHECK(order.admit(stamp(ms), at(ms + 5)) == Arrival::newest);
    CHECK(order.newest() == ms * 1ms);
    CHECK(order.age(order.newest(), at(ms + 5)) == 0ns);
    CHECK(order.age(order.newest(), at(ms + 12)) == 7ms);
  }
}

TEST_CASE("what was overtaken is late, what came before is a duplicate") {
  StampOrder order(silence);
  order.admit(stamp(0), at(0));
  order.admit(stamp(20), at(20));
  CHECK(order.admit(stamp(20), at(21)) == Arrival::duplicate);
  CHECK(order.admit(stamp(10), at(22)) == Arrival::late);
  CHECK(order.admit(stamp(10), at(23)) == Arrival::duplicate);
  CHECK(order.admit(stamp(0), at(23)) == Arrival::duplicate);
  order.admit(stamp(63), at(64));
  CHECK(order.admit(stamp(0), at(65)) == Arrival::duplicate);
  order.admit(stamp(64), at(65));
  CHECK(order.admit(stamp(0), at(66)) == Arrival::late);
  CHECK(order.admit(stamp(10), at(66)) == Arrival::duplicate);
  CHECK(order.newest() == 64ms);
}

TEST_CASE("a frame that was held back is as old as it is") {
  StampOrder order(silence);
  order.admit(stamp(0), at(5));
  CHECK(order.admit(stamp(10), at(1015)) == Arrival::newest);
  CHECK(order.age(order.newest(), at(1015)) > 999ms);
  CHECK(order.age(order.newest(), at(1015)) <= 1s);
  SUBCASE("so are all those behind it") {
    for (int ms = 20; ms < 500; ms += 10) {
      CHECK(order.admit(stamp(ms), at(ms + 1005)) == Arrival::newest);
      CHECK(order.age(order.newest(), at(ms + 1005)) > 999ms);
    }
  }
  SUBCASE("a late stamp stays late after any silence") {
    CHECK(order.admit(stamp(5), at(9'000)) == Arrival::late);
    CHECK(order.age(order.newest(), at(9'000)) > 8s);
  }
}

TEST_CASE("the quickest frame counts, and is forgotten as slowly as clocks drift") {
  StampOrder order(silence);
  order.admit(stamp(0), at(40));
  CHECK(order.admit(stamp(10), at(15)) == Arrival::newest);  // delayed by 5 ms instead of 40
  CHECK(order.age(order.newest(), at(15)) == 0ns);
  CHECK(order.age(Duration(0), at(15)) == 10ms);
  std::int64_t ms = 20;
  for (; ms < 60'000; ms += 10) order.admit(stamp(ms), at(ms + 8));
  order.admit(stamp(ms), at(ms + 8));
  // 3 ms more than the fastest frame, whose advantage fades by more than that within a minute
  CHECK(order.age(order.newest(), at(ms + 8)) == 0ns);
  ms += 10;
  CHECK(order.admit(stamp(ms), at(ms + 18)) == Arrival::newest);
  CHECK(order.age(order.newest(), at(ms + 18)) > 9ms);
}

TEST_CASE("an impossible stamp is refused while others arrive, and locks none of them out") {
  StampOrder order(silence);
  std::int64_t ms = 0;
  order.admit(stamp(0), at(5));
  for (const std::int64_t off : {60, 1000, 86'400'000, 2'147'483'000, -10'001, -86'400'000}) {
    CHECK(order.admit(stamp(ms + off), at(ms + 5)) == Arrival::impossible);
    ms += 10;
    CHECK(order.admit(stamp(ms), at(ms + 5)) == Arrival::newest);
    CHECK(order.age(order.newest(), at(ms + 5)) == 0ns);
  }
}

TEST_CASE("a sender that began anew is heard once the old one has been silent") {
  StampOrder order(silence);
  order.admit(stamp(50'000), at(0));
  CHECK(order.admit(stamp(0), at(100)) == Arrival::impossible);
  CHECK(order.admit(stamp(10), at(101)) == Arrival::first);
  CHECK(order.newest() == 0ns);
  CHECK(order.admit(stamp(20), at(111)) == Arrival::newest);
  CHECK(order.admit(stamp(10'000'000), at(300)) == Arrival::first);
}

TEST_CASE("for random stamps, waiting makes none younger, and the newest only moves forward") {
  auto random = test::generator(702);
  for (std::size_t i = 0; i < test::count(300, 100); ++i) {
    StampOrder order(silence);
    Time now = start;
    Duration newest{};
    for (int k = 0; k < 300; ++k) {
      now += Duration(test::uniform_int(random, 0, 20'000'000));
      const bool wild = test::uniform_int(random, 0, 5) == 0;
      const auto any = wild ? static_cast<std::uint32_t>(random())
                            : stamp((now - start) / 1ms + test::uniform_int(random, -80, 0));
      const Duration before = order.age(order.newest(), now);
      const Arrival arrival = order.admit(any, now);
      const bool moved = arrival == Arrival::newest;
      if (arrival == Arrival::first) newest = Duration(0);
      CHECK((moved ? order.newest() > newest : order.newest() == newest));
      if (!moved && arrival != Arrival::first) CHECK(order.age(order.newest(), now) == before);
      newest = order.newest();
      CHECK(order.age(newest, now) >= 0ns);
      CHECK(order.age(newest, now + 1ms) >= order.age(newest, now));
    }
  }
}
