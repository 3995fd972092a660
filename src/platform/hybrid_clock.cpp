#include "takt/platform/hybrid_clock.hpp"

#include <algorithm>

namespace takt::platform {

namespace {

/// Tells the core that this is a spin. The other hardware thread runs faster, and the core saves power.
void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__ARM_ARCH_7A__)
  asm volatile("yield");
#endif
}

}  // namespace

HybridClock::HybridClock(const Config& config) noexcept
    : config_(config),
      margin_(std::clamp((config.shortest_spin + config.longest_spin) / 2, config.shortest_spin,
                         config.longest_spin)),
      last_return_(clock_.now()) {}

void HybridClock::sleep_until(Time time) noexcept {
  Time now = clock_.now();
  if (now < time) {
    const Duration spin = std::min(margin_, (time - last_return_) / 4);
    const Time wake_up = time - spin;
    if (now < wake_up) {
      clock_.sleep_until(wake_up);
      now = clock_.now();
      adapt(now - wake_up);
    }
    while (now < time) {
      pause();
      now = clock_.now();
    }
  }
  last_return_ = now;
}

/// Adapts the margin to about the worst wake-up in fifty. It rises by half of the missing time and falls by a
/// hundredth of the surplus. So one outlier of milliseconds does not cost a second of spinning.
void HybridClock::adapt(Duration wake_up_lateness) noexcept {
  if (wake_up_lateness > margin_) {
    margin_ += (std::min(wake_up_lateness, config_.longest_spin) - margin_) / 2;
  } else {
    margin_ -= (margin_ - wake_up_lateness) / 100;
  }
  margin_ = std::clamp(margin_, config_.shortest_spin, config_.longest_spin);
}

}  // namespace takt::platform
