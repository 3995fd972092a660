// Many messages between two processes: each arrives whole, once and in order. --count=N sets the number;
// larger messages get fewer. On a busy machine one time slice fills a ring and another empties it, so the
// capacity determines the speed. Most rings here have room for the messages of a slice.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "shm/process/exchanges.hpp"
#include "shm/process/process.hpp"
#include "support/random.hpp"

using namespace takt;
using namespace takt::test;

namespace {

/// Eight bytes that depend on their place in the stream.
struct Number {
  std::uint64_t value = 0;
  static Number of(std::uint64_t number) { return {mix(number)}; }
  [[nodiscard]] bool is(std::uint64_t number) const { return value == mix(number); }
  [[nodiscard]] std::uint64_t checksum() const { return value; }
};

template <std::size_t bytes>
struct Numbered : Message<bytes> {
  static Numbered of(std::uint64_t number) { return {Message<bytes>::of(number)}; }
  [[nodiscard]] bool is(std::uint64_t number) const { return this->sequence == number && this->whole(); }
  [[nodiscard]] std::uint64_t checksum() const { return this->rest.back(); }
};

template <class Exchange>
int send(typename Exchange::Memory& memory, std::uint64_t messages) {
  typename Exchange::Sender sender(memory, 0);
  Patience patience;
  std::array<typename Exchange::Message, Exchange::batch> batch;
  for (std::uint64_t next = 0; next < messages; next += batch.size()) {
    for (std::size_t i = 0; i < batch.size(); ++i) batch[i] = Exchange::Message::of(next + i);
    std::span<const typename Exchange::Message> rest(batch.data(), std::min(batch.size(), messages - next));
    while (!rest.empty()) {
      const std::size_t sent = sender.send(rest);
      if (sent == 0) patience.lost();
      rest = rest.subspan(sent);
    }
  }
  return 0;
}

template <class Exchange>
void check_stream(std::uint64_t messages) {
  const Shared<typename Exchange::Memory> memory;
  const auto start = std::chrono::steady_clock::now();
  Child child([&] { return send<Exchange>(*memory, messages); });
  typename Exchange::Receiver receiver(*memory);
  Patience patience;
  std::uint64_t received = 0;
  std::uint64_t wrong = 0;
  std::uint64_t sum = 0;
  const auto use = [&](const typename Exchange::Message& message) {
    wrong += message.is(received++) ? 0u : 1u;
    sum += message.checksum();
  };
  while (received < messages) {
    if (receiver.receive(use) == 0) patience.lost();
  }
  CHECK(wrong == 0);
  CHECK(child.wait() == 0);
  CHECK(receiver.receive(use) == 0);
  std::uint64_t expected = 0;
  for (std::uint64_t i = 0; i < messages; ++i) expected += Exchange::Message::of(i).checksum();
  CHECK(sum == expected);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  MESSAGE(messages << " messages of " << sizeof(typename Exchange::Message) << " bytes, sum of checks " << sum
                   << ", in " << time.count() << " s");
}

std::uint64_t messages(std::size_t worth) { return count(5'000'000 / worth, worth); }

}  // namespace

TEST_CASE("messages between two processes: ring, singly") {
  check_stream<test::Ring<Number, 65536>>(messages(1));
}
TEST_CASE("messages between two processes: ring, in batches") {
  check_stream<test::RingInBatches<Number, 65536>>(messages(1));
}
TEST_CASE("messages between two processes: ring, 64 bytes") {
  check_stream<test::Ring<Numbered<64>, 1024>>(messages(40));
}
TEST_CASE("messages between two processes: ring, 1024 bytes") {
  check_stream<test::Ring<Numbered<1024>, 4096>>(messages(400));
}
TEST_CASE("messages between two processes: slot ring") {
  check_stream<test::SlotRing<Numbered<56>, 256>>(messages(40));
}
TEST_CASE("messages between two processes: byte ring") {
  check_stream<test::ByteRing<Numbered<24>, 8192>>(messages(40));
}
