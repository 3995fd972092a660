#include "takt/platform/worker.hpp"

#include <doctest/doctest.h>

#include <future>
#include <thread>
#include <vector>

using takt::platform::Worker;

TEST_CASE("work is done in order, on a thread of its own") {
  std::vector<int> order;
  std::promise<std::thread::id> done;
  Worker worker;
  for (int i = 0; i < 100; ++i) worker([&order, i] { order.push_back(i); });
  worker([&done] { done.set_value(std::this_thread::get_id()); });
  CHECK(done.get_future().get() != std::this_thread::get_id());
  REQUIRE(order.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("a worker that ends finishes what it has begun") {
  std::promise<void> begun;
  bool finished = false;
  {
    Worker worker;
    worker([&] {
      begun.set_value();
      finished = true;
    });
    begun.get_future().wait();
  }
  CHECK(finished);
}
