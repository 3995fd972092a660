// Exchanges of elements whose type a program knows only at run time, from a schema. The C API, scripts and
// tools use them. In memory, an exchange of Opaque is identical to the exchange of the described type. So one
// program can use the type, and the other the schema. Both run the same algorithms and differ only in how
// they copy an element.
//
//     const Result<Opaque> reference = Opaque::of("position f64[6], stamp i64");
//     const std::array wanted = {declare<SpscRing<Opaque>>("references", *reference, 256)};
//     auto references = segment.producer<SpscRing<Opaque>>("references", *reference);  // segment.hpp
//     (void)references->end.try_push(bytes);                                          // reference->bytes
//
// An element is passed as a pointer to its bytes, with any alignment. The constructors of broadcast readers
// allocate room for one element, because a reader copies an element before it knows that the copy is whole.
// Everything else is as in the typed exchanges.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "takt/shm/exchange.hpp"

namespace takt::shm {

namespace detail {

/// Replaces TypedElement.
class OpaqueElement {
 public:
  explicit OpaqueElement(const Opaque& element) noexcept : bytes_(element.bytes) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  template <class Machine>
  void copy(void* to, const void* from, std::size_t count) const noexcept {
    Machine::copy(to, from, count * bytes_);
  }
  template <class Machine>
  void copy_one(void* to, const void* from) const noexcept {
    Machine::copy(to, from, bytes_);
  }

 private:
  std::size_t bytes_;
};

/// Replaces AtomicWords.
class OpaqueWords {
 public:
  OpaqueWords(std::atomic<std::uintptr_t>* words, std::size_t bytes, std::uintptr_t* copy) noexcept
      : words_(words), bytes_(bytes), copy_(copy) {}

  class Copy {
   public:
    Copy(const std::uintptr_t* words, std::size_t bytes) noexcept : words_(words), bytes_(bytes) {}
    void to(std::byte* value) const noexcept { take_words(words_, value, bytes_); }

   private:
    const std::uintptr_t* words_;
    std::size_t bytes_;
  };

  void store(const std::byte* value) const noexcept { store_words(words_, value, bytes_); }
  /// Valid until the next load().
  [[nodiscard]] Copy load() const noexcept {
    load_words(words_, copy_, bytes_);
    return {copy_, bytes_};
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::atomic<std::uintptr_t>* words_;
  std::size_t bytes_;
  std::uintptr_t* copy_;  // room for loaded words
};

/// Replaces BroadcastSlot.
struct OpaqueSlot {
  std::atomic<std::uint32_t>& state;
  OpaqueWords words;
};
[[nodiscard]] inline std::span<const std::byte> bytes_in(const OpaqueSlot& slot) noexcept {
  return {reinterpret_cast<const std::byte*>(&slot.state), sizeof(std::uintptr_t) + slot.words.bytes()};
}

/// Replaces an array of BroadcastSlot.
class OpaqueSlots {
 public:
  OpaqueSlots(std::byte* first, const Opaque& element) noexcept
      : first_(first), bytes_(element.bytes), stride_(stride(element)) {}

  /// The slots for a reader, with room for loaded words. Allocates.
  [[nodiscard]] static OpaqueSlots to_read(std::byte* first, const Opaque& element) {
    OpaqueSlots slots(first, element);
    slots.copy_ = std::make_unique<std::uintptr_t[]>(words_for(element.bytes));
    return slots;
  }

  /// Bytes from one slot to the next.
  [[nodiscard]] static constexpr std::size_t stride(const Opaque& element) noexcept {
    return lines_for((1 + words_for(element.bytes)) * sizeof(std::uintptr_t)) * cache_line;
  }

  [[nodiscard]] OpaqueSlot operator[](std::size_t i) const noexcept {
    std::byte* slot = first_ + i * stride_;
    auto& words = object_at<std::atomic<std::uintptr_t>>(slot + sizeof(std::uintptr_t));
    return {object_at<std::atomic<std::uint32_t>>(slot), {&words, bytes_, copy_.get()}};
  }

 private:
  std::byte* first_;
  std::size_t bytes_;
  std::size_t stride_;
  std::unique_ptr<std::uintptr_t[]> copy_;
};

/// Replaces LatestMemory, and a pointer to it.
class OpaqueLatest {
 public:
  OpaqueLatest(std::byte* memory, const Opaque& element) noexcept
      : state(object_at<std::atomic<std::uint32_t>>(memory)),
        slots{memory + begin(element), element.bytes, stride(element)} {}

