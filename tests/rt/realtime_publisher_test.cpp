#include "takt/rt/realtime_publisher.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::rt;

// ---- the cases of realtime_tools ----

TEST_CASE("a publisher without messages ends") {
  std::size_t published = 0;
  {
    RealtimePublisher<int> publisher([&](int) { ++published; });
  }
  CHECK(published == 0);
}

TEST_CASE("a message that can be published is published, on another thread") {
  std::vector<int> published;
  std::thread::id publishing;
  {
    RealtimePublisher<int> publisher([&](int message) {
      published.push_back(message);
      publishing = std::this_thread::get_id();
    });
    CHECK(publisher.can_publish());
    CHECK(publisher.try_publish(7));
  }
  CHECK(published == std::vector{7});
  CHECK(publishing != std::this_thread::get_id());
}

// ---- what takt adds ----

TEST_CASE("messages wait in order while the function is busy, and what does not fit is counted") {
  std::latch busy(1);
  std::latch go_on(1);
  std::vector<int> published;
  {
    RealtimePublisher<int> publisher(
        [&](int message) {
          published.push_back(message);
          if (message != 0) return;
          busy.count_down();
          go_on.wait();
        },
        {.capacity = 4});
    CHECK(publisher.capacity() == 4);
    CHECK(publisher.try_publish(0));
    busy.wait();
    int accepted = 0;
    for (int message = 1; message <= 10; ++message) {
      const bool can = publisher.can_publish();
      const bool done = publisher.try_publish(message);
      CHECK(can == done);
      CHECK(done == (message <= 4));
      accepted += done;
    }
    CHECK(accepted == 4);
    CHECK(publisher.dropped() == 6);
    go_on.count_down();
  }
  CHECK(published == std::vector{0, 1, 2, 3, 4});
}

TEST_CASE("publishing keeps the rules of the loop, also if messages are dropped") {
  using Message = std::array<std::uint64_t, 20>;
  std::uint64_t sum = 0;
  std::uint64_t accepted = 0;
  std::uint64_t dropped = 0;
  {
    RealtimePublisher<Message> publisher([&](const Message& message) { sum += message[19]; },
                                         {.capacity = 8});
    Message message{};
    message.fill(1);
    test::RtGuard guard;
    for (int i = 0; i < 1000; ++i) {
      if (publisher.can_publish() && publisher.try_publish(message)) ++accepted;
      if (publisher.try_publish(message)) ++accepted;
    }
    CHECK(guard.report() == "");
    dropped = publisher.dropped();
  }
  CHECK(dropped > 0);
  CHECK(sum == accepted);
}

TEST_CASE("between threads every accepted message arrives once, in order, and every other is counted") {
  for (std::size_t round = 0; round < test::count(10); ++round) {
    auto random = test::generator(round);
    const auto messages = static_cast<std::uint64_t>(test::uniform_int(random, 1, 20000));
    std::vector<std::uint64_t> accepted;
    std::vector<std::uint64_t> published;
    std::uint64_t dropped = 0;
    {
      RealtimePublisher<std::uint64_t> publisher(
          [&](std::uint64_t message) { published.push_back(message); },
          {.capacity = static_cast<std::size_t>(test::uniform_int(random, 0, 300)),
           .period = Duration(1000)});
      for (std::uint64_t message = 0; message < messages; ++message) {
        if (publisher.try_publish(message)) accepted.push_back(message);
        if (test::uniform_int(random, 0, 3) == 0) std::this_thread::yield();
      }
      dropped = publisher.dropped();
    }
    CHECK(published == accepted);
    CHECK(accepted.size() + dropped == messages);
  }
}
