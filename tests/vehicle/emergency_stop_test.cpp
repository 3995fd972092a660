// The emergency stop: categories, brake over time, standing, recovery, and random sequences.
#include "takt/vehicle/emergency_stop.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <optional>

#include "support/random.hpp"

using namespace takt;
using namespace takt::vehicle;
using namespace std::chrono_literals;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr Time start = time_from_nanoseconds(1'000'000'000);
constexpr DriveCommand driving{0.2, 0.7, 0};

EmergencyStop made() { return EmergencyStop::make({}).value(); }

}  // namespace

TEST_CASE(
    "category 0 lets the throttle go and presses the whole brake at once, with the steering where it was") {
  auto stop = made();
  CHECK(stop.trigger(StopCategory::category_0, driving, start));
  CHECK(stop.command() == DriveCommand{0.2, 0, 1});
  CHECK(stop.step(10, start + 1s) == DriveCommand{0.2, 0, 1});
}

TEST_CASE("category 1 presses the brake gradually, and wholly once the vehicle stands") {
  auto stop = made();
  stop.trigger(StopCategory::category_1, driving, start);
  CHECK(stop.command() == DriveCommand{0.2, 0, 0});
  CHECK(stop.step(3, start + 200ms) == DriveCommand{0.2, 0, 0.2});
  CHECK(stop.step(2, start + 2s) == DriveCommand{0.2, 0, 0.5});
  CHECK(stop.step(0.01, start + 3s) == DriveCommand{0.2, 0, 0.5});
  CHECK_FALSE(stop.standing());
  CHECK(stop.step(-0.01, start + 3500ms) == DriveCommand{0.2, 0, 1});
  CHECK(stop.standing());
}

TEST_CASE("category 2 holds the vehicle with the brake that stopped it") {
  auto stop = made();
  stop.trigger(StopCategory::category_2, driving, start);
  stop.step(0, start + 1s);
  CHECK(stop.step(0, start + 2s) == DriveCommand{0.2, 0, 0.5});
  CHECK(stop.standing());
  SUBCASE("for ever") {
    CHECK(stop.step(0, start + 1h) == DriveCommand{0.2, 0, 0.5});
    CHECK(stop.standing());
  }
  SUBCASE("if it moves again that brake is too weak") {
    CHECK(stop.step(0.3, start + 3s) == DriveCommand{0.2, 0, 1});
    CHECK_FALSE(stop.standing());
  }
  SUBCASE("and if the state is unknown") {
    CHECK(stop.step(std::nullopt, start + 3s) == DriveCommand{0.2, 0, 1});
    CHECK_FALSE(stop.standing());
  }
}

TEST_CASE(
    "a controlled stop that does not come to a stand, or not to anybody's knowledge, ends with the full "
    "brake") {
  for (const std::optional<double> speed :
       {std::optional<double>(2), std::optional<double>(), std::optional<double>(not_a_number)}) {
    auto stop = made();
    stop.trigger(StopCategory::category_2, driving, start);
    CHECK(stop.step(speed, start + 4999ms).brake == 0.5);
    CHECK(stop.step(speed, start + 5s).brake == 1);
    CHECK_FALSE(stop.standing());
  }
}

TEST_CASE("the brake continues from its value, and is never released") {
  auto stop = made();
  stop.trigger(StopCategory::category_1, {0, 0, 0.8}, start);
  CHECK(stop.command().brake == 0.8);
  CHECK(stop.step(3, start + 100ms).brake == 0.8);
  CHECK(stop.step(3, start).brake == 0.8);
}

TEST_CASE("locked wheels stand, but the vehicle only after a while") {
  auto stop = made();
  stop.trigger(StopCategory::category_1, driving, start);
  for (int i = 0; i < 40; ++i) {
    stop.step(0, start + i * 100ms);
    CHECK(stop.standing() == (i >= 5 && i % 10 >= 5));
    if (i % 10 == 9) stop.step(1, start + i * 100ms + 50ms);  // slips sometimes
  }
}

TEST_CASE("a more urgent category may follow, a less urgent one may not") {
  auto stop = made();
  CHECK(stop.trigger(StopCategory::category_2, driving, start));
  CHECK_FALSE(stop.trigger(StopCategory::category_2, driving, start));
  CHECK(stop.trigger(StopCategory::category_1, {1, 1, 0}, start));
  CHECK(stop.category() == StopCategory::category_1);
  CHECK_FALSE(stop.trigger(StopCategory::category_2, driving, start));
  CHECK(stop.trigger(StopCategory::category_0, driving, start));
  CHECK_FALSE(stop.trigger(StopCategory::category_1, driving, start));
  CHECK(stop.category() == StopCategory::category_0);
  CHECK(stop.command() == DriveCommand{0.2, 0, 1});
}

