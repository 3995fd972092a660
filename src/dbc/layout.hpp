// Where the signals of a message lie, and which selector each hangs on: what can be said only when all of a file has been read.
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

/// Where something stands that is called by its name.
using Names = std::map<std::string, std::uint32_t, std::less<>>;

/// What a file says of a signal's place in the multiplexing, until all of it is known.
struct Multiplexing {
  std::optional<std::uint64_t> page;  ///< mN
  std::string selector;               ///< SG_MUL_VAL_
  std::vector<SelectorRange> ranges;
};

/// What is needed of a message while the file is read, and not later.
struct Notes {
  Place place;
  Names signals;
  std::vector<Place> signal_places;
  std::vector<Multiplexing> multiplexing;
};

/// In rising order, touching ranges joined.
void normalise(std::vector<SelectorRange>& ranges);

/// Finds the selector of each signal that has one. Says which signals cannot be understood.
[[nodiscard]] std::vector<bool> choose_selectors(Message& message, const Notes& notes,
                                                 Complaints& complaints);

/// Complains of signals outside of their message, of selectors that are too short, and of bits that two signals share which can
/// be in one frame.
void check_layout(const Message& message, const Notes& notes, const std::vector<bool>& left_out,
                  Complaints& complaints);

/// Takes away the signals that are left out.
void remove_signals(Message& message, const std::vector<bool>& left_out);

}  // namespace takt::dbc
