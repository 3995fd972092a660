// Compares the ports of two recordings, value by value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"

namespace takt::tools {

/// A port that both recordings have.
struct ComparedPort {
  std::string name;          ///< "motor.joint"
  std::uint64_t equal = 0;   ///< values before the first difference
  std::string difference{};  ///< "at 1.250000 s: position is 0.5, the other has 0.4"; empty: none
};

/// The ports in the order of their names. A difference is a value of other bits, another type, or a value
/// that only one of them has. Times count from the recording's first value. Errors: those of record::Reader.
[[nodiscard]] SetupResult<std::vector<ComparedPort>> compare_ports(const std::string& path,
                                                                   const std::string& other);

}  // namespace takt::tools
