#include "takt/shm/broadcast_ring.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

#include "shm/wide.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::shm;
using takt::test::Wide;

TEST_CASE("every reader of a broadcast ring gets every message, once and in order") {
  BroadcastRing<int> ring(4);
  auto first = ring.reader(BroadcastStart::oldest);
  auto second = ring.reader(BroadcastStart::newest);
  int got = 7;
  CHECK_FALSE(first.try_read(got));
  CHECK(got == 7);
  for (int i = 0; i < 100; ++i) {
    ring.write(2 * i);
    ring.write(2 * i + 1);
    for (auto* reader : {&first, &second}) {
      CHECK(reader->try_read(got));
      CHECK(got == 2 * i);
      CHECK(reader->try_read(got));
      CHECK(got == 2 * i + 1);
      CHECK_FALSE(reader->try_read(got));
    }
  }
  CHECK(first.missed() == 0);
  CHECK(second.missed() == 0);
}

TEST_CASE("a reader that comes late begins at the oldest message that stays, or at the newest") {
  for (const int written : {0, 1, 3, 5, 6, 7, 8, 9, 23}) {
    CAPTURE(written);
    BroadcastRing<int> ring(8);
    for (int i = 0; i < written; ++i) ring.write(i);
    auto oldest = ring.reader(BroadcastStart::oldest);
    auto newest = ring.reader(BroadcastStart::newest);
    int got = -1;
    CHECK(oldest.try_read(got) == (written > 0));
    CHECK(got == (written == 0 ? -1 : std::max(written - 6, 0)));  // a quarter is left to the writer
    CHECK(newest.try_read(got) == (written > 0));
    CHECK(got == written - 1);
    CHECK_FALSE(newest.try_read(got));
    CHECK(oldest.missed() == 0);
    CHECK(newest.missed() == 0);
  }
}

TEST_CASE("a reader that was lapped learns how many messages it missed") {
  BroadcastRing<int> ring(8);
  auto oldest = ring.reader(BroadcastStart::oldest);
  auto newest = ring.reader(BroadcastStart::newest);
  for (int i = 0; i < 100; ++i) ring.write(i);
  int got = 0;
  for (int i = 94; i < 100; ++i) {
    CHECK(oldest.try_read(got));
    CHECK(got == i);
  }
  CHECK(oldest.missed() == 94);
  CHECK(newest.try_read(got));
  CHECK(got == 99);
  CHECK(newest.missed() == 99);
  for (int i = 100; i < 108; ++i) ring.write(i);  // exactly as many as fit
  for (int i = 100; i < 108; ++i) {
    CHECK(oldest.try_read(got));
    CHECK(got == i);
  }
  CHECK(oldest.missed() == 94);
}

TEST_CASE("a broadcast ring goes on where numbers run over") {
  for (const std::uint32_t start : {0xffffff00u, 0xfffffffcu, 0xffffffffu, 0x7ffffffeu}) {
    CAPTURE(start);
    BroadcastCount count;
    std::array<BroadcastSlot<std::uint32_t>, 8> slots;
    count.written = start;
    BroadcastWriter<std::uint32_t> writer(count, slots.data(), 8);
    for (std::uint32_t i = 0; i < 8; ++i) writer.write(i);
    BroadcastReader<std::uint32_t> reader(count, slots.data(), 8, BroadcastStart::oldest);
    BroadcastReader<std::uint32_t> slow(count, slots.data(), 8, BroadcastStart::oldest);
    std::uint32_t got = 0;
    for (std::uint32_t i = 2; i < 600; ++i) {
      CHECK(reader.try_read(got));
      CHECK(got == i);
      if (i + 6 < 600) writer.write(i + 6);
    }
    CHECK_FALSE(reader.try_read(got));
    CHECK(reader.missed() == 0);
    CHECK(slow.try_read(got));
    CHECK(got == 594);
    CHECK(slow.missed() == 592);
  }
}

TEST_CASE(
    "a broadcast ring in memory of zeros is empty, and every writer goes on where the last one stopped") {
  for (std::size_t round = 0; round < test::count(300); ++round) {
    CAPTURE(round);
    auto random = test::generator(round);
    constexpr std::uint32_t capacity = 4;
    struct Memory {
      BroadcastCount count;
      BroadcastSlot<Wide> slots[capacity];
    };
    alignas(Memory) std::array<std::byte, sizeof(Memory)> zeros{};
    auto& memory = *reinterpret_cast<Memory*>(zeros.data());
    BroadcastReader<Wide> reader(memory.count, memory.slots, capacity, BroadcastStart::oldest);
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    Wide got;
    for (int step = 0; step < 200; ++step) {
      if (test::uniform_int(random, 0, 1) == 0) {
        BroadcastWriter<Wide> writer(memory.count, memory.slots, capacity);
        for (auto i = test::uniform_int(random, 0, 3); i > 0; --i) writer.write(Wide::of(written++));
        if (test::uniform_int(random, 0, 3) == 0 && written != 0) {
          memory.count.written =
              static_cast<std::uint32_t>(written - 1);  // the writer died before it counted the last message
        }
      } else if (reader.try_read(got)) {
        ++read;
        CHECK(got.whole());
        CHECK(got.words[0] + 1 == read + reader.missed());
      } else {
        CHECK(read + reader.missed() == written);
      }
    }
  }
}

