// Controllers, limits, filters and transmissions of the C API.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <variant>

#include "boundary.hpp"
#include "takt/control/biquad.hpp"
#include "takt/control/joint_limiter.hpp"
#include "takt/control/low_pass.hpp"
#include "takt/control/pid.hpp"
#include "takt/control/rate_limiter.hpp"
#include "takt/control/transmission.hpp"

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

template <takt::control::PidForm form>
using PidOf = takt::control::BasicPid<double, form>;

struct takt_pid {
  std::variant<takt::control::Pid, PidOf<conventions::ros1>, PidOf<conventions::ros1_anti_windup>,
               PidOf<conventions::ros2>, PidOf<conventions::ros2_conditional>,
               PidOf<conventions::ros2_back_calculation>, PidOf<conventions::dataspeed>>
      pid;  // in the order of takt_pid_form
};
// A PID in the caller's memory is never destroyed.
static_assert(std::is_trivially_destructible_v<takt_pid>);

struct takt_joint_limiter {
  takt::control::JointLimiter limiter;
};

struct takt_rate_limiter {
  takt::control::RateLimiter limiter;
};

struct takt_filter {
  std::variant<takt::control::LowPass, takt::control::Biquad> filter;
};

template <class Sizes>
struct SquareTransmissions;
template <std::size_t... sizes>
struct SquareTransmissions<std::index_sequence<sizes...>> {
  using type = std::variant<takt::control::Transmission<sizes + 1>...>;
};

struct takt_transmission {
  SquareTransmissions<std::make_index_sequence<TAKT_MAX_TRANSMISSION>>::type transmission;
};

namespace {

using AnyPid = decltype(takt_pid::pid);

/// Makes the variant's alternative with this number from the gains.
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

PidGains gains_of(const takt_pid_gains& gains) noexcept {
  PidGains own;
  own.proportional = gains.proportional;
  own.integral = gains.integral;
  own.derivative = gains.derivative;
  own.setpoint_weight = gains.setpoint_weight;
  own.derivative_weight = gains.derivative_weight;
  own.derivative_filter = gains.derivative_filter;
  own.tracking_time = gains.tracking_time;
  own.dead_band = gains.dead_band;
  own.integral_min = gains.integral_min;
  own.integral_max = gains.integral_max;
  own.output_min = gains.output_min;
  own.output_max = gains.output_max;
  return own;
}

/// Makes a PID from the caller's gains.
Result<AnyPid> read_pid(const takt_pid_gains* gains) noexcept {
  const auto known = read_struct(gains);
  if (!known) return fail(known.error());
  return make_pid(known->form, gains_of(*known));
}

/// Converts the error of a step to a status.
std::int32_t status_of(takt::control::Errc error) noexcept {
  return error == takt::control::Errc{} ? TAKT_OK : to_status(error);
}

std::int32_t limit(takt_joint_limiter* limiter, takt_motion_state* reference, auto&& step) noexcept {
  if (limiter == nullptr || reference == nullptr) return to_status(Errc::null_pointer);
  const takt::control::ReferenceStep done = step(limiter->limiter);
  *reference = {done.value.position, done.value.velocity, done.value.acceleration};
  return status_of(done.error);
}

/// Copies the caller's numbers; zeros for NULL.
template <std::size_t Size>
std::array<double, Size> read_array(const double* numbers) noexcept {
  std::array<double, Size> values{};
  if (numbers != nullptr) std::copy_n(numbers, Size, values.begin());
  return values;
}

template <std::size_t Size>
Status keep(const Result<takt::control::Transmission<Size>>& made, takt_transmission** transmission) {
  if (!made) return fail(made.error());
  *transmission = std::make_unique<takt_transmission>(takt_transmission{*made}).release();
  return {};
}

template <std::size_t Size = 1>
Status make_transmission(const double* matrix, std::size_t size, const double* offsets,
                         takt_transmission** transmission) {
  if constexpr (Size > TAKT_MAX_TRANSMISSION) {
    return fail(takt::control::Errc::wrong_size);
  } else {
    if (size != Size) return make_transmission<Size + 1>(matrix, size, offsets, transmission);
    return keep(
        takt::control::Transmission<Size>::make(read_array<Size * Size>(matrix), read_array<Size>(offsets)),
        transmission);
  }
}

std::int32_t make_pair(auto make, const double* actuator_reductions, const double* joint_reductions,
                       const double* offsets, takt_transmission** transmission) noexcept {
  return guarded([&]() -> Status {
    if (actuator_reductions == nullptr || joint_reductions == nullptr || transmission == nullptr)
      return fail(Errc::null_pointer);
    return keep(
        make(read_array<2>(actuator_reductions), read_array<2>(joint_reductions), read_array<2>(offsets)),
        transmission);
  });
}

/// Calls `move(transmission, from)` with the transmission's own size.
std::int32_t transmit(const takt_transmission* transmission, std::size_t size, const double* from, double* to,
                      auto&& move) noexcept {
  if (transmission == nullptr || from == nullptr || to == nullptr) return to_status(Errc::null_pointer);
  return std::visit(
      [&]<std::size_t Size>(const takt::control::Transmission<Size>& own) {
        if (size != Size) return to_status(takt::control::Errc::wrong_size);
        const Result<std::array<double, Size>> moved = move(own, read_array<Size>(from));
        if (!moved) return to_status(moved.error());
        std::copy(moved->begin(), moved->end(), to);
        return static_cast<std::int32_t>(TAKT_OK);
      },
      transmission->transmission);
}

}  // namespace

