// The cost of passing a message without waiting. Both ends are in one thread: a ring that is neither full nor
// empty, and a value that is read after each write.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "instructions.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/byte_ring.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/slot_ring.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::bench {
namespace {

using Message = std::array<std::uint64_t, 8>;
using Small = std::array<std::uint64_t, 7>;  // fits into one line with its number
constexpr std::size_t capacity = 1024;

void require(bool done) {
  if (!done) std::abort();
}

/// Counts push and pop separately: 1000 of one kind fit into the ring.
template <class T, class Ring>
void count_push(Counter& count) {
  Ring ring(2 * capacity);
  T message{};
  count([&] {
    keep(message);
    require(ring.try_push(message));
  });
}

template <class T, class Ring>
void count_pop(Counter& count) {
  Ring ring(2 * capacity);
  T message{};
  while (ring.try_push(message)) {
  }
  count([&] {
    require(ring.try_pop(message));
    keep(message);
  });
}

const Kernel ring_push("shm/ring_push_8B", count_push<std::uint64_t, shm::SpscRing<std::uint64_t>>);
const Kernel ring_pop("shm/ring_pop_8B", count_pop<std::uint64_t, shm::SpscRing<std::uint64_t>>);
const Kernel wide_push("shm/ring_push_64B", count_push<Message, shm::SpscRing<Message>>);
const Kernel wide_pop("shm/ring_pop_64B", count_pop<Message, shm::SpscRing<Message>>);
const Kernel slot_push("shm/slot_ring_push_56B", count_push<Small, shm::SlotRing<Small>>);
const Kernel slot_pop("shm/slot_ring_pop_56B", count_pop<Small, shm::SlotRing<Small>>);

const Kernel record("shm/byte_ring_write_and_peek_64B", [](Counter& count) {
  shm::ByteRing ring(64 * capacity);
  const Message message{};
  count([&] {
    keep(message);
    require(ring.producer().try_write(std::as_bytes(std::span(message))));
    const auto found = ring.consumer().peek();
    require(found.has_value());
    keep(*found);
    ring.consumer().release();
  });
});

const Kernel latest("shm/latest_write_and_update_64B", [](Counter& count) {
  shm::LatestValue<Message> value;
  const Message message{};
  count([&] {
    keep(message);
    value.write(message);
    require(value.update() == shm::Freshness::new_data);
    keep(value.value());
  });
});

const Kernel broadcast_write("shm/broadcast_write_64B", [](Counter& count) {
  shm::BroadcastValue<Message> value;
  shm::BroadcastValue<Message>::Writer writer(value);
  const Message message{};
  count([&] {
    keep(message);
    writer.write(message);
  });
});

const Kernel broadcast_read("shm/broadcast_read_64B", [](Counter& count) {
  shm::BroadcastValue<Message> value;
  shm::BroadcastValue<Message>::Reader reader(value);
  Message message{};
  value.write(message);
  count([&] {
    require(reader.read(message) != shm::Freshness::none);
    keep(message);
  });
});

}  // namespace
}  // namespace takt::bench
