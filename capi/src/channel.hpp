// The channel of the C API, for whatever of it sends frames through one.
#pragma once

#include <variant>

#include "takt.h"
#include "takt/core/siphash.hpp"
#include "takt/vehicle/channel.hpp"
#include "takt/vehicle/commander_channel.hpp"
#include "takt/vehicle/vehicle_channel.hpp"

namespace takt::capi {

using CommanderChannel = vehicle::CommanderChannel<SipHash128>;
using VehicleChannel = vehicle::VehicleChannel<SipHash128>;
using AnyChannel = std::variant<vehicle::PlainChannel, CommanderChannel, VehicleChannel>;

}  // namespace takt::capi

struct takt_channel {
  takt::capi::AnyChannel channel;
};
