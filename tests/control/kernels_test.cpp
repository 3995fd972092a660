#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../../src/control/instruction_sets.hpp"
#include "../../src/core/instruction_set.hpp"
#include "support/random.hpp"
#include "takt/control/pid_kernels.hpp"

using namespace takt;
using namespace takt::control;

namespace {

constexpr auto portable = []<std::size_t... i>(std::index_sequence<i...>) {
  return PidKernels{portable_pid_kernel<double, compiled_forms[i]>...};
}
(std::make_index_sequence<compiled_forms.size()>());

struct Variant {
  std::string name;
  PidKernels kernels;
};

/// The kernels that this processor can run.
std::vector<Variant> variants() {
  std::vector<Variant> result;
#if defined(__x86_64__)
  if (processor_has(InstructionSet::avx2)) result.push_back({"avx2", avx2::pid_kernels()});
  if (processor_has(InstructionSet::avx512)) result.push_back({"avx512", avx512::pid_kernels()});
#endif
  return result;
}

constexpr double untouched = -12345;
constexpr std::size_t most = 64;

/// The data of a kernel. The arrays are sized exactly, so that the address sanitizer detects a read beyond
/// them.
struct Problem {
  std::vector<detail::PidBlock<double>> blocks;
  std::vector<double> setpoints, measured, feed_forward, outputs;

  Problem(std::size_t size, std::mt19937_64& random)
      : blocks(most / detail::pid_block), setpoints(size), measured(size), feed_forward(size), outputs(size) {
    for (std::size_t i = 0; i < size; ++i) {
      auto& block = blocks[i / detail::pid_block];
      const auto fill = [&](detail::PidRow<double>& row, const detail::PidRow<double>&) {
        row.lane[i % detail::pid_block] = test::uniform(random, 0.1, 2);
      };
      detail::visit_coefficients(block.coefficients, block.coefficients, fill);
      detail::visit_state(block.state, block.state, fill);
      block.per_slope.lane[i % detail::pid_block] = test::uniform(random, 1, 100);
      block.coefficients.output_min.lane[i % detail::pid_block] = test::uniform(random, -1, 0.1);
      block.coefficients.dead_band.lane[i % detail::pid_block] = test::uniform(random, 0, 0.5);
    }
  }

  void next_inputs(std::mt19937_64& random) {
    for (auto* numbers : {&setpoints, &measured, &feed_forward}) {
      for (double& number : *numbers) {
        number = test::uniform_int(random, 0, 30) == 0 ? std::numeric_limits<double>::quiet_NaN()
                                                       : test::uniform(random, -1, 1);
      }
    }
  }

  std::uint64_t step(PidKernel<double> kernel) {
    std::fill(outputs.begin(), outputs.end(), untouched);
    return kernel(blocks.data(), outputs.size(), setpoints.data(), measured.data(), feed_forward.data(), 1e-3,
                  outputs.data());
  }

  /// The state as bits, so that NaN equals NaN.
  [[nodiscard]] std::vector<std::uint64_t> state() const {
    std::vector<std::uint64_t> bits;
    for (const auto& block : blocks) {
      detail::visit_state(block.state, block.state, [&](const auto& row, const auto&) {
        for (const double number : row.lane) bits.push_back(std::bit_cast<std::uint64_t>(number));
      });
    }
    return bits;
  }
};

}  // namespace

TEST_CASE("instruction sets step PIDs to the same bits as the portable loop, and no PID that is not there") {
  auto random = test::generator(80);
  std::size_t held = 0;
  for (std::size_t size = 1; size <= most; ++size) {
    for (const Variant& variant : variants()) {
      CAPTURE(variant.name);
      CAPTURE(size);
      for (std::size_t form = 0; form < compiled_forms.size(); ++form) {
        CAPTURE(form);
        Problem problem(size, random);
        for (int k = 0; k < 10; ++k) {
          problem.next_inputs(random);
          Problem expected = problem;
          const std::uint64_t expected_held = expected.step(portable[form]);
          REQUIRE(problem.step(variant.kernels[form]) == expected_held);
          REQUIRE(problem.outputs == expected.outputs);
          REQUIRE(problem.state() == expected.state());
          held += expected_held != 0 ? 1 : 0;
        }
      }
    }
  }
  CHECK((held > 0 || variants().empty()));
}

TEST_CASE("the compiled library has a loop for the forms that it says, where there is one worth it") {
  const bool worth = processor_has(InstructionSet::avx2) || processor_has(InstructionSet::avx512);
  for (const PidForm& form : compiled_forms) CHECK((takt_pid_kernel(form) != nullptr) == worth);
  const bool others = takt_pid_kernel({.integration = Integration::trapezoidal}) != nullptr;
  CHECK_FALSE(others);
}
