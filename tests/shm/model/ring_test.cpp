// Explores the rings with one producer and one consumer: every order of steps, every stale value and every
// moment of death. Also plants weaker memory orders, which the explorer must find.
#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "shm/model/proofs.hpp"
#include "takt/shm/slot_ring.hpp"
#include "takt/shm/spsc_ring.hpp"

using namespace takt;
using namespace takt::shm;
using namespace takt::test::model;

TEST_CASE_TEMPLATE("model: ring, two messages of space", T, Message, LongMessage) {
  Explorer explorer;
  BasicRingIndexes<Machine> indexes;
  T slots[2];
  explorer.share(slots, sizeof(slots));
  auto* memory = reinterpret_cast<std::byte*>(slots);

  const auto produce = [&] {
    RingProducer<T, Machine> producer(indexes, memory, 2);
    std::uint32_t value = 1;
    for (int attempt = 0; attempt < 4 && value <= 3; ++attempt) {
      if (producer.try_push(T::of(value))) ++value;
    }
  };
  const auto consume = [&] {
    RingConsumer<T, Machine> consumer(indexes, memory, 2);
    T message;
    for (int attempt = 0; attempt < 4; ++attempt) {
      if (!consumer.try_pop(message)) continue;
      Explorer::require(message.whole(), "torn");
      Explorer::observe(message.value);
    }
  };

  SUBCASE("two threads") {
    explorer.thread(produce);
    explorer.thread(consume);
    explorer.check([](const Observed& observed) { return in_order(observed[1]); });
    prove(explorer);
  }
  SUBCASE("the producer dies anywhere, and another takes over") {
    explorer.mortal_thread(produce, [&] {
      RingProducer<T, Machine> producer(indexes, memory, 2);
      (void)producer.try_push(T::of(101));
    });
    explorer.thread(consume);
    explorer.check([](const Observed& observed) { return in_order(observed[2]); });
    prove(explorer);
  }
  SUBCASE("the consumer dies anywhere, and another takes over") {
    explorer.thread(produce);
    explorer.mortal_thread(consume, consume);
    explorer.check([](const Observed& observed) { return handed_over(observed[1], observed[2]); });
    prove(explorer);
  }
}

TEST_CASE_TEMPLATE("model: ring, batches", T, Message, LongMessage) {
  Explorer explorer;
  BasicRingIndexes<Machine> indexes;
  T slots[2];
  explorer.share(slots, sizeof(slots));
  auto* memory = reinterpret_cast<std::byte*>(slots);
  explorer.thread([&] {
    RingProducer<T, Machine> producer(indexes, memory, 2);
    const T messages[4] = {T::of(1), T::of(2), T::of(3), T::of(4)};
    std::size_t sent = producer.push({messages, 1});
    for (int attempt = 0; attempt < 3; ++attempt) sent += producer.push({messages + sent, 4 - sent});
  });
  explorer.thread([&] {
    RingConsumer<T, Machine> consumer(indexes, memory, 2);
    T messages[2];
    for (int attempt = 0; attempt < 3; ++attempt) {
      const std::size_t count = consumer.pop(messages);
      for (std::size_t i = 0; i < count; ++i) {
        Explorer::require(messages[i].whole(), "torn");
        Explorer::observe(messages[i].value);
      }
    }
  });
  explorer.check([](const Observed& observed) { return in_order(observed[1]); });
  prove(explorer);
}

TEST_CASE("model: slot ring, two messages of space") {
  Explorer explorer;
  Machine::Atomic<std::uint32_t> released;
  takt::shm::Slot<Message, Machine> slots[2];
  explorer.share(slots, sizeof(slots));
  const auto produce = [&] {
    SlotProducer<Message, Machine> producer(released, slots, 2);
    std::uint32_t value = 1;
    for (int attempt = 0; attempt < 4 && value <= 3; ++attempt) {
      if (producer.try_push(Message::of(value))) ++value;
    }
  };
  const auto consume = [&] {
    SlotConsumer<Message, Machine> consumer(released, slots, 2);
    Message message;
    for (int attempt = 0; attempt < 4; ++attempt) {
      if (!consumer.try_pop(message)) continue;
      Explorer::require(message.whole(), "torn");
      Explorer::observe(message.value);
    }
  };
  SUBCASE("two threads") {
    explorer.thread(produce);
    explorer.thread(consume);
    explorer.check([](const Observed& observed) { return in_order(observed[1]); });
    prove(explorer);
  }
  SUBCASE("the producer dies anywhere, and another takes over") {
    explorer.mortal_thread(produce, [&] {
      SlotProducer<Message, Machine> producer(released, slots, 2);
      if (producer.try_push(Message::of(101))) (void)producer.try_push(Message::of(102));
    });
    explorer.thread(consume);
    explorer.check([](const Observed& observed) { return in_order(observed[2]); });
    prove(explorer);
  }
  SUBCASE("the consumer dies anywhere, and another takes over") {
    explorer.thread(produce);
    explorer.mortal_thread(consume, consume);
    explorer.check([](const Observed& observed) { return handed_over(observed[1], observed[2]); });
    prove(explorer);
  }
}

namespace {

/// After a peer's damage: messages may be missing, but the numbers rise and none repeats.
std::string rising(const std::vector<std::int64_t>& received) {
  for (std::size_t i = 1; i < received.size(); ++i) {
    if (received[i] <= received[i - 1]) return "doubled or out of order";
  }
  return "";
}

/// A ring whose consumer damages its index `released` after a message. Checks both ends afterwards.
template <class T, class MakeProducer, class MakeConsumer, class Word>
void prove_recovery(Explorer& explorer, MakeProducer make_producer, MakeConsumer make_consumer,
                    Word& released) {
  explorer.thread([&] {
    auto producer = make_producer();
    std::uint32_t value = 1;
    for (int attempt = 0; attempt < 7 && value <= 4; ++attempt) {
      if (producer.try_push(T::of(value))) ++value;
    }
  });
  explorer.thread([&] {
    T message;
    (void)make_consumer().try_pop(message);
    released.store(1000, std::memory_order_release);
    auto successor = make_consumer();
    for (int attempt = 0; attempt < 3; ++attempt) {
      if (!successor.try_pop(message)) continue;
      Explorer::require(message.whole(), "torn");
      Explorer::observe(message.value);
    }
  });
  std::set<std::size_t> counts;
  explorer.check([&](const Observed& observed) {
    counts.insert(observed[1].size());
    return rising(observed[1]);
  });
  CHECK(found_mistakes(explorer) >= 2);
  CHECK(*counts.rbegin() >= 2);
}

}  // namespace

TEST_CASE_TEMPLATE("model: ring, nonsense in the consumer's index, and another consumer", T, Message,
                   LongMessage) {
  Explorer explorer;
  BasicRingIndexes<Machine> indexes;
  T slots[2];
  explorer.share(slots, sizeof(slots));
  auto* memory = reinterpret_cast<std::byte*>(slots);
  prove_recovery<T>(
      explorer, [&] { return RingProducer<T, Machine>(indexes, memory, 2); },
      [&] { return RingConsumer<T, Machine>(indexes, memory, 2); }, indexes.released);
}

TEST_CASE("model: slot ring, nonsense in the consumer's word, and another consumer") {
  Explorer explorer;
  Machine::Atomic<std::uint32_t> released;
  takt::shm::Slot<Message, Machine> slots[2];
  explorer.share(slots, sizeof(slots));
  prove_recovery<Message>(
      explorer, [&] { return SlotProducer<Message, Machine>(released, slots, 2); },
      [&] { return SlotConsumer<Message, Machine>(released, slots, 2); }, released);
}
