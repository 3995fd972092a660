// Reads and writes the owner of an owner slot in shared memory.
#pragma once

#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/platform/owner_slot.hpp"

namespace takt::platform::detail {

[[nodiscard]] std::uint64_t random_number() noexcept;
/// The start of this process in clock ticks since boot; 0 if the system does not report it.
[[nodiscard]] std::uint64_t start_time() noexcept;
[[nodiscard]] SlotOwner read_owner(const shm::OwnerSlotRecord& record) noexcept;
void write_owner(shm::OwnerSlotRecord& record, const SlotOwner& owner) noexcept;
/// A time in ms for heartbeats; it wraps.
[[nodiscard]] std::uint32_t milliseconds(Time time) noexcept;

}  // namespace takt::platform::detail
