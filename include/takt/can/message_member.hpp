// Converts a member of a typed message to the bits of its signal, and back. Part of can/message.hpp;
// everything is real-time safe and usable in constant expressions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "takt/can/j1939_parameter.hpp"
#include "takt/can/message_layout.hpp"
#include "takt/can/signal.hpp"

namespace takt::can::detail {

/// The largest number in a field that is a value and no J1939 code.
template <class T, std::size_t I>
inline constexpr std::uint64_t largest_value = T::message.j1939
                                                   ? largest_j1939_value(signals_of<T>[I].signal.field)
                                                   : std::numeric_limits<std::uint64_t>::max();

/// The physical value in a field; NaN for a J1939 code without a value.
template <class T, std::size_t I>
[[nodiscard]] constexpr double physical_in(std::uint64_t bits) noexcept {
  if (bits > largest_value<T, I>) return std::numeric_limits<double>::quiet_NaN();
  return to_physical(signals_of<T>[I].signal, bits);
}

/// Converts the number in a field to its member.
template <class T, std::size_t I, class Member>
[[nodiscard]] constexpr Member to_member(std::uint64_t bits) noexcept {
  constexpr SignalCoding signal = signals_of<T>[I].signal;
  if constexpr (std::is_floating_point_v<Member>) {
    return static_cast<Member>(physical_in<T, I>(bits));
  } else if (signal.field.type == NumberType::signed_integer) {
    return static_cast<Member>(sign_extended(bits, signal.field.length));
  } else {
    return static_cast<Member>(bits);
  }
}

/// The limits for the numbers of a signal.
template <class T, std::size_t I>
[[nodiscard]] consteval NumberLimits value_limits() noexcept {
  NumberLimits limits = number_limits(signals_of<T>[I].signal);
  if (largest_value<T, I> != std::numeric_limits<std::uint64_t>::max())
    limits.high = std::min(limits.high, static_cast<double>(largest_value<T, I>));
  return limits;
}

/// The limits for the integers of a signal, in the type of its field.
template <class T, std::size_t I>
struct IntegerLimits {
  static constexpr SignalCoding signal = signals_of<T>[I].signal;
  static constexpr bool is_signed = signal.field.type == NumberType::signed_integer;
  using Number = std::conditional_t<is_signed, std::int64_t, std::uint64_t>;

  static constexpr NumberLimits limits = number_limits(signal);
  static constexpr bool up_to_field = limits.high == number_limits(signal.field).high;
  static constexpr auto most_of_field =
      static_cast<Number>(mask_of(signal.field.length) >> (is_signed ? 1 : 0));
  static constexpr auto low = static_cast<Number>(limits.low);
  static constexpr Number high = up_to_field ? most_of_field : static_cast<Number>(limits.high);
};

/// The form in which a member is compared and sent: a double, or an integer of at least one byte.
template <class Member>
[[nodiscard]] constexpr auto sent_value(Member member) noexcept {
  if constexpr (std::is_floating_point_v<Member>) {
    return static_cast<double>(member);
  } else if constexpr (std::is_enum_v<Member>) {
    return sent_value(static_cast<std::underlying_type_t<Member>>(member));
  } else if constexpr (std::is_signed_v<Member>) {
    return static_cast<std::int64_t>(member);
  } else {
    return static_cast<std::uint64_t>(member);
  }
}

template <class T, std::size_t I, class Member>
[[nodiscard]] constexpr FieldBits member_to_bits(Member member) noexcept {
  constexpr SignalCoding signal = signals_of<T>[I].signal;
  const auto value = sent_value(member);
  if constexpr (std::is_floating_point_v<Member>) {
    constexpr NumberLimits limits = value_limits<T, I>();
    return round_to_bits(signal.field, limits, to_number(signal, value));
  } else {
    using Limits = IntegerLimits<T, I>;
    const bool fits = std::cmp_greater_equal(value, Limits::low) && std::cmp_less_equal(value, Limits::high);
    return {static_cast<std::uint64_t>(value) & mask_of(signal.field.length), fits};
  }
}

template <class T, std::size_t I, class Member>
[[nodiscard]] constexpr bool says_state(Member member, std::uint64_t state) noexcept {
  if constexpr (std::is_floating_point_v<Member>) {
    return says_number(signals_of<T>[I].signal, static_cast<double>(member), state);
  } else {
    return to_member<T, I, Member>(state) == member;
  }
}

/// Applies the policy to a member that does not fit. A member with the exact value of a state is sent under
/// every policy.
template <class T, std::size_t I, Overflow overflow, class Member>
[[nodiscard]] constexpr Result<std::uint64_t> member_beyond(Member member) noexcept {
  constexpr SignalCoding signal = signals_of<T>[I].signal;
  for (const std::uint64_t state : signals_of<T>[I].states) {
    if (says_state<T, I>(member, state)) return state;
  }
  const auto value = sent_value(member);
  if constexpr (std::is_floating_point_v<Member>) {
    constexpr NumberLimits limits = value_limits<T, I>();
    constexpr bool is_coded = largest_value<T, I> != std::numeric_limits<std::uint64_t>::max();
    if (is_coded && !(value <= std::numeric_limits<double>::infinity()))
      return mask_of(signal.field.length);  // NaN
    const auto bits = number_to_bits(signal.field, limits, to_number(signal, value), overflow);
    if (is_coded && bits && *bits > largest_value<T, I>)
      return fail(Errc::out_of_range);  // wrapping would give a J1939 code
    return bits;
  } else {
    using Limits = IntegerLimits<T, I>;
    if constexpr (overflow == Overflow::error) return fail(Errc::out_of_range);
    const auto sent = overflow == Overflow::wrap          ? static_cast<std::uint64_t>(value)
                      : std::cmp_less(value, Limits::low) ? static_cast<std::uint64_t>(Limits::low)
                                                          : static_cast<std::uint64_t>(Limits::high);
    return sent & mask_of(signal.field.length);
  }
}

}  // namespace takt::can::detail
