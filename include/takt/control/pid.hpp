// PID control with two degrees of freedom. It also offers the conventions of other PID implementations, so
// that their gains can be used unchanged.
//
//     auto pid = Pid::make({.proportional = 80, .integral = 200, .output_min = -50, .output_max = 50});
//
//     const Step torque = pid->step(setpoint, measured, 0.001);  // every period; use torque.value
//
// With set-point r, measurement y, period h, e = r - y and feed-forward f, one step is
//
//   u = kp (b r - y) + I + kd D + f                       output = u within [output_min, output_max]
//   D = (Tf D' + (c r - y) - (c r' - y')) / (Tf + h)      filtered by 1/(Tf s + 1); ' means one step ago
//
//   I = I' + h ki e                                       integrated as the form says
//
// Here b weights the set-point in the proportional part, and c in the derivative. The default c = 0,
// derivative on measurement, gives no kick when the set-point steps. Sources: Astrom & Hagglund, "Advanced
// PID Control" (2006), chapters 3 and 6. The conventions come from the code of ros_control's control_toolbox
// (ROS 1 and ROS 2) and of the Dataspeed drive-by-wire controller.
//
// A value without heap; every function is real-time safe.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "takt/control/error.hpp"
#include "takt/control/step.hpp"
#include "takt/core/error.hpp"

namespace takt::control {

/// How a PID integrates the error over a period.
enum class Integration : std::uint8_t {
  forward_euler,   ///< the output uses all errors before the present one
  backward_euler,  ///< the present error counts for the whole period
  trapezoidal,     ///< the mean of the present and the last error counts
};

/// How a PID limits its integral while the output, or the integral's contribution, is at its limit.
enum class AntiWindup : std::uint8_t {
  none,                 ///< only the integral's contribution is kept within its limits
  clamping,             ///< the integral itself is kept within its limits, as in all modes below
  hold_when_saturated,  ///< the integral stops while the output is at a limit
  hold_when_deeper,     ///< it stops only if it would drive the output further beyond that limit
  hold_when_outward,    ///< it stops only if error and output have the same sign (ROS 2: for positive gains)
  back_calculation,  ///< it is reduced by (output - u) / tracking_time, or in one period if that is shorter
};

/// The quantity that the integral sums up.
enum class IntegralState : std::uint8_t {
  term,   ///< ki e: a change of ki does not step the output
  error,  ///< e, multiplied by ki afterwards: a change of ki steps the output
};

/// The formulas of a PID, chosen at compile time.
struct PidForm {
  Integration integration = Integration::backward_euler;
  AntiWindup anti_windup = AntiWindup::hold_when_deeper;
  IntegralState integral = IntegralState::term;
  bool derivative_from_zero =
      false;  ///< true: the first derivative is taken from zero, a kick; false: it is zero

  friend constexpr bool operator==(const PidForm&, const PidForm&) = default;
};

/// The conventions of other PIDs, up to the rounding of their formulas. Where their step would fail, takt's
/// rules apply: a period of zero, a NaN, a tracking time below the period. Their derivatives are on the
/// error: set derivative_weight to 1.
namespace conventions {
/// control_toolbox of ROS 1 without anti-windup.
inline constexpr PidForm ros1{Integration::backward_euler, AntiWindup::none, IntegralState::error, true};
/// control_toolbox of ROS 1 with anti-windup.
inline constexpr PidForm ros1_anti_windup{Integration::backward_euler, AntiWindup::clamping,
                                          IntegralState::error, true};
/// control_toolbox of ROS 2 without an anti-windup strategy.
inline constexpr PidForm ros2{Integration::forward_euler, AntiWindup::clamping, IntegralState::term, true};
/// control_toolbox of ROS 2 with conditional integration.
inline constexpr PidForm ros2_conditional{Integration::forward_euler, AntiWindup::hold_when_outward,
                                          IntegralState::term, true};
/// control_toolbox of ROS 2 with back-calculation.
inline constexpr PidForm ros2_back_calculation{Integration::forward_euler, AntiWindup::back_calculation,
                                               IntegralState::term, true};
/// The Dataspeed drive-by-wire controller.
inline constexpr PidForm dataspeed{Integration::forward_euler, AntiWindup::hold_when_saturated,
                                   IntegralState::error, true};
}  // namespace conventions

/// Gains and limits, in units of output u, error e and seconds.
template <class Scalar>
struct BasicPidGains {
  /// The value for no limit.
  static constexpr Scalar unlimited = std::numeric_limits<Scalar>::infinity();

