// Errors as values. Every function that can fail returns Result<T>: a value, or a four-byte Error with a room
// and a code of that room. Nothing here allocates or throws; everything is real-time safe.
//
// A room declares its codes as an enum in its own namespace, with two functions that argument-dependent
// lookup finds:
//
//     enum class Errc : std::uint16_t { frame_too_long = 1 };  // 0 is never an error
//
//     constexpr Room room_of(Errc) noexcept { return Room::can; }
//     constexpr std::string_view describe(Errc) noexcept { return "the frame is too long"; }
//
// It then writes `return fail(Errc::frame_too_long);`. takt/describe.hpp converts any Error into text.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>

#include "takt/core/finite_math.hpp"

namespace takt {

/// The rooms and their numbers, for Error and the C API. Numbers are never reused.
enum class Room : std::uint16_t {
  none = 0,
  core = 1,
  trajectory = 2,
  control = 3,
  mobile = 4,
  can = 5,
  vehicle = 6,
  shm = 7,
  rt = 8,
  component = 9,
  robot = 10,
  controllers = 11,
  motion = 12,
  record = 13,
  sim = 14,
  platform = 15,
  capi = 16,
  app = 18,
  secure = 19,
};

/// An enum whose values are the error codes of one room.
template <class E>
concept ErrorCode = std::is_enum_v<E> && std::same_as<std::underlying_type_t<E>, std::uint16_t> &&
    requires(E code) {
  { room_of(code) } -> std::same_as<Room>;
  { describe(code) } -> std::same_as<std::string_view>;
};

/// An error: trivially copyable, 32 bits. It compares equal to the code that it was made from.
struct Error {
  Room room = Room::none;
  std::uint16_t code = 0;

  constexpr Error() = default;
  constexpr Error(Room from, std::uint16_t number) noexcept : room(from), code(number) {}
  template <ErrorCode E>
  // NOLINTNEXTLINE(google-explicit-constructor): a code is an error, as in `result.error() == Errc::x`
  constexpr Error(E errc) noexcept : room(room_of(errc)), code(static_cast<std::uint16_t>(errc)) {}

  friend constexpr bool operator==(const Error&, const Error&) = default;
};
static_assert(sizeof(Error) == 4 && std::is_trivially_copyable_v<Error>);

/// A value or an Error. It is the same type in every language standard.
template <class T>
using Result = tl::expected<T, Error>;

/// Success or an Error.
using Status = Result<void>;

/// The return value of a failed function: `return fail(Errc::frame_too_long);`
template <ErrorCode E>
[[nodiscard]] constexpr tl::unexpected<Error> fail(E code) noexcept {
  return tl::unexpected<Error>(Error(code));
}

/// Passes on the error of another result.
[[nodiscard]] constexpr tl::unexpected<Error> fail(Error error) noexcept {
  return tl::unexpected<Error>(error);
}

}  // namespace takt
