// Real roots of polynomials up to degree four in an interval, without sampling. The extrema of quintics need
// them. The roots of the derivative cut the interval into pieces on which the polynomial is monotone. A piece
// holds exactly one root if the sign changes over it. Newton's iteration, guarded by bisection, finds it in a
// bounded number of steps. Real-time safe.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "takt/core/finite_math.hpp"

namespace takt::trajectory {

/// A polynomial c[0] + c[1] x + c[2] x^2 + ...; a leading coefficient may be zero.
template <class Scalar, std::size_t Count>
using Polynomial = std::array<Scalar, Count>;

/// Returns the value at x, by the scheme of Horner.
template <class Scalar, std::size_t Count>
[[nodiscard]] constexpr Scalar evaluate(const Polynomial<Scalar, Count>& c, Scalar x) noexcept {
  Scalar value = c[Count - 1];
  for (std::size_t k = Count - 1; k-- > 0;) value = value * x + c[k];
  return value;
}

/// Returns the first derivative.
template <class Scalar, std::size_t Count>
requires(Count > 1) [[nodiscard]] constexpr Polynomial<Scalar, Count - 1> derivative(
    const Polynomial<Scalar, Count>& c) noexcept {
  Polynomial<Scalar, Count - 1> result{};
  for (std::size_t k = 1; k < Count; ++k) result[k - 1] = static_cast<Scalar>(k) * c[k];
  return result;
}

/// At most `Capacity` roots in increasing order.
template <class Scalar, std::size_t Capacity>
class Roots {
 public:
  /// Appends a root; ignored beyond the capacity. Roots must come in increasing order.
  constexpr void push(Scalar root) noexcept {
    if (count_ < Capacity) values_[count_++] = root;
  }
  /// Returns the number of roots.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
  [[nodiscard]] constexpr Scalar operator[](std::size_t i) const noexcept { return values_[i]; }
  /// Returns the first root.
  [[nodiscard]] constexpr const Scalar* begin() const noexcept { return values_.data(); }
  /// Returns the place behind the last root.
  [[nodiscard]] constexpr const Scalar* end() const noexcept { return values_.data() + count_; }

 private:
  std::array<Scalar, Capacity> values_{};
  std::size_t count_ = 0;
};

namespace detail {

/// The root between `low` and `high`, where the polynomial's signs differ. Newton's iteration, with bisection
/// where Newton would leave the bracket or does not halve its step.
template <class Scalar, std::size_t Count>
[[nodiscard]] Scalar root_between(const Polynomial<Scalar, Count>& c, Scalar low, Scalar high) noexcept {
  constexpr int most_steps = 2 * std::numeric_limits<Scalar>::digits;
  const Scalar tolerance = std::numeric_limits<Scalar>::epsilon() * (high - low);
  const bool rising = evaluate(c, low) < 0;
  const Polynomial<Scalar, Count - 1> slope = derivative(c);
  Scalar x = low + (high - low) / 2;
  Scalar last_step = high - low;
  for (int i = 0; i < most_steps; ++i) {
    const Scalar value = evaluate(c, x);
    if (value == 0) return x;
    ((value < 0) == rising ? low : high) = x;
    Scalar step = -value / evaluate(slope, x);
    // A zero slope gives NaN or infinity; the comparisons then choose bisection.
    if (!(std::abs(step) < std::abs(last_step) / 2) || !(x + step > low && x + step < high)) {
      step = low + (high - low) / 2 - x;
    }
    x += step;
    last_step = step;
    if (std::abs(step) <= tolerance) break;
  }
  return x;
}

template <class Scalar>
[[nodiscard]] Roots<Scalar, 2> quadratic_roots(Polynomial<Scalar, 3> c, Scalar low, Scalar high) noexcept {
  Roots<Scalar, 2> roots;
  const Scalar scale = std::max({std::abs(c[0]), std::abs(c[1]), std::abs(c[2])});
  if (!(scale > 0)) return roots;
  for (Scalar& coefficient : c) coefficient /= scale;  // so the discriminant cannot overflow
  const Scalar discriminant = c[1] * c[1] - 4 * c[2] * c[0];
  if (discriminant < 0) return roots;
  // This form avoids cancellation. A root at infinity lies outside the interval.
  const Scalar q = -(c[1] + std::copysign(std::sqrt(discriminant), c[1])) / 2;
  Scalar first = q / c[2];
  Scalar second = q == 0 ? first : c[0] / q;
  if (second < first) std::swap(first, second);
  if (first >= low && first <= high) roots.push(first);
  if (second >= low && second <= high && second != first) roots.push(second);
  return roots;
}

}  // namespace detail

/// The real roots in [low, high], in increasing order. The zero polynomial has none. If the polynomial
/// touches zero without crossing it, rounding decides whether the double root is found. This does not matter
/// for the extrema of its integral. Real-time safe: about 100 evaluations of the polynomial per root at most.
template <class Scalar, std::size_t Count>
requires(Count >= 1 && Count <= 5)
    [[nodiscard]] Roots<Scalar, Count - 1> roots_in(const Polynomial<Scalar, Count>& c, Scalar low,
                                                    Scalar high) noexcept {
  Roots<Scalar, Count - 1> roots;
  if constexpr (Count == 2) {
    const Scalar root = -c[0] / c[1];
    if (root >= low && root <= high) roots.push(root);
  } else if constexpr (Count == 3) {
    roots = detail::quadratic_roots(c, low, high);
  } else if constexpr (Count > 3) {
    Scalar left = low;
    Scalar left_value = evaluate(c, left);
    const auto visit = [&](Scalar right) {
      const Scalar right_value = evaluate(c, right);
      if (left_value == 0) {
        roots.push(left);
      } else if (right_value != 0 && (left_value < 0) != (right_value < 0)) {
        roots.push(detail::root_between(c, left, right));
      }
      left = right;
      left_value = right_value;
    };
    for (const Scalar turn : roots_in(derivative(c), low, high)) {
      if (turn > left && turn < high) visit(turn);
    }
    visit(high);
    const bool zero = std::all_of(c.begin(), c.end(), [](Scalar coefficient) { return coefficient == 0; });
    if (zero) return {};
    if (left_value == 0) roots.push(high);
  }
  return roots;
}

}  // namespace takt::trajectory
