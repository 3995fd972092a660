// The kinds of exchange in shared memory. ExchangeTraits tells layout.hpp how many bytes an exchange takes,
// and how its two ends are created over existing memory. To add a kind, give it a number in Kind and
// specialise ExchangeTraits for its class.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>

#include "takt/shm/broadcast_ring.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/byte_ring.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/memory.hpp"
#include "takt/shm/schema.hpp"
#include "takt/shm/slot_ring.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::shm {

/// The kind of an exchange. The numbers are part of the memory layout.
enum class Kind : std::uint32_t {
  raw = 1,
  ring = 2,
  slot_ring = 3,
  byte_ring = 4,
  latest = 5,
  broadcast = 6,
  broadcast_ring = 7,
  joint_image = 8,
};
inline constexpr std::uint32_t last_kind = 8;

/// The kind's name, such as "ring"; "unknown" for an unknown number.
[[nodiscard]] constexpr std::string_view kind_name(Kind kind) noexcept {
  switch (kind) {
    case Kind::raw:
      return "raw";
    case Kind::ring:
      return "ring";
    case Kind::slot_ring:
      return "slot_ring";
    case Kind::byte_ring:
      return "byte_ring";
    case Kind::latest:
      return "latest";
    case Kind::broadcast:
      return "broadcast";
    case Kind::broadcast_ring:
      return "broadcast_ring";
    case Kind::joint_image:
      return "joint_image";
  }
  return "unknown";
}

/// The size of an exchange, and its number of owner slots. An owner slot is a place for one process at one
/// end of an exchange.
struct Extent {
  std::uint32_t capacity = 1;   ///< elements: messages of a ring, bytes of a byte ring, 1 for a value
  std::uint32_t producers = 1;  ///< owner slots for writers
  std::uint32_t consumers = 0;  ///< owner slots for readers; 0: any number may read, without an owner slot

  friend constexpr bool operator==(const Extent&, const Extent&) = default;
};
inline constexpr std::uint32_t max_producers = 64;  ///< per exchange
inline constexpr std::uint32_t max_consumers = 64;

/// Memory that a program uses in its own way: `capacity` bytes, aligned to `interference_size`.
struct RawMemory {};

/// What layout.hpp must know about an exchange X, as static members:
///
///   Element                                        type of the elements; its schema is compared
///   Producer, Consumer                             types of the two ends
///   Kind kind                                      constant
///   bool consumer_writes                           constant: whether reading needs writable memory
///   Extent extent(Extent wanted)                   the nearest possible extent; idempotent
///   std::uint64_t bytes(extent)                    size for a possible extent
///   Producer producer(memory, extent, owner_slot)  std::byte*, const Extent&, std::uint32_t
///   Consumer consumer(memory, extent, owner_slot)  the same
///
/// `memory` is aligned to `interference_size` and was zeroed before its first use. `owner_slot` is the owner
/// slot. Both ends can be created over an exchange in use, by the successor of a process that died.
template <class X>
struct ExchangeTraits;

namespace detail {

/// The object at `memory`. It began as zeros, perhaps in another program. It consists of atomic words and
/// numbers, which have the same layout in every program.
template <class T>
[[nodiscard]] T& object_at(std::byte* memory) noexcept {
  return *std::launder(reinterpret_cast<T*>(memory));
}

/// The extent of a ring: one producer, one consumer, and a power of two of at least `least` elements.
[[nodiscard]] constexpr Extent ring_extent(Extent wanted, std::uint32_t least) noexcept {
  return {ring_capacity(wanted.capacity < least ? least : wanted.capacity), 1, 1};
}

/// Traits of rings with a pair of indexes and at least `least` elements.
template <class T, class ProducerEnd, class ConsumerEnd, std::uint32_t least>
struct IndexedRingTraits {
  using Element = T;
  using Producer = ProducerEnd;
  using Consumer = ConsumerEnd;
  static constexpr bool consumer_writes = true;

  [[nodiscard]] static constexpr Extent extent(Extent wanted) noexcept { return ring_extent(wanted, least); }
  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent& extent) noexcept {
    return sizeof(RingIndexes) + std::uint64_t{extent.capacity} * sizeof(T);
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent& extent, std::uint32_t) noexcept {
    return {object_at<RingIndexes>(memory), memory + sizeof(RingIndexes), extent.capacity};
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent& extent, std::uint32_t) noexcept {
    return {object_at<RingIndexes>(memory), memory + sizeof(RingIndexes), extent.capacity};
  }
};

}  // namespace detail

