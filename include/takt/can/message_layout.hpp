// The layout of a message in a frame, as a constant: its identifier, its signals, and the multiplexers that
// select them. The compiler checks the layout. takt/can/message.hpp codes messages by it and explains how to
// write one.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "takt/can/frame.hpp"
#include "takt/can/signal.hpp"
#include "takt/core/time.hpp"

namespace takt::can {

// ---- The parts of a message

/// The properties of a message as a whole.
struct MessageSpec {
  std::string_view name{};
  std::uint32_t id = 0;
  std::uint16_t length = 8;  ///< data bytes: 0 to 8; with format.fd 0 to 64; with j1939 0 to 1785
  FrameFormat format{};      ///< the format of sent frames. Classic and FD frames are both received
  /// The bits of the identifier that identify the message; for J1939, those of the parameter group.
  std::uint32_t id_mask = max_extended_id;
  /// J1939 codes without a value decode to NaN in floating-point members. Unused bits are sent as one.
  bool j1939 = false;
  Duration cycle_time{};  ///< 0: not sent periodically
};

/// A range of values in the field of a multiplexer, both ends included.
struct SelectorRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// The condition under which a signal is in the frame: values of a multiplexer. Without a multiplexer it is
/// always there.
struct Selection {
  static constexpr std::size_t max_ranges = 16;

  std::string_view multiplexer;
  std::array<SelectorRange, max_ranges> ranges{};
  std::size_t count = 0;

