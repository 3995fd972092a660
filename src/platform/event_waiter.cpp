#include "takt/platform/event_waiter.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "platform/descriptor.hpp"
#include "takt/platform/error.hpp"
#include "takt/platform/steady_clock.hpp"

namespace takt::platform {

SetupResult<EventBell> EventBell::create() {
  const int descriptor = ::eventfd(0, EFD_NONBLOCK);
  if (descriptor < 0) return fail(Errc::wait_failed, detail::text_of(errno));
  return EventBell(descriptor);
}

SetupResult<EventBell> EventBell::adopt(int descriptor) {
  const std::string place = "/proc/self/fd/" + std::to_string(descriptor);
  std::array<char, 64> kind{};
  const auto length = ::readlink(place.c_str(), kind.data(), kind.size());
  if (length < 0 || std::string_view(kind.data(), static_cast<std::size_t>(length)) != "anon_inode:[eventfd]")
    return fail(Errc::wait_failed, "descriptor " + std::to_string(descriptor) + " is no eventfd");
  return EventBell(descriptor);
}

EventBell::EventBell(EventBell&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

EventBell::~EventBell() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void EventBell::ring() const noexcept {
  const std::uint64_t one = 1;
  (void)!::write(descriptor_, &one, sizeof one);  // cannot block
}

SetupResult<EventWaiter> EventWaiter::create(const std::vector<int>& descriptors, int bell_of_others) {
  detail::Descriptor bell(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  detail::Descriptor poll(::epoll_create1(EPOLL_CLOEXEC));
  if (!bell.is_open() || !poll.is_open()) return fail(Errc::wait_failed, detail::text_of(errno));
  const auto add = [&](int descriptor, std::uint32_t events = EPOLLIN) {
    epoll_event event{};
    event.events = events;
    event.data.fd = descriptor;
    return ::epoll_ctl(poll.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
  };
  if (!add(bell.get())) return fail(Errc::wait_failed, detail::text_of(errno));
  for (const int descriptor : descriptors) {
    if (!add(descriptor))
      return fail(Errc::wait_failed,
                  "descriptor " + std::to_string(descriptor) + ": " + detail::text_of(errno));
  }
  // Edge-triggered: each ring ends one wait, and nobody has to read the bell. Its 64-bit count never fills.
  if (bell_of_others >= 0 && !add(bell_of_others, std::uint32_t{EPOLLIN} | std::uint32_t{EPOLLET}))
    return fail(Errc::wait_failed, "bell " + std::to_string(bell_of_others) + ": " + detail::text_of(errno));
  return EventWaiter(bell.release(), poll.release());
}

EventWaiter::EventWaiter(EventWaiter&& other) noexcept
    : bell_(std::exchange(other.bell_, -1)), poll_(std::exchange(other.poll_, -1)) {}

EventWaiter::~EventWaiter() {
  if (bell_ >= 0) ::close(bell_);
  if (poll_ >= 0) ::close(poll_);
}

bool EventWaiter::wait_until(Time deadline) noexcept {
  // acquire: what a ringer wrote before its ring is visible. A ring before this exchange is not slept over,
  // and one after it finds `asleep` and writes to the bell.
  std::uint32_t state = idle;
  if (!state_.compare_exchange_strong(state, asleep, std::memory_order_acquire)) {
    // acquire: another ring may have come since, and its event is visible now.
    (void)state_.exchange(idle, std::memory_order_acquire);
    return false;
  }
  const Duration left = std::max(deadline - SteadyClock().now(), Duration(0));
  timespec timeout{};
  timeout.tv_sec = left.count() / 1'000'000'000;
  timeout.tv_nsec = left.count() % 1'000'000'000;
  epoll_event event{};
  int ready = ::epoll_pwait2(poll_, &event, 1, &timeout, nullptr);
  if (ready < 0 && errno == ENOSYS) {
    const auto milliseconds = std::min<Duration::rep>((left.count() + 999'999) / 1'000'000, 1'000'000);
    ready = ::epoll_wait(poll_, &event, 1, static_cast<int>(milliseconds));
  }
  // acquire: as above, for a ring that ended the sleep.
  (void)state_.exchange(idle, std::memory_order_acquire);
  // Always: the write of a ring may come later than its exchange, in the next sleep.
  std::uint64_t rings = 0;
  (void)!::read(bell_, &rings, sizeof rings);
  return ready > 0 && event.data.fd != bell_;
}

void EventWaiter::ring() noexcept {
  // release: the woken thread sees what was written before.
  if (state_.exchange(rung, std::memory_order_release) != asleep) return;
  const std::uint64_t one = 1;
  (void)!::write(bell_, &one, sizeof one);  // cannot block; a full counter wakes, too
}

}  // namespace takt::platform