  Scalar proportional = 0;  ///< u / e
  Scalar integral = 0;      ///< u / (e s)
  Scalar derivative = 0;    ///< u s / e
  Scalar setpoint_weight = 1;
  Scalar derivative_weight = 0;
  Scalar derivative_filter = 0;      ///< s: time constant; 0 = unfiltered
  Scalar tracking_time = 0;          ///< s, of back-calculation; 0: sqrt(kd/ki), or kp/ki without kd
  Scalar dead_band = 0;              ///< e: errors up to this magnitude are not integrated
  Scalar integral_min = -unlimited;  ///< u: of the integral's contribution; <= 0
  Scalar integral_max = unlimited;   ///< >= 0
  Scalar output_min = -unlimited;
  Scalar output_max = unlimited;

  friend constexpr bool operator==(const BasicPidGains&, const BasicPidGains&) = default;
};
using PidGains = BasicPidGains<double>;

namespace detail {

// The code below works on one number or on several side by side (pid_kernels.hpp): it has no branches, and
// select() replaces ?:.

template <class Mask, class Value>
[[nodiscard, gnu::always_inline]] constexpr Value select(Mask mask, Value then, Value otherwise) noexcept {
  return mask ? then : otherwise;
}

/// Clamps a value; NaN stays NaN.
template <class Value>
[[nodiscard, gnu::always_inline]] constexpr Value limit(Value value, Value low, Value high) noexcept {
  value = select(value < low, low, value);
  return select(value > high, high, value);
}

/// Zero for a finite number, NaN for NaN or infinity.
template <class Value>
[[nodiscard, gnu::always_inline]] constexpr Value probe(Value value) noexcept {
  return value - value;  // NOLINT(misc-redundant-expression): not redundant for NaN and infinity
}

/// False for NaN.
template <class Value>
[[nodiscard, gnu::always_inline]] constexpr auto is_number(Value value) noexcept {
  return value == value;  // NOLINT(misc-redundant-expression): as above
}

template <class Scalar>
[[nodiscard]] constexpr bool is_finite(Scalar value) noexcept {
  return probe(value) == 0;
}

/// The gains in the form that the step uses.
template <class Value>
struct PidCoefficients {
  Value proportional;
  Value integral;
  Value derivative;
  Value setpoint_weight;
  Value derivative_weight;
  Value derivative_filter;
  Value tracking_rate;
  Value dead_band;
  Value state_min;  ///< of the integral's state
  Value state_max;
  Value part_min;  ///< of the integral's contribution
  Value part_max;
  Value output_min;
  Value output_max;
};

/// The integral is kept away from the other members, because the next step waits for it. Compilers store
/// neighbours together, once both are known.
template <class Value>
struct PidState {
  Value slope;     ///< D
  Value slope_of;  ///< c r - y one step ago; NaN: the next step has no derivative
  Value output;
  Value error;  ///< one step ago, or NaN; used only by some forms
  Value integral;
};

/// Calls visit(x, y) for each member x of `a` and the same member y of `b`.
template <class A, class B, class Visit>
[[gnu::always_inline]] constexpr void visit_coefficients(A&& a, B&& b, Visit visit) noexcept {
  visit(a.proportional, b.proportional);
  visit(a.integral, b.integral);
  visit(a.derivative, b.derivative);
  visit(a.setpoint_weight, b.setpoint_weight);
  visit(a.derivative_weight, b.derivative_weight);
  visit(a.derivative_filter, b.derivative_filter);
  visit(a.tracking_rate, b.tracking_rate);
  visit(a.dead_band, b.dead_band);
  visit(a.state_min, b.state_min);
  visit(a.state_max, b.state_max);
  visit(a.part_min, b.part_min);
  visit(a.part_max, b.part_max);
  visit(a.output_min, b.output_min);
  visit(a.output_max, b.output_max);
}

template <class A, class B, class Visit>
[[gnu::always_inline]] constexpr void visit_state(A&& a, B&& b, Visit visit) noexcept {
  visit(a.slope, b.slope);
  visit(a.slope_of, b.slope_of);
  visit(a.output, b.output);
  visit(a.error, b.error);
  visit(a.integral, b.integral);
}

/// Clamps output and integral to the limits of new gains.
template <class Scalar>
constexpr void limit_state(PidState<Scalar>& state, const PidCoefficients<Scalar>& c) noexcept {
  state.output = limit(state.output, c.output_min, c.output_max);
  state.integral = limit(state.integral, c.state_min, c.state_max);
}

/// The state before the first step.
template <PidForm form, class Scalar>
[[nodiscard]] constexpr PidState<Scalar> fresh_state(const PidCoefficients<Scalar>& c,
                                                     Scalar integral = 0) noexcept {
  constexpr Scalar none = std::numeric_limits<Scalar>::quiet_NaN();
  PidState<Scalar> state{0, form.derivative_from_zero ? 0 : none, 0, none, integral};
  limit_state(state, c);
  return state;
}

/// Converts gains for the form. Errors: those of BasicPid::make().
template <PidForm form, class Scalar>
[[nodiscard]] Result<PidCoefficients<Scalar>> coefficients_of(const BasicPidGains<Scalar>& g) noexcept {
  constexpr Scalar unlimited = BasicPidGains<Scalar>::unlimited;
  for (const Scalar number : {g.proportional, g.integral, g.derivative, g.setpoint_weight,
                              g.derivative_weight, g.derivative_filter, g.tracking_time, g.dead_band}) {
    if (!is_finite(number)) return fail(Errc::not_finite);
  }
  for (const Scalar bound : {g.integral_min, g.integral_max, g.output_min, g.output_max}) {
    if (std::isnan(bound)) return fail(Errc::not_finite);
  }
  if (g.integral_min > g.integral_max || g.output_min > g.output_max) return fail(Errc::min_above_max);
  if (g.derivative_filter < 0 || g.tracking_time < 0 || g.dead_band < 0 || g.integral_min > 0 ||
      g.integral_max < 0)
    return fail(Errc::out_of_domain);

  PidCoefficients<Scalar> c{
      g.proportional,      g.integral, g.derivative, g.setpoint_weight, g.derivative_weight,
      g.derivative_filter, 0,          g.dead_band,  -unlimited,        unlimited,
      -unlimited,          unlimited,  g.output_min, g.output_max};
  // Only one of state and contribution is limited. Limiting one does not keep the other to the last digit.
  if constexpr (form.anti_windup == AntiWindup::none) {
    c.part_min = g.integral_min;
    c.part_max = g.integral_max;
  } else if constexpr (form.integral == IntegralState::term) {
    c.state_min = g.integral_min;
    c.state_max = g.integral_max;
  } else if (g.integral != 0) {
    c.state_min = std::min(g.integral_min / g.integral, g.integral_max / g.integral);
    c.state_max = std::max(g.integral_min / g.integral, g.integral_max / g.integral);
  }
  if constexpr (form.anti_windup == AntiWindup::back_calculation) {
    static_assert(form.integral == IntegralState::term, "back-calculation works on the integral term");
    if (g.integral != 0) {
      const Scalar usual =
          g.derivative != 0 ? std::sqrt(g.derivative / g.integral) : g.proportional / g.integral;
      c.tracking_rate = 1 / (g.tracking_time > 0 ? g.tracking_time : usual);
      if (!(c.tracking_rate > 0) || !is_finite(c.tracking_rate)) return fail(Errc::out_of_domain);
    }
  }
  return c;
}

template <class Value>
struct PidOutcome {
  PidState<Value> next;
  Value probe;  ///< zero if all numbers are finite, otherwise NaN
};

/// One step. `by_slope_time` divides by Tf + h.
template <PidForm form, class Value, class Divide>
[[nodiscard, gnu::always_inline]] constexpr PidOutcome<Value> pid_step(const PidCoefficients<Value>& g,
                                                                       const PidState<Value>& s,
                                                                       Value setpoint, Value measured,
                                                                       Value feed_forward, Value period,
                                                                       Divide by_slope_time) noexcept {
  const Value error = setpoint - measured;
  const Value slope_of = g.derivative_weight * setpoint - measured;
  Value slope_before = s.slope_of;
  if constexpr (!form.derivative_from_zero)
    slope_before = select(is_number(slope_before), slope_before, slope_of);
  const Value slope = by_slope_time(g.derivative_filter * s.slope + (slope_of - slope_before));

  Value summed = error;
  if constexpr (form.integration == Integration::trapezoidal)
    summed = (error + select(is_number(s.error), s.error, error)) / 2;
  // The integral does not advance in the dead band.
  const Value lasts = select(select(error < -error, -error, error) > g.dead_band, period, Value{});
  const Value rate = form.integral == IntegralState::term ? lasts * g.integral : lasts;
  Value integrated = s.integral + rate * summed;
  if constexpr (form.anti_windup != AntiWindup::none)
    integrated = limit(integrated, g.state_min, g.state_max);

  const Value used = form.integration == Integration::forward_euler ? s.integral : integrated;
  Value part = form.integral == IntegralState::term ? used : g.integral * used;
  if constexpr (form.anti_windup == AntiWindup::none) part = limit(part, g.part_min, g.part_max);
  // This order keeps the division and the integral, which the next step waits for, off the critical path as
  // far as possible.
  const Value wanted =
      g.proportional * (g.setpoint_weight * setpoint - measured) + feed_forward + part + g.derivative * slope;
  const Value output = limit(wanted, g.output_min, g.output_max);

  Value next = integrated;
  if constexpr (form.anti_windup == AntiWindup::hold_when_saturated) {
    next = select(wanted == output, integrated, s.integral);
  } else if constexpr (form.anti_windup == AntiWindup::hold_when_deeper) {
    const Value moves = integrated - s.integral;
    const Value push = form.integral == IntegralState::term ? moves : g.integral * moves;
    next = select((wanted - output) * push > Value{}, s.integral, integrated);
  } else if constexpr (form.anti_windup == AntiWindup::hold_when_outward) {
    const Value outward = select(wanted == output, Value{}, error * wanted);
    next = select(outward > Value{}, s.integral, integrated);
  } else if constexpr (form.anti_windup == AntiWindup::back_calculation) {
    const Value excess = output - wanted;
    const Value drawn = s.integral + lasts * (g.integral * summed + g.tracking_rate * excess);
    // a larger correction would oscillate and grow
    const Value at_once = s.integral + lasts * g.integral * summed + excess;
    next = limit(select(lasts * g.tracking_rate > Value{} + 1, at_once, drawn), g.state_min, g.state_max);
  }

  const Value remembered = form.integration == Integration::trapezoidal ? error : s.error;
  // Any NaN or overflow appears in one of these two.
  return {{slope, slope_of, output, remembered, next}, probe(wanted) + probe(next)};
}

}  // namespace detail

/// Whether reset() clears or keeps the integral.
enum class IntegralReset : std::uint8_t { clear, keep };

/// A PID controller. A value without heap; every function is real-time safe.
template <class Scalar, PidForm form = PidForm{}>
class BasicPid {
 public:
  using Gains = BasicPidGains<Scalar>;