  /// Returns whether the signal is in every frame.
  [[nodiscard]] constexpr bool always() const noexcept { return multiplexer.empty(); }
};

/// The signal is in the frame while the multiplexer of this name has this value.
[[nodiscard]] consteval Selection when(std::string_view multiplexer, std::uint64_t selector) {
  return {multiplexer, {{{selector, selector}}}, 1};
}
/// The signal is in the frame while the multiplexer has a value within one of these ranges, of which there
/// may be 16.
template <std::size_t Count>
[[nodiscard]] consteval Selection when(std::string_view multiplexer, const SelectorRange (&ranges)[Count]) {
  static_assert(Count <= Selection::max_ranges, "too many ranges of selectors");
  Selection selection{multiplexer, {}, Count};
  std::copy_n(ranges, Count, selection.ranges.begin());
  return selection;
}

/// A signal: its name, position, scale, unit and condition.
struct SignalSpec {
  std::string_view name{};
  SignalCoding signal{};
  std::string_view unit{};
  Selection selection{};
  /// Raw numbers that mean a state, such as "error". They may be sent beyond the range. A multiplexer accepts
  /// them although they select no signal. The table must be a constant.
  std::span<const std::uint64_t> states{};
};

/// A signal and the member of the message that holds its value.
template <class Message, class Member>
struct BoundSignal {
  Member Message::*member;
  SignalSpec spec;
};
template <class Message, class Member>
/// Connects a member of a message to its signal.
[[nodiscard]] consteval BoundSignal<Message, Member> bind(Member Message::*member, SignalSpec spec) {
  return {member, spec};
}

/// The members that hold the signals of a message, in the order of an array of SignalSpec beside it. Together
/// they mean the same as a tuple of bind(). Generated headers use them because they compile many times
/// faster.
template <auto... member>
struct Members {
  static constexpr std::size_t count = sizeof...(member);
};

/// A type with a layout: it has the constants `message` and `signals`.
// clang-format off
template <class T>
concept MessageType = requires {
  { T::message } -> std::same_as<const MessageSpec&>;
  std::tuple_size<std::remove_cvref_t<decltype(T::signals)>>::value;
};
// clang-format on

// ---- Errors of a layout

/// The first error of a message's layout.
enum class MessageFault : std::uint8_t {
  none,
  id,           ///< more than 11 bits, or 29 when extended
  length,       ///< more than a frame of this format, or the transport of J1939, carries
  count,        ///< more than max_message_signals
  name,         ///< empty, or used by two signals
  signal,       ///< beyond the message's length, scale 0, or a range or state that the field cannot hold
  multiplexer,  ///< unknown name, not an integer, or dependent on itself
  selector,     ///< a value that the multiplexer cannot have
  overlap,      ///< two signals that can be in one frame share a bit
};

inline constexpr std::size_t max_message_signals = 4096;
inline constexpr std::size_t max_transport_length = 1785;  ///< bytes: SAE J1939-21

namespace detail {

inline constexpr std::size_t no_signal = ~std::size_t{0};

[[nodiscard]] constexpr bool is_integer(const BitField& field) noexcept {
  return field.type <= NumberType::signed_integer;
}

/// Names of signals often differ only in their last letters, and a compiler compares letter by letter.
[[nodiscard]] constexpr bool is_same_name(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && (a.empty() || a.back() == b.back()) && a == b;
}

[[nodiscard]] constexpr std::size_t find_signal(std::span<const SignalSpec> signals,
                                                std::string_view name) noexcept {
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (is_same_name(signals[i].name, name)) return i;
  }
  return no_signal;
}

/// The number of multiplexers above a signal. More than there are signals, if they depend on each other in a
/// circle.
[[nodiscard]] constexpr std::size_t depth_of(std::span<const SignalSpec> signals, std::size_t i) noexcept {
  std::size_t depth = 0;
  while (i < signals.size() && !signals[i].selection.always() && depth <= signals.size()) {
    i = find_signal(signals, signals[i].selection.multiplexer);
    ++depth;
  }
  return depth;
}

[[nodiscard]] constexpr bool share_selector(const Selection& a, const Selection& b) noexcept {
  for (std::size_t i = 0; i < a.count; ++i) {
    for (std::size_t j = 0; j < b.count; ++j) {
      if (a.ranges[i].low <= b.ranges[j].high && b.ranges[j].low <= a.ranges[i].high) return true;
    }
  }
  return false;
}

/// Whether no frame can have both signals: a common multiplexer would need two different values.
[[nodiscard]] constexpr bool exclude_each_other(std::span<const SignalSpec> signals, std::size_t a,
                                                std::size_t b) noexcept {
  for (std::size_t i = a; !signals[i].selection.always();
       i = find_signal(signals, signals[i].selection.multiplexer)) {
    for (std::size_t j = b; !signals[j].selection.always();
         j = find_signal(signals, signals[j].selection.multiplexer)) {
      const bool same = is_same_name(signals[i].selection.multiplexer, signals[j].selection.multiplexer);
      if (same && !share_selector(signals[i].selection, signals[j].selection)) return true;
    }
  }
  return false;
}

[[nodiscard]] constexpr MessageFault selection_fault(std::span<const SignalSpec> signals,
                                                     std::size_t i) noexcept {
  const Selection& selection = signals[i].selection;
  if (selection.always()) return MessageFault::none;
  const std::size_t multiplexer = find_signal(signals, selection.multiplexer);
  if (multiplexer == no_signal || !is_integer(signals[multiplexer].signal.field) ||
      depth_of(signals, i) > signals.size()) {
    return MessageFault::multiplexer;
  }
  for (std::size_t k = 0; k < selection.count; ++k) {
    const auto [low, high] = selection.ranges[k];
    if (low > high || high > mask_of(signals[multiplexer].signal.field.length)) return MessageFault::selector;
  }
  return selection.count == 0 ? MessageFault::selector : MessageFault::none;
}

/// The largest number of bytes of a message of this format.
[[nodiscard]] constexpr std::size_t max_length(const MessageSpec& message) noexcept {
  if (message.format.fd) return max_fd_length;
  return message.j1939 ? max_transport_length : max_classic_length;
}

/// Whether two signals have the same name. Sorting keeps the number of constant-expression steps low, which
/// compilers limit.
[[nodiscard]] constexpr bool has_twins(std::span<const SignalSpec> signals) noexcept {
  std::array<std::uint16_t, max_message_signals>
      order;  // NOLINT: in a constant expression, initialising it costs steps
  for (std::size_t i = 0; i < signals.size(); ++i) order[i] = static_cast<std::uint16_t>(i);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(signals.size());
  std::sort(order.begin(), end, [&](auto a, auto b) { return signals[a].name < signals[b].name; });
  return std::adjacent_find(order.begin(), end,
                            [&](auto a, auto b) { return signals[a].name == signals[b].name; }) != end;
}

[[nodiscard]] constexpr MessageFault signal_fault(const SignalSpec& spec, std::size_t bytes) noexcept {
  if (spec.name.empty()) return MessageFault::name;
  if (!is_valid(spec.signal, bytes)) return MessageFault::signal;
  const std::uint64_t mask = mask_of(spec.signal.field.length);
  const bool has_states =
      std::all_of(spec.states.begin(), spec.states.end(), [&](std::uint64_t state) { return state <= mask; });
  return has_states ? MessageFault::none : MessageFault::signal;
}

/// Whether two signals that can be in one frame share a bit. Signals that are always there are marked in one
/// bit map of the message. Only multiplexed signals are compared in pairs.
[[nodiscard]] constexpr bool has_overlap(std::size_t bytes, std::span<const SignalSpec> signals) noexcept {
  std::array<std::uint8_t, max_transport_length> taken;  // NOLINT: as above
  std::fill_n(taken.begin(), bytes, std::uint8_t{0});
  const auto meets_taken = [&](BitField field, bool takes) {
    const Window window = window_of(field);
    bool meets = false;
    for (std::size_t i = window.first; i < window.first + window.bytes; ++i) {
      const auto bits = static_cast<std::uint8_t>(covered_bits(field, window, i));
      meets = meets || (taken[i] & bits) != 0;
      if (takes) taken[i] = static_cast<std::uint8_t>(taken[i] | bits);
    }
    return meets;
  };
  for (const SignalSpec& spec : signals) {
    if (spec.selection.always() && meets_taken(spec.signal.field, true)) return true;
  }
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (signals[i].selection.always()) continue;
    if (meets_taken(signals[i].signal.field, false)) return true;
    for (std::size_t j = 0; j < i; ++j) {
      if (!signals[j].selection.always() && overlap(signals[i].signal.field, signals[j].signal.field) &&
          !exclude_each_other(signals, i, j))
        return true;
    }
  }
  return false;
}

}  // namespace detail

