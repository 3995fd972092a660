// The object dictionary of a simulated CiA 402 drive. It has the communication objects of CiA 301 that a
// master needs, the profile's objects, and two texts for long transfers. It has four PDOs in each direction.
// PDOs must be set up in the standard's order, as on real drives. Values are integers in the drive's units:
// encoder counts, counts per second, thousandths of the rated torque. Real-time safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tl/expected.hpp>

#include "takt/can/canopen/pdo.hpp"
#include "takt/can/canopen/sdo.hpp"

namespace takt::drives {

/// The objects that hold one number.
enum class Cia402Object : std::uint8_t {
  device_type,
  error_register,
  cycle_period,
  consumer_count,
  consumer_heartbeat,
  producer_heartbeat,
  identity_count,
  vendor,
  product,
  revision,
  connection_option,
  error_code,
  control_word,
  status_word,
  quick_stop_option,
  mode,
  mode_display,
  position,
  velocity,
  target_torque,
  torque,
  target_position,
  profile_velocity,
  profile_acceleration,
  quick_stop_deceleration,
  homing_method,
  homing_speed_count,
  homing_speed,
  period_count,
  period_value,
  period_exponent,
  target_velocity,
  supported_modes,
};

/// The object dictionary of one drive.
class Cia402Objects {
 public:
  static constexpr std::size_t count = static_cast<std::size_t>(Cia402Object::supported_modes) + 1;
  static constexpr std::size_t pdos = 4;  ///< in each direction
  /// The value of object 1008h.
  static constexpr std::string_view device_name = "takt simulated drive";
  static constexpr std::string_view software = "simulated 1.0";

  /// One PDO, as set up by the master.
  struct Pdo {
    std::uint32_t id = out_of_use;
    std::uint8_t type = can::canopen::event_driven;
    std::uint8_t mapped = 0;
    std::array<std::uint32_t, can::canopen::max_mapped> map{};

    static constexpr std::uint32_t out_of_use = std::uint32_t{1} << 31;
    /// Returns whether the PDO is enabled.
    [[nodiscard]] bool in_use() const noexcept { return (id & out_of_use) == 0; }
    /// Returns the CAN identifier of the PDO.
    [[nodiscard]] std::uint32_t frame_id() const noexcept { return id & can::max_standard_id; }
    /// Returns whether the PDO is sent at a SYNC.
    [[nodiscard]] bool at_sync() const noexcept { return type <= 240; }
  };

  explicit Cia402Objects(std::uint8_t node) noexcept { reset(node); }
  /// Resets to the power-on state: RPDO 1 carries the control word, TPDO 1 the status word; the others are
  /// disabled.
  void reset(std::uint8_t node) noexcept;

  [[nodiscard]] std::uint32_t operator[](Cia402Object object) const noexcept {
    return values_[static_cast<std::size_t>(object)];
  }
  /// The value of a signed object.
  [[nodiscard]] std::int32_t number(Cia402Object object) const noexcept;
  /// Sets the value of an object, without a check of access rights.
  void set(Cia402Object object, std::int64_t value) noexcept;

  /// The set-up of a receive PDO, numbered from 0.
  [[nodiscard]] const Pdo& receive_pdo(std::size_t i) const noexcept { return receive_[i]; }
  /// The set-up of a transmit PDO, numbered from 0.
  [[nodiscard]] const Pdo& transmit_pdo(std::size_t i) const noexcept { return transmit_[i]; }
  /// Writes a PDO's data to the mapped objects. Returns false, and changes nothing, if the data are too
  /// short.
  bool unpack(const Pdo& pdo, std::span<const std::uint8_t> data) noexcept;
  /// Reads the mapped objects into a PDO's data. Returns the number of bytes.
  [[nodiscard]] std::size_t pack(const Pdo& pdo, std::span<std::uint8_t> data) const noexcept;

  // ---- can::canopen::ObjectDictionary
  [[nodiscard]] tl::expected<std::size_t, can::canopen::SdoAbort> read(
      can::canopen::Address object, std::span<std::uint8_t> room) const noexcept;
  [[nodiscard]] can::canopen::SdoAbort write(can::canopen::Address object,
                                             std::span<const std::uint8_t> data) noexcept;

 private:
  [[nodiscard]] const Pdo* find_pdo(std::uint16_t index) const noexcept;
  [[nodiscard]] can::canopen::SdoAbort write_communication(Pdo& pdo, std::uint8_t subindex,
                                                           std::uint32_t value) noexcept;
  [[nodiscard]] can::canopen::SdoAbort write_mapping(Pdo& pdo, bool receive, std::uint8_t subindex,
                                                     std::uint32_t value) noexcept;

  std::array<std::uint32_t, count> values_{};
  std::array<Pdo, pdos> receive_{};
  std::array<Pdo, pdos> transmit_{};
};

}  // namespace takt::drives
