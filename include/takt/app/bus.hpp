// A real CAN bus from the text that a robot file says: a SocketCAN interface, or an slcan adapter behind a serial line.
//
//     const auto address = app::parse_bus_address("slcan:/dev/ttyACM0");
//     const auto plan = robot::plan_bus(robot, 0);
//     auto port = app::open_bus(*address, {.name = "left arm", .bit_rate = 1'000'000, .filters = plan.filters});
//     if (!port) return complain(port.error().message);  // says what is wrong and the command that mends it
//     (*port)->send(frames);
//
// A port survives its bus. If the interface goes down or its adapter is unplugged, link() says so in the same cycle,
// and a thread without deadlines tries to open the bus again, with the checks of open_bus(), every reopen_interval.
// Frames then pass again.
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

inline constexpr Duration reopen_interval = std::chrono::milliseconds(200);

/// Where a bus is. A serial adapter keeps its path below /dev/serial/by-id wherever it is plugged in; /dev/ttyACM0 may
/// become another.
struct BusAddress {
  enum class Kind : std::uint8_t {
    socket_can,   ///< a CAN interface of Linux
    slcan,        ///< an adapter of Lawicel's protocol behind a serial line
    virtual_bus,  ///< of the simulation
  };
  Kind kind = Kind::virtual_bus;
  std::string place{};  ///< the interface, or the path of the serial line; empty for a virtual bus
  std::uint32_t baud =
      115'200;  ///< bit/s of the serial line; adapters with a USB connector of their own ignore it

  friend bool operator==(const BusAddress&, const BusAddress&) = default;
};

/// Reads "can0", "slcan:/dev/ttyACM0", "slcan:/dev/ttyUSB0@115200" or "virtual". A text of any length and any bytes is
/// safe. Errors: bad_bus_address; the message says what is allowed.
[[nodiscard]] SetupResult<BusAddress> parse_bus_address(std::string_view text);
/// The address as parse_bus_address() reads it.
[[nodiscard]] std::string to_string(const BusAddress& address);

/// What a robot asks of a bus.
struct BusRequest {
  std::string name{};                  ///< of the bus in the robot file, for messages; may be empty
  std::uint32_t bit_rate = 1'000'000;  ///< bit/s. An interface must run at it, an slcan adapter is set to it
  std::uint32_t data_bit_rate = 5'000'000;  ///< bit/s, of FD frames that switch
  bool fd = false;                          ///< FD frames besides classic ones
  std::vector<can::Filter> filters{};       ///< what is received; none: everything
  std::size_t frames_per_cycle =
      0;  ///< that one send() hands over; an interface with a shorter queue is refused. 0: not checked
};

/// Opens a real bus; no frame is sent. Each message names the bus and its address, and ends with the command that
/// mends it.
///
/// The port, beyond robot::CanPort:
/// * link() is down from the send() or receive() that learned of it, and up when the bus is open again. It is off after
///   bus-off, which the driver reports among the frames, until the controller is restarted. The slcan protocol does not
///   report bus-off.
/// * traffic().busy adds up mean lengths of frames, by format and length, at the bit rates of the request. Frames that
///   the filters keep out are not counted. Frames that meet no link are not counted as refused.
/// * It owns a thread that sleeps except for a look every reopen_interval. Destroying the port may take a second, if
///   the thread is talking to an adapter.
///
/// Errors: those of platform::SocketCanBus::open() and platform::SerialLine::open(), not_a_real_bus (a virtual
/// address), bad_bit_rate, no_fd_adapter, no_adapter, adapter_refuses, no_thread. Not real-time safe.
[[nodiscard]] SetupResult<std::unique_ptr<robot::CanPort>> open_bus(const BusAddress& address,
                                                                    const BusRequest& request);

}  // namespace takt::app
