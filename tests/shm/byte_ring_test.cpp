#include "takt/shm/byte_ring.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "support/random.hpp"

using namespace takt;
using namespace takt::shm;

namespace {

/// The record of a number, which determines its length and bytes.
std::vector<std::byte> record(std::uint64_t number, std::size_t longest) {
  auto random = test::generator(number);
  std::vector<std::byte> bytes(random() % (longest + 1));
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

bool equal(std::span<const std::byte> a, const std::vector<std::byte>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

TEST_CASE("records of every length come back whole, in order and aligned") {
  for (std::size_t round = 0; round < test::count(100); ++round) {
    CAPTURE(round);
    auto random = test::generator(round);
    ByteRing ring(static_cast<std::size_t>(test::uniform_int(random, 1, 3000)));
    const std::size_t longest = ring.producer().max_record();
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    for (int step = 0; step < 1000; ++step) {
      if (test::uniform_int(random, 0, 1) == 0) {
        const auto bytes = record(written, longest);
        const bool accepted = ring.producer().try_write(bytes);
        if (accepted) ++written;
        CHECK((accepted || read < written));  // an empty ring accepts every record
      } else {
        const auto found = ring.consumer().peek();
        CHECK(found.has_value() == (read < written));
        if (!found) continue;
        CHECK(reinterpret_cast<std::uintptr_t>(found->data()) % 8 == 0);
        CHECK(equal(*found, record(read, longest)));
        CHECK(equal(*ring.consumer().peek(), record(read, longest)));  // peeking changes nothing
        ring.consumer().release();
        ++read;
      }
    }
    CHECK_FALSE(ring.consumer().is_broken());
  }
}

TEST_CASE("a reserved piece may be committed in part, or not at all") {
  ByteRing ring(256);
  auto piece = ring.producer().try_reserve(100);
  REQUIRE(piece);
  CHECK(piece->size() == 100);
  CHECK_FALSE(ring.consumer().peek());
  piece = ring.producer().try_reserve(50);  // drops the first piece
  REQUIRE(piece);
  (*piece)[0] = std::byte{42};
  ring.producer().commit(1);
  const auto found = ring.consumer().peek();
  REQUIRE(found);
  CHECK(found->size() == 1);
  CHECK((*found)[0] == std::byte{42});
  ring.consumer().release();
  ring.consumer().release();  // no record was peeked at: no effect
  CHECK_FALSE(ring.consumer().peek());
}

TEST_CASE("a producer can ask how many bytes are free") {
  RingIndexes indexes;
  alignas(8) std::array<std::byte, 64> memory{};
  ByteProducer producer(indexes, memory.data(), 64);
  ByteConsumer consumer(indexes, memory.data(), 64);
  CHECK(producer.free_bytes() == 64);
  REQUIRE(producer.try_write(std::array<std::byte, 9>{}));
  CHECK(producer.free_bytes() == 40);
  REQUIRE(consumer.peek());
  consumer.release();
  CHECK(producer.free_bytes() == 64);
  indexes.released = 1024;  // no honest consumer stores this
  CHECK(producer.free_bytes() == 0);
}

TEST_CASE("commit without a reservation publishes nothing") {
  ByteRing ring(256);
  ring.producer().commit(10);
  CHECK_FALSE(ring.consumer().peek());
  REQUIRE(ring.producer().try_write(std::vector<std::byte>(5)));
  ring.producer().commit(5);
  REQUIRE(ring.consumer().peek());
  ring.consumer().release();
  CHECK_FALSE(ring.consumer().peek());
}

TEST_CASE("several records are published at once, and given back at once") {
  ByteRing ring(256);
  auto& producer = ring.producer();
  auto& consumer = ring.consumer();
  const auto stage = [&](std::size_t size) {
    const auto piece = producer.try_reserve(size);
    if (!piece) return false;
    std::fill(piece->begin(), piece->end(), static_cast<std::byte>(size));
    producer.stage(size);
    return true;
  };
  for (int round = 0; round < 20; ++round) {  // the records wrap at many positions
    CAPTURE(round);
    const std::size_t first = 1 + static_cast<std::size_t>(round) % 9;
    producer.stage(5);  // no piece is reserved
    for (std::size_t i = 0; i < 3; ++i) REQUIRE(stage(first + 20 * i));
    CHECK_FALSE(consumer.peek());
    producer.publish();
    std::array<std::span<const std::byte>, 3> records;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto record = consumer.peek();
      REQUIRE(record);
      CHECK(consumer.peek()->data() == record->data());
      records[i] = *record;
      consumer.advance();
    }
    CHECK_FALSE(consumer.peek());
    consumer.advance();  // no record was peeked at
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(
          equal(records[i], std::vector<std::byte>(first + 20 * i, static_cast<std::byte>(first + 20 * i))));
    }
    consumer.release();
    REQUIRE(producer.try_write(std::vector<std::byte>(producer.max_record())));
    REQUIRE(consumer.peek());
    consumer.release();
  }
}

TEST_CASE("staged records are published by the next commit, or lost with their producer") {
  RingIndexes indexes;
  alignas(8) std::array<std::byte, 128> memory{};
  ByteConsumer consumer(indexes, memory.data(), 128);
  ByteProducer first(indexes, memory.data(), 128);
  REQUIRE(first.try_reserve(8));
  first.stage(8);
  ByteProducer second(indexes, memory.data(), 128);  // the first has died
  REQUIRE(second.try_reserve(4));
  second.stage(4);
  REQUIRE(second.try_write(std::vector<std::byte>(5)));
  for (const std::size_t size : {4u, 5u}) {
    const auto record = consumer.peek();
    REQUIRE(record);
    CHECK(record->size() == size);
    consumer.advance();
  }
  ByteConsumer another(indexes, memory.data(), 128);  // no space was given back: it reads both again
  REQUIRE(another.peek());
  CHECK(another.peek()->size() == 4);
}

TEST_CASE("a record without bytes is a record") {
  ByteRing ring(64);
  CHECK(ring.producer().try_write({}));
  const auto found = ring.consumer().peek();
  REQUIRE(found);
  CHECK(found->empty());
}

TEST_CASE("a record that can never fit is refused") {
  ByteRing ring(64);
  CHECK(ring.producer().max_record() == 24);
  CHECK(ring.producer().try_reserve(24));
  CHECK_FALSE(ring.producer().try_reserve(25));
  CHECK_FALSE(ring.producer().try_reserve(~std::size_t{0}));
}

TEST_CASE("after random writes of a peer, every span stays within the memory and every loop ends") {
  auto random = test::generator();
  for (std::size_t round = 0; round < test::count(20'000); ++round) {
    RingIndexes indexes;
    std::vector<std::uint64_t> words(32);
    auto* memory = reinterpret_cast<std::byte*>(words.data());
    for (auto& word : words)
      word = random() % 3 == 0 ? random() % 300 : random() % 2 == 0 ? 0xffffffff : random();
    const auto start = static_cast<std::uint32_t>(random() % 64 * 8);
    indexes.released = start;
    ByteConsumer consumer(indexes, memory, 256);
    indexes.written = random() % 4 == 0 ? static_cast<std::uint32_t>(random())
                                        : start + static_cast<std::uint32_t>(random() % 40 * 8);
    std::uint64_t sum = 0;
    for (int i = 0; i < 50; ++i) {
      const auto found = consumer.peek();
      if (!found) break;
      const bool inside = found->data() >= memory && found->data() + found->size() <= memory + 256;
      REQUIRE(inside);
      for (const std::byte byte : *found) sum += static_cast<std::uint64_t>(byte);
      if (random() % 2 == 0) {
        consumer.release();
      } else {
        consumer.advance();
      }
      REQUIRE(i < 40);
    }
    ByteProducer producer(indexes, memory, 256);
    indexes.released = static_cast<std::uint32_t>(random());
    for (int i = 0; i < 4; ++i) (void)producer.try_write(std::vector<std::byte>(random() % 130));
    CHECK(sum < ~std::uint64_t{0});
  }
}

TEST_CASE("ends that take over invalid indexes stay within the memory") {
  RingIndexes indexes;
  std::vector<std::uint64_t> words(32);
  auto* memory = reinterpret_cast<std::byte*>(words.data());
  for (const std::uint32_t index : {255u, 253u, 0xffffffffu, 1u}) {
    indexes.written = index;
    indexes.released = index - index % 8;
    ByteProducer producer(indexes, memory, 256);
    const auto piece = producer.try_reserve(8);
    REQUIRE(piece);
    const bool inside = piece->data() >= memory && piece->data() + piece->size() <= memory + 256;
    CHECK(inside);
    CHECK(reinterpret_cast<std::uintptr_t>(piece->data()) % 8 == 0);
    producer.commit(8);
    indexes.released = index;
    ByteConsumer consumer(indexes, memory, 256);
    const auto found = consumer.peek();
    REQUIRE(found);
    CHECK(found->data() == piece->data());
    CHECK(found->size() == 8);
  }
}

TEST_CASE("after nonsense in its indexes a byte ring works again with the next ends") {
  auto random = test::generator();
  for (std::size_t round = 0; round < test::count(2'000); ++round) {
    CAPTURE(round);
    RingIndexes indexes;
    std::vector<std::uint64_t> words(32);
    auto* memory = reinterpret_cast<std::byte*>(words.data());
    std::optional<ByteProducer> producer(std::in_place, indexes, memory, 256);
    const std::array<std::byte, 20> bytes{};
    for (auto i = random() % 12; i > 0; --i) (void)producer->try_write(bytes);
    (random() % 2 == 0 ? indexes.written : indexes.released) = static_cast<std::uint32_t>(random());
    producer.emplace(indexes, memory, 256);
    for (int i = 0; i < 20; ++i) (void)producer->try_write(bytes);
    ByteConsumer consumer(indexes, memory, 256);
    while (consumer.peek()) consumer.release();
    for (int i = 0; i < 20; ++i) {
      CHECK(producer->try_write(bytes));
      CHECK(consumer.peek().has_value());
      consumer.release();
    }
  }
}

TEST_CASE("a new consumer continues behind the invalid record of the one before") {
  RingIndexes indexes;
  alignas(8) std::array<std::byte, 256> memory{};
  const auto put_word = [&](std::size_t at, std::uint32_t word) {
    std::memcpy(memory.data() + at, &word, sizeof word);
  };
  const std::array<std::byte, 8> bytes{};
  SUBCASE("an invalid length") { put_word(0, 0x7fffffff); }
  SUBCASE("a record that is longer than what was published") { put_word(0, 100); }
  SUBCASE("a record at the beginning, where nothing was published") { put_word(0, detail::record_wrap); }
  SUBCASE("an invalid record at the beginning") {
    indexes.written = indexes.released = 240;
    put_word(240, detail::record_wrap);
    put_word(0, 0x7fffffff);
  }
  indexes.written += 32;
  ByteProducer producer(indexes, memory.data(), 256);
  ByteConsumer first(indexes, memory.data(), 256);
  CHECK_FALSE(first.peek());
  CHECK(first.is_broken());
  for (int i = 0; i < 8; ++i) CHECK(producer.try_write(bytes));
  CHECK_FALSE(first.peek());  // it stays broken
  ByteConsumer second(indexes, memory.data(), 256);
  for (int i = 0; i < 100; ++i) {
    CHECK(second.peek());
    second.release();
    CHECK(producer.try_write(bytes));
  }
  CHECK_FALSE(second.is_broken());
}

TEST_CASE("records that are kept are not given back because nonsense follows them") {
  RingIndexes indexes;
  alignas(8) std::array<std::byte, 64> memory{};
  ByteProducer producer(indexes, memory.data(), 64);
  const std::array<std::byte, 8> bytes{};
  REQUIRE(producer.try_write(bytes));
  REQUIRE(producer.try_write(bytes));
  const std::uint32_t nonsense = 0x7fffffff;
  std::memcpy(memory.data() + 16, &nonsense, sizeof nonsense);
  ByteConsumer consumer(indexes, memory.data(), 64);
  REQUIRE(consumer.peek());
  consumer.advance();
  CHECK_FALSE(consumer.peek());
  CHECK(consumer.is_broken());
  CHECK(producer.free_bytes() == 32);
  consumer.release();
  CHECK(producer.free_bytes() == 64);
  REQUIRE(producer.try_write(bytes));
  CHECK(ByteConsumer(indexes, memory.data(), 64).peek());
}

TEST_CASE("two threads: every record arrives whole, once and in order") {
  const std::uint64_t records = test::count(30'000);
  ByteRing ring(1024);
  const std::size_t longest = ring.producer().max_record();
  std::thread producer([&] {
    for (std::uint64_t sent = 0; sent < records;) {
      if (ring.producer().try_write(record(sent, longest))) {
        ++sent;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t wrong = 0;
  for (std::uint64_t received = 0; received < records;) {
    const auto found = ring.consumer().peek();
    if (!found) {
      std::this_thread::yield();
      continue;
    }
    wrong += equal(*found, record(received, longest)) ? 0u : 1u;
    ring.consumer().release();
    ++received;
  }
  producer.join();
  CHECK(wrong == 0);
}
