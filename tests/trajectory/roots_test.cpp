#include "takt/trajectory/roots.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "support/random.hpp"

using takt::test::uniform;
using takt::trajectory::evaluate;
using takt::trajectory::Polynomial;
using takt::trajectory::roots_in;

namespace {

/// The monic polynomial with these roots, times `scale`.
template <std::size_t Degree>
Polynomial<double, Degree + 1> from_roots(const std::array<double, Degree>& roots, double scale) {
  Polynomial<double, Degree + 1> c{};
  c[0] = scale;
  for (std::size_t i = 0; i < Degree; ++i) {
    for (std::size_t k = i + 1; k > 0; --k) c[k] = c[k - 1] - roots[i] * c[k];
    c[0] *= -roots[i];
  }
  return c;
}

template <std::size_t Degree>
void finds_planted_roots() {
  auto random = takt::test::generator(Degree);
  for (std::size_t n = 0; n < takt::test::count(2000); ++n) {
    std::array<double, Degree> planted{};
    for (double& root : planted) root = uniform(random, -1, 2);
    std::sort(planted.begin(), planted.end());
    const double scale = std::pow(10, uniform(random, -12, 12)) * (n % 2 == 0 ? 1 : -1);
    const auto roots = roots_in(from_roots(planted, scale), 0.0, 1.0);
    std::vector<double> inside;
    // The smallest distance between two roots, or from a root to an end. If it is too small, the answer is
    // not well defined.
    double closest = 1;
    for (std::size_t i = 0; i < Degree; ++i) {
      if (planted[i] > 0 && planted[i] < 1) inside.push_back(planted[i]);
      closest = std::min({closest, std::abs(planted[i]), std::abs(planted[i] - 1)});
      if (i > 0) closest = std::min(closest, planted[i] - planted[i - 1]);
    }
    if (closest < 1e-2) continue;
    REQUIRE(roots.size() == inside.size());
    for (std::size_t i = 0; i < inside.size(); ++i)
      REQUIRE(roots[i] == doctest::Approx(inside[i]).epsilon(1e-7));
  }
}

std::vector<double> listed(const auto& roots) { return {roots.begin(), roots.end()}; }

}  // namespace

TEST_CASE("planted roots are found, whatever the scale") {
  finds_planted_roots<1>();
  finds_planted_roots<2>();
  finds_planted_roots<3>();
  finds_planted_roots<4>();
}

TEST_CASE("a polynomial of lower degree than its type has the roots of its degree") {
  CHECK(listed(roots_in(Polynomial<double, 5>{-0.5, 1, 0, 0, 0}, 0.0, 1.0)) == std::vector<double>{0.5});
  CHECK(listed(roots_in(Polynomial<double, 4>{0.25, 0, -1, 0}, -1.0, 1.0)) == std::vector<double>{-0.5, 0.5});
  CHECK(listed(roots_in(Polynomial<double, 3>{-0.5, 1, 0}, 0.0, 1.0)) == std::vector<double>{0.5});
  CHECK(roots_in(Polynomial<double, 5>{1, 0, 0, 0, 0}, 0.0, 1.0).size() == 0);
}

TEST_CASE("the zero polynomial and NaN have no roots") {
  CHECK(roots_in(Polynomial<double, 2>{}, 0.0, 1.0).size() == 0);
  CHECK(roots_in(Polynomial<double, 3>{}, 0.0, 1.0).size() == 0);
  CHECK(roots_in(Polynomial<double, 5>{}, 0.0, 1.0).size() == 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(roots_in(Polynomial<double, 5>{nan, 1, 1, nan, 1}, 0.0, 1.0).size() == 0);
}

TEST_CASE("roots at the ends of the interval count") {
  CHECK(listed(roots_in(Polynomial<double, 4>{0, -1, 0, 1}, 0.0, 1.0)) == std::vector<double>{0, 1});
  CHECK(listed(roots_in(Polynomial<double, 3>{0, -1, 1}, 0.0, 1.0)) == std::vector<double>{0, 1});
}

TEST_CASE("a triple root is found") {
  const auto roots = roots_in(from_roots<3>({0.5, 0.5, 0.5}, 1), 0.0, 1.0);
  REQUIRE(roots.size() >= 1);
  CHECK(roots[0] == doctest::Approx(0.5).epsilon(1e-5));
}

TEST_CASE("floats work") {
  const auto roots = roots_in(Polynomial<float, 5>{0.0625F, 0, -1, 0, 0}, 0.0F, 1.0F);
  REQUIRE(roots.size() == 1);
  CHECK(roots[0] == doctest::Approx(0.25));
}
