// The control loop: once per period it reads the drives, lets the engine compute, writes the drives, and publishes what
// happened. Over a wall clock it is the real-time thread of a robot; over a ManualClock the same code runs a simulation as fast
// as the processor goes, with the same numbers on every run.
//
// When a cycle is late, the robot's overrun policy says how the loop goes on (rt/periodic_loop.hpp). Its overrun limit bounds
// the cycles that are caught up; half of those that drives may leave unanswered bounds them, too. Missing more periods in a row
// than the limit is a fault: the robot comes to a bounded stop with the reason loop_overrun. Under every policy the reference moves by one period
// for each executed cycle.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "takt/core/time.hpp"
#include "takt/motion/channels.hpp"
#include "takt/motion/engine.hpp"
#include "takt/robot/hardware.hpp"
#include "takt/rt/periodic_loop.hpp"

namespace takt::motion {

/// Watches a loop from inside its thread: a simulation that has to be moved on, a recorder. Every function is called on the
/// loop's thread and must be real-time safe.
class LoopObserver {
 public:
  virtual ~LoopObserver() = default;
  LoopObserver(const LoopObserver&) = delete;
  LoopObserver& operator=(const LoopObserver&) = delete;

  /// Before anything of the cycle that is due at `now`.
  virtual void before_cycle(Time now) noexcept = 0;
  /// What the cycle made, before it is published.
  virtual void after_cycle(const Snapshot& snapshot) noexcept = 0;
  /// An event of the cycle on its way to the outside.
  virtual void on_event(const Event& event) noexcept = 0;

 protected:
  LoopObserver() = default;
};

template <Clock C>
class Loop {
 public:
  /// Sizes everything; the arguments must outlive the loop. Not real-time safe; everything else is.
  Loop(C& clock, const robot::RobotDescription& robot, robot::Hardware& hardware, Channels& channels,
       LoopObserver& observer)
      : clock_(&clock),
        beat_{.period = robot.period, .overrun = robot.overrun, .catch_up_limit = catch_up_limit(robot)},
        hardware_(&hardware),
        channels_(&channels),
        observer_(&observer),
        engine_(robot),
        feedback_(robot.joints.size()),
        commands_(robot.joints.size()) {}

  /// Runs until the robot is down: after shut_down(), or a shutdown request, and the controlled stop that follows.
  /// Fails only with rt::Errc::period_not_positive.
  Status run() noexcept {
    auto beat = rt::PeriodicLoop<C>::create(*clock_, beat_);
    if (!beat) return fail(beat.error());
    beat->run([this](const rt::Tick& tick) noexcept { return cycle(tick); });
    statistics_ = beat->statistics();
    return {};
  }

  /// Asks for a controlled stop and the end of run(). From any thread or signal handler.
  void shut_down() noexcept {
    // relaxed: a flag on its own; nothing is published with it.
    shutdown_asked_.store(true, std::memory_order_relaxed);
  }

  /// Asks once for the end of a latched stop, as a reset request does. Nothing happens in any other state. From any thread or
  /// signal handler.
  void reset() noexcept {
    // relaxed: as above.
    reset_asked_.store(true, std::memory_order_relaxed);
  }

  /// One cycle, for owners that keep the beat themselves.
  rt::Verdict cycle(const rt::Tick& tick) noexcept {
    observer_->before_cycle(tick.due);
    hardware_->read(tick.due, feedback_);
    if (shutdown_asked_.load(std::memory_order_relaxed)) engine_.shut_down();
    engine_.begin(tick.due, feedback_, tick.missed);
    if (reset_asked_.load(std::memory_order_relaxed)) {
      reset_asked_.store(false,
                         std::memory_order_relaxed);  // one that comes in between is served by this one
      engine_.reset();
    }
    Request* request = nullptr;
    while (engine_.accepts_requests() && channels_->requests.try_pop(request)) engine_.submit(*request);
    engine_.advance(commands_);
    hardware_->write(tick.due, commands_);
    const Time written = clock_->now();
    publish(tick);
    engine_.deliver(written, [this](const Event& event) noexcept {
      if (!channels_->events.try_push(event)) return false;
      observer_->on_event(event);
      return true;
    });
    return engine_.state() == RobotState::down ? rt::Verdict::stop : rt::Verdict::proceed;
  }

  /// Of the run that ended last.
  [[nodiscard]] const rt::LoopStatistics& statistics() const noexcept { return statistics_; }

 private:
  /// The most cycles to catch up. They ask the drives faster than these can answer, which must not look like silence.
  static std::uint32_t catch_up_limit(const robot::RobotDescription& robot) noexcept {
    return std::min(robot.overrun_limit, (robot.silence_limit() - 1) / 2);
  }

  void publish(const rt::Tick& tick) noexcept {
    Snapshot& snapshot = channels_->state.begin_write();
    engine_.describe(snapshot);
    snapshot.loop = {tick.index + 1, tick.overruns, tick.lateness, tick.busy};
    snapshot.hardware = hardware_->counters();
    observer_->after_cycle(snapshot);
    channels_->state.publish();
  }

  C* clock_;
  rt::PeriodicConfig beat_;
  robot::Hardware* hardware_;
  Channels* channels_;
  LoopObserver* observer_;
  Engine engine_;
  std::vector<robot::JointFeedback> feedback_;
  std::vector<robot::JointCommand> commands_;
  std::atomic<bool> shutdown_asked_{false};
  std::atomic<bool> reset_asked_{false};
  rt::LoopStatistics statistics_;
};

}  // namespace takt::motion
