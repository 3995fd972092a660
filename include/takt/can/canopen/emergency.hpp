// Emergencies (CiA 301, 7.2.7): a device sends one for each error, and one with code 0 when all errors are
// over. Codes are decoded into text, also those of drives (CiA 402-2). A history of fixed size keeps the
// latest ones. Real-time safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "takt/can/canopen/object.hpp"
#include "takt/can/word.hpp"
#include "takt/core/time.hpp"

namespace takt::can::canopen {

/// Bits of the error register, object 1001h.
namespace error_register {
inline constexpr std::uint8_t generic = 1U << 0;
inline constexpr std::uint8_t current = 1U << 1;
inline constexpr std::uint8_t voltage = 1U << 2;
inline constexpr std::uint8_t temperature = 1U << 3;
inline constexpr std::uint8_t communication = 1U << 4;
inline constexpr std::uint8_t device_profile = 1U << 5;
inline constexpr std::uint8_t manufacturer = 1U << 7;
}  // namespace error_register

/// One emergency message.
struct Emergency {
  std::uint8_t node = 1;
  std::uint16_t code = 0;           ///< 0x00xx: one error is over, or all are
  std::uint8_t error_register = 0;  ///< 0: no error is left
  std::array<std::uint8_t, 5> vendor{};

  /// Returns whether the message reports the end of an error.
  [[nodiscard]] constexpr bool is_reset() const noexcept { return code < 0x100; }
  friend constexpr bool operator==(const Emergency&, const Emergency&) = default;
};

/// Encodes an emergency. Error: unknown_node.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const Emergency& emergency) noexcept {
  if (!is_node(emergency.node)) return fail(Errc::unknown_node);
  detail::begin(frame, emergency_base + emergency.node, 8);
  store_little<2>(frame.data.data(), emergency.code);
  frame.data[2] = emergency.error_register;
  std::copy(emergency.vendor.begin(), emergency.vendor.end(), frame.data.begin() + 3);
  return {};
}

/// Decodes an emergency. Errors: wrong_format, unexpected_id, wrong_length.
[[nodiscard]] constexpr Result<Emergency> decode_emergency(const Frame& frame) noexcept {
  const auto node = detail::node_of(frame, emergency_base, 8);
  if (!node) return fail(node.error());
  Emergency emergency;
  emergency.node = *node;
  emergency.code = static_cast<std::uint16_t>(load_little<2>(frame.data.data()));
  emergency.error_register = frame.data[2];
  std::copy_n(frame.data.begin() + 3, emergency.vendor.size(), emergency.vendor.begin());
  return emergency;
}

namespace detail {

struct EmergencyName {
  std::uint16_t first;  ///< the codes from here up to the next name's
  std::string_view text;
};

/// Names of single codes and of classes of codes, in rising order.
inline constexpr EmergencyName emergency_names[] = {
    {0x0000, "no error"},
    {0x1000, "generic"},
    {0x2000, "current"},
    {0x2100, "current, input side"},
    {0x2200, "current inside the device"},
    {0x2300, "current, output side"},
    {0x2310, "continuous over-current"},
    {0x2320, "short circuit or earth leakage"},
    {0x2330, "earth leakage"},
    {0x2331, "current, output side"},
    {0x2340, "short circuit"},
    {0x2341, "current, output side"},
    {0x3000, "voltage"},
    {0x3100, "mains voltage"},
    {0x3110, "mains over-voltage"},
    {0x3120, "mains under-voltage"},
    {0x3130, "phase failure"},
    {0x3140, "mains voltage"},
    {0x3200, "voltage inside the device"},
    {0x3210, "over-voltage of the power stage"},
    {0x3220, "under-voltage of the power stage"},
    {0x3230, "load error"},
    {0x3231, "voltage inside the device"},
    {0x3300, "output voltage"},
    {0x4000, "temperature"},
    {0x4100, "ambient temperature"},
    {0x4200, "device temperature"},
    {0x4300, "drive temperature"},
    {0x4310, "over-temperature of the drive"},
    {0x4320, "under-temperature of the drive"},
    {0x4321, "drive temperature"},
    {0x4400, "temperature of the supply"},
    {0x5000, "device hardware"},
    {0x6000, "device software"},
    {0x6300, "data set"},
    {0x6310, "loss of parameters"},
    {0x6320, "error in a parameter"},
    {0x6321, "data set"},
    {0x7000, "additional modules"},
    {0x7100, "power module"},
    {0x7120, "motor"},
    {0x7121, "motor blocked"},
    {0x7122, "motor error or commutation"},
    {0x7123, "motor"},
    {0x7200, "measuring circuit"},
    {0x7300, "sensor"},
    {0x7305, "incremental sensor 1"},
    {0x7306, "sensor"},
    {0x8000, "monitoring"},
    {0x8100, "communication"},
    {0x8110, "CAN overrun: messages were lost"},
    {0x8120, "CAN controller error-passive"},
    {0x8130, "life guard or heartbeat lost"},
    {0x8140, "recovered from bus-off"},
    {0x8150, "identifier collision"},
    {0x8151, "communication"},
    {0x8200, "protocol"},
    {0x8210, "PDO too short, not processed"},
    {0x8220, "PDO too long"},
    {0x8230, "destination of a multiplexed PDO not available"},
    {0x8240, "SYNC of unexpected length"},
    {0x8250, "receive PDO overdue"},
    {0x8251, "protocol"},
    {0x8300, "torque control"},
    {0x8400, "velocity control"},
    {0x8500, "position control"},
    {0x8600, "positioning"},
    {0x8611, "following error"},
    {0x8612, "position limit"},
    {0x8613, "positioning"},
    {0x8700, "synchronisation"},
    {0x8800, "winding control"},
    {0x8900, "process data"},
    {0x8A00, "control"},
    {0x9000, "external"},
    {0xA000, "monitoring"},
    {0xF000, "additional functions"},
    {0xFF00, "device specific"},
};

}  // namespace detail

/// Returns the meaning of an error code, also of object 603Fh.
[[nodiscard]] constexpr std::string_view describe_emergency(std::uint16_t code) noexcept {
  const auto* const after = std::upper_bound(
      std::begin(detail::emergency_names), std::end(detail::emergency_names), code,
      [](std::uint16_t wanted, const detail::EmergencyName& name) { return wanted < name.first; });
  return std::prev(after)->text;
}

/// The latest emergencies of a bus or a node, oldest first. Older ones than the last `Capacity` are only
/// counted.
template <std::size_t Capacity>
class EmergencyHistory {
 public:
  static_assert(Capacity > 0);
  struct Entry {
    Emergency emergency;
    Time time{};
  };

  /// Adds an emergency that was received at `time`.
  constexpr void add(const Emergency& emergency, Time time) noexcept {
    entries_[static_cast<std::size_t>(total_ % Capacity)] = Entry{emergency, time};
    ++total_;
  }
  /// The number of entries, at most `Capacity`.
  [[nodiscard]] constexpr std::size_t size() const noexcept {
    return static_cast<std::size_t>(std::min<std::uint64_t>(total_, Capacity));
  }
  /// Returns entry `i`, which must be below size(); 0 is the oldest.
  [[nodiscard]] constexpr const Entry& operator[](std::size_t i) const noexcept {
    return entries_[static_cast<std::size_t>((total_ - size() + i) % Capacity)];
  }
  /// The number of all emergencies so far.
  [[nodiscard]] constexpr std::uint64_t total() const noexcept { return total_; }

 private:
  std::array<Entry, Capacity> entries_{};
  std::uint64_t total_ = 0;
};

}  // namespace takt::can::canopen
