// A peer writes anything into the memory of an exchange while both ends use it. Neither end may access memory
// outside or loop for ever. The honest reader may read wrong values. --count=N sets the number of seconds.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <ctime>

#include "shm/process/exchanges.hpp"
#include "shm/process/process.hpp"
#include "support/random.hpp"
#include "takt/shm/joint_client.hpp"
#include "takt/shm/joint_hub.hpp"
#include "takt/shm/layout.hpp"

using namespace takt;
using namespace takt::test;

namespace {

/// The progress of the honest process.
struct Progress {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::int64_t> longest{0};  // longest call in ns of processor time
  std::atomic<std::uint64_t> lies{0};
};

/// A plausible lie in place of `word`.
std::uint32_t lie(std::mt19937_64& random, std::uint32_t word, std::uint32_t other) {
  const auto small = static_cast<std::uint32_t>(random() % 17);
  constexpr std::array<std::uint32_t, 8> borders = {0,          1,          7,          8,
                                                    0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff};
  switch (random() % 9) {
    case 0:
      return word + 1;
    case 1:
      return word - 1;
    case 2:
      return word + small * 8;
    case 3:
      return word - small * 8;
    case 4:
      return word ^ 1u << random() % 32;
    case 5:
      return borders[random() % borders.size()];
    case 6:
      return other;
    case 7:
      return small;
    default:
      return static_cast<std::uint32_t>(random());
  }
}

/// Mostly damages the beginning, where the indexes are. It works in bursts, so the ends also work with the
/// damage.
[[noreturn]] void attack(std::byte* memory, std::size_t bytes, Progress& progress) {
  auto random = generator(bytes);
  const auto word = [&](std::size_t within) {
    return std::atomic_ref(reinterpret_cast<std::uint32_t*>(memory)[random() % (within / 4)]);
  };
  for (;; ++progress.lies) {
    const auto target = word(random() % 2 == 0 ? std::min<std::size_t>(bytes, 256) : bytes);
    target.store(
        lie(random, target.load(std::memory_order_relaxed), word(bytes).load(std::memory_order_relaxed)),
        std::memory_order_relaxed);
    for (std::uint64_t pause = random() % 4 == 0 ? random() % 4096 : 0; pause > 0; --pause) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
  }
}

std::int64_t processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

template <class Call>
void time(Progress& progress, Call&& call) {
  const std::int64_t start = processor_time();
  call();
  progress.longest = std::max(progress.longest.load(), processor_time() - start);
  ++progress.calls;
}

template <class Exchange>
void use_both_ends(typename Exchange::Memory& memory, Progress& progress) {
  std::uint64_t sum = 0;  // reads every byte
  if constexpr (requires { typename Exchange::Sender; }) {
    typename Exchange::Sender sender(memory, 0);
    typename Exchange::Receiver receiver(memory);
    for (std::uint64_t i = 0; i < 200; ++i) {
      std::array<typename Exchange::Message, Exchange::batch> messages;
      messages.fill(Exchange::Message::of(i));
      time(progress, [&] { (void)sender.send(messages); });
      time(progress,
           [&] { (void)receiver.receive([&](const auto& message) { sum += message.whole() ? 1u : 0u; }); });
    }
  } else {
    typename Exchange::Writer writer(memory, 0);
    typename Exchange::Reader reader(memory);
    auto value = Exchange::Value::of(0);
    for (std::uint64_t i = 0; i < 200; ++i) {
      time(progress, [&] { writer.write(Exchange::Value::of(i)); });
      time(progress, [&] { (void)reader.read(value); });
      sum += value.whole() ? 1u : 0u;
    }
  }
  if (sum > 10'000) std::abort();  // keeps the compiler from removing the sum
}

/// The joints of a robot, with a hub and one motion process.
struct Joints {
  using Memory = shm::JointImageMemory<2>;
};

/// The hub rejects every NaN and infinity, whatever the owner slots and the image contain.
template <>
void use_both_ends<Joints>(Joints::Memory& memory, Progress& progress) {
  const std::array<shm::JointSafety, 6> safety{};
  auto hub = shm::JointHub::make(memory.image, memory.owner_slots, safety).value();
  shm::JointClient client(shm::BroadcastValue<shm::JointImage>::Reader(memory.image),
                          {&memory.owner_slots[1], 1}, 7);
  client.want(JointSet::first(3));
  const std::array<shm::JointMeasurement, 6> measured{};
  for (std::int64_t i = 0; i < 200; ++i) {
    time(progress, [&] {
      for (const shm::JointReference& reference : hub.take()) {
        if (!shm::check(reference)) std::abort();
      }
    });
    time(progress, [&] { hub.publish(time_from_nanoseconds(i), measured); });
    time(progress, [&] {
      (void)client.update();
      client.owned().for_each([&](std::size_t joint) { (void)client.set(joint, client.reference(joint)); });
      client.publish(time_from_nanoseconds(i));
    });
  }
}

/// A whole segment, read again and again, and written again after a rejection.
struct WholeSegment {
  struct alignas(shm::interference_size) Memory {
    std::array<std::byte, 8192> bytes;
  };
};

/// Every exchange of a damaged directory lies within the memory.
template <>
void use_both_ends<WholeSegment>(WholeSegment::Memory& memory, Progress& progress) {
  using Packet = Message<64>;
  constexpr std::array wanted = {shm::declare<shm::SpscRing<Packet>>("packets", 16),
                                 shm::declare<shm::BroadcastValue<Packet>>("newest"),
                                 shm::declare<shm::RawMemory>("own", 1024, 3)};
  static_assert(shm::Layout::bytes(wanted).value() <= sizeof(memory.bytes));
  for (std::uint64_t i = 0; i < 200; ++i) {
    time(progress, [&] {
      auto layout = shm::Layout::read(memory.bytes);
      if (!layout) layout = shm::Layout::write(memory.bytes, wanted, i);
      if (!layout) return;
      std::array<char, shm::max_schema> text{};
      for (const shm::Exchange& one : layout->exchanges()) {
        (void)layout->schema(one, text);
        for (const std::byte& byte : layout->memory_of(one)) (void)std::atomic_ref(byte).load();
      }
      for (std::uint32_t owner_slot = 0; owner_slot < layout->owner_slots(); ++owner_slot)
        (void)layout->owner_slot(owner_slot).pid.load();
      if (auto end = layout->producer<shm::SpscRing<Packet>>("packets")) (void)end->try_push(Packet::of(i));
      Packet packet;
      if (auto end = layout->consumer<shm::SpscRing<Packet>>("packets")) (void)end->try_pop(packet);
      if (const auto end = layout->producer<shm::BroadcastValue<Packet>>("newest")) (*end)->write(packet);
      if (auto end = layout->consumer<shm::BroadcastValue<Packet>>("newest")) (void)end->read(packet);
    });
  }
}

template <class Exchange>
void test_malice() {
  const Shared<typename Exchange::Memory> memory;
  const Shared<Progress> progress;
  const auto duration = std::chrono::milliseconds(count(2'000, 1) == 2'000 ? 300 : count(0, 1) * 1000 / 6);
  Child honest([&]() -> int {
    for (;;) use_both_ends<Exchange>(*memory, *progress);
  });
  Child liar([&]() -> int { attack(reinterpret_cast<std::byte*>(&*memory), sizeof(*memory), *progress); });
  const auto end = std::chrono::steady_clock::now() + duration;
  do {
    const std::uint64_t before = progress->calls;
    REQUIRE(eventually([&] { return progress->calls > before + 1000; }));
  } while (std::chrono::steady_clock::now() < end);
  CHECK(honest.kill() == killed);
  CHECK(liar.kill() == killed);
  CHECK(progress->longest < 1'000'000'000);
  MESSAGE(progress->calls.load() << " calls, the longest " << progress->longest.load()
                                 << " ns of processor time, against " << progress->lies.load() << " lies");
}

}  // namespace

TEST_CASE("an access outside of the memory is seen here") {
  const Shared<std::array<std::byte, 256>> memory;
  for (const std::ptrdiff_t outside : {std::ptrdiff_t{-4096}, std::ptrdiff_t{256}}) {
    Child child([&] {
      (void)std::freopen("/dev/null", "w", stderr);  // discards the sanitizer's report
      const volatile std::byte* const place = memory->data();
      return static_cast<int>(place[outside]) * 0;
    });
    CHECK(child.wait() != 0);
  }
}

TEST_CASE("a peer that lies: ring") { test_malice<test::Ring<Message<64>, 64>>(); }
TEST_CASE("a peer that lies: ring, in batches") { test_malice<test::RingInBatches<Message<24>, 64>>(); }
TEST_CASE("a peer that lies: slot ring") { test_malice<test::SlotRing<Message<56>, 64>>(); }
TEST_CASE("a peer that lies: joints of a robot") { test_malice<Joints>(); }
TEST_CASE("a peer that lies: a whole segment") { test_malice<WholeSegment>(); }
TEST_CASE("a peer that lies: byte ring") { test_malice<test::ByteRing<Message<64>, 4096>>(); }
TEST_CASE("a peer that lies: latest value") { test_malice<test::LatestValue<Message<256>>>(); }
TEST_CASE("a peer that lies: broadcast ring") { test_malice<test::BroadcastRing<Message<56>, 64>>(); }
TEST_CASE("a peer that lies: broadcast value") { test_malice<test::BroadcastValue<Message<256>>>(); }
