// The description of a vehicle, for drives and simulated vehicles of the C API.
#pragma once

#include <memory>

#include "takt.h"
#include "takt/vehicle/system_layout.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

struct takt_vehicle_description {
  takt::vehicle::VehicleDriveConfiguration drive;
  std::shared_ptr<const takt::vehicle::Layouts> layouts;  // `drive` points to them; null: the Furbot's
};
