// The explorer itself must reach what only weak machines do. Otherwise its models would prove nothing.
#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <string>

#include "shm/model/proofs.hpp"

using namespace takt::test::model;

TEST_CASE(
    "the explorer reaches what weak machines do: two threads that write and then miss each other's write") {
  Explorer explorer;
  Machine::Atomic<std::uint32_t> x;
  Machine::Atomic<std::uint32_t> y;
  explorer.thread([&] {
    x.store(1, std::memory_order_release);
    Explorer::observe(y.load(std::memory_order_acquire));
  });
  explorer.thread([&] {
    y.store(1, std::memory_order_release);
    Explorer::observe(x.load(std::memory_order_acquire));
  });
  std::set<std::int64_t> outcomes;
  explorer.check([&](const Observed& observed) {
    outcomes.insert(observed[0][0] * 2 + observed[1][0]);
    return std::string();
  });
  CHECK(explorer.explore().violation == "");
  CHECK(outcomes == std::set<std::int64_t>{0, 1, 2, 3});
}
