// The one signal kernel: numbers that lie as bit fields in a frame, in either byte order, at any offset, and
// their physical values. Two fronts share it, for fields known at compile time and at run time; a test holds
// them equal.
//
// Bits are numbered as in DBC files: bit n is bit n % 8 (0 = least significant) of byte n / 8. A field in
// little (Intel) order starts at its least significant bit and goes on to higher numbers; one in big
// (Motorola) order starts at its *most* significant bit, goes down to bit 0 of the byte and on with bit 7 of
// the next. Physical value = number * scale + offset.
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
  unsigned shift = 0;     ///< 0..7
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
  word = (word & 0x00FF'00FF'00FF'00FFU) << 8 | (word >> 8 & 0x00FF'00FF'00FF'00FFU);
  word = (word & 0x0000'FFFF'0000'FFFFU) << 16 | (word >> 16 & 0x0000'FFFF'0000'FFFFU);
  return word << 32 | word >> 32;
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

inline constexpr double two_to_62 = 4611686018427387904.0;

/// 2^exponent, exponent 0..64.
[[nodiscard]] constexpr double power_of_two(unsigned exponent) noexcept {
  return exponent < 63 ? static_cast<double>(std::int64_t{1} << exponent)
                       : (exponent == 63 ? 2 : 4) * two_to_62;
}

[[nodiscard]] constexpr Result<std::uint64_t> integer_bits(Field field, double number,
                                                           Overflow overflow) noexcept {
  const bool is_signed = field.type == NumberType::signed_integer;
  const unsigned magnitude_bits = field.length - (is_signed ? 1U : 0U);
  // Integers as doubles, exact: from low, included, to beyond, excluded. Large numbers have no fraction to
  // round.
  const double low = is_signed ? -power_of_two(magnitude_bits) : 0;
  const double beyond = power_of_two(magnitude_bits);
  const bool is_small = number > -two_to_62 && number < two_to_62;
  const double whole = is_small ? static_cast<double>(round_half_away(number)) : number;
  const bool fits = whole >= low && whole < beyond;
  if (!fits) {
    if (overflow == Overflow::error) return fail(Errc::out_of_range);
    if (overflow == Overflow::clamp) {
      const std::uint64_t most = mask_of(field.length) >> (is_signed ? 1 : 0);
      return whole >= beyond ? most : is_signed ? most + 1 : 0;
    }
    if (whole < -2 * two_to_62 || whole >= 4 * two_to_62) return fail(Errc::out_of_range);
  }
  const std::uint64_t bits = whole < 2 * two_to_62
                                 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                                 : static_cast<std::uint64_t>(whole);
  return bits & mask_of(field.length);
}

[[nodiscard]] constexpr Result<std::uint64_t> float32_bits(double number, Overflow overflow) noexcept {
  // From half a unit above the largest float on, rounding would give infinity.
  constexpr double beyond = 340282356779733661637539395458142568448.0;
  if (number >= beyond || number <= -beyond) {
    if (overflow != Overflow::clamp) return fail(Errc::out_of_range);
    number = number > 0 ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest();
  }
  return std::bit_cast<std::uint32_t>(static_cast<float>(number));
}

/// The bits that say `number`. Errors: not_finite, out_of_range.
[[nodiscard]] constexpr Result<std::uint64_t> bits_of(Field field, double number,
                                                      Overflow overflow) noexcept {
  if (!is_finite(number)) return fail(Errc::not_finite);
  switch (field.type) {
    case NumberType::unsigned_integer:
    case NumberType::signed_integer:
      return integer_bits(field, number, overflow);
    case NumberType::float32:
      return float32_bits(number, overflow);
    case NumberType::float64:
      return std::bit_cast<std::uint64_t>(number);
  }
  return fail(Errc::bad_layout);
}

}  // namespace detail

