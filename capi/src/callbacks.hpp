// What functions of C get and return, for the sources whose objects call such functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "takt/component.h"
#include "takt/component/component.hpp"
#include "takt/core/error.hpp"

namespace takt::capi {

/// The error of a status that a function in C has returned.
[[nodiscard]] inline Error to_error(std::int32_t status) noexcept {
  const std::uint32_t number = 0 - static_cast<std::uint32_t>(status);  // TAKT_STATUS() is negative
  return {static_cast<Room>(number >> 16), static_cast<std::uint16_t>(number)};
}
[[nodiscard]] inline Status to_result(std::int32_t status) noexcept {
  if (status == TAKT_OK) return {};
  return fail(to_error(status));
}

[[nodiscard]] inline takt_cycle to_cycle(const component::CycleTime& time) noexcept {
  return {time.time.time_since_epoch().count(), time.period.count(), time.measured.count(), time.index};
}

/// A text of C, or none.
[[nodiscard]] inline std::string_view to_text(const char* text) noexcept {
  return text != nullptr ? std::string_view(text) : std::string_view();
}

}  // namespace takt::capi
