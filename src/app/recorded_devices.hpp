// Devices besides the drives in a recording (app/run_recorder.hpp): what they read, and what controllers
// commanded them.
//
//   /sensors/NAME   a struct or a number of a device, while the device is active
//   /outputs/NAME   takt/msg/Number: a commanded number
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/recorded_ports.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/record/recorder.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/interfaces.hpp"
#include "takt/robot/manager.hpp"

namespace takt::app {

inline constexpr std::string_view sensor_topics = "/sensors/";
inline constexpr std::string_view output_topics = "/outputs/";
/// Most devices of a recording: a bit for each.
inline constexpr std::size_t max_recorded_devices = 64;

/// The type of a topic's messages by a name: "takt/msg/LeftFoot" of "left_foot".
[[nodiscard]] std::string message_type(std::string_view name);

/// The interfaces of a device.
struct RecordedDevice {
  struct Reading {
    std::string name;
    std::string unit;
    std::string schema;  ///< empty: a double
    [[nodiscard]] std::string_view layout() const noexcept {
      return schema.empty() ? shm::schema_text<double>() : std::string_view(schema);
    }
  };
  struct Output {
    std::string name;
    std::string unit;
    robot::SafeValue safe{};
    double rate = 0;
    double initial = 0;
  };
  std::string name;
  std::vector<Reading> readings;
  std::vector<Output> outputs;
};

/// The JSON text of devices and in-ports, for record::Metadata::devices; empty if there are none.
[[nodiscard]] std::string to_json(std::span<const RecordedDevice> devices,
                                  std::span<const RecordedPort> ports);
/// Parses it. Errors: not_replayable, with what is wrong.
[[nodiscard]] SetupResult<std::vector<RecordedDevice>> parse_devices(std::string_view json);
[[nodiscard]] SetupResult<std::vector<RecordedPort>> parse_ports(std::string_view json);

/// Records devices. Real-time safe after construction.
class DeviceTap {
 public:
  /// `devices`: of the manager, at most max_recorded_devices. They must outlive the tap.
  DeviceTap(robot::Manager& manager, std::span<robot::Device* const> devices);

  [[nodiscard]] const std::vector<RecordedDevice>& devices() const noexcept { return recorded_; }
  /// The topics; their schemas are those of the devices.
  [[nodiscard]] std::vector<record::Topic> topics() const;

  /// Records the readings of the active devices. `first`: the index of the first topic. Returns a bit for
  /// each active device.
  std::uint64_t record_readings(record::Lane& lane, std::size_t first, Time now) const noexcept;
  /// Records the commanded numbers.
  void record_outputs(record::Lane& lane, std::size_t first, Time now) const noexcept;

 private:
  struct Value {
    const std::uint8_t* bytes;
    std::size_t size;
    std::size_t device;
  };
  std::vector<robot::Device*> devices_;
  std::vector<RecordedDevice> recorded_;
  std::vector<std::string_view> layouts_;  ///< of the readings; each lives as long as its device
  std::vector<Value> readings_;
  std::vector<Value> outputs_;
};

/// A device of a recording: gives what was read.
class ReplayedDevice final : public robot::Device {
 public:
  static constexpr component::ComponentMetadata about{.type = "ReplayedDevice",
                                                      .version = "1.0.0",
                                                      .vendor = "takt",
                                                      .category = "device",
                                                      .description = "Gives the readings of a recording."};

  explicit ReplayedDevice(RecordedDevice recorded);

  [[nodiscard]] SetupResult<void> on_declare(robot::Declarations& declarations) override;
  /// Fails if the device was not active in this cycle.
  [[nodiscard]] Status on_execute(const component::CycleTime& cycle) noexcept override;

  /// The readings of the next cycle, the bytes of each; none if the device was not active.
  void give(bool is_active, std::span<const std::vector<std::uint8_t>> readings) noexcept;
  [[nodiscard]] const RecordedDevice& recorded() const noexcept { return recorded_; }
  /// The value of an output, as a controller commanded it.
  [[nodiscard]] double output(std::size_t index) const noexcept { return outputs_[index].value; }

 private:
  struct Cell {
    double value = 0;
    bool driven = false;
  };
  RecordedDevice recorded_;
  std::vector<std::vector<double>> readings_;  ///< aligned for every field of a schema
  std::vector<Cell> outputs_;
  bool is_active_ = true;
};

}  // namespace takt::app
