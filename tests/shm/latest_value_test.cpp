#include "takt/shm/latest_value.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "support/random.hpp"
#include "takt/shm/broadcast_value.hpp"

using namespace takt;
using namespace takt::shm;

namespace {

struct Wide {
  std::array<std::uint64_t, 20> words{};
  static Wide of(std::uint64_t value) {
    Wide wide;
    wide.words.fill(value);
    return wide;
  }
};
struct Odd {
  std::array<char, 13> bytes{};
};

/// Reads until the last value has come: whole values only, never going back, and told the truth about new and old.
template <class Reader>
std::uint64_t wrong_reads(Reader&& reader, std::uint64_t last_value) {
  std::uint64_t wrong = 0;
  Wide value;
  for (std::uint64_t last = 0; last < last_value;) {
    const Freshness freshness = reader.read(value);
    const std::uint64_t now = value.words[0];
    if (value.words != Wide::of(now).words) ++wrong;
    if (freshness == Freshness::new_data ? now <= last : now != last) ++wrong;
    last = now;
    if (freshness != Freshness::new_data) std::this_thread::yield();
  }
  return wrong;
}

}  // namespace

TEST_CASE("a latest value tells none, new and old") {
  LatestValue<int> value;
  int got = 7;
  CHECK(value.read(got) == Freshness::none);
  CHECK(got == 7);
  value.write(1);
  value.write(2);
  CHECK(value.read(got) == Freshness::new_data);
  CHECK(got == 2);
  got = 0;
  CHECK(value.read(got) == Freshness::old_data);
  CHECK(got == 2);
}

TEST_CASE("a latest value is written and read in place") {
  LatestValue<Wide> value;
  value.begin_write() = Wide::of(5);
  CHECK(value.update() == Freshness::none);
  value.publish();
  CHECK(value.update() == Freshness::new_data);
  CHECK(value.value().words[19] == 5);
  value.begin_write() = Wide::of(6);
  CHECK(value.value().words[19] == 5);  // untouched until the next update
}

TEST_CASE("a broadcast value tells each reader none, new and old for itself") {
  BroadcastValue<Odd> value;
  BroadcastValue<Odd>::Reader first(value);
  BroadcastValue<Odd>::Reader second(value);
  Odd got;
  CHECK(first.read(got) == Freshness::none);
  for (int round = 1; round < 10; ++round) {
    Odd written;
    written.bytes.fill(static_cast<char>(round));
    value.write(written);
    CHECK(first.read(got) == Freshness::new_data);
    CHECK(got.bytes == written.bytes);
    CHECK(first.read(got) == Freshness::old_data);
    Odd untouched;
    CHECK(first.read_new(untouched) == Freshness::old_data);
    CHECK(untouched.bytes == Odd().bytes);
    if (round % 3 == 0) CHECK(second.read(got) == Freshness::new_data);
    CHECK(got.bytes == written.bytes);
  }
}

TEST_CASE("two threads: one reader sees whole values that never go back, and the last one at last") {
  const std::uint64_t values = test::count(200'000);
  LatestValue<Wide> value;
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= values; ++i) {
      value.write(Wide::of(i));
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  CHECK(wrong_reads(value, values) == 0);
  writer.join();
}

TEST_CASE("four threads: many readers see whole values that never go back, and the last one at last") {
  const std::uint64_t values = test::count(100'000);
  BroadcastValue<Wide> value;
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] { wrong += wrong_reads(BroadcastValue<Wide>::Reader(value), values); });
  }
  for (std::uint64_t i = 1; i <= values; ++i) {
    value.write(Wide::of(i));
    if (i % 64 == 0) std::this_thread::yield();
  }
  for (auto& reader : readers) reader.join();
  CHECK(wrong == 0);
}