  [[nodiscard]] static constexpr std::size_t begin(const Opaque& element) noexcept {
    return element.alignment < cache_line ? cache_line : element.alignment;
  }
  [[nodiscard]] static constexpr std::size_t stride(const Opaque& element) noexcept {
    return (element.bytes + begin(element) - 1) / begin(element) * begin(element);
  }

  [[nodiscard]] const OpaqueLatest* operator->() const noexcept { return this; }

  struct Slot {
    std::span<std::byte> value;
  };
  struct Slots {
    std::byte* first;
    std::size_t bytes;
    std::size_t stride;
    [[nodiscard]] Slot operator[](std::size_t i) const noexcept { return {{first + i * stride, bytes}}; }
  };
  std::atomic<std::uint32_t>& state;
  Slots slots;
};
[[nodiscard]] inline std::span<const std::byte> bytes_in(const OpaqueLatest::Slot& slot) noexcept {
  return slot.value;
}

}  // namespace detail

/// Like RingProducer<T>.
template <>
class RingProducer<Opaque> : private detail::RingWriteEnd<detail::OpaqueElement, Processor> {
  using End = detail::RingWriteEnd<detail::OpaqueElement, Processor>;

 public:
  RingProducer(RingIndexes& indexes, std::byte* slots, std::uint32_t capacity, const Opaque& element) noexcept
      : End(indexes, slots, capacity, detail::OpaqueElement(element)) {}

  [[nodiscard]] bool try_push(const std::byte* message) noexcept { return End::push_one(message); }
  /// `messages` points to `count` consecutive messages. Returns how many were pushed.
  [[nodiscard]] std::size_t push(const std::byte* messages, std::size_t count) noexcept {
    return End::push_many(messages, count);
  }
};

/// Like RingConsumer<T>.
template <>
class RingConsumer<Opaque> : private detail::RingReadEnd<detail::OpaqueElement, Processor> {
  using End = detail::RingReadEnd<detail::OpaqueElement, Processor>;

 public:
  RingConsumer(RingIndexes& indexes, const std::byte* slots, std::uint32_t capacity,
               const Opaque& element) noexcept
      : End(indexes, slots, capacity, detail::OpaqueElement(element)) {}

  [[nodiscard]] bool try_pop(std::byte* message) noexcept { return End::pop_one(message); }
  /// `messages` has room for `count` messages. Returns how many were popped.
  [[nodiscard]] std::size_t pop(std::byte* messages, std::size_t count) noexcept {
    return End::pop_many(messages, count);
  }

  using End::position;
  using End::set_position;
};

/// Like LatestWriter<T>.
template <>
class LatestWriter<Opaque> : private detail::LatestWriteEnd<detail::OpaqueLatest, Processor> {
  using End = detail::LatestWriteEnd<detail::OpaqueLatest, Processor>;

 public:
  LatestWriter(std::byte* memory, const Opaque& element) noexcept
      : End(detail::OpaqueLatest(memory, element)) {}

  void write(const std::byte* value) noexcept {
    const std::span<std::byte> slot = End::slot().value;
    Processor::copy(slot.data(), value, slot.size());
    End::publish();
  }
};

/// Like LatestReader<T>.
template <>
class LatestReader<Opaque> : private detail::LatestReadEnd<detail::OpaqueLatest, Processor> {
  using End = detail::LatestReadEnd<detail::OpaqueLatest, Processor>;

 public:
  LatestReader(std::byte* memory, const Opaque& element) noexcept
      : End(detail::OpaqueLatest(memory, element)) {}

  [[nodiscard]] Freshness read(std::byte* value) noexcept {
    const Freshness freshness = End::update();
    const std::span<std::byte> slot = End::slot().value;
    if (freshness != Freshness::none) Processor::copy(value, slot.data(), slot.size());
    return freshness;
  }
};

/// The ends of BroadcastValue<T>.
template <>
class BroadcastValue<Opaque> {
 public:
  class Writer : private detail::BroadcastValueWriteEnd<detail::OpaqueSlots, Processor> {
    using End = detail::BroadcastValueWriteEnd<detail::OpaqueSlots, Processor>;

   public:
    Writer(std::byte* memory, const Opaque& element) noexcept : End(detail::OpaqueSlots(memory, element)) {}

    void write(const std::byte* value) noexcept { End::write(value); }
  };

  class Reader : private detail::BroadcastValueReadEnd<detail::OpaqueSlots, broadcast_attempts> {
    using End = detail::BroadcastValueReadEnd<detail::OpaqueSlots, broadcast_attempts>;