  /// All gains are zero: the output is the feed-forward.
  BasicPid() noexcept : BasicPid(*detail::coefficients_of<form>(Gains{})) {}

  /// Errors: not_finite, min_above_max, out_of_domain. A time or the dead band must be >= 0, and the
  /// integral's limits must include zero. Back-calculation needs a positive tracking time.
  [[nodiscard]] static Result<BasicPid> make(const Gains& gains) noexcept {
    const auto coefficients = detail::coefficients_of<form>(gains);
    if (!coefficients) return fail(coefficients.error());
    return BasicPid(*coefficients);
  }

  /// Controls for one period (s). Errors: bad_period, not_finite (a NaN, an infinity, an overflow). Nothing
  /// changes then, and the value is the last good output.
  BasicStep<Scalar> step(Scalar setpoint, Scalar measured, Scalar period, Scalar feed_forward = 0) noexcept {
    if (!is_period(period)) return {state_.output, Errc::bad_period};
    const Scalar slope_time = coefficients_.derivative_filter + period;
    const auto outcome =
        detail::pid_step<form>(coefficients_, state_, setpoint, measured, feed_forward, period,
                               [slope_time](Scalar rise) { return rise / slope_time; });
    if (!(outcome.probe == 0)) return {state_.output, Errc::not_finite};
    // One by one, because g++ 12 would copy the whole struct through the stack.
    detail::visit_state(state_, outcome.next, [](Scalar& to, Scalar from) { to = from; });
    return {state_.output, {}};
  }