TEST_CASE("only recovery ends a stop, and only where the vehicle stands") {
  auto stop = made();
  CHECK(stop.recover());
  stop.trigger(StopCategory::category_0, driving, start);
  CHECK(stop.recover().error() == Errc::not_standing);
  stop.step(0, start);
  CHECK(stop.recover().error() == Errc::not_standing);
  stop.step(0, start + 1s);
  CHECK(stop.active());
  CHECK(stop.recover());
  CHECK_FALSE(stop.active());
  CHECK(stop.step(0, start + 2s).brake == 1);
  SUBCASE("the next stop begins anew") {
    stop.trigger(StopCategory::category_2, driving, start + 3s);
    CHECK_FALSE(stop.standing());
    CHECK(stop.step(3, start + 3100ms).brake == doctest::Approx(0.1));
    CHECK(stop.recover().error() == Errc::not_standing);
  }
}

TEST_CASE(
    "for any measurement the throttle stays off, the steering stays, and the brake only grows until "
    "recovery") {
  auto random = test::generator(701);
  for (std::size_t i = 0; i < test::count(500, 100); ++i) {
    auto stop = made();
    Time now = start;
    const DriveCommand last{test::uniform(random, -1, 1), test::uniform(random, -1, 1),
                            test::uniform(random, 0, 1)};
    stop.trigger(static_cast<StopCategory>(test::uniform_int(random, 0, 2)), last, now);
    double brake = stop.command().brake;
    CHECK(brake >= last.brake);
    for (int k = 0; k < 200; ++k) {
      now += Duration(test::uniform_int(random, 0, 200'000'000));
      const auto kind = test::uniform_int(random, 0, 9);
      const double speed = kind == 0 ? not_a_number : kind < 5 ? 0 : test::uniform(random, -3, 3);
      if (kind == 1) stop.trigger(static_cast<StopCategory>(test::uniform_int(random, 0, 2)), driving, now);
      const DriveCommand command = stop.step(kind == 2 ? std::nullopt : std::optional(speed), now);
      CHECK(command.steering == last.steering);
      CHECK(command.throttle == 0);
      CHECK(command.brake >= brake);
      CHECK(command.brake <= 1);
      brake = command.brake;
      if (now - start > 6s && !stop.standing()) CHECK(brake == 1);
    }
  }
}

TEST_CASE("a last command that is no number stops the vehicle all the same") {
  auto stop = made();
  stop.trigger(StopCategory::category_1, {not_a_number, not_a_number, not_a_number}, start);
  CHECK(stop.command() == DriveCommand{});
  CHECK(stop.step(3, start + 5s) == DriveCommand{0, 0, 1});
}

TEST_CASE("a configuration that cannot stop is refused") {
  const auto error = [](auto change) {
    EmergencyStop::Configuration c;
    change(c);
    return EmergencyStop::make(c).error();
  };
  CHECK(error([](auto& c) { c.service_brake = not_a_number; }) == Errc::not_finite);
  CHECK(error([](auto& c) { c.service_brake = 0; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.service_brake = 1.1; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.brake_rate = 0; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.standstill = -1; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.settling = -1ns; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.longest_braking = 0ns; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.longest_braking = 61s; }) == Errc::out_of_range);
  CHECK(error([](auto& c) { c.brake_rate = 0.099; }) == Errc::out_of_range);  // 0.5 after 5 s
  EmergencyStop::Configuration slow;
  slow.brake_rate = 0.1;
  CHECK(EmergencyStop::make(slow));
}

TEST_CASE("a stop does not know from the one before that the vehicle stands") {
  auto stop = made();
  stop.trigger(StopCategory::category_1, driving, start);
  stop.step(0, start + 1s);
  stop.step(0, start + 2s);
  CHECK(stop.recover());
  stop.trigger(StopCategory::category_1, driving, start + 3s);
  stop.step(0.01, start + 3s);
  CHECK_FALSE(stop.standing());
  CHECK(stop.recover().error() == Errc::not_standing);
  stop.step(0.01, start + 3500ms);
  CHECK(stop.standing());
}

TEST_CASE("no brake is more than the full one, however far it was pressed before") {
  auto stop = made();
  stop.trigger(StopCategory::category_1, {0, 0, 5}, start);
  CHECK(stop.command() == DriveCommand{0, 0, 1});
}