/// Returns the first error of a layout, known at compile time or at run time. Not for the cycle.
[[nodiscard]] constexpr MessageFault find_fault(const MessageSpec& message,
                                                std::span<const SignalSpec> signals) noexcept {
  if (message.id > (message.format.extended ? max_extended_id : max_standard_id)) return MessageFault::id;
  if (message.length > detail::max_length(message)) return MessageFault::length;
  if (signals.size() > max_message_signals) return MessageFault::count;
  for (const SignalSpec& signal : signals) {
    const MessageFault fault = detail::signal_fault(signal, message.length);
    if (fault != MessageFault::none) return fault;
  }
  if (detail::has_twins(signals)) return MessageFault::name;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    const MessageFault fault = detail::selection_fault(signals, i);
    if (fault != MessageFault::none) return fault;
  }
  return detail::has_overlap(message.length, signals) ? MessageFault::overlap : MessageFault::none;
}

/// The number of signals of a message.
template <MessageType T>
inline constexpr std::size_t signal_count = std::tuple_size_v<std::remove_cvref_t<decltype(T::signals)>>;

namespace detail {

template <std::size_t I>
using Index = std::integral_constant<std::size_t, I>;

[[nodiscard]] constexpr const SignalSpec& spec_of(const SignalSpec& signal) noexcept { return signal; }
template <class Message, class Member>
[[nodiscard]] constexpr const SignalSpec& spec_of(const BoundSignal<Message, Member>& signal) noexcept {
  return signal.spec;
}

template <class T>
using SignalTable = std::array<SignalSpec, signal_count<T>>;

/// The signals of a message that binds them to members.
template <class T>
inline constexpr SignalTable<T> bound_signals = []<std::size_t... I>(std::index_sequence<I...>) {
  return SignalTable<T>{spec_of(std::get<I>(T::signals))...};
}
(std::make_index_sequence<signal_count<T>>{});

template <class T>
[[nodiscard]] consteval const SignalTable<T>& table_of() noexcept {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(T::signals)>, SignalTable<T>>) {
    return T::signals;
  } else {
    return bound_signals<T>;
  }
}

}  // namespace detail

/// The signals of a message, in its order, with or without members.
template <MessageType T>
inline constexpr const detail::SignalTable<T>& signals_of = detail::table_of<T>();

