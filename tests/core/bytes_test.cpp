#include "takt/core/bytes.hpp"

#include <doctest/doctest.h>

#include <array>

#include "support/random.hpp"

using namespace takt;

TEST_CASE("numbers round-trip in both byte orders") {
  auto random = test::generator();
  for (std::size_t i = 0; i < test::count(1000); ++i) {
    const auto a = static_cast<std::int32_t>(random());
    const double b = test::uniform(random, -1e9, 1e9);
    const auto c = static_cast<std::uint16_t>(random());
    std::array<std::uint8_t, 28> buffer{};
    ByteWriter writer(buffer);
    writer.little(a);
    writer.big(a);
    writer.little(b);
    writer.big(b);
    writer.little(c);
    writer.big(c);
    REQUIRE(writer.ok());
    ByteReader reader(writer.written());
    CHECK(reader.little<std::int32_t>() == a);
    CHECK(reader.big<std::int32_t>() == a);
    CHECK(reader.little<double>() == b);
    CHECK(reader.big<double>() == b);
    CHECK(reader.little<std::uint16_t>() == c);
    CHECK(reader.big<std::uint16_t>() == c);
    CHECK(reader.ok());
    CHECK(reader.remaining() == 0);
  }
}

TEST_CASE("byte order is what the name says") {
  constexpr std::array<std::uint8_t, 4> bytes{0x01, 0x02, 0x03, 0x04};
  static_assert(ByteReader(bytes).little<std::uint32_t>() == 0x04030201u);
  static_assert(ByteReader(bytes).big<std::uint32_t>() == 0x01020304u);
}

TEST_CASE("a reader that ran out gives zeros and stays failed") {
  constexpr std::array<std::uint8_t, 3> bytes{1, 2, 3};
  ByteReader reader(bytes);
  CHECK(reader.little<std::uint32_t>() == 0);
  CHECK_FALSE(reader.ok());
  CHECK(reader.little<std::uint8_t>() == 0);
  CHECK(reader.bytes(1).empty());
  CHECK(reader.position() == 0);
}

TEST_CASE("a writer writes all of a number or nothing") {
  std::array<std::uint8_t, 3> buffer{9, 9, 9};
  ByteWriter writer(buffer);
  writer.little(std::uint16_t{0});
  writer.little(std::uint32_t{1});
  CHECK_FALSE(writer.ok());
  CHECK(writer.position() == 2);
  CHECK(buffer[2] == 9);
}