// ---- PID ----

void takt_pid_gains_init(takt_pid_gains* gains, std::size_t size) {
  const PidGains none;
  takt_pid_gains made{};
  made.setpoint_weight = none.setpoint_weight;
  made.integral_min = none.integral_min;
  made.integral_max = none.integral_max;
  made.output_min = none.output_min;
  made.output_max = none.output_max;
  takt::capi::init_struct(gains, size, made);
}

std::int32_t takt_pid_create(const takt_pid_gains* gains, takt_pid** pid) {
  return guarded([&]() -> Status {
    if (pid == nullptr) return fail(Errc::null_pointer);
    const auto made = read_pid(gains);
    if (!made) return fail(made.error());
    *pid = std::make_unique<takt_pid>(takt_pid{*made}).release();
    return {};
  });
}

void takt_pid_destroy(takt_pid* pid) { delete pid; }

std::size_t takt_pid_size() { return sizeof(takt_pid); }
std::size_t takt_pid_align() { return alignof(takt_pid); }

std::int32_t takt_pid_init_in(void* memory, std::size_t size, const takt_pid_gains* gains, takt_pid** pid) {
  if (pid == nullptr) return to_status(Errc::null_pointer);
  if (Status status = takt::capi::check_memory(memory, size, sizeof(takt_pid), alignof(takt_pid)); !status)
    return to_status(status);
  const auto made = read_pid(gains);
  if (!made) return to_status(made.error());
  *pid = new (memory) takt_pid{*made};
  return TAKT_OK;
}

std::int32_t takt_pid_step(takt_pid* pid, double setpoint, double measured, std::int64_t period_ns,
                           double feed_forward, double* output) {
  if (pid == nullptr || output == nullptr) return to_status(Errc::null_pointer);
  const takt::control::Step step = std::visit(
      [&](auto& own) { return own.step(setpoint, measured, seconds(period_ns), feed_forward); }, pid->pid);
  *output = step.value;
  return status_of(step.error);
}

std::int32_t takt_pid_follow(takt_pid* pid, double output, double setpoint, double measured,
                             std::int64_t period_ns, double feed_forward) {
  if (pid == nullptr) return to_status(Errc::null_pointer);
  const takt::control::Step step = std::visit(
      [&](auto& own) { return own.follow(output, setpoint, measured, seconds(period_ns), feed_forward); },
      pid->pid);
  return status_of(step.error);
}

std::int32_t takt_pid_change(takt_pid* pid, const takt_pid_gains* gains, double setpoint, double measured) {
  if (pid == nullptr) return to_status(Errc::null_pointer);
  const auto g = read_struct(gains);
  if (!g) return to_status(g.error());
  if (g->form != static_cast<std::int32_t>(pid->pid.index())) return to_status(Errc::bad_argument);
  return to_status(
      std::visit([&](auto& own) { return own.change(gains_of(*g), setpoint, measured); }, pid->pid));
}

void takt_pid_reset(takt_pid* pid, std::int32_t keep_integral) {
  if (pid == nullptr) return;
  using takt::control::IntegralReset;
  std::visit([&](auto& own) { own.reset(keep_integral != 0 ? IntegralReset::keep : IntegralReset::clear); },
             pid->pid);
}

// ---- joint limits ----

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

// ---- rate limiter ----

void takt_rate_limits_init(takt_rate_limits* limits, std::size_t size) {
  const takt::control::RateLimiter::Limits none;
  takt::capi::init_struct(limits, size,
                          {0, 0, none.min, none.max, none.forward_acceleration, none.forward_braking,
                           none.reverse_acceleration, none.reverse_braking, none.second});
}

std::int32_t takt_rate_limiter_create(const takt_rate_limits* limits, takt_rate_limiter** limiter) {
  return guarded([&]() -> Status {
    if (limiter == nullptr) return fail(Errc::null_pointer);
    const auto l = read_struct(limits);
    if (!l) return fail(l.error());
    if (l->reserved != 0) return fail(Errc::bad_argument);
    auto made = takt::control::RateLimiter::make({l->min, l->max, l->forward_acceleration, l->forward_braking,
                                                  l->reverse_acceleration, l->reverse_braking, l->second});
    if (!made) return fail(made.error());
    *limiter = std::make_unique<takt_rate_limiter>(takt_rate_limiter{*made}).release();
    return {};
  });
}

