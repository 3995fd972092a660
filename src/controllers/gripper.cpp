#include "takt/controllers/gripper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "takt/controllers/error.hpp"
#include "takt/controllers/set_up.hpp"
#include "takt/core/joint.hpp"

namespace takt::controllers {

// ---- set-up ----

SetupResult<void> GripperController::on_configure(robot::Resources& resources) {
  const auto claimed = resources.claim_joint(
      joint->view(), *mode == Mode::position ? CommandMode::position : CommandMode::effort);
  if (!claimed) return tl::unexpected<SetupError>(claimed.error());
  joint_ = *claimed;
  following_error_ = resources.robot().joints[joint_->index()].following_error;
  if (!effort_interface->view().empty()) {
    const auto limit = resources.claim(effort_interface->view());
    if (!limit) return tl::unexpected<SetupError>(limit.error());
    drive_limit_ = *limit;
  }
  const auto position = resources.input("position", "rad");
  if (!position) return tl::unexpected<SetupError>(position.error());
  position_input_ = *position;
  const auto effort = resources.input("max_effort", "N m");
  if (!effort) return tl::unexpected<SetupError>(effort.error());
  effort_input_ = *effort;
  if (auto added = resources.output("status", {}, status_); !added) return added;
  return resources.output("rejected", {}, rejected_);
}

SetupResult<void> GripperController::on_check() { return check_fixed(*this, joint, mode, effort_interface); }

void GripperController::on_parameters() noexcept { (void)pid_.set(gains()); }

control::PidGains GripperController::gains() const noexcept {
  return {.proportional = *proportional,
          .integral = *integral,
          .derivative = *derivative,
          .output_min = -goal_.max_effort,
          .output_max = goal_.max_effort};
}

// ---- goals ----

bool GripperController::is_goal(const GripperGoal& goal) noexcept {
  return std::isfinite(goal.position) && std::isfinite(goal.max_effort);
}

Status GripperController::grip(const GripperGoal& goal) noexcept {
  if (!is_goal(goal)) return takt::fail(Errc::not_finite);
  if (state() != component::ComponentState::active) return takt::fail(Errc::not_active);
  begin(goal);
  return {};
}

void GripperController::take_goals() noexcept {
  fresh_.read(goals, [this](bool is_fresh) {
    if (is_fresh && is_goal(goals.value()) && !position_input_.driven())
      begin(goals.value());
    else
      reject(goals.value());
  });
}

/// A change of the inputs beyond the tolerance begins a new goal.
void GripperController::follow_inputs() noexcept {
  const bool was_chained = is_chained_;
  is_chained_ = position_input_.driven();
  if (!is_chained_) return;
  const GripperGoal wanted{0, position_input_.get(), effort_input_.driven() ? effort_input_.get() : 0};
  if (!is_goal(wanted)) {
    ++rejected_;
    return;
  }
  const bool is_near = std::abs(wanted.position - chained_.position) <= *goal_tolerance;
  if (was_chained && is_near && wanted.max_effort == chained_.max_effort) return;
  chained_ = wanted;
  begin(wanted);
}

void GripperController::begin(const GripperGoal& goal) noexcept {
  if (is_moving_) end(GripperOutcome::not_reached);
  const JointLimits& limits = joint_->limits();
  const double most = std::min(*max_effort, limits.effort);
  goal_ = {goal.number, std::clamp(goal.position, limits.position_min, limits.position_max),
           goal.max_effort > 0 ? std::min(goal.max_effort, most) : most};
  progress_.begin(*stall_window, *stall_distance);
  time_ = 0;
  is_moving_ = true;
  status_ = 0;
  (void)pid_.set(gains());
}

void GripperController::end(GripperOutcome outcome) noexcept {
  is_moving_ = false;
  status_ = 1 + static_cast<double>(outcome);
  report(goal_.number, outcome);
}

void GripperController::report(std::uint64_t number, GripperOutcome outcome) noexcept {
  if (number == 0) return;
  const robot::JointFeedback& feedback = joint_->feedback();
  results.write({number, feedback.position, feedback.effort, outcome}, now_);
}

void GripperController::reject(const GripperGoal& goal) noexcept {
  ++rejected_;
  report(goal.number, GripperOutcome::rejected);
}

void GripperController::judge(double period) noexcept {
  if (!is_moving_) return;
  time_ += period;
  const double distance = std::abs(goal_.position - joint_->feedback().position);
  if (distance <= *goal_tolerance) {
    end(GripperOutcome::reached);
  } else if (progress_.stalls(distance, period)) {
    end(GripperOutcome::stalled);
  } else if (*goal_time > 0 && time_ > *goal_time) {
    end(GripperOutcome::not_reached);
  }
}

// ---- the cycle ----

Status GripperController::on_activate(const component::CycleTime& cycle) noexcept {
  now_ = cycle.time;
  // Goals from before are no goals for this run.
  fresh_.restart();
  fresh_.read(goals, [this](bool) { reject(goals.value()); });
  const robot::JointFeedback& feedback = joint_->feedback();
  if (!feedback.heard) return takt::fail(Errc::no_measurement);
  reference_ = feedback.position;
  goal_ = {0, feedback.position, std::min(*max_effort, joint_->limits().effort)};
  is_chained_ = is_moving_ = false;
  (void)pid_.set(gains());
  pid_.reset();
  return {};
}

Status GripperController::on_execute(const component::CycleTime& cycle) noexcept {
  now_ = cycle.time;
  const double period = to_seconds(cycle.period);
  take_goals();
  follow_inputs();
  judge(period);
  command(period);
  return {};
}

void GripperController::on_deactivate(const component::CycleTime& cycle) noexcept {
  now_ = cycle.time;
  if (is_moving_) end(GripperOutcome::not_reached);
}

void GripperController::command(double period) noexcept {
  if (drive_limit_) drive_limit_.set(goal_.max_effort);
  if (*mode == Mode::effort) {
    joint_->set_effort(pid_.step(goal_.position, joint_->feedback().position, period).value);
    return;
  }
  move_reference(period);
  joint_->follow({reference_, 0, 0});
}

/// Moves the reference to the target, as far as the effort and the lead allow. The effort grows with the
/// lead.
void GripperController::move_reference(double period) noexcept {
  const robot::JointFeedback& feedback = joint_->feedback();
  const double unlimited = std::numeric_limits<double>::infinity();
  const double furthest = *max_lead > 0 ? *max_lead : following_error_ > 0 ? following_error_ / 2 : unlimited;
  const double lead = joint_->reference().position - feedback.position;
  const bool pushes = feedback.effort * lead > 0;
  const double allowed =
      pushes ? std::min(furthest, goal_.max_effort / std::abs(feedback.effort) * std::abs(lead)) : furthest;
  const double target = std::clamp(goal_.position, feedback.position - allowed, feedback.position + allowed);
  const double step = *speed * period;
  reference_ += std::clamp(target - reference_, -step, step);
  reference_ = std::clamp(reference_, feedback.position - furthest, feedback.position + furthest);
}

}  // namespace takt::controllers
