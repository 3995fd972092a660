// Explores small sizes of each algorithm with every order of steps, every stale value and every moment of
// death. Then weakens every memory order in turn; the explorer must find each weakening.
#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <set>
#include <string>

#include "shm/model/explorer.hpp"
#include "takt/platform/doorbell.hpp"
#include "takt/shm/broadcast_ring.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/byte_ring.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/multi_producer_ring.hpp"
#include "takt/shm/shared_value.hpp"
#include "takt/shm/slot_ring.hpp"
#include "takt/shm/spsc_ring.hpp"

using namespace takt;
using namespace takt::shm;
using takt::test::model::Explorer;
using takt::test::model::Machine;

namespace {

/// A message that detects a torn copy.
template <class Word>
struct BasicMessage {
  Word value = 0;
  Word inverse = static_cast<Word>(~Word{0});
  static BasicMessage of(Word value) { return {value, static_cast<Word>(~value)}; }
  [[nodiscard]] bool whole() const { return inverse == static_cast<Word>(~value); }
};
using Message = BasicMessage<std::uint32_t>;
/// A message of a whole cache line, for which a producer keeps no copy of its index.
struct alignas(cache_line) LongMessage : Message {
  static LongMessage of(std::uint32_t value) { return {Message::of(value)}; }
};
using WideMessage = BasicMessage<std::uintptr_t>;  // two words, for exchanges that copy words

using Observed = std::vector<std::vector<std::int64_t>>;

/// Explores, and counts the planted weaker memory orders that are found.
std::size_t found_mistakes(Explorer& explorer) {
  const auto verdict = explorer.explore();
  CHECK(verdict.violation == "");
  CHECK(verdict.runs > 1);
  MESSAGE(verdict.states << " states, " << verdict.runs << " ends");
  std::size_t found = 0;
  for (const auto& mutation : explorer.mutations()) {
    if (!explorer.explore(mutation).violation.empty()) {
      ++found;
    } else {
      MESSAGE("not found: " << mutation.site.file << ":" << mutation.site.line);
    }
  }
  return found;
}

/// Explores. Then plants every weaker memory order, which must be found, so no order is stronger than
/// necessary.
void prove(Explorer& explorer) {
  const std::size_t found = found_mistakes(explorer);
  CHECK(found == explorer.mutations().size());
  CHECK(found >= 2);
}

/// Checks that each producer's messages are 1, 2, 3 ..., all of the first before any of the second. With
/// `again`, a message may come twice where the second consumer starts.
std::string in_order(const std::vector<std::int64_t>& received) {
  for (std::size_t i = 0; i < received.size(); ++i) {
    const std::int64_t before = i == 0 ? 0 : received[i - 1];
    if (received[i] != before + 1 && received[i] != 101) return "lost, doubled or out of order";
  }
  return "";
}

/// Checks a consumer that died and its successor: no message is lost, and repeated messages are in order.
std::string handed_over(const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& second) {
  const std::string wrong = in_order(first);
  if (!wrong.empty() || second.empty()) return wrong;
  const std::int64_t last = first.empty() ? 0 : first.back();
  if (second.front() < 1 || second.front() > last + 1) return "a message was lost with the consumer";
  for (std::size_t i = 1; i < second.size(); ++i) {
    if (second[i] != second[i - 1] + 1) return "lost, doubled or out of order";
  }
  return "";
}

}  // namespace

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

