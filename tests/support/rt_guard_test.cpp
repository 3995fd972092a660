// Tests that the guard detects violations: each rule of the real-time path is broken once on purpose, and the
// guard must name it.
#include "support/rt_guard.hpp"

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using takt::test::RtGuard;

namespace planted {

// Not inlined, and without tail calls, so that each is on the stack during its violation.
__attribute__((noinline)) std::unique_ptr<int> allocates() { return std::make_unique<int>(7); }
__attribute__((noinline)) void releases(std::unique_ptr<int> value) {
  value.reset();
  asm volatile("");
}
__attribute__((noinline)) long enters_kernel() {
  const long result = syscall(SYS_getpid);
  asm volatile("");
  return result;
}
__attribute__((noinline)) double control_step(double x) {
  for (int i = 0; i < 100; ++i) x = 0.5 * x + 0.25;
  return x;
}

}  // namespace planted

static __attribute__((noinline)) double* allocates_in_secret() { return new double(7.0); }

namespace {

bool names(const std::string& report, const std::string& culprit) {
  return report.find(culprit) != std::string::npos;
}

timespec in_nanoseconds(long wait) {
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += wait;
  if (until.tv_nsec >= 1'000'000'000) {
    until.tv_nsec -= 1'000'000'000;
    ++until.tv_sec;
  }
  return until;
}

}  // namespace

TEST_CASE("an obedient thread is left in peace") {
  std::vector<double> sized_at_setup(100, 1.0);
  RtGuard guard;
  for (double& x : sized_at_setup) x = planted::control_step(x);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // through the vDSO: not a system call
  CHECK(guard.report() == "");
  CHECK(guard.violations() == 0);
}

TEST_CASE("an allocation is named, with its size and its caller") {
  RtGuard guard;
  const auto value = planted::allocates();
  const std::string report = guard.report();
  CHECK(guard.violations() == 1);
  CHECK(names(report, "malloc of 4 bytes"));
  CHECK(names(report, "planted::allocates"));
}

TEST_CASE("a culprit without external linkage is named from the debug information") {
  RtGuard guard;
  const std::unique_ptr<double> value(allocates_in_secret());
  const std::string report = guard.report();
  INFO(report);
  CHECK(names(report, "allocates_in_secret"));
}

TEST_CASE("a free is named") {
  auto value = planted::allocates();
  RtGuard guard;
  planted::releases(std::move(value));
  const std::string report = guard.report();
  CHECK(guard.violations() == 1);
  CHECK(names(report, "free"));
  CHECK(names(report, "planted::releases"));
}

TEST_CASE("freeing nothing is not a free") {
  RtGuard guard;
  std::unique_ptr<int> nothing;
  planted::releases(std::move(nothing));
  CHECK(guard.report() == "");
}

TEST_CASE("a growing vector and a thrown exception allocate") {
  std::vector<int> grows;
  RtGuard guard;
  grows.push_back(1);
  try {
    throw std::out_of_range("planted");
  } catch (const std::out_of_range&) {
  }
  CHECK(guard.report() != "");
  CHECK(guard.violations() >= 2);
}

TEST_CASE("a system call is named, and is carried out all the same") {
  if (!RtGuard::watches_system_calls()) return;
  const long before = planted::enters_kernel();
  RtGuard guard;
  const long during = planted::enters_kernel();
  const std::string report = guard.report();
  CHECK(during == before);
  CHECK(guard.violations() == 1);
  CHECK(names(report, "system call getpid"));
  CHECK(names(report, "planted::enters_kernel"));
}

TEST_CASE("output is a system call") {
  if (!RtGuard::watches_system_calls()) return;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  RtGuard guard;
  const auto written = write(ends[1], "x", 1);
  const std::string report = guard.report();
  CHECK(written == 1);
  CHECK(names(report, "system call write"));
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("an allowed system call passes, works, and keeps its result") {
  RtGuard guard({.allow = {SYS_clock_nanosleep, SYS_getppid}});
  const timespec until = in_nanoseconds(2'000'000);
  const int slept = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const pid_t parent = getppid();
  CHECK(guard.report() == "");
  CHECK(slept == 0);
  CHECK((now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec)));
  CHECK(parent == getppid());
}

