// Drives, odometry and the twist law of the C API.
#include "mobile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>

#include "boundary.hpp"
#include "takt/mobile/car_like.hpp"
#include "takt/mobile/differential_drive.hpp"
#include "takt/mobile/holonomic_drive.hpp"

using takt::fail;
using takt::Result;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::seconds;
using takt::capi::to_status;
using takt::capi::to_twist;
namespace mobile = takt::mobile;
using takt::vehicle::TwistLaw;

struct takt_odometry {
  mobile::Odometry odometry;
};

struct takt_twist_law {
  TwistLaw law;
};

namespace {

std::int32_t put(const mobile::Twist& made, takt_twist* twist) noexcept {
  if (!mobile::detail::is_finite(made)) return to_status(mobile::Errc::not_finite);
  *twist = {made.forward, made.left, made.rotation};
  return TAKT_OK;
}

/// Calls `move(drive)` with a drive of this number of wheels.
template <std::size_t Count = 3>
std::int32_t with_omni_drive(const takt_omni_wheel* wheels, std::size_t count, auto&& move) noexcept {
  if constexpr (Count > 8) {
    return to_status(mobile::Errc::out_of_domain);
  } else {
    if (count != Count) return with_omni_drive<Count + 1>(wheels, count, move);
    std::array<mobile::OmniWheel, Count> own;
    for (std::size_t i = 0; i < Count; ++i)
      own[i] = {wheels[i].x, wheels[i].y, wheels[i].direction, wheels[i].radius};
    const auto drive = mobile::HolonomicDrive<Count>::make(own);
    return drive ? move(*drive) : to_status(drive.error());
  }
}

}  // namespace

// ---- drives ----

std::int32_t takt_differential_twist(double left_radius, double right_radius, double track, double left,
                                     double right, takt_twist* twist) {
  if (twist == nullptr) return to_status(Errc::null_pointer);
  const auto drive = mobile::DifferentialDrive::make({left_radius, right_radius, track});
  if (!drive) return to_status(drive.error());
  return put(drive->twist({left, right}), twist);
}

std::int32_t takt_differential_wheels(double left_radius, double right_radius, double track,
                                      const takt_twist* twist, double* left, double* right) {
  if (twist == nullptr || left == nullptr || right == nullptr) return to_status(Errc::null_pointer);
  const auto drive = mobile::DifferentialDrive::make({left_radius, right_radius, track});
  if (!drive) return to_status(drive.error());
  const mobile::Sides wheels = drive->wheels(to_twist(*twist));
  if (!std::isfinite(wheels.left) || !std::isfinite(wheels.right)) return to_status(mobile::Errc::not_finite);
  *left = wheels.left;
  *right = wheels.right;
  return TAKT_OK;
}

std::int32_t takt_car_twist(double wheelbase, double speed, double steering, takt_twist* twist) {
  if (twist == nullptr) return to_status(Errc::null_pointer);
  const auto car = mobile::Car::make({.wheelbase = wheelbase});
  if (!car) return to_status(car.error());
  return put(car->twist(speed, steering), twist);
}

std::int32_t takt_car_drive(double wheelbase, double max_steering, const takt_twist* twist, double* speed,
                            double* steering, std::int32_t* exact) {
  if (twist == nullptr || speed == nullptr || steering == nullptr) return to_status(Errc::null_pointer);
  const auto car = mobile::Car::make({wheelbase, 0, max_steering});
  if (!car) return to_status(car.error());
  if (!mobile::detail::is_finite(to_twist(*twist))) return to_status(mobile::Errc::not_finite);
  const mobile::Steering driven = car->drive(to_twist(*twist));
  *speed = driven.speed;
  *steering = driven.steering;
  if (exact != nullptr) *exact = driven.exact ? 1 : 0;
  return TAKT_OK;
}

std::int32_t takt_tricycle_twist(double wheelbase, double wheel_speed, double steering, takt_twist* twist) {
  if (twist == nullptr) return to_status(Errc::null_pointer);
  const auto tricycle = mobile::Tricycle::make(wheelbase);
  if (!tricycle) return to_status(tricycle.error());
  return put(tricycle->twist(wheel_speed, steering), twist);
}

std::int32_t takt_tricycle_drive(double wheelbase, const takt_twist* twist, double* wheel_speed,
                                 double* steering) {
  if (twist == nullptr || wheel_speed == nullptr || steering == nullptr) return to_status(Errc::null_pointer);
  const auto tricycle = mobile::Tricycle::make(wheelbase);
  if (!tricycle) return to_status(tricycle.error());
  const mobile::Steering driven = tricycle->drive(to_twist(*twist));
  if (!driven.exact) return to_status(mobile::Errc::not_finite);
  *wheel_speed = driven.speed;
  *steering = driven.steering;
  return TAKT_OK;
}

std::int32_t takt_omni_twist(const takt_omni_wheel* wheels, std::size_t count, const double* rates,
                             takt_twist* twist) {
  if (wheels == nullptr || rates == nullptr || twist == nullptr) return to_status(Errc::null_pointer);
  return with_omni_drive(wheels, count, [&]<std::size_t Count>(const mobile::HolonomicDrive<Count>& drive) {
    std::array<double, Count> own;
    std::copy_n(rates, Count, own.begin());
    return put(drive.twist(own), twist);
  });
}

std::int32_t takt_omni_rates(const takt_omni_wheel* wheels, std::size_t count, const takt_twist* twist,
                             double* rates) {
  if (wheels == nullptr || rates == nullptr || twist == nullptr) return to_status(Errc::null_pointer);
  return with_omni_drive(wheels, count, [&](const auto& drive) -> std::int32_t {
    const auto own = drive.wheels(to_twist(*twist));
    const bool finite = std::all_of(own.begin(), own.end(), [](double rate) { return std::isfinite(rate); });
    if (!finite) return to_status(mobile::Errc::not_finite);
    std::copy(own.begin(), own.end(), rates);
    return TAKT_OK;
  });
}

