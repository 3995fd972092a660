// The firmware end of an slcan adapter on a pseudo terminal: for programs that open a serial adapter, without one.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "takt/core/setup_error.hpp"
#include "takt/robot/can_port.hpp"

namespace takt::tools {

/// Opens a pseudo terminal and makes `link` a symbolic link to it, which the port's destructor removes. A frame that the other end
/// does not read is dropped, as an adapter does. Errors: app::Errc::bad_bus_address where the link cannot be made.
[[nodiscard]] SetupResult<std::unique_ptr<robot::CanPort>> open_pty_adapter(const std::string& link);

}  // namespace takt::tools
