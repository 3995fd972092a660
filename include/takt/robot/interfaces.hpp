// Interfaces: the named numbers and structs between devices and controllers. Names are resolved once, at
// set-up. In the cycle, reading and writing are plain memory accesses.
//
//   "elbow/position"       a joint: position, velocity, effort; commands also acceleration
//   "imu/gyro_x"           a number of a device, or a field of its struct "imu"
//   "tip_pid/setpoint"     an input of a controller, which another controller commands (a chain)
//   "odometry/speed"       a number that a controller publishes: any registered variable
//
// The manager holds the table (manager.hpp). Devices and controllers add to it and look up in it through
// Declarations and Resources (device.hpp, controller.hpp).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/core/finite_math.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"

namespace takt::component {
class Component;
}

namespace takt::robot {

/// A number that is read. Real-time safe.
class StateHandle {
 public:
  StateHandle() = default;
  explicit StateHandle(const double* value) noexcept : value_(value) {}
  /// The present value, in the interface's unit.
  [[nodiscard]] double get() const noexcept { return *value_; }
  /// Whether the interface was found.
  [[nodiscard]] explicit operator bool() const noexcept { return value_ != nullptr; }

 private:
  const double* value_ = nullptr;
};

/// The door for the commands of one controller. Its manager opens it while the controller owns what it
/// commands.
struct CommandGate {
  bool open = false;
  bool passed = false;      ///< a command has passed since it was opened
  bool* refused = nullptr;  ///< set by a command that is NaN or infinite: the manager ends the controller

  /// Whether a command passes. Real-time safe.
  [[nodiscard]] bool admits(bool is_finite) noexcept {
    if (!open) return false;
    (is_finite ? passed : *refused) = true;
    return is_finite;
  }
};

/// A number that its owner writes. A value stays until the next one. Real-time safe.
class CommandHandle {
 public:
  CommandHandle() = default;
  /// `driven`: set by each write. `largest`: magnitude above which a value counts as infinite.
  CommandHandle(double* value, bool* driven, CommandGate& gate,
                double largest = std::numeric_limits<double>::max()) noexcept
      : value_(value), driven_(driven), gate_(&gate), largest_(largest) {}
  /// Commands a value, in the interface's unit. NaN and infinity are rejected, and end the controller in this
  /// cycle. A controller that does not own the interface commands nothing.
  void set(double value) noexcept {
    if (!gate_->admits(std::abs(value) <= largest_)) return;
    *value_ = value;
    *driven_ = true;
  }
  /// Ends the command: the interface gets its safe value.
  void release() noexcept {
    if (gate_->open) *driven_ = false;
  }
  /// The present value.
  [[nodiscard]] double get() const noexcept { return *value_; }
  /// Whether the interface was found.
  [[nodiscard]] explicit operator bool() const noexcept { return value_ != nullptr; }

 private:
  double* value_ = nullptr;
  bool* driven_ = nullptr;
  CommandGate* gate_ = nullptr;
  double largest_ = 0;
};

/// An input of a controller, which another controller may command. Real-time safe.
class InputHandle {
 public:
  InputHandle() = default;
  InputHandle(const double* value, const bool* driven) noexcept : value_(value), driven_(driven) {}
  /// The last command. Before the first one: the initial value.
  [[nodiscard]] double get() const noexcept { return *value_; }
  /// Whether an active controller commands it. If not, the controller follows its own setpoint.
  [[nodiscard]] bool driven() const noexcept { return *driven_; }

 private:
  const double* value_ = nullptr;
  const bool* driven_ = nullptr;
};

/// The value of a command that nobody owns. Joints have their own rule: the manager brings them to rest.
enum class SafeValue : std::uint8_t {
  hold,          ///< the last value
  zero,          ///< zero, at once
  ramp_to_zero,  ///< towards zero, at the interface's rate
};

/// The description of an interface, as data.
struct InterfaceInfo {
  std::string name;   ///< "owner/what"
  std::string unit;   ///< "rad", "N m"; empty: none
  std::string owner;  ///< the device or controller that has it
  bool is_command = false;
  SafeValue safe = SafeValue::hold;
  double value = 0;        ///< at the time of the question
  std::string claimed_by;  ///< the controller that owns the command; empty: nobody
};

/// The memory of a number or a struct that is read, for a recorder.
struct ReadingMemory {
  std::string name;
  std::string unit;
  std::string_view schema;  ///< of the struct; empty for a number, a double
  const void* value = nullptr;
};

/// The memory behind the interfaces of a device. It is valid as long as the device.
struct DeviceMemory {
  /// A number that is commanded.
  struct Output {
    std::string name;
    std::string unit;
    SafeValue safe = SafeValue::hold;
    double rate = 0;  ///< of SafeValue::ramp_to_zero, 1/s
    const double* value = nullptr;
  };
  std::vector<ReadingMemory> readings;  ///< a struct is one reading, without its fields
  std::vector<Output> outputs;
};

/// All interfaces of a robot. Set-up only; the manager's mutex guards it.
class InterfaceTable {
 public:
  static constexpr std::size_t no_joint = std::numeric_limits<std::size_t>::max();

  /// A number to read.
  struct StateRow {
    std::string name;
    std::string unit;
    const double* value = nullptr;
    const component::Component* owner = nullptr;  ///< null: the joints' device
    std::size_t joint = no_joint;
  };
  /// A number to command. The table keeps its memory, except that of joints.
  struct CommandRow {
    std::string name;
    std::string unit;
    double* value = nullptr;
    bool* driven = nullptr;
    const component::Component* owner = nullptr;
    SafeValue safe = SafeValue::hold;
    double rate = 0;  ///< of ramp_to_zero, 1/s
    std::size_t joint = no_joint;
    std::uint8_t part = 0;  ///< of a joint's command (joint.hpp)
  };
  /// A struct to read.
  struct StructRow {
    std::string name;
    std::string_view schema;
    const void* value = nullptr;
    const component::Component* owner = nullptr;
  };

  /// Each adds a row. Errors: duplicate_name; component::Errc::bad_name.
  [[nodiscard]] SetupResult<void> add(StateRow row);
  [[nodiscard]] SetupResult<void> add(CommandRow row);
  [[nodiscard]] SetupResult<void> add(StructRow row);
  /// Adds a struct, and each of its doubles as a state "name/field". Errors: as above.
  [[nodiscard]] SetupResult<void> add_struct(const StructRow& row);
  /// Removes all rows of this owner.
  void remove(const component::Component& owner);

  /// Each finds a row by its name; null: none. Pointers are valid until the next add() or remove().
  [[nodiscard]] const StateRow* find_state(std::string_view name) const noexcept;
  [[nodiscard]] const CommandRow* find_command(std::string_view name) const noexcept;
  [[nodiscard]] const StructRow* find_struct(std::string_view name) const noexcept;

  /// The memory of this owner's interfaces: structs, then numbers, in the order of their declarations.
  [[nodiscard]] DeviceMemory memory_of(const component::Component& owner) const;

  /// All numbers to read.
  [[nodiscard]] std::span<const StateRow> states() const noexcept { return states_; }
  /// All numbers to command.
  [[nodiscard]] std::span<const CommandRow> commands() const noexcept { return commands_; }

 private:
  std::vector<StateRow> states_;
  std::vector<CommandRow> commands_;
  std::vector<StructRow> structs_;
};

}  // namespace takt::robot
