// Many PIDs of one form stepped together: structure of arrays, so that the compiler steps several with one instruction. Each
// behaves as a Pid of its own (pid.hpp), to the rounding of one division: the bank multiplies by 1/(Tf + h).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "takt/control/pid.hpp"
#include "takt/core/joint.hpp"

namespace takt::control {

namespace detail {

// Several numbers in one register, as wide as the code may use: what GCC and Clang make of vector_size.
#ifdef __AVX__
inline constexpr std::size_t pack_size = 32;
#else
inline constexpr std::size_t pack_size = 16;
#endif
template <class Scalar>
struct PackOf;
template <>
struct PackOf<double> {
  using type [[gnu::vector_size(pack_size)]] = double;
};
template <>
struct PackOf<float> {
  using type [[gnu::vector_size(pack_size)]] = float;
};

}  // namespace detail

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

  /// Replaces the gains of controller i, keeping its state. Real-time safe. Errors: wrong_size (no such controller), those of
  /// BasicPid::make(); the old gains then stand.
  Status set(std::size_t i, const Gains& gains) noexcept {
    if (i >= size_) return fail(Errc::wrong_size);
    const auto c = detail::coefficients_of<form>(gains);
    if (!c) return fail(c.error());
    put(blocks_[i / lanes].coefficients, i % lanes, *c);
    period_ = 0;  // what depends on it is computed anew
    return {};
  }

  /// One period (s) of all controllers; `outputs` gets the last good output of each. Returns those that were given what makes no
  /// finite output, and whose state is therefore as it was. Real-time safe. Errors: bad_period, wrong_size: nothing is done.
  Result<JointSet> step(std::span<const Scalar> setpoints, std::span<const Scalar> measured, Scalar period,
                        std::span<Scalar> outputs) noexcept {
    if (!is_period(period)) return fail(Errc::bad_period);
    if (setpoints.size() != size_ || measured.size() != size_ || outputs.size() != size_)
      return fail(Errc::wrong_size);
    if (period != period_) prepare(period);
    std::uint64_t held = 0;
    const std::size_t whole = size_ / lanes;
    for (std::size_t k = 0; k < whole; ++k) {
      held |= step_block(blocks_[k], &setpoints[k * lanes], &measured[k * lanes], &outputs[k * lanes], lanes)
              << (k * lanes);
    }
    if (const std::size_t first = whole * lanes; first < size_) {
      held |= step_block(blocks_[whole], &setpoints[first], &measured[first], &outputs[first], size_ - first)
              << first;
    }
    return JointSet::from_bits(held);
  }

  /// As BasicPid::reset(), of all.
  void reset(IntegralReset integral = IntegralReset::clear) noexcept {
    for (Block& block : blocks_) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const Scalar kept = integral == IntegralReset::keep ? block.state.integral[lane] : Scalar(0);
        put(block.state, lane, detail::fresh_state<form, Scalar>(kept));
      }
    }
  }

 private:
  using Pack = typename detail::PackOf<Scalar>::type;
  static constexpr std::size_t lanes = sizeof(Pack) / sizeof(Scalar);

  struct Block {
    detail::PidCoefficients<Pack> coefficients;
    detail::PidState<Pack> state;
    Pack per_slope{};  ///< 1/(Tf + h)
  };

  explicit BasicPidBank(std::size_t size) : size_(size), blocks_((size + lanes - 1) / lanes) { reset(); }

  /// Member by member one lane of packs from, or to, plain numbers.
  template <template <class> class Members>
  static void put(Members<Pack>& packs, std::size_t lane, const Members<Scalar>& numbers) noexcept {
    constexpr std::size_t count = sizeof(numbers) / sizeof(Scalar);
    const auto from = std::bit_cast<std::array<Scalar, count>>(numbers);
    auto to = std::bit_cast<std::array<Pack, count>>(packs);
    for (std::size_t k = 0; k < count; ++k) to[k][lane] = from[k];
    packs = std::bit_cast<Members<Pack>>(to);
  }

  static void copy(const detail::PidState<Pack>& from, std::size_t lane,
                   detail::PidState<Pack>& to) noexcept {
    put(to, lane,
        detail::PidState<Scalar>{from.integral[lane], from.slope[lane], from.slope_of[lane], from.error[lane],
                                 from.output[lane]});
  }

  [[nodiscard]] static Pack all(Scalar number) noexcept { return Pack{} + number; }

  void prepare(Scalar period) noexcept {
    period_ = period;
    for (Block& block : blocks_)
      block.per_slope = all(1) / (block.coefficients.derivative_filter + all(period));
  }

  /// Of `count` <= lanes controllers; the lanes that held their output, as bits.
  [[nodiscard]] std::uint64_t step_block(Block& block, const Scalar* setpoints, const Scalar* measured,
                                         Scalar* outputs, std::size_t count) const noexcept {
    Pack r{}, y{};
    std::memcpy(&r, setpoints, count * sizeof(Scalar));
    std::memcpy(&y, measured, count * sizeof(Scalar));
    const auto outcome = detail::pid_step<form>(block.coefficients, block.state, r, y, Pack{}, all(period_),
                                                [&](Pack rise) { return rise * block.per_slope; });
    Scalar probe = 0;
    for (std::size_t i = 0; i < lanes; ++i) probe += outcome.probe[i];
    std::uint64_t held = 0;
    if (probe == 0) {
      block.state = outcome.next;
    } else {
      for (std::size_t i = 0; i < lanes; ++i) {
        if (outcome.probe[i] == 0) {
          copy(outcome.next, i, block.state);
        } else {
          held |= std::uint64_t{1} << i;
        }
      }
    }
    std::memcpy(outputs, &block.state.output, count * sizeof(Scalar));
    return held;
  }

  std::size_t size_;
  Scalar period_ = 0;
  std::vector<Block> blocks_;
};
using PidBank = BasicPidBank<double>;

}  // namespace takt::control
