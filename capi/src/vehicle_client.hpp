// The vehicle's client of the C API: alone, or in a drive that uses its telemetry.
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

/// Returns the caller's layouts, or null for the Furbot's.
[[nodiscard]] std::shared_ptr<const vehicle::Layouts> to_layouts(
    const takt_vehicle_layouts* layouts) noexcept;

/// Reads the options; the result points to the layouts. Errors: null_pointer, wrong_struct_size, bad_argument
/// (a category).
[[nodiscard]] Result<vehicle::ClientConfiguration> to_configuration(
    const takt_vehicle_client_options* options, const vehicle::Layouts* layouts) noexcept;

/// Returns the channel for a client. Errors: null_pointer, bad_argument (a vehicle's channel).
[[nodiscard]] Result<BorrowedChannel> to_commander(takt_channel* channel) noexcept;

}  // namespace takt::capi

struct takt_vehicle_client {
  std::shared_ptr<const takt::vehicle::Layouts> layouts;  // null: the Furbot's
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