namespace detail {

template <std::size_t I, auto member>
struct MemberAt {};
template <class Indexes, auto... member>
struct IndexedMembers;
template <std::size_t... I, auto... member>
struct IndexedMembers<std::index_sequence<I...>, member...> : MemberAt<I, member>... {};

template <std::size_t I, auto member>
[[nodiscard]] consteval auto pick(const MemberAt<I, member>&) noexcept {
  return member;
}
template <std::size_t I, auto... member>
[[nodiscard]] consteval auto pick_member(Members<member...>) noexcept {
  return pick<I>(IndexedMembers<std::make_index_sequence<sizeof...(member)>, member...>{});
}

template <class T>
concept ListsMembers = requires {
  typename T::Members;
};

template <class T, std::size_t I>
[[nodiscard]] consteval auto member_at() noexcept {
  if constexpr (ListsMembers<T>) {
    return pick_member<I>(typename T::Members{});
  } else {
    return std::get<I>(T::signals).member;
  }
}

}  // namespace detail

/// The pointer to the member that holds the signal I of a message.
template <MessageType T, std::size_t I>
inline constexpr auto member_of = detail::member_at<T, I>();

namespace detail {

/// Whether a member can hold every number of a field without changing its meaning.
template <class Member>
[[nodiscard]] constexpr bool can_hold(const SignalCoding& signal) noexcept {
  if constexpr (std::is_enum_v<Member>) {
    return can_hold<std::underlying_type_t<Member>>(signal);
  } else if constexpr (std::is_integral_v<Member>) {
    using Limits = std::numeric_limits<Member>;
    const bool is_signed = signal.field.type == NumberType::signed_integer;
    const int digits = signal.field.length - (is_signed ? 1 : 0);
    return is_integer(signal.field) && signal.scale == 1 && signal.offset == 0 && digits <= Limits::digits &&
           (!is_signed || Limits::is_signed);
  } else {
    return std::is_floating_point_v<Member>;
  }
}
template <class Message, class Member>
[[nodiscard]] constexpr bool member_fits(const SignalCoding& signal, Member Message::*) noexcept {
  return can_hold<Member>(signal);
}

template <class T>
[[nodiscard]] consteval bool members_fit() noexcept {
  if constexpr (ListsMembers<T>) {
    static_assert(T::Members::count == signal_count<T>, "each signal needs one member of the message");
    return []<auto... member>(Members<member...>) {
      // A list, because compilers limit the terms of one expression.
      std::size_t i = 0;
      const bool fit[] = {true, member_fits(T::signals[i++].signal, member)...};
      return std::all_of(std::begin(fit), std::end(fit), [](bool fits) { return fits; });
    }
    (typename T::Members{});
  } else {
    const auto fits_bound = []<class Signal>(const Signal& signal) {
      if constexpr (std::is_same_v<Signal, SignalSpec>) {
        return true;
      } else {
        return member_fits(signal.spec.signal, signal.member);
      }
    };
    return std::apply([&](const auto&... signal) { return (fits_bound(signal) && ...); }, T::signals);
  }
}

/// Rejects an invalid layout, with a separate message for each error.
template <class T>
consteval bool check() {
  constexpr MessageFault fault = find_fault(T::message, signals_of<T>);
  static_assert(fault != MessageFault::id,
                "the identifier has more than 11 bits (29 bits in an extended frame)");
  static_assert(fault != MessageFault::length,
                "the message is longer than a frame of its format or the J1939 transport can carry");
  static_assert(fault != MessageFault::count, "the message has more than 4096 signals");
  static_assert(fault != MessageFault::name, "a signal has no name, or that of another one");
  static_assert(fault != MessageFault::signal,
                "a signal lies beyond the length of the message, has scale 0, or has a range or a state that "
                "its field cannot hold");
  static_assert(fault != MessageFault::multiplexer,
                "a multiplexer is unknown, not an integer, or depends on itself");
  static_assert(fault != MessageFault::selector, "a multiplexer cannot have the value of a selector");
  static_assert(fault != MessageFault::overlap, "two signals that can be in one frame share a bit");
  static_assert(members_fit<T>(),
                "an integer member is too small for its signal, or the signal has a scale or an offset");
  return fault == MessageFault::none && members_fit<T>();
}

}  // namespace detail

/// Rejects an invalid layout at compile time. Each function below uses it. To reject a declaration that no
/// code uses yet, write static_assert(can::is_valid_message<MotorStatus>) after it.
template <MessageType T>
inline constexpr bool is_valid_message = detail::check<T>();

}  // namespace takt::can
