// The main function of every test program: doctest, with --seed=N and --count=N for property tests. The
// default seed is TAKT_SEED of the environment, or a new one.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string_view>

#include "support/random.hpp"

namespace {

std::uint64_t run_seed = 0;
std::optional<std::size_t> run_count;

/// Parses the number in `text`. Argument `setting`: its source for the error message, such as "--seed=".
/// Exits if it is not a whole number.
std::uint64_t number_in(std::string_view text, std::string_view setting) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end) {
    std::fprintf(stderr, "%.*s%.*s: expected a whole number after '='\n", static_cast<int>(setting.size()),
                 setting.data(), static_cast<int>(text.size()), text.data());
    std::exit(2);
  }
  return value;
}

std::optional<std::uint64_t> number_after(std::string_view argument, std::string_view option) {
  if (argument.substr(0, option.size()) != option) return std::nullopt;
  return number_in(argument.substr(option.size()), option);
}

/// Short enough to type.
std::uint64_t new_seed() {
  const char* given = std::getenv("TAKT_SEED");
  return given == nullptr ? std::random_device{}() : number_in(given, "TAKT_SEED=");
}

}  // namespace

namespace takt::test {
std::uint64_t seed() { return run_seed; }
std::size_t count(std::size_t otherwise, std::size_t worth) {
  return run_count ? (*run_count + worth - 1) / worth : otherwise;
}
}  // namespace takt::test

int main(int argc, char** argv) {
  run_seed = new_seed();
  for (int i = 1; i < argc; ++i) {
    if (const auto value = number_after(argv[i], "--seed=")) run_seed = *value;
    if (const auto value = number_after(argv[i], "--count=")) run_count = static_cast<std::size_t>(*value);
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(run_seed));
  doctest::Context context(argc, argv);
  return context.run();
}
