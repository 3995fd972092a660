#include "takt/shm/spsc_ring.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "takt/shm/slot_ring.hpp"

using namespace takt;
using namespace takt::shm;

namespace {

/// A value of two cache lines that detects a torn copy.
struct Wide {
  std::array<std::uint64_t, 16> words{};
  static Wide of(std::uint64_t value) {
    Wide wide;
    wide.words.fill(value);
    return wide;
  }
  [[nodiscard]] bool is(std::uint64_t value) const { return words == of(value).words; }
};

}  // namespace

TEST_CASE("a capacity is rounded up to a power of two") {
  CHECK(ring_capacity(0) == 2);
  CHECK(ring_capacity(3) == 4);
  CHECK(ring_capacity(64) == 64);
  CHECK(ring_capacity(65) == 128);
  CHECK(ring_capacity(~std::size_t{0}) == std::uint32_t{1} << 31);
  CHECK(SpscRing<int>(100).capacity() == 128);
}

TEST_CASE("a ring returns what was put in, in order, for any mixture of calls") {
  for (std::size_t round = 0; round < test::count(200); ++round) {
    CAPTURE(round);
    auto random = test::generator(round);
    const auto wanted = static_cast<std::size_t>(test::uniform_int(random, 1, 70));
    SpscRing<std::uint32_t> ring(wanted);
    std::deque<std::uint32_t> expected;
    std::uint32_t next = 0;
    for (int step = 0; step < 500; ++step) {
      std::array<std::uint32_t, 80> batch{};
      const auto count = static_cast<std::size_t>(test::uniform_int(random, 0, 79));
      switch (test::uniform_int(random, 0, 3)) {
        case 0: {
          const bool room = ring.free_slots() > 0;
          CHECK(ring.try_push(next) == room);
          if (room) expected.push_back(next++);
          break;
        }
        case 1: {
          for (std::size_t i = 0; i < count; ++i) batch[i] = next + static_cast<std::uint32_t>(i);
          const std::size_t room = ring.free_slots();
          const std::size_t pushed = ring.push({batch.data(), count});
          CHECK(pushed == std::min(room, count));
          for (std::size_t i = 0; i < pushed; ++i) expected.push_back(next++);
          break;
        }
        case 2: {
          std::uint32_t got = 0;
          CHECK(ring.try_pop(got) == !expected.empty());
          if (expected.empty()) {
            CHECK(ring.free_slots() ==
                  ring.capacity());  // a consumer that finds the ring empty gives all space back
            break;
          }
          CHECK(got == expected.front());
          expected.pop_front();
          break;
        }
        default: {
          const std::size_t popped = ring.pop({batch.data(), count});
          CHECK(popped == std::min(count, expected.size()));
          for (std::size_t i = 0; i < popped; ++i) {
            CHECK(batch[i] == expected.front());
            expected.pop_front();
          }
        }
      }
      CHECK(ring.size_approx() >= expected.size());
      CHECK(ring.size_approx() <= ring.capacity());
    }
  }
}

TEST_CASE("space comes back after a sixteenth of the capacity at the latest") {
  SpscRing<int> ring(64);
  for (int i = 0; i < 64; ++i) CHECK(ring.try_push(i));
  CHECK_FALSE(ring.try_push(64));
  int got = 0;
  for (int i = 0; i < 4; ++i) CHECK(ring.try_pop(got));
  CHECK(ring.free_slots() == 4);
}

TEST_CASE("indexes run over without anybody noticing") {
  RingIndexes indexes;
  indexes.written = 0xfffffffe;
  indexes.released = 0xfffffffe;
  std::array<std::uint64_t, 4> slots{};
  auto* memory = reinterpret_cast<std::byte*>(slots.data());
  RingProducer<std::uint64_t> producer(indexes, memory, 4);
  RingConsumer<std::uint64_t> consumer(indexes, memory, 4);
  std::uint64_t got = 0;
  for (std::uint64_t i = 0; i < 20; i += 2) {
    CHECK(producer.try_push(i));
    CHECK(producer.try_push(i + 1));
    CHECK(consumer.try_pop(got));
    CHECK(got == i);
    CHECK(consumer.try_pop(got));
    CHECK(got == i + 1);
  }
}

