// What the kernel knows of a CAN interface, and whether that is enough for a robot: bit rates, FD, state of the
// controller, queue.
//
//     const auto can0 = platform::find_can_interface("can0");
//     if (!can0) return complain(can0.error().message);
//     if (const auto fit = platform::check_can_interface(*can0, {.bit_rate = 1'000'000}); !fit)
//       return complain(fit.error().message);  // "can0: runs at 500000 bit/s, not 1000000; ip link set ..."
//
// For set-up: allocates, and asks the kernel by rtnetlink, for which no permission is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "takt/core/setup_error.hpp"
#include "takt/platform/error.hpp"

namespace takt::platform {

/// What the controller does. The numbers are those of Linux (enum can_state).
enum class CanController : std::uint8_t {
  active = 0,
  warning = 1,
  passive = 2,
  bus_off = 3,  ///< it left the bus after too many errors
  stopped = 4,  ///< as it is while the interface is down
  sleeping = 5,
};

/// A network interface. An optional member is empty where the driver does not say: virtual interfaces have no bit rate.
struct CanInterface {
  std::string name;
  std::string kind;  ///< "can", "vcan", "vxcan"; empty for interfaces without a kind
  int index = 0;
  bool is_can = false;
  bool is_up = false;
  std::uint32_t mtu = 0;  ///< bytes
  std::uint32_t queue_length =
      0;  ///< frames that wait in the kernel at most (txqueuelen); 0: not limited there
  std::optional<std::uint32_t> bit_rate{};       ///< bit/s
  std::optional<std::uint32_t> data_bit_rate{};  ///< bit/s, of FD frames that switch
  std::optional<CanController> controller{};
  std::optional<std::uint32_t> restart_ms{};  ///< after bus-off; 0: only by hand

  /// Whether it carries FD frames as it is set up.
  [[nodiscard]] bool fd() const noexcept;

  friend bool operator==(const CanInterface&, const CanInterface&) = default;
};

/// What a robot asks of an interface. 0: anything will do.
struct CanNeeds {
  bool fd = false;
  std::uint32_t bit_rate = 0;        ///< bit/s
  std::uint32_t data_bit_rate = 0;   ///< bit/s; counts with `fd` only
  std::size_t frames_per_cycle = 0;  ///< that are handed over at once
};

/// Asks the kernel for the network interface of this name, CAN or not. Errors, with a message that begins with the
/// name: no_such_can_interface, can_failed, bad_link_message.
[[nodiscard]] SetupResult<CanInterface> find_can_interface(const std::string& name);

/// Whether an interface does for a robot. Each message begins with the interface's name and ends with the command that
/// mends it. A bit rate within 0.5 % of the wanted one is the same: clocks do not divide into every rate. Errors, in
/// this order: not_can, can_interface_down, wrong_can_bit_rate, no_can_fd, can_queue_too_short, can_bus_off.
[[nodiscard]] SetupResult<void> check_can_interface(const CanInterface& interface, const CanNeeds& needs);

/// Reads one answer of rtnetlink to RTM_GETLINK. Any bytes are safe. Errors: bad_link_message (no such message, or
/// attributes that do not fit into it), no_such_can_interface (the kernel says so), can_failed (the kernel refuses for
/// another reason).
[[nodiscard]] Result<CanInterface> read_link_message(std::span<const std::uint8_t> message);

}  // namespace takt::platform
