// The signal kernel: numbers in bit fields of a frame, in either byte order and at any offset, and their
// physical values. It has two interfaces, for fields known at compile time and at run time. A test compares
// the two.
//
// Bits are numbered as in DBC files: bit n is bit n % 8 (0 = least significant) of byte n / 8. A field in
// little (Intel) order starts at its least significant bit and continues to higher numbers. A field in big
// (Motorola) order starts at its *most* significant bit. It goes down to bit 0 of the byte and continues with
// bit 7 of the next.
//
// Decoding: physical value = number * scale + offset, with one rounding for each operation. With offset 0 it
// is number * scale. Encoding: number = (physical value - offset) / scale. For an integer field it is rounded
// to the nearest integer, ties to even (see quantise.hpp). The limits for a number are those of the field
// and, if there is one, of the signal's range. The range is compared in numbers, not in physical values. So
// 25.5 is within the range of a signal in steps of 0.1 up to 25.5, although the binary 25.5 / 0.1 is not
// exact.
//
// Real-time safe and usable in constant expressions, unless a comment says otherwise. No function touches a
// byte outside the given span.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "takt/can/error.hpp"
#include "takt/can/quantise.hpp"
#include "takt/can/word.hpp"

namespace takt::can {

/// The byte order of a field.
enum class ByteOrder : std::uint8_t {
  little,  ///< Intel
  big,     ///< Motorola
};

/// The number format of a field.
enum class NumberType : std::uint8_t {
  unsigned_integer,
  signed_integer,  ///< two's complement
  float32,         ///< IEEE 754, length 32
  float64,         ///< IEEE 754, length 64
};

/// The position and number format of a field in a frame. A structural type: usable as a template argument.
struct BitField {
  std::uint16_t start = 0;  ///< least significant bit (little) or most significant bit (big)
  std::uint8_t length = 1;  ///< bits: 1 to 64
  ByteOrder order = ByteOrder::little;
  NumberType type = NumberType::unsigned_integer;

