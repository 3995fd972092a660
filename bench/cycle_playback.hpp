// A control loop on buses that play back the recorded frames of simulated drives. So the cycle is measured
// without simulation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "takt/can/frame.hpp"
#include "takt/core/manual_clock.hpp"
#include "takt/drives/hubo/hubo_hardware.hpp"
#include "takt/drives/registry.hpp"
#include "takt/drives/servo/servo_hardware.hpp"
#include "takt/motion/loop.hpp"
#include "takt/sim/robot_simulation.hpp"
#include "takt/trajectory/through.hpp"

namespace takt::bench {

/// Passes frames to a simulated bus and records the replies, cycle by cycle. Later it plays them back without
/// the bus.
class PlaybackBus {
 public:
  explicit PlaybackBus(sim::VirtualCanBus::Port port) : port_(port) {}

  std::size_t send(std::span<const can::Frame> frames) noexcept {
    return playing_ ? frames.size() : port_.send(frames);
  }

  std::size_t receive(std::span<can::Frame> frames) noexcept {
    if (!playing_) {
      const std::size_t count = port_.receive(frames);
      cycles_.back().insert(cycles_.back().end(), frames.begin(),
                            frames.begin() + static_cast<std::ptrdiff_t>(count));
      return count;
    }
    const std::vector<can::Frame>& now = cycles_[cycle_];
    const std::size_t count = std::min(frames.size(), now.size() - next_);
    for (std::size_t i = 0; i < count; ++i) {
      frames[i] = now[next_++];
      frames[i].stamp += shift_;
    }
    return count;
  }

  void begin_recorded_cycle() { cycles_.emplace_back(); }
  /// Plays from the frames of cycle `first` on, repeatedly.
  void play_from(std::size_t first) {
    cycles_.erase(cycles_.begin(), cycles_.begin() + static_cast<std::ptrdiff_t>(first));
    playing_ = true;
    next_ = 0;
  }
  void next_cycle(Duration length) noexcept {
    next_ = 0;
    if (++cycle_ == cycles_.size()) {
      cycle_ = 0;
      shift_ += length * static_cast<Duration::rep>(cycles_.size());
    }
  }

 private:
  sim::VirtualCanBus::Port port_;
  std::vector<std::vector<can::Frame>> cycles_;
  bool playing_ = false;
  std::size_t cycle_ = 0;
  std::size_t next_ = 0;
  Duration shift_{};
};

/// The loop of a robot of examples/robots, in the middle of a motion of all joints.
class CyclePlayback {
 public:
  explicit CyclePlayback(const std::string& name)
      : robot_(*drives::load_robot_file(TAKT_SOURCE_DIR "/examples/robots/" + name + ".json")),
        world_(*sim::RobotSimulation::create(robot_)) {
    for (std::size_t i = 0; i < robot_.buses.size(); ++i) buses_.emplace_back(world_.host(i));
    std::vector<PlaybackBus*> buses;
    for (PlaybackBus& bus : buses_) buses.push_back(&bus);
    const std::span<PlaybackBus* const> all(buses);
    if (robot_.buses[0].protocol == drives::find("hubo")) {
      hardware_ = std::move(*drives::HuboHardware<PlaybackBus>::create(robot_, all));
    } else {
      hardware_ = std::move(*drives::ServoHardware<PlaybackBus>::create(robot_, all));
    }
    loop_ = std::move(*motion::Loop<ManualClock>::create(clock_, robot_, *hardware_, channels_, observer_));
    tick_.due = Time{};
    for (std::size_t i = 0; i < warm_up_cycles; ++i) recorded_cycle();
    make_request();
    static_cast<void>(channels_.requests.try_push(&request_));
    for (std::size_t i = 0; i < played_cycles; ++i) recorded_cycle();
    for (PlaybackBus& bus : buses_) bus.play_from(warm_up_cycles);
  }

  /// One cycle of the loop, exactly as on a robot.
  void cycle() noexcept {
    beat();
    for (PlaybackBus& bus : buses_) bus.next_cycle(robot_.period);
  }

  [[nodiscard]] bool ready() noexcept {
    static_cast<void>(channels_.state.update());
    const motion::Snapshot& snapshot = channels_.state.value();
    return snapshot.state == motion::RobotState::ready && snapshot.active_goals == 1;
  }

 private:
  static constexpr std::size_t warm_up_cycles = 2000;
  static constexpr std::size_t played_cycles = 1000;

  class Silent final : public motion::LoopObserver {
   public:
    void before_cycle(Time) noexcept override {}
    void on_event(const motion::Event&) noexcept override {}
    void after_cycle(const motion::Snapshot&) noexcept override {}
  };

  void beat() noexcept {
    clock_.sleep_until(tick_.due);
    tick_.woke = tick_.due;
    static_cast<void>(loop_->cycle(tick_));
    ++tick_.index;
    tick_.due += robot_.period;
  }
  void recorded_cycle() {
    world_.advance(tick_.due);
    for (PlaybackBus& bus : buses_) bus.begin_recorded_cycle();
    beat();
  }

  /// A hundred waypoints, so slow that the joints stay within the tolerance of the recorded positions.
  void make_request() {
    constexpr std::size_t waypoints = 100;
    const std::size_t joints = robot_.joints.size();
    std::vector<double> times;
    std::vector<double> positions;
    for (std::size_t k = 0; k < waypoints; ++k) {
      times.push_back(static_cast<double>(k) * 5000);
      for (std::size_t j = 0; j < joints; ++j) {
        positions.push_back(robot_.joints[j].plant.start + (k % 2 == 0 ? 0.0 : 0.02));
      }
    }
    const trajectory::Waypoints through{joints, times, positions, {}, {}};
    request_.kind = motion::RequestKind::trajectory;
    request_.goal = 1;
    request_.joints = JointSet::first(joints);
    request_.trajectory = std::move(*trajectory::through(through, trajectory::Through::smooth));
    request_.lead = trajectory::PointToPoint<>(joints);
    for (const robot::JointDescription& joint : robot_.joints) {
      request_.limits.push_back(joint.limits);
      request_.path_tolerance.push_back({joint.following_error, 0, 0});
    }
    request_.may_be_late = true;
  }

  robot::RobotDescription robot_;
  sim::RobotSimulation world_;
  std::vector<PlaybackBus> buses_;
  std::unique_ptr<robot::Hardware> hardware_;
  ManualClock clock_;
  motion::Channels channels_;
  Silent observer_;
  motion::Request request_;
  std::unique_ptr<motion::Loop<ManualClock>> loop_;
  rt::Tick tick_;
};

}  // namespace takt::bench
