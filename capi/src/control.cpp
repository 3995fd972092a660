// Controllers, limits and odometry of the C API.
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <variant>

#include "boundary.hpp"
#include "takt/control/joint_limiter.hpp"
#include "takt/control/pid.hpp"
#include "takt/mobile/differential_drive.hpp"
#include "takt/mobile/odometry.hpp"

using takt::fail;
using takt::Result;
using takt::Status;
using takt::capi::Errc;
using takt::capi::guarded;
using takt::capi::read_struct;
using takt::capi::seconds;
using takt::capi::to_status;
using takt::control::PidGains;
namespace conventions = takt::control::conventions;
namespace mobile = takt::mobile;

template <takt::control::PidForm form>
using PidOf = takt::control::BasicPid<double, form>;

struct takt_pid {
  std::variant<takt::control::Pid, PidOf<conventions::ros1>, PidOf<conventions::ros1_anti_windup>,
               PidOf<conventions::ros2>, PidOf<conventions::ros2_conditional>,
               PidOf<conventions::ros2_back_calculation>, PidOf<conventions::dataspeed>>
      pid;  // in the order of TAKT_PID_...
};

struct takt_joint_limiter {
  takt::control::JointLimiter limiter;
};

struct takt_odometry {
  mobile::Odometry odometry;
};

namespace {

using AnyPid = decltype(takt_pid::pid);

/// The variant's alternative of this number, made from the gains.
template <std::size_t Index = 0>
Result<AnyPid> make_pid(std::int32_t form, const PidGains& gains) {
  if constexpr (Index == std::variant_size_v<AnyPid>) {
    return fail(Errc::bad_argument);
  } else {
    if (form != static_cast<std::int32_t>(Index)) return make_pid<Index + 1>(form, gains);
    auto pid = std::variant_alternative_t<Index, AnyPid>::make(gains);
    if (!pid) return fail(pid.error());
    return AnyPid(std::in_place_index<Index>, *pid);
  }
}

/// The status of a step of the control room.
std::int32_t status_of(takt::control::Errc error) noexcept {
  return error == takt::control::Errc{} ? TAKT_OK : to_status(error);
}

std::int32_t limit(takt_joint_limiter* limiter, takt_motion_state* reference, auto&& step) noexcept {
  if (limiter == nullptr || reference == nullptr) return to_status(Errc::null_pointer);
  const takt::control::ReferenceStep done = step(limiter->limiter);
  *reference = {done.value.position, done.value.velocity, done.value.acceleration};
  return status_of(done.error);
}

mobile::Twist to_twist(const takt_twist& twist) noexcept {
  return {twist.forward, twist.left, twist.rotation};
}

}  // namespace

// ---- PID -----------------------------------------------------------------------------------------------------------------

void takt_pid_gains_init(takt_pid_gains* gains) {
  if (gains == nullptr) return;
  const PidGains none;
  *gains = {sizeof *gains,
            TAKT_PID_TAKT,
            0,
            0,
            0,
            none.setpoint_weight,
            0,
            0,
            0,
            0,
            none.integral_min,
            none.integral_max,
            none.output_min,
            none.output_max};
}

std::int32_t takt_pid_create(const takt_pid_gains* gains, takt_pid** pid) {
  return guarded([&]() -> Status {
    if (pid == nullptr) return fail(Errc::null_pointer);
    const auto g = read_struct(gains, sizeof(takt_pid_gains));
    if (!g) return fail(g.error());
    PidGains own;
    own.proportional = g->proportional;
    own.integral = g->integral;
    own.derivative = g->derivative;
    own.setpoint_weight = g->setpoint_weight;
    own.derivative_weight = g->derivative_weight;
    own.derivative_filter = g->derivative_filter;
    own.tracking_time = g->tracking_time;
    own.dead_band = g->dead_band;
    own.integral_min = g->integral_min;
    own.integral_max = g->integral_max;
    own.output_min = g->output_min;
    own.output_max = g->output_max;
    auto made = make_pid(g->form, own);
    if (!made) return fail(made.error());
    *pid = std::make_unique<takt_pid>(takt_pid{*made}).release();
    return {};
  });
}

void takt_pid_destroy(takt_pid* pid) { delete pid; }

std::int32_t takt_pid_step(takt_pid* pid, double setpoint, double measured, double feed_forward,
                           std::int64_t period_ns, double* output) {
  if (pid == nullptr || output == nullptr) return to_status(Errc::null_pointer);
  const takt::control::Step step = std::visit(
      [&](auto& own) { return own.step(setpoint, measured, seconds(period_ns), feed_forward); }, pid->pid);
  *output = step.value;
  return status_of(step.error);
}

std::int32_t takt_pid_follow(takt_pid* pid, double output, double setpoint, double measured,
                             double feed_forward, std::int64_t period_ns) {
  if (pid == nullptr) return to_status(Errc::null_pointer);
  const takt::control::Step step = std::visit(
      [&](auto& own) { return own.follow(output, setpoint, measured, seconds(period_ns), feed_forward); },
      pid->pid);
  return status_of(step.error);
}

