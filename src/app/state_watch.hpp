// Passes the changes of a robot's state to another thread, and how it is while it starts.
#pragma once

#include <chrono>
#include <optional>

#include "takt/motion/loop.hpp"
#include "takt/motion/wire.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::app {

/// All changes of the robot's state, in order, also those that last only one cycle.
class StateWatch final : public motion::LoopObserver {
 public:
  struct Seen {
    motion::RobotState state = motion::RobotState::starting;
    motion::Event cause;       ///< its reason is Errc{} for none
    bool is_reminder = false;  ///< it still starts, for the same reason

    /// Compares without the cause's numbers, which change in each cycle while a robot waits for its drives.
    [[nodiscard]] bool is_like(const Seen& other) const noexcept {
      return state == other.state && cause.reason == other.cause.reason && cause.joint == other.cause.joint;
    }
  };

  /// A robot that starts, or has just become ready.
  struct Start {
    motion::Snapshot robot;
    Duration passed{};  ///< since it began to start
  };

  void before_cycle(Time) noexcept override {}
  void on_event(const motion::Event&) noexcept override {}
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    Seen seen{snapshot.state, motion::cause_of(snapshot)};
    const bool starts = seen.state == motion::RobotState::starting;
    if (starts || is_starting_ || !last_) note_start(snapshot, starts);
    if (is_fault(seen.cause.reason)) fault_ = seen.cause;
    const bool is_as_wished =
        seen.state == motion::RobotState::ready || seen.cause.reason == motion::Errc::power_off;
    if (is_as_wished) fault_ = {};
    seen.is_reminder = last_ && seen.is_like(*last_);
    if (seen.is_reminder && !(starts && snapshot.time >= next_reminder_)) return;
    if (!changes_.try_push(seen)) return;  // a full ring: the next cycle tries again
    last_ = seen;
    if (seen.is_reminder) next_reminder_ = snapshot.time + between_reminders;
  }
  /// The next change; std::nullopt if there is none. For one other thread.
  [[nodiscard]] std::optional<Seen> next() noexcept {
    Seen seen;
    if (!changes_.try_pop(seen)) return std::nullopt;
    return seen;
  }
  /// The robot as it was while it started, at most between_notes before; or as it became ready. Its
  /// joint_count is 0 before the first cycle. For the same thread.
  [[nodiscard]] const Start& start() noexcept {
    static_cast<void>(start_.update());
    return start_.value();
  }
  /// The fault that the robot has not recovered from; call it after the loop's end.
  [[nodiscard]] const motion::Event& fault() const noexcept { return fault_; }

 private:
  /// An operator's stop and the end of the process are not faults.
  [[nodiscard]] static bool is_fault(motion::Errc reason) noexcept {
    return reason != motion::Errc{} && reason != motion::Errc::shutting_down &&
           reason != motion::Errc::emergency_stop && reason != motion::Errc::power_off;
  }

  static constexpr Duration between_reminders = std::chrono::seconds(3);
  static constexpr Duration between_notes = std::chrono::milliseconds(100);

  void note_start(const motion::Snapshot& robot, bool starts) noexcept {
    if (starts && !is_starting_) {
      begun_ = next_note_ = robot.time;
      next_reminder_ = robot.time + between_reminders;
    }
    is_starting_ = starts;
    if (starts && robot.time < next_note_) return;
    next_note_ = robot.time + between_notes;
    Start& start = start_.begin_write();
    start.robot = robot;
    start.passed = robot.time - begun_;
    start_.publish();
  }

  shm::SpscRing<Seen> changes_{64};
  shm::LatestValue<Start> start_;
  bool is_starting_ = false;
  Time begun_{};
  Time next_note_{};
  Time next_reminder_{};
  std::optional<Seen> last_;  ///< the last change that was pushed
  motion::Event fault_;
};

}  // namespace takt::app
