#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "support/random.hpp"
#include "takt/can/stamp_clock.hpp"

using namespace takt;
using namespace takt::can;
using namespace std::chrono_literals;

namespace {

/// A controller whose clock has another start and runs too fast by the given parts per million.
struct Controller {
  std::int64_t start = 0;
  double parts_per_million = 0;

  [[nodiscard]] std::int64_t stamp(Time time) const {
    const auto elapsed = static_cast<double>(to_nanoseconds(time));
    return start + static_cast<std::int64_t>(elapsed * (1 + parts_per_million * 1e-6));
  }
};

}  // namespace

TEST_CASE("hardware stamps come onto the program's clock, however late the program receives the frames") {
  std::mt19937_64 random = test::generator();
  for (const double drift : {0.0, 50.0, -50.0, 95.0, -95.0}) {
    const Controller controller{test::uniform_int(random, -1'000'000'000'000, 1'000'000'000'000), drift};
    StampClock clock;
    Time now{1h};
    for (int i = 0; i < 20'000; ++i) {
      now += Duration(test::uniform_int(random, 100'000, 1'000'000));
      // At least 10 us, mostly some tens of us, sometimes milliseconds.
      const Duration latency{test::uniform_int(random, 10'000, i % 20 == 0 ? 3'000'000 : 60'000)};
      const Time told = clock.to_local(controller.stamp(now), now + latency);
      CHECK(told <= now + latency);
      if (i < 100) continue;
      REQUIRE(told >= now);  // the smallest latency remains
      REQUIRE(told <= now + 40us);
    }
  }
}

TEST_CASE("a controller that was restarted, or set, is followed at once") {
  StampClock clock;
  CHECK(clock.to_local(5'000'000'000, Time(100s)) == Time(100s));
  CHECK(clock.to_local(5'001'000'000, Time(100s + 1ms + 50us)) < Time(100s + 1ms + 2us));
  CHECK(clock.to_local(1'000, Time(101s)) == Time(101s));
  CHECK(clock.to_local(1'000'000'001'000, Time(102s)) == Time(102s));
}

TEST_CASE("stamps of any number do no harm, and are never later than the frame was seen") {
  std::mt19937_64 random = test::generator(1);
  StampClock clock;
  for (std::size_t i = 0; i < test::count(10'000); ++i) {
    const Time seen{Duration(test::uniform_int(random, 0, 1'000'000'000'000'000))};
    CHECK(clock.to_local(static_cast<std::int64_t>(random()), seen) <= seen);
  }
  for (const std::int64_t stamp : {std::numeric_limits<std::int64_t>::min(), std::int64_t{0},
                                   std::numeric_limits<std::int64_t>::max()}) {
    CHECK(clock.to_local(stamp, Time(1s)) <= Time(1s));
  }
}