  friend constexpr bool operator==(const BitField&, const BitField&) = default;
};

namespace detail {

/// The bytes that a field touches. The shift is the distance of its least significant bit from their low end,
/// in the byte order of the field.
struct Window {
  std::size_t first = 0;
  std::size_t bytes = 1;  ///< 1 to 9
  unsigned shift = 0;     ///< bits: 0 to 7; more in a widened window
};

[[nodiscard]] constexpr Window window_of(BitField field) noexcept {
  const unsigned in_byte = field.start % 8U;
  const unsigned before = field.order == ByteOrder::little ? in_byte : 7 - in_byte;
  const unsigned bits = before + field.length;
  const std::size_t bytes = (bits + 7) / 8;
  const auto after = static_cast<unsigned>(8 * bytes - bits);
  return Window{field.start / 8U, bytes, field.order == ByteOrder::little ? before : after};
}

[[nodiscard]] constexpr std::uint64_t mask_of(unsigned length) noexcept {
  return ~std::uint64_t{0} >> (64 - length);
}

[[nodiscard]] constexpr std::uint64_t swap_bytes(std::uint64_t word) noexcept {
#ifdef __GNUC__
  return __builtin_bswap64(word);  // g++ does not always turn the code below into a bswap
#else
  word = (word & 0x00FF'00FF'00FF'00FFU) << 8 | (word >> 8 & 0x00FF'00FF'00FF'00FFU);
  word = (word & 0x0000'FFFF'0000'FFFFU) << 16 | (word >> 16 & 0x0000'FFFF'0000'FFFFU);
  return word << 32 | word >> 32;
#endif
}

/// Widens the window to eight bytes, or to all of the data if they are fewer. The processor has a load and
/// store of this size. Windows start at multiples of eight where possible, so many fields of a frame share
/// one load.
[[nodiscard]] constexpr Window widened(Window window, ByteOrder order, std::size_t data_bytes) noexcept {
  const std::size_t bytes = data_bytes < 8 ? data_bytes : 8;
  const std::size_t last = data_bytes - bytes;
  const auto holds = [&](std::size_t first) {
    return first <= window.first && window.first + window.bytes <= first + bytes;
  };
  const auto at_most_last = [&](std::size_t first) { return first < last ? first : last; };
  std::size_t first = at_most_last(window.first / 8 * 8);
  if (!holds(first)) first = at_most_last(window.first);
  if (!holds(first)) return window;  // nine bytes
  const std::size_t more =
      order == ByteOrder::little ? window.first - first : first + bytes - window.first - window.bytes;
  return Window{first, bytes, window.shift + 8 * static_cast<unsigned>(more)};
}

/// Loads and stores of 1 to 8 bytes, with the number of bytes known at compile time.
template <std::size_t Count>
struct FixedWord {
  static constexpr std::uint64_t load(const std::uint8_t* bytes, std::size_t) noexcept {
    return load_little<Count>(bytes);
  }
  static constexpr void store(std::uint8_t* bytes, std::size_t, std::uint64_t word) noexcept {
    store_little<Count>(bytes, word);
  }
};
/// The same with the number of bytes known at run time.
struct SizedWord {
  static constexpr std::uint64_t load(const std::uint8_t* bytes, std::size_t count) noexcept {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < count; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
    return word;
  }
  static constexpr void store(std::uint8_t* bytes, std::size_t count, std::uint64_t word) noexcept {
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(word >> (8 * i));
  }
};

/// Returns the bits of the field, in the low end of the result. A window of nine bytes is a word of eight
/// bytes and the ninth byte.
template <class Word>
[[nodiscard]] constexpr std::uint64_t extract_bits(BitField field, Window window,
                                                   const std::uint8_t* frame) noexcept {
  const std::uint8_t* const bytes = frame + window.first;
  const std::size_t count = window.bytes < 8 ? window.bytes : 8;
  std::uint64_t word = Word::load(bytes, count);
  if (field.order == ByteOrder::big) word = swap_bytes(word) >> (64 - 8 * count);
  if (window.bytes <= 8) return word >> window.shift & mask_of(field.length);
  const std::uint64_t ninth = bytes[8];
  word = field.order == ByteOrder::little ? word >> window.shift | ninth << (64 - window.shift)
                                          : word << (8 - window.shift) | ninth >> window.shift;
  return word & mask_of(field.length);
}

/// Writes the low bits of `number` into the field. The bits around it do not change.
template <class Word>
constexpr void insert_bits(BitField field, Window window, std::uint8_t* frame,
                           std::uint64_t number) noexcept {
  std::uint8_t* const bytes = frame + window.first;
  const std::size_t count = window.bytes < 8 ? window.bytes : 8;
  std::uint64_t mask = mask_of(field.length);
  number &= mask;
  if (window.bytes == 9) {
    const unsigned over = field.length + window.shift - 64;  // bits of the field in the ninth byte (little)
    const unsigned ninth_mask = field.order == ByteOrder::little ? (1U << over) - 1 : 0xFFU << window.shift;
    const std::uint64_t ninth =
        field.order == ByteOrder::little ? number >> (64 - window.shift) : number << window.shift;
    bytes[8] = static_cast<std::uint8_t>((bytes[8] & ~ninth_mask) | (ninth & ninth_mask));
    number = field.order == ByteOrder::little ? number << window.shift : number >> (8 - window.shift);
    mask = field.order == ByteOrder::little ? mask << window.shift : mask >> (8 - window.shift);
  } else {
    number <<= window.shift;
    mask <<= window.shift;
  }
  if (field.order == ByteOrder::big) {
    number = swap_bytes(number) >> (64 - 8 * count);
    mask = swap_bytes(mask) >> (64 - 8 * count);
  }
  Word::store(bytes, count, (Word::load(bytes, count) & ~mask) | number);
}

[[nodiscard]] constexpr std::int64_t sign_extended(std::uint64_t bits, unsigned length) noexcept {
  return static_cast<std::int64_t>(bits << (64 - length)) >> (64 - length);
}

/// Returns the number in the field as a double. Integers beyond 53 bits are rounded.
[[nodiscard]] constexpr double number_of(BitField field, std::uint64_t bits) noexcept {
  switch (field.type) {
    case NumberType::unsigned_integer:
      // A signed conversion takes one instruction, an unsigned one takes several.
      return field.length < 64 ? static_cast<double>(static_cast<std::int64_t>(bits))
                               : static_cast<double>(bits);
    case NumberType::signed_integer:
      return static_cast<double>(sign_extended(bits, field.length));
    case NumberType::float32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case NumberType::float64:
      return std::bit_cast<double>(bits);
  }
  return 0;
}

/// Returns 2^exponent, for an exponent from 0 to 64.
[[nodiscard]] constexpr double power_of_two(unsigned exponent) noexcept {
  constexpr double two_to_62 = 4611686018427387904.0;
  return exponent < 63 ? static_cast<double>(std::int64_t{1} << exponent)
                       : (exponent == 63 ? 2 : 4) * two_to_62;
}

/// Returns the largest whole double below 2^exponent.
[[nodiscard]] constexpr double whole_below(unsigned exponent) noexcept {
  return power_of_two(exponent) - (exponent <= 53 ? 1 : power_of_two(exponent - 53));
}

}  // namespace detail

/// The range of numbers that are no overflow, both ends included.
struct NumberLimits {
  double low = 0;
  double high = 0;

