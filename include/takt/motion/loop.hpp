// The control loop: a manager (robot/manager.hpp) with the trajectory controller, over a clock. Once per
// period it reads the drives, runs all controllers, writes the drives, and publishes the state and the
// events. Over a wall clock it is the real-time thread of a robot. Over a ManualClock the same code runs a
// simulation as fast as the processor can, with the same numbers on every run.
//
// The robot's overrun policy says how the loop continues after a late cycle (rt/periodic_loop.hpp). Two
// limits bound the cycles that it catches up: the robot's overrun limit, and half of the cycles that a drive
// may leave unanswered. If the loop misses more periods in a row than the overrun limit, the robot comes to a
// bounded stop with the reason loop_overrun. Under every policy the reference moves by one period per
// executed cycle.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "takt/component/boundary_calls.hpp"
#include "takt/component/drivers.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/motion/channels.hpp"
#include "takt/motion/joint_trajectory.hpp"
#include "takt/motion/robot_cycle.hpp"
#include "takt/robot/device.hpp"
#include "takt/robot/hardware.hpp"
#include "takt/robot/manager.hpp"
#include "takt/rt/periodic_loop.hpp"
#include "takt/rt/tracer.hpp"

namespace takt::motion {

/// All that enters one cycle besides the readings of the devices and the time.
struct LoopInputs {
  std::uint64_t cycle = 0;     ///< rt::Tick::index
  std::uint32_t requests = 0;  ///< taken from the ring in this cycle
  bool shut_down = false;      ///< Loop::shut_down() was called before
  bool reset = false;          ///< Loop::reset() was called since the cycle before
};

/// Observes a loop from inside its thread: a simulation that steps, or a recorder. The loop calls every
/// function on its own thread, so each must be real-time safe.
///
/// It may also be the witness of the manager's context. Then ran() is called for each noted change to the
/// controllers: between on_inputs() and after_cycle(), between two cycles, or before the first.
class LoopObserver : public component::CallWitness {
 public:
  LoopObserver(const LoopObserver&) = delete;
  LoopObserver& operator=(const LoopObserver&) = delete;

  /// Called first in the cycle that is due at `now`.
  virtual void before_cycle(Time now) noexcept = 0;
  /// Called when all inputs are known, before the cycle computes.
  virtual void on_inputs(const LoopInputs& /*inputs*/) noexcept {}
  void ran(const component::CallNote& /*note*/) noexcept override {}
  /// Called with the result of the cycle, before the loop publishes it.
  virtual void after_cycle(const Snapshot& snapshot) noexcept = 0;
  /// Called for each event of the cycle that the events ring took.
  virtual void on_event(const Event& event) noexcept = 0;

