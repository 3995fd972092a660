#include "takt/rt/realtime_buffer.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/rt_guard.hpp"

using namespace takt;
using namespace takt::rt;

namespace {

/// A value that counts how many of its kind live, and cannot be copied.
class Counted {
 public:
  Counted(int number, std::atomic<int>& alive) : number_(number), alive_(&alive) { ++*alive_; }
  Counted(Counted&& other) noexcept : number_(other.number_), alive_(other.alive_) { ++*alive_; }
  Counted& operator=(Counted&&) = delete;
  ~Counted() { --*alive_; }

  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
  std::atomic<int>* alive_;
};

struct FortyTwo {
  int number = 42;
};

}  // namespace

// ---- the cases of realtime_tools ----

TEST_CASE("a buffer begins with its initial value") {
  RealtimeBuffer<double> number(3.14);
  REQUIRE(number.read() != nullptr);
  CHECK(*number.read() == 3.14);
  RealtimeBuffer<FortyTwo> made(FortyTwo{});
  CHECK(made.read()->number == 42);
}

TEST_CASE("a value written before the loop begins is the loop's first") {
  RealtimeBuffer<int> buffer(42);
  buffer.write(28);
  CHECK(*buffer.read() == 28);
}

TEST_CASE("the writing thread reads back what it wrote") {
  RealtimeBuffer<int> buffer;
  CHECK(buffer.last_written() == nullptr);
  buffer.write(42);
  buffer.write(28);
  CHECK(*buffer.last_written() == 28);
  CHECK(*buffer.read() == 28);
  CHECK(*buffer.last_written() == 28);
}

// ---- what takt adds ----

TEST_CASE("a buffer without a value gives none") {
  RealtimeBuffer<int> buffer;
  CHECK(buffer.read() == nullptr);
  buffer.write(1);
  CHECK(buffer.read() != nullptr);
}

TEST_CASE("the address changes exactly with a new value, which stays unchanged until the next read") {
  RealtimeBuffer<int> buffer(1);
  const int* const first = buffer.read();
  CHECK(buffer.read() == first);
  buffer.write(2);
  buffer.write(3);
  buffer.write(4);
  CHECK(*first == 1);
  const int* const second = buffer.read();
  CHECK(second != first);
  CHECK(*second == 4);
  CHECK(buffer.read() == second);
}

TEST_CASE("the writing thread destroys what the loop gave back, and no more than three values live") {
  std::atomic<int> alive{0};
  {
    RealtimeBuffer<Counted> buffer;
    buffer.write({1, alive});
    CHECK(alive == 1);
    buffer.write({2, alive});  // the first was never read
    CHECK(alive == 1);
    CHECK(buffer.read()->number() == 2);
    buffer.write({3, alive});  // the loop still holds 2
    CHECK(alive == 2);
    CHECK(buffer.read()->number() == 3);
    CHECK(alive == 2);  // the loop frees nothing
    buffer.write({4, alive});
    CHECK(alive == 2);
  }
  CHECK(alive == 0);
}

TEST_CASE("the loop reads vectors without allocating, freeing or locking") {
  RealtimeBuffer<std::vector<int>> buffer;
  std::uint64_t sum = 0;
  for (int i = 1; i <= 100; ++i) {
    buffer.write(std::vector<int>(100, i));
    test::RtGuard guard;
    sum += static_cast<std::uint64_t>(buffer.read()->back());
    CHECK(guard.report() == "");
  }
  CHECK(sum == 5050);
}

TEST_CASE("random writes and reads agree with a plain value, and leave nothing behind") {
  for (std::size_t round = 0; round < test::count(300); ++round) {
    auto random = test::generator(round);
    std::atomic<int> alive{0};
    {
      RealtimeBuffer<Counted> buffer;
      int newest = 0;
      const Counted* seen = nullptr;
      bool is_new = false;
      for (int step = 1; step <= 100; ++step) {
        if (test::uniform_int(random, 0, 1) == 0) {
          buffer.write({step, alive});
          newest = step;
          is_new = true;
        } else {
          const Counted* const found = buffer.read();
          REQUIRE((found == nullptr) == (newest == 0));
          if (found == nullptr) continue;
          REQUIRE(found->number() == newest);
          REQUIRE((found != seen) == is_new);
          seen = found;
          is_new = false;
        }
        REQUIRE(alive <= 3);
      }
    }
    REQUIRE(alive == 0);
  }
}

TEST_CASE("between threads every value arrives whole, in order, and the last one arrives") {
  constexpr std::uint64_t last = 20000;
  RealtimeBuffer<std::vector<std::uint64_t>> buffer;
  std::uint64_t wrong = 0;
  std::thread loop([&] {
    for (std::uint64_t seen = 0; seen < last;) {
      const auto* const values = buffer.read();
      if (values == nullptr || values->front() == seen) {
        std::this_thread::yield();
        continue;
      }
      if (values->front() < seen || values->back() != values->front() || values->size() != 5) ++wrong;
      seen = values->front();
    }
  });
  for (std::uint64_t i = 1; i <= last; ++i) {
    buffer.write(std::vector<std::uint64_t>(5, i));
    if (buffer.last_written()->back() != i) ++wrong;
  }
  loop.join();
  CHECK(wrong == 0);
}
