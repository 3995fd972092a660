// The kernel's settings of a CAN interface, and a check whether they suit a robot: bit rates, FD, controller
// state, queue length.
//
//     const auto can0 = platform::find_can_interface("can0");
//     if (!can0) return complain(can0.error().message);
//     if (const auto fit = platform::check_can_interface(*can0, {.bit_rate = 1'000'000}); !fit)
//       return complain(fit.error().message);  // "can0: runs at 500000 bit/s, not 1000000; ip link set ..."
//
// For set-up only: allocates, and asks the kernel by rtnetlink, which needs no permission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "takt/core/setup_error.hpp"
#include "takt/platform/error.hpp"

namespace takt::platform {

/// The state of the controller. The numbers are those of Linux (enum can_state).
enum class CanController : std::uint8_t {
  active = 0,
  warning = 1,
  passive = 2,
  bus_off = 3,  ///< left the bus after too many errors
  stopped = 4,  ///< the state while the interface is down
  sleeping = 5,
};

/// A network interface. An optional member is empty if the driver does not report it. Virtual interfaces have
/// no bit rate.
struct CanInterface {
  std::string name;
  std::string kind;       ///< "can", "vcan", "vxcan"; empty for interfaces without a kind
  int index = 0;          ///< of the kernel
  bool is_can = false;    ///< it carries CAN frames
  bool is_up = false;     ///< it is switched on
  std::uint32_t mtu = 0;  ///< bytes
  /// Largest number of frames that wait in the kernel (txqueuelen); 0: no limit.
  std::uint32_t queue_length = 0;
  std::optional<std::uint32_t> bit_rate{};       ///< bit/s
  std::optional<std::uint32_t> data_bit_rate{};  ///< bit/s of FD frames that switch the rate
  std::optional<CanController> controller{};     ///< state of the controller
  std::optional<std::uint32_t> restart_ms{};     ///< delay of the restart after bus-off; 0: only by hand

  /// Whether the interface is set up for FD frames.
  [[nodiscard]] bool fd() const noexcept;

  friend bool operator==(const CanInterface&, const CanInterface&) = default;
};

/// The requirements of a robot. 0 means no requirement.
struct CanNeeds {
  bool fd = false;                   ///< FD frames
  std::uint32_t bit_rate = 0;        ///< bit/s
  std::uint32_t data_bit_rate = 0;   ///< bit/s; used only with `fd`
  std::size_t frames_per_cycle = 0;  ///< frames sent together
};

/// Asks the kernel for the network interface `name`, CAN or not. Errors, with a message that starts with the
/// name: no_such_can_interface, can_failed, bad_link_message.
[[nodiscard]] SetupResult<CanInterface> find_can_interface(const std::string& name);

/// Checks whether an interface satisfies the needs of a robot. A bit rate within 0.5 % of the wanted one
/// passes, because controller clocks do not divide into every rate.
///
/// Errors, checked in this order: not_can, can_interface_down, wrong_can_bit_rate, no_can_fd,
/// can_queue_too_short, can_bus_off. Each message starts with the interface's name and ends with the command
/// that fixes it.
[[nodiscard]] SetupResult<void> check_can_interface(const CanInterface& interface, const CanNeeds& needs);

/// Parses one answer of rtnetlink to RTM_GETLINK. Any bytes are safe.
///
/// Errors:
/// - bad_link_message: not such a message, or its attributes do not fit into it
/// - no_such_can_interface: the kernel reports so
/// - can_failed: the kernel refuses for another reason
[[nodiscard]] Result<CanInterface> read_link_message(std::span<const std::uint8_t> message);

}  // namespace takt::platform
