// A robot's state as a table for a terminal.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "takt/motion/wire.hpp"

namespace takt::tools {

/// The robot's state as a table of at most `columns` columns. Long joint names are shortened in the middle,
/// to 8 characters at least.
std::string state_table(const motion::StateReply& state, std::string_view robot,
                        std::size_t columns = std::numeric_limits<std::size_t>::max());
/// The joints' limits as a table.
std::string limits_table(const motion::GreetingReply& robot);

}  // namespace takt::tools
