// Simulates memory exhaustion at any point, for tests of the C API. capi_test.cpp has the allocator.
#pragma once

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>

#include "takt.h"

namespace takt::test {

inline std::atomic<long> allocations_left{-1};  ///< negative: no limit
inline std::atomic<long> live_allocations{0};

/// Runs `call` with memory for 0, 1, 2, ... allocations until it succeeds. Every failure must be a status
/// without a leak.
template <class Call>
long allocations_needed(Call&& call) {
  for (long allowed = 0; allowed < 1000; ++allowed) {
    const long before = live_allocations;
    allocations_left = allowed;
    const std::int32_t status = call();
    allocations_left = -1;
    if (status == TAKT_OK) return allowed;
    const long after = live_allocations;
    CHECK(status == TAKT_ERROR_CAPI_OUT_OF_MEMORY);
    CHECK(after == before);
  }
  return -1;
}

}  // namespace takt::test