  friend constexpr bool operator==(const NumberLimits&, const NumberLimits&) = default;
};

/// Returns the range of numbers that the field can hold, rounded inwards to doubles.
[[nodiscard]] constexpr NumberLimits number_limits(BitField field) noexcept {
  switch (field.type) {
    case NumberType::unsigned_integer:
      return {0, detail::whole_below(field.length)};
    case NumberType::signed_integer:
      return {-detail::power_of_two(field.length - 1U), detail::whole_below(field.length - 1U)};
    case NumberType::float32:
      // The last double that a float still rounds to a finite value: half a unit above the largest float.
      return {-0x1.fffffefffffffp127, 0x1.fffffefffffffp127};
    case NumberType::float64:
      return {std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
  }
  return {};
}

/// A field with its physical meaning.
struct SignalCoding {
  BitField field;
  double scale = 1;    ///< physical units per number; finite and not 0
  double offset = 0;   ///< physical value of the number 0
  double minimum = 0;  ///< smallest physical value that may be sent; no range if both ends are equal
  double maximum = 0;  ///< largest physical value. Overflow::wrap and decoding ignore the range

  /// Returns whether the signal has a range.
  [[nodiscard]] constexpr bool has_range() const noexcept { return minimum != maximum; }
  friend constexpr bool operator==(const SignalCoding&, const SignalCoding&) = default;
};

/// The number of a physical value, before rounding.
[[nodiscard]] constexpr double to_number(const SignalCoding& signal, double physical) noexcept {
  return (physical - signal.offset) / signal.scale;
}

namespace detail {

/// The signal's range in numbers of its field.
[[nodiscard]] constexpr NumberLimits range_limits(const SignalCoding& signal) noexcept {
  const auto number = [&](double physical) {
    const double exact = to_number(signal, physical);
    return signal.field.type <= NumberType::signed_integer ? round_half_even(exact) : exact;
  };
  const double a = number(signal.minimum);
  const double b = number(signal.maximum);
  return signal.scale > 0 ? NumberLimits{a, b} : NumberLimits{b, a};
}

}  // namespace detail

/// Returns the range of numbers that may be sent: what the field can hold, within the signal's range. A
/// reversed range, or a range end that the field cannot hold, limits only as far as it is usable. For many
/// calls with a signal known at run time, keep the result.
[[nodiscard]] constexpr NumberLimits number_limits(const SignalCoding& signal) noexcept {
  const NumberLimits field = number_limits(signal.field);
  if (!signal.has_range()) return field;
  const NumberLimits range = detail::range_limits(signal);
  const auto within = [&](double number, double otherwise) {
    return number >= field.low && number <= field.high ? number : otherwise;
  };
  const NumberLimits both = {within(range.low, field.low), within(range.high, field.high)};
  return both.low <= both.high ? both : field;
}

namespace detail {

/// Converts a whole number in [-2^63, 2^64) to an integer, in two's complement.
[[nodiscard]] constexpr std::uint64_t integer_of(double whole) noexcept {
  return whole < power_of_two(63) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                                  : static_cast<std::uint64_t>(whole);
}

/// The bits of a number that is within the limits of its field.
[[nodiscard]] constexpr std::uint64_t fitting_bits(BitField field, double number) noexcept {
  switch (field.type) {
    case NumberType::unsigned_integer:
      // A signed conversion takes one instruction, an unsigned one takes several.
      return field.length < 64 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(number))
                               : integer_of(number);
    case NumberType::signed_integer:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(number)) & mask_of(field.length);
    case NumberType::float32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(number));
    case NumberType::float64:
      return std::bit_cast<std::uint64_t>(number);
  }
  return 0;
}

