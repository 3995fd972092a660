// Samples of a running loop for live streams, and the observer that takes them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "takt/app/devices.hpp"
#include "takt/motion/loop.hpp"
#include "takt/shm/broadcast_ring.hpp"

namespace takt::app {

/// The most buses in a sample; further ones are left out.
inline constexpr std::size_t max_live_buses = 16;

/// The robot at one cycle, for people.
struct LiveSample {
  struct Joint {
    double position = 0;
    double velocity = 0;
    double effort = 0;
    double reference_position = 0;
    double reference_velocity = 0;
  };

  Time time{};
  motion::RobotState state{};
  motion::Errc reason{};
  std::uint8_t reason_joint = 0;
  std::uint8_t joint_count = 0;
  std::uint16_t active_goals = 0;
  motion::LoopSnapshot loop;  ///< its lateness and busy time: the longest since the last sample
  std::array<robot::BusTraffic, max_live_buses> buses{};
  std::array<Joint, max_joints> joints{};
};

using LiveRing = shm::BroadcastRing<LiveSample>;

/// Writes one sample every few cycles. Real-time safe after construction.
class LiveTap final : public motion::LoopObserver {
 public:
  /// The ring and the devices must outlive the tap. Without devices, samples have no traffic of buses.
  LiveTap(LiveRing& ring, const Devices* devices, std::uint64_t cycles_between_samples)
      : ring_(&ring), devices_(devices), cycles_between_samples_(cycles_between_samples) {}

  void before_cycle(Time) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    longest_lateness_ = std::max(longest_lateness_, snapshot.loop.lateness);
    longest_busy_ = std::max(longest_busy_, snapshot.loop.busy);
    if (snapshot.loop.cycles % cycles_between_samples_ != 0 && snapshot.state == last_state_) return;
    last_state_ = snapshot.state;
    take(snapshot);
    ring_->write(sample_);
  }

 private:
  void take(const motion::Snapshot& snapshot) noexcept {
    sample_.time = snapshot.time;
    sample_.state = snapshot.state;
    sample_.reason = snapshot.reason;
    sample_.reason_joint = snapshot.reason_joint;
    sample_.joint_count = snapshot.joint_count;
    sample_.active_goals = snapshot.active_goals;
    sample_.loop = snapshot.loop;
    sample_.loop.lateness = std::exchange(longest_lateness_, Duration(0));
    sample_.loop.busy = std::exchange(longest_busy_, Duration(0));
    for (std::size_t i = 0; i < snapshot.joint_count; ++i) {
      const motion::JointSnapshot& joint = snapshot.joints[i];
      constexpr double none = std::numeric_limits<double>::quiet_NaN();
      sample_.joints[i] = {joint.measured_position, joint.measured_velocity,
                           joint.has_effort ? joint.measured_effort : none, joint.reference.position,
                           joint.reference.velocity};
    }
    if (devices_ == nullptr) return;
    for (std::size_t i = 0; i < std::min(devices_->bus_count(), max_live_buses); ++i)
      sample_.buses[i] = devices_->traffic(i);
  }

  LiveRing* ring_;
  const Devices* devices_;
  std::uint64_t cycles_between_samples_;
  motion::RobotState last_state_{};
  Duration longest_lateness_{};
  Duration longest_busy_{};
  LiveSample sample_;
};

}  // namespace takt::app
