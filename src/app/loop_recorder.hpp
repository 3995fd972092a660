// Records a loop. It connects the rooms motion and record, which do not know each other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "takt/app/devices.hpp"
#include "takt/motion/loop.hpp"
#include "takt/record/recorder.hpp"
#include "takt/robot/description.hpp"

namespace takt::app {

/// The metadata of a recording of this robot. `created` is that of record::Metadata.
[[nodiscard]] record::Metadata describe_recording(const robot::RobotDescription& robot, std::string created);

/// Records every cycle and event of a loop, and the load of the buses ten times a second. The position
/// and velocity of a drive are NaN before its first answer. Real-time safe after construction.
class LoopRecorder final : public motion::LoopObserver {
 public:
  /// The lane and the devices must outlive the recorder. Without devices, no load of buses is recorded.
  LoopRecorder(const robot::RobotDescription& robot, record::Lane& lane, const Devices* devices);

  void before_cycle(Time now) noexcept override { now_ = now; }
  void on_event(const motion::Event& event) noexcept override;
  void after_cycle(const motion::Snapshot& snapshot) noexcept override;

 private:
  void record_buses(Time now) noexcept;

  record::Lane* lane_;
  const Devices* devices_;
  std::uint64_t cycles_between_bus_records_;
  Time now_{};
  Time last_record_{};
  std::vector<robot::BusTraffic> before_;
  std::vector<record::BusSample> samples_;
  std::vector<bool> heard_;  ///< whether a drive has told its position
};

}  // namespace takt::app
