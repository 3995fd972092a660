// Waiting for what another thread or process does.
#pragma once

#include <chrono>
#include <thread>

namespace takt::test {

/// Returns false if the condition stays false for a minute, longer than any pause of a busy machine.
template <class Condition>
[[nodiscard]] bool eventually(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace takt::test
