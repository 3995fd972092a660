// Explores the rings that several processes share at one end: many readers of a broadcast ring, many
// producers of a queue. Also plants weaker memory orders, which the explorer must find.
#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "shm/model/proofs.hpp"
#include "takt/shm/broadcast_ring.hpp"
#include "takt/shm/multi_producer_ring.hpp"

using namespace takt;
using namespace takt::shm;
using namespace takt::test::model;

TEST_CASE("model: broadcast ring, two messages of space") {
  Explorer explorer;
  BasicBroadcastCount<Machine> count;
  BroadcastSlot<WideMessage, Machine> slots[2];
  constexpr std::uintptr_t successors = 101;
  const auto write = [&](std::uintptr_t first, std::uintptr_t last) {
    BroadcastWriter<WideMessage, Machine> writer(count, slots, 2);
    for (std::uintptr_t value = first; value <= last; ++value) writer.write(WideMessage::of(value));
  };
  const auto read = [&](BroadcastStart start, int times) {
    BroadcastReader<WideMessage, Machine> reader(count, slots, 2, start);
    WideMessage message;
    std::uint64_t last = 0;
    std::uint64_t missed = 0;
    for (int attempt = 0; attempt < times; ++attempt) {
      if (!reader.try_read(message)) continue;
      Explorer::require(message.whole(), "torn");
      const std::uint64_t value = message.value;
      const std::uint64_t skipped = reader.missed() - missed;
      if (last == 0) {
        Explorer::require(skipped < value, "missed a message that never was");
      } else if (value < successors || last >= successors) {
        Explorer::require(value == last + 1 + skipped, "lost, doubled or out of order");
      } else {
        Explorer::require(skipped >= value - successors, "a message of the second writer was lost");
      }
      last = value;
      missed = reader.missed();
      Explorer::observe(static_cast<std::int64_t>(value));
    }
  };
  std::set<std::int64_t> seen;
  explorer.check([&](const Observed& observed) -> std::string {
    seen.insert(observed.back().begin(), observed.back().end());
    return "";
  });

  SUBCASE("from the oldest, writes that lap the reader") {
    explorer.thread([&] { write(1, 4); });
    explorer.thread([&] { read(BroadcastStart::oldest, 2); });
    prove(explorer);
    CHECK(seen == std::set<std::int64_t>{1, 2, 3, 4});
  }
  SUBCASE("the writer dies anywhere, and another takes over") {
    explorer.mortal_thread([&] { write(1, 2); }, [&] { write(successors, successors + 1); });
    explorer.thread([&] { read(BroadcastStart::newest, 2); });
    prove(explorer);
    CHECK(seen == std::set<std::int64_t>{1, 2, 101, 102});
  }
}

TEST_CASE("model: queue with two producers") {
  Explorer explorer;
  MultiProducerMemory<Message, 2, 2, Machine> memory;
  explorer.share(&memory, sizeof(memory));
  constexpr std::int64_t second_lane = 200;
  const auto produce = [&](std::size_t lane, std::uint32_t first, std::uint32_t last) {
    auto producer = memory.producer(lane);
    for (std::uint32_t value = first; value <= last; ++value) {
      if (!producer.try_push(Message::of(value))) return;
    }
  };
  const auto take = [](const Message& message) {
    Explorer::require(message.whole(), "torn");
    Explorer::observe(message.value);
  };
  const auto consume = [&] {
    MultiProducerConsumer<Message, 2, 2, Machine> consumer(memory);
    Message message;
    for (int attempt = 0; attempt < 3; ++attempt) {
      if (consumer.try_pop(message)) take(message);
    }
  };
  const auto lane_of = [](const std::vector<std::int64_t>& received, bool second) {
    std::vector<std::int64_t> lane;
    for (const std::int64_t value : received) {
      if ((value > second_lane) == second) lane.push_back(second ? value - second_lane : value);
    }
    return lane;
  };
  const auto in_order_by_lane = [&](const std::vector<std::int64_t>& received) {
    return in_order(lane_of(received, false)) + in_order(lane_of(received, true));
  };

  SUBCASE("one of the producers dies anywhere, and another takes its lane") {
    explorer.mortal_thread([&] { produce(0, 1, 3); }, [&] { produce(0, 101, 101); });
    explorer.thread([&] { produce(1, second_lane + 1, second_lane + 1); });
    explorer.thread(consume);
    explorer.check([&](const Observed& observed) { return in_order_by_lane(observed[3]); });
    prove(explorer);
  }
  SUBCASE("the consumer dies anywhere, and another takes over") {
    explorer.thread([&] { produce(0, 1, 3); });
    explorer.thread([&] { produce(1, second_lane + 1, second_lane + 1); });
    explorer.mortal_thread(consume, consume);
    explorer.check([&](const Observed& observed) {
      return handed_over(lane_of(observed[2], false), lane_of(observed[3], false)) +
             handed_over(lane_of(observed[2], true), lane_of(observed[3], true));
    });
    prove(explorer);
  }
  SUBCASE("several at once") {
    explorer.thread([&] { produce(0, 1, 3); });
    explorer.thread([&] { produce(1, second_lane + 1, second_lane + 2); });
    explorer.thread([&] {
      MultiProducerConsumer<Message, 2, 2, Machine> consumer(memory);
      Message messages[3];
      for (int attempt = 0; attempt < 2; ++attempt) {
        const std::size_t count = consumer.pop(messages);
        for (std::size_t i = 0; i < count; ++i) take(messages[i]);
      }
    });
    explorer.check([&](const Observed& observed) { return in_order_by_lane(observed[2]); });
    prove(explorer);
  }
}
