// How a message lies in a frame, as a constant: identifier, signals, and which multiplexer chooses them; and whether that makes
// sense, which is asked when the program is compiled. takt/can/message.hpp codes messages by it, and says how to write one.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
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

// ---- What a message is made of

struct MessageSpec {
  std::string_view name{};
  std::uint32_t id = 0;
  std::uint8_t length = 8;                  ///< data bytes: 0..8; with format.fd a length that CAN FD knows
  FrameFormat format{};                     ///< how it is sent. Received are classic and FD frames alike
  std::uint32_t id_mask = max_extended_id;  ///< bits of the identifier that tell the message: not those of
                                            ///< priority and addresses in J1939
  bool j1939 = false;  ///< numbers that say "not available" or "error" are no values: NaN in floating-point
                       ///< members. Bits that no signal covers are sent as one
  Duration cycle_time{};  ///< 0: not sent periodically
};

/// What stands in the field of a multiplexer, from low to high, both included.
struct SelectorRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// On which values of which multiplexer a signal is in the frame; always, without a multiplexer.
struct Selection {
  static constexpr std::size_t max_ranges = 16;

  std::string_view multiplexer;
  std::array<SelectorRange, max_ranges> ranges{};
  std::size_t count = 0;

  [[nodiscard]] constexpr bool always() const noexcept { return multiplexer.empty(); }
};

/// The signal is there while the multiplexer of this name has this value ...
[[nodiscard]] consteval Selection when(std::string_view multiplexer, std::uint64_t selector) {
  return {multiplexer, {{{selector, selector}}}, 1};
}
/// ... or one within these ranges, of which there may be 16.
template <std::size_t Count>
[[nodiscard]] consteval Selection when(std::string_view multiplexer, const SelectorRange (&ranges)[Count]) {
  static_assert(Count <= Selection::max_ranges, "too many ranges of selectors");
  Selection selection{multiplexer, {}, Count};
  std::copy_n(ranges, Count, selection.ranges.begin());
  return selection;
}

struct SignalSpec {
  std::string_view name{};
  Signal signal{};
  std::string_view unit{};
  Selection selection{};
};

/// A signal and the member of the message that holds it.
template <class Message, class Member>
struct BoundSignal {
  Member Message::*member;
  SignalSpec spec;
};
template <class Message, class Member>
[[nodiscard]] consteval BoundSignal<Message, Member> bind(Member Message::*member, SignalSpec spec) {
  return {member, spec};
}

/// A type that says how it lies in a frame.
// clang-format off
template <class T>
concept MessageType = requires {
  { T::message } -> std::same_as<const MessageSpec&>;
  std::tuple_size<std::remove_cvref_t<decltype(T::signals)>>::value;
};
// clang-format on

// ---- What can be wrong with it

/// The first thing that is wrong with a message's layout.
enum class MessageFault : std::uint8_t {
  none,
  id,           ///< more than 11 (29 when extended) bits
  length,       ///< no frame of this format has it
  name,         ///< empty, or given to two signals
  signal,       ///< beyond the length, no scale, or a range that the field cannot hold
  multiplexer,  ///< unknown name, not an integer, or depending on itself
  selector,     ///< a value that the multiplexer cannot have
  overlap,      ///< two signals that can be there at once share a bit
};

namespace detail {

inline constexpr std::size_t no_signal = ~std::size_t{0};

[[nodiscard]] constexpr bool is_integer(const Field& field) noexcept {
  return field.type <= NumberType::signed_integer;
}

/// Names of signals often differ in their last letters only, and a compiler compares letter by letter.
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

/// How many multiplexers decide on a signal; more than there are signals, if they depend on each other in a circle.
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

/// Whether no frame has both signals: on the way up from them, one multiplexer would need two values.
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

}  // namespace detail

/// What is wrong with a message of these signals, whether it is known at compile time or not. Not for the cycle.
[[nodiscard]] constexpr MessageFault find_fault(const MessageSpec& message,
                                                std::span<const SignalSpec> signals) noexcept {
  if (message.id > (message.format.extended ? max_extended_id : max_standard_id)) return MessageFault::id;
  if (!is_frame_length(message.length, message.format)) return MessageFault::length;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (signals[i].name.empty() || detail::find_signal(signals, signals[i].name) != i)
      return MessageFault::name;
    if (!is_valid(signals[i].signal, message.length)) return MessageFault::signal;
  }
  for (std::size_t i = 0; i < signals.size(); ++i) {
    const MessageFault fault = detail::selection_fault(signals, i);
    if (fault != MessageFault::none) return fault;
  }
  for (std::size_t i = 0; i < signals.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (overlap(signals[i].signal.field, signals[j].signal.field) &&
          !detail::exclude_each_other(signals, i, j)) {
        return MessageFault::overlap;
      }
    }
  }
  return MessageFault::none;
}

/// How many signals a message has.
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
[[nodiscard]] consteval auto specs_of() noexcept {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<SignalSpec, sizeof...(I)>{spec_of(std::get<I>(T::signals))...};
  }
  (std::make_index_sequence<signal_count<T>>{});
}

}  // namespace detail

/// The signals of a message, in its order, whatever they are bound to.
template <MessageType T>
inline constexpr std::array<SignalSpec, signal_count<T>> signals_of = detail::specs_of<T>();

namespace detail {

/// Whether a member can take every number of a field, and no other meaning.
template <class Member>
[[nodiscard]] constexpr bool can_hold(const Signal& signal) noexcept {
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
[[nodiscard]] constexpr bool member_fits(const BoundSignal<Message, Member>& signal) noexcept {
  return can_hold<Member>(signal.spec.signal);
}
[[nodiscard]] constexpr bool member_fits(const SignalSpec&) noexcept { return true; }

/// Refuses a layout that makes no sense, each with its own words.
template <class T>
consteval bool check() {
  constexpr MessageFault fault = find_fault(T::message, signals_of<T>);
  static_assert(fault != MessageFault::id, "the identifier has more than 11 (29 when extended) bits");
  static_assert(fault != MessageFault::length, "no frame of this format has the length of the message");
  static_assert(fault != MessageFault::name, "a signal has no name, or that of another one");
  static_assert(
      fault != MessageFault::signal,
      "a signal lies beyond the length of the message, has no scale, or a range that its field cannot hold");
  static_assert(fault != MessageFault::multiplexer,
                "a multiplexer is unknown, not an integer, or depends on itself");
  static_assert(fault != MessageFault::selector, "a multiplexer cannot have the value of a selector");
  static_assert(fault != MessageFault::overlap, "two signals that can be there at once share a bit");
  constexpr bool members_fit =
      std::apply([](const auto&... signal) { return (member_fits(signal) && ...); }, T::signals);
  static_assert(members_fit,
                "an integer member is too small for its signal, or the signal has a scale or an offset");
  return fault == MessageFault::none && members_fit;
}

}  // namespace detail

/// Whether the layout makes sense: does not compile where it does not. Each function below asks; a declaration that shall be
/// refused even if nobody uses it is followed by static_assert(can::is_valid_message<MotorStatus>).
template <MessageType T>
inline constexpr bool is_valid_message = detail::check<T>();

}  // namespace takt::can
