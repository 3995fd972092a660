// Ports between processes: an out-port of one process writes into an exchange of a shared segment, and
// in-ports of others read it. Set-up: not real-time safe; the ports stay so.
#pragma once

#include <memory>
#include <string>

#include "takt/component/connection.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/platform/segment.hpp"

namespace takt::app {

/// Lets the out-port write into an exchange, whose owner slot it takes. The exchange is declared by
/// OutPortBase::declare(). Each write rings the bell, which may be null. Errors: slot_taken (another process
/// writes); those of component::connect().
[[nodiscard]] SetupResult<component::Connection> connect(component::OutPortBase& from,
                                                         platform::Segment& segment,
                                                         const std::string& exchange,
                                                         std::shared_ptr<component::Wake> bell = nullptr);
/// Lets the in-port read an exchange; a fifo has one reader. The segment must outlive the connection.
/// Errors: as above.
[[nodiscard]] SetupResult<component::Connection> connect(platform::Segment& segment,
                                                         const std::string& exchange,
                                                         component::InPortBase& to, int order = 0);

}  // namespace takt::app