TEST_CASE("model: byte ring, records that wrap") {
  Explorer explorer;
  BasicRingIndexes<Machine> indexes;
  alignas(8) std::byte memory[64] = {};
  explorer.share(memory, sizeof(memory));
  // The third record does not fit behind the first two and takes their place.
  const auto length_of = [](std::uint32_t value) {
    return std::size_t{value == 1 ? 16u : value == 3 ? 24u : 8u};
  };
  const auto produce = [&] {
    BasicByteProducer<Machine> producer(indexes, memory, 64);
    std::uint32_t value = 1;
    for (int attempt = 0; attempt < 4 && value <= 3; ++attempt) {
      const Message record[3] = {Message::of(value), Message::of(value), Message::of(value)};
      if (producer.try_write(std::as_bytes(std::span(record)).first(length_of(value)))) ++value;
    }
  };
  const auto consume = [&] {
    BasicByteConsumer<Machine> consumer(indexes, memory, 64);
    for (int attempt = 0; attempt < 4; ++attempt) {
      const auto record = consumer.peek();
      if (!record) continue;
      Message message;
      Machine::copy(&message, record->data(), sizeof(message));
      Explorer::require(message.whole(), "torn");
      Explorer::require(record->size() == length_of(message.value), "wrong length");
      Explorer::observe(message.value);
      consumer.release();
    }
    Explorer::require(!consumer.is_broken(), "broken");
  };
  SUBCASE("two threads") {
    explorer.thread(produce);
    explorer.thread(consume);
    explorer.check([](const Observed& observed) { return in_order(observed[1]); });
    prove(explorer);
  }
  SUBCASE("the producer dies anywhere, and another takes over") {
    explorer.mortal_thread(produce, [&] {
      BasicByteProducer<Machine> producer(indexes, memory, 64);
      const Message record[1] = {Message::of(101)};
      (void)producer.try_write(std::as_bytes(std::span(record)));
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

TEST_CASE("model: byte ring, a producer that writes what is no record, and both ends after it") {
  Explorer explorer;
  BasicRingIndexes<Machine> indexes;
  alignas(8) std::byte memory[64] = {};
  explorer.share(memory, sizeof(memory));
  explorer.thread([&] {
    const std::uint32_t nonsense = 1000;
    Machine::copy(memory, &nonsense, sizeof(nonsense));
    indexes.written.store(64, std::memory_order_release);
    BasicByteProducer<Machine> producer(indexes, memory, 64);
    std::uint32_t value = 1;
    for (int attempt = 0; attempt < 4 && value <= 2; ++attempt) {
      const Message record[1] = {Message::of(value)};
      if (producer.try_write(std::as_bytes(std::span(record)))) ++value;
    }
  });
  explorer.thread([&] {
    int broken = 0;
    for (int generation = 0; generation < 3; ++generation) {
      BasicByteConsumer<Machine> consumer(indexes, memory, 64);
      for (int attempt = 0; attempt < 3 && !consumer.is_broken(); ++attempt) {
        const auto record = consumer.peek();
        if (!record) continue;
        Message message;
        Machine::copy(&message, record->data(), sizeof(message));
        Explorer::require(message.whole(), "torn");
        Explorer::observe(message.value);
        consumer.release();
      }
      broken += consumer.is_broken() ? 1 : 0;
      Explorer::require(broken < 2, "broken for the successor too");
    }
  });
  std::size_t most = 0;
  explorer.check([&](const Observed& observed) {
    most = std::max(most, observed[1].size());
    return in_order(observed[1]);
  });
  prove(explorer);
  CHECK(most == 2);
}

TEST_CASE("model: byte ring, several records at once") {
  Explorer explorer;
  BasicRingIndexes<Machine> indexes;
  alignas(8) std::byte memory[64] = {};
  explorer.share(memory, sizeof(memory));
  const auto produce = [&](std::uint32_t first, std::uint32_t last) {
    BasicByteProducer<Machine> producer(indexes, memory, 64);
    std::uint32_t value = first;
    for (int attempt = 0; attempt < 3 && value <= last; ++attempt) {
      for (int i = 0; i < 2 && value <= last; ++i) {
        const Message message = Message::of(value);
        const auto piece = producer.try_reserve(sizeof(message));
        if (!piece) break;
        Machine::copy(piece->data(), &message, sizeof(message));
        producer.stage(sizeof(message));
        ++value;
      }
      producer.publish();
    }
  };
  const auto consume = [&] {
    BasicByteConsumer<Machine> consumer(indexes, memory, 64);
    for (int attempt = 0; attempt < 3; ++attempt) {
      const std::byte* kept[2] = {};
      std::size_t count = 0;
      for (; count < 2; ++count) {
        const auto record = consumer.peek();
        if (!record) break;
        kept[count] = record->data();
        consumer.advance();
      }
      for (std::size_t i = 0; i < count; ++i) {  // the records passed by advance() are unchanged
        Message message;
        Machine::copy(&message, kept[i], sizeof(message));
        Explorer::require(message.whole(), "torn");
        Explorer::observe(message.value);
      }
      consumer.release();
    }
    Explorer::require(!consumer.is_broken(), "broken");
  };
  SUBCASE("two threads") {
    explorer.thread([&] { produce(1, 6); });
    explorer.thread(consume);
    explorer.check([](const Observed& observed) { return in_order(observed[1]); });
    prove(explorer);
  }
  SUBCASE("the producer dies anywhere, and another takes over") {
    explorer.mortal_thread([&] { produce(1, 6); }, [&] { produce(101, 102); });
    explorer.thread(consume);
    explorer.check([](const Observed& observed) { return in_order(observed[2]); });
    prove(explorer);
  }
  SUBCASE("the consumer dies anywhere, and another takes over") {
    explorer.thread([&] { produce(1, 6); });
    explorer.mortal_thread(consume, consume);
    explorer.check([](const Observed& observed) { return handed_over(observed[1], observed[2]); });
    prove(explorer);
  }
}

namespace {

/// A reader of a latest value must see whole values, none older than before, correctly reported as new or
/// old.
template <class AnyMessage, class Reader>
void read_some(Reader&& reader, int times) {
  auto message = AnyMessage::of(0);
  auto last = message.value;
  for (int attempt = 0; attempt < times; ++attempt) {
    const Freshness freshness = reader.read(message);
    Explorer::require(message.whole(), "torn");
    if (freshness == Freshness::new_data) Explorer::require(message.value > last, "new data is not newer");
    if (freshness == Freshness::old_data)
      Explorer::require(message.value == last, "old data is not the last read");
    if (freshness == Freshness::none) Explorer::require(last == 0, "data became none");
    last = message.value;
    Explorer::observe(static_cast<std::int64_t>(last));
  }
}

}  // namespace

TEST_CASE("model: latest value for one reader") {
  Explorer explorer;
  LatestMemory<Message, Machine> memory;
  explorer.share(memory.slots, sizeof(memory.slots));
  const auto write = [&](std::uint32_t first, std::uint32_t last) {
    LatestWriter<Message, Machine> writer(memory);
    for (std::uint32_t value = first; value <= last; ++value) writer.write(Message::of(value));
  };
  const auto read = [&](int times) { read_some<Message>(LatestReader<Message, Machine>(memory), times); };
  std::set<std::int64_t> last_read;
  explorer.check([&](const Observed& observed) -> std::string {
    for (const auto& reader : observed) {
      if (!reader.empty()) last_read.insert(reader.back());
    }
    return "";
  });

  SUBCASE("two threads") {
    explorer.thread([&] { write(1, 4); });
    explorer.thread([&] { read(3); });
    prove(explorer);
    CHECK(last_read == std::set<std::int64_t>{0, 1, 2, 3, 4});
  }
  SUBCASE("the writer dies anywhere, and another takes over") {
    explorer.mortal_thread([&] { write(1, 4); }, [&] { write(101, 102); });
    explorer.thread([&] { read(3); });
    prove(explorer);
    CHECK(last_read == std::set<std::int64_t>{0, 1, 2, 3, 4, 101, 102});
  }
  SUBCASE("the reader dies anywhere, and another takes over, who finds at least as new a value") {
    explorer.thread([&] { write(1, 4); });
    explorer.mortal_thread([&] { read(3); }, [&] { read(2); });
    explorer.check([&](const Observed& observed) -> std::string {
      if (observed[2].empty() || observed[1].empty()) return "";
      return observed[2].back() < observed[1].back() ? "a value was lost with the reader" : "";
    });
    prove(explorer);
  }
}

TEST_CASE("model: latest value for many readers") {
  Explorer explorer;
  using Value = BroadcastValue<WideMessage, Machine,
                               3>;  // few attempts, so all orders in which they fail are explored
  Value value;
  const auto write = [&](std::uintptr_t first, std::uintptr_t last) {
    Value::Writer writer(value);
    for (std::uintptr_t number = first; number <= last; ++number) writer.write(WideMessage::of(number));
  };
  const auto read = [&] { read_some<WideMessage>(Value::Reader(value), 2); };
  explorer.check([](const Observed&) { return std::string(); });

  SUBCASE("one reader, writes that lap it") {
    explorer.thread([&] { write(1, 3); });
    explorer.thread(read);
    prove(explorer);
  }
  SUBCASE("the writer dies anywhere, and another takes over") {
    explorer.mortal_thread([&] { write(1, 2); }, [&] { write(101, 102); });
    explorer.thread(read);
    prove(explorer);
  }
}

namespace {

/// Doorbells without clocks. A waiter that is not woken sleeps until the end, and the explorer reports it.
template <bool registers, bool barriers>
struct DoorbellModel : Machine {
  static bool register_for_barriers() noexcept { return registers; }
  static bool barrier() noexcept {
    if (barriers) Machine::barrier();
    return true;
  }
  static void keep_order() noexcept {}  // the model runs the steps of a thread in program order
  static void sleep_while(const Atomic<std::uint32_t>& word, std::uint32_t expected, Time) noexcept {
    word.sleep_while(expected);
  }
  static void wake_all(Atomic<std::uint32_t>& word) noexcept { word.wake_all(); }
  static Time now() noexcept { return Time::min(); }
};

/// Waiters for a count that ringers increment. Every wait must end.
template <class System>
class DoorbellProblem {
 public:
  [[nodiscard]] auto ringer(std::uint32_t messages) {
    return [this, messages] {
      platform::BasicRinger<System> ringer(bell);
      for (std::uint32_t i = 0; i < messages; ++i) {
        // relaxed: the doorbell alone must make the waiter see it.
        published.fetch_add(1, std::memory_order_relaxed);
        ringer.ring();
      }
    };
  }
  [[nodiscard]] auto waiter(std::uint32_t messages) {
    return [this, messages] {
      platform::BasicWaiter<System> waiter(bell);
      for (std::uint32_t i = 1; i <= messages; ++i) {
        const bool ready =
            waiter.wait_until(Time::max(), [&] { return published.load(std::memory_order_relaxed) >= i; });
        Explorer::require(ready, "a wait ended without cause");
      }
    };
  }

  Explorer explorer;
  platform::BasicDoorbell<System> bell;
  Machine::Atomic<std::uint32_t> published;
};

template <class System>
test::model::Verdict explore_doorbell(std::size_t ringers, std::size_t waiters, std::uint32_t messages) {
  DoorbellProblem<System> problem;
  problem.explorer.check([](const Observed&) { return std::string(); });
  const auto all = static_cast<std::uint32_t>(ringers) * messages;
  for (std::size_t i = 0; i < ringers; ++i) problem.explorer.thread(problem.ringer(messages));
  for (std::size_t i = 0; i < waiters; ++i) problem.explorer.thread(problem.waiter(all));
  const auto verdict = problem.explorer.explore();
  MESSAGE(verdict.states << " states, " << verdict.runs << " ends");
  return verdict;
}

}  // namespace

TEST_CASE(
    "model: no ring of a doorbell is missed, with the barrier or, unregistered, with read-modify-writes") {
  using ByBarrier = DoorbellModel<true, true>;
  using ByExchange = DoorbellModel<false, false>;
  CHECK(explore_doorbell<ByBarrier>(1, 1, 2).violation == "");
  CHECK(explore_doorbell<ByBarrier>(1, 2, 1).violation == "");
  CHECK(explore_doorbell<ByBarrier>(2, 1, 1).violation == "");
  CHECK(explore_doorbell<ByExchange>(1, 1, 2).violation == "");
  CHECK(explore_doorbell<ByExchange>(1, 2, 1).violation == "");
  CHECK(explore_doorbell<ByExchange>(2, 1, 1).violation == "");
}

TEST_CASE("model: a doorbell whose waiter leaves the barrier out is found to be missed") {
  CHECK(explore_doorbell<DoorbellModel<true, false>>(1, 1, 1).violation ==
        "asleep, and nobody is left to wake it");
}

TEST_CASE("model: every order of an unregistered doorbell is needed") {
  DoorbellProblem<DoorbellModel<false, false>> problem;
  problem.explorer.check([](const Observed&) { return std::string(); });
  problem.explorer.thread(problem.ringer(1));
  problem.explorer.thread(problem.waiter(1));
  problem.explorer.thread(problem.waiter(1));
  prove(problem.explorer);
}

TEST_CASE("model: a waiter that dies anywhere, also asleep, leaves the bell to the next") {
  DoorbellProblem<DoorbellModel<true, true>> problem;
  problem.explorer.check([](const Observed&) { return std::string(); });
  problem.explorer.thread(problem.ringer(2));
  problem.explorer.mortal_thread(problem.waiter(1), problem.waiter(2));
  CHECK(problem.explorer.explore().violation == "");
}

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

// A value of one word, so that only value and ticket can be torn apart. A torn pair makes an old value look
// new.
TEST_CASE("model: latest value of several writers, one of whom laps a reader") {
  Explorer explorer;
  using Value = SharedValue<std::uintptr_t, 2, Machine, 2>;  // few attempts, as above
  Value value;
  constexpr std::uintptr_t other = 1000;
  const auto write = [&](std::uintptr_t first, std::uintptr_t last, std::size_t owner_slot) {
    Value::Writer writer(value, owner_slot);
    for (std::uintptr_t number = first; number <= last; ++number) writer.write(number);
  };
  const auto read = [&] {
    Value::Reader reader(value);
    std::array<std::uintptr_t, 2> last{};
    std::uintptr_t number = 0;
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (reader.read_new(number) != Freshness::new_data) continue;
      std::uintptr_t& newest = last[number >= other ? 1 : 0];
      Explorer::require(number > newest, "new data is not newer");
      newest = number;
      Explorer::observe(static_cast<std::int64_t>(number));
    }
  };
  explorer.check([](const Observed&) { return std::string(); });

  SUBCASE("alone") {
    explorer.thread([&] { write(1, 3, 0); });
    explorer.thread(read);
    prove(explorer);
  }
  SUBCASE("while another writes") {
    explorer.thread([&] { write(1, 3, 0); });
    explorer.thread([&] { write(other, other, 1); });
    explorer.thread(read);
    prove(explorer);
  }
  SUBCASE("and dies anywhere, so that another takes its owner slot") {
    explorer.mortal_thread([&] { write(1, 2, 0); }, [&] { write(101, 102, 0); });
    explorer.thread(read);
    prove(explorer);
  }
}

// The run is too short for a writer to lap a reader, so weaker orders of the words stay undetected here.
TEST_CASE("model: latest value with two writers, one of whom answers the other") {
  Explorer explorer;
  using Value = SharedValue<WideMessage, 2, Machine, 2>;  // few attempts, as above
  Value value;
  using Reader = Value::Reader;
  constexpr std::uintptr_t answer = 100;
  const auto write = [&](std::size_t owner_slot, std::uintptr_t number) {
    Value::Writer(value, owner_slot).write(WideMessage::of(number));
  };
  const auto answer_once = [&] {
    auto message = WideMessage::of(0);
    if (Reader(value).read_new(message) == Freshness::new_data) write(1, answer + message.value);
  };
  const auto read = [&] {
    Reader reader(value);
    auto message = WideMessage::of(0);
    std::uintptr_t last = 0;
    for (int attempt = 0; attempt < 2; ++attempt) {
      const Freshness freshness = reader.read_new(message);
      Explorer::require(message.whole(), "torn");
      Explorer::require((freshness == Freshness::new_data) == (message.value != last),
                        "wrong about new and old");
      Explorer::require((freshness == Freshness::none) == (message.value == 0), "wrong about none");
      if (message.value < last && last > answer) {
        Explorer::require(message.value > last - answer, "what was answered came after the answer");
      } else {
        Explorer::require(message.value >= last, "new data is not newer");
      }
      last = message.value;
    }
    Explorer::observe(static_cast<std::int64_t>(last));
  };
  std::set<std::int64_t> seen;
  explorer.check([&](const Observed& observed) -> std::string {
    seen.insert(observed.back().begin(), observed.back().end());
    return "";
  });

  SUBCASE("nobody dies") {
    explorer.thread([&] {
      write(0, 1);
      write(0, 2);
    });
    explorer.thread(answer_once);
    explorer.thread(read);
    CHECK(found_mistakes(explorer) >= 2);
    CHECK(seen == std::set<std::int64_t>{0, 1, 2, 101, 102});
  }
  SUBCASE("a writer dies anywhere, and another takes its owner slot") {
    explorer.mortal_thread([&] { write(0, 1); }, [&] { write(0, 2); });
    explorer.thread(answer_once);
    explorer.thread(read);
    CHECK(found_mistakes(explorer) >= 2);
    CHECK(seen == std::set<std::int64_t>{0, 1, 2, 101, 102});
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
