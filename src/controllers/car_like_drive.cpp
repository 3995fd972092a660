#include "takt/controllers/car_like_drive.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <utility>

#include "takt/controllers/error.hpp"
#include "takt/controllers/names.hpp"

namespace takt::controllers {

using mobile::Car;
using mobile::Twist;

// ---- set-up ----

SetupResult<void> CarLikeDriveController::on_check() {
  if (auto fixed = check_fixed(*this, steering, traction); !fixed) return fixed;
  const auto car = Car::make({.wheelbase = wheelbase.proposed(),
                              .track = track.proposed(),
                              .max_steering = max_steering.proposed()});
  if (car) return {};
  return fail(car.error(),
              name() + ": the centre of the tightest turn, max_steering, lies between the wheels");
}

void CarLikeDriveController::update_geometry() noexcept {
  const auto fresh = Car::make({.wheelbase = *wheelbase, .track = *track, .max_steering = *max_steering});
  if (fresh) car_ = *fresh;  // always: on_check() has tried it
}

SetupResult<void> CarLikeDriveController::claim_joints(robot::Resources& resources) {
  auto steered = controllers::claim_joints(*this, steering, resources, CommandMode::position);
  if (!steered) return tl::unexpected<SetupError>(std::move(steered.error()));
  steered_ = std::move(*steered);
  const auto driven = distinct_names(*this, traction, max_joints);
  if (!driven) return tl::unexpected<SetupError>(driven.error());
  const std::size_t count = driven->size();
  const bool fits = (steered_.size() == 1 && (count == 1 || count == 2)) ||
                    (steered_.size() == 2 && (count == 2 || count == 4));
  if (!fits) {
    return fail(Errc::wrong_joint_count, name() + ": " + std::to_string(steered_.size()) +
                                             " joints for steering and " + std::to_string(count) +
                                             " for traction; allowed are 1 and 1 or 2, or 2 and 2 or 4");
  }
  if (auto distinct = check_distinct(name(), names_in(steering->view()), *driven); !distinct) return distinct;
  for (const std::string& wheel : *driven) {
    if (auto claimed = driven_wheels_.emplace_back().claim(resources, std::span(&wheel, 1), wheel_jumps_);
        !claimed)
      return claimed;
  }
  return {};
}

// ---- the cycle ----

/// The speed of each driven wheel along its direction, as a multiple of the vehicle's.
std::array<double, 4> CarLikeDriveController::shares(double angle) const noexcept {
  const auto speed = car_->wheels(1, angle).speed;
  if (driven_wheels_.size() == 1) return {1};
  if (driven_wheels_.size() == 2) return {speed[2], speed[3]};
  return speed;
}

Twist CarLikeDriveController::feasible(const Twist& wanted) const noexcept {
  const double most = car_->max_curvature() * std::abs(wanted.forward);
  const Twist twist{wanted.forward, 0, std::clamp(wanted.rotation, -most, most)};
  const auto share = shares(car_->drive(twist).steering);
  double load = 0;
  for (std::size_t i = 0; i < driven_wheels_.size(); ++i)
    load = larger_load(load, driven_wheels_[i].load(twist.forward * share[i] / *wheel_radius));
  return within_load(twist, load);
}

Twist CarLikeDriveController::drive(const Twist& twist) noexcept {
  const mobile::Steering nearest = car_->drive(twist);
  if (twist.forward != 0) steering_ = nearest.steering;
  steer(steering_);
  const double present = measured_steering();
  // Up to 30 degrees off, the wheels roll at full speed.
  double speed = nearest.speed;
  if (*waits_for_steering)
    speed *= std::clamp(std::cos(steering_ - present) / std::cos(std::numbers::pi / 6), 0.0, 1.0);
  // The wheels roll about the centre about which they turn now.
  const auto share = shares(present);
  for (std::size_t i = 0; i < driven_wheels_.size(); ++i)
    driven_wheels_[i].roll(speed * share[i] / *wheel_radius);
  return car_->twist(speed, steering_);
}

void CarLikeDriveController::steer(double angle) noexcept {
  if (steered_.size() == 1) {
    steered_[0]->follow({angle, 0, 0});
    return;
  }
  const auto angles = car_->wheels(0, angle).steering;
  for (std::size_t i = 0; i < steered_.size(); ++i) steered_[i]->follow({angles[i], 0, 0});
}

/// The angle of a wheel in the middle of the front axle.
double CarLikeDriveController::measured_steering() const noexcept {
  const double first = steered_[0]->feedback().position;
  if (steered_.size() == 1) return first;
  const double second = steered_[1]->feedback().position;
  return (car_->steering_from_left_wheel(first) + car_->steering_from_right_wheel(second)) / 2;
}

/// The middle of the rear axle moves at the mean speed of its wheels.
double CarLikeDriveController::mean_of_rear(double (WheelGroup::*quantity)() noexcept) noexcept {
  const std::size_t count = driven_wheels_.size();
  if (count == 1) return (driven_wheels_[0].*quantity)();
  return ((driven_wheels_[count - 2].*quantity)() + (driven_wheels_[count - 1].*quantity)()) / 2;
}

Twist CarLikeDriveController::measured_twist() noexcept {
  return car_->twist(mean_of_rear(&WheelGroup::rate) * *wheel_radius, measured_steering());
}

Twist CarLikeDriveController::measured_motion() noexcept {
  const double distance = mean_of_rear(&WheelGroup::turned) * *wheel_radius;
  return car_->twist(distance, (measured_steering() + steering_before_) / 2);
}

void CarLikeDriveController::accept_motion() noexcept {
  for (WheelGroup& wheel : driven_wheels_) wheel.accept();
  steering_before_ = measured_steering();
}

void CarLikeDriveController::restart() noexcept {
  accept_motion();
  steering_ = std::clamp(steering_before_, -*max_steering, *max_steering);
}

}  // namespace takt::controllers
