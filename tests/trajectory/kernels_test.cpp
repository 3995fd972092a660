#include "takt/trajectory/kernels.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../../src/core/instruction_set.hpp"
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

/// The loops for so many joints that this processor can run.
std::vector<Variant> variants(std::size_t joints) {
  std::vector<Variant> result{{"chosen", *takt_trajectory_kernels(joints)}};
  if (joints == 1) return result;
#if defined(__x86_64__)
  result.push_back({"sse2", sse2::kernels()});
  if (processor_has(InstructionSet::avx2)) result.push_back({"avx2", avx2::kernels()});
  if (processor_has(InstructionSet::avx512)) result.push_back({"avx512", avx512::kernels()});
#endif
  return result;
}

constexpr double epsilon = std::numeric_limits<double>::epsilon();

}  // namespace

TEST_CASE(
    "instruction sets differ from the portable loop by rounding only, and write no joint that is not there") {
  constexpr double untouched = -12345;
  constexpr double tolerance = 20 * epsilon;
  auto random = test::generator(70);
  for (std::size_t joints = 1; joints <= 33; ++joints) {
    for (const Variant& variant : variants(joints)) {
      CAPTURE(variant.name);
      const std::size_t stride = detail::row_stride<double>(joints);
      detail::Columns<double> c(6 * stride);
      for (double& number : c) number = test::uniform(random, -1, 1);
      const double s = test::uniform(random, 0, 1);
      const double rate = test::uniform(random, 0.5, 2);
      std::vector<std::vector<double>> expected(3, std::vector<double>(joints + 8, untouched));
      auto found = expected;
      portable_kernels<double>.sample(c.data(), stride, joints, s, rate, expected[0].data(),
                                      expected[1].data(), expected[2].data());
      variant.kernels.sample(c.data(), stride, joints, s, rate, found[0].data(), found[1].data(),
                             found[2].data());
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

TEST_CASE("they solve alike, and read and write nothing beyond the tables") {
  // Relative to the largest sum of terms that cancel: (15 * 2 + 8 + 7 + 3 + 2) times the largest number.
  constexpr double tolerance = 10 * epsilon * 50;
  constexpr double untouched = -12345;
  constexpr std::size_t segments = 3;
  auto random = test::generator(71);
  for (std::size_t joints = 1; joints <= 33; ++joints) {
    // Sized exactly, so that the address sanitizer detects a read beyond the end.
    std::vector<double> times{0}, p((segments + 1) * joints), v(p.size()), a(p.size());
    for (std::size_t k = 0; k < segments; ++k) times.push_back(times.back() + test::uniform(random, 0.1, 1));
    for (auto* column : {&p, &v, &a}) {
      for (double& number : *column) number = test::uniform(random, -1, 1);
    }
    const std::size_t stride = detail::row_stride<double>(joints);
    detail::Columns<double> expected(6 * stride * segments + 8, untouched);
    portable_kernels<double>.solve(p.data(), v.data(), a.data(), joints, times.data(), segments,
                                   expected.data(), stride);
    for (const Variant& variant : variants(joints)) {
      CAPTURE(variant.name);
      CAPTURE(joints);
      detail::Columns<double> found(expected.size(), untouched);
      variant.kernels.solve(p.data(), v.data(), a.data(), joints, times.data(), segments, found.data(),
                            stride);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const bool padding = i < 6 * stride * segments && i % stride >= joints;
        if (!padding) REQUIRE(std::abs(found[i] - expected[i]) <= tolerance);
        REQUIRE(std::isfinite(found[i]));
      }
    }
  }
}

TEST_CASE("they find the one number that is too large or none at all, wherever it is") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t count = 0; count <= 35; ++count) {
    std::vector<double> numbers(count, -1.0);
    for (const Variant& variant : variants(2)) {
      CAPTURE(variant.name);
      CHECK(variant.kernels.all_within(numbers.data(), count, 1));
      for (double& number : numbers) {
        for (const double bad : {std::nextafter(1.0, 2.0), -1.5, infinity, -infinity, nan, -nan}) {
          number = bad;
          CHECK_FALSE(variant.kernels.all_within(numbers.data(), count, 1));
        }
        number = 1;
      }
    }
  }
}

TEST_CASE("they doubt the same joints, but where a bound is met to rounding") {
  auto random = test::generator(72);
  constexpr std::size_t block = Kernels<double>::block;
  const std::vector<double> scales{1, 1, 5, 20, 60};
  std::size_t doubts = 0;
  for (std::size_t n = 0; n < test::count(2000); ++n) {
    const std::size_t joints = 1 + n % block;
    const std::size_t stride = detail::row_stride<double>(joints);
    detail::Columns<double> c(6 * stride), limits(5 * block);
    for (double& number : c) number = test::uniform(random, -1, 1);
    for (std::size_t row = 0; row < 5; ++row) {
      for (std::size_t j = 0; j < joints; ++j)
        limits[row * block + j] = (row == 0 ? -1 : 1) * scales[row] * test::uniform(random, 0, 3);
    }
    if (n % 7 == 0) c[static_cast<std::size_t>(test::uniform_int(random, 0, 5)) * stride] = std::nan("");
    if (n % 5 == 0) limits[static_cast<std::size_t>(test::uniform_int(random, 0, 4)) * block] = std::nan("");
    const double duration = test::uniform(random, 0.5, 2);
    const auto doubted = [&](const Kernels<double>& kernels, double slower) {
      return kernels.may_exceed(c.data(), stride, joints, duration * slower, limits.data());
    };
    // A slightly wider bound accepts what the portable loop accepts; a slightly tighter one rejects it.
    const std::uint64_t expected = doubted(portable_kernels<double>, 1);
    doubts += static_cast<std::size_t>(std::popcount(expected));
    for (const Variant& variant : variants(joints)) {
      CAPTURE(variant.name);
      REQUIRE((doubted(variant.kernels, 1 + 1e-12) & ~expected) == 0);
      REQUIRE((expected & ~doubted(variant.kernels, 1 - 1e-12)) == 0);
    }
  }
  CHECK(doubts > 0);
}
