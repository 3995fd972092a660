// Seeded randomness for property tests. Each run uses a new seed and prints it. --seed=N repeats a run
// exactly, and --count=N sets the number of cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace takt::test {

/// The seed of this run: --seed=N, or TAKT_SEED of the environment, or a new one.
std::uint64_t seed();

/// The number of random cases of a property: --count=N, or the property's default. If one case takes as long
/// as `worth` usual ones, the number is divided by that.
std::size_t count(std::size_t otherwise, std::size_t worth = 1);

/// A generator for one test case; `salt` makes the cases of one run different.
inline std::mt19937_64 generator(std::uint64_t salt = 0) {
  return std::mt19937_64(seed() * 0x9e3779b97f4a7c15u + salt);
}

/// Uniform in [low, high).
template <class Generator>
double uniform(Generator& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// Uniform in [low, high], both ends included.
template <class Generator>
std::int64_t uniform_int(Generator& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

}  // namespace takt::test