/// Applies the overflow policy to a number outside the limits or to NaN. This is rare, so it is separate from
/// the code of each cycle.
[[nodiscard]] constexpr Result<std::uint64_t> overflowing_bits(BitField field, NumberLimits limits,
                                                               double number, Overflow overflow) noexcept {
  if (!is_finite(number)) return fail(Errc::not_finite);
  if (overflow == Overflow::error) return fail(Errc::out_of_range);
  const bool is_integer = field.type <= NumberType::signed_integer;
  if (is_integer) number = round_half_even(number);
  if (overflow == Overflow::wrap) {
    const bool has_low_bits = is_integer && number >= -power_of_two(63) && number < power_of_two(64);
    if (has_low_bits) return integer_of(number) & mask_of(field.length);
    // A number beyond the range may still fit the field.
    if (is_integer || number_limits(field).low > number || number > number_limits(field).high) {
      return fail(Errc::out_of_range);
    }
    return fitting_bits(field, number);
  }
  const double nearest = number < limits.low ? limits.low : limits.high;
  // The largest integers of more than 53 bits are not representable as doubles.
  if (is_integer && nearest == number_limits(field).high) {
    return mask_of(field.length) >> (field.type == NumberType::signed_integer ? 1 : 0);
  }
  if (field.type != NumberType::float32) return fitting_bits(field, nearest);
  // A float takes the nearest float, never infinity.
  constexpr double most = std::numeric_limits<float>::max();
  return fitting_bits(field, nearest > most ? most : nearest < -most ? -most : nearest);
}

/// The bits of a number, and whether it was within the limits. Two values, because a Result would go through
/// memory where many signals make one word.
struct FieldBits {
  std::uint64_t bits = 0;
  bool fits = false;
};
[[nodiscard]] constexpr FieldBits round_to_bits(BitField field, NumberLimits limits, double number) noexcept {
  const bool is_integer = field.type <= NumberType::signed_integer;
  if (is_integer && field.length <= small_bits) {
    // The integer comes from the bits of the double: a conversion is undefined for numbers that do not fit.
    // The bits of doubles are ordered like the doubles, so numbers beyond 2^51, infinity and NaN stay beyond
    // the limits.
    const auto integer =
        std::bit_cast<std::uint64_t>(number + small_shift) - std::bit_cast<std::uint64_t>(small_shift);
    const auto low = static_cast<std::uint64_t>(static_cast<std::int64_t>(limits.low));
    const auto high = static_cast<std::uint64_t>(static_cast<std::int64_t>(limits.high));
    return {integer & mask_of(field.length), integer - low <= high - low};
  }
  const double whole = is_integer ? round_half_even(number) : number;
  const bool fits = whole >= limits.low && whole <= limits.high;
  return {fitting_bits(field, fits ? whole : 0), fits};
}

}  // namespace detail

/// Returns the bits that are nearest to a number. Errors: not_finite; out_of_range, depending on `overflow`.
/// Called with number_limits(signal) and the signal's to_number(), it does the same as to_bits().
[[nodiscard]] constexpr Result<std::uint64_t> number_to_bits(BitField field, NumberLimits limits,
                                                             double number, Overflow overflow) noexcept {
  const detail::FieldBits rounded = detail::round_to_bits(field, limits, number);
  if (!rounded.fits) return detail::overflowing_bits(field, limits, number, overflow);
  return rounded.bits;
}

/// Returns whether a field is valid and lies within the first `bytes` bytes.
[[nodiscard]] constexpr bool fits(BitField field, std::size_t bytes) noexcept {
  if (field.length < 1 || field.length > 64) return false;
  if (field.type == NumberType::float32 && field.length != 32) return false;
  if (field.type == NumberType::float64 && field.length != 64) return false;
  if (field.order > ByteOrder::big || field.type > NumberType::float64) return false;
  const detail::Window window = detail::window_of(field);
  return window.first + window.bytes <= bytes;
}

