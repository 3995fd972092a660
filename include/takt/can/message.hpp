// Typed messages: a plain struct of physical values that declares, for each member, its place in a frame.
// Coding costs as much as shifts written by hand, with rounding and overflow checks. An invalid layout does
// not compile. A message has at most 4096 signals. Clang needs -fconstexpr-steps for some 200 or more
// multiplexed signals, and -fbracket-depth for more than 256.
//
//     using enum can::ByteOrder;
//     using enum can::NumberType;
//
//     struct MotorStatus {
//       enum class State : std::uint8_t { off, ready, fault = 7 };
//
//       double position = 0;  ///< rad
//       double current = 0;   ///< A
//       State state = State::off;
//
//       static constexpr can::MessageSpec message{.name = "MotorStatus", .id = 0x181, .length = 6};
//
//       static constexpr std::tuple signals{
//           can::bind(&MotorStatus::position,
//                     {"Position", {{0, 24, little, signed_integer}, 1e-4, 0, -50, 50}, "rad"}),
//
//           can::bind(&MotorStatus::current, {"Current", {{31, 12, big, signed_integer}, 0.01}, "A"}),
//           can::bind(&MotorStatus::state, {"State", {{40, 3, little}}})};
//     };
//
//     const Result<MotorStatus> status = can::decode<MotorStatus>(frame);
//     const Result<Frame> frame = can::encode(MotorStatus{.position = 1.5});  // out_of_range above 50
//     const Result<Frame> limited = can::encode<can::Overflow::clamp>(MotorStatus{1e3});
//
// A state beyond the range, such as 255 for "error", needs an entry in the signal's `states`. It is sent if
// the member has exactly its value:
//
//     static constexpr std::array<std::uint64_t, 1> states{255};
//     can::bind(&Motor::speed, {"Speed", {{0, 8}, 0.5, 0, 0, 100}, "rad/s", {}, states})  // sends 127.5
//
// A floating-point member holds the physical value. A member that is an integer, an enum or a bool holds the
// number in the field, exact to 64 bits. Its signal must have scale 1 and offset 0. A list of signals without
// members (`static constexpr std::array signals{can::SignalSpec{...}, ...};`) is coded to and from an array
// of doubles.
//
// A multiplexed message has the members of all its branches. Its multiplexer is a signal like any other. Each
// multiplexed signal states the selector values for which it is in the frame:
//
//     can::bind(&Diagnosis::page, {"Page", {{0, 8}}}),
//     can::bind(&Diagnosis::temperature, {"Temperature", {{8, 8}, 1, -40}, "degC", can::when("Page", 1)}),
//     can::bind(&Diagnosis::voltage, {"Voltage", {{8, 16}, 0.01}, "V", can::when("Page", {{2, 3}, {7, 7}})}),
//
// Decoding fills only the selected members; the others keep their initial values. If the selector selects no
// signal, only the signals that do not depend on it are decoded. Encoding such a number fails with
// unknown_selector, unless the multiplexer has it as a state. A multiplexer may depend on another one.
//
// Every function that takes a frame or a message is real-time safe and usable in constant expressions. None
// reads beyond the length of the message. A shorter frame is an error; a longer one, such as a padded FD
// frame, is not. Bits without a signal are sent as zero, in J1939 as one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "takt/can/frame.hpp"
#include "takt/can/j1939_parameter.hpp"
#include "takt/can/message_layout.hpp"
#include "takt/can/message_member.hpp"
#include "takt/can/signal.hpp"
#include "takt/can/word.hpp"

namespace takt::can {
/// The data bytes of a message.
template <MessageType T>
using Data = std::array<std::uint8_t, T::message.length>;

/// The physical values of all signals of a message, in the order of its signals.
template <MessageType T>
using Values = std::array<double, signal_count<T>>;

namespace detail {

template <class T>
using DataView = std::span<const std::uint8_t, T::message.length>;

template <class T, std::size_t I>
[[nodiscard]] constexpr std::uint64_t bits_in(DataView<T> data) noexcept {
  return extract<signals_of<T>[I].signal.field>(data);
}

/// The data of a message during encoding. Where one word holds all data, each byte order has a word of its
/// own. Bytes are then swapped once for the message, and not for each field.
template <class T>
class Draft {
 public:
  template <std::size_t I>
  constexpr void insert(std::uint64_t bits) noexcept {
    if constexpr (in_words) {
      words_[order<I>] |= (bits & mask<I>) << shift<I>;
      used_[order<I>] |= mask<I> << shift<I>;
    } else {
      can::insert<signals_of<T>[I].signal.field>(std::span(data_), bits);
    }
  }
  template <std::size_t I>
  [[nodiscard]] constexpr std::uint64_t bits() const noexcept {
    if constexpr (in_words) {
      return words_[order<I>] >> shift<I> & mask<I>;
    } else {
      return extract<signals_of<T>[I].signal.field>(DataView<T>(data_));
    }
  }
  [[nodiscard]] constexpr Data<T> data() const noexcept {
    if constexpr (in_words) {
      const auto joined = [](const std::array<std::uint64_t, 2>& words) {
        return words[0] | swap_bytes(words[1]) >> (64 - 8 * length);
      };
      Data<T> data{};
      store_little<length>(data.data(), joined(words_) | (unused & ~joined(used_)));
      return data;
    } else {
      return data_;
    }
  }

