#include "takt/shm/latest_value.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "shm/wide.hpp"
#include "support/random.hpp"
#include "takt/shm/broadcast_value.hpp"

using namespace takt;
using namespace takt::shm;
using takt::test::Wide;

namespace {

struct Odd {
  std::array<char, 13> bytes{};
};

/// A processor that runs a hook just after a load.
struct Interrupted : Processor {
  static inline std::function<void()> after_load;

  template <class Word>
  struct Atomic : std::atomic<Word> {
    using std::atomic<Word>::atomic;
    [[nodiscard]] Word load(std::memory_order order) const noexcept {
      const Word word = std::atomic<Word>::load(order);
      if (after_load) std::exchange(after_load, nullptr)();
      return word;
    }
  };
};

/// The states beside the values of a BroadcastValue, to be forged.
template <class T, class Machine>
std::atomic<std::uint32_t>& state_of(BroadcastValue<T, Machine>& value, std::size_t slot) {
  return *reinterpret_cast<std::atomic<std::uint32_t>*>(reinterpret_cast<std::byte*>(&value) +
                                                        slot * sizeof(value) / 2);
}

/// Reads until the last value arrives. Checks that values are whole, never older than before, and correctly
/// reported as new or old.
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

TEST_CASE("a latest value distinguishes none, new and old") {
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
  CHECK(value.value().words[19] == 5);  // unchanged until the next update
}

TEST_CASE("memory of zeros is a latest value that was never written") {
  alignas(LatestMemory<Odd>) std::array<std::byte, sizeof(LatestMemory<Odd>)> zeros{};
  auto& memory = *reinterpret_cast<LatestMemory<Odd>*>(zeros.data());
  LatestReader<Odd> reader(memory);
  CHECK(reader.update() == Freshness::none);
  LatestWriter<Odd> writer(memory);
  Odd value;
  value.bytes.fill('a');
  writer.write(value);
  CHECK(reader.update() == Freshness::new_data);
  CHECK(reader.value().bytes == value.bytes);
}

TEST_CASE("either end of a latest value goes on where another left off") {
  for (std::size_t round = 0; round < test::count(300); ++round) {
    CAPTURE(round);
    auto random = test::generator(round);
    LatestMemory<Wide> memory;
    std::optional<LatestWriter<Wide>> writer(memory);
    std::optional<LatestReader<Wide>> reader(memory);
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    bool successor = true;
    for (int step = 0; step < 200; ++step) {
      switch (test::uniform_int(random, 0, 5)) {
        case 0:
          writer->begin_write() = Wide::of(0);
          writer.emplace(memory);
          break;  // the writer died during the write
        case 1:
          reader.emplace(memory);
          successor = true;
          break;
        case 2:
        case 3:
          writer->write(Wide::of(++written));
          break;
        default: {
          const Freshness freshness = reader->update();
          const bool is_new = written != read || (successor && written != 0);
          CHECK(freshness == (is_new         ? Freshness::new_data
                              : written == 0 ? Freshness::none
                                             : Freshness::old_data));
          read = written;
          successor = successor && written == 0;
        }
      }
      CHECK(reader->value().words == Wide::of(read).words);
    }
  }
}

TEST_CASE("after random writes of a peer into a latest value, both ends stay within its slots") {
  auto random = test::generator();
  for (std::size_t round = 0; round < test::count(20'000); ++round) {
    LatestMemory<Wide> memory;
    const auto inside = [&](const Wide& value) {
      return &value == &memory.slots[0].value || &value == &memory.slots[1].value ||
             &value == &memory.slots[2].value;
    };
    const auto disturb = [&] {
      if (test::uniform_int(random, 0, 2) != 0)
        memory.state = static_cast<std::uint32_t>(random() >> random() % 64);
    };
    disturb();
    LatestWriter<Wide> writer(memory);
    disturb();
    LatestReader<Wide> reader(memory);
    for (int step = 0; step < 10; ++step) {
      disturb();
      (void)reader.update();
      REQUIRE(inside(reader.value()));
      disturb();
      REQUIRE(inside(writer.begin_write()));
      writer.write(Wide::of(1));
    }
    // Once the peer stops, both ends recover.
    writer.write(Wide::of(2));
    LatestReader<Wide> another(memory);
    CHECK(another.update() == Freshness::new_data);
    CHECK(another.value().words == Wide::of(2).words);
  }
}

TEST_CASE("a broadcast value distinguishes none, new and old for each reader") {
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

TEST_CASE("a new reader that meets two writes of a broadcast value tries again, and does not return none") {
  using Value = BroadcastValue<std::uint64_t, Interrupted>;
  for (const std::uint32_t last : {2u, 3u}) {  // one in each slot
    CAPTURE(last);
    Value value;
    for (std::uint32_t i = 1; i <= last; ++i) value.write(i);
    state_of(value, last % 2) = 2 * last | 1;  // the last value is still being written
    Interrupted::after_load = [&] {
      state_of(value, last % 2) = 2 * last;  // now it is complete, and the next write has begun
      state_of(value, 1 - last % 2) = 2 * (last + 1) | 1;
    };
    std::uint64_t got = 0;
    CHECK(Value::Reader(value).read(got) == Freshness::new_data);
    CHECK(got == last);
  }
}

TEST_CASE("a broadcast value whose first writer died in its first write is empty") {
  BroadcastValue<std::uint64_t> value;
  state_of(value, 1) = 2 | 1;
  BroadcastValue<std::uint64_t>::Reader reader(value);
  std::uint64_t got = 7;
  CHECK(reader.read(got) == Freshness::none);
  CHECK(got == 7);
  value.write(1);
  CHECK(reader.read(got) == Freshness::new_data);
  CHECK(got == 1);
}

TEST_CASE("a reader of a broadcast value sees the next write, however many went by since it last looked") {
  for (const std::uint32_t writes : {1u, 2u, 3u, 1u << 29, 1u << 30, (1u << 30) + 2, 3u << 29, 0x7ffffff0u}) {
    CAPTURE(writes);
    BroadcastValue<std::uint64_t> value;
    BroadcastValue<std::uint64_t>::Reader reader(value);
    std::uint64_t got = 0;
    value.write(1);
    CHECK(reader.read(got) == Freshness::new_data);
    const std::uint32_t version = 2 + 2 * writes;
    state_of(value, version / 2 % 2) = version;
    state_of(value, 1 - version / 2 % 2) = version - 2;
    BroadcastValue<std::uint64_t>::Writer writer(value);
    for (std::uint64_t i = 2; i < 10; ++i) {
      writer.write(i);
      CHECK(reader.read(got) == Freshness::new_data);
      CHECK(got == i);
    }
  }
}

TEST_CASE("after random writes of a peer into a broadcast value, its readers find the writer again") {
  auto random = test::generator();
  for (std::size_t round = 0; round < test::count(20'000); ++round) {
    CAPTURE(round);
    BroadcastValue<Wide> value;
    std::optional<BroadcastValue<Wide>::Writer> writer(value);
    BroadcastValue<Wide>::Reader reader(value);
    Wide got;
    for (int step = 0; step < 4; ++step) {
      state_of(value, random() % 2) = static_cast<std::uint32_t>(random() >> random() % 64);
      (void)reader.read(got);
    }
    if (round % 2 == 0) writer.emplace(value);
    // In the worst case, the damaged state equals that of one of the next few values.
    for (std::uint64_t i = 1; i <= 4; ++i) {
      writer->write(Wide::of(i));
      (void)reader.read(got);
    }
    writer->write(Wide::of(5));
    CHECK(reader.read(got) == Freshness::new_data);
    CHECK(got.words == Wide::of(5).words);
  }
}

TEST_CASE("pieces of a value are published with the rest of it, over any old content of the slots") {
  BroadcastValue<Wide> value;
  BroadcastValue<Wide>::Reader reader(value);
  for (std::uint64_t i = 0; i < 3; ++i) value.write(Wide::of(77));
  constexpr std::array pieces{Piece{8, 16}, Piece{8 * 19 + 3, 1}, Piece{8 * 7, 0}};
  for (int successor = 0; successor < 3; ++successor) {
    BroadcastValue<Wide>::Writer writer(value);
    Wide wide = Wide::of(static_cast<std::uint64_t>(successor));
    for (std::uint64_t i = 1; i < 10; ++i) {
      wide.words[1] = wide.words[2] = wide.words[19] = i << 28;
      if (i == 5) {
        writer.write(wide);
      } else {
        writer.write(wide, pieces);
      }
      Wide got;
      REQUIRE(reader.read_new(got) == Freshness::new_data);
      CHECK(got.words == wide.words);
    }
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
