// Quintic polynomials: the lowest degree that joins two states of position, velocity and acceleration.
// Quintic describes one joint; QuinticSegment describes one motion of many joints, for sampling in a control
// loop. Cubics and straight lines are quintics whose upper coefficients are zero. All are written in s =
// t/duration, 0 .. 1. Then every coefficient is a position (rad or m), none can overflow, and a change of
// speed changes only the duration.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "takt/core/error.hpp"
#include "takt/core/joint.hpp"
#include "takt/trajectory/columns.hpp"
#include "takt/trajectory/domain.hpp"
#include "takt/trajectory/error.hpp"
#include "takt/trajectory/kernels.hpp"
#include "takt/trajectory/roots.hpp"

namespace takt::trajectory {

/// A value and its time, in seconds from the start of the segment.
template <class Scalar>
struct Extremum {
  Scalar time = 0;
  Scalar value = 0;
};

/// Smallest and largest value of a quantity over a segment.
template <class Scalar>
struct Extrema {
  Extremum<Scalar> min;
  Extremum<Scalar> max;

  /// The extremum of larger magnitude.
  [[nodiscard]] constexpr Extremum<Scalar> peak() const noexcept {
    return -min.value > max.value ? min : max;
  }
};

namespace detail {
/// The coefficients of one segment of many joints, in memory order, for the loops of kernels.hpp.
template <class Scalar>
struct SegmentRows {
  const Kernels<Scalar>* kernels;
  const Scalar* coefficients;
  std::size_t stride;
  std::size_t joints;
  Scalar duration;
};
}  // namespace detail

/// The degree of the polynomial between two states. It decides which of their values the polynomial takes
/// over.
enum class Degree : std::uint8_t {
  linear = 1,   ///< positions only
  cubic = 3,    ///< positions and velocities
  quintic = 5,  ///< positions, velocities and accelerations
};

/// One joint's quintic over [0, duration]. A value; every function is real-time safe.
template <class Scalar>
class BasicQuintic {
 public:
  using State = BasicMotionState<Scalar>;

  /// Rests at zero.
  constexpr BasicQuintic() = default;

  /// Takes coefficients in powers of s = t/duration. The duration (s) must be positive.
  constexpr BasicQuintic(const Polynomial<Scalar, 6>& coefficients, Scalar duration) noexcept
      : c_(coefficients), duration_(duration), rate_(1 / duration) {}

  /// The polynomial from `start` to `end` in `duration` seconds. The duration must be positive (domain.hpp);
  /// it is not checked. A lower degree gives a quintic whose upper coefficients are zero. Source: the Hermite
  /// conditions at both ends, solved by hand.
  [[nodiscard]] static constexpr BasicQuintic between(const State& start, const State& end, Scalar duration,
                                                      Degree degree = Degree::quintic) noexcept {
    const Scalar squared = duration * duration;
    const Scalar d = end.position - start.position;
    if (degree == Degree::linear) return BasicQuintic({start.position, d, 0, 0, 0, 0}, duration);
    const Scalar v0 = start.velocity * duration;
    const Scalar v1 = end.velocity * duration;
    if (degree == Degree::cubic) {
      return BasicQuintic({start.position, v0, 3 * d - 2 * v0 - v1, v0 + v1 - 2 * d, 0, 0}, duration);
    }
    const Scalar a0 = start.acceleration * squared / 2;
    const Scalar a1 = end.acceleration * squared / 2;
    const detail::UpperCoefficients<Scalar> upper(d, v0, v1, a0, a1);
    return BasicQuintic({start.position, v0, a0, upper.third, upper.fourth, upper.fifth}, duration);
  }

  /// In seconds.
  [[nodiscard]] constexpr Scalar duration() const noexcept { return duration_; }

  /// In powers of s = t/duration.
  [[nodiscard]] constexpr const Polynomial<Scalar, 6>& coefficients() const noexcept { return c_; }