  /// The bytes that are sent where no signal is.
  [[nodiscard]] static constexpr Data<T> unused_data() noexcept {
    Data<T> data{};
    data.fill(static_cast<std::uint8_t>(unused));
    return data;
  }

 private:
  static constexpr std::size_t length = T::message.length;
  static constexpr bool in_words = length > 0 && length <= 8;
  static constexpr std::uint64_t unused = T::message.j1939 ? ~std::uint64_t{0} : 0;
  template <std::size_t I>
  static constexpr BitField field = signals_of<T>[I].signal.field;
  template <std::size_t I>
  static constexpr std::size_t order = field<I>.order == ByteOrder::little ? 0 : 1;
  template <std::size_t I>
  static constexpr unsigned shift = widened(window_of(field<I>), field<I>.order, length).shift;
  template <std::size_t I>
  static constexpr std::uint64_t mask = mask_of(field<I>.length);

  std::array<std::uint64_t, 2> words_{};  ///< by byte order: little, big
  std::array<std::uint64_t, 2> used_{};   ///< the bits that belong to signals
  std::conditional_t<in_words, std::array<std::uint8_t, 0>, Data<T>> data_ = initial();

  static constexpr auto initial() noexcept {
    if constexpr (in_words) {
      return std::array<std::uint8_t, 0>{};
    } else {
      return unused_data();
    }
  }
};

template <class T, std::size_t I>
[[nodiscard]] constexpr std::uint64_t bits_in(const Draft<T>& draft) noexcept {
  return draft.template bits<I>();
}

/// Whether a multiplexer's value selects a signal. It does not check that the multiplexer itself is in the
/// frame.
template <class T, std::size_t I>
[[nodiscard]] constexpr bool is_selected(std::uint64_t selector) noexcept {
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    constexpr const auto& ranges = signals_of<T>[I].selection.ranges;
    return ((ranges[K].low <= selector && selector <= ranges[K].high) || ...);
  }
  (std::make_index_sequence<signals_of<T>[I].selection.count>{});
}

/// The multiplexer of each signal; no_signal for signals that are always in the frame.
template <class T>
inline constexpr auto multiplexers = [] {
  std::array<std::size_t, signal_count<T>> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Selection& selection = signals_of<T>[i].selection;
    all[i] = selection.always() ? no_signal : find_signal(signals_of<T>, selection.multiplexer);
  }
  return all;
}();
template <class T, std::size_t I>
inline constexpr std::size_t multiplexer_of = multiplexers<T>[I];

/// Whether a signal's raw number is one of its states.
template <class T, std::size_t I>
[[nodiscard]] constexpr bool is_state(std::uint64_t bits) noexcept {
  const auto& states = signals_of<T>[I].states;
  return std::find(states.begin(), states.end(), bits) != states.end();
}

/// Whether a signal is in these data, or in this draft.
template <class T, std::size_t I, class Source>
[[nodiscard]] constexpr bool is_there(const Source& data) noexcept {
  if constexpr (signals_of<T>[I].selection.always()) {
    return true;
  } else {
    constexpr std::size_t multiplexer = multiplexer_of<T, I>;
    return is_there<T, multiplexer>(data) && is_selected<T, I>(bits_in<T, multiplexer>(data));
  }
}

/// Whether the multiplexer I of this frame selects a signal or means a state. True for a signal that is no
/// multiplexer or is not in the frame.
template <class T, std::size_t I, class Source>
[[nodiscard]] constexpr bool selects_something(const Source& data) noexcept {
  constexpr bool is_multiplexer =
      std::find(multiplexers<T>.begin(), multiplexers<T>.end(), I) != multiplexers<T>.end();
  if constexpr (!is_multiplexer) {
    return true;
  } else {
    if (!is_there<T, I>(data)) return true;
    const std::uint64_t selector = bits_in<T, I>(data);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return ((multiplexer_of<T, K> == I && is_selected<T, K>(selector)) || ...);
    }
    (std::make_index_sequence<signal_count<T>>{}) || is_state<T, I>(selector);
  }
}

