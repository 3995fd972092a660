#include "takt/motion/robot_cycle.hpp"

namespace takt::motion {

Errc reason_of(robot::FaultReason reason) noexcept {
  switch (reason) {
    case robot::FaultReason::loop_overrun:
      return Errc::loop_overrun;
    case robot::FaultReason::bus_down:
      return Errc::bus_down;
    case robot::FaultReason::drive_silent:
      return Errc::drive_silent;
    case robot::FaultReason::drive_fault:
      return Errc::drive_fault;
    case robot::FaultReason::drive_off:
      return Errc::drive_off;
    case robot::FaultReason::following_error:
      return Errc::following_error;
    case robot::FaultReason::position_jumped:
      return Errc::position_jumped;
    case robot::FaultReason::emergency_stop:
      return Errc::emergency_stop;
    case robot::FaultReason::protective_stop:
      return Errc::protective_stop;
    case robot::FaultReason::shutting_down:
      return Errc::shutting_down;
    case robot::FaultReason::power_off:
      return Errc::power_off;
  }
  return Errc::unknown_reason;
}

namespace {

Errc reason_of(robot::Supervisor::ResetAnswer::Result result) noexcept {
  using Result = robot::Supervisor::ResetAnswer::Result;
  switch (result) {
    case Result::done:
      break;
    case Result::not_stopped:
      return Errc::robot_not_ready;
    case Result::bus_down:
      return Errc::bus_down;
    case Result::position_jumped:
      return Errc::position_jumped;
  }
  return Errc{};
}

}  // namespace

void RobotCycle::submit(Request& request) noexcept {
  const auto answer = [&](Errc why, std::size_t joint = 0, double value = 0, double limit = 0) noexcept {
    controller_->answer(request, why == Errc{} ? GoalState::succeeded : GoalState::rejected,
                        {why, joint, value, limit});
  };
  switch (request.kind) {
    case RequestKind::emergency_stop:
      if (state() == RobotState::down) return answer(Errc::shutting_down);
      manager_->stop_robot({robot::FaultReason::emergency_stop}, request.category);
      return answer(Errc{});
    case RequestKind::reset:
    case RequestKind::accept_positions: {
      const auto reset = manager_->reset(request.kind == RequestKind::accept_positions);
      return answer(reason_of(reset.result), reset.joint, reset.value, reset.limit);
    }
    case RequestKind::shutdown:
      manager_->shut_down();
      return answer(Errc{});
    case RequestKind::trajectory:
    case RequestKind::setpoint:
    case RequestKind::cancel:
    case RequestKind::speed:
      return controller_->submit(request);
  }
}

void RobotCycle::describe(Snapshot& snapshot) const noexcept {
  const robot::Supervisor& supervisor = manager_->supervisor();
  const auto joints = manager_->joints();
  snapshot.time = manager_->now();
  snapshot.state = supervisor.state();
  const robot::RobotFault fault = supervisor.fault().value_or(robot::RobotFault{});
  snapshot.reason = supervisor.fault() ? reason_of(fault.reason) : Errc{};
  snapshot.reason_joint = static_cast<std::uint8_t>(fault.joint);
  snapshot.reason_value = fault.value;
  snapshot.reason_limit = fault.limit;
  snapshot.joint_count = static_cast<std::uint8_t>(joints.size());
  for (const robot::Joint& joint : joints) {
    JointSnapshot& row = snapshot.joints[joint.index()];
    const robot::JointFeedback& seen = joint.feedback();
    row.reference = joint.reference();
    row.command = row.reference.position;
    row.measured_position = seen.position;
    row.measured_velocity = seen.velocity;
    row.measured_effort = seen.effort;
    row.has_effort = seen.has_effort;
    row.drive = seen.drive;
    row.fault = seen.fault;
    row.feedback_age = seen.heard ? to_seconds(snapshot.time - seen.stamp) : -1;
  }
  controller_->describe(snapshot);
  snapshot.hardware = manager_->counters();
}

}  // namespace takt::motion
