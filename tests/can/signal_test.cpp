// Tests the signal kernel against an independent one that moves single bits, for every offset and length.
// Also tests it against hand-made vectors, and its two interfaces against each other.
#include "takt/can/signal.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "support/random.hpp"

using namespace takt;
using namespace takt::can;

namespace {

using Data = std::array<std::uint8_t, 64>;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the bit numbers of a field from the most significant on, by the rule of DBC files. Empty if they
/// exceed the frame.
std::vector<unsigned> naive_bits(BitField field, unsigned frame_bits) {
  std::vector<unsigned> bits;
  unsigned at = field.start;
  for (unsigned i = 0; i < field.length; ++i) {
    if (at >= frame_bits) return {};
    bits.push_back(at);
    if (field.order == ByteOrder::little) {
      ++at;
    } else {
      at = at % 8 == 0 ? at + 15 : at - 1;
    }
  }
  if (field.order == ByteOrder::little) std::reverse(bits.begin(), bits.end());
  return bits;
}

std::uint64_t naive_extract(const std::vector<unsigned>& bits, const Data& data) {
  std::uint64_t number = 0;
  for (const unsigned bit : bits) number = number << 1 | (unsigned{data[bit / 8]} >> (bit % 8) & 1U);
  return number;
}

Data random_bytes(std::mt19937_64& random) {
  Data data;
  for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random());
  return data;
}

// Fields that cover every code path: bytes, words, odd lengths, nine bytes, both orders.
constexpr BitField in_byte{3, 4};
constexpr BitField whole_word{8, 32, ByteOrder::little, NumberType::signed_integer};
constexpr BitField odd_little{13, 23, ByteOrder::little, NumberType::signed_integer};
constexpr BitField nine_little{5, 64, ByteOrder::little, NumberType::signed_integer};
constexpr BitField odd_big{12, 13, ByteOrder::big};
constexpr BitField nine_big{2, 64, ByteOrder::big};
constexpr BitField last_big{455, 64, ByteOrder::big, NumberType::float64};
constexpr BitField real_little{37, 32, ByteOrder::little, NumberType::float32};

template <BitField field>
void check_fronts(const Data& data, std::uint64_t bits) {
  const std::span<const std::uint8_t, 64> view(data);
  REQUIRE(extract<field>(view) == *extract(field, view));
  Data typed = data;
  Data sized = data;
  insert<field>(std::span<std::uint8_t, 64>(typed), bits);
  REQUIRE(insert(field, sized, bits).has_value());
  REQUIRE(typed == sized);
}

inline constexpr SignalCoding torque{{13, 23, ByteOrder::little, NumberType::signed_integer}, 0.01, -5};
inline constexpr SignalCoding speed{{12, 13, ByteOrder::big, NumberType::unsigned_integer}, 0.5, 0};

}  // namespace

TEST_CASE("every field of every length and offset reads and writes the bits of the rule, and no others") {
  auto random = test::generator(1);
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    for (unsigned start = 0; start < 512; start += start < 96 || start > 416 ? 1 : 7) {
      for (unsigned length = 1; length <= 64; ++length) {
        const BitField field{static_cast<std::uint16_t>(start), static_cast<std::uint8_t>(length), order};
        const std::vector<unsigned> bits = naive_bits(field, 512);
        const Data data = random_bytes(random);
        CAPTURE(start);
        CAPTURE(length);
        REQUIRE(fits(field, 64) == !bits.empty());
        if (bits.empty()) {
          REQUIRE(extract(field, data).error() == Errc::bad_layout);
          continue;
        }
        REQUIRE(*extract(field, data) == naive_extract(bits, data));
        const std::uint64_t number = random();
        Data expected = data;
        for (std::size_t i = 0; i < bits.size(); ++i) {
          const unsigned bit = bits[bits.size() - 1 - i];
          const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
          expected[bit / 8] = static_cast<std::uint8_t>((number >> i & 1U) != 0 ? expected[bit / 8] | mask
                                                                                : expected[bit / 8] & ~mask);
        }
        Data written = data;
        REQUIRE(insert(field, written, number).has_value());
        REQUIRE(written == expected);
      }
    }
  }
}

