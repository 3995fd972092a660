// A robot's state as a table for a terminal.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "takt/motion/wire.hpp"

namespace takt::tools {

/// At most so many columns wide, for which long names of joints are shortened in their middle, but never below 8 characters.
std::string state_table(const motion::StateReply& state, std::string_view robot,
                        std::size_t columns = std::numeric_limits<std::size_t>::max());
/// What the joints must not exceed.
std::string limits_table(const motion::GreetingReply& robot);

}  // namespace takt::tools
