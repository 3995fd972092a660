// The main function of every test program: doctest, plus --seed=N and --count=N for the property tests.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "support/random.hpp"

namespace {

std::uint64_t run_seed = 1;
std::optional<std::size_t> run_count;

std::optional<std::uint64_t> number_after(std::string_view argument, std::string_view option) {
  if (argument.substr(0, option.size()) != option) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = argument.data() + argument.size();
  const auto [rest, error] = std::from_chars(argument.data() + option.size(), end, value);
  if (error != std::errc{} || rest != end) {
    std::fprintf(stderr, "%.*s: expected a whole number after '='\n", static_cast<int>(argument.size()),
                 argument.data());
    std::exit(2);
  }
  return value;
}

}  // namespace

namespace takt::test {
std::uint64_t seed() { return run_seed; }
std::size_t count(std::size_t otherwise, std::size_t worth) {
  return run_count ? (*run_count + worth - 1) / worth : otherwise;
}
}  // namespace takt::test

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (const auto value = number_after(argv[i], "--seed=")) run_seed = *value;
    if (const auto value = number_after(argv[i], "--count=")) run_count = static_cast<std::size_t>(*value);
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(run_seed));
  doctest::Context context(argc, argv);
  return context.run();
}
