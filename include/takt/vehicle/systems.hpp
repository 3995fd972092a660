// The systems of the Furbot and their states.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace takt::vehicle {

/// The systems, as numbered on the wire. Other vehicles may have other numbers, below max_systems.
enum class System : std::uint8_t {
  communication = 0,
  battery = 1,
  motion_control = 2,
  traction = 3,
  steering = 4,
  hydraulics = 5,
  suspension_rear_left = 6,
  suspension_rear_right = 7,
  suspension_front_left = 8,
  suspension_front_right = 9,
  rear_fork = 10,
  front_fork = 11,
};
inline constexpr std::uint8_t max_systems = 32;  ///< System numbers are below this one.

/// The state of any system. An unlisted number is kept as received, and does not count as running.
enum class SystemState : std::uint8_t {
  cold = 0,
  init = 1,
  running = 2,
  halted = 3,
  unknown = 255,  ///< no state was received
};

/// The state of the hydraulics, in addition to their SystemState.
enum class HydraulicState : std::uint8_t {
  no_op = 0,
  enable_motor = 1,
  enable_bridge = 2,
  wrswon = 3,
  rswon = 4,
  wenable = 5,
  enabled = 6,
  disable_motor = 7,
  disabled = 8,
  fault = 9,
};

/// The state of a suspension, in addition to its SystemState.
enum class SuspensionState : std::uint8_t { init = 0, stopped = 1, rising = 2, lowering = 3 };

/// The state of a fork, in addition to its SystemState.
enum class ForkState : std::uint8_t { unknown = 0, stopped = 1, extending = 2, retracting = 3 };

/// The bit numbers of a fork's sensors.
enum class ForkSensor : std::uint8_t {
  forward = 0,
  centre = 1,
  back = 2,
  in1 = 3,
  mid1 = 4,
  out1 = 5,
  in2 = 6,
  out2 = 7,
  top = 8,
  bottom = 9,
  pressure_front = 10,
  pressure_back = 11,
  tip_front = 12,
  tip_back = 13,
};

/// The word for people. Real-time safe.
[[nodiscard]] constexpr std::string_view to_string(SystemState state) noexcept {
  switch (state) {
    case SystemState::cold:
      return "cold";
    case SystemState::init:
      return "init";
    case SystemState::running:
      return "running";
    case SystemState::halted:
      return "halted";
    case SystemState::unknown:
      break;
  }
  return "unknown";
}

/// A set of systems. A value; real-time safe.
class SystemSet {
 public:
  constexpr SystemSet() = default;
  /// The set of these systems.
  constexpr SystemSet(std::initializer_list<System> systems) noexcept {
    for (const System system : systems) insert(system);
  }

  /// Adds a system. A number of max_systems or above is ignored.
  constexpr void insert(System system) noexcept { bits_ |= bit(system); }
  /// Removes a system.
  constexpr void erase(System system) noexcept { bits_ &= ~bit(system); }
  /// Whether the system is in the set.
  [[nodiscard]] constexpr bool contains(System system) const noexcept { return (bits_ & bit(system)) != 0; }
  /// Whether all of the others are in the set.
  [[nodiscard]] constexpr bool contains(SystemSet others) const noexcept {
    return (others.bits_ & ~bits_) == 0;
  }
  /// Returns whether the set has no member.
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  /// Returns the number of members.
  [[nodiscard]] constexpr int size() const noexcept { return std::popcount(bits_); }
  /// The set as a bit mask: bit n is system n.
  [[nodiscard]] constexpr std::uint32_t bits() const noexcept { return bits_; }

  friend constexpr bool operator==(SystemSet, SystemSet) = default;

 private:
  [[nodiscard]] static constexpr std::uint32_t bit(System system) noexcept {
    const auto number = static_cast<std::uint8_t>(system);
    return number < max_systems ? std::uint32_t{1} << number : 0;
  }

  std::uint32_t bits_ = 0;
};

/// All systems of a Furbot.
inline constexpr SystemSet furbot_systems = [] {
  SystemSet all;
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(System::front_fork); ++i)
    all.insert(static_cast<System>(i));
  return all;
}();

}  // namespace takt::vehicle
