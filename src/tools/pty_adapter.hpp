// The firmware end of an slcan adapter on a pseudo terminal: for programs that open a serial adapter when
// there is none.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "takt/core/setup_error.hpp"
#include "takt/robot/can_port.hpp"

namespace takt::tools {

/// Opens a pseudo terminal, and makes `link` a symbolic link to it; the port's destructor removes the link. A
/// frame that the other end does not read is dropped, as by an adapter. Error: app::Errc::bad_bus_address if
/// the link cannot be made.
[[nodiscard]] SetupResult<std::unique_ptr<robot::CanPort>> open_pty_adapter(const std::string& link);

}  // namespace takt::tools
