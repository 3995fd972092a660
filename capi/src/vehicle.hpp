// A table of layouts of the caller's, with all that it points to: kept by whatever uses it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "takt.h"
#include "takt/vehicle/system_layout.hpp"

namespace takt::capi {

/// Nothing in it moves.
struct OwnedLayouts {
  std::deque<std::string> names;
  std::deque<std::vector<vehicle::Field>> fields;
  std::vector<vehicle::SystemLayout> systems;
  vehicle::Layouts layouts = vehicle::furbot_layouts;
};

}  // namespace takt::capi

struct takt_vehicle_layouts {
  std::shared_ptr<const takt::capi::OwnedLayouts> owned;
};