void takt_rate_limiter_destroy(takt_rate_limiter* limiter) { delete limiter; }

void takt_rate_limiter_reset(takt_rate_limiter* limiter, double value) {
  if (limiter != nullptr) limiter->limiter.reset(value);
}

std::int32_t takt_rate_limiter_step(takt_rate_limiter* limiter, double target, std::int64_t period_ns,
                                    double* value) {
  if (limiter == nullptr || value == nullptr) return to_status(Errc::null_pointer);
  const takt::control::Step step = limiter->limiter.step(target, seconds(period_ns));
  *value = step.value;
  return status_of(step.error);
}

// ---- filters ----

std::int32_t takt_filter_create(std::int32_t kind, double frequency, double quality, std::int64_t period_ns,
                                takt_filter** filter) {
  return guarded([&]() -> Status {
    using takt::control::Biquad;
    if (filter == nullptr) return fail(Errc::null_pointer);
    const auto own = [&](const auto& made) -> Status {
      if (!made) return fail(made.error());
      *filter = std::make_unique<takt_filter>(takt_filter{*made}).release();
      return {};
    };
    const Biquad::Design design{frequency, quality, seconds(period_ns)};
    switch (kind) {
      case TAKT_FILTER_FIRST_ORDER:
        return own(takt::control::LowPass::from_cutoff(frequency, seconds(period_ns)));
      case TAKT_FILTER_LOW_PASS:
        return own(Biquad::low_pass(design));
      case TAKT_FILTER_HIGH_PASS:
        return own(Biquad::high_pass(design));
      case TAKT_FILTER_BAND_PASS:
        return own(Biquad::band_pass(design));
      case TAKT_FILTER_NOTCH:
        return own(Biquad::notch(design));
      default:
        return fail(Errc::bad_argument);
    }
  });
}

void takt_filter_destroy(takt_filter* filter) { delete filter; }

std::int32_t takt_filter_step(takt_filter* filter, double sample, double* value) {
  if (filter == nullptr || value == nullptr) return to_status(Errc::null_pointer);
  const takt::control::Step step = std::visit([&](auto& own) { return own.step(sample); }, filter->filter);
  *value = step.value;
  return status_of(step.error);
}

void takt_filter_reset(takt_filter* filter) {
  if (filter != nullptr) std::visit([](auto& own) { own.reset(); }, filter->filter);
}

// ---- transmissions ----

std::int32_t takt_transmission_create(const double* matrix, std::size_t size, const double* offsets,
                                      takt_transmission** transmission) {
  return guarded([&]() -> Status {
    if (matrix == nullptr || transmission == nullptr) return fail(Errc::null_pointer);
    return make_transmission(matrix, size, offsets, transmission);
  });
}

std::int32_t takt_transmission_create_differential(const double* actuator_reductions,
                                                   const double* joint_reductions, const double* offsets,
                                                   takt_transmission** transmission) {
  return make_pair(takt::control::differential_transmission<double>, actuator_reductions, joint_reductions,
                   offsets, transmission);
}

std::int32_t takt_transmission_create_four_bar(const double* actuator_reductions,
                                               const double* joint_reductions, const double* offsets,
                                               takt_transmission** transmission) {
  return make_pair(takt::control::four_bar_transmission<double>, actuator_reductions, joint_reductions,
                   offsets, transmission);
}

void takt_transmission_destroy(takt_transmission* transmission) { delete transmission; }

std::int32_t takt_transmission_to_joints(const takt_transmission* transmission, std::int32_t quantity,
                                         std::size_t size, const double* actuators, double* joints) {
  return transmit(
      transmission, size, actuators, joints,
      [&]<std::size_t Size>(const takt::control::Transmission<Size>& own,
                            const std::array<double, Size>& from) -> Result<std::array<double, Size>> {
        if (quantity == TAKT_TRANSMISSION_POSITIONS) return own.joint_positions(from);
        if (quantity == TAKT_TRANSMISSION_VELOCITIES) return own.joint_velocities(from);
        if (quantity == TAKT_TRANSMISSION_EFFORTS) return own.joint_efforts(from);
        return fail(Errc::bad_argument);
      });
}

std::int32_t takt_transmission_to_actuators(const takt_transmission* transmission, std::int32_t quantity,
                                            std::size_t size, const double* joints, double* actuators) {
  return transmit(
      transmission, size, joints, actuators,
      [&]<std::size_t Size>(const takt::control::Transmission<Size>& own,
                            const std::array<double, Size>& from) -> Result<std::array<double, Size>> {
        if (quantity == TAKT_TRANSMISSION_POSITIONS) return own.actuator_positions(from);
        if (quantity == TAKT_TRANSMISSION_VELOCITIES) return own.actuator_velocities(from);
        if (quantity == TAKT_TRANSMISSION_EFFORTS) return own.actuator_efforts(from);
        return fail(Errc::bad_argument);
      });
}
