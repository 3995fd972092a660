#include "takt/shm/shared_value.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "shm/wide.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::shm;
using takt::test::Wide;

TEST_CASE("a shared value tells each reader none, new and old, whoever wrote it") {
  alignas(SharedValue<int, 3>) std::array<std::byte, sizeof(SharedValue<int, 3>)> zeros{};
  auto& value = *reinterpret_cast<SharedValue<int, 3>*>(zeros.data());
  SharedValue<int, 3>::Reader reader(value);
  int got = 7;
  CHECK(reader.read_new(got) == Freshness::none);
  CHECK(got == 7);
  for (int i = 0; i < 30; ++i) {
    SharedValue<int, 3>::Writer(value, static_cast<std::size_t>(i * i % 3)).write(2 * i);
    SharedValue<int, 3>::Writer(value, static_cast<std::size_t>(i % 3)).write(2 * i + 1);
    CHECK(reader.read_new(got) == Freshness::new_data);
    CHECK(got == 2 * i + 1);
    CHECK(reader.read_new(got) == Freshness::old_data);
    int late = 0;
    CHECK(SharedValue<int, 3>::Reader(value).read_new(late) == Freshness::new_data);
    CHECK(late == got);
  }
}

TEST_CASE(
    "a reader of a shared value sees the next write, whatever became of the count of tickets since it last "
    "looked") {
  using Shared = SharedValue<int, 2>;
  for (const std::uintptr_t next :
       {~std::uintptr_t{0} / 2, ~std::uintptr_t{0} / 2 + 2, ~std::uintptr_t{0} - 1, std::uintptr_t{0}}) {
    CAPTURE(next);
    Shared value;
    auto& tickets = reinterpret_cast<std::atomic<std::uintptr_t>&>(value);
    Shared::Reader reader(value);
    int got = 0;
    for (int i = 0; i < 5; ++i) Shared::Writer(value, 0).write(i);
    CHECK(reader.read_new(got) == Freshness::new_data);
    tickets = next;
    for (int i = 5; i < 10; ++i) {
      Shared::Writer(value, static_cast<std::size_t>(i % 2)).write(i);
      CHECK(reader.read_new(got) == Freshness::new_data);
      CHECK(got == i);
    }
  }
}

TEST_CASE("whatever a peer writes into a shared value, a read comes back with none, or some value") {
  auto random = test::generator();
  using Shared = SharedValue<int, 3>;
  for (std::size_t round = 0; round < test::count(2'000); ++round) {
    Shared value;
    auto* bytes = reinterpret_cast<std::byte*>(&value);
    Shared::Reader reader(value);
    int got = 7;
    for (int step = 0; step < 50; ++step) {
      const std::uint64_t nonsense = random() >> random() % 64;
      std::memcpy(bytes + random() % (sizeof(value) / 8) * 8, &nonsense, 8);
      if (step % 4 == 0) Shared::Writer(value, random() % 4).write(8);
      if (reader.read_new(got) == Freshness::none) CHECK(got == 7);
    }
  }
}

TEST_CASE(
    "four threads: readers see whole values, of each writer none after a later one, and all end with the "
    "same") {
  const std::uint64_t values = test::count(20'000);
  SharedValue<Wide, 2> value;
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<int> writing{2};
  std::array<std::uint64_t, 2> last_read{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      SharedValue<Wide, 2>::Writer writer(value, i);
      for (std::uint64_t number = 1; number <= values; ++number) {
        writer.write(Wide::of(2 * number + i));
        if (number % 256 == 0) std::this_thread::yield();
      }
      --writing;
    });
    threads.emplace_back([&, i] {
      SharedValue<Wide, 2>::Reader reader(value);
      Wide got;
      std::array<std::uint64_t, 2> last{};
      for (bool over = false; !over;) {
        over = writing == 0;  // then one more pass
        if (reader.read_new(got) != Freshness::new_data) continue;
        const std::uint64_t now = got.words[0];
        if (!got.whole() || now <= last[now % 2]) ++wrong;
        last[now % 2] = now;
        std::this_thread::yield();
      }
      last_read[i] = got.words[0];
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(last_read[0] == last_read[1]);
  CHECK(last_read[0] >= 2 * values);
}