 protected:
  LoopObserver() = default;
};

/// The name of the trajectory controller in a loop's manager.
inline constexpr const char* trajectory_controller = "trajectory";

/// The loop of one robot over a clock C.
template <Clock C>
class Loop {
 public:
  /// Allocates all memory. The arguments must outlive the loop. `tracer`: records what each cycle does, while
  /// it is on. Every other function is real-time safe. Errors: those of robot::Manager for its device and its
  /// controller, which the description of a robot with more than 64 joints has.
  [[nodiscard]] static SetupResult<std::unique_ptr<Loop>> create(C& clock,
                                                                 const robot::RobotDescription& robot,
                                                                 robot::Hardware& hardware,
                                                                 Channels& channels, LoopObserver& observer,
                                                                 rt::Tracer* tracer = nullptr) {
    std::unique_ptr<Loop> loop(new Loop(clock, robot, hardware, channels, observer, tracer));
    robot::Manager& manager = loop->manager_;
    SetupResult<void> done = manager.add(loop->drives_);
    if (done) done = manager.load(loop->controller_);
    if (done) done = manager.switch_controllers({.start = {trajectory_controller}});
    if (!done) return tl::unexpected<SetupError>(std::move(done.error()));
    return loop;
  }
  ~Loop() {
    if (runs_) stop(manager_.now());
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Devices and controllers. Other threads may load and switch them while the loop runs.
  [[nodiscard]] robot::Manager& manager() noexcept { return manager_; }
  [[nodiscard]] component::ExecutionContext& context() noexcept { return manager_.context(); }

  /// Runs until the robot is down, which follows a shut_down() or a shutdown request after the controlled
  /// stop. Error: rt::Errc::period_not_positive; those of start().
  Status run() noexcept { return component::run_cycles(*this, *clock_, beat_, &statistics_); }

  /// Requests a controlled stop and the end of run(). Callable from any thread or signal handler.
  void shut_down() noexcept {
    // Relaxed: the flag stands alone, and no other data is published with it.
    shutdown_asked_.store(true, std::memory_order_relaxed);
  }

  /// Requests once that the robot leaves a latched stop, as a reset request does. In any other state nothing
  /// happens. Callable from any thread and from a signal handler.
  void reset() noexcept {
    // relaxed: as above.
    reset_asked_.store(true, std::memory_order_relaxed);
  }

  /// Makes the calling thread the manager's, for a caller that keeps the period itself. Its first cycle()
  /// does so, too. Errors: those of Manager::start().
  Status start(Time now) noexcept {
    if (const Status status = manager_.start(now); !status) return status;
    runs_ = true;
    last_woke_ = now;
    return {};
  }
  /// Ends what start() began. `now` is the time at which controllers and devices are deactivated.
  void stop(Time now) noexcept {
    runs_ = false;
    manager_.stop(now);
  }
  /// Runs one cycle. Returns Verdict::stop once the robot is down.
  rt::Verdict cycle(const rt::Tick& tick) noexcept {
    if (!runs_ && !start(tick.due)) return rt::Verdict::stop;
    manager_.set_tracer(tick.tracer);
    observer_->before_cycle(tick.due);
    LoopInputs inputs{.cycle = tick.index};
    inputs.shut_down = shutdown_asked_.load(std::memory_order_relaxed);
    if (inputs.shut_down) cycle_.shut_down();
    cycle_.begin(tick.due, tick.woke - std::exchange(last_woke_, tick.woke), tick.missed);
    // One that comes in between is served by this one.
    inputs.reset = reset_asked_.load(std::memory_order_relaxed);
    if (inputs.reset) {
      reset_asked_.store(false, std::memory_order_relaxed);
      cycle_.reset();
    }
    Request* request = nullptr;
    for (; cycle_.accepts_requests() && channels_->requests.try_pop(request); ++inputs.requests)
      cycle_.submit(*request);
    observer_->on_inputs(inputs);
    cycle_.advance();
    const Time written = clock_->now();
    publish(tick);
    cycle_.deliver(written, [this](const Event& event) noexcept {
      if (!channels_->events.try_push(event)) return false;
      observer_->on_event(event);
      return true;
    });
    return cycle_.state() == RobotState::down ? rt::Verdict::stop : rt::Verdict::proceed;
  }

  /// Statistics of the last run() that ended.
  [[nodiscard]] const rt::LoopStatistics& statistics() const noexcept { return statistics_; }

 private:
  Loop(C& clock, const robot::RobotDescription& robot, robot::Hardware& hardware, Channels& channels,
       LoopObserver& observer, rt::Tracer* tracer)
      : clock_(&clock),
        beat_{.period = robot.period,
              .overrun = robot.overrun,
              .catch_up_limit = catch_up_limit(robot),
              .tracer = tracer},
        channels_(&channels),
        observer_(&observer),
        drives_("drives", hardware),
        manager_(robot) {}

  /// The most cycles to catch up. Caught-up cycles query the drives faster than these can answer, and this
  /// must not count as silence.
  static std::uint32_t catch_up_limit(const robot::RobotDescription& robot) noexcept {
    return std::min(robot.overrun_limit, (robot.silence_limit() - 1) / 2);
  }

  void publish(const rt::Tick& tick) noexcept {
    Snapshot& snapshot = channels_->state.begin_write();
    cycle_.describe(snapshot);
    snapshot.loop = {tick.index + 1, tick.overruns, tick.lateness, tick.busy};
    const rt::TraceScope span(tick.tracer, record_);
    observer_->after_cycle(snapshot);
    channels_->state.publish();
  }

  C* clock_;
  rt::PeriodicConfig beat_;
  Channels* channels_;
  LoopObserver* observer_;
  robot::DriveDevice drives_;
  std::shared_ptr<JointTrajectoryController> controller_ =
      std::make_shared<JointTrajectoryController>(trajectory_controller);
  robot::Manager manager_;
  RobotCycle cycle_{manager_, *controller_};
  rt::TextId record_ = rt::intern("record");
  bool runs_ = false;  ///< this thread is the manager's
  Time last_woke_{};
  std::atomic<bool> shutdown_asked_{false};
  std::atomic<bool> reset_asked_{false};
  rt::LoopStatistics statistics_;
};

}  // namespace takt::motion
