// A file of motion requests with times, for runs without a network: one JSON object per line, a request as motion/wire.hpp has it
// plus "at", the seconds after the robot became ready at which it is made.
//
//     {"at": 0.5, "move": {"joint_names": ["elbow"], "positions": [1.0], "duration": 2}}
#pragma once

#include <string>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"

namespace takt::tools {

struct ScriptedRequest {
  Duration at{};     ///< after the robot became ready
  std::string line;  ///< the request, without "at"
};

/// The requests in order of time; those of equal time in order of the file. Errors name the line and what is wrong with it.
[[nodiscard]] SetupResult<std::vector<ScriptedRequest>> load_requests(const std::string& path);

}  // namespace takt::tools
