// The one signal kernel: numbers that lie as bit fields in a frame, in either byte order, at any offset, and
// their physical values. Two fronts share it, for fields known at compile time and at run time; a test holds
// them equal.
//
// Bits are numbered as in DBC files: bit n is bit n % 8 (0 = least significant) of byte n / 8. A field in
// little (Intel) order starts at its least significant bit and goes on to higher numbers; one in big
// (Motorola) order starts at its *most* significant bit, goes down to bit 0 of the byte and on with bit 7 of
// the next.
//
// Physical value = number * scale + offset, one rounding for each operation; without offset, number * scale.
// Number = (physical value - offset) / scale, rounded to the nearest integer, ties to even, where the field is
// one (see quantise.hpp). What the number then overflows are the field, and the range of the signal where it
// has one; the range is compared in numbers, not in physical values: 25.5 of a signal in steps of 0.1 up to
// 25.5 is within it, whatever 25.5 / 0.1 is in binary.
//
// Real-time safe and usable in constant expressions. No function touches a byte outside the span that it is
// given.
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

enum class ByteOrder : std::uint8_t {
  little,  ///< Intel
  big,     ///< Motorola
};

/// How the bits of a field are to be read.
enum class NumberType : std::uint8_t {
  unsigned_integer,
  signed_integer,  ///< two's complement
  float32,         ///< IEEE 754, length 32
  float64,         ///< IEEE 754, length 64
};

/// Where a number lies in a frame, and of what type it is. A structural type: usable as a template argument.
struct Field {
  std::uint16_t start = 0;  ///< as above: least significant bit (little), most significant bit (big)
  std::uint8_t length = 1;  ///< 1..64 bits
  ByteOrder order = ByteOrder::little;
  NumberType type = NumberType::unsigned_integer;

  friend constexpr bool operator==(const Field&, const Field&) = default;
};

