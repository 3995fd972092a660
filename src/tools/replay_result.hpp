// The end of a replay, for people: takt replay, and takt run with recorded devices.
#pragma once

#include <string>

#include "takt/app/replay.hpp"
#include "takt/record/reader.hpp"

namespace takt::tools {

/// Prints it, and returns the exit code. `recording`: what was replayed. `made`: the file of the replay's own
/// recording.
[[nodiscard]] int print_result(const app::ReplayResult& result, const record::Reader& recording,
                               const std::string& made);

}  // namespace takt::tools
