// Checks for numbers in options. CLI11's own checks accept infinity, and NaN, which is neither below nor
// above a bound.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>
#include <string>

namespace takt::tools {

/// Accepts a finite number from `least` to `most`; otherwise the message says `what`.
inline CLI::Validator number_between(double least, double most, const std::string& what) {
  return {[=](const std::string& text) {
            double number = 0;
            const bool fits = CLI::detail::lexical_cast(text, number) && std::isfinite(number) &&
                              number >= least && number <= most;
            return fits ? std::string{} : fmt::format("'{}' is not a {}", text, what);
          },
          what};
}

inline CLI::Validator positive_number() {
  using Limits = std::numeric_limits<double>;
  return number_between(Limits::denorm_min(), Limits::max(), "finite number above 0");
}

inline CLI::Validator finite_number() {
  using Limits = std::numeric_limits<double>;
  return number_between(Limits::lowest(), Limits::max(), "finite number");
}

inline CLI::Validator number_from_zero() {
  return number_between(0, std::numeric_limits<double>::max(), "finite number of at least 0");
}

}  // namespace takt::tools
