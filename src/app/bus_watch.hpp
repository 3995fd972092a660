// Tells another thread which buses do not acknowledge the frames of the loop.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/app/devices.hpp"
#include "takt/motion/loop.hpp"
#include "takt/robot/description.hpp"

namespace takt::app {

/// Reads the counts in each cycle. A bus is told at the first missing acknowledges, and again whenever their
/// number has grown tenfold.
class BusWatch final : public motion::LoopObserver {
 public:
  BusWatch(const Devices& devices, const robot::RobotDescription& robot)
      : devices_(&devices),
        robot_(&robot),
        counts_(robot.buses.size()),
        due_(robot.buses.size(), first_due) {}

  void before_cycle(Time) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot&) noexcept override {
    // Relaxed: a count for reports, which orders nothing.
    for (std::size_t bus = 0; bus < counts_.size(); ++bus)
      counts_[bus].store(devices_->traffic(bus).unacknowledged, std::memory_order_relaxed);
  }

  /// The next complaint; std::nullopt if there is none. For one other thread. Allocates.
  [[nodiscard]] std::optional<std::string> next() {
    for (std::size_t bus = 0; bus < counts_.size(); ++bus) {
      const std::uint64_t count = counts_[bus].load(std::memory_order_relaxed);
      if (count < due_[bus]) continue;
      due_[bus] = 10 * count;
      return describe_unacknowledged(robot_->buses[bus], count);
    }
    return std::nullopt;
  }

 private:
  /// A drive that is switched on late, or a frame that is lost, is no complaint.
  static constexpr std::uint64_t first_due = 10;

  const Devices* devices_;
  const robot::RobotDescription* robot_;
  std::vector<std::atomic<std::uint64_t>> counts_;
  std::vector<std::uint64_t> due_;
};

}  // namespace takt::app