   public:
    Reader(std::byte* memory, const Opaque& element) : End(detail::OpaqueSlots::to_read(memory, element)) {}

    [[nodiscard]] Freshness read(std::byte* out) noexcept { return End::read(out, true); }
  };
};

/// Like BroadcastWriter<T>.
template <>
class BroadcastWriter<Opaque> : private detail::BroadcastWriteEnd<detail::OpaqueSlots, Processor> {
  using End = detail::BroadcastWriteEnd<detail::OpaqueSlots, Processor>;

 public:
  BroadcastWriter(BroadcastCount& count, std::byte* slots, std::uint32_t capacity,
                  const Opaque& element) noexcept
      : End(count, detail::OpaqueSlots(slots, element), capacity) {}

  void write(const std::byte* message) noexcept { End::write(message); }
};

/// Like BroadcastReader<T>.
template <>
class BroadcastReader<Opaque> : private detail::BroadcastReadEnd<detail::OpaqueSlots, Processor> {
  using End = detail::BroadcastReadEnd<detail::OpaqueSlots, Processor>;

 public:
  BroadcastReader(const BroadcastCount& count, std::byte* slots, std::uint32_t capacity, BroadcastStart start,
                  const Opaque& element)
      : End(count, detail::OpaqueSlots::to_read(slots, element), capacity, start) {}

  [[nodiscard]] bool try_read(std::byte* message) noexcept { return End::try_read(message); }

  using End::missed;
  using End::position;
  using End::set_position;
};

// The traits of layout.hpp. They take the element in addition.

template <>
struct ExchangeTraits<SpscRing<Opaque>> : ExchangeTraits<SpscRing<std::uint8_t>> {
  using Element = Opaque;
  using Producer = RingProducer<Opaque>;
  using Consumer = RingConsumer<Opaque>;

  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent& extent, const Opaque& element) noexcept {
    return sizeof(RingIndexes) + std::uint64_t{extent.capacity} * element.bytes;
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent& extent,
                                         const Opaque& element) noexcept {
    return {detail::object_at<RingIndexes>(memory), memory + sizeof(RingIndexes), extent.capacity, element};
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent& extent,
                                         const Opaque& element) noexcept {
    return {detail::object_at<RingIndexes>(memory), memory + sizeof(RingIndexes), extent.capacity, element};
  }
};

template <>
struct ExchangeTraits<LatestValue<Opaque>> : ExchangeTraits<LatestValue<std::uint8_t>> {
  using Element = Opaque;
  using Producer = LatestWriter<Opaque>;
  using Consumer = LatestReader<Opaque>;

  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent&, const Opaque& element) noexcept {
    return detail::OpaqueLatest::begin(element) + 3 * detail::OpaqueLatest::stride(element);
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent&, const Opaque& element) noexcept {
    return {memory, element};
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent&, const Opaque& element) noexcept {
    return {memory, element};
  }
};

template <>
struct ExchangeTraits<BroadcastValue<Opaque>> : ExchangeTraits<BroadcastValue<std::uint8_t>> {
  using Element = Opaque;
  using Producer = BroadcastValue<Opaque>::Writer;
  using Consumer = BroadcastValue<Opaque>::Reader;

  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent&, const Opaque& element) noexcept {
    return 2 * detail::OpaqueSlots::stride(element);
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent&, const Opaque& element) noexcept {
    return {memory, element};
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent&, const Opaque& element) {
    return {memory, element};
  }
};

template <>
struct ExchangeTraits<BroadcastRing<Opaque>> : ExchangeTraits<BroadcastRing<std::uint8_t>> {
  using Element = Opaque;
  using Producer = BroadcastWriter<Opaque>;
  using Consumer = BroadcastReader<Opaque>;

  [[nodiscard]] static constexpr std::uint64_t bytes(const Extent& extent, const Opaque& element) noexcept {
    return sizeof(BroadcastCount) + std::uint64_t{extent.capacity} * detail::OpaqueSlots::stride(element);
  }
  [[nodiscard]] static Producer producer(std::byte* memory, const Extent& extent,
                                         const Opaque& element) noexcept {
    return {detail::object_at<BroadcastCount>(memory), memory + sizeof(BroadcastCount), extent.capacity,
            element};
  }
  [[nodiscard]] static Consumer consumer(std::byte* memory, const Extent& extent, const Opaque& element) {
    return {detail::object_at<BroadcastCount>(memory), memory + sizeof(BroadcastCount), extent.capacity,
            BroadcastStart::oldest, element};
  }
};

}  // namespace takt::shm
