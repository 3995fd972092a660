// The boundary of the C API: turns results into status numbers, stops exceptions, checks the sizes of the
// caller's structures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "error.hpp"
#include "first_version.hpp"
#include "takt.h"
#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/trajectory/trajectory.hpp"

namespace takt::capi {

[[nodiscard]] constexpr std::int32_t to_status(Error error) noexcept {
  return TAKT_STATUS(static_cast<std::int32_t>(error.room), std::int32_t{error.code});
}
[[nodiscard]] constexpr std::int32_t to_status(const Status& status) noexcept {
  return status ? TAKT_OK : to_status(status.error());
}

/// Runs a set-up function, which may throw, and returns its status.
template <class Function>
[[nodiscard]] std::int32_t guarded(Function&& function) noexcept {
  try {
    return to_status(function());
  } catch (const std::bad_alloc&) {
    return to_status(Errc::out_of_memory);
  } catch (const std::length_error&) {  // a container was asked for an impossible size
    return to_status(Errc::out_of_memory);
  } catch (...) {
    return to_status(Errc::internal);
  }
}

/// Writes the text with a NUL, cut to `size` bytes. Does nothing for NULL.
inline void write_text(std::string_view text, char* to, std::size_t size) noexcept {
  if (to == nullptr || size == 0) return;
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

/// Runs a set-up function that writes the reason of a failure to `why`. If it does not, the status text is
/// written.
template <class Function>
[[nodiscard]] std::int32_t guarded(char* why, std::size_t size, Function&& function) noexcept {
  write_text("", why, size);
  const std::int32_t status = guarded(std::forward<Function>(function));
  const bool said = why == nullptr || size == 0 || *why != '\0';
  if (status != TAKT_OK && !said) write_text(takt_status_text(status), why, size);
  return status;
}

/// Writes what is wrong, and returns its number.
[[nodiscard]] inline Status refuse(const SetupError& error, char* text, std::size_t size) noexcept {
  write_text(error.message, text, size);
  return fail(error.error);
}

/// Writes the whole text with a NUL behind it. *length is written in any case. Errors: buffer_too_small.
[[nodiscard]] inline Status write_whole(std::string_view text, char* to, std::size_t size,
                                        std::size_t* length) noexcept {
  if (length != nullptr) *length = text.size();
  if (text.size() >= size) return fail(Errc::buffer_too_small);
  write_text(text, to, size);
  return {};
}

/// No structure of any version is larger; a larger struct_size was never initialised.
inline constexpr std::size_t max_struct_size = 4096;

/// Sets the caller's structure of `size` bytes to `defaults`, and what this library does not know of it to
/// zero. Writes at most `size` bytes. Does nothing for NULL. An impossible size gives a struct_size that
/// check_size() rejects.
template <class Struct>
void init_struct(Struct* to, std::size_t size, Struct defaults = {}) noexcept {
  if (to == nullptr || size < sizeof to->struct_size) return;
  if (size > max_struct_size) {
    to->struct_size = 0;
    return;
  }
  defaults.struct_size = static_cast<std::uint32_t>(size);
  const std::size_t known = std::min(size, sizeof(Struct));
  std::memcpy(to, &defaults, known);
  std::memset(reinterpret_cast<unsigned char*>(to) + known, 0, size - known);
}

/// Checks that this library can read or write the caller's structure. NULL passes. Errors: wrong_struct_size.
template <class Struct>
[[nodiscard]] Status check_size(const Struct* structure) noexcept {
  static_assert(first_version<Struct> != 0);
  if (structure == nullptr) return {};
  if (structure->struct_size < first_version<Struct> || structure->struct_size > max_struct_size) {
    return fail(Errc::wrong_struct_size);
  }
  return {};
}

/// Copies the caller's structure. Fields beyond struct_size get their default, zero. Fields that this library
/// does not know must be zero. Errors: null_pointer, wrong_struct_size.
template <class Struct>
[[nodiscard]] Result<Struct> read_struct(const Struct* from) noexcept {
  if (from == nullptr) return fail(Errc::null_pointer);
  if (Status status = check_size(from); !status) return fail(status.error());
  const std::span bytes(reinterpret_cast<const unsigned char*>(from), from->struct_size);
  const std::size_t known = std::min(bytes.size(), sizeof(Struct));
  const auto is_set = [](unsigned char byte) { return byte != 0; };
  if (std::any_of(bytes.begin() + static_cast<std::ptrdiff_t>(known), bytes.end(), is_set)) {
    return fail(Errc::wrong_struct_size);
  }
  Struct value{};
  std::memcpy(&value, bytes.data(), known);
  return value;
}

/// The same; NULL gives the defaults.
template <class Struct>
[[nodiscard]] Result<Struct> read_optional(const Struct* from, const Struct& defaults = {}) noexcept {
  if (from == nullptr) return defaults;
  return read_struct(from);
}

/// Writes the fields that the caller's structure holds, except struct_size. Does nothing for NULL. Call
/// check_size() first.
template <class Struct>
void write_struct(Struct* to, Struct value) noexcept {
  if (to == nullptr) return;
  value.struct_size = to->struct_size;
  std::memcpy(to, &value, std::min<std::size_t>(to->struct_size, sizeof(Struct)));
}

/// Checks that the caller's memory can hold an object. Errors: null_pointer, buffer_too_small, misaligned.
[[nodiscard]] inline Status check_memory(const void* memory, std::size_t size, std::size_t needed,
                                         std::size_t alignment) noexcept {
  if (memory == nullptr) return fail(Errc::null_pointer);
  if (size < needed) return fail(Errc::buffer_too_small);
  if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0) return fail(Errc::misaligned);
  return {};
}

/// Converts the time of a C structure to the seconds of a formula.
[[nodiscard]] constexpr double seconds(std::int64_t nanoseconds) noexcept {
  return to_seconds(Duration(nanoseconds));
}

[[nodiscard]] constexpr Time to_time(std::int64_t nanoseconds) noexcept {
  return within_reach(time_from_nanoseconds(nanoseconds));
}
/// Limits a duration to the range of Time.
[[nodiscard]] constexpr Duration to_duration(std::int64_t nanoseconds) noexcept {
  return to_time(nanoseconds).time_since_epoch();
}

/// Rounds `end` (s) up to nanoseconds: converted back to seconds, the result is not below `end`.
[[nodiscard]] constexpr std::int64_t nanoseconds_not_before(double end) noexcept {
  std::int64_t nanoseconds = from_seconds(end).count();
  if (seconds(nanoseconds) < end) ++nanoseconds;
  return nanoseconds;
}

/// Reads the caller's `through`; nothing for the default. Errors: bad_argument.
[[nodiscard]] Result<std::optional<trajectory::Through>> read_through(std::int32_t through) noexcept;

/// Checks the pointer to the positions and the numbers of waypoints and joints. Ignores the times.
[[nodiscard]] Status check_shape(const takt_waypoints& waypoints) noexcept;

[[nodiscard]] Status check_limits(const takt_joint_limits& limits) noexcept;
[[nodiscard]] JointLimits to_joint_limits(const takt_joint_limits& limits) noexcept;

}  // namespace takt::capi
