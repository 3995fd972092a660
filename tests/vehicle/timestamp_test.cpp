// Stamps that wrap every 49.7 days: the epoch, differences and order on the circle, and the turn given by a
// clock.
#include "takt/vehicle/timestamp.hpp"

#include <doctest/doctest.h>

#include "support/random.hpp"

using namespace takt::vehicle;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds turn{std::int64_t{1} << 32};

static_assert(stamp_epoch == std::chrono::sys_days(std::chrono::year(2018) / 7 / 7) + 21h + 46min + 40s);
static_assert(to_stamp(stamp_epoch) == 0);
static_assert(to_stamp(stamp_epoch + 1s) == 1000);
static_assert(to_stamp(stamp_epoch - 1ms) == 0xFFFF'FFFF);
static_assert(to_stamp(stamp_epoch + turn + 5ms) == 5);

static_assert(newer(1, 0) && !newer(0, 1) && !newer(7, 7));
static_assert(newer(0, 0xFFFF'FFFF) && !newer(0xFFFF'FFFF, 0));
static_assert(newer(0x7FFF'FFFF, 0) && !newer(0x8000'0000, 0) && !newer(0, 0x8000'0000));
static_assert(stamp_difference(4, 0xFFFF'FFFE) == 6ms && stamp_difference(0xFFFF'FFFE, 4) == -6ms);

}  // namespace

TEST_CASE("a receiver whose clock is wrong by less than half a turn finds the time that was stamped") {
  auto random = takt::test::generator(1);
  for (std::size_t i = 0; i < takt::test::count(1000); ++i) {
    const UnixTime sent =
        stamp_epoch + milliseconds(takt::test::uniform_int(random, -10 * turn.count(), 100 * turn.count()));
    const milliseconds error(takt::test::uniform_int(random, -turn.count() / 2 + 1, turn.count() / 2 - 1));
    CHECK(unwrap(to_stamp(sent), sent + error) == sent);
  }
}

TEST_CASE("of two stamps less than half a turn apart the later is newer, at any place of the circle") {
  auto random = takt::test::generator(2);
  for (std::size_t i = 0; i < takt::test::count(1000); ++i) {
    const auto stamp = static_cast<std::uint32_t>(random());
    const auto later = static_cast<std::uint32_t>(takt::test::uniform_int(random, 1, 0x7FFF'FFFF));
    CHECK(newer(stamp + later, stamp));
    CHECK_FALSE(newer(stamp, stamp + later));
    CHECK(stamp_difference(stamp + later, stamp) == milliseconds(later));
  }
}