  /// Values at t seconds. Outside [0, duration] they are those of the same polynomial.
  [[nodiscard]] constexpr Scalar position(Scalar t) const noexcept { return evaluate(c_, t * rate_); }
  /// rad/s or m/s.
  [[nodiscard]] constexpr Scalar velocity(Scalar t) const noexcept {
    return rate_ * evaluate(by_s<1>(), t * rate_);
  }
  /// rad/s^2 or m/s^2.
  [[nodiscard]] constexpr Scalar acceleration(Scalar t) const noexcept {
    return rate_ * rate_ * evaluate(by_s<2>(), t * rate_);
  }
  /// rad/s^3 or m/s^3.
  [[nodiscard]] constexpr Scalar jerk(Scalar t) const noexcept {
    return rate_ * rate_ * rate_ * evaluate(by_s<3>(), t * rate_);
  }
  /// Position, velocity and acceleration at t seconds.
  [[nodiscard]] constexpr State at(Scalar t) const noexcept {
    return {position(t), velocity(t), acceleration(t)};
  }

  /// The part from time `from` on that lasts `duration` (s), as a polynomial of its own. Source: Taylor's
  /// expansion, by repeated synthetic division.
  [[nodiscard]] constexpr BasicQuintic part(Scalar from, Scalar duration) const noexcept {
    const Scalar shift = from * rate_;
    const Scalar stretch = duration * rate_;
    Polynomial<Scalar, 6> c = c_;
    Scalar power = 1;
    for (std::size_t k = 0; k < c.size(); ++k) {
      for (std::size_t i = c.size() - 1; i-- > k;) c[i] += shift * c[i + 1];
      c[k] *= power;
      power *= stretch;
    }
    return BasicQuintic(c, duration);
  }

  /// Exact extrema over [0, duration], from the ends and the roots of the derivative.
  [[nodiscard]] Extrema<Scalar> position_extrema() const noexcept { return extrema<0>(); }
  [[nodiscard]] Extrema<Scalar> velocity_extrema() const noexcept { return extrema<1>(); }
  [[nodiscard]] Extrema<Scalar> acceleration_extrema() const noexcept { return extrema<2>(); }
  [[nodiscard]] Extrema<Scalar> jerk_extrema() const noexcept { return extrema<3>(); }

  /// The n-th derivative by s, as a polynomial in s. Multiplied by duration^-n it is the derivative by time.
  template <std::size_t Order>
  [[nodiscard]] constexpr auto by_s() const noexcept {
    if constexpr (Order == 0) {
      return c_;
    } else {
      return derivative(by_s<Order - 1>());
    }
  }

  /// Exact extrema over [0, duration] of the derivative of the given order (0 position .. 3 jerk).
  template <std::size_t Order>
  [[nodiscard]] Extrema<Scalar> extrema() const noexcept {
    const auto polynomial = by_s<Order>();
    Scalar scale = 1;
    for (std::size_t i = 0; i < Order; ++i) scale *= rate_;
    Extrema<Scalar> result{{0, scale * polynomial[0]}, {0, scale * polynomial[0]}};
    const auto visit = [&](Scalar s) {
      const Extremum<Scalar> here{s * duration_, scale * evaluate(polynomial, s)};
      if (here.value < result.min.value) result.min = here;
      if (here.value > result.max.value) result.max = here;
    };
    for (const Scalar s : roots_in(derivative(polynomial), Scalar{0}, Scalar{1})) visit(s);
    visit(1);
    return result;
  }

 private:
  Polynomial<Scalar, 6> c_{};
  Scalar duration_ = 1;
  Scalar rate_ = 1;
};
using Quintic = BasicQuintic<double>;

/// One motion of joints that share a duration. With a fixed number of `Joints` it is a value without heap.
/// With std::dynamic_extent the constructor allocates. set() and all other functions are real-time safe.
template <class Scalar, std::size_t Joints = std::dynamic_extent>
class BasicQuinticSegment {
  static constexpr bool is_fixed = Joints != std::dynamic_extent;

 public:
  using State = BasicMotionState<Scalar>;

  /// An empty object without joints; assign a sized one to it.
  BasicQuinticSegment() requires(!is_fixed) = default;

  /// Rests at zero for one second.
  BasicQuinticSegment() noexcept requires(is_fixed) : BasicQuinticSegment(Sized{}, Joints) {}

  /// Rests at zero for one second, with `joints` joints. Allocates.
  explicit BasicQuinticSegment(std::size_t joints) requires(!is_fixed)
      : BasicQuinticSegment(Sized{}, joints) {}
  [[nodiscard]] std::size_t joints() const noexcept { return joints_; }

