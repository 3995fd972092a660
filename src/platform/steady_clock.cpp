#include "takt/platform/steady_clock.hpp"

#include <cerrno>
#include <ctime>

namespace takt::platform {

namespace {
constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
}

Time SteadyClock::now() const noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // cannot fail; no system call with the vDSO
  return time_from_nanoseconds(now.tv_sec * nanoseconds_per_second + now.tv_nsec);
}

void SteadyClock::sleep_until(Time time) noexcept {
  const std::int64_t nanoseconds = to_nanoseconds(time);
  if (nanoseconds <= 0) return;
  timespec deadline{};
  deadline.tv_sec = nanoseconds / nanoseconds_per_second;
  deadline.tv_nsec = nanoseconds % nanoseconds_per_second;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
}

}  // namespace takt::platform
