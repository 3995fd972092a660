#include "takt/controllers/vehicle.hpp"

#include <algorithm>

#include "takt/core/period.hpp"
#include "takt/mobile/error.hpp"

namespace takt::controllers {

SetupResult<void> VehicleDriveController::on_configure(robot::Resources& resources) {
  on_parameters();
  const std::string device(vehicle->view());
  const auto estimate = resources.sensor<takt::vehicle::OdometryEstimate>(device + ".odometry");
  if (!estimate) return tl::unexpected<SetupError>(estimate.error());
  estimate_ = *estimate;
  const auto status = resources.sensor<robot::VehicleStatus>(device + ".status");
  if (!status) return tl::unexpected<SetupError>(status.error());
  status_ = *status;
  const auto forward = resources.claim(device + "/forward");
  if (!forward) return tl::unexpected<SetupError>(forward.error());
  forward_ = *forward;
  const auto rotation = resources.claim(device + "/rotation");
  if (!rotation) return tl::unexpected<SetupError>(rotation.error());
  rotation_ = *rotation;
  const auto forward_input = resources.input("forward", "m/s", 0, robot::SafeValue::zero);
  if (!forward_input) return tl::unexpected<SetupError>(forward_input.error());
  forward_input_ = *forward_input;
  const auto rotation_input = resources.input("rotation", "rad/s", 0, robot::SafeValue::zero);
  if (!rotation_input) return tl::unexpected<SetupError>(rotation_input.error());
  rotation_input_ = *rotation_input;
  if (auto added = resources.output("ready", {}, ready_); !added) return added;
  if (auto added = resources.output("timed_out", {}, timed_out_); !added) return added;
  if (auto added = resources.output("late_commands", {}, late_); !added) return added;
  return resources.output("rejected_commands", {}, rejected_);
}

void VehicleDriveController::on_parameters() noexcept {
  // The range of the parameter excludes errors. The present command goes on, for the new timeout at most.
  const auto present = held_ ? held_->step(shortest_period) : mobile::TwistStep{{}, mobile::Errc::stale};
  if (auto fresh = mobile::TwistCommand::make(*timeout)) {
    if (present.ok()) (void)fresh->set(present.value);
    held_ = *fresh;
  }
}

Status VehicleDriveController::on_activate(const component::CycleTime& /*cycle*/) noexcept {
  // Commands from before are no commands for this run.
  fresh_.restart();
  fresh_.read(command, [](bool) {});
  held_ = *mobile::TwistCommand::make(*timeout);
  is_first_ = true;
  return {};
}

Status VehicleDriveController::on_execute(const component::CycleTime& cycle) noexcept {
  publish();
  using takt::vehicle::SupervisorState;
  const bool is_stopped =
      status_->state == SupervisorState::stopping || status_->state == SupervisorState::stopped;
  ready_ = status_->state == SupervisorState::ready || status_->state == SupervisorState::driving ? 1 : 0;
  if (is_stopped && !is_first_) return takt::fail(takt::vehicle::Errc::stopped);
  is_first_ = false;
  const mobile::Twist twist = wanted(cycle);
  forward_.set(twist.forward);
  rotation_.set(twist.rotation);
  return {};
}

/// The twist before any limit.
mobile::Twist VehicleDriveController::wanted(const component::CycleTime& cycle) noexcept {
  fresh_.read(command, [&](bool is_fresh) {
    if (is_fresh) take_command(cycle.time);
  });
  const mobile::TwistStep own = held_->step(to_seconds(cycle.period));
  timed_out_ = own.error == mobile::Errc::stale ? 1 : 0;
  if (!forward_input_.driven() && !rotation_input_.driven()) return own.value;
  return {forward_input_.driven() ? forward_input_.get() : 0, 0,
          rotation_input_.driven() ? rotation_input_.get() : 0};
}

void VehicleDriveController::take_command(Time now) noexcept {
  const double age = command.stamp() != Time{} ? std::max(to_seconds(command.age(now)), 0.0) : 0.0;
  if (age > *timeout) {
    ++late_;
  } else if (!held_->set(command.value())) {
    ++rejected_;
  } else if (is_period(age)) {
    (void)held_->step(age);
  }
}

void VehicleDriveController::publish() noexcept {
  if (estimate_->stamp == published_) return;
  published_ = estimate_->stamp;
  odometry.write({estimate_->pose, estimate_->twist, estimate_->covariance}, estimate_->stamp);
}

}  // namespace takt::controllers
