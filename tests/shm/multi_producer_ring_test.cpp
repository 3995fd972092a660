#include "takt/shm/multi_producer_ring.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "support/random.hpp"

using namespace takt;
using namespace takt::shm;

namespace {

struct Request {
  std::uint64_t lane = 0;
  std::uint64_t number = 0;
  std::uint64_t check = 0;
  static Request of(std::uint64_t lane, std::uint64_t number) { return {lane, number, lane ^ ~number}; }
  [[nodiscard]] bool whole() const { return check == (lane ^ ~number); }
};

}  // namespace

TEST_CASE("requests of each producer arrive once and in order, whatever the mixture of calls") {
  for (std::size_t round = 0; round < test::count(100); ++round) {
    CAPTURE(round);
    auto random = test::generator(round);
    MultiProducerRing<Request, 3, 8> ring;
    std::array<RingProducer<Request>, 3> producers{ring.producer(0), ring.producer(1), ring.producer(2)};
    std::array<std::deque<std::uint64_t>, 3> waiting;
    std::array<std::uint64_t, 3> sent{};
    const auto arrived = [&](const Request& request) {
      REQUIRE(request.lane < 3);
      REQUIRE_FALSE(waiting[request.lane].empty());
      CHECK(request.whole());
      CHECK(request.number == waiting[request.lane].front());
      waiting[request.lane].pop_front();
    };
    for (int step = 0; step < 500; ++step) {
      const std::size_t lane = random() % 3;
      if (test::uniform_int(random, 0, 1) == 0) {
        if (producers[lane].try_push(Request::of(lane, sent[lane]))) waiting[lane].push_back(sent[lane]++);
        CHECK(!waiting[lane].empty());  // an empty lane accepts a message even if the others are full
      } else if (test::uniform_int(random, 0, 1) == 0) {
        Request request;
        const bool any = !waiting[0].empty() || !waiting[1].empty() || !waiting[2].empty();
        CHECK(ring.try_pop(request) == any);
        if (any) arrived(request);
      } else {
        std::vector<Request> requests(random() % 12);
        const std::size_t all = waiting[0].size() + waiting[1].size() + waiting[2].size();
        const std::size_t count = ring.pop(requests);
        CHECK(count == std::min(all, requests.size()));
        for (std::size_t i = 0; i < count; ++i) arrived(requests[i]);
      }
    }
  }
}

TEST_CASE("a busy producer does not starve the others") {
  MultiProducerRing<Request, 4, 16> ring;
  auto busy = ring.producer(1);
  auto other = ring.producer(3);
  const auto fill = [&] {
    while (busy.try_push(Request::of(1, 0))) {
    }
  };
  Request request;
  for (std::uint64_t i = 0; i < 100; ++i) {
    fill();
    REQUIRE(other.try_push(Request::of(3, i)));
    int before = 0;
    while (ring.try_pop(request) && request.lane != 3) ++before;
    CHECK(request.number == i);
    CHECK(before <= 1);
  }
  for (const std::size_t size : {1u, 2u, 3u, 4u, 8u}) {
    CAPTURE(size);
    fill();
    REQUIRE(other.try_push(Request::of(3, 7)));
    std::vector<Request> requests(size);
    bool came = false;
    for (int call = 0; call < 2 && !came;
         ++call) {  // with room for one message, it may arrive in the next call
      const std::size_t count = ring.pop(requests);
      CHECK(count == size);
      for (std::size_t i = 0; i < count; ++i) came = came || requests[i].lane == 3;
      fill();
    }
    CHECK(came);
  }
}

TEST_CASE("a queue in memory of zeros is empty, and each end goes on where another left off") {
  using Memory = MultiProducerMemory<Request, 2, 4>;
  alignas(Memory) std::array<std::byte, sizeof(Memory)> zeros{};
  auto& memory = *reinterpret_cast<Memory*>(zeros.data());
  Request request;
  CHECK_FALSE(MultiProducerConsumer<Request, 2, 4>(memory).try_pop(request));
  for (std::uint64_t i = 0; i < 4; ++i) CHECK(memory.producer(1).try_push(Request::of(1, i)));
  CHECK_FALSE(memory.producer(1).try_push(Request::of(1, 4)));
  CHECK(memory.producer(0).try_push(Request::of(0, 0)));
  CHECK(memory.producer(9).free_slots() == 0);  // a number too large means the last lane
  std::array<Request, 8> requests;
  CHECK(MultiProducerConsumer<Request, 2, 4>(memory).pop(requests) == 5);
  CHECK(MultiProducerConsumer<Request, 2, 4>(memory).pop(requests) == 0);
}

TEST_CASE("a peer that writes nonsense into a lane gains no access outside it, and the other lanes go on") {
  auto random = test::generator();
  for (std::size_t round = 0; round < test::count(5'000); ++round) {
    using Memory = MultiProducerMemory<Request, 2, 4>;
    const auto memory = std::make_unique<Memory>();
    MultiProducerConsumer<Request, 2, 4> consumer(*memory);
    auto honest = memory->producer(0);
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (int step = 0; step < 20; ++step) {
      memory->lane[1].indexes.written = static_cast<std::uint32_t>(random() >> random() % 64);
      memory->lane[1].indexes.released = static_cast<std::uint32_t>(random() >> random() % 64);
      if (honest.try_push(Request::of(5, sent))) ++sent;
      std::array<Request, 3> requests;
      const std::size_t count = step % 2 == 0                   ? consumer.pop(requests)
                                : consumer.try_pop(requests[0]) ? 1
                                                                : 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (requests[i].lane == 5) CHECK(requests[i].number == received++);
      }
    }
    CHECK(received + 4 >= sent);
  }
}

TEST_CASE("four threads: requests of three producers arrive whole, once and in order") {
  const std::uint64_t requests = test::count(30'000);
  const auto ring = std::make_unique<MultiProducerRing<Request, 3, 64>>();
  std::vector<std::thread> threads;
  for (std::uint64_t lane = 0; lane < 3; ++lane) {
    threads.emplace_back([&, lane] {
      auto producer = ring->producer(lane);
      for (std::uint64_t sent = 0; sent < requests;) {
        if (producer.try_push(Request::of(lane, sent))) {
          ++sent;
        } else {
          std::this_thread::yield();
        }
      }
    });
  }
  std::array<std::uint64_t, 3> received{};
  std::uint64_t wrong = 0;
  for (std::uint64_t all = 0; all < 3 * requests;) {
    std::array<Request, 16> batch;
    const std::size_t count = ring->pop(batch);
    if (count == 0) std::this_thread::yield();
    for (std::size_t i = 0; i < count; ++i) {
      if (!batch[i].whole() || batch[i].lane > 2 || batch[i].number != received[batch[i].lane]++) ++wrong;
    }
    all += count;
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}