TEST_CASE("an end that takes over goes on where the other stood") {
  RingIndexes indexes;
  std::array<int, 64> slots{};
  auto* memory = reinterpret_cast<std::byte*>(slots.data());
  CHECK(RingProducer<int>(indexes, memory, 64).try_push(1));
  CHECK(RingProducer<int>(indexes, memory, 64).try_push(2));
  int got = 0;
  CHECK(RingConsumer<int>(indexes, memory, 64).try_pop(got));
  CHECK(got == 1);
  // The first consumer has not given its space back yet.
  RingConsumer<int> second(indexes, memory, 64);
  CHECK(second.try_pop(got));
  CHECK(got == 1);
  CHECK(second.try_pop(got));
  CHECK(got == 2);
  CHECK_FALSE(second.try_pop(got));
}

TEST_CASE_TEMPLATE("a peer that writes nonsense into the indexes gains no access outside the slots", T,
                   std::uint64_t, Wide) {
  auto random = test::generator();
  RingIndexes indexes;
  std::vector<T> slots(8);
  auto* memory = reinterpret_cast<std::byte*>(slots.data());
  RingProducer<T> producer(indexes, memory, 8);
  RingConsumer<T> consumer(indexes, memory, 8);
  for (std::size_t i = 0; i < test::count(20'000); ++i) {
    indexes.written = static_cast<std::uint32_t>(random());
    indexes.released = static_cast<std::uint32_t>(random()) % (i % 3 == 0 ? 16 : 0xffffffff);
    std::array<T, 11> batch{};
    CHECK(producer.free_slots() <= 8);
    (void)producer.try_push(batch[0]);
    CHECK(producer.push(batch) <= 8);
    CHECK(consumer.size() <= 8);
    (void)consumer.try_pop(batch[0]);
    CHECK(consumer.pop(batch) <= 8);
  }
}

TEST_CASE_TEMPLATE(
    "after nonsense in its indexes a ring works again, with the same ends or with their successors", T,
    std::uint64_t, Wide) {
  auto random = test::generator();
  for (std::size_t round = 0; round < test::count(2'000); ++round) {
    CAPTURE(round);
    RingIndexes indexes;
    std::vector<T> slots(16);
    auto* memory = reinterpret_cast<std::byte*>(slots.data());
    std::optional<RingProducer<T>> producer(std::in_place, indexes, memory, 16);
    std::optional<RingConsumer<T>> consumer(std::in_place, indexes, memory, 16);
    T got{};
    for (auto i = test::uniform_int(random, 0, 40); i > 0; --i) {
      (void)producer->try_push(T{});
      if (test::uniform_int(random, 0, 1) == 0) (void)consumer->try_pop(got);
    }
    (test::uniform_int(random, 0, 1) == 0 ? indexes.written : indexes.released) =
        static_cast<std::uint32_t>(random());
    // A producer with its own copy of the index does not load the published one while the ring is full. Its
    // successor does.
    const bool keeps_index = sizeof(T) < cache_line;
    if (keeps_index || test::uniform_int(random, 0, 1) == 0) producer.emplace(indexes, memory, 16);
    if (test::uniform_int(random, 0, 1) == 0) consumer.emplace(indexes, memory, 16);
    for (int i = 0; i < 100; ++i) {
      (void)producer->try_push(T{});
      (void)consumer->try_pop(got);
    }
    while (consumer->try_pop(got)) {
    }
    for (int i = 0; i < 20; ++i) {
      CHECK(producer->try_push(T{}));
      CHECK(consumer->try_pop(got));
      CHECK_FALSE(consumer->try_pop(got));
    }
  }
}

TEST_CASE("after the refusal that shows nonsense in an index nothing is lost once the consumer has looked") {
  // Long messages, because a producer of short ones does not load its published index. With 128 slots the
  // consumer gives back 8 at a time.
  RingIndexes indexes;
  std::vector<Wide> slots(128);
  auto* memory = reinterpret_cast<std::byte*>(slots.data());
  RingProducer<Wide> producer(indexes, memory, 128);
  RingConsumer<Wide> consumer(indexes, memory, 128);
  Wide got;
  for (std::uint64_t i = 0; i < 6; ++i) REQUIRE(producer.try_push(Wide::of(i)));
  for (std::uint64_t i = 0; i < 5; ++i) REQUIRE(consumer.try_pop(got));
  std::uint64_t next = 100;
  SUBCASE("the producer's") { indexes.written = 0x40000000; }
  SUBCASE("the consumer's") { indexes.released = 0x40000000; }
  while (producer.try_push(Wide::of(0))) {
  }
  while (consumer.try_pop(got)) {
  }
  std::uint64_t expected = next;
  for (int i = 0; i < 1000; ++i) {
    if (producer.try_push(Wide::of(next))) ++next;
    if (consumer.try_pop(got)) CHECK(got.is(expected++));
  }
  CHECK(next > 1000);
  CHECK(expected == next);
}

TEST_CASE("a slot ring gives back what was put in, in order, and refuses what it has no room for") {
  SlotRing<std::uint64_t> ring(5);
  CHECK(ring.capacity() == 8);
  auto random = test::generator();
  std::uint64_t written = 0;
  std::uint64_t read = 0;
  for (int step = 0; step < 10'000; ++step) {
    std::uint64_t got = 0;
    if (test::uniform_int(random, 0, 1) == 0) {
      const bool pushed = ring.try_push(written);
      CHECK(pushed == (written - read < 8));
      if (pushed) ++written;
    } else {
      const bool popped = ring.try_pop(got);
      CHECK(popped == (read < written));
      if (popped) CHECK(got == read++);
    }
  }
}

TEST_CASE("either end of a slot ring goes on where another left off") {
  for (std::size_t round = 0; round < test::count(200); ++round) {
    CAPTURE(round);
    auto random = test::generator(round);
    const auto capacity = ring_capacity(static_cast<std::size_t>(test::uniform_int(random, 1, 64)));
    std::vector<shm::Slot<std::uint64_t>> slots(capacity);
    std::atomic<std::uint32_t> released{0};
    std::optional<SlotProducer<std::uint64_t>> producer;
    std::optional<SlotConsumer<std::uint64_t>> consumer;
    producer.emplace(released, slots.data(), capacity);
    consumer.emplace(released, slots.data(), capacity);
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    for (int step = 0; step < 500; ++step) {
      const auto choice = test::uniform_int(random, 0, 19);
      if (choice == 0) {
        slots[written % capacity].message +=
            written - released < capacity ? 7u : 0u;  // the producer died during the write
        producer.emplace(released, slots.data(), capacity);
      } else if (choice == 1) {
        consumer.emplace(released, slots.data(), capacity);
        read = released;  // messages that were not given back are read again
      } else if (choice < 11) {
        if (producer->try_push(written)) ++written;
      } else if (std::uint64_t got = 0; consumer->try_pop(got)) {
        CHECK(got == read);
        ++read;
      } else {
        CHECK(read == written);
      }
    }
  }
}

TEST_CASE("a peer that writes nonsense into a slot ring gains no access outside the slots") {
  auto random = test::generator();
  for (std::size_t round = 0; round < test::count(10'000); ++round) {
    std::vector<shm::Slot<Wide>> slots(4);  // a sanitizer detects accesses outside
    std::atomic<std::uint32_t> released{0};
    const auto disturb = [&] {
      released = static_cast<std::uint32_t>(random() >> random() % 64);
      const std::uint32_t place = static_cast<std::uint32_t>(random() % 4);
      slots[place].sequence =
          test::uniform_int(random, 0, 1) == 0 ? released + place + 1 : static_cast<std::uint32_t>(random());
    };
    for (int i = 0; i < 3; ++i) disturb();
    SlotProducer<Wide> producer(released, slots.data(), 4);
    disturb();
    SlotConsumer<Wide> consumer(released, slots.data(), 4);
    Wide got;
    for (int step = 0; step < 10; ++step) {
      disturb();
      (void)producer.try_push(Wide::of(1));
      disturb();
      (void)consumer.try_pop(got);
    }
  }
}

TEST_CASE(
    "after nonsense in the consumer's word a slot ring works again, with the same ends or their successors") {
  auto random = test::generator();
  for (std::size_t round = 0; round < test::count(2'000); ++round) {
    CAPTURE(round);
    std::vector<shm::Slot<std::uint64_t>> slots(16);
    std::atomic<std::uint32_t> released{0};
    std::optional<SlotProducer<std::uint64_t>> producer(std::in_place, released, slots.data(), 16);
    std::optional<SlotConsumer<std::uint64_t>> consumer(std::in_place, released, slots.data(), 16);
    std::uint64_t got = 0;
    for (auto i = test::uniform_int(random, 0, 40); i > 0; --i) {
      (void)producer->try_push(0);
      if (test::uniform_int(random, 0, 1) == 0) (void)consumer->try_pop(got);
    }
    const auto near = static_cast<std::uint32_t>(test::uniform_int(random, -40, 40));
    released = test::uniform_int(random, 0, 1) == 0 ? static_cast<std::uint32_t>(random()) : released + near;
    if (test::uniform_int(random, 0, 1) == 0) producer.emplace(released, slots.data(), 16);
    if (test::uniform_int(random, 0, 1) == 0) consumer.emplace(released, slots.data(), 16);
    for (int i = 0; i < 100; ++i) {
      (void)producer->try_push(0);
      (void)consumer->try_pop(got);
    }
    while (consumer->try_pop(got)) {
    }
    for (std::uint64_t i = 0; i < 20; ++i) {
      CHECK(producer->try_push(i));
      CHECK(consumer->try_pop(got));
      CHECK(got == i);
      CHECK_FALSE(consumer->try_pop(got));
    }
  }
}

TEST_CASE("two threads: every message arrives whole, once and in order, through a slot ring") {
  const std::uint64_t messages = test::count(100'000);
  SlotRing<Wide> ring(64);
  std::thread producer([&] {
    for (std::uint64_t sent = 0; sent < messages;) {
      if (ring.try_push(Wide::of(sent))) {
        ++sent;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t wrong = 0;
  Wide message;
  for (std::uint64_t received = 0; received < messages;) {
    if (ring.try_pop(message)) {
      wrong += message.is(received++) ? 0u : 1u;
    } else {
      std::this_thread::yield();
    }
  }
  producer.join();
  CHECK(wrong == 0);
}

TEST_CASE("two threads: every message arrives whole, once and in order") {
  const std::uint64_t messages = test::count(100'000);
  SpscRing<Wide> ring(64);
  std::thread producer([&] {
    std::array<Wide, 7> batch;
    for (std::uint64_t sent = 0; sent < messages;) {
      if (sent % 5 == 0) {
        const std::size_t count = std::min<std::uint64_t>(batch.size(), messages - sent);
        for (std::size_t i = 0; i < count; ++i) batch[i] = Wide::of(sent + i);
        sent += ring.push({batch.data(), count});
      } else if (ring.try_push(Wide::of(sent))) {
        ++sent;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t wrong = 0;
  std::array<Wide, 5> batch;
  for (std::uint64_t received = 0; received < messages;) {
    const std::size_t count =
        received % 3 == 0 ? ring.pop(batch) : std::size_t{ring.try_pop(batch[0]) ? 1u : 0u};
    for (std::size_t i = 0; i < count; ++i) wrong += batch[i].is(received + i) ? 0u : 1u;
    received += count;
    if (count == 0) std::this_thread::yield();
  }
  producer.join();
  CHECK(wrong == 0);
  CHECK(ring.size_approx() <= ring.capacity() / 16);
}