void takt_pid_reset(takt_pid* pid, std::int32_t keep_integral) {
  if (pid == nullptr) return;
  using takt::control::IntegralReset;
  std::visit([&](auto& own) { own.reset(keep_integral != 0 ? IntegralReset::keep : IntegralReset::clear); },
             pid->pid);
}

// ---- joint limits --------------------------------------------------------------------------------------------------------

std::int32_t takt_joint_limiter_create(const takt_joint_limits* limits, takt_joint_limiter** limiter) {
  return guarded([&]() -> Status {
    if (limits == nullptr || limiter == nullptr) return fail(Errc::null_pointer);
    auto made = takt::control::JointLimiter::make(takt::capi::to_joint_limits(*limits));
    if (!made) return fail(made.error());
    *limiter = std::make_unique<takt_joint_limiter>(takt_joint_limiter{*made}).release();
    return {};
  });
}

void takt_joint_limiter_destroy(takt_joint_limiter* limiter) { delete limiter; }

std::int32_t takt_joint_limiter_reset(takt_joint_limiter* limiter, const takt_motion_state* state) {
  if (limiter == nullptr || state == nullptr) return to_status(Errc::null_pointer);
  return to_status(limiter->limiter.reset({state->position, state->velocity, state->acceleration}));
}

std::int32_t takt_joint_limiter_toward_position(takt_joint_limiter* limiter, double position,
                                                std::int64_t period_ns, takt_motion_state* reference) {
  return limit(limiter, reference,
               [&](auto& own) { return own.toward_position(position, seconds(period_ns)); });
}

std::int32_t takt_joint_limiter_toward_velocity(takt_joint_limiter* limiter, double velocity,
                                                std::int64_t period_ns, takt_motion_state* reference) {
  return limit(limiter, reference,
               [&](auto& own) { return own.toward_velocity(velocity, seconds(period_ns)); });
}

// ---- odometry ------------------------------------------------------------------------------------------------------------

std::int32_t takt_differential_twist(double left_radius, double right_radius, double track, double left,
                                     double right, takt_twist* twist) {
  if (twist == nullptr) return to_status(Errc::null_pointer);
  const auto drive = mobile::DifferentialDrive::make({left_radius, right_radius, track});
  if (!drive) return to_status(drive.error());
  const mobile::Twist made = drive->twist({left, right});
  if (!mobile::detail::is_finite(made)) return to_status(mobile::Errc::not_finite);
  *twist = {made.forward, made.left, made.rotation};
  return TAKT_OK;
}

std::int32_t takt_differential_wheels(double left_radius, double right_radius, double track,
                                      const takt_twist* twist, double* left, double* right) {
  if (twist == nullptr || left == nullptr || right == nullptr) return to_status(Errc::null_pointer);
  const auto drive = mobile::DifferentialDrive::make({left_radius, right_radius, track});
  if (!drive) return to_status(drive.error());
  if (!mobile::detail::is_finite(to_twist(*twist))) return to_status(mobile::Errc::not_finite);
  const mobile::Sides wheels = drive->wheels(to_twist(*twist));
  *left = wheels.left;
  *right = wheels.right;
  return TAKT_OK;
}

void takt_odometry_options_init(takt_odometry_options* options) {
  if (options == nullptr) return;
  *options = {sizeof *options, 0, 500'000'000, 0, 0, 0, 0};
}

std::int32_t takt_odometry_create(const takt_odometry_options* options, takt_odometry** odometry) {
  return guarded([&]() -> Status {
    if (odometry == nullptr) return fail(Errc::null_pointer);
    takt_odometry_options usual;
    takt_odometry_options_init(&usual);
    const auto o =
        read_struct(options != nullptr ? options : &usual, offsetof(takt_odometry_options, forward_by_way));
    if (!o) return fail(o.error());
    if (o->reserved != 0) return fail(Errc::bad_argument);
    auto made = mobile::Odometry::make(
        {mobile::Integration::exact_arc,
         seconds(o->timeout_ns),
         {o->forward_by_way, o->left_by_way, o->heading_by_way, o->heading_by_rotation}});
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

std::int32_t takt_odometry_set(takt_odometry* odometry, const takt_pose* pose) {
  if (odometry == nullptr || pose == nullptr) return to_status(Errc::null_pointer);
  return to_status(odometry->odometry.set({pose->x, pose->y, pose->heading}));
}

std::int32_t takt_odometry_get(const takt_odometry* odometry, takt_pose* pose, double* covariance) {
  if (odometry == nullptr) return to_status(Errc::null_pointer);
  const mobile::Pose& at = odometry->odometry.pose();
  if (pose != nullptr) *pose = {at.x, at.y, at.heading};
  if (covariance != nullptr) {
    for (int row = 0; row < 3; ++row) {
      for (int column = 0; column < 3; ++column)
        covariance[3 * row + column] = odometry->odometry.covariance()(row, column);
    }
  }
  return TAKT_OK;
}
