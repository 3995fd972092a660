// Puts what a loop does into a recording: the joint between the rooms motion and record, which do not know each other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "takt/motion/loop.hpp"
#include "takt/record/recorder.hpp"
#include "takt/robot/description.hpp"
#include "takt/sim/robot_simulation.hpp"

namespace takt::tools {

/// What a recording of this robot says about itself. `created` as record::Metadata has it.
[[nodiscard]] record::Metadata describe_recording(const robot::RobotDescription& robot, std::string created);

/// Records every cycle and event of a loop, and the load of the simulated buses ten times a second. Real-time safe after
/// construction.
class LoopRecorder final : public motion::LoopObserver {
 public:
  /// The lane and the simulation must outlive the recorder.
  LoopRecorder(const robot::RobotDescription& robot, record::Lane& lane,
               const sim::RobotSimulation& simulation);

  void before_cycle(Time now) noexcept override { now_ = now; }
  void on_event(const motion::Event& event) noexcept override;
  void after_cycle(const motion::Snapshot& snapshot) noexcept override;

 private:
  void record_buses(Time now) noexcept;

  record::Lane* lane_;
  const sim::RobotSimulation* simulation_;
  std::uint64_t cycles_between_bus_records_;
  Time now_{};
  std::vector<sim::BusStatistics> before_;
  std::vector<record::BusSample> samples_;
};

}  // namespace takt::tools