namespace detail {

/// The bits of one byte of its window that a field covers.
[[nodiscard]] constexpr unsigned covered_bits(BitField field, Window window, std::size_t byte) noexcept {
  const bool is_first = byte == window.first;
  const bool is_last = byte + 1 == window.first + window.bytes;
  const unsigned in_byte = field.start % 8U;
  unsigned bits = 0xFF;
  if (field.order == ByteOrder::little) {
    if (is_first) bits &= 0xFFU << in_byte;
    if (is_last) bits &= 0xFFU >> (8 * window.bytes - in_byte - field.length);
  } else {
    if (is_first) bits &= 0xFFU >> (7 - in_byte);
    if (is_last) bits &= 0xFFU << window.shift;
  }
  return bits;
}

}  // namespace detail

/// Returns whether two fields share a bit. Not for the cycle, because it looks at each byte.
[[nodiscard]] constexpr bool overlap(BitField a, BitField b) noexcept {
  constexpr std::size_t anywhere = std::numeric_limits<std::size_t>::max();
  if (!fits(a, anywhere) || !fits(b, anywhere)) return false;
  const detail::Window in_a = detail::window_of(a);
  const detail::Window in_b = detail::window_of(b);
  const std::size_t begin = in_a.first < in_b.first ? in_b.first : in_a.first;
  for (std::size_t i = begin; i < in_a.first + in_a.bytes && i < in_b.first + in_b.bytes; ++i) {
    if ((detail::covered_bits(a, in_a, i) & detail::covered_bits(b, in_b, i)) != 0) return true;
  }
  return false;
}

/// Returns the bits of a field known at run time, in the low end of the result. Error: bad_layout (the field
/// is invalid or not within `data`).
[[nodiscard]] constexpr Result<std::uint64_t> extract(BitField field,
                                                      std::span<const std::uint8_t> data) noexcept {
  if (!fits(field, data.size())) return fail(Errc::bad_layout);
  const detail::Window window = detail::window_of(field);
  if (data.size() < 8 || window.bytes > 8) {
    return detail::extract_bits<detail::SizedWord>(field, window, data.data());
  }
  return detail::extract_bits<detail::FixedWord<8>>(field, widened(window, field.order, data.size()),
                                                    data.data());
}

/// Writes the low bits of `bits` into a field known at run time. Error: bad_layout, as above.
[[nodiscard]] constexpr Status insert(BitField field, std::span<std::uint8_t> data,
                                      std::uint64_t bits) noexcept {
  if (!fits(field, data.size())) return fail(Errc::bad_layout);
  const detail::Window window = detail::window_of(field);
  if (data.size() < 8 || window.bytes > 8) {
    detail::insert_bits<detail::SizedWord>(field, window, data.data(), bits);
  } else {
    detail::insert_bits<detail::FixedWord<8>>(field, widened(window, field.order, data.size()), data.data(),
                                              bits);
  }
  return {};
}

/// Returns the bits of a field known at compile time. The compiler checks that the field lies within the
/// data.
template <BitField field, std::size_t Extent>
[[nodiscard]] constexpr std::uint64_t extract(std::span<const std::uint8_t, Extent> data) noexcept {
  static_assert(Extent != std::dynamic_extent && fits(field, Extent),
                "the field does not lie within the data");
  constexpr detail::Window window = widened(detail::window_of(field), field.order, Extent);
  return detail::extract_bits<detail::FixedWord<(window.bytes < 8 ? window.bytes : 8)>>(field, window,
                                                                                        data.data());
}

/// Writes the low bits of `bits` into a field known at compile time. The compiler checks that it lies within
/// the data.
template <BitField field, std::size_t Extent>
constexpr void insert(std::span<std::uint8_t, Extent> data, std::uint64_t bits) noexcept {
  static_assert(Extent != std::dynamic_extent && fits(field, Extent),
                "the field does not lie within the data");
  constexpr detail::Window window = widened(detail::window_of(field), field.order, Extent);
  detail::insert_bits<detail::FixedWord<(window.bytes < 8 ? window.bytes : 8)>>(field, window, data.data(),
                                                                                bits);
}