  /// Follows for one period (s) while another owner sets the output, for example manual mode. The integral
  /// follows, so that step() later continues without a bump. Without an integral gain there is a bump,
  /// because the integral could never remove the difference. Errors: as step(); the value is `output`,
  /// clamped to the output limits.
  BasicStep<Scalar> follow(Scalar output, Scalar setpoint, Scalar measured, Scalar period,
                           Scalar feed_forward = 0) noexcept {
    if (!detail::is_finite(output)) return {state_.output, Errc::not_finite};
    const detail::PidState<Scalar> before = state_;
    const BasicStep<Scalar> own = step(setpoint, measured, period, feed_forward);
    if (!own.ok()) return own;
    state_.output = detail::limit(output, coefficients_.output_min, coefficients_.output_max);
    const Scalar rest = coefficients_.proportional * (coefficients_.setpoint_weight * setpoint - measured) +
                        coefficients_.derivative * state_.slope + feed_forward;
    set_integral_part(state_.output - rest);
    if (detail::is_finite(state_.integral)) return {state_.output, {}};
    state_ = before;
    return {state_.output, Errc::not_finite};
  }

  /// Replaces the gains and keeps the state, so the output may step. Errors: those of make(); the old gains
  /// then stay.
  Status set(const Gains& gains) noexcept {
    const auto next = detail::coefficients_of<form>(gains);
    if (!next) return fail(next.error());
    use(*next);
    return {};
  }

