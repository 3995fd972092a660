// Process data objects (CiA 301, 7.2.2): the frames that a node sends and receives every cycle. Their content
// is configured by mapping objects into them. The function plan_pdo() makes the SDO writes that configure one
// PDO. The standard demands this order, and devices insist on it:
//
// - step 1: communication parameter, identifier with bit 31: the PDO is disabled
// - step 2: mapping, sub-index 0 := 0: the mapping may be changed
// - step 3: mapping, sub-indexes 1 to n: index, sub-index and length of each object
// - step 4: mapping, sub-index 0 := n: the device checks and activates the mapping
// - step 5: communication parameter, transmission type
// - step 6: communication parameter, identifier without bit 31: the PDO is enabled
//
// The node must be pre-operational meanwhile. "Receive" and "transmit" are from the view of the *node*.
// Real-time safe and usable in constant expressions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/can/canopen/object.hpp"

namespace takt::can::canopen {

/// The direction of a PDO as the node sees it.
enum class PdoDirection : std::uint8_t { receive, transmit };

/// Transmission types, sub-index 2 of the communication parameter. The types 1 to 240 mean every nth SYNC.
inline constexpr std::uint8_t every_sync = 1;
inline constexpr std::uint8_t acyclic_sync = 0;  ///< at the SYNC after an event
inline constexpr std::uint8_t event_driven = 255;

/// Returns the default identifier of PDO 1 to 4 of a node (predefined connection set).
[[nodiscard]] constexpr std::uint32_t pdo_id(PdoDirection direction, std::uint8_t number,
                                             std::uint8_t node) noexcept {
  return (direction == PdoDirection::transmit ? 0x080U : 0x100U) + 0x100U * number + node;
}

/// An object in a PDO's mapping, and its length.
struct MappedObject {
  Address object;
  std::uint8_t bits = 32;  ///< a multiple of 8

  friend constexpr bool operator==(const MappedObject&, const MappedObject&) = default;
};

inline constexpr std::size_t max_mapped = 8;  ///< objects of one byte each in a classic frame

/// The SDO writes of one PDO, in order.
struct PdoPlan {
  static constexpr std::size_t capacity = max_mapped + 5;

  std::array<ObjectWrite, capacity> list{};
  std::size_t count = 0;
  std::uint32_t id = 0;     ///< identifier of the PDO's frames
  std::uint8_t length = 0;  ///< data bytes of the PDO's frames

  /// The SDO writes, in order.
  [[nodiscard]] constexpr std::span<const ObjectWrite> writes() const noexcept {
    return std::span<const ObjectWrite>(list).first(count);
  }
};

/// Returns the writes that make PDO `number` (1 to 4) of a node carry `objects`, in this order. Errors:
/// unknown_node, wrong_count (no object), bad_layout (an object is not whole bytes), payload_too_long (more
/// than 8 bytes), out_of_range. The latter is for `number` and for reserved transmission types (241 to 251).
[[nodiscard]] constexpr Result<PdoPlan> plan_pdo(PdoDirection direction, std::uint8_t number,
                                                 std::uint8_t node, std::uint8_t transmission_type,
                                                 std::span<const MappedObject> objects) noexcept {
  constexpr std::uint32_t out_of_use = std::uint32_t{1} << 31;
  constexpr std::uint32_t no_remote_request = std::uint32_t{1} << 30;  // many devices accept only this
  if (!is_node(node)) return fail(Errc::unknown_node);
  if (number < 1 || number > 4) return fail(Errc::out_of_range);
  if (transmission_type > 240 && transmission_type < 252) return fail(Errc::out_of_range);
  if (objects.empty()) return fail(Errc::wrong_count);
  std::size_t bits = 0;
  for (const MappedObject& mapped : objects) {
    if (mapped.bits == 0 || mapped.bits % 8 != 0) return fail(Errc::bad_layout);
    bits += mapped.bits;
    if (bits > 8 * max_classic_length) return fail(Errc::payload_too_long);
  }

  const bool transmits = direction == PdoDirection::transmit;
  const auto communication = static_cast<std::uint16_t>((transmits ? 0x1800U : 0x1400U) + number - 1);
  const auto mapping = static_cast<std::uint16_t>((transmits ? 0x1A00U : 0x1600U) + number - 1);
  PdoPlan plan;
  plan.id = pdo_id(direction, number, node);
  plan.length = static_cast<std::uint8_t>(bits / 8);
  const std::uint32_t in_use = plan.id | (transmits ? no_remote_request : 0);
  const auto write = [&plan](std::uint16_t index, std::size_t subindex, std::uint32_t value,
                             std::uint8_t bytes) {
    plan.list[plan.count++] = {{index, static_cast<std::uint8_t>(subindex)}, value, bytes};
  };
  write(communication, 1, in_use | out_of_use, 4);
  write(mapping, 0, 0, 1);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const MappedObject& mapped = objects[i];
    write(mapping, i + 1,
          std::uint32_t{mapped.object.index} << 16 | std::uint32_t{mapped.object.subindex} << 8 | mapped.bits,
          4);
  }
  write(mapping, 0, static_cast<std::uint32_t>(objects.size()), 1);
  write(communication, 2, transmission_type, 1);
  write(communication, 1, in_use, 4);
  return plan;
}

}  // namespace takt::can::canopen