TEST_CASE(
    "two writers of a broadcast ring that die before they could count leave their messages, each once") {
  BroadcastCount count;
  std::array<BroadcastSlot<int>, 4> slots;
  BroadcastReader<int> reader(count, slots.data(), 4, BroadcastStart::oldest);
  BroadcastReader<int> late(count, slots.data(), 4, BroadcastStart::oldest);
  int got = 0;
  for (const int message : {1, 2, 3}) {
    BroadcastWriter<int> writer(count, slots.data(), 4);
    const std::uint32_t counted = count.written;
    writer.write(message);
    count.written = counted;
    CHECK(reader.try_read(got));
    CHECK(got == message);
  }
  for (const int message : {1, 2, 3}) {
    CHECK(late.try_read(got));
    CHECK(got == message);
  }
}

TEST_CASE(
    "a reader of a broadcast ring goes on with the newest, however many messages went by since it last "
    "looked") {
  constexpr std::uint32_t capacity = 16;
  for (const std::uint32_t messages :
       {64u, 1u << 30, (1u << 31) - 16, 1u << 31, (1u << 31) + 64, 3u << 30, 0xffffffc0u}) {
    CAPTURE(messages);
    BroadcastCount count;
    std::array<BroadcastSlot<std::uint32_t>, capacity> slots;
    BroadcastReader<std::uint32_t> reader(count, slots.data(), capacity, BroadcastStart::oldest);
    count.written = messages - capacity;
    BroadcastWriter<std::uint32_t> writer(count, slots.data(), capacity);
    for (std::uint32_t i = messages - capacity; i != messages; ++i) writer.write(i);
    std::uint32_t got = 0;
    for (std::uint32_t i = messages - 12; i != messages + 100; ++i) {
      CHECK(reader.try_read(got));
      CHECK(got == i);
      CHECK(reader.missed() == messages - 12);
      writer.write(i + 12);
    }
  }
}

TEST_CASE("after random writes of a peer into a broadcast ring, its readers find the writer again") {
  auto random = test::generator();
  for (std::size_t round = 0; round < test::count(20'000); ++round) {
    CAPTURE(round);
    BroadcastCount count;
    constexpr std::uint32_t capacity = 4;
    std::array<BroadcastSlot<Wide>, capacity> slots;
    BroadcastWriter<Wide> writer(count, slots.data(), capacity);
    BroadcastReader<Wide> reader(count, slots.data(), capacity,
                                 round % 2 == 0 ? BroadcastStart::oldest : BroadcastStart::newest);
    Wide got;
    for (int step = 0; step < 4; ++step) {
      count.written = static_cast<std::uint32_t>(random() >> random() % 64);
      slots[random() % capacity].state = static_cast<std::uint32_t>(random() >> random() % 64);
      (void)reader.try_read(got);
    }
    // In the worst case, the damaged state equals that of one of the next few messages.
    for (std::uint64_t i = 1; i <= 3 * capacity; ++i) {
      writer.write(Wide::of(i));
      while (reader.try_read(got)) continue;
    }
    writer.write(Wide::of(1000));
    CHECK(reader.try_read(got));
    CHECK(got.words[0] == 1000);
  }
}

TEST_CASE("after random writes of a peer, a reader of a broadcast ring stays within the slots and returns") {
  auto random = test::generator();
  for (std::size_t round = 0; round < test::count(20'000); ++round) {
    BroadcastCount count;
    constexpr std::uint32_t capacity = 4;
    std::array<BroadcastSlot<Wide>, capacity> slots;  // a sanitizer detects accesses outside
    const auto nonsense = [&] { return static_cast<std::uint32_t>(random() >> random() % 64); };
    const auto disturb = [&] {
      if (test::uniform_int(random, 0, 1) == 0) count.written = nonsense();
      slots[random() % capacity].state =
          test::uniform_int(random, 0, 1) == 0 ? nonsense() : 4 * nonsense() + 1;
    };
    for (int i = 0; i < 3; ++i) disturb();
    BroadcastWriter<Wide> writer(count, slots.data(), capacity);
    BroadcastReader<Wide> reader(count, slots.data(), capacity,
                                 round % 2 == 0 ? BroadcastStart::oldest : BroadcastStart::newest);
    Wide got;
    for (int step = 0; step < 20; ++step) {
      disturb();
      (void)reader.try_read(got);
      disturb();
      writer.write(Wide::of(random()));
    }
    CHECK(got.whole());  // no write runs during a read here
  }
}

TEST_CASE(
    "four threads: readers of a broadcast ring see whole messages in order, and none is missed untold") {
  const std::uint64_t messages = test::count(30'000);
  BroadcastRing<Wide> ring(16);
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<int> ready{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&, i] {
      auto reader = ring.reader(i == 0 ? BroadcastStart::newest : BroadcastStart::oldest);
      ++ready;
      Wide got;
      for (std::uint64_t read = 0; read + reader.missed() < messages;) {
        if (!reader.try_read(got)) {
          std::this_thread::yield();
          continue;
        }
        ++read;
        if (!got.whole() || got.words[0] != read + reader.missed()) ++wrong;
      }
    });
  }
  while (ready != 3) std::this_thread::yield();
  for (std::uint64_t i = 1; i <= messages; ++i) {
    ring.write(Wide::of(i));
    if (i % 256 == 0) std::this_thread::yield();
  }
  for (auto& reader : readers) reader.join();
  CHECK(wrong == 0);
}
