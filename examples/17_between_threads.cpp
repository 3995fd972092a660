// A loop of 1 kHz turns a joint to a goal. A thread without deadlines sets the goal and the gains, reads the
// feedback, and prints what the loop says, stamped with wall time. No side takes a lock or waits. Those who
// know realtime_tools of ROS find its classes here under their names.
//
// Prints a line for each tenth of a second. Exit code: 0 if the joint arrived.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>

#include "takt/control/pid.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/rt/periodic_loop.hpp"
#include "takt/rt/realtime_box.hpp"
#include "takt/rt/realtime_buffer.hpp"
#include "takt/rt/realtime_clock.hpp"
#include "takt/rt/realtime_goal_handle.hpp"
#include "takt/rt/realtime_publisher.hpp"

using namespace takt;
using namespace std::chrono_literals;

namespace {

struct Report {
  Time wall;            ///< since 1970
  double position = 0;  ///< rad
};
struct Distance {
  double left = 0;  ///< rad
};
struct Goal {
  double position = 0;  ///< rad
  rt::RealtimeGoalHandle<rt::NoGoalData, Distance> handle;
};

Time wall_time() {
  return Time(std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

/// A motor behind a gear.
struct Plant {
  double position = 0;  ///< rad
  double velocity = 0;  ///< rad/s

  void push(double torque, double seconds) noexcept {
    velocity += seconds * (torque - 0.6 * velocity) / 0.1;
    position += seconds * velocity;
  }
};

/// What the loop and the other thread share.
struct Shared {
  rt::RealtimeBuffer<control::PidGains> gains;
  rt::RealtimeBuffer<std::shared_ptr<Goal>> goal;
  rt::RealtimeBox<double> torque_limit{2.0};  ///< N m; the loop lowers it when the motor is warm
  rt::RealtimeClock wall;
  rt::RealtimePublisher<Report> publisher{[](const Report& report) {
    std::printf("%.3f s  %.4f rad\n", to_seconds(report.wall.time_since_epoch() % Duration(60s)),
                report.position);
  }};
};

/// The loop's function.
class Axis {
 public:
  explicit Axis(Shared& shared) : shared_(&shared) {}

  rt::Verdict operator()(const rt::Tick& tick) noexcept {
    const control::PidGains* const gains = shared_->gains.read();
    const std::shared_ptr<Goal>* const goal = shared_->goal.read();
    if (gains == nullptr || goal == nullptr) return rt::Verdict::proceed;
    if (gains != known_gains_) static_cast<void>(pid_.set(*gains));
    known_gains_ = gains;
    if (tick.index == 1000) shared_->torque_limit.realtime().set(1.0);

    const double limit = shared_->torque_limit.realtime().get();
    const double torque = pid_.step((*goal)->position, plant_.position, 0.001).value;
    plant_.push(std::clamp(torque, -limit, limit), 0.001);

    const double left = (*goal)->position - plant_.position;
    (*goal)->handle.set_feedback({left});
    if (std::abs(left) < 0.001 && std::abs(plant_.velocity) < 0.01) (*goal)->handle.set_succeeded();
    if ((*goal)->handle.cancel_requested()) (*goal)->handle.set_canceled();
    if (const auto wall = shared_->wall.at(tick.woke); wall && tick.index % 100 == 0)
      shared_->publisher.try_publish({*wall, plant_.position});
    return ends_.load(std::memory_order_relaxed) ? rt::Verdict::stop : rt::Verdict::proceed;
  }
  /// Any thread may call it.
  void end() noexcept { ends_.store(true, std::memory_order_relaxed); }

 private:
  Shared* shared_;
  control::Pid pid_ = control::Pid::make({}).value();
  const control::PidGains* known_gains_ = nullptr;
  Plant plant_;
  std::atomic<bool> ends_{false};
};

}  // namespace

int main() {
  platform::SteadyClock clock;
  auto loop = rt::PeriodicLoop<platform::SteadyClock>::create(clock, {.period = 1ms});
  if (!loop) return 1;
  Shared shared;
  Axis axis(shared);
  std::thread thread([&] { loop->run([&](const rt::Tick& tick) noexcept { return axis(tick); }); });

  control::PidGains gains;
  gains.proportional = 14;
  gains.derivative = 0.8;
  shared.gains.write(gains);
  auto goal = std::make_shared<Goal>();
  goal->position = 1;
  shared.goal.write(goal);

  bool arrived = false;
  bool over = false;
  for (int i = 0; !over; ++i) {
    const Time before = clock.now();
    const Time wall = wall_time();
    static_cast<void>(shared.wall.observe(before, wall, clock.now()));
    if (i == 40) shared.torque_limit.other().set(1.5);
    if (i == 6000) goal->handle.request_cancel();  // after a minute
    over = goal->handle.run_non_realtime(
        [&](const Distance& distance) {
          if (i % 20 == 0) std::printf("%.4f rad to go\n", distance.left);
        },
        [&](rt::GoalOutcome outcome, const rt::NoGoalData&) {
          arrived = outcome == rt::GoalOutcome::succeeded;
        });
    std::this_thread::sleep_for(10ms);
  }
  axis.end();
  thread.join();
  std::puts(arrived ? "arrived" : "did not arrive");
  return arrived ? 0 : 1;
}
