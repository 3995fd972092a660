// The layout of messages: places of signals and their selectors. It needs the complete file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dbc/complaints.hpp"
#include "takt/dbc/file.hpp"

namespace takt::dbc {

/// The place in the text where a name is used.
using Names = std::map<std::string, std::uint32_t, std::less<>>;

/// The multiplexing of a signal as the file states it, before it is resolved.
struct Multiplexing {
  std::optional<std::uint64_t> page;  ///< mN
  std::string selector;               ///< SG_MUL_VAL_
  std::vector<NumberRange> ranges;
};

/// Data of a message that are needed only while the file is read.
struct Notes {
  TextPosition place;
  Names signals;
  std::vector<TextPosition> signal_places;
  std::vector<Multiplexing> multiplexing;
};

/// Sorts ranges and joins those that touch.
void normalise(std::vector<NumberRange>& ranges);

/// Finds the selector of each multiplexed signal. Reports the signals that cannot be resolved.
[[nodiscard]] std::vector<bool> choose_selectors(Message& message, const Notes& notes,
                                                 Complaints& complaints);

/// Reports signals beyond the end of their message, selectors that are too short, and signals in one frame
/// that share bits.
void check_layout(const Message& message, const Notes& notes, const std::vector<bool>& left_out,
                  Complaints& complaints);

/// Removes the skipped signals.
void remove_signals(Message& message, const std::vector<bool>& left_out);

}  // namespace takt::dbc
