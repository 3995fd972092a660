// The common set-up of raw and cyclic CAN sockets: find the interface by its name and report its faults.
#pragma once

#include <string>

#include "platform/descriptor.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/platform/can_interface.hpp"

namespace takt::platform::detail {

struct CanSocket {
  Descriptor descriptor;
  int interface_index = 0;
};

/// Opens a CAN socket of the `protocol` (CAN_RAW, CAN_BCM) for an interface, but does not bind or connect it.
/// Errors: no_can, no_permission, and those of find_can_interface() and check_can_interface().
[[nodiscard]] SetupResult<CanSocket> open_can_socket(const std::string& interface, int type, int protocol,
                                                     const CanNeeds& needs);

}  // namespace takt::platform::detail