TEST_CASE("a failing system call fails as it would without the guard") {
  if (!RtGuard::watches_system_calls()) return;
  RtGuard guard({.allow = {SYS_close}});
  errno = 0;
  const int result = close(-1);
  const int error = errno;
  CHECK(guard.report() == "");
  CHECK(result == -1);
  CHECK(error == EBADF);
}

TEST_CASE("a free lock is a violation too") {
  if (!RtGuard::watches_locks()) return;
  std::mutex mutex;
  std::shared_mutex shared;
  RtGuard guard;
  { const std::lock_guard lock(mutex); }
  { const std::shared_lock lock(shared); }
  const std::string report = guard.report();
  CHECK(guard.violations() == 2);
  CHECK(names(report, "pthread_mutex_lock"));
  CHECK(names(report, "pthread_rwlock_rdlock"));
}

TEST_CASE("waiting for a lock that another thread holds is seen in the kernel as well") {
  if (!RtGuard::watches_system_calls()) return;
  std::mutex mutex;
  std::atomic<bool> held = false;
  std::atomic<bool> waiting = false;
  std::thread holder([&] {
    const std::lock_guard lock(mutex);
    held = true;
    while (!waiting) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  while (!held) std::this_thread::yield();
  std::string report;
  {
    RtGuard guard;
    waiting = true;
    const std::lock_guard lock(mutex);
    report = guard.report();
  }
  holder.join();
  CHECK(names(report, "system call futex"));
}

TEST_CASE("the same violation in every cycle is one line with a count") {
  std::string report;
  RtGuard guard;
  for (int cycle = 0; cycle < 1000; ++cycle) (void)planted::allocates();
  report = guard.report();
  CHECK(guard.violations() == 2000);
  CHECK(names(report, "1000 times"));
  CHECK(std::count(report.begin(), report.end(), '\n') == 2);
}

TEST_CASE("a guard can be disarmed and armed again") {
  RtGuard guard;
  guard.disarm();
  auto outside = planted::allocates();
  guard.arm();
  (void)planted::control_step(1.0);
  guard.disarm();
  outside.reset();
  CHECK(guard.violations() == 0);
  guard.arm();
  (void)planted::allocates();
  guard.disarm();
  CHECK(guard.violations() == 2);
}

TEST_CASE("only the armed thread is watched") {
  std::atomic<int> stage = 0;
  std::thread other([&] {
    while (stage == 0) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) (void)planted::allocates();
    stage = 2;
  });
  std::string report;
  {
    RtGuard guard;
    stage = 1;
    while (stage != 2) (void)planted::control_step(1.0);
    report = guard.report();
  }
  other.join();
  CHECK(report == "");
}

TEST_CASE("a loop thread is guarded over its whole run, sleeping in the kernel a thousand times") {
  std::string report;
  std::size_t violations = 1;
  std::thread loop([&] {
    double state = 1.0;
    RtGuard guard({.allow = {SYS_clock_nanosleep}});
    for (int cycle = 0; cycle < 1000; ++cycle) {
      state = planted::control_step(state);
      const timespec until = in_nanoseconds(500'000);
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    }
    report = guard.report();
    violations = guard.violations();
  });
  loop.join();
  CHECK(report == "");
  CHECK(violations == 0);
}

TEST_CASE("a signal that interrupts an armed thread returns to it") {
  if (!RtGuard::watches_system_calls()) return;
  static std::atomic<int> caught;
  caught = 0;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { ++caught; };
  sigaction(SIGUSR1, &action, &before);
  std::string report;
  {
    const pid_t self = getpid();
    const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
    RtGuard guard({.allow = {SYS_tgkill}});
    for (int i = 0; i < 10; ++i) syscall(SYS_tgkill, self, thread, SIGUSR1);
    report = guard.report();
  }
  sigaction(SIGUSR1, &before, nullptr);
  CHECK(report == "");
  CHECK(caught == 10);
}

TEST_CASE("starting a thread is named and does not bring the program down") {
  RtGuard guard;
  std::thread started([] {});
  const std::string report = guard.report();
  started.join();
  CHECK(report != "");
}
