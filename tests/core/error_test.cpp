#include "takt/core/error.hpp"

#include <doctest/doctest.h>

namespace {
enum class Errc : std::uint16_t { too_hot = 1, too_cold = 2 };
constexpr takt::Room room_of(Errc) noexcept { return takt::Room::sim; }
[[maybe_unused]] constexpr std::string_view describe(Errc code) noexcept {
  return code == Errc::too_hot ? "too hot" : "too cold";
}

takt::Result<int> checked(int celsius) {
  if (celsius > 100) return takt::fail(Errc::too_hot);
  return celsius;
}
}  // namespace

TEST_CASE("an error compares equal to the code that it was made from") {
  CHECK(checked(20).value() == 20);
  REQUIRE_FALSE(checked(200).has_value());
  CHECK(checked(200).error() == Errc::too_hot);
  CHECK_FALSE(checked(200).error() == Errc::too_cold);
  CHECK(checked(200).error().room == takt::Room::sim);
}
