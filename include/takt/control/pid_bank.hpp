// Many PIDs of one form stepped together: structure of arrays, several with one instruction (pid_kernels.hpp). Each behaves as a
// Pid of its own (pid.hpp), to the rounding of one division: the bank multiplies by 1/(Tf + h).
//
//     auto bank = PidBank::make(gains);                                        // one entry for each joint
//     ...
//     const auto held = bank->step(setpoints, measured, 0.001, torques);       // every period
//
// The compiled library has faster loops for the default form and for the conventions, in double precision.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "takt/control/pid.hpp"
#include "takt/control/pid_kernels.hpp"
#include "takt/core/joint.hpp"

namespace takt::control {

/// Copyable; a copy allocates. At most max_joints controllers.
template <class Scalar, PidForm form = PidForm{}>
class BasicPidBank {
 public:
  using Gains = BasicPidGains<Scalar>;

  /// One controller for each entry. Allocates: set-up time. Errors: wrong_size (none, or more than max_joints), those of
  /// BasicPid::make().
  [[nodiscard]] static Result<BasicPidBank> make(std::span<const Gains> gains) {
    if (gains.empty() || gains.size() > max_joints) return fail(Errc::wrong_size);
    BasicPidBank bank(gains.size());
    for (std::size_t i = 0; i < gains.size(); ++i) {
      if (Status status = bank.set(i, gains[i]); !status) return fail(status.error());
    }
    return bank;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Replaces the gains of controller i, keeping its state, as BasicPid::set(). Real-time safe. Errors: wrong_size (no such
  /// controller), those of BasicPid::make(); the old gains then stand.
  Status set(std::size_t i, const Gains& gains) noexcept {
    if (i >= size_) return fail(Errc::wrong_size);
    const auto c = detail::coefficients_of<form>(gains);
    if (!c) return fail(c.error());
    detail::visit_coefficients(blocks_[i / lanes].coefficients, *c,
                               [lane = i % lanes](Row& to, Scalar from) { to.lane[lane] = from; });
    period_ = 0;  // what depends on it is computed anew
    auto state = this->state(i);
    detail::limit_state(state, *c);
    store(i, state);
    return {};
  }

  /// One period (s) of all controllers; `outputs` gets the last good output of each. Returns those that were given what makes no
  /// finite output, and whose state is therefore as it was. No feed-forward is that of zeros. Real-time safe. Errors: bad_period,
  /// wrong_size: nothing is done.
  Result<JointSet> step(std::span<const Scalar> setpoints, std::span<const Scalar> measured, Scalar period,
                        std::span<Scalar> outputs, std::span<const Scalar> feed_forward = {}) noexcept {
    if (!is_period(period)) return fail(Errc::bad_period);
    if (setpoints.size() != size_ || measured.size() != size_ || outputs.size() != size_)
      return fail(Errc::wrong_size);
    if (feed_forward.empty()) feed_forward = std::span(none).first(size_);
    if (feed_forward.size() != size_) return fail(Errc::wrong_size);
    if (period != period_) prepare(period);
    // What lanes beyond the last controller hold means nothing.
    return JointSet::first(size_) &
           JointSet::from_bits(kernel_(blocks_.data(), size_, setpoints.data(), measured.data(),
                                       feed_forward.data(), period, outputs.data()));
  }

  /// As BasicPid::reset(), of all. Real-time safe.
  void reset(IntegralReset integral = IntegralReset::clear) noexcept {
    for (std::size_t i = 0; i < size_; ++i) reset(i, integral);
  }

  /// Of controller i; of none if there is no such. Real-time safe.
  void reset(std::size_t i, IntegralReset integral = IntegralReset::clear) noexcept {
    if (i >= size_) return;
    const Scalar kept = integral == IntegralReset::keep ? state(i).integral : Scalar(0);
    store(i, detail::fresh_state<form>(coefficients(i), kept));
  }

 private:
  using Block = detail::PidBlock<Scalar>;
  using Row = detail::PidRow<Scalar>;
  static constexpr std::size_t lanes = detail::pid_block;
  static constexpr std::array<Scalar, max_joints> none{};

  explicit BasicPidBank(std::size_t size) : size_(size), blocks_((size + lanes - 1) / lanes) { reset(); }

  [[nodiscard]] detail::PidCoefficients<Scalar> coefficients(std::size_t i) const noexcept {
    detail::PidCoefficients<Scalar> result{};
    detail::visit_coefficients(result, blocks_[i / lanes].coefficients,
                               [lane = i % lanes](Scalar& to, const Row& from) { to = from.lane[lane]; });
    return result;
  }

  [[nodiscard]] detail::PidState<Scalar> state(std::size_t i) const noexcept {
    detail::PidState<Scalar> result{};
    detail::visit_state(result, blocks_[i / lanes].state,
                        [lane = i % lanes](Scalar& to, const Row& from) { to = from.lane[lane]; });
    return result;
  }

  void store(std::size_t i, const detail::PidState<Scalar>& state) noexcept {
    detail::visit_state(blocks_[i / lanes].state, state,
                        [lane = i % lanes](Row& to, Scalar from) { to.lane[lane] = from; });
  }

  void prepare(Scalar period) noexcept {
    period_ = period;
    for (Block& block : blocks_) {
      for (std::size_t lane = 0; lane < lanes; ++lane)
        block.per_slope.lane[lane] = 1 / (block.coefficients.derivative_filter.lane[lane] + period);
    }
  }

  std::size_t size_;
  Scalar period_ = 0;
  PidKernel<Scalar> kernel_ = pid_kernel_for<Scalar, form>();
  std::vector<Block> blocks_;
};
using PidBank = BasicPidBank<double>;

}  // namespace takt::control
