// What a vehicle is, for whatever of the C API is made of it.
#pragma once

#include <memory>

#include "takt.h"
#include "takt/vehicle/system_layout.hpp"
#include "takt/vehicle/vehicle_drive.hpp"

struct takt_vehicle_description {
  takt::vehicle::VehicleDriveConfiguration drive;
  std::shared_ptr<const takt::vehicle::Layouts> layouts;  // that `drive` points to; null for the Furbot's
};
