#include "takt/trajectory/kernels.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../../src/trajectory/instruction_sets.hpp"
#include "support/random.hpp"
#include "takt/trajectory/columns.hpp"

using namespace takt;
using namespace takt::trajectory;

namespace {

struct Variant {
  std::string name;
  Kernels<double> kernels;
};

/// Those that this processor can run.
std::vector<Variant> variants() {
  std::vector<Variant> result{{"chosen", compiled_kernels()}};
#if defined(__x86_64__)
  result.push_back({"sse2", sse2::kernels()});
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    result.push_back({"avx2", avx2::kernels()});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
    result.push_back({"avx512", avx512::kernels()});
  }
#endif
  return result;
}

}  // namespace

TEST_CASE(
    "instruction sets differ from the portable loop by rounding only, and write no joint that is not there") {
  constexpr double untouched = -12345;
  constexpr double tolerance = 20 * std::numeric_limits<double>::epsilon();
  auto random = test::generator(70);
  for (const Variant& variant : variants()) {
    CAPTURE(variant.name);
    for (std::size_t joints = 1; joints <= 33; ++joints) {
      const std::size_t stride = detail::row_stride<double>(joints);
      detail::Columns<double> c(6 * stride);
      for (double& number : c) number = test::uniform(random, -1, 1);
      const double s = test::uniform(random, 0, 1);
      const double rate = test::uniform(random, 0.5, 2);
      std::vector<std::vector<double>> expected(3, std::vector<double>(joints + 8, untouched));
      auto found = expected;
      portable_kernels<double>().sample(c.data(), stride, joints, s, rate, expected[0].data(),
                                        expected[1].data(), expected[2].data());
      const auto sample = joints == 1 ? variant.kernels.sample_one : variant.kernels.sample;
      sample(c.data(), stride, joints, s, rate, found[0].data(), found[1].data(), found[2].data());
      for (std::size_t order = 0; order < 3; ++order) {
        const double scale =
            std::vector<double>{6, 15 * 2, 40 * 4}[order];  // the sums of the coefficients' weights
        for (std::size_t j = 0; j < joints + 8; ++j) {
          CAPTURE(joints);
          REQUIRE(std::abs(found[order][j] - expected[order][j]) <= (j < joints ? tolerance * scale : 0));
        }
      }
    }
  }
}
