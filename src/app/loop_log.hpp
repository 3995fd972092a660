// Logs what a loop does: changes of the robot's state, missed periods, ended goals. On the loop's thread;
// real-time safe after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "takt/motion/goal.hpp"
#include "takt/motion/loop.hpp"
#include "takt/motion/wire.hpp"
#include "takt/robot/description.hpp"
#include "takt/rt/logger.hpp"

namespace takt::app {

class LoopLog final : public motion::LoopObserver {
 public:
  /// The logger must outlive this.
  LoopLog(rt::Logger& logger, const robot::RobotDescription& robot) : logger_(&logger) {
    for (std::size_t i = 0; i < states_.size(); ++i)
      states_[i] = rt::intern(motion::state_name(static_cast<motion::RobotState>(i)));
    for (std::size_t i = 0; i < goal_states_.size(); ++i)
      goal_states_[i] = rt::intern(motion::state_name(static_cast<motion::GoalState>(i)));
    for (const robot::JointDescription& joint : robot.joints)
      joints_.push_back(rt::intern(joint.name + ": "));
  }

  void before_cycle(Time now) noexcept override { logger_->set_time(now); }
  void on_event(const motion::Event& event) noexcept override {
    if (event.goal == 0 || !is_terminal(event.state)) return;
    const rt::TextId state = goal_states_[static_cast<std::size_t>(event.state)];
    if (event.reason == motion::Errc{})
      logger_->log(goal_ended_, {}, event.goal, state);
    else
      logger_->log(goal_failed_, {}, event.goal, state, of_joint(event.reason, event.joint), event.reason);
  }
  void after_cycle(const motion::Snapshot& snapshot) noexcept override {
    if (snapshot.loop.overruns != overruns_) logger_->log(missed_, {}, snapshot.loop.overruns - overruns_);
    overruns_ = snapshot.loop.overruns;
    if (!is_first_ && snapshot.state == state_ && snapshot.reason == reason_) return;
    is_first_ = false;
    state_ = snapshot.state;
    reason_ = snapshot.reason;
    const rt::TextId state = states_[static_cast<std::size_t>(snapshot.state)];
    if (reason_ == motion::Errc{} || reason_ == motion::Errc::shutting_down)
      logger_->log(state_changed_, {}, state);
    else
      logger_->log(stopped_, {}, state, of_joint(reason_, snapshot.reason_joint), reason_);
  }

 private:
  /// "elbow: "; empty for a reason that concerns no joint.
  [[nodiscard]] rt::TextId of_joint(motion::Errc reason, std::size_t index) const noexcept {
    const bool has_joint = motion::is_about_a_joint(reason) && index < joints_.size();
    return has_joint ? joints_[index] : rt::TextId{};
  }

  rt::Logger* logger_;
  std::array<rt::TextId, 5> states_{};
  std::array<rt::TextId, 8> goal_states_{};
  std::vector<rt::TextId> joints_;  ///< names, with a colon
  rt::LogStatement<rt::TextId> state_changed_{rt::LogLevel::info, "robot {}"};
  rt::LogStatement<rt::TextId, rt::TextId, motion::Errc> stopped_{rt::LogLevel::error, "robot {}: {}{}"};
  rt::LogStatement<std::uint64_t> missed_{rt::LogLevel::warning, "{} periods without a cycle"};
  rt::LogStatement<motion::GoalId, rt::TextId> goal_ended_{rt::LogLevel::info, "goal {} {}"};
  rt::LogStatement<motion::GoalId, rt::TextId, rt::TextId, motion::Errc> goal_failed_{rt::LogLevel::warning,
                                                                                      "goal {} {}: {}{}"};
  std::uint64_t overruns_ = 0;
  bool is_first_ = true;
  motion::RobotState state_{};
  motion::Errc reason_{};
};

}  // namespace takt::app
