// Many PIDs of one form that step together: structure of arrays, several per instruction (pid_kernels.hpp).
// Each behaves as a Pid of its own (pid.hpp), up to the rounding of one division: the bank multiplies by
// 1/(Tf + h).
//
//     auto bank = PidBank::make(gains);                                        // one entry per joint
//
//     const auto held = bank->step(setpoints, measured, 0.001, torques);       // every period
//
// The compiled library has faster loops in double for the default form and for the conventions.
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

/// At most max_joints PID controllers. Copyable; a copy allocates.
template <class Scalar, PidForm form = PidForm{}>
class BasicPidBank {
 public:
  using Gains = BasicPidGains<Scalar>;

  /// Makes one controller per entry. Errors: wrong_size (no entry, or more than max_joints), those of
  /// BasicPid::make(). For set-up only: allocates.
  [[nodiscard]] static Result<BasicPidBank> make(std::span<const Gains> gains) {
    if (gains.empty() || gains.size() > max_joints) return fail(Errc::wrong_size);
    BasicPidBank bank(gains.size());
    for (std::size_t i = 0; i < gains.size(); ++i) {
      if (Status status = bank.set(i, gains[i]); !status) return fail(status.error());
    }
    return bank;
  }

  /// Returns the number of controllers.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Replaces the gains of controller i and keeps its state, as BasicPid::set(). Errors: wrong_size (no such
  /// controller), those of BasicPid::make(); the old gains then stay. Real-time safe.
  Status set(std::size_t i, const Gains& gains) noexcept {
    if (i >= size_) return fail(Errc::wrong_size);
    const auto c = detail::coefficients_of<form>(gains);
    if (!c) return fail(c.error());
    detail::visit_coefficients(blocks_[i / lanes].coefficients, *c,
                               [lane = i % lanes](Row& to, Scalar from) { to.lane[lane] = from; });
    period_ = 0;  // the next step computes what depends on the period
    auto state = this->state(i);
    detail::limit_state(state, *c);
    store(i, state);
    return {};
  }

  /// Controls for one period (s) with one entry per controller; an empty `feed_forward` means zeros.
  /// `outputs` receives the last good output of each controller. Returns the controllers whose inputs gave no
  /// finite output; their state is unchanged. Errors: bad_period, wrong_size: nothing changes. Real-time
  /// safe.
  Result<JointSet> step(std::span<const Scalar> setpoints, std::span<const Scalar> measured, Scalar period,
                        std::span<Scalar> outputs, std::span<const Scalar> feed_forward = {}) noexcept {
    if (!is_period(period)) return fail(Errc::bad_period);
    if (setpoints.size() != size_ || measured.size() != size_ || outputs.size() != size_)
      return fail(Errc::wrong_size);
    if (feed_forward.empty()) feed_forward = std::span(none).first(size_);
    if (feed_forward.size() != size_) return fail(Errc::wrong_size);
    if (period != period_) prepare(period);
    // Clears the bits of lanes beyond the last controller.
    return JointSet::first(size_) &
           JointSet::from_bits(kernel_(blocks_.data(), size_, setpoints.data(), measured.data(),
                                       feed_forward.data(), period, outputs.data()));
  }

  /// Resets all controllers, as BasicPid::reset(). Real-time safe.
  void reset(IntegralReset integral = IntegralReset::clear) noexcept {
    for (std::size_t i = 0; i < size_; ++i) reset(i, integral);
  }

  /// Resets controller i; does nothing if it does not exist. Real-time safe.
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
