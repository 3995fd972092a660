// The configuration of a CiA 402 drive before it runs.
#include "takt/drives/cia402/cia402_setup.hpp"

#include <doctest/doctest.h>

#include <optional>

using namespace takt;
using namespace takt::drives;

namespace {

/// The number that is written to an object.
std::optional<std::int32_t> written(const Cia402Setup& setup, can::canopen::Address object) {
  for (const can::canopen::ObjectWrite& write : cia402_configuration(setup)) {
    if (write.object == object) return static_cast<std::int32_t>(write.value);
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a home is told in counts, whichever way the joint turns, and only what it says") {
  for (const double scale : {1000.0, -1000.0}) {
    Cia402Setup setup{.counts_per_radian = scale};
    setup.home =
        Cia402Home{.method = -3, .switch_speed = 2, .zero_speed = 0.5, .acceleration = 10, .offset = -0.25};
    REQUIRE(setup.is_good());
    CHECK(written(setup, {0x6098, 0}) == 0xFD);
    CHECK(written(setup, {0x6099, 1}) == 2000);
    CHECK(written(setup, {0x6099, 2}) == 500);
    CHECK(written(setup, {0x609A, 0}) == 10'000);
    CHECK(written(setup, {0x607C, 0}) == (scale > 0 ? -250 : 250));
    setup.home = Cia402Home{};
    CHECK(written(setup, {0x6098, 0}) == 37);
    CHECK_FALSE(written(setup, {0x6099, 1}).has_value());
    CHECK_FALSE(written(setup, {0x607C, 0}).has_value());
  }
}

TEST_CASE("a speed of less than a count is the slowest that there is, not the drive's own") {
  Cia402Setup setup{.counts_per_radian = -100};
  setup.home = Cia402Home{.switch_speed = 0.004, .zero_speed = 0.001, .acceleration = 0.004, .offset = 0.004};
  REQUIRE(setup.is_good());
  CHECK(written(setup, {0x6099, 1}) == 1);
  CHECK(written(setup, {0x6099, 2}) == 1);
  CHECK(written(setup, {0x609A, 0}) == 1);
  CHECK(written(setup, {0x607C, 0}) == 0);
}