/// Returns the physical value of these bits. A float field may hold infinity or NaN; otherwise the value is
/// finite.
[[nodiscard]] constexpr double to_physical(const SignalCoding& signal, std::uint64_t bits) noexcept {
  const double scaled = detail::number_of(signal.field, bits) * signal.scale;
  return signal.offset == 0 ? scaled : scaled + signal.offset;
}

namespace detail {

/// Whether an integer field can hold a number; true for a floating-point field.
[[nodiscard]] constexpr bool holds(BitField field, std::int64_t number) noexcept {
  if (field.type == NumberType::unsigned_integer)
    return number >= 0 && static_cast<std::uint64_t>(number) <= mask_of(field.length);
  const auto high = static_cast<std::int64_t>(mask_of(field.length) >> 1);
  return field.type > NumberType::signed_integer || (number <= high && number >= -high - 1);
}

/// Whether a physical value equals this raw number within a millionth of a step. A rounded value must not
/// become a state.
[[nodiscard]] constexpr bool says_number(const SignalCoding& signal, double physical,
                                         std::uint64_t bits) noexcept {
  const double distance = to_number(signal, physical) - number_of(signal.field, bits);
  return distance <= 1e-6 && distance >= -1e-6;
}

}  // namespace detail

/// Returns whether a signal is valid in `bytes` bytes of data. Its field must fit, and its scale must be
/// finite and not
/// 0. Its range must not be reversed, and the field must be able to hold it.
[[nodiscard]] constexpr bool is_valid(const SignalCoding& signal, std::size_t bytes) noexcept {
  if (!fits(signal.field, bytes)) return false;
  if (!is_finite(signal.scale) || signal.scale == 0 || !is_finite(signal.offset)) return false;
  if (!signal.has_range()) return true;
  if (!is_finite(signal.minimum) || !is_finite(signal.maximum) || signal.minimum > signal.maximum)
    return false;
  return number_limits(signal) == detail::range_limits(signal);
}

/// Returns the bits that are nearest to a physical value. Errors: not_finite (the value, or its quotient by
/// the scale); out_of_range, depending on `overflow`.
[[nodiscard]] constexpr Result<std::uint64_t> to_bits(const SignalCoding& signal, double physical,
                                                      Overflow overflow) noexcept {
  return number_to_bits(signal.field, number_limits(signal), to_number(signal, physical), overflow);
}

/// Returns the physical value of a signal in a frame's data. Error: bad_layout (the field is invalid, or the
/// frame is shorter than the signal needs).
[[nodiscard]] constexpr Result<double> decode(const SignalCoding& signal,
                                              std::span<const std::uint8_t> data) noexcept {
  const auto bits = extract(signal.field, data);
  if (!bits) return fail(bits.error());
  return to_physical(signal, *bits);
}

/// Writes a physical value into a frame's data. On an error it writes nothing. Errors: bad_layout,
/// not_finite, out_of_range.
[[nodiscard]] constexpr Status encode(const SignalCoding& signal, std::span<std::uint8_t> data,
                                      double physical, Overflow overflow) noexcept {
  if (!fits(signal.field, data.size())) return fail(Errc::bad_layout);
  const auto bits = to_bits(signal, physical, overflow);
  if (!bits) return fail(bits.error());
  return insert(signal.field, data, *bits);
}

/// decode() for a signal known at compile time: an `inline constexpr SignalCoding`. It cannot fail.
template <const SignalCoding& signal, std::size_t Extent>
[[nodiscard]] constexpr double decode(std::span<const std::uint8_t, Extent> data) noexcept {
  return to_physical(signal, extract<signal.field>(data));
}

/// encode() for a signal known at compile time. On an error it writes nothing. Errors: not_finite,
/// out_of_range.
template <const SignalCoding& signal, Overflow overflow, std::size_t Extent>
[[nodiscard]] constexpr Status encode(std::span<std::uint8_t, Extent> data, double physical) noexcept {
  const auto bits = to_bits(signal, physical, overflow);
  if (!bits) return fail(bits.error());
  insert<signal.field>(data, *bits);
  return {};
}

}  // namespace takt::can
