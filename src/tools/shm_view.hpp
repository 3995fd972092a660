// Shows a shared segment without knowing its types. It tells how far each exchange is, and decodes present
// values by the segment's schema. It only reads, and trusts nothing: another process may write anything
// there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "takt/platform/segment.hpp"

namespace takt::tools {

/// The progress of an exchange; numbers that its kind does not have are empty.
struct ExchangeProgress {
  std::optional<std::uint32_t> written;  ///< elements so far, wrapping; bytes of a byte ring
  std::optional<std::uint32_t> waiting;  ///< of them, not consumed yet
};
ExchangeProgress progress_of(const shm::Layout& layout, const shm::Exchange& exchange);

/// The latest value of an exchange, or of one of its owner slots; std::nullopt if there is none, or the
/// writer was faster.
std::optional<std::vector<std::byte>> value_of(const shm::Layout& layout, const shm::Exchange& exchange,
                                               std::uint32_t owner_slot);
/// Number of values that an exchange holds: 0 for streams.
std::uint32_t values_of(const shm::Exchange& exchange);

/// A value as {"position": [0.1, ...], "stamp": 12}, without padding. null if the size of `value` is not
/// schema.bytes.
nlohmann::ordered_json decode(const shm::Fields& schema, const std::vector<std::byte>& value);

/// The name of an owner slot, with its number: "segment" or "references producer 0".
std::string owner_slot_place(const shm::Layout& layout, std::uint32_t owner_slot);

/// Everything known about a segment.
nlohmann::ordered_json segment_json(const platform::Segment& segment, Time now);
std::string segment_text(const platform::Segment& segment, Time now);

}  // namespace takt::tools
