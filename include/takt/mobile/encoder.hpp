// The angle that a wheel has turned, from a counter that wraps.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "takt/core/error.hpp"
#include "takt/core/period.hpp"
#include "takt/mobile/error.hpp"

namespace takt::mobile {

/// An encoder of one wheel. A value; every function is real-time safe.
template <class Scalar>
class BasicEncoder {
 public:
  /// The parameters of the counter and its wheel.
  struct Configuration {
    Scalar counts_per_turn = 0;  ///< of the wheel; negative if it counts backwards
    unsigned bits = 32;          ///< of the counter, 1..64: it wraps at 2^bits
    Scalar max_rate = 0;         ///< rad/s, the highest rate of the wheel
  };

  /// Errors: not_finite, not_positive (counts_per_turn of zero, max_rate), out_of_domain (bits).
  [[nodiscard]] static Result<BasicEncoder> make(const Configuration& c) noexcept {
    if (!std::isfinite(c.counts_per_turn) || !std::isfinite(c.max_rate)) return fail(Errc::not_finite);
    if (c.counts_per_turn == 0 || !(c.max_rate > 0)) return fail(Errc::not_positive);
    if (c.bits < 1 || c.bits > 64) return fail(Errc::out_of_domain);
    return BasicEncoder(c);
  }

  /// The angle (rad) that the wheel has turned since the last call, `period` seconds ago. The first call, and
  /// the one after reset(), only stores the count and returns 0.
  /// Errors:
  /// * bad_period: nothing changes. After a gap longer than longest_period call reset().
  /// * stale: within the period the wheel could turn by half the counter's range, so its direction is
  ///   ambiguous.
  /// * encoder_jump: the wheel turned faster than max_rate, for example because the counter was reset.
  ///
  /// After stale and encoder_jump the encoder continues from the new count.
  Result<Scalar> turned(std::uint64_t count, Scalar period) noexcept {
    if (!started_) {
      started_ = true;
      last_ = count;
      return Scalar(0);
    }
    if (!is_period(period)) return fail(Errc::bad_period);
    // Shifted up, the counter's highest bit becomes the sign.
    const unsigned unused = 64 - configuration_.bits;
    const auto difference = static_cast<std::int64_t>((count - last_) << unused) >> unused;
    last_ = count;
    const Scalar furthest = configuration_.max_rate * period;
    if (!(furthest < half_range_)) return fail(Errc::stale);
    const Scalar angle = static_cast<Scalar>(difference) * radians_per_count_;
    if (!(std::abs(angle) <= furthest)) return fail(Errc::encoder_jump);
    return angle;
  }

  /// The next call only stores the count.
  void reset() noexcept { started_ = false; }

 private:
  explicit BasicEncoder(const Configuration& c) noexcept
      : configuration_(c),
        radians_per_count_(2 * std::numbers::pi_v<Scalar> / c.counts_per_turn),
        half_range_(std::ldexp(std::abs(radians_per_count_), static_cast<int>(c.bits) - 1)) {}

  Configuration configuration_;
  Scalar radians_per_count_;
  Scalar half_range_;  ///< rad
  std::uint64_t last_ = 0;
  bool started_ = false;
};
using Encoder = BasicEncoder<double>;

}  // namespace takt::mobile
