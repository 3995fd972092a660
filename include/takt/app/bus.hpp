// Opens a real CAN bus from its text in a robot file: a SocketCAN interface, or an slcan adapter on a serial
// line.
//
//     const auto address = app::parse_bus_address("slcan:/dev/ttyACM0");
//     const auto plan = robot::plan_bus(robot, 0);
//     auto port = app::open_bus(*address, {.name = "left arm", .filters = plan.filters});
//     if (!port) return complain(port.error().message);  // also has the command that solves the problem
//     (*port)->send(frames);
//
// A port outlives a failure of its bus. If the interface goes down or its adapter is unplugged, link()
// reports it in the same cycle. A thread without deadlines then tries to open the bus again every
// reopen_interval, with the checks of open_bus(). After that, frames pass again.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/app/error.hpp"
#include "takt/can/filter.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/can_port.hpp"

namespace takt::app {

/// Time between two attempts to open a bus again.
inline constexpr Duration reopen_interval = std::chrono::milliseconds(200);

/// The address of a bus. Prefer a serial adapter's path below /dev/serial/by-id: it does not depend on the
/// port. /dev/ttyACM0 may become another adapter's.
struct BusAddress {
  enum class Kind : std::uint8_t {
    socket_can,   ///< a CAN interface of Linux
    slcan,        ///< an adapter with Lawicel's protocol on a serial line
    virtual_bus,  ///< a bus of the simulation
  };
  Kind kind = Kind::virtual_bus;
  std::string place{};  ///< the interface, or the path of the serial line; empty for a virtual bus
  std::uint32_t baud =
      115'200;  ///< bit/s of the serial line; adapters with their own USB connector ignore it
  /// The firmware of an slcan adapter answers nothing, not even its version. A wrong path is then not found
  /// when the line is opened.
  bool silent = false;

  friend bool operator==(const BusAddress&, const BusAddress&) = default;
};

/// Parses "can0", "slcan:/dev/ttyACM0", "slcan:/dev/ttyUSB0@115200", "slcan-silent:/dev/ttyACM0" or
/// "virtual". Any text is safe. Error: bad_bus_address; the message says what is allowed. Allocates.
[[nodiscard]] SetupResult<BusAddress> parse_bus_address(std::string_view text);
/// The address as text, which parse_bus_address() accepts.
[[nodiscard]] std::string to_string(const BusAddress& address);

/// The requirements of a robot on a bus.
struct BusRequest {
  std::string name{};                  ///< of the bus in the robot file, for messages; may be empty
  std::uint32_t bit_rate = 1'000'000;  ///< bit/s. An interface must have it; an slcan adapter is set to it
  std::uint32_t data_bit_rate = 5'000'000;  ///< bit/s, data phase of FD frames with bit-rate switch
  bool fd = false;                          ///< also FD frames
  std::vector<can::Filter> filters{};       ///< frames to receive; empty: all
  std::size_t frames_per_cycle =
      0;  ///< largest number in one send(). A shorter queue of the interface is an error. 0: no check
};

/// Opens a real bus, without sending a frame. Error messages name the bus and its address, and end with the
/// command that solves the problem.
///
/// The port, beyond robot::CanPort:
/// * link() is down after the first send() or receive() that fails, and up when the bus is open again. It is
///   off after bus-off, until the controller is restarted. The driver reports bus-off by a frame; the slcan
///   protocol does not report it.
/// * traffic().busy adds the mean lengths of frames, by format and length, at the bit rates of the request.
///   Frames dropped by the filters are not counted. Frames sent without a link are not counted as refused.
///   traffic().unacknowledged counts the refusals of an slcan adapter, or the missing acknowledges of an
///   interface, since the bus was opened last.
/// * It owns a thread that wakes every reopen_interval. Destroying the port may take four seconds, if the
///   thread is talking to an adapter.
///
/// Errors: those of platform::SocketCanBus::open() and platform::SerialLine::open(), not_a_real_bus (a
/// virtual address), bad_bit_rate, no_fd_adapter, no_adapter, adapter_refuses, no_thread. Not real-time safe.
[[nodiscard]] SetupResult<std::unique_ptr<robot::CanPort>> open_bus(const BusAddress& address,
                                                                    const BusRequest& request);

}  // namespace takt::app