/// The order of coding: each multiplexer before the signals that depend on it.
template <class T>
inline constexpr auto signal_order = [] {
  std::array<std::size_t, signal_count<T>> order{};
  std::size_t placed = 0;
  for (std::size_t depth = 0; placed < order.size(); ++depth) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (depth_of(signals_of<T>, i) == depth) order[placed++] = i;
    }
  }
  return order;
}();

/// Calls function(Index<I>) for each signal, multiplexers first, until it returns false. It works in pieces,
/// because compilers limit the terms of one expression.
template <class T, std::size_t first = 0, std::size_t count = signal_count<T>, class Function>
constexpr bool for_signals(Function function) noexcept {
  constexpr std::size_t most = 64;
  if constexpr (count > most) {
    return for_signals<T, first, most>(function) && for_signals<T, first + most, count - most>(function);
  } else {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      return (function(Index<signal_order<T>[first + K]> {}) && ...);
    }
    (std::make_index_sequence<count>{});
  }
}

template <class T, class Source>
[[nodiscard]] constexpr bool selectors_known(const Source& data) noexcept {
  return for_signals<T>([&]<std::size_t I>(Index<I>) { return selects_something<T, I>(data); });
}

/// The error of codecs that are not inlined. A Status would go through memory and add half to their cost.
inline constexpr Error no_error{};
[[nodiscard]] constexpr Status to_status(Error error) noexcept {
  if (error != no_error) return fail(error);
  return {};
}

/// Checks that decode_with() may be called: the length.
template <class T>
[[nodiscard]] constexpr Error check_data(std::span<const std::uint8_t> data) noexcept {
  static_assert(is_valid_message<T>);
  if (data.size() < T::message.length) return Errc::wrong_length;
  return no_error;
}

/// Calls take(Index<I>, bits) for each signal in the frame.
template <class T, class Take>
constexpr void decode_with(std::span<const std::uint8_t> all, Take take) noexcept {
  const DataView<T> data(all.data(), T::message.length);
  for_signals<T>([&]<std::size_t I>(Index<I> index) {
    if (is_there<T, I>(data)) take(index, bits_in<T, I>(data));
    return true;
  });
}

/// encode_with() for a message with a value that does not fit. This code is long, for each policy and signal,
/// and rarely needed. Therefore it is not inlined into the code of each cycle.
template <class T, class Round, class Beyond>
[[nodiscard, gnu::noinline]] constexpr Error encode_beyond(Data<T>& data, Round round,
                                                           Beyond beyond) noexcept {
  Error error = no_error;
  data = Draft<T>::unused_data();
  for_signals<T>([&]<std::size_t I>(Index<I> index) {
    if (!is_there<T, I>(data)) return true;
    const FieldBits rounded = round(index);
    const Result<std::uint64_t> bits = rounded.fits ? rounded.bits : beyond(index);
    if (bits) {
      insert<signals_of<T>[I].signal.field>(std::span(data), *bits);
    } else {
      error = bits.error();
    }
    return bits.has_value();
  });
  return error;
}

/// Inserts the bits of each signal in the frame. The callback round(Index<I>) gives them as FieldBits. If
/// they do not fit, the callback beyond(Index<I>) gives them as a Result. On an error the data are unusable.
template <class T, class Round, class Beyond>
[[nodiscard, gnu::always_inline]] constexpr Error encode_with(Data<T>& data, Round round,
                                                              Beyond beyond) noexcept {
  static_assert(is_valid_message<T>);
  // Usually everything fits. One check for all signals lets the processor compute them side by side.
  Draft<T> draft;
  bool all_fit = true;
  for_signals<T>([&]<std::size_t I>(Index<I> index) {
    if (!is_there<T, I>(draft)) return true;
    const FieldBits rounded = round(index);
    all_fit = all_fit & rounded.fits;
    draft.template insert<I>(rounded.bits);
    return true;
  });
  if (!all_fit) {
    if (const Error error = encode_beyond<T>(data, round, beyond); error != no_error) return error;
    return selectors_known<T>(data) ? no_error : Error(Errc::unknown_selector);
  }
  data = draft.data();
  return selectors_known<T>(draft) ? no_error : Error(Errc::unknown_selector);
}