/// Whether a field makes sense and lies within the first `bytes` bytes.
[[nodiscard]] constexpr bool fits(Field field, std::size_t bytes) noexcept {
  if (field.length < 1 || field.length > 64) return false;
  if (field.type == NumberType::float32 && field.length != 32) return false;
  if (field.type == NumberType::float64 && field.length != 64) return false;
  if (field.order > ByteOrder::big || field.type > NumberType::float64) return false;
  const detail::Window window = detail::window_of(field);
  return window.first + window.bytes <= bytes;
}

/// Whether two fields share a bit. Not for the cycle: it looks at each byte.
[[nodiscard]] constexpr bool overlap(Field a, Field b) noexcept {
  constexpr std::size_t frame_bytes = 64;
  if (!fits(a, frame_bytes) || !fits(b, frame_bytes)) return false;
  const auto bits_in = [](Field field, std::size_t byte) {
    const detail::Window window = detail::window_of(field);
    std::uint8_t frame[frame_bytes] = {};
    detail::insert_bits<detail::SizedWord>(field, window, frame, ~std::uint64_t{0});
    return frame[byte];
  };
  for (std::size_t byte = 0; byte < frame_bytes; ++byte) {
    if ((bits_in(a, byte) & bits_in(b, byte)) != 0) return true;
  }
  return false;
}

/// The bits of a field known at run time, in the low end of the result. Error: bad_layout (the field is not
/// within `data`).
[[nodiscard]] constexpr Result<std::uint64_t> extract(Field field,
                                                      std::span<const std::uint8_t> data) noexcept {
  if (!fits(field, data.size())) return fail(Errc::bad_layout);
  return detail::extract_bits<detail::SizedWord>(field, detail::window_of(field), data.data());
}

/// Writes the low bits of `bits` into a field known at run time. Error: bad_layout.
[[nodiscard]] constexpr Status insert(Field field, std::span<std::uint8_t> data,
                                      std::uint64_t bits) noexcept {
  if (!fits(field, data.size())) return fail(Errc::bad_layout);
  detail::insert_bits<detail::SizedWord>(field, detail::window_of(field), data.data(), bits);
  return {};
}

/// The bits of a field known at compile time. That it lies within the data is checked when this is compiled.
template <Field field, std::size_t Extent>
[[nodiscard]] constexpr std::uint64_t extract(std::span<const std::uint8_t, Extent> data) noexcept {
  static_assert(Extent != std::dynamic_extent && fits(field, Extent),
                "the field does not lie within the data");
  constexpr detail::Window window = detail::window_of(field);
  return detail::extract_bits<detail::FixedWord<(window.bytes < 8 ? window.bytes : 8)>>(field, window,
                                                                                        data.data());
}

/// Writes the low bits of `bits` into a field known at compile time.
template <Field field, std::size_t Extent>
constexpr void insert(std::span<std::uint8_t, Extent> data, std::uint64_t bits) noexcept {
  static_assert(Extent != std::dynamic_extent && fits(field, Extent),
                "the field does not lie within the data");
  constexpr detail::Window window = detail::window_of(field);
  detail::insert_bits<detail::FixedWord<(window.bytes < 8 ? window.bytes : 8)>>(field, window, data.data(),
                                                                                bits);
}

/// A field with its physical meaning.
struct Signal {
  Field field;
  double scale = 1;   ///< physical units per number; finite and not 0
  double offset = 0;  ///< physical value of the number 0

  friend constexpr bool operator==(const Signal&, const Signal&) = default;
};

/// The physical value of these bits. Infinite or NaN only where the field is a float that says so.
[[nodiscard]] constexpr double to_physical(const Signal& signal, std::uint64_t bits) noexcept {
  return detail::number_of(signal.field, bits) * signal.scale + signal.offset;
}

/// The bits that are nearest to a physical value. Errors: not_finite, out_of_range as `overflow` says.
[[nodiscard]] constexpr Result<std::uint64_t> to_bits(const Signal& signal, double physical,
                                                      Overflow overflow) noexcept {
  return detail::bits_of(signal.field, (physical - signal.offset) / signal.scale, overflow);
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
