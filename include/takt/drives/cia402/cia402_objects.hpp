// The object dictionary of a simulated CiA 402 drive: the communication objects of CiA 301 that a master
// needs, the profile's own, two texts for long transfers, and four PDOs each way, whose set-up insists on
// the standard's order as real drives do. Values are whole numbers in the drive's units: encoder counts,
// counts per second, thousandths of the rated torque. Real-time safe.
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

class Cia402Objects {
 public:
  static constexpr std::size_t count = static_cast<std::size_t>(Cia402Object::supported_modes) + 1;
  static constexpr std::size_t pdos = 4;  ///< each way
  static constexpr std::string_view device_name = "takt simulated drive";
  static constexpr std::string_view software = "simulated 1.0";

  /// One PDO as the master set it up.
  struct Pdo {
    std::uint32_t id = out_of_use;
    std::uint8_t type = can::canopen::event_driven;
    std::uint8_t mapped = 0;
    std::array<std::uint32_t, can::canopen::max_mapped> map{};

    static constexpr std::uint32_t out_of_use = std::uint32_t{1} << 31;
    [[nodiscard]] bool in_use() const noexcept { return (id & out_of_use) == 0; }
    [[nodiscard]] std::uint32_t frame_id() const noexcept { return id & can::max_standard_id; }
    [[nodiscard]] bool at_sync() const noexcept { return type <= 240; }
  };

  explicit Cia402Objects(std::uint8_t node) noexcept { reset(node); }
  /// As after power-on: RPDO 1 carries the control word, TPDO 1 the status word, the others are not in use.
  void reset(std::uint8_t node) noexcept;

  [[nodiscard]] std::uint32_t operator[](Cia402Object object) const noexcept {
    return values_[static_cast<std::size_t>(object)];
  }
  /// The value of an object that has a sign.
  [[nodiscard]] std::int32_t number(Cia402Object object) const noexcept;
  void set(Cia402Object object, std::int64_t value) noexcept;

  [[nodiscard]] const Pdo& receive_pdo(std::size_t i) const noexcept { return receive_[i]; }
  [[nodiscard]] const Pdo& transmit_pdo(std::size_t i) const noexcept { return transmit_[i]; }
  /// Takes the data of a PDO's frame into what is mapped; false, and nothing taken, when they are too short.
  bool unpack(const Pdo& pdo, std::span<const std::uint8_t> data) noexcept;
  /// The data of a PDO's frame; how many bytes.
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
