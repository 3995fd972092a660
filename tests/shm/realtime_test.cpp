// Both ends of every exchange of this room, and their takeovers, under the real-time guard.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "support/rt_guard.hpp"
#include "takt/shm/broadcast_ring.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/byte_ring.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/slot_ring.hpp"
#include "takt/shm/spsc_ring.hpp"

using namespace takt;
using namespace takt::shm;

TEST_CASE("exchanges keep the rules of the loop") {
  using Message = std::array<std::uint64_t, 20>;
  constexpr std::uint32_t capacity = 8;
  SpscRing<Message> ring(capacity);
  std::vector<shm::Slot<Message>> slots(capacity);
  std::atomic<std::uint32_t> released{0};
  ByteRing bytes(1024);
  const auto latest = std::make_unique<LatestMemory<Message>>();
  const auto broadcast = std::make_unique<BroadcastValue<Message>>();
  BroadcastRing<Message> stream(capacity);
  Message message{};
  std::array<Message, 2> batch{};

  test::RtGuard guard;
  bool ok = true;
  for (int i = 0; i < 100; ++i) {
    ok = ok && ring.try_push(message) && ring.try_pop(message);
    ok = ok && ring.push(batch) == 2 && ring.pop(batch) == 2;

    SlotProducer<Message> slot_producer(released, slots.data(), capacity);
    SlotConsumer<Message> slot_consumer(released, slots.data(), capacity);
    ok = ok && slot_producer.try_push(message) && slot_consumer.try_pop(message) &&
         !slot_consumer.try_pop(message);

    ok = ok && bytes.producer().try_reserve(100);
    bytes.producer().stage(50);
    ok = ok && bytes.producer().try_write(std::as_bytes(std::span(message))) && bytes.consumer().peek();
    bytes.consumer().advance();
    ok = ok && bytes.consumer().peek();
    bytes.consumer().release();

    LatestReader<Message> latest_reader(*latest);
    LatestWriter<Message>(*latest).write(message);
    ok = ok && latest_reader.read(message) == Freshness::new_data;

    BroadcastValue<Message>::Reader broadcast_reader(*broadcast);
    BroadcastValue<Message>::Writer(*broadcast).write(message);
    ok = ok && broadcast_reader.read(message) == Freshness::new_data;

    auto stream_reader = stream.reader(BroadcastStart::oldest);
    for (int j = 0; j < 20; ++j) stream.write(message);  // laps the reader
    ok = ok && stream_reader.try_read(message) && stream_reader.missed() > 0;
  }
  CHECK(guard.report() == "");
  CHECK(ok);
}