TEST_CASE("fields known at compile time and at run time are the same") {
  auto random = test::generator(2);
  for (std::size_t i = 0; i < test::count(2'000); ++i) {
    const Data data = random_bytes(random);
    const std::uint64_t bits = random();
    check_fronts<in_byte>(data, bits);
    check_fronts<whole_word>(data, bits);
    check_fronts<odd_little>(data, bits);
    check_fronts<nine_little>(data, bits);
    check_fronts<odd_big>(data, bits);
    check_fronts<nine_big>(data, bits);
    check_fronts<last_big>(data, bits);
    check_fronts<real_little>(data, bits);
    const std::span<const std::uint8_t, 64> view(data);
    REQUIRE(decode<torque>(view) == *decode(torque, view));
    REQUIRE(decode<speed>(view) == *decode(speed, view));
    const double value = test::uniform(random, -60'000, 60'000);
    Data typed = data;
    Data sized = data;
    const auto status = encode<torque, Overflow::error>(std::span<std::uint8_t, 64>(typed), value);
    REQUIRE(status.has_value() == encode(torque, sized, value, Overflow::error).has_value());
    REQUIRE(typed == sized);
  }
}

TEST_CASE("vectors worked out by hand") {
  constexpr std::array<std::uint8_t, 8> data = {0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0};
  static_assert(*extract(BitField{0, 16}, data) == 0x3412);
  static_assert(*extract(BitField{4, 8}, data) == 0x41);
  static_assert(*extract(BitField{7, 16, ByteOrder::big}, data) == 0x1234);
  static_assert(*extract(BitField{3, 8, ByteOrder::big}, data) == 0x23);
  static_assert(*extract(BitField{7, 64, ByteOrder::big}, data) == 0x123456789ABCDEF0);
  static_assert(*extract(BitField{0, 64}, data) == 0xF0DEBC9A78563412);
  static_assert(extract(BitField{1, 64}, data).error() == Errc::bad_layout);
  static_assert(extract(BitField{0, 0}, data).error() == Errc::bad_layout);
  static_assert(extract(BitField{0, 65}, data).error() == Errc::bad_layout);
  static_assert(extract(BitField{0, 16, ByteOrder::little, NumberType::float32}, data).error() ==
                Errc::bad_layout);
  static_assert(extract(BitField{65535, 64, ByteOrder::big}, data).error() == Errc::bad_layout);
  static_assert(*decode(SignalCoding{{7, 8, ByteOrder::big, NumberType::unsigned_integer}, 0.5, 1}, data) ==
                10);
  constexpr std::array<std::uint8_t, 4> one_and_a_half = {0x00, 0x00, 0xC0, 0x3F};
  static_assert(*decode(SignalCoding{{0, 32, ByteOrder::little, NumberType::float32}}, one_and_a_half) ==
                1.5);
  static_assert(*decode(SignalCoding{{0, 1, ByteOrder::little, NumberType::signed_integer}},
                        std::array<std::uint8_t, 1>{1}) == -1);
}

TEST_CASE("physical values are rounded, never truncated") {
  constexpr SignalCoding signal{{0, 16}, 0.025, 0};
  CHECK(*to_bits(signal, 52.8, Overflow::error) == 2112);  // 52.8 / 0.025 is not exact in binary
  constexpr SignalCoding plain{{0, 16, ByteOrder::little, NumberType::signed_integer}};
  static_assert(*to_bits(plain, 2.5, Overflow::error) == 2);  // ties to even
  static_assert(*to_bits(plain, 3.5, Overflow::error) == 4);
  static_assert(*to_bits(plain, -2.5, Overflow::error) == 0xFFFE);
  static_assert(*to_bits(plain, 0.49999999999999994, Overflow::error) == 0);
  auto random = test::generator(3);
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    const auto length = static_cast<std::uint8_t>(test::uniform_int(random, 1, 50));
    const SignalCoding any{{0, length, ByteOrder::little,
                            (random() & 1) != 0 ? NumberType::signed_integer : NumberType::unsigned_integer},
                           std::pow(10, test::uniform(random, -4, 4)),
                           test::uniform(random, -100, 100)};
    const std::uint64_t bits = random() & detail::mask_of(length);
    const double physical = to_physical(any, bits);
    if (std::abs(physical / any.scale) > 1e12 || std::abs(any.offset / any.scale) > 1e9) continue;
    REQUIRE(*to_bits(any, physical, Overflow::error) == bits);
  }
}

