// The caller's layouts with all that they point to, kept by the objects that use them; and sets of systems.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "boundary.hpp"
#include "takt.h"
#include "takt/vehicle/control_frame.hpp"
#include "takt/vehicle/error.hpp"
#include "takt/vehicle/system_layout.hpp"
#include "takt/vehicle/systems.hpp"

namespace takt::capi {

/// Layouts with their own copies of names and fields. They point into the deques, whose elements never move.
struct OwnedLayouts {
  std::deque<std::string> names;
  std::deque<std::vector<vehicle::SystemField>> fields;
  std::vector<vehicle::SystemLayout> systems;
  vehicle::Layouts layouts = vehicle::furbot_layouts;
};

/// Converts a bit mask (bit n is system n) to a set.
[[nodiscard]] constexpr vehicle::SystemSet to_systems(std::uint32_t bits) noexcept {
  vehicle::SystemSet systems;
  for (std::uint8_t i = 0; i < vehicle::max_systems; ++i)
    if ((bits >> i & 1U) != 0) systems.insert(static_cast<vehicle::System>(i));
  return systems;
}

/// Reads a byte order. Errors: no_byte_order (0), bad_argument.
[[nodiscard]] inline Result<vehicle::ByteOrder> to_byte_order(std::int32_t order) noexcept {
  switch (order) {
    case 0:
      return fail(vehicle::Errc::no_byte_order);
    case TAKT_BYTE_ORDER_LITTLE_ENDIAN:
      return vehicle::ByteOrder::little;
    case TAKT_BYTE_ORDER_NETWORK:
      return vehicle::ByteOrder::big;
    default:
      return fail(Errc::bad_argument);
  }
}

}  // namespace takt::capi

struct takt_vehicle_layouts {
  std::shared_ptr<const takt::capi::OwnedLayouts> owned;
};