  /// In seconds.
  [[nodiscard]] Scalar duration() const noexcept { return duration_; }

  /// Replaces the motion by one from `start` to `end` (one state per joint) in `duration` seconds. If
  /// `degree` is below quintic, the derivatives that it does not take over step at both ends. Errors:
  /// wrong_size, not_finite, out_of_domain (domain.hpp). After an error the old motion stays. Real-time safe.
  [[nodiscard]] Status set(std::span<const State> start, std::span<const State> end, Scalar duration,
                           Degree degree = Degree::quintic) noexcept {
    if (start.size() != joints_ || end.size() != joints_) return fail(Errc::wrong_size);
    if (Status status = check_duration(duration); !status) return status;
    for (std::size_t j = 0; j < joints_; ++j) {
      if (Status status = check_state(start[j]); !status) return status;
      if (Status status = check_state(end[j]); !status) return status;
    }
    duration_ = duration;
    rate_ = 1 / duration;
    for (std::size_t j = 0; j < joints_; ++j) {
      const auto quintic = BasicQuintic<Scalar>::between(start[j], end[j], duration, degree);
      for (std::size_t k = 0; k < 6; ++k) coefficients_[k * stride_ + j] = quintic.coefficients()[k];
      end_[j] = end[j].position;
      end_[stride_ + j] = degree == Degree::linear ? quintic.velocity(duration) : end[j].velocity;
      end_[2 * stride_ + j] =
          degree == Degree::quintic ? end[j].acceleration : quintic.acceleration(duration);
    }
    return {};
  }

  /// Writes position, velocity and acceleration of all joints at t seconds. Before the start they are those
  /// of the start, from the end on exactly those of the end. A span shorter than joints() receives that many
  /// joints. Real-time safe.
  void sample(Scalar t, std::span<Scalar> position, std::span<Scalar> velocity,
              std::span<Scalar> acceleration) const noexcept {
    const std::size_t count = std::min({joints_, position.size(), velocity.size(), acceleration.size()});
    if (count == 0) return;
    if (t >= duration_) {
      std::copy_n(end_.data(), count, position.data());
      std::copy_n(end_.data() + stride_, count, velocity.data());
      std::copy_n(end_.data() + 2 * stride_, count, acceleration.data());
      return;
    }
    const Scalar s = t > 0 ? t * rate_ : 0;  // NaN gives the start
    kernels_->sample(coefficients_.data(), stride_, count, s, rate_, position.data(), velocity.data(),
                     acceleration.data());
  }

  /// The polynomial of one joint. If the joint does not exist, a polynomial that rests at zero.
  [[nodiscard]] BasicQuintic<Scalar> joint(std::size_t joint) const noexcept {
    if (joint >= joints_) return {};
    Polynomial<Scalar, 6> c{};
    for (std::size_t k = 0; k < 6; ++k) c[k] = coefficients_[k * stride_ + joint];
    return {c, duration_};
  }

  /// The coefficients in memory order, for the loops of kernels.hpp.
  [[nodiscard]] detail::SegmentRows<Scalar> rows() const noexcept {
    return {kernels_, coefficients_.data(), stride_, joints_, duration_};
  }

 private:
  struct Sized {};
  BasicQuinticSegment(Sized, std::size_t joints)
      : joints_(joints), stride_(detail::row_stride<Scalar>(joints)), kernels_(&kernels_for<Scalar>(joints)) {
    coefficients_.resize(6 * stride_);
    end_.resize(3 * stride_);
  }

  std::size_t joints_ = 0;
  std::size_t stride_ = 0;
  Scalar duration_ = 1;
  Scalar rate_ = 1;
  template <std::size_t Rows>
  using Columns = detail::Columns<Scalar, detail::row_capacity<Scalar>(Rows, Joints)>;
  Columns<6> coefficients_;  // row k: coefficient k
  Columns<3> end_;           // rows: position, velocity, acceleration
  const Kernels<Scalar>* kernels_ = &portable_kernels<Scalar>;
};
using QuinticSegment = BasicQuinticSegment<double>;

}  // namespace takt::trajectory