// ---- odometry ----

namespace {

constexpr takt_odometry_options usual_odometry{0, 0, 500'000'000, 0, 0, 0, 0};

}  // namespace

void takt_odometry_options_init(takt_odometry_options* options, std::size_t size) {
  takt::capi::init_struct(options, size, usual_odometry);
}

Result<mobile::Odometry::Configuration> takt::capi::to_configuration(
    const takt_odometry_options* options) noexcept {
  const auto o = read_optional(options, usual_odometry);
  if (!o) return fail(o.error());
  if (o->reserved != 0) return fail(Errc::bad_argument);
  return mobile::Odometry::Configuration{
      mobile::PoseIntegration::exact_arc,
      seconds(o->timeout_ns),
      {o->forward_per_distance, o->left_per_distance, o->heading_per_distance, o->heading_per_rotation}};
}

std::int32_t takt_odometry_create(const takt_odometry_options* options, takt_odometry** odometry) {
  return guarded([&]() -> Status {
    if (odometry == nullptr) return fail(Errc::null_pointer);
    const auto c = takt::capi::to_configuration(options);
    if (!c) return fail(c.error());
    const auto made = mobile::Odometry::make(*c);
    if (!made) return fail(made.error());
    *odometry = std::make_unique<takt_odometry>(takt_odometry{*made}).release();
    return {};
  });
}

void takt_odometry_destroy(takt_odometry* odometry) { delete odometry; }

std::int32_t takt_odometry_advance(takt_odometry* odometry, const takt_twist* twist, std::int64_t period_ns) {
  if (odometry == nullptr || twist == nullptr) return to_status(Errc::null_pointer);
  return to_status(odometry->odometry.advance(to_twist(*twist), seconds(period_ns)));
}

std::int32_t takt_odometry_move(takt_odometry* odometry, const takt_twist* motion) {
  if (odometry == nullptr || motion == nullptr) return to_status(Errc::null_pointer);
  return to_status(odometry->odometry.move(to_twist(*motion)));
}

std::int32_t takt_odometry_set(takt_odometry* odometry, const takt_pose* pose) {
  if (odometry == nullptr || pose == nullptr) return to_status(Errc::null_pointer);
  return to_status(odometry->odometry.set({pose->x, pose->y, pose->heading}));
}

std::int32_t takt_odometry_get(const takt_odometry* odometry, takt_pose* pose, double* covariance) {
  if (odometry == nullptr) return to_status(Errc::null_pointer);
  const mobile::Pose& at = odometry->odometry.pose();
  if (pose != nullptr) *pose = {at.x, at.y, at.heading};
  if (covariance != nullptr) std::ranges::copy(odometry->odometry.covariance(), covariance);
  return TAKT_OK;
}

// ---- twist law ----

void takt_twist_law_options_init(takt_twist_law_options* options, std::size_t size) {
  const TwistLaw::Configuration usual;
  takt_twist_law_options made{};
  made.command_threshold = usual.command_threshold;
  made.measured_threshold = usual.measured_threshold;
  made.standstill = usual.standstill;
  made.hysteresis = usual.hysteresis;
  made.holding_brake = usual.holding_brake;
  takt::capi::init_struct(options, size, made);
}

Result<TwistLaw::Configuration> takt::capi::to_configuration(const takt_twist_law_options* options) noexcept {
  const auto o = read_struct(options);
  if (!o) return fail(o.error());
  if (o->reserved != 0) return fail(Errc::bad_argument);
  const auto gains = [](const double(&pid)[3]) {
    return control::PidGains{
        .proportional = pid[0], .integral = pid[1], .derivative = pid[2], .derivative_weight = 1};
  };
  return TwistLaw::Configuration{.wheelbase = o->wheelbase,
                                 .max_steering = o->max_steering,
                                 .steering_rate = o->steering_rate,
                                 .command_threshold = o->command_threshold,
                                 .measured_threshold = o->measured_threshold,
                                 .standstill = o->standstill,
                                 .hysteresis = o->hysteresis,
                                 .holding_brake = o->holding_brake,
                                 .throttle = gains(o->throttle),
                                 .brake = gains(o->brake)};
}

std::int32_t takt_twist_law_create(const takt_twist_law_options* options, takt_twist_law** law) {
  return guarded([&]() -> Status {
    if (law == nullptr) return fail(Errc::null_pointer);
    const auto c = takt::capi::to_configuration(options);
    if (!c) return fail(c.error());
    const auto made = TwistLaw::make(*c);
    if (!made) return fail(made.error());
    *law = std::make_unique<takt_twist_law>(takt_twist_law{*made}).release();
    return {};
  });
}

void takt_twist_law_destroy(takt_twist_law* law) { delete law; }

std::int32_t takt_twist_law_step(takt_twist_law* law, const takt_twist* wanted, double measured,
                                 std::int64_t period_ns, takt_drive_command* command) {
  if (law == nullptr || wanted == nullptr || command == nullptr) return to_status(Errc::null_pointer);
  const auto step = law->law.step(to_twist(*wanted), measured, seconds(period_ns));
  const takt::vehicle::DriveCommand& now = law->law.command();
  *command = {now.steering, now.throttle, now.brake};
  return step ? TAKT_OK : to_status(step.error());
}

void takt_twist_law_reset(takt_twist_law* law, double steering) {
  if (law != nullptr) law->law.reset(steering);
}
