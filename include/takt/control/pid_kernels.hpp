// The inner loop of a bank of PIDs (pid_bank.hpp): the step of pid.hpp for several controllers at a time. The
// portable form is here. If the compiled library is linked, it offers the same loop for the instruction sets
// of the processor. A bank takes the best one when it is made. All forms give the same bits, because no
// multiplication is fused with an addition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "takt/control/pid.hpp"
#include "takt/core/compiled_library.hpp"

namespace takt::control {

namespace detail {

/// The lanes of the widest registers. It does not depend on the instruction set that the including code is
/// compiled for.
inline constexpr std::size_t pid_block = 8;

template <class Scalar>
struct alignas(pid_block * sizeof(Scalar)) PidRow {
  Scalar lane[pid_block];
};

/// Eight controllers; unused ones have zero gains.
template <class Scalar>
struct PidBlock {
  PidCoefficients<PidRow<Scalar>> coefficients;
  PidState<PidRow<Scalar>> state;
  PidRow<Scalar> per_slope;  ///< 1/(Tf + h)
};

}  // namespace detail

/// Runs one period of `size` controllers, at most 64; each array has one number per controller. Returns, as
/// bits, those that held their output. Real-time safe.
template <class Scalar>
using PidKernel = std::uint64_t (*)(detail::PidBlock<Scalar>* blocks, std::size_t size,
                                    const Scalar* setpoints, const Scalar* measured,
                                    const Scalar* feed_forward, Scalar period, Scalar* outputs) noexcept;

namespace detail {

template <class Pack, class Scalar>
[[nodiscard, gnu::always_inline]] inline Pack load_pack(const Scalar* from) noexcept {
  Pack result;
  __builtin_memcpy(&result, from, sizeof(Pack));
  return result;
}

template <class Pack, class Scalar>
[[gnu::always_inline]] inline void store_pack(const Pack& pack, Scalar* to) noexcept {
  __builtin_memcpy(to, &pack, sizeof(Pack));
}

template <class Lanes, class Half, std::size_t... i>
[[nodiscard, gnu::always_inline]] inline typename Lanes::Pack join(const Half& low, const Half& high,
                                                                   std::index_sequence<i...>) noexcept {
  return __builtin_shufflevector(low, high, i...);
}

/// Half of the lanes, from `first` on.
template <class Lanes, std::size_t first, std::size_t... i>
[[nodiscard, gnu::always_inline]] inline typename Lanes::Half::Pack half_of(
    const typename Lanes::Pack& pack, std::index_sequence<i...>) noexcept {
  return __builtin_shufflevector(pack, pack, (first + i)...);
}

/// Loads `count` numbers, fewer than there are lanes, and fills up with zeros. One wide masked load would
/// wait for stores just behind these numbers.
template <class Lanes>
[[nodiscard, gnu::always_inline]] inline typename Lanes::Pack load_part(const typename Lanes::Scalar* from,
                                                                        std::size_t count) noexcept {
  if constexpr (Lanes::width == 2) {
    return typename Lanes::Pack{*from, 0};
  } else {
    using Half = typename Lanes::Half;
    constexpr std::size_t half = Half::width;
    typename Half::Pack low, high{};
    if (count < half) {
      low = load_part<Half>(from, count);
    } else {
      low = load_pack<typename Half::Pack>(from);
      if (count > half) high = load_part<Half>(from + half, count - half);
    }
    return join<Lanes>(low, high, std::make_index_sequence<Lanes::width>());
  }
}

template <class Lanes>
[[gnu::always_inline]] inline void store_part(const typename Lanes::Pack& pack, typename Lanes::Scalar* to,
                                              std::size_t count) noexcept {
  if constexpr (Lanes::width == 2) {
    *to = pack[0];
  } else {
    using Half = typename Lanes::Half;
    constexpr std::size_t half = Half::width;
    constexpr std::make_index_sequence<half> lanes;
    const typename Half::Pack low = half_of<Lanes, 0>(pack, lanes);
    if (count < half) return store_part<Half>(low, to, count);
    store_pack(low, to);
    if (count > half) store_part<Half>(half_of<Lanes, half>(pack, lanes), to + half, count - half);
  }
}

/// Steps some controllers of a block, from `lane` on. Returns those that held their output.
template <class Lanes, PidForm form>
[[gnu::always_inline]] inline std::uint64_t step_pack(PidBlock<typename Lanes::Scalar>& block,
                                                      std::size_t lane, const typename Lanes::Pack& setpoint,
                                                      const typename Lanes::Pack& measured,
                                                      const typename Lanes::Pack& feed_forward,
                                                      const typename Lanes::Pack& period) noexcept {
  using Pack = typename Lanes::Pack;
  using Row = PidRow<typename Lanes::Scalar>;
  const auto load = [lane](Pack& to, const Row& from) { to = load_pack<Pack>(from.lane + lane); };
  PidCoefficients<Pack> coefficients;
  PidState<Pack> state;
  visit_coefficients(coefficients, block.coefficients, load);
  visit_state(state, block.state, load);
  const Pack per_slope = load_pack<Pack>(block.per_slope.lane + lane);
  auto outcome = pid_step<form>(coefficients, state, setpoint, measured, feed_forward, period,
                                [per_slope](Pack rise) { return rise * per_slope; });
  const std::uint64_t held = Lanes::not_zero(outcome.probe);
  if (held != 0) [[unlikely]] {
    visit_state(outcome.next, state, [&outcome](Pack& next, const Pack& before) {
      next = select(outcome.probe == Pack{}, next, before);
    });
  }
  visit_state(outcome.next, block.state,
              [lane](const Pack& from, Row& to) { store_pack(from, to.lane + lane); });
  return held;
}

/// A PidKernel over `Lanes`, the vector type of one instruction set. Lanes has the type Pack, the number of
/// lanes, and the Lanes of half that number. It also returns a mask of the lanes that are NaN or not zero.
/// Code for one instruction set must define its Lanes in an unnamed namespace. Then no function here has a
/// name that the linker could share with other code.
template <class Lanes, PidForm form>
std::uint64_t step_pids(PidBlock<typename Lanes::Scalar>* blocks, std::size_t size,
                        const typename Lanes::Scalar* setpoints, const typename Lanes::Scalar* measured,
                        const typename Lanes::Scalar* feed_forward, typename Lanes::Scalar period,
                        typename Lanes::Scalar* outputs) noexcept {
  using Pack = typename Lanes::Pack;
  const Pack periods = Pack{} + period;
  std::uint64_t held = 0;
  std::size_t i = 0;
  const auto output = [&] {
    return load_pack<Pack>(blocks[i / pid_block].state.output.lane + i % pid_block);
  };
  for (; i + Lanes::width <= size; i += Lanes::width) {
    held |= step_pack<Lanes, form>(blocks[i / pid_block], i % pid_block, load_pack<Pack>(setpoints + i),
                                   load_pack<Pack>(measured + i), load_pack<Pack>(feed_forward + i), periods)
            << i;
    store_pack(output(), outputs + i);
  }
  if (const std::size_t rest = size - i; rest != 0) {
    held |= step_pack<Lanes, form>(
                blocks[i / pid_block], i % pid_block, load_part<Lanes>(setpoints + i, rest),
                load_part<Lanes>(measured + i, rest), load_part<Lanes>(feed_forward + i, rest), periods)
            << i;
    store_part<Lanes>(output(), outputs + i, rest);
  }
  return held;
}

// The vector_size types of GCC and Clang, as wide as this code may use.
#ifdef __AVX__
inline constexpr std::size_t pack_size = 32;
#else
inline constexpr std::size_t pack_size = 16;
#endif

template <class Number, std::size_t size = pack_size>
struct PortableLanes {
  using Scalar = Number;
  using Pack [[gnu::vector_size(size)]] = Scalar;
  using Half = PortableLanes<Number, size / 2>;
  static constexpr std::size_t width = size / sizeof(Scalar);
  static unsigned not_zero(Pack x) noexcept {
    unsigned bits = 0;
    for (std::size_t i = 0; i < width; ++i) bits |= unsigned{x[i] != 0} << i;
    return bits;
  }
};

}  // namespace detail

/// The loop in standard C++, except for vector_size.
template <class Scalar, PidForm form>
inline constexpr PidKernel<Scalar> portable_pid_kernel =
    &detail::step_pids<detail::PortableLanes<Scalar>, form>;

}  // namespace takt::control

/// The best loop of the compiled library for this processor, or null. It has loops for the default form and
/// the conventions, if the processor offers more than the baseline of its architecture. The function is there
/// where the compiled library is linked.
extern "C" TAKT_OF_LIBRARY takt::control::PidKernel<double> takt_pid_kernel(
    const takt::control::PidForm& form) noexcept;

namespace takt::control {

/// The loop that a new bank uses: that of the compiled library if it is linked and has one, else the portable
/// one.
template <class Scalar, PidForm form>
[[nodiscard]] PidKernel<Scalar> pid_kernel_for() noexcept {
  if constexpr (std::is_same_v<Scalar, double>) {
    if (is_linked(&takt_pid_kernel)) {
      if (const auto kernel = takt_pid_kernel(form)) return kernel;
    }
  }
  return portable_pid_kernel<Scalar, form>;
}

}  // namespace takt::control