  /// Replaces the gains without a bump. `setpoint` and `measured` must be those of the last step. The
  /// integral takes up the difference between the outputs of the old and the new gains. The output steps, as
  /// with set(), if there is no integral gain to remove the difference later, or if no step was made yet.
  /// Errors: those of make(); the old gains then stay.
  Status change(const Gains& gains, Scalar setpoint, Scalar measured) noexcept {
    const auto next = detail::coefficients_of<form>(gains);
    if (!next) return fail(next.error());
    if (!detail::is_finite(setpoint) || !detail::is_finite(measured)) return fail(Errc::not_finite);
    const auto rest = [&](const detail::PidCoefficients<Scalar>& c) {
      return c.proportional * (c.setpoint_weight * setpoint - measured) + c.derivative * state_.slope;
    };
    const Scalar part = integral_part() + rest(coefficients_) - rest(*next);
    const bool weight_changed = next->derivative_weight != coefficients_.derivative_weight;
    use(*next);
    set_integral_part(part);
    if (weight_changed && detail::is_number(state_.slope_of))
      state_.slope_of = coefficients_.derivative_weight * setpoint - measured;
    return {};
  }

  /// Returns to the initial state. The integral is cleared, or kept within its limits. Until the next step,
  /// output() is zero, or the output limit nearest to zero. The next step has no derivative. A form with
  /// derivative_from_zero takes it from zero, a kick.
  void reset(IntegralReset integral = IntegralReset::clear) noexcept {
    const Scalar kept = integral == IntegralReset::keep ? state_.integral : Scalar(0);
    state_ = detail::fresh_state<form>(coefficients_, kept);
  }

  /// The integral's contribution to the output, in units of the output.
  [[nodiscard]] Scalar integral_part() const noexcept {
    const Scalar part =
        form.integral == IntegralState::term ? state_.integral : coefficients_.integral * state_.integral;
    return detail::limit(part, coefficients_.part_min, coefficients_.part_max);
  }

  /// The last good output.
  [[nodiscard]] Scalar output() const noexcept { return state_.output; }

 private:
  explicit BasicPid(const detail::PidCoefficients<Scalar>& coefficients) noexcept
      : coefficients_(coefficients) {}

  void use(const detail::PidCoefficients<Scalar>& coefficients) noexcept {
    coefficients_ = coefficients;
    detail::limit_state(state_, coefficients_);
  }

  void set_integral_part(Scalar part) noexcept {
    if (coefficients_.integral == 0)
      part = 0;
    else if (form.integral == IntegralState::error)
      part /= coefficients_.integral;
    state_.integral = detail::limit(part, coefficients_.state_min, coefficients_.state_max);
  }

  detail::PidCoefficients<Scalar> coefficients_;
  detail::PidState<Scalar> state_ = detail::fresh_state<form>(coefficients_);
};
using Pid = BasicPid<double>;

}  // namespace takt::control