namespace detail {

/// The bytes that a field touches, and how far its least significant bit is from the low end of them, read in
/// its byte order.
struct Window {
  std::size_t first = 0;
  std::size_t bytes = 1;  ///< 1..9
  unsigned shift = 0;     ///< 0..7; more in a widened window
};

[[nodiscard]] constexpr Window window_of(Field field) noexcept {
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
  return __builtin_bswap64(word);  // what follows becomes it, too, but not where it meets masks and shifts
#else
  word = (word & 0x00FF'00FF'00FF'00FFU) << 8 | (word >> 8 & 0x00FF'00FF'00FF'00FFU);
  word = (word & 0x0000'FFFF'0000'FFFFU) << 16 | (word >> 16 & 0x0000'FFFF'0000'FFFFU);
  return word << 32 | word >> 32;
#endif
}

/// The same field in a wider window: eight bytes, or all of the data where they are fewer. One load and store
/// of a size that the processor has, and, as windows start at multiples of eight where they can, the same one
/// for many fields of a frame.
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

/// Loads and stores of 1 to 8 bytes whose number is known at compile time ...
template <std::size_t Count>
struct FixedWord {
  static constexpr std::uint64_t load(const std::uint8_t* bytes, std::size_t) noexcept {
    return load_little<Count>(bytes);
  }
  static constexpr void store(std::uint8_t* bytes, std::size_t, std::uint64_t word) noexcept {
    store_little<Count>(bytes, word);
  }
};
/// ... and at run time.
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

/// The bits of the field, in the low end of the result. A window of nine bytes is a word of eight and the
/// ninth byte.
template <class Word>
[[nodiscard]] constexpr std::uint64_t extract_bits(Field field, Window window,
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

/// Writes the low bits of `number` into the field; bits around it stay as they are.
template <class Word>
constexpr void insert_bits(Field field, Window window, std::uint8_t* frame, std::uint64_t number) noexcept {
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

/// The number in the field, as a double. Integers beyond 53 bits are rounded.
[[nodiscard]] constexpr double number_of(Field field, std::uint64_t bits) noexcept {
  switch (field.type) {
    case NumberType::unsigned_integer:
      // A signed conversion is one instruction, an unsigned one is several.
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

/// 2^exponent, exponent 0..64.
[[nodiscard]] constexpr double power_of_two(unsigned exponent) noexcept {
  constexpr double two_to_62 = 4611686018427387904.0;
  return exponent < 63 ? static_cast<double>(std::int64_t{1} << exponent)
                       : (exponent == 63 ? 2 : 4) * two_to_62;
}

/// The largest double that is below 2^exponent and whole.
[[nodiscard]] constexpr double whole_below(unsigned exponent) noexcept {
  return power_of_two(exponent) - (exponent <= 53 ? 1 : power_of_two(exponent - 53));
}

}  // namespace detail

/// The numbers that are not an overflow: from low to high, both included.
struct NumberLimits {
  double low = 0;
  double high = 0;

  friend constexpr bool operator==(const NumberLimits&, const NumberLimits&) = default;
};

/// What a field can hold, as far as doubles can say it.
[[nodiscard]] constexpr NumberLimits number_limits(Field field) noexcept {
  switch (field.type) {
    case NumberType::unsigned_integer:
      return {0, detail::whole_below(field.length)};
    case NumberType::signed_integer:
      return {-detail::power_of_two(field.length - 1U), detail::whole_below(field.length - 1U)};
    case NumberType::float32:
      // The last double before rounding gives infinity, half a unit above the largest float.
      return {-0x1.fffffefffffffp127, 0x1.fffffefffffffp127};
    case NumberType::float64:
      return {std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
  }
  return {};
}

/// A field with its physical meaning.
struct Signal {
  Field field;
  double scale = 1;    ///< physical units per number; finite and not 0
  double offset = 0;   ///< physical value of the number 0
  double minimum = 0;  ///< the range of physical values that may be sent; none where both are equal, as in
  double maximum = 0;  ///< DBC files. Overflow::wrap does not look at it, nor does decoding.

  [[nodiscard]] constexpr bool has_range() const noexcept { return minimum != maximum; }
  friend constexpr bool operator==(const Signal&, const Signal&) = default;
};

/// The number whose physical value this is, not yet rounded.
[[nodiscard]] constexpr double to_number(const Signal& signal, double physical) noexcept {
  return (physical - signal.offset) / signal.scale;
}

namespace detail {

/// The range of a signal in numbers of its field.
[[nodiscard]] constexpr NumberLimits range_limits(const Signal& signal) noexcept {
  const auto number = [&](double physical) {
    const double exact = to_number(signal, physical);
    return signal.field.type <= NumberType::signed_integer ? round_half_even(exact) : exact;
  };
  const double a = number(signal.minimum);
  const double b = number(signal.maximum);
  return signal.scale > 0 ? NumberLimits{a, b} : NumberLimits{b, a};
}

}  // namespace detail

/// What may be sent: what the field can hold, within the signal's range; a range of which an end is beyond the field, or that is
/// the wrong way round, is there only as far as it makes sense. For many calls with one signal that is known at run time, keep it.
[[nodiscard]] constexpr NumberLimits number_limits(const Signal& signal) noexcept {
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

/// A whole number from -2^63 to below 2^64 as an integer, in two's complement.
[[nodiscard]] constexpr std::uint64_t integer_of(double whole) noexcept {
  return whole < power_of_two(63) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                                  : static_cast<std::uint64_t>(whole);
}

/// The bits of a number within the limits of its field.
[[nodiscard]] constexpr std::uint64_t fitting_bits(Field field, double number) noexcept {
  switch (field.type) {
    case NumberType::unsigned_integer:
      // A signed conversion is one instruction, an unsigned one is several.
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

/// What the policy makes of a number beyond the limits, or of one that is none: rare, and kept apart from what
/// every cycle does.
[[nodiscard]] constexpr Result<std::uint64_t> overflowing_bits(Field field, NumberLimits limits,
                                                               double number, Overflow overflow) noexcept {
  if (!is_finite(number)) return fail(Errc::not_finite);
  if (overflow == Overflow::error) return fail(Errc::out_of_range);
  const bool is_integer = field.type <= NumberType::signed_integer;
  if (is_integer) number = round_half_even(number);
  if (overflow == Overflow::wrap) {
    const bool has_low_bits = is_integer && number >= -power_of_two(63) && number < power_of_two(64);
    if (has_low_bits) return integer_of(number) & mask_of(field.length);
    // What the range forbids may well fit the field.
    if (is_integer || number_limits(field).low > number || number > number_limits(field).high) {
      return fail(Errc::out_of_range);
    }
    return fitting_bits(field, number);
  }
  const double nearest = number < limits.low ? limits.low : limits.high;
  // The largest integers of more than 53 bits are no doubles.
  if (is_integer && nearest == number_limits(field).high) {
    return mask_of(field.length) >> (field.type == NumberType::signed_integer ? 1 : 0);
  }
  if (field.type != NumberType::float32) return fitting_bits(field, nearest);
  // As a float: the nearest one, never infinity.
  constexpr double most = std::numeric_limits<float>::max();
  return fitting_bits(field, nearest > most ? most : nearest < -most ? -most : nearest);
}

/// The bits of a number, and whether it was within the limits: two values rather than a Result, which would go
/// through memory where many signals make one word.
struct FieldBits {
  std::uint64_t bits = 0;
  bool fits = false;
};
[[nodiscard]] constexpr FieldBits round_to_bits(Field field, NumberLimits limits, double number) noexcept {
  const bool is_integer = field.type <= NumberType::signed_integer;
  if (is_integer && field.length <= small_bits) {
    // The integer, without a conversion, which would not be defined for what does not fit: the bits of doubles are in
    // their order, so that everything beyond 2^51, infinity and what is not a number stay beyond the limits, too.
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

/// The bits that are nearest to a number, by a policy: number_limits(signal) and to_number() with it are
/// to_bits(). Errors: not_finite, out_of_range as `overflow` says.
[[nodiscard]] constexpr Result<std::uint64_t> number_to_bits(Field field, NumberLimits limits, double number,
                                                             Overflow overflow) noexcept {
  const detail::FieldBits rounded = detail::round_to_bits(field, limits, number);
  if (!rounded.fits) return detail::overflowing_bits(field, limits, number, overflow);
  return rounded.bits;
}

/// Whether a field makes sense and lies within the first `bytes` bytes.
[[nodiscard]] constexpr bool fits(Field field, std::size_t bytes) noexcept {
  if (field.length < 1 || field.length > 64) return false;
  if (field.type == NumberType::float32 && field.length != 32) return false;
  if (field.type == NumberType::float64 && field.length != 64) return false;
  if (field.order > ByteOrder::big || field.type > NumberType::float64) return false;
  const detail::Window window = detail::window_of(field);
  return window.first + window.bytes <= bytes;
}

namespace detail {

/// The bits of one byte of its window that a field covers.
[[nodiscard]] constexpr unsigned covered_bits(Field field, Window window, std::size_t byte) noexcept {
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

/// Whether two fields share a bit. Not for the cycle: it looks at each byte.
[[nodiscard]] constexpr bool overlap(Field a, Field b) noexcept {
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

/// The bits of a field known at run time, in the low end of the result. Error: bad_layout (the field is not
/// within `data`).
[[nodiscard]] constexpr Result<std::uint64_t> extract(Field field,
                                                      std::span<const std::uint8_t> data) noexcept {
  if (!fits(field, data.size())) return fail(Errc::bad_layout);
  const detail::Window window = detail::window_of(field);
  if (data.size() < 8 || window.bytes > 8) {
    return detail::extract_bits<detail::SizedWord>(field, window, data.data());
  }
  return detail::extract_bits<detail::FixedWord<8>>(field, widened(window, field.order, data.size()),
                                                    data.data());
}

/// Writes the low bits of `bits` into a field known at run time. Error: bad_layout.
[[nodiscard]] constexpr Status insert(Field field, std::span<std::uint8_t> data,
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

/// The bits of a field known at compile time. That it lies within the data is checked when this is compiled.
template <Field field, std::size_t Extent>
[[nodiscard]] constexpr std::uint64_t extract(std::span<const std::uint8_t, Extent> data) noexcept {
  static_assert(Extent != std::dynamic_extent && fits(field, Extent),
                "the field does not lie within the data");
  constexpr detail::Window window = widened(detail::window_of(field), field.order, Extent);
  return detail::extract_bits<detail::FixedWord<(window.bytes < 8 ? window.bytes : 8)>>(field, window,
                                                                                        data.data());
}

/// Writes the low bits of `bits` into a field known at compile time.
template <Field field, std::size_t Extent>
constexpr void insert(std::span<std::uint8_t, Extent> data, std::uint64_t bits) noexcept {
  static_assert(Extent != std::dynamic_extent && fits(field, Extent),
                "the field does not lie within the data");
  constexpr detail::Window window = widened(detail::window_of(field), field.order, Extent);
  detail::insert_bits<detail::FixedWord<(window.bytes < 8 ? window.bytes : 8)>>(field, window, data.data(),
                                                                                bits);
}

/// The physical value of these bits. Infinite or NaN only where the field is a float that says so.
[[nodiscard]] constexpr double to_physical(const Signal& signal, std::uint64_t bits) noexcept {
  const double scaled = detail::number_of(signal.field, bits) * signal.scale;
  return signal.offset == 0 ? scaled : scaled + signal.offset;
}

namespace detail {

/// Whether an integer field can hold a number; true for a floating-point field.
[[nodiscard]] constexpr bool holds(Field field, std::int64_t number) noexcept {
  if (field.type == NumberType::unsigned_integer)
    return number >= 0 && static_cast<std::uint64_t>(number) <= mask_of(field.length);
  const auto high = static_cast<std::int64_t>(mask_of(field.length) >> 1);
  return field.type > NumberType::signed_integer || (number <= high && number >= -high - 1);
}

/// Whether a physical value equals this raw number to a millionth of a step. Rounding then makes no state out of a value.
[[nodiscard]] constexpr bool says_number(const Signal& signal, double physical, std::uint64_t bits) noexcept {
  const double distance = to_number(signal, physical) - number_of(signal.field, bits);
  return distance <= 1e-6 && distance >= -1e-6;
}

}  // namespace detail

/// Whether a signal makes sense in `bytes` bytes of data: its field fits, its scale can be divided by, its range
/// is the right way round and the field can hold it.
[[nodiscard]] constexpr bool is_valid(const Signal& signal, std::size_t bytes) noexcept {
  if (!fits(signal.field, bytes)) return false;
  if (!is_finite(signal.scale) || signal.scale == 0 || !is_finite(signal.offset)) return false;
  if (!signal.has_range()) return true;
  if (!is_finite(signal.minimum) || !is_finite(signal.maximum) || signal.minimum > signal.maximum)
    return false;
  return number_limits(signal) == detail::range_limits(signal);
}

/// The bits that are nearest to a physical value. Errors: not_finite (the value, or its quotient by the scale),
/// out_of_range as `overflow` says.
[[nodiscard]] constexpr Result<std::uint64_t> to_bits(const Signal& signal, double physical,
                                                      Overflow overflow) noexcept {
  return number_to_bits(signal.field, number_limits(signal), to_number(signal, physical), overflow);
}

/// The physical value of a signal in a frame's data. Error: bad_layout, also when the frame is shorter than
/// the signal needs.
[[nodiscard]] constexpr Result<double> decode(const Signal& signal,
                                              std::span<const std::uint8_t> data) noexcept {
  const auto bits = extract(signal.field, data);
  if (!bits) return fail(bits.error());
  return to_physical(signal, *bits);
}

/// Writes a physical value into a frame's data. On an error nothing is written. Errors: bad_layout,
/// not_finite, out_of_range.
[[nodiscard]] constexpr Status encode(const Signal& signal, std::span<std::uint8_t> data, double physical,
                                      Overflow overflow) noexcept {
  if (!fits(signal.field, data.size())) return fail(Errc::bad_layout);
  const auto bits = to_bits(signal, physical, overflow);
  if (!bits) return fail(bits.error());
  return insert(signal.field, data, *bits);
}

/// decode() for a signal known at compile time: an `inline constexpr Signal` of the message's header. Cannot
/// fail.
template <const Signal& signal, std::size_t Extent>
[[nodiscard]] constexpr double decode(std::span<const std::uint8_t, Extent> data) noexcept {
  return to_physical(signal, extract<signal.field>(data));
}

/// encode() for a signal known at compile time. On an error nothing is written. Errors: not_finite,
/// out_of_range.
template <const Signal& signal, Overflow overflow, std::size_t Extent>
[[nodiscard]] constexpr Status encode(std::span<std::uint8_t, Extent> data, double physical) noexcept {
  const auto bits = to_bits(signal, physical, overflow);
  if (!bits) return fail(bits.error());
  insert<signal.field>(data, *bits);
  return {};
}

}  // namespace takt::can
