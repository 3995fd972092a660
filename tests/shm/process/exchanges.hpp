// The exchanges of the room with uniform names for these tests: the memory and the two ends.
//
//     a queue:  Sender(memory, lane).send(messages)  sends what fits of `batch` messages; returns the number
//               Receiver(memory).receive(use)        calls use(message) for each message; returns the number
//               in_hands                             messages that a receiver may have taken before use()
//     a value:  Writer(memory, owner slot).write(value);  Reader(memory).read(value) as in the room
//
// If an exchange allows several receivers or readers, they only read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "takt/shm/broadcast_ring.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/byte_ring.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/schema.hpp"
#include "takt/shm/slot_ring.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::test {

/// Spreads a number over 64 bits.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 31) * 0x9e3779b97f4a7c15u;
  return value ^ value >> 29;
}

/// A message that detects any missing, old or foreign word.
template <std::size_t bytes>
struct Message {
  static_assert(bytes % 8 == 0 && bytes >= 24);
  std::uint64_t sequence = 0;
  std::uint64_t ordinal = 0;
  std::array<std::uint64_t, bytes / 8 - 2> rest{};

  TAKT_FIELDS(Message, sequence, ordinal, rest)

  static Message of(std::uint64_t sequence, std::uint64_t ordinal = 0) {
    Message message{sequence, ordinal, {}};
    for (std::size_t i = 0; i < message.rest.size(); ++i) message.rest[i] = message.expected(i);
    return message;
  }
  [[nodiscard]] bool whole() const {
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (rest[i] != expected(i)) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t expected(std::size_t i) const { return mix(sequence + mix(ordinal) + i); }
};

/// The defaults: one message at a time, one sender, one receiver.
struct OneByOne {
  static constexpr std::size_t batch = 1;
  static constexpr std::size_t in_hands = 1;
  static constexpr std::size_t senders = 1;
  static constexpr std::size_t receivers = 1;
};

/// A Sender for ends with try_push().
template <class T, class End>
struct Pushing {
  explicit Pushing(const End& its_end) : end(its_end) {}
  std::size_t send(std::span<const T> messages) { return end.try_push(messages[0]) ? 1 : 0; }
  End end;
};

/// A Receiver for ends with try_pop().
template <class T, class End>
struct Popping {
  explicit Popping(const End& its_end) : end(its_end) {}
  template <class Use>
  std::size_t receive(Use&& use) {
    T message;
    if (!end.try_pop(message)) return 0;
    use(message);
    return 1;
  }
  End end;
};

template <class T, std::uint32_t capacity>
struct RingMemory {
  shm::RingIndexes indexes;
  alignas(shm::cache_line) std::array<std::byte, capacity * sizeof(T)> slots{};
};

/// A ring, one message per call.
template <class T, std::uint32_t slots>
struct Ring : OneByOne {
  using Message = T;
  using Memory = RingMemory<T, slots>;
  static constexpr std::uint32_t capacity = slots;

  struct Sender : Pushing<T, shm::RingProducer<T>> {
    explicit Sender(Memory& memory, std::size_t = 0)
        : Sender::Pushing({memory.indexes, memory.slots.data(), capacity}) {}
  };
  struct Receiver : Popping<T, shm::RingConsumer<T>> {
    explicit Receiver(Memory& memory) : Receiver::Popping({memory.indexes, memory.slots.data(), capacity}) {}
  };
};

/// A ring, several messages per call.
template <class T, std::uint32_t slots>
struct RingInBatches : Ring<T, slots> {
  using Memory = RingMemory<T, slots>;
  using Ring<T, slots>::capacity;
  static constexpr std::size_t batch = 8;
  static constexpr std::size_t in_hands = batch;

  struct Sender : Ring<T, slots>::Sender {
    using Ring<T, slots>::Sender::Sender;
    std::size_t send(std::span<const T> messages) { return this->end.push(messages); }
  };
  struct Receiver : Ring<T, slots>::Receiver {
    using Ring<T, slots>::Receiver::Receiver;
    template <class Use>
    std::size_t receive(Use&& use) {
      std::array<T, batch> messages;
      const std::size_t count = this->end.pop(messages);
      for (std::size_t i = 0; i < count; ++i) use(messages[i]);
      return count;
    }
  };
};

template <class T, std::uint32_t slots>
struct SlotRing : OneByOne {
  using Message = T;
  struct Memory {
    alignas(shm::interference_size) std::atomic<std::uint32_t> released{0};
    alignas(shm::interference_size) std::array<shm::Slot<T>, slots> line{};
  };
  static constexpr std::uint32_t capacity = slots;

