#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "takt/core/manual_clock.hpp"
#include "takt/platform/hybrid_clock.hpp"
#include "takt/platform/steady_clock.hpp"
#include "takt/rt/periodic_loop.hpp"

using namespace takt;
using namespace takt::platform;
using namespace std::chrono_literals;

// Checks only what holds on any busy machine: never early, never backwards. The benchmarks measure lateness.
TEST_CASE_TEMPLATE("a clock never wakes early and never goes backwards", C, SteadyClock, HybridClock) {
  C clock;
  Time last = clock.now();
  for (int i = 0; i < 20; ++i) {
    const Time wanted = last + 500us;
    clock.sleep_until(wanted);
    const Time now = clock.now();
    REQUIRE(now >= wanted);
    last = now;
  }
}

TEST_CASE_TEMPLATE("times that have passed, however long ago, are not waited for", C, SteadyClock,
                   HybridClock) {
  C clock;
  for (const Time time : {Time::min(), Time(Duration(-1)), Time{}, Time(Duration(1)), clock.now()}) {
    clock.sleep_until(time);
  }
  CHECK(clock.now() > Time{});
}

TEST_CASE_TEMPLATE("a signal does not shorten a sleep", C, SteadyClock, HybridClock) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &before);
  const pthread_t sleeper = pthread_self();
  std::atomic<bool> awake{false};
  std::thread disturber([&] {
    while (!awake) {
      pthread_kill(sleeper, SIGUSR1);
      std::this_thread::sleep_for(1ms);
    }
  });
  C clock;
  const Time wanted = clock.now() + 30ms;
  clock.sleep_until(wanted);
  const bool early = clock.now() < wanted;
  awake = true;
  disturber.join();
  sigaction(SIGUSR1, &before, nullptr);
  CHECK_FALSE(early);
}

TEST_CASE("the spin of a hybrid clock stays within its bounds") {
  HybridClock::Config config;
  config.shortest_spin = 10us;
  config.longest_spin = 150us;
  HybridClock clock(config);
  for (int i = 0; i < 50; ++i) {
    clock.sleep_until(clock.now() + 300us);
    REQUIRE(clock.margin() >= config.shortest_spin);
    REQUIRE(clock.margin() <= config.longest_spin);
  }
}

TEST_CASE_TEMPLATE("the same loop beats in wall time", C, SteadyClock, HybridClock) {
  C clock;
  auto loop = rt::PeriodicLoop<C>::create(clock, {});
  REQUIRE(loop);
  Time first{};
  Time last{};
  loop->run([&](const rt::Tick& tick) noexcept {
    if (tick.index == 0) first = tick.due;
    last = tick.due;
    return tick.index + tick.overruns >= 20 ? rt::Verdict::stop : rt::Verdict::proceed;
  });
  CHECK(last - first >= 20ms);
  CHECK(loop->statistics().cycles + loop->statistics().overruns >= 21);
}
