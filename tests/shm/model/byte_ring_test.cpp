// Explores the ring of records of any length: records that wrap, batches, and a producer that writes what is
// no record. Also plants weaker memory orders, which the explorer must find.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <span>

#include "shm/model/proofs.hpp"
#include "takt/shm/byte_ring.hpp"

using namespace takt;
using namespace takt::shm;
using namespace takt::test::model;

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
