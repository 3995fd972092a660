// Who sits on a seat, in shared words, and how that is found out.
#pragma once

#include <cstdint>

#include "takt/core/time.hpp"
#include "takt/platform/seat.hpp"

namespace takt::platform::detail {

[[nodiscard]] std::uint64_t random_number() noexcept;
/// When this process started, in clock ticks since the machine did; 0 where the system does not say.
[[nodiscard]] std::uint64_t start_time() noexcept;
[[nodiscard]] SeatOwner read_owner(const shm::SeatRecord& record) noexcept;
void write_owner(shm::SeatRecord& record, const SeatOwner& owner) noexcept;
/// As heartbeats have it: running over.
[[nodiscard]] std::uint32_t milliseconds(Time time) noexcept;

}  // namespace takt::platform::detail
