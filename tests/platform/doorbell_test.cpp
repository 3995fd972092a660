#include "takt/platform/doorbell.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <thread>

#include "support/random.hpp"
#include "support/rt_guard.hpp"
#include "takt/platform/steady_clock.hpp"

using namespace takt;
using platform::Doorbell;
using platform::Ringer;
using platform::Waiter;

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

Time in(Duration duration) { return platform::SteadyClock().now() + duration; }

/// Two bells and two counts, for passing a token back and forth.
struct Court {
  struct Side {
    Doorbell bell;
    alignas(shm::cache_line) std::atomic<std::uint32_t> count{0};
  };
  Side there;
  Side back;
};

/// Waits for each count of `from`, then sets that of `to`, `ahead` higher. Returns the number of missing
/// rounds. The timeout is so long that only a lost wake-up reaches it.
std::uint32_t pass_on(Court::Side& from, Court::Side& to, std::uint32_t times, std::uint32_t ahead) {
  Waiter waiter(from.bell);
  Ringer ringer(to.bell);
  for (std::uint32_t i = 1; i <= times; ++i) {
    const Time start = platform::SteadyClock().now();
    const auto come = [&] { return from.count.load(std::memory_order_acquire) >= i; };
    if (!waiter.wait_until(start + minutes(1), come)) return times - i + 1;
    if (platform::SteadyClock().now() - start > minutes(1))
      return times - i + 1;  // published, but the wake-up was lost
    to.count.store(i + ahead, std::memory_order_release);
    ringer.ring();
  }
  return 0;
}

std::uint32_t serve(Court& court, std::uint32_t times) {
  court.there.count.store(1, std::memory_order_release);
  Ringer(court.there.bell).ring();
  return pass_on(court.back, court.there, times, 1);
}

/// Memory shared with a child process.
template <class T>
class Shared {
 public:
  Shared()
      : object_(new (mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) T) {
  }
  ~Shared() { munmap(object_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }

 private:
  T* object_;
};

}  // namespace

TEST_CASE("a wait for something present returns at once, and a wait for nothing ends at its deadline") {
  Doorbell bell;
  Waiter waiter(bell);
  CHECK(waiter.wait_until(Time::min(), [] { return true; }));
  CHECK_FALSE(waiter.wait_until(Time::min(), [] { return false; }));
  const Time deadline = in(milliseconds(5));
  CHECK_FALSE(waiter.wait_until(deadline, [] { return false; }));
  CHECK(platform::SteadyClock().now() >= deadline);
}

TEST_CASE("two threads hand over without losing a wake-up") {
  Court court;
  const auto times = static_cast<std::uint32_t>(test::count(50'000));
  std::uint32_t missed = 0;
  std::thread other([&] { missed = pass_on(court.there, court.back, times, 0); });
  CHECK(serve(court, times) == 0);
  other.join();
  CHECK(missed == 0);
}

TEST_CASE("two processes hand over without losing a wake-up") {
  const Shared<Court> court;
  const auto times = static_cast<std::uint32_t>(test::count(50'000));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(pass_on(court->there, court->back, times, 0) == 0 ? 0 : 1);
  CHECK(serve(*court, times) == 0);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("one ring wakes all who wait") {
  Doorbell bell;
  std::atomic<bool> open{false};
  std::atomic<int> woken{0};
  const auto wait = [&] { woken += Waiter(bell).wait_until(in(minutes(1)), [&] { return open.load(); }); };
  std::thread first(wait);
  std::thread second(wait);
  while (bell.state.load() % 2 == 0) std::this_thread::yield();
  open = true;
  Ringer(bell).ring();
  first.join();
  second.join();
  CHECK(woken == 2);
}

TEST_CASE("who dies while it waits costs one superfluous ring") {
  const Shared<Doorbell> bell;
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(Waiter(*bell).wait_until(in(minutes(10)), [] { return false; }) ? 1 : 0);
  while (bell->state.load() % 2 == 0) std::this_thread::yield();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(bell->state.load() % 2 == 1);
  Ringer ringer(*bell);
  ringer.ring();
  CHECK(bell->state.load() % 2 == 0);
  test::RtGuard guard;
  ringer.ring();
  CHECK(guard.report() == "");
}

TEST_CASE("a ring makes no system call without a waiter, and otherwise one that does not block") {
  Doorbell bell;
  Ringer ringer(bell);
  {
    test::RtGuard guard;
    for (int i = 0; i < 1000; ++i) ringer.ring();
    CHECK(guard.report() == "");
  }
  (void)Waiter(bell).wait_until(Time::min(), [] { return false; });
  test::RtGuard guard({.allow = {SYS_futex}});
  ringer.ring();
  CHECK(guard.report() == "");
}

TEST_CASE("nonsense in the bell does not keep a wait beyond its deadline") {
  Doorbell bell;
  std::atomic<bool> over{false};
  std::thread peer([&] {
    auto random = test::generator();
    while (!over) bell.state.store(static_cast<std::uint32_t>(random()), std::memory_order_relaxed);
  });
  for (int i = 0; i < 20; ++i) {
    CHECK_FALSE(Waiter(bell).wait_until(in(milliseconds(1)), [] { return false; }));
    Ringer(bell).ring();
  }
  over = true;
  peer.join();
}