  struct Sender : Pushing<T, shm::SlotProducer<T>> {
    explicit Sender(Memory& memory, std::size_t = 0)
        : Sender::Pushing({memory.released, memory.line.data(), capacity}) {}
  };
  struct Receiver : Popping<T, shm::SlotConsumer<T>> {
    explicit Receiver(Memory& memory) : Receiver::Popping({memory.released, memory.line.data(), capacity}) {}
  };
};

/// Records, each with the number of further bytes that its message determines.
template <class T, std::uint32_t ring_bytes>
struct ByteRing : OneByOne {
  using Message = T;
  struct Memory {
    shm::RingIndexes indexes;
    alignas(shm::cache_line) std::array<std::byte, ring_bytes> bytes{};
  };
  static constexpr std::uint32_t capacity = ring_bytes;
  static constexpr std::size_t in_hands = 0;
  static std::size_t length_of(const T& message) { return sizeof(T) + mix(message.sequence) % 41; }

  struct Sender {
    explicit Sender(Memory& memory, std::size_t = 0) : end(memory.indexes, memory.bytes.data(), capacity) {}
    std::size_t send(std::span<const T> messages) {
      const auto piece = end.try_reserve(length_of(messages[0]));
      if (!piece) return 0;
      std::memcpy(piece->data(), &messages[0], sizeof(T));
      end.commit(piece->size());
      return 1;
    }
    shm::ByteProducer end;
  };
  struct Receiver {
    explicit Receiver(Memory& memory) : end(memory.indexes, memory.bytes.data(), capacity) {}
    template <class Use>
    std::size_t receive(Use&& use) {
      const auto record = end.peek();
      if (!record) return 0;
      T message = T::of(0);
      if (record->size() >= sizeof(T)) std::memcpy(&message, record->data(), sizeof(T));
      if (record->size() != length_of(message)) message.rest[0] ^= 1;  // marks it as damaged
      use(message);
      end.release();
      return 1;
    }
    shm::ByteConsumer end;
  };
};

/// A stream to several receivers, which only read.
template <class T, std::uint32_t slots>
struct BroadcastRing : OneByOne {
  using Message = T;
  struct Memory {
    shm::BroadcastCount count;
    alignas(shm::interference_size) std::array<shm::BroadcastSlot<T>, slots> line{};
  };
  static constexpr std::uint32_t capacity = slots;
  static constexpr std::size_t in_hands = 0;
  static constexpr std::size_t receivers = 2;

  struct Sender {
    explicit Sender(Memory& memory, std::size_t = 0) : end(memory.count, memory.line.data(), capacity) {}
    std::size_t send(std::span<const T> messages) {
      end.write(messages[0]);
      return 1;
    }
    shm::BroadcastWriter<T> end;
  };
  struct Receiver {
    explicit Receiver(const Memory& memory)
        : end(memory.count, memory.line.data(), capacity, shm::BroadcastStart::oldest) {}
    template <class Use>
    std::size_t receive(Use&& use) {
      T message;
      if (!end.try_read(message)) return 0;
      use(message);
      return 1;
    }
    [[nodiscard]] std::uint64_t missed() const { return end.missed(); }
    shm::BroadcastReader<T> end;
  };
};

template <class T>
struct LatestValue {
  using Value = T;
  using Memory = shm::LatestMemory<T>;
  struct Writer : shm::LatestWriter<T> {
    Writer(Memory& memory, std::size_t) : shm::LatestWriter<T>(memory) {}
  };
  using Reader = shm::LatestReader<T>;
  static constexpr std::size_t writers = 1;
  static constexpr std::size_t readers = 1;
};

template <class T>
struct BroadcastValue {
  using Value = T;
  using Memory = shm::BroadcastValue<T>;
  struct Writer : Memory::Writer {
    Writer(Memory& memory, std::size_t) : Memory::Writer(memory) {}
  };
  using Reader = typename Memory::Reader;
  static constexpr std::size_t writers = 1;
  static constexpr std::size_t readers = 2;
};

}  // namespace takt::test
