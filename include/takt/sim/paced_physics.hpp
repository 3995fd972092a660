// Physics under a clock that does not wait for them. Slow ones delay the loop, which then has to simulate
// more time, which delays it further. These say so, and leave out steps before the loop is away for good.
//
//     sim::PacedPhysics paced(*mujoco, clock, 20ms);  // about what the robot's loop may miss
//     options.devices.physics = &paced;
//     if (const auto lag = paced.next_lag()) complain(lag->cost);  // now and then
//
// Real-time safe as far as the physics are.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>

#include "takt/core/time.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/sim/joint_physics.hpp"

namespace takt::sim {

/// How slow physics are.
struct PhysicsLag {
  Duration behind{};  ///< from the time of the newest step to the clock
  double cost = 0;    ///< seconds of the clock for a second of the physics
};

/// Other physics, and a look at the clock before each of their steps. One thread, besides next_lag().
template <Clock C>
class PacedPhysics final : public JointPhysics {
 public:
  /// Physics that are late without a break for this long, and do not catch up, are too slow.
  static constexpr Duration patience = std::chrono::milliseconds(200);
  /// A lag beyond this counts as late, whatever the loop may miss.
  static constexpr Duration latest = std::chrono::seconds(1);

  /// `physics` and `clock` must outlive this. Physics that are too slow leave out steps while they are more
  /// than `allowed` behind.
  PacedPhysics(JointPhysics& physics, C& clock, Duration allowed) noexcept
      : physics_(&physics), clock_(&clock), allowed_(allowed), reached_(clock.now()) {}

  [[nodiscard]] std::span<PhysicsJoint> joints() noexcept override { return physics_->joints(); }
  [[nodiscard]] Duration step_time() const noexcept override { return physics_->step_time(); }
  void step() noexcept override {
    const Time now = clock_->now();
    reached_ = std::min(reached_ + step_time(), now);  // the loop simulates no time that has not passed
    watch(now);
    if (is_slow_ && now - reached_ > allowed_) return;
    physics_->step();
    passed_ += step_time();
  }

  /// The newest lag, at most every `patience`; std::nullopt without news. For one thread, which need not be
  /// that of step().
  [[nodiscard]] std::optional<PhysicsLag> next_lag() noexcept {
    PhysicsLag lag;
    if (lags_.read(lag) != shm::Freshness::new_data) return std::nullopt;
    return lag;
  }

 private:
  void watch(Time now) noexcept {
    if (now - reached_ <= std::min(allowed_, latest)) {
      is_late_ = is_slow_ = false;
      return;
    }
    const Duration taken = now - late_since_;
    if (is_late_ && taken < patience) return;
    if (is_late_ && passed_ > Duration{}) {
      is_slow_ = taken > passed_;  // else they catch up
      if (is_slow_) lags_.write({now - reached_, to_seconds(taken) / to_seconds(passed_)});
    }
    is_late_ = true;
    late_since_ = now;
    passed_ = {};
  }

  JointPhysics* physics_;
  C* clock_;
  Duration allowed_;
  Time reached_;  ///< what the loop has simulated
  bool is_late_ = false;
  bool is_slow_ = false;
  Time late_since_{};  ///< or since the last judgement
  Duration passed_{};  ///< in the steps since then
  shm::LatestValue<PhysicsLag> lags_;
};

}  // namespace takt::sim
