// The vehicle's client of the C API: alone, or in a drive that knows of all that it hears.
#pragma once

#include <memory>
#include <variant>

#include "channel.hpp"
#include "takt.h"
#include "takt/vehicle/client.hpp"
#include "takt/vehicle/vehicle_drive.hpp"
#include "vehicle.hpp"

namespace takt::capi {

using Client = vehicle::VehicleClient<BorrowedChannel>;
using Drive = vehicle::VehicleDrive<BorrowedChannel>;

/// What either is made of. The configuration points into the layouts.
struct ClientParts {
  std::shared_ptr<const OwnedLayouts> layouts;  // null for the Furbot's
  vehicle::ClientConfiguration configuration;
  BorrowedChannel channel;
};

/// Errors: null_pointer, wrong_struct_size, bad_argument (reserved, a category, a vehicle's channel).
[[nodiscard]] Result<ClientParts> to_parts(const takt_vehicle_client_options* options,
                                           const takt_vehicle_layouts* layouts, takt_channel* channel);

}  // namespace takt::capi

struct takt_vehicle_client {
  std::shared_ptr<const takt::capi::OwnedLayouts> layouts;
  std::variant<takt::capi::Client, takt::capi::Drive> end;

  [[nodiscard]] takt::capi::Drive* drive() noexcept { return std::get_if<takt::capi::Drive>(&end); }
  [[nodiscard]] const takt::capi::Drive* drive() const noexcept {
    return std::get_if<takt::capi::Drive>(&end);
  }
  [[nodiscard]] takt::capi::Client& client() noexcept {
    return drive() != nullptr ? drive()->client() : *std::get_if<takt::capi::Client>(&end);
  }
  [[nodiscard]] const takt::capi::Client& client() const noexcept {
    return drive() != nullptr ? drive()->client() : *std::get_if<takt::capi::Client>(&end);
  }
};