/// The index of the signal that is bound to a member.
template <class T, auto member>
inline constexpr std::size_t signal_of = []<std::size_t... I>(std::index_sequence<I...>) {
  const auto is_bound_to = [](auto bound) {
    if constexpr (std::is_same_v<decltype(bound), std::remove_const_t<decltype(member)>>) {
      return bound == member;
    } else {
      return false;
    }
  };
  std::size_t found = no_signal;
  ((is_bound_to(member_of<T, I>) ? void(found = I) : void()), ...);
  return found;
}
(std::make_index_sequence<signal_count<T>>{});

template <class T, std::size_t I>
[[nodiscard]] constexpr bool is_chosen(const T& message) noexcept {
  static_assert(I != no_signal, "no signal is bound to this member");
  if constexpr (signals_of<T>[I].selection.always()) {
    return true;
  } else {
    constexpr std::size_t multiplexer = multiplexer_of<T, I>;
    const FieldBits selector = member_to_bits<T, multiplexer>(message.*member_of<T, multiplexer>);
    return is_chosen<T, multiplexer>(message) && is_selected<T, I>(selector.bits);
  }
}

/// Copies data that one load can take into a register. Stores into the message then cannot force a second
/// load.
template <class T>
[[nodiscard]] constexpr auto aside(std::span<const std::uint8_t> data) noexcept {
  if constexpr (copies_as_word<T::message.length>) {
    Data<T> copy{};
    std::copy_n(data.begin(), copy.size(), copy.begin());
    return copy;
  } else {
    return data;
  }
}

/// Flattened into one function, so that the code stays fast in a program of many messages.
template <class T>
[[nodiscard, gnu::flatten]] constexpr Error decode_message(T& message,
                                                           std::span<const std::uint8_t> data) noexcept {
  if (const Error error = check_data<T>(data); error != no_error) return error;
  const auto own = aside<T>(data);
  message = T{};
  decode_with<T>(own, [&]<std::size_t I>(Index<I>, std::uint64_t bits) {
    auto& member = message.*member_of<T, I>;
    member = to_member<T, I, std::remove_reference_t<decltype(member)>>(bits);
  });
  return no_error;
}

template <class T, Overflow overflow>
[[nodiscard, gnu::flatten]] constexpr Error encode_message(Data<T>& data, const T& message) noexcept {
  return encode_with<T>(
      data, [&]<std::size_t I>(Index<I>) { return member_to_bits<T, I>(message.*member_of<T, I>); },
      [&]<std::size_t I>(Index<I>) { return member_beyond<T, I, overflow>(message.*member_of<T, I>); });
}

/// Whether one frame holds the message, without the transport of J1939.
template <class T>
inline constexpr bool is_in_frame = T::message.length <=
                                    (T::message.format.fd ? max_fd_length : max_classic_length);

template <class T>
[[nodiscard]] constexpr Status check_frame(const Frame& frame) noexcept {
  if (!frame.is_data() || frame.extended != T::message.format.extended) return fail(Errc::wrong_format);
  if (((frame.id ^ T::message.id) & T::message.id_mask) != 0) return fail(Errc::unexpected_id);
  return {};
}

/// Writes the data and pads them with zeros to the next FD length.
template <class T>
constexpr void to_frame(Frame& frame, const Data<T>& data) noexcept {
  clear(frame);
  frame.id = T::message.id;
  frame.length = fd_lengths[fd_length_code(T::message.length)];
  frame.extended = T::message.format.extended;
  frame.fd = T::message.format.fd;
  frame.bit_rate_switch = T::message.format.bit_rate_switch;
  std::copy(data.begin(), data.end(), frame.data.begin());
}

}  // namespace detail

// ---- Decoding

/// Returns whether a frame carries this message, by identifier and format. Real-time safe.
template <MessageType T>
[[nodiscard]] constexpr bool carries(const Frame& frame) noexcept {
  return detail::check_frame<T>(frame).has_value();
}

// decode_into(message, ...) is the decoder for a cycle. decode<Message>(...) returns a Result<Message>
// instead. The Result goes through memory, which costs some nanoseconds. On an error the message keeps its
// values.

/// Decodes a message from data bytes. Errors: wrong_length (fewer bytes than the message has). Real-time
/// safe.
template <MessageType T>
[[nodiscard, gnu::always_inline]] constexpr Status decode_into(T& message,
                                                               std::span<const std::uint8_t> data) noexcept {
  return detail::to_status(detail::decode_message(message, data));
}
/// The same as a Result.
template <MessageType T>
[[nodiscard]] constexpr Result<T> decode(std::span<const std::uint8_t> data) noexcept {
  T message{};
  if (const Status status = decode_into(message, data); !status) return fail(status.error());
  return message;
}

