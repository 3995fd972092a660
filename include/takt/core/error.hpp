// Errors as values. Every fallible function of takt returns Result<T>: a value, or a four-byte Error that
// names the room it comes from and the code within it. Nothing here allocates or throws; all of it is
// real-time safe.
//
// A room declares its codes as an enum in its own namespace, with two functions that argument-dependent
// lookup finds:
//
//     enum class Errc : std::uint16_t { frame_too_long = 1, ... };          // 0 is never an error
//     constexpr Room room_of(Errc) noexcept { return Room::can; }
//     constexpr std::string_view describe(Errc code) noexcept { switch (code) { ... } }
//
// and writes `return fail(Errc::frame_too_long);`. takt/describe.hpp turns any Error back into text.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>

#include "takt/core/finite_math.hpp"

namespace takt {

/// The rooms, as they are numbered in an Error and in the C API. Numbers are never reused.
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
};

/// An enum whose values are error codes of one room.
template <class E>
concept ErrorCode = std::is_enum_v<E> && std::same_as<std::underlying_type_t<E>, std::uint16_t> &&
    requires(E code) {
  { room_of(code) } -> std::same_as<Room>;
  { describe(code) } -> std::same_as<std::string_view>;
};

/// What went wrong: trivially copyable, 32 bits, compares equal to the code that it was made from.
struct Error {
  Room room = Room::none;
  std::uint16_t code = 0;

  constexpr Error() = default;
  constexpr Error(Room from, std::uint16_t number) noexcept : room(from), code(number) {}
  template <ErrorCode E>
  // NOLINTNEXTLINE(google-explicit-constructor): a code *is* an error; `result.error() == Errc::x` reads as meant
  constexpr Error(E errc) noexcept : room(room_of(errc)), code(static_cast<std::uint16_t>(errc)) {}

  friend constexpr bool operator==(const Error&, const Error&) = default;
};
static_assert(sizeof(Error) == 4 && std::is_trivially_copyable_v<Error>);

/// A value or an Error. One type, whatever language standard the user compiles with.
template <class T>
using Result = tl::expected<T, Error>;

/// Success or an Error.
using Status = Result<void>;

/// The failing return value: `return fail(Errc::frame_too_long);`
template <ErrorCode E>
[[nodiscard]] constexpr tl::unexpected<Error> fail(E code) noexcept {
  return tl::unexpected<Error>(Error(code));
}

/// Passes the error of another result on.
[[nodiscard]] constexpr tl::unexpected<Error> fail(Error error) noexcept {
  return tl::unexpected<Error>(error);
}

}  // namespace takt
