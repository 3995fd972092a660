#include "tools/frame_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "tools/report_text.hpp"

namespace takt::tools {

using dbc::ProtectionVerdict;

SetupResult<FrameChecks> FrameChecks::create(const dbc::Database& dbc,
                                             const std::vector<std::string>& rules) {
  FrameChecks checks;
  for (const std::string& text : rules) {
    const auto parsed = dbc::parse_protection_rule(text);
    if (!parsed) return tl::unexpected(parsed.error());
    auto protection = dbc::Protection::create(dbc, *parsed);
    if (!protection) return tl::unexpected(std::move(protection.error()));
    checks.checks_.push_back({.protection = *protection});
  }
  return checks;
}

std::string_view FrameChecks::mistake_in(const can::Frame& frame) {
  if (!frame.is_data()) return {};
  for (Check& check : checks_) {
    if (!check.protection.message().is_mine(frame)) continue;
    const ProtectionVerdict verdict = check.protection.check(frame);
    ++check.counts[static_cast<std::size_t>(verdict)];
    return verdict == ProtectionVerdict::good ? std::string_view() : describe(verdict);
  }
  return {};
}

bool FrameChecks::all_good() const {
  return std::ranges::all_of(checks_, [](const Check& check) {
    return std::all_of(check.counts.begin() + 1, check.counts.end(), [](auto count) { return count == 0; });
  });
}

std::string FrameChecks::summary() const {
  std::string text;
  for (const Check& check : checks_) {
    text += printable(check.protection.message().description().name) + ':';
    for (std::size_t i = 0; i < check.counts.size(); ++i) {
      if (i == 0 || check.counts[i] > 0)
        text += fmt::format("{} {} {}", i == 0 ? "" : ",", check.counts[i],
                            describe(static_cast<ProtectionVerdict>(i)));
    }
    text += '\n';
  }
  return text;
}

}  // namespace takt::tools
