#include "takt/controllers/base_drive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <utility>

#include "takt/core/period.hpp"
#include "takt/mobile/differential_drive.hpp"

namespace takt::controllers {

using mobile::Twist;

// ---- wheels ----

SetupResult<void> check_distinct(const std::string& controller, std::span<const std::string> joints,
                                 std::span<const std::string> others) {
  for (const std::string& joint : joints) {
    if (std::ranges::find(others, joint) != others.end())
      return fail(Errc::named_twice, fmt::format("{}: \"{}\" is in two lists", controller, joint));
  }
  return {};
}

SetupResult<void> WheelGroup::claim(robot::Resources& resources, std::span<const std::string> joints,
                                    double& jumps) {
  period_ = to_seconds(resources.robot().period);
  jumps_ = &jumps;
  for (const std::string& name : joints) {
    const auto joint = resources.claim_joint(name, CommandMode::velocity);
    if (!joint) return tl::unexpected<SetupError>(joint.error());
    wheels_.push_back({*joint, 0, {}});
  }
  values_.resize(wheels_.size());
  return {};
}

double WheelGroup::load(double rate) const noexcept {
  double most = 0;
  for (const Wheel& wheel : wheels_)
    most = larger_load(most, std::abs(rate) / wheel.joint->limits().velocity);
  return most;
}

double WheelGroup::rate() noexcept {
  for (std::size_t i = 0; i < wheels_.size(); ++i) values_[i] = wheels_[i].joint->feedback().velocity;
  return mobile::mean_of_wheels(std::span<const double>(values_));
}

double WheelGroup::turned() noexcept {
  for (std::size_t i = 0; i < wheels_.size(); ++i) values_[i] = angle_of(wheels_[i]);
  return mobile::mean_of_wheels(std::span<const double>(values_));
}

double WheelGroup::angle_of(Wheel& wheel) noexcept {
  constexpr double turn = 2 * std::numbers::pi;
  const robot::JointFeedback& feedback = wheel.joint->feedback();
  const double turned = feedback.position - wheel.position;
  if (!std::isfinite(turned)) return turned;
  const double seconds = std::max(to_seconds(feedback.stamp - wheel.stamp), 0.0);
  const double expected = std::isfinite(feedback.velocity) ? feedback.velocity * seconds : 0;
  const double turns = std::round((turned - expected) / turn);
  const double angle = turns == 0 ? turned : turned - turns * turn;
  const double furthest = 2 * wheel.joint->limits().velocity * (seconds + period_);
  if (std::abs(turns) <= 1 && std::abs(angle) <= furthest) return angle;
  ++*jumps_;
  wheel.position = feedback.position - expected;
  return expected;
}

void WheelGroup::accept() noexcept {
  for (Wheel& wheel : wheels_) {
    wheel.position = wheel.joint->feedback().position;
    wheel.stamp = wheel.joint->feedback().stamp;
  }
}

// ---- set-up ----

SetupResult<void> BaseDriveController::on_configure(robot::Resources& resources) {
  on_parameters();
  if (auto claimed = claim_joints(resources); !claimed) return claimed;
  struct NamedInput {
    const char* name;
    const char* unit;
    robot::InputHandle* input;
  };
  const std::array<NamedInput, 3> inputs{{{"forward", "m/s", &forward_input_},
                                          {"left", "m/s", &left_input_},
                                          {"rotation", "rad/s", &rotation_input_}}};
  for (const NamedInput& row : inputs) {
    if (row.input == &left_input_ && !moves_sideways()) continue;
    const auto added = resources.input(row.name, row.unit, 0, robot::SafeValue::zero);
    if (!added) return tl::unexpected<SetupError>(added.error());
    *row.input = *added;
  }
  struct NamedOutput {
    const char* name;
    const char* unit;
    const double* value;
  };
  const std::array<NamedOutput, 11> outputs{{{"x", "m", &sample_.pose.x},
                                             {"y", "m", &sample_.pose.y},
                                             {"heading", "rad", &sample_.pose.heading},
                                             {"forward_speed", "m/s", &sample_.twist.forward},
                                             {"left_speed", "m/s", &sample_.twist.left},
                                             {"rotation_speed", "rad/s", &sample_.twist.rotation},
                                             {"timed_out", "", &timed_out_},
                                             {"rejected_commands", "", &rejected_},
                                             {"late_commands", "", &late_},
                                             {"odometry_errors", "", &odometry_errors_},
                                             {"wheel_jumps", "", &wheel_jumps_}}};
  for (const NamedOutput& row : outputs) {
    if (auto added = resources.output(row.name, row.unit, *row.value); !added) return added;
  }
  return {};
}

void BaseDriveController::on_parameters() noexcept {
  // The ranges of the parameters exclude errors below.
  if (auto fresh = mobile::TwistCommand::make(*timeout)) {
    // The present command goes on, for the new timeout at most.
    const auto present =
        command_ ? command_->step(shortest_period) : mobile::TwistStep{{}, mobile::Errc::stale};
    if (present.ok()) (void)fresh->set(present.value);
    command_ = *fresh;
  }
  if (auto fresh = mobile::TwistLimiter::make({.forward = *max_forward,
                                               .backward = *max_backward,
                                               .left = *max_left,
                                               .rotation = *max_rotation,
                                               .acceleration = *acceleration,
                                               .braking = *braking,
                                               .rotational_acceleration = *rotational_acceleration})) {
    if (limiter_) fresh->reset(limiter_->twist());
    limiter_ = *fresh;
  }
  if (auto fresh =
          mobile::Odometry::make({.integration = *integration,
                                  .timeout = longest_period,
                                  .noise = {*forward_noise, *left_noise, *heading_noise, *rotation_noise}})) {
    if (fresh->set(odometry_.pose(), odometry_.covariance())) odometry_ = *fresh;
  }
  update_geometry();
}

// ---- the cycle ----

Status BaseDriveController::on_activate(const component::CycleTime& cycle) noexcept {
  // Commands from before are no commands for this run.
  fresh_.restart();
  fresh_.read(command, [](bool) {});
  command_ = *mobile::TwistCommand::make(*timeout);
  restart();
  const Twist measured = measured_twist();
  limiter_->reset(measured);
  driven_ = limiter_->twist();
  last_ = cycle.time;
  unmoved_ = 0;
  return {};
}

Status BaseDriveController::on_execute(const component::CycleTime& cycle) noexcept {
  const double elapsed = std::clamp(to_seconds(cycle.time - last_), 0.0, longest_period);
  last_ = cycle.time;
  const double period = to_seconds(cycle.period);
  integrate(elapsed);
  // Cycles were missed: the command has grown older meanwhile.
  if (is_period(elapsed - period)) (void)command_->step(elapsed - period);
  take_commands(cycle.time);
  driven_ = drive(limiter_->step(feasible(wanted(period)), period).value);
  publish(cycle.time);
  return {};
}

void BaseDriveController::take_commands(Time now) noexcept {
  fresh_.read(command, [&](bool is_fresh) {
    if (is_fresh) take_command(now);
  });
}

void BaseDriveController::take_command(Time now) noexcept {
  const bool has_stamp = command.stamp() != Time{};
  const double age = has_stamp ? std::max(to_seconds(command.age(now)), 0.0) : 0.0;
  if (age > *timeout) {
    ++late_;
  } else if (!command_->set(command.value())) {
    ++rejected_;
  } else if (is_period(age)) {
    (void)command_->step(age);
  }
}

/// The twist before any limit.
Twist BaseDriveController::wanted(double period) noexcept {
  const mobile::TwistStep own = command_->step(period);
  timed_out_ = own.error == mobile::Errc::stale ? 1 : 0;
  const auto driven = [](const robot::InputHandle& input) { return input.driven() ? input.get() : 0; };
  const bool has_left = moves_sideways();
  if (!forward_input_.driven() && !rotation_input_.driven() && !(has_left && left_input_.driven()))
    return own.value;
  return {driven(forward_input_), has_left ? driven(left_input_) : 0, driven(rotation_input_)};
}

void BaseDriveController::integrate(double elapsed) noexcept {
  unmoved_ += elapsed;
  if (!is_period(unmoved_)) return;
  Status status;
  switch (*odometry_source) {
    case OdometrySource::position:
      status = odometry_.move(measured_motion(), unmoved_);
      if (status) accept_motion();
      break;
    case OdometrySource::velocity:
      status = odometry_.advance(measured_twist(), unmoved_);
      break;
    case OdometrySource::open_loop:
      status = odometry_.advance(driven_, unmoved_);
      break;
  }
  if (status) {
    unmoved_ = 0;
  } else {
    ++odometry_errors_;
  }
}

void BaseDriveController::publish(Time now) noexcept {
  sample_ = {odometry_.pose(), odometry_.twist(), odometry_.covariance()};
  odometry.write(sample_, now);
}

}  // namespace takt::controllers
