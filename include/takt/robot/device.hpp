// A device: a component that owns interfaces. It is a bus of drives, a sensor, a board of digital outputs.
// The manager runs it in each cycle that is due: it reads first, and writes after the controllers.
//
//     class Imu final : public takt::robot::Device {
//      public:
//       static constexpr takt::component::ComponentMetadata about{
//           .type = "Imu", .version = "1.0.0", .vendor = "you", .category = "device",
//           .description = "Reads an inertial unit."};
//       explicit Imu(std::string name) : Device(about, std::move(name)) {}
//
//       takt::SetupResult<void> on_declare(takt::robot::Declarations& declarations) override {
//         return declarations.sensor(name(), sample_);  // "imu", and "imu/gyro_x", ...
//       }
//       takt::Status on_execute(const takt::component::CycleTime&) noexcept override {
//         return poll(sample_);
//       }
//
//      private:
//       Sample sample_;  // a struct with TAKT_FIELDS
//     };
//
// Life cycle: on_activate() powers it, on_execute() reads it, on_state_update() writes it, on_deactivate()
// ends that. A device that answers an error stops exactly the controllers that use it, in the same cycle
// (manager.hpp). All of it runs in the manager's thread and is real-time safe, except on_declare() and
// prepare().
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "takt/component/component.hpp"
#include "takt/core/fields.hpp"
#include "takt/core/joint.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/robot/hardware.hpp"
#include "takt/robot/interfaces.hpp"
#include "takt/shm/schema.hpp"

namespace takt::robot {

class Device;

/// The declarations of a device to its manager. Set-up only.
class Declarations {
 public:
  Declarations(InterfaceTable& table, const Device& device, std::span<JointFeedback> feedback,
               std::span<const JointCommand> commands) noexcept
      : table_(&table), device_(&device), feedback_(feedback), commands_(commands) {}

  /// A number to read, "device/what". `value` must live as long as the device. Errors: duplicate_name,
  /// bad_name.
  [[nodiscard]] SetupResult<void> state(std::string name, std::string unit, const double& value);
  /// A struct to read: as a whole, and each of its doubles as a state "name/field". Errors: as above.
  template <HasFields T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] SetupResult<void> sensor(const std::string& name, const T& value) {
    return sensor(name, shm::schema_text<T>(), &value);
  }
  /// A struct whose type is known by its schema only (shm/schema.hpp), which must live as long as the device.
  /// Errors: as above; shm::Errc::bad_schema.
  [[nodiscard]] SetupResult<void> sensor(const std::string& name, std::string_view schema, const void* value);
  /// A number to command. `driven` tells whether a controller does. `rate`: of SafeValue::ramp_to_zero, 1/s.
  /// Errors: as above.
  [[nodiscard]] SetupResult<void> command(std::string name, std::string unit, double& value, bool& driven,
                                          SafeValue safe = SafeValue::hold, double rate = 0);
  /// Motion that is no joint's, as the state "device/moving": `value` is 0 when all stands. A stop of the
  /// robot is over when it is 0; so the device must bound how long it is not. Errors: as above.
  [[nodiscard]] SetupResult<void> moving(const double& value);

  /// One entry per joint of the robot; a device of drives fills in those of its joints.
  [[nodiscard]] std::span<JointFeedback> feedback() const noexcept { return feedback_; }
  /// One entry per joint of the robot: what the drives get when the device writes.
  [[nodiscard]] std::span<const JointCommand> commands() const noexcept { return commands_; }

 private:
  friend class Manager;

  InterfaceTable* table_;
  const Device* device_;
  std::span<JointFeedback> feedback_;
  std::span<const JointCommand> commands_;
  const double* moving_ = nullptr;
};

/// The name of the state of Declarations::moving(), after the device's own name.
inline constexpr std::string_view moving_state = "/moving";

/// A joint that gets another mode.
struct ModeChange {
  std::size_t joint = 0;
  CommandMode mode{};
};

/// Whether a change of modes is finished.
enum class ModeProgress : std::uint8_t {
  done,
  ongoing,  ///< ask again in the next cycle
  failed,   ///< the start does not take place
};

/// The base of all devices.
class Device : public component::Component {
 public:
  using Component::Component;

  /// Declares the interfaces. Called once, by Manager::add(). Errors: those of the declarations, and its own.
  [[nodiscard]] virtual SetupResult<void> on_declare(Declarations& declarations) = 0;
  /// Whether it drives this joint.
  [[nodiscard]] virtual bool drives(std::size_t /*joint*/) const noexcept { return false; }

  /// Judges a change of modes of joints that it drives, outside the cycle. An error refuses the switch.
  [[nodiscard]] virtual SetupResult<void> prepare(std::span<const ModeChange> /*changes*/) { return {}; }
  /// Performs the change, in the cycle; called until it is done. No command of a controller reaches the
  /// joints meanwhile. It precedes every start: of a switch, after a stop, of a fallback, after a switch was
  /// undone. It also follows when a joint that goes on gets another mode, because a borrower or one of its
  /// owners ended. Calls for different joints may alternate.
  [[nodiscard]] virtual ModeProgress perform(std::span<const ModeChange> /*changes*/) noexcept {
    return ModeProgress::done;
  }

  /// The robot stops, by this category: brings to rest what Declarations::moving() tells. In the cycle, also
  /// of an inactive device; again when a stop becomes more urgent. Real-time safe.
  virtual void on_robot_stop(StopCategory /*category*/, Time /*now*/) noexcept {}
  /// The robot is ready again after a stop. In the cycle, before its controllers begin. Real-time safe.
  virtual void on_robot_ready(Time /*now*/) noexcept {}

 private:
  friend class Manager;

  [[nodiscard]] SetupResult<void> on_initialize() final;

  Declarations* declarations_ = nullptr;  ///< the manager's, while it initializes
};

/// The drives of a robot, behind a Hardware, as a device.
class DriveDevice final : public Device {
 public:
  static constexpr component::ComponentMetadata about{.type = "DriveDevice",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "device",
                                                      .description = "Reads and writes drives."};

  /// `hardware` must outlive the device. `joints`: those that it drives; empty: all.
  DriveDevice(std::string name, Hardware& hardware, std::vector<std::size_t> joints = {})
      : Device(about, std::move(name)), hardware_(&hardware), joints_(std::move(joints)) {}

  [[nodiscard]] SetupResult<void> on_declare(Declarations& declarations) override {
    feedback_ = declarations.feedback();
    commands_ = declarations.commands();
    return {};
  }
  [[nodiscard]] bool drives(std::size_t joint) const noexcept override {
    return joints_.empty() || std::find(joints_.begin(), joints_.end(), joint) != joints_.end();
  }
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override {
    hardware_->read(cycle.time, feedback_);
    return {};
  }
  [[nodiscard]] Status on_state_update(const component::CycleTime& cycle) noexcept override {
    hardware_->write(cycle.time, commands_);
    return {};
  }
  /// The drives.
  [[nodiscard]] Hardware& hardware() noexcept { return *hardware_; }

 private:
  Hardware* hardware_;
  std::vector<std::size_t> joints_;
  std::span<JointFeedback> feedback_;
  std::span<const JointCommand> commands_;
};

}  // namespace takt::robot
