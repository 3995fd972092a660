// The physics of a car-like vehicle with steering, throttle and brake. It is the bicycle model on the rear
// axle, with first-order pedals and limited steering. Throttle, drag, rolling resistance and brake determine
// the speed. Deterministic, real-time safe.
//
// The vehicle does not slip. Its motion within a step is an exact arc, and its rear wheels turn exactly as
// far as they roll (mobile/car_like.hpp). The defaults describe a light freight vehicle; of the Furbot, only
// the wheels are known.
#pragma once

#include <algorithm>
#include <cmath>

#include "takt/core/error.hpp"
#include "takt/core/time.hpp"
#include "takt/mobile/car_like.hpp"
#include "takt/mobile/differential_drive.hpp"
#include "takt/mobile/pose.hpp"
#include "takt/sim/error.hpp"
#include "takt/vehicle/twist_law.hpp"

namespace takt::sim {

/// The integration period of a simulated vehicle.
inline constexpr Duration vehicle_period{1'000'000};
inline constexpr double vehicle_seconds = 1e-3;

/// Parameters of the vehicle.
struct VehicleParameters {
  double wheelbase = 0;        ///< m; required, since the Furbot's is unknown
  double track = 1.285;        ///< m between the rear wheels
  double wheel_radius = 0.3;   ///< m, of the rear wheels
  double max_steering = 0.5;   ///< rad, of the bicycle model's wheel, below pi/2
  double steering_rate = 0.8;  ///< rad/s
  double steering_lag = 0.08;  ///< s: time constant of the angle, within the rate
  double top_speed = 8;        ///< m/s at full throttle
  double acceleration = 2;     ///< m/s^2 at full throttle, from standstill, without rolling resistance
  double braking = 5;          ///< m/s^2 at full brake
  double rolling = 0.1;        ///< m/s^2 of rolling resistance; less than the acceleration
  double throttle_lag = 0.15;  ///< s: the drive's time constant
  double brake_lag = 0.06;     ///< s: time constant of the hydraulic brakes
};

/// The vehicle; copyable. Every function is real-time safe.
///
///   dv/dt = acceleration throttle - drag v - (rolling + braking brake) sign(v),
///   drag = (acceleration - rolling) / top_speed
///
/// is integrated by backward Euler in the velocity, as JointPlant's equation (sim/servo_plant.hpp). Brake and
/// rolling resistance can stop the vehicle but never reverse it. A vehicle at rest stays there until the
/// throttle exceeds both.
class VehiclePlant {
 public:
  /// Creates a vehicle at rest. Error: bad_vehicle, if a number is not finite or not positive (rolling may be
  /// 0). The same if mobile::Car rejects the steering, or rolling is not below the acceleration.
  [[nodiscard]] static Result<VehiclePlant> make(const VehicleParameters& p,
                                                 const mobile::Pose& start = {}) noexcept {
    for (const double number : {p.wheel_radius, p.steering_rate, p.steering_lag, p.top_speed, p.acceleration,
                                p.braking, p.throttle_lag, p.brake_lag}) {
      if (!std::isfinite(number) || !(number > 0)) return fail(Errc::bad_vehicle);
    }
    if (!(p.rolling >= 0 && p.rolling < p.acceleration)) return fail(Errc::bad_vehicle);
    if (!std::isfinite(start.x) || !std::isfinite(start.y) || !std::isfinite(start.heading))
      return fail(Errc::bad_vehicle);
    const auto car = mobile::Car::make({p.wheelbase, p.track, p.max_steering});
    if (!car) return fail(Errc::bad_vehicle);
    return VehiclePlant(p, *car, start);
  }

  /// Moves the vehicle by one period. Steering and pedals follow the command, within their limits. NaN keeps
  /// steering and brake where they are, and releases the throttle.
  void step(const vehicle::DriveCommand& command) noexcept {
    roll();
    steer(command.steering);
    throttle_ += throttle_weight_ * (limited(command.throttle, -1, 1, 0) - throttle_);
    brake_ += brake_weight_ * (limited(command.brake, 0, 1, brake_) - brake_);
    accelerate();
  }

  /// Pose of the middle of the rear axle.
  [[nodiscard]] const mobile::Pose& pose() const noexcept { return pose_; }
  [[nodiscard]] mobile::Twist twist() const noexcept { return car_.twist(speed_, steering_); }
  [[nodiscard]] double speed() const noexcept { return speed_; }                ///< m/s; negative backwards
  [[nodiscard]] double acceleration() const noexcept { return acceleration_; }  ///< m/s^2 along the vehicle
  [[nodiscard]] double steering() const noexcept { return steering_; }  ///< rad, positive as in DriveCommand
  [[nodiscard]] double throttle() const noexcept { return throttle_; }  ///< -1..1, after the lag
  [[nodiscard]] double brake() const noexcept { return brake_; }        ///< 0..1, after the lag
  /// Angle by which the rear wheels have turned, rad; negative backwards.
  [[nodiscard]] const mobile::Sides& turned() const noexcept { return turned_; }
  /// Distance of the middle of the rear axle, m: forwards minus backwards.
  [[nodiscard]] double travelled() const noexcept { return travelled_; }
  [[nodiscard]] const VehicleParameters& parameters() const noexcept { return parameters_; }

 private:
  VehiclePlant(const VehicleParameters& p, const mobile::Car& car, const mobile::Pose& start) noexcept
      : parameters_(p),
        car_(car),
        pose_(start),
        steering_weight_(weight(p.steering_lag)),
        throttle_weight_(weight(p.throttle_lag)),
        brake_weight_(weight(p.brake_lag)),
        drag_((p.acceleration - p.rolling) / p.top_speed) {}

  /// The share of the remaining distance that a first-order lag covers in one step.
  [[nodiscard]] static double weight(double time_constant) noexcept {
    return -std::expm1(-vehicle_seconds / time_constant);
  }

  [[nodiscard]] static double limited(double value, double low, double high, double otherwise) noexcept {
    return std::isnan(value) ? otherwise : std::clamp(value, low, high);
  }

  /// Speed and steering are constant between two steps.
  void roll() noexcept {
    if (speed_ == 0) return;
    const double way = vehicle_seconds * speed_;
    const auto wheels = car_.wheels(way, steering_);
    pose_ = mobile::moved(pose_, car_.twist(way, steering_));
    turned_.left += wheels.speed[2] / parameters_.wheel_radius;
    turned_.right += wheels.speed[3] / parameters_.wheel_radius;
    travelled_ += way;
  }

  void steer(double wanted) noexcept {
    const double most = parameters_.max_steering;
    const double target = limited(wanted, -most, most, steering_);
    const double fastest = vehicle_seconds * parameters_.steering_rate;
    steering_ += std::clamp(steering_weight_ * (target - steering_), -fastest, fastest);
  }

  void accelerate() noexcept {
    const double driven =
        (speed_ + vehicle_seconds * parameters_.acceleration * throttle_) / (1 + vehicle_seconds * drag_);
    const double held = vehicle_seconds * (parameters_.rolling + parameters_.braking * brake_);
    const double next = driven - std::clamp(driven, -held, held);
    acceleration_ = (next - speed_) / vehicle_seconds;
    speed_ = next;
  }

  VehicleParameters parameters_;
  mobile::Car car_;
  mobile::Pose pose_;
  double steering_weight_;
  double throttle_weight_;
  double brake_weight_;
  double drag_;  // 1/s
  double speed_ = 0;
  double acceleration_ = 0;
  double steering_ = 0;
  double throttle_ = 0;
  double brake_ = 0;
  mobile::Sides turned_;
  double travelled_ = 0;
};

}  // namespace takt::sim
