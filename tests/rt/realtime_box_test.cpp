#include "takt/rt/realtime_box.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::rt;

namespace {

struct FortyTwo {
  int number = 42;
};

/// A value whose words are all equal unless it is torn.
using Wide = std::array<std::uint64_t, 20>;

[[nodiscard]] Wide wide(std::uint64_t number) {
  Wide value;
  value.fill(number);
  return value;
}

}  // namespace

// ---- the cases of realtime_tools ----

TEST_CASE("a box begins with a default value, or with the given one, on both sides") {
  RealtimeBox<FortyTwo> made;
  CHECK(made.realtime().get().number == 42);
  CHECK(made.other().get().number == 42);
  RealtimeBox<double> given(3.14);
  CHECK(given.realtime().get() == 3.14);
  CHECK(given.other().get() == 3.14);
}

TEST_CASE("each side reads what either side set") {
  RealtimeBox<char> box('a');
  box.other().set('z');
  CHECK(box.realtime().get() == 'z');
  CHECK(box.other().get() == 'z');
  box.realtime().set('y');
  CHECK(box.other().get() == 'y');
  CHECK(box.realtime().get() == 'y');
}

// ---- what takt adds ----

TEST_CASE("a later write wins even if its side never read the earlier ones") {
  RealtimeBox<int> box;
  for (int i = 1; i <= 5; ++i) box.other().set(i);
  box.realtime().set(6);
  CHECK(box.other().get() == 6);
  CHECK(box.realtime().get() == 6);
  box.other().set(7);
  CHECK(box.realtime().get() == 7);
}

TEST_CASE("both sides of a box keep the rules of the loop") {
  RealtimeBox<Wide> box;
  std::uint64_t wrong = 0;
  test::RtGuard guard;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    box.realtime().set(wide(2 * i));
    wrong += box.other().get()[19] != 2 * i;
    box.other().set(wide(2 * i + 1));
    wrong += box.realtime().get()[19] != 2 * i + 1;
  }
  CHECK(guard.report() == "");
  CHECK(wrong == 0);
}

TEST_CASE("random writes and reads of one thread agree with a plain variable") {
  for (std::size_t round = 0; round < test::count(300); ++round) {
    auto random = test::generator(round);
    RealtimeBox<Wide> box(wide(1000));
    std::uint64_t plain = 1000;
    for (std::uint64_t step = 0; step < 100; ++step) {
      auto& side = test::uniform_int(random, 0, 1) == 0 ? box.realtime() : box.other();
      if (test::uniform_int(random, 0, 1) == 0) {
        side.set(wide(step));
        plain = step;
      }
      REQUIRE(side.get() == wide(plain));
    }
  }
}

TEST_CASE(
    "between threads values arrive whole, one side's never turn back, and both sides end with the same") {
  constexpr std::uint64_t writes = 20000;
  for (int round = 0; round < 5; ++round) {
    RealtimeBox<Wide> box;
    // Even numbers are one side's, odd ones the other's.
    const auto run = [](RealtimeBox<Wide>::Side& side, std::uint64_t parity, std::uint64_t& wrong) {
      std::array<std::uint64_t, 2> seen{};
      for (std::uint64_t i = 1; i <= writes; ++i) {
        side.set(wide(2 * i + parity));
        const Wide value = side.get();
        if (value != wide(value[0])) ++wrong;
        if (value[0] % 2 == parity ? value[0] != 2 * i + parity : value[0] < seen[1 - parity]) ++wrong;
        seen[value[0] % 2] = value[0];
      }
    };
    std::uint64_t wrong_here = 0;
    std::uint64_t wrong_there = 0;
    std::thread there([&] { run(box.other(), 1, wrong_there); });
    run(box.realtime(), 0, wrong_here);
    there.join();
    CHECK(wrong_here == 0);
    CHECK(wrong_there == 0);
    CHECK(box.realtime().get() == box.other().get());
    CHECK(box.realtime().get()[0] / 2 == writes);
  }
}

TEST_CASE("a write that ends before another begins loses, from either side, between threads") {
  RealtimeBox<std::uint64_t> box;
  std::atomic<std::uint64_t> turn{0};
  constexpr std::uint64_t turns = 20000;
  std::uint64_t wrong = 0;
  // The sides take turns: each sees the other's last write, or does not look and writes over it.
  const auto run = [&](RealtimeBox<std::uint64_t>::Side& side, std::uint64_t parity,
                       std::uint64_t& mistakes) {
    for (std::uint64_t mine = parity; mine < turns; mine += 2) {
      while (turn.load(std::memory_order_acquire) != mine) std::this_thread::yield();
      if (mine % 3 == 0 && mine > 0 && side.get() != mine) ++mistakes;
      side.set(mine + 1);
      turn.store(mine + 1, std::memory_order_release);
    }
  };
  std::uint64_t wrong_there = 0;
  std::thread there([&] { run(box.other(), 1, wrong_there); });
  run(box.realtime(), 0, wrong);
  there.join();
  CHECK(wrong == 0);
  CHECK(wrong_there == 0);
  CHECK(box.realtime().get() == turns);
  CHECK(box.other().get() == turns);
}
