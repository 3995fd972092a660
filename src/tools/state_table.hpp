// A robot's state as a table for a terminal.
#pragma once

#include <string>

#include "takt/motion/wire.hpp"

namespace takt::tools {

std::string state_table(const motion::StateReply& state);

}  // namespace takt::tools
