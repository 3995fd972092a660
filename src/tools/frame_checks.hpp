// The checks of counters and checksums that a user names on the command line.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "takt/can/frame.hpp"
#include "takt/core/setup_error.hpp"
#include "takt/dbc/protection.hpp"

namespace takt::tools {

/// Checks received frames by rules, and counts what it finds.
class FrameChecks {
 public:
  /// The rules as in dbc::parse_protection_rule(). The database must outlive the object.
  [[nodiscard]] static SetupResult<FrameChecks> create(const dbc::Database& dbc,
                                                       const std::vector<std::string>& rules);

  /// Checks the frame, and returns its mistake: "wrong checksum". Empty for a good one, and without a rule.
  [[nodiscard]] std::string_view mistake_in(const can::Frame& frame);
  [[nodiscard]] bool all_good() const;
  /// A line for each rule: "MotorStatus: 98 good, 2 wrong checksum".
  [[nodiscard]] std::string summary() const;

 private:
  struct Check {
    dbc::Protection protection;
    std::array<std::uint64_t, dbc::protection_verdicts> counts{};  ///< by verdict
  };
  std::vector<Check> checks_;
};

}  // namespace takt::tools
