// What stands in a shared segment, seen by a program that knows none of its types: how far each exchange is, and the present value
// of those that have one, read by the schema that the segment carries. Only reads, and believes nothing: a peer may be writing
// anything there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "takt/platform/segment.hpp"

namespace takt::tools {

/// How far an exchange is; numbers that its kind does not have are missing.
struct ExchangeProgress {
  std::optional<std::uint32_t> written;  ///< elements so far, running over; bytes of a byte ring
  std::optional<std::uint32_t> waiting;  ///< of them, not taken yet
};
ExchangeProgress progress_of(const shm::Layout& layout, const shm::Exchange& exchange);

/// The latest value of an exchange that holds one, or of one of its seats; nothing if there is none, or the writer was faster.
std::optional<std::vector<std::byte>> value_of(const shm::Layout& layout, const shm::Exchange& exchange,
                                               std::uint32_t seat);
/// How many values an exchange holds: 0 for streams.
std::uint32_t values_of(const shm::Exchange& exchange);

/// A value as {"position": [0.1, ...], "stamp": 12}; padding is left out. null if `value` has not schema.bytes bytes.
nlohmann::ordered_json decode(const shm::Fields& schema, const std::vector<std::byte>& value);

/// "segment" or "references producer 0": whose seat a number is.
std::string seat_place(const shm::Layout& layout, std::uint32_t seat);

/// All that is to be known of a segment.
nlohmann::ordered_json segment_json(const platform::Segment& segment, Time now);
std::string segment_text(const platform::Segment& segment, Time now);

}  // namespace takt::tools