/// Decodes a message from a frame. Errors: as above, wrong_format (a remote or error frame, or 11 instead of
/// 29 bits or the reverse), unexpected_id. Real-time safe.
template <MessageType T>
[[nodiscard]] constexpr Status decode_into(T& message, const Frame& frame) noexcept {
  if (const Status status = detail::check_frame<T>(frame); !status) return status;
  return decode_into(message, frame.payload());
}
/// The same as a Result.
template <MessageType T>
[[nodiscard]] constexpr Result<T> decode(const Frame& frame) noexcept {
  T message{};
  if (const Status status = decode_into(message, frame); !status) return fail(status.error());
  return message;
}

/// Decodes the message of a frame and calls the visitor with it. If the visitor does not take this message
/// type, nothing is decoded. The visitor must not throw. Errors: those of decode_into().
template <MessageType T, class Visitor>
[[nodiscard]] constexpr Status decode_for(Visitor& visitor, const Frame& frame) noexcept {
  if constexpr (std::is_invocable_v<Visitor&, const T&>) {
    T message{};
    if (const Status status = decode_into(message, frame); !status) return status;
    visitor(std::as_const(message));
  }
  return {};
}

/// Decodes the physical values of all signals; NaN for signals that are not selected. Errors: wrong_length.
/// Real-time safe.
template <MessageType T>
[[nodiscard]] constexpr Status decode_values(Values<T>& values, std::span<const std::uint8_t> data) noexcept {
  if (const Error error = detail::check_data<T>(data); error != detail::no_error) return fail(error);
  values.fill(std::numeric_limits<double>::quiet_NaN());
  detail::decode_with<T>(data, [&]<std::size_t I>(detail::Index<I>, std::uint64_t bits) {
    values[I] = detail::physical_in<T, I>(bits);
  });
  return {};
}

// ---- Encoding

/// Returns whether the multiplexers of a message, as its members hold them, select this member:
/// can::is_selected<&Diagnosis::voltage>(message). Members that are not selected are neither sent nor
/// received.
template <auto member, MessageType T>
[[nodiscard]] constexpr bool is_selected(const T& message) noexcept {
  return detail::is_chosen<T, detail::signal_of<T, member>>(message);
}

/// Encodes a message into data bytes. On an error the data are unusable. Errors: not_finite,
/// unknown_selector, out_of_range (with Overflow::error, or a value that cannot be wrapped). Real-time safe.
template <Overflow overflow = Overflow::error, MessageType T>
[[nodiscard, gnu::always_inline]] constexpr Status encode_into(Data<T>& data, const T& message) noexcept {
  return detail::to_status(detail::encode_message<T, overflow>(data, message));
}

/// Encodes physical values of all signals into data bytes. Values of signals that are not selected are
/// ignored. Errors: as above. Real-time safe.
template <MessageType T, Overflow overflow = Overflow::error>
[[nodiscard]] constexpr Status encode_values(Data<T>& data, const Values<T>& values) noexcept {
  return detail::to_status(detail::encode_with<T>(
      data, [&]<std::size_t I>(detail::Index<I>) { return detail::member_to_bits<T, I>(values[I]); },
      [&]<std::size_t I>(detail::Index<I>) { return detail::member_beyond<T, I, overflow>(values[I]); }));
}

/// Encodes a message into a frame. On an error the frame keeps its content. Errors: as above, and
/// payload_too_long (a J1939 message that needs the transport). Real-time safe. can::encode(message) returns
/// the frame as a Result.
template <Overflow overflow = Overflow::error, MessageType T>
[[nodiscard]] constexpr Status encode_into(Frame& frame, const T& message) noexcept {
  static_assert(is_valid_message<T>);
  if constexpr (!detail::is_in_frame<T>) {
    return fail(Errc::payload_too_long);
  } else {
    Data<T> data{};
    if (const Status status = encode_into<overflow>(data, message); !status) return status;
    detail::to_frame<T>(frame, data);
    return {};
  }
}
/// The same as a Result, with an overflow policy.
template <Overflow overflow, MessageType T>
[[nodiscard]] constexpr Result<Frame> encode(const T& message) noexcept {
  Result<Frame> frame;
  if (const Status status = encode_into<overflow>(*frame, message); !status) frame = fail(status.error());
  return frame;
}

}  // namespace takt::can