template <>
struct ExchangeTraits<RawMemory> {
  using Element = std::uint8_t;
  using Producer = std::span<std::byte>;
  using Consumer = std::span<const std::byte>;
  static constexpr Kind kind = Kind::raw;
  static constexpr bool consumer_writes = false;

  [[nodiscard]] static constexpr Extent extent(Extent wanted) noexcept { return wanted; }
  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent& extent) noexcept {
    return extent.capacity;
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent& extent, std::uint32_t) noexcept {
    return {memory, extent.capacity};
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent& extent, std::uint32_t) noexcept {
    return {memory, extent.capacity};
  }
};

template <class T>
struct ExchangeTraits<SpscRing<T>> : detail::IndexedRingTraits<T, RingProducer<T>, RingConsumer<T>, 2> {
  static constexpr Kind kind = Kind::ring;
};

template <class T>
struct ExchangeTraits<SlotRing<T>> {
  using Element = T;
  using Producer = SlotProducer<T>;
  using Consumer = SlotConsumer<T>;
  using Word = std::atomic<std::uint32_t>;
  static constexpr Kind kind = Kind::slot_ring;
  static constexpr bool consumer_writes = true;

  [[nodiscard]] static constexpr Extent extent(Extent wanted) noexcept {
    return detail::ring_extent(wanted, 2);
  }
  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent& extent) noexcept {
    return interference_size + std::uint64_t{extent.capacity} * sizeof(Slot<T>);
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent& extent, std::uint32_t) noexcept {
    return {detail::object_at<Word>(memory), &detail::object_at<Slot<T>>(memory + interference_size),
            extent.capacity};
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent& extent, std::uint32_t) noexcept {
    return {detail::object_at<Word>(memory), &detail::object_at<Slot<T>>(memory + interference_size),
            extent.capacity};
  }
};

template <>
struct ExchangeTraits<ByteRing>
    : detail::IndexedRingTraits<std::uint8_t, ByteProducer, ByteConsumer, cache_line> {
  static constexpr Kind kind = Kind::byte_ring;
};

template <class T>
struct ExchangeTraits<LatestValue<T>> {
  using Element = T;
  using Producer = LatestWriter<T>;
  using Consumer = LatestReader<T>;
  static constexpr Kind kind = Kind::latest;
  static constexpr bool consumer_writes = true;

  [[nodiscard]] static constexpr Extent extent(Extent) noexcept { return {1, 1, 1}; }
  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent&) noexcept {
    return sizeof(LatestMemory<T>);
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent&, std::uint32_t) noexcept {
    return Producer(detail::object_at<LatestMemory<T>>(memory));
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent&, std::uint32_t) noexcept {
    return Consumer(detail::object_at<LatestMemory<T>>(memory));
  }
};

template <class T>
struct ExchangeTraits<BroadcastValue<T>> {
  using Element = T;
  /// For frequent writes create a Writer; for rare ones call producer->write(value).
  using Producer = BroadcastValue<T>*;
  using Consumer = typename BroadcastValue<T>::Reader;
  static constexpr Kind kind = Kind::broadcast;
  static constexpr bool consumer_writes = false;

  [[nodiscard]] static constexpr Extent extent(Extent) noexcept { return {1, 1, 0}; }
  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent&) noexcept {
    return sizeof(BroadcastValue<T>);
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent&, std::uint32_t) noexcept {
    return &detail::object_at<BroadcastValue<T>>(memory);
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent&, std::uint32_t) noexcept {
    return Consumer(detail::object_at<BroadcastValue<T>>(memory));
  }
};

template <class T>
struct ExchangeTraits<BroadcastRing<T>> {
  using Element = T;
  using Producer = BroadcastWriter<T>;
  using Consumer = BroadcastReader<T>;  ///< begins at the oldest message
  static constexpr Kind kind = Kind::broadcast_ring;
  static constexpr bool consumer_writes = false;

  [[nodiscard]] static constexpr Extent extent(Extent wanted) noexcept {
    return {broadcast_capacity(wanted.capacity), 1, 0};
  }
  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent& extent) noexcept {
    return sizeof(BroadcastCount) + std::uint64_t{extent.capacity} * sizeof(BroadcastSlot<T>);
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent& extent, std::uint32_t) noexcept {
    return {detail::object_at<BroadcastCount>(memory),
            &detail::object_at<BroadcastSlot<T>>(memory + sizeof(BroadcastCount)), extent.capacity};
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent& extent, std::uint32_t) noexcept {
    return {detail::object_at<BroadcastCount>(memory),
            &detail::object_at<BroadcastSlot<T>>(memory + sizeof(BroadcastCount)), extent.capacity,
            BroadcastStart::oldest};
  }
};

}  // namespace takt::shm