TEST_CASE("numbers are rounded as the processor rounds, in constant expressions too") {
  static_assert(round_half_even(0.5) == 0 && round_half_even(1.5) == 2 && round_half_even(-2.5) == -2);
  static_assert(round_half_even(2251799813685248.5) == 2251799813685248);  // the last tie of a double
  static_assert(round_half_even(-4503599627370495.5) == -4503599627370496.0);
  static_assert(round_half_even(1e300) == 1e300);
  auto random = test::generator(4);
  for (std::size_t i = 0; i < test::count(100'000); ++i) {
    const double any = std::bit_cast<double>(random());
    if (!std::isfinite(any)) continue;
    REQUIRE(round_half_even(any) == std::nearbyint(any));
    REQUIRE((round_small(any) == std::nearbyint(any) || std::abs(any) > small_magnitude));
    REQUIRE((std::abs(round_small(any)) > small_magnitude) == (std::abs(any) > small_magnitude));
    const double half = static_cast<double>(test::uniform_int(random, -1'000'000, 1'000'000)) + 0.5;
    REQUIRE(round_half_even(half) == std::nearbyint(half));
    REQUIRE(round_half_even(-half) == -round_half_even(half));
  }
}

TEST_CASE("the number is that of exact arithmetic, ties included") {
  const auto exact = [](std::int64_t numerator, std::int64_t denominator) {  // denominator > 0
    std::int64_t whole = numerator / denominator - (numerator % denominator < 0 ? 1 : 0);
    const std::int64_t twice = 2 * (numerator - whole * denominator);
    if (twice > denominator || (twice == denominator && whole % 2 != 0)) ++whole;
    return whole;
  };
  // The check detects an implementation with the reciprocal of the scale. 73.5 / 49 is a tie, and becomes 2.
  CHECK(round_half_even(73.5 * (1 / 49.0)) == 1);
  CHECK(round_half_even(73.5 / 49.0) == 2);
  auto random = test::generator(5);
  for (std::size_t i = 0; i < test::count(50'000); ++i) {
    const std::int64_t scale = test::uniform_int(random, 1, 1000);
    const std::int64_t offset = test::uniform_int(random, -1000, 1000);
    const bool tie = (random() & 1) != 0;
    std::int64_t twice_physical = test::uniform_int(random, -2'000'000, 2'000'000);
    if (tie) twice_physical = 2 * offset + scale * (2 * test::uniform_int(random, -1000, 1000) + 1);
    const SignalCoding signal{{0, 40, ByteOrder::little, NumberType::signed_integer},
                              static_cast<double>(scale),
                              static_cast<double>(offset)};
    const auto bits = to_bits(signal, static_cast<double>(twice_physical) / 2, Overflow::error);
    CAPTURE(scale);
    CAPTURE(offset);
    CAPTURE(twice_physical);
    REQUIRE(bits.has_value());
    REQUIRE(detail::sign_extended(*bits, 40) == exact(twice_physical - 2 * offset, 2 * scale));
  }
}

TEST_CASE("a range is compared in numbers, and ends what may be sent") {
  constexpr SignalCoding tenths{{0, 8}, 0.1, 0, 0, 25.5};
  static_assert(is_valid(tenths, 1) && number_limits(tenths) == NumberLimits{0, 255});
  CHECK(*to_bits(tenths, 25.5, Overflow::error) == 255);
  constexpr SignalCoding narrow{{0, 16, ByteOrder::little, NumberType::signed_integer}, -0.5, 10, -5, 20};
  static_assert(is_valid(narrow, 2) && number_limits(narrow) == NumberLimits{-20, 30});
  static_assert(*to_bits(narrow, 20, Overflow::error) == 0xFFEC);
  static_assert(to_bits(narrow, 21, Overflow::error).error() == Errc::out_of_range);
  static_assert(*to_bits(narrow, 21, Overflow::clamp) == 0xFFEC);
  static_assert(*to_bits(narrow, -100, Overflow::clamp) == 30);
  static_assert(*to_bits(narrow, 21, Overflow::wrap) == 0xFFEA);
  static_assert(to_physical(narrow, *to_bits(narrow, 7, Overflow::error)) == 7);
  constexpr SignalCoding real{{0, 32, ByteOrder::little, NumberType::float32}, 2, 0, -1, 1};
  static_assert(to_physical(real, *to_bits(real, 3, Overflow::clamp)) == 1);
  static_assert(to_physical(real, *to_bits(real, 3, Overflow::wrap)) == 3);
  static_assert(to_bits(real, 1.5, Overflow::error).error() == Errc::out_of_range);
}

TEST_CASE("invalid signals are distinguished from valid ones") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  static_assert(is_valid(SignalCoding{{0, 8}}, 1));
  static_assert(!is_valid(SignalCoding{{1, 8}}, 1));
  static_assert(!is_valid(SignalCoding{{0, 8}, 0}, 1));
  static_assert(!is_valid(SignalCoding{{0, 8}, 1, 0, 5, 4}, 1));
  static_assert(number_limits(SignalCoding{{0, 8}, 1, 0, 5, 4}) == NumberLimits{0, 255});
  static_assert(number_limits(SignalCoding{{0, 8}, 1, 0, -7, 256}) == NumberLimits{0, 255});
  static_assert(!is_valid(SignalCoding{{0, 8}, 1, 0, 0, 256}, 1));
  static_assert(!is_valid(SignalCoding{{0, 8}, 1, 0, -1, 1}, 1));
  CHECK(!is_valid(SignalCoding{{0, 8}, infinity}, 1));
  CHECK(!is_valid(SignalCoding{{0, 8}, 1, nan}, 1));
  CHECK(!is_valid(SignalCoding{{0, 8}, 1, 0, 0, nan}, 1));
}

TEST_CASE("overflow is an error, the nearest number, or the low bits, as asked") {
  for (unsigned length = 1; length <= 64; ++length) {
    for (const bool is_signed : {false, true}) {
      CAPTURE(length);
      CAPTURE(is_signed);
      const SignalCoding signal{{0, static_cast<std::uint8_t>(length), ByteOrder::little,
                                 is_signed ? NumberType::signed_integer : NumberType::unsigned_integer}};
      const std::uint64_t mask = detail::mask_of(length);
      const std::uint64_t most = is_signed ? mask >> 1 : mask;
      const std::uint64_t least = is_signed ? mask ^ (mask >> 1) : 0;
      const double beyond = std::ldexp(1.0, static_cast<int>(length) - (is_signed ? 1 : 0));
      for (const double high : {beyond, beyond * 3, 1e300}) {
        REQUIRE(to_bits(signal, high, Overflow::error).error() == Errc::out_of_range);
        REQUIRE(*to_bits(signal, high, Overflow::clamp) == most);
      }
      for (const double low : {(is_signed ? -beyond : 0) * 1.5 - 1, -1e300}) {
        REQUIRE(to_bits(signal, low, Overflow::error).error() == Errc::out_of_range);
        REQUIRE(*to_bits(signal, low, Overflow::clamp) == least);
      }
      REQUIRE(to_bits(signal, 1e300, Overflow::wrap).error() == Errc::out_of_range);
      REQUIRE(to_bits(signal, -1e300, Overflow::wrap).error() == Errc::out_of_range);
      REQUIRE(*to_bits(signal, -1.0, Overflow::wrap) == mask);
      if (is_signed) REQUIRE(*to_bits(signal, -beyond, Overflow::error) == least);
      if (length < 53) {
        REQUIRE(*to_bits(signal, beyond - 1, Overflow::error) == most);
        REQUIRE(*to_bits(signal, beyond + 2, Overflow::wrap) == ((most + 3) & mask));
        REQUIRE(to_bits(signal, beyond - 0.25, Overflow::error).error() == Errc::out_of_range);
      }
      for (const double bad : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
        for (const Overflow policy : {Overflow::error, Overflow::clamp, Overflow::wrap}) {
          REQUIRE(to_bits(signal, bad, policy).error() == Errc::not_finite);
        }
      }
    }
  }
}

TEST_CASE("floats keep their value, and what is too large for them is said") {
  constexpr SignalCoding real{{0, 32, ByteOrder::little, NumberType::float32}};
  CHECK(to_physical(real, *to_bits(real, 1.1, Overflow::error)) == static_cast<double>(1.1F));
  CHECK(to_bits(real, 1e39, Overflow::error).error() == Errc::out_of_range);
  CHECK(to_bits(real, -1e39, Overflow::wrap).error() == Errc::out_of_range);
  CHECK(to_physical(real, *to_bits(real, 1e39, Overflow::clamp)) == std::numeric_limits<float>::max());
  CHECK(to_physical(real, *to_bits(real, -1e39, Overflow::clamp)) == std::numeric_limits<float>::lowest());
  CHECK(to_physical(real, *to_bits(real, std::numeric_limits<float>::max(), Overflow::error)) ==
        std::numeric_limits<float>::max());
  constexpr SignalCoding wide{{0, 64, ByteOrder::big, NumberType::float64}, 2, 1};
  static_assert(to_physical(wide, *to_bits(wide, 4.0, Overflow::error)) == 4.0);
  CHECK(std::isnan(to_physical(real, 0x7FC00000)));
}

TEST_CASE("a signal never reaches beyond the data that it is given") {
  std::array<std::uint8_t, 8> data{};
  const SignalCoding signal{{20, 12}};
  for (std::size_t length = 0; length < 4; ++length) {
    CHECK(decode(signal, std::span(data).first(length)).error() == Errc::bad_layout);
    CHECK(encode(signal, std::span(data).first(length), 1, Overflow::error).error() == Errc::bad_layout);
  }
  CHECK(decode(signal, std::span(data).first(4)).has_value());
  CHECK(encode(signal, std::span(data).first(4), 1e9, Overflow::error).error() == Errc::out_of_range);
  CHECK(data == std::array<std::uint8_t, 8>{});
}

TEST_CASE("fields at the very end of data of any length read and write what lies there, and nothing else") {
  auto random = test::generator(6);
  for (std::size_t size = 1; size <= 64; ++size) {
    for (int i = 0; i < 200; ++i) {
      std::vector<std::uint8_t> data(size);  // on the heap, where an address sanitizer guards its end
      Data padded = random_bytes(random);
      std::copy_n(padded.begin(), size, data.begin());
      const BitField field{
          static_cast<std::uint16_t>(test::uniform_int(random, 0, 8 * static_cast<int>(size))),
          static_cast<std::uint8_t>(test::uniform_int(random, 1, 64)),
          (random() & 1) != 0 ? ByteOrder::big : ByteOrder::little};
      if (!fits(field, size)) continue;
      REQUIRE(*extract(field, data) == *extract(field, padded));
      const std::uint64_t bits = random();
      REQUIRE(insert(field, data, bits).has_value());
      REQUIRE(insert(field, padded, bits).has_value());
      REQUIRE(std::equal(data.begin(), data.end(), padded.begin()));
    }
  }
}

TEST_CASE("overlapping fields are found") {
  static_assert(overlap(BitField{0, 8}, BitField{7, 1}));
  static_assert(!overlap(BitField{0, 8}, BitField{8, 8}));
  static_assert(overlap(BitField{7, 16, ByteOrder::big}, BitField{15, 1}));
  static_assert(!overlap(BitField{3, 8, ByteOrder::big}, BitField{4, 4}));
  static_assert(overlap(BitField{1000, 64}, BitField{1063, 1}) &&
                !overlap(BitField{1000, 64}, BitField{1064, 1}));

  // Compares with the bits that the fields write.
  std::mt19937_64 random = test::generator(9);
  const auto random_field = [&] {
    const auto bits = static_cast<std::uint8_t>(test::uniform_int(random, 1, 64));
    const auto start = static_cast<std::uint16_t>(test::uniform_int(random, 0, 127));
    return BitField{start, bits, random() % 2 == 0 ? ByteOrder::little : ByteOrder::big};
  };
  for (int i = 0; i < 20'000; ++i) {
    const BitField a = random_field();
    const BitField b = random_field();
    std::array<std::uint8_t, 32> in_a{};
    std::array<std::uint8_t, 32> in_b{};
    REQUIRE(insert(a, in_a, ~std::uint64_t{0}));
    REQUIRE(insert(b, in_b, ~std::uint64_t{0}));
    bool share = false;
    for (std::size_t byte = 0; byte < in_a.size(); ++byte) share = share || (in_a[byte] & in_b[byte]) != 0;
    REQUIRE(overlap(a, b) == share);
  }
}

TEST_CASE("words are the same in constant expressions and at run time") {
  constexpr std::array<std::uint8_t, 8> bytes = {1, 2, 3, 4, 5, 6, 7, 0x88};
  const auto check = [&]<std::size_t Count>(std::integral_constant<std::size_t, Count>) {
    constexpr std::uint64_t expected = load_little<Count>(bytes.data());
    CHECK(load_little<Count>(bytes.data()) == expected);
    std::array<std::uint8_t, 8> written{};
    store_little<Count>(written.data(), expected | ~detail::mask_of(8 * Count));
    for (std::size_t i = 0; i < 8; ++i) CHECK(written[i] == (i < Count ? bytes[i] : 0));
  };
  check(std::integral_constant<std::size_t, 1>{});
  check(std::integral_constant<std::size_t, 2>{});
  check(std::integral_constant<std::size_t, 3>{});
  check(std::integral_constant<std::size_t, 4>{});
  check(std::integral_constant<std::size_t, 5>{});
  check(std::integral_constant<std::size_t, 6>{});
  check(std::integral_constant<std::size_t, 7>{});
  check(std::integral_constant<std::size_t, 8>{});
}
