// A file of timed motion requests, for runs without a network: one JSON object per line. It is a request of
// motion/PROTOCOL.md plus "at", the seconds after the robot became ready.
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

/// The requests in order of time, and of the file at equal times. Errors name the line and its mistake.
[[nodiscard]] SetupResult<std::vector<ScriptedRequest>> load_requests(const std::string& path);

}  // namespace takt::tools
