// Many exchanges in one piece of memory, found by name: what two programs that share memory, or two cores that share RAM, begin
// with. One side says what it wants and writes it; the other reads it, checks every number and the types, and gets the same ends as
// between threads.
//
//     const std::array wanted = {declare<SpscRing<Reference>>("references", 256), declare<BroadcastValue<State>>("state")};
//     alignas(apart) static std::byte memory[65536];
//     auto layout = Layout::write(memory, wanted, epoch);                        // one side, first
//     auto references = layout->consumer<SpscRing<Reference>>("references");     // Result<RingConsumer<Reference>>
//
//     auto layout = Layout::read(memory);                                        // the other: not_ready until it is written
//     auto references = layout->producer<SpscRing<Reference>>("references");     // Result<RingProducer<Reference>>
//
// In memory: a header of one line; a directory of 512 bytes for each exchange; a line for each seat; the exchanges, at multiples of
// 128. The first word of the header is written last. Between processes, platform/segment.hpp provides the memory and sees to it
// that each seat has one owner.
//
// Set-up only: bounded time, no heap, no system call; the ends that come out of it are real-time safe. Whatever stands in the
// memory, reading it stays within it and ends.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "takt/shm/error.hpp"
#include "takt/shm/exchange.hpp"
#include "takt/shm/memory.hpp"
#include "takt/shm/schema.hpp"

namespace takt::shm {

inline constexpr std::uint32_t layout_version = 1;
inline constexpr std::size_t max_exchanges = 32;
inline constexpr std::size_t max_exchange_name = 31;  ///< characters
inline constexpr std::uint32_t max_seats =
    256;  ///< of all exchanges together, and one more for the segment itself

/// What is wanted in the memory. Made by declare(); the texts must outlive it.
struct Declaration {
  std::string_view name;
  Kind kind = Kind::raw;
  Extent extent;
  std::uint32_t element_bytes = 0;
  std::uint32_t element_alignment = 0;
  std::string_view schema;
  std::uint64_t bytes = 0;
};

/// An exchange X, which is one of the classes of this room: SpscRing<T>, SlotRing<T>, ByteRing, BroadcastRing<T>,
/// MultiProducerRing<T, lanes, capacity>, LatestValue<T>, BroadcastValue<T>, SharedValue<T, writers>, or RawMemory. `capacity` is
/// for rings (messages; bytes for ByteRing and RawMemory), and made possible as their constructors do; `producers` and `consumers`
/// are seats. Both only where the class leaves a choice.
template <class X>
[[nodiscard]] constexpr Declaration declare(std::string_view name, std::uint32_t capacity = 1,
                                            std::uint32_t producers = 1,
                                            std::uint32_t consumers = 1) noexcept {
  using Traits = ExchangeTraits<X>;
  using Element = typename Traits::Element;
  static_assert(alignof(Element) <= apart, "an element that is shared is aligned to at most 128 bytes");
  const Extent extent = Traits::extent({capacity, producers, consumers});
  return {name,
          Traits::kind,
          extent,
          sizeof(Element),
          alignof(Element),
          schema_text<Element>(),
          Traits::bytes(extent)};
}

/// The same of elements known at run time (opaque.hpp): an exchange X is SpscRing<Opaque>, LatestValue<Opaque>,
/// BroadcastValue<Opaque> or BroadcastRing<Opaque>.
template <class X>
[[nodiscard]] constexpr Declaration declare(std::string_view name, const Opaque& element,
                                            std::uint32_t capacity = 1) noexcept {
  using Traits = ExchangeTraits<X>;
  const Extent extent = Traits::extent({capacity, 1, 1});
  return {name,
          Traits::kind,
          extent,
          element.bytes,
          element.alignment,
          element.schema,
          Traits::bytes(extent, element)};
}

/// An exchange that was found in memory. Its numbers have been checked.
struct Exchange {
  std::array<char, max_exchange_name + 1> name_characters{};
  Kind kind = Kind::raw;
  std::uint32_t element_bytes = 0;
  std::uint32_t element_alignment = 0;
  Extent extent;
  std::uint32_t index = 0;       ///< in the directory
  std::uint32_t first_seat = 0;  ///< of the segment's seats: producers' first, then consumers'
  std::uint32_t schema_length = 0;
  std::uint64_t schema_hash = 0;
  std::uint64_t offset = 0;  ///< from the beginning of the memory
  std::uint64_t bytes = 0;

  [[nodiscard]] std::string_view name() const noexcept { return name_characters.data(); }
};

enum class Role : std::uint8_t { producer, consumer };

/// Who sits on a seat, in shared words: for people and for messages. Whether the seat is taken, only its lock says (Seat in
/// platform/segment.hpp).
struct alignas(cache_line) SeatRecord {
  using Word = std::atomic<std::uint32_t>;
  Word pid{0};           ///< 0: nobody
  Word start_time[2]{};  ///< of the process, in clock ticks since the machine started: low and high word
  Word epoch[2]{};       ///< a random number for each time that the seat is taken
  Word takeovers{0};     ///< how often it was taken from one that had died
  Word heartbeat{0};     ///< the owner's clock in milliseconds, running over; 0: never
  Word unused[9]{};
};
static_assert(sizeof(SeatRecord) == cache_line);

namespace detail {

/// "TAK1". It shows the byte order as well.
inline constexpr std::uint32_t magic = 0x54414b31;
inline constexpr std::uint32_t other_magic = 0x314b4154;

struct LayoutHeader {
  std::uint32_t magic = 0;  ///< 0 until all else is written
  std::uint32_t version = 0;
  std::uint32_t word_bytes = 0;  ///< of a pointer: some exchanges move words of this size
  std::uint32_t exchanges = 0;
  std::uint64_t bytes = 0;  ///< all of it
  std::uint64_t epoch = 0;
  std::uint32_t seats = 0;
  std::uint32_t unused[7] = {};
};
static_assert(sizeof(LayoutHeader) == cache_line);

struct LayoutRecord {
  char name[max_exchange_name + 1] = {};
  std::uint32_t kind = 0;
  std::uint32_t element_bytes = 0;
  std::uint32_t element_alignment = 0;
  std::uint32_t capacity = 0;
  std::uint32_t producers = 0;
  std::uint32_t consumers = 0;
  std::uint32_t first_seat = 0;
  std::uint32_t schema_length = 0;
  std::uint64_t schema_hash = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  char schema[max_schema] = {};
};
static_assert(sizeof(LayoutRecord) == 512);

/// Copies words that somebody may be writing at the same time: each comes over whole, all together need not.
inline void copy_shared_words(void* to, const std::byte* from, std::size_t bytes) noexcept {
  auto* out = static_cast<std::byte*>(to);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
    // relaxed: ordered by the acquire of the magic number. What changes after it was written is a peer's mistake or malice; then
    // any value may come, and each is checked.
    const std::uint32_t word =
        reinterpret_cast<const std::atomic<std::uint32_t>*>(from + at)->load(std::memory_order_relaxed);
    std::memcpy(out + at, &word, sizeof word);
  }
}

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t bytes) noexcept {
  return (bytes + apart - 1) / apart * apart;
}

[[nodiscard]] constexpr bool is_exchange_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > max_exchange_name) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

/// Where things lie, one exchange after the other. The writer and the reader walk the same way, so that a directory that says
/// anything else is refused: nothing can overlap or lie outside.
class Walk {
 public:
  constexpr Walk(std::uint32_t exchanges, std::uint32_t seats) noexcept
      : seats_at_(sizeof(LayoutHeader) + std::uint64_t{exchanges} * sizeof(LayoutRecord)),
        end_(round_up(seats_at_ + std::uint64_t{seats} * sizeof(SeatRecord))) {}

  /// Of the next exchange.
  [[nodiscard]] constexpr std::uint64_t offset() const noexcept { return end_; }
  [[nodiscard]] constexpr std::uint32_t first_seat() const noexcept { return next_seat_; }
  /// Neither sum runs over: an exchange has at most max_exchange_bytes, and there are at most max_exchanges.
  constexpr void advance(std::uint64_t bytes, const Extent& extent) noexcept {
    end_ = round_up(end_ + bytes);
    next_seat_ += extent.producers + extent.consumers;
  }

  [[nodiscard]] constexpr std::uint64_t seats_at() const noexcept { return seats_at_; }
  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return end_; }
  [[nodiscard]] constexpr std::uint32_t seats() const noexcept { return next_seat_; }

 private:
  std::uint64_t seats_at_;
  std::uint64_t end_;
  std::uint32_t next_seat_ = 1;  // seat 0 is the segment's own
};

inline constexpr std::uint64_t max_exchange_bytes = std::uint64_t{1} << 57;

[[nodiscard]] constexpr bool needs_power_of_two(Kind kind) noexcept {
  return kind == Kind::ring || kind == Kind::slot_ring || kind == Kind::byte_ring ||
         kind == Kind::broadcast_ring || kind == Kind::multi_producer_ring;
}

[[nodiscard]] constexpr bool is_possible(Kind kind, const Extent& extent, std::uint64_t bytes) noexcept {
  return extent.capacity >= 1 && extent.capacity <= std::uint32_t{1} << 31 &&
         extent.producers <= max_producers && extent.consumers <= max_consumers && bytes >= 1 &&
         bytes <= max_exchange_bytes && (!needs_power_of_two(kind) || std::has_single_bit(extent.capacity));
}

}  // namespace detail

/// The exchanges of a piece of memory. Holds a private copy of the directory, some KiB; what is written there later changes
/// nothing. Copyable; the memory must outlive it and its ends.
class Layout {
 public:
  /// How many bytes the exchanges take, with all that describes them. Errors: as write().
  [[nodiscard]] static constexpr Result<std::uint64_t> bytes(std::span<const Declaration> wanted) noexcept {
    if (wanted.empty() || wanted.size() > max_exchanges) return fail(Errc::too_many_exchanges);
    std::uint32_t seats = 1;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Declaration& one = wanted[i];
      if (!detail::is_exchange_name(one.name)) return fail(Errc::bad_name);
      for (std::size_t j = 0; j < i; ++j) {
        if (wanted[j].name == one.name) return fail(Errc::bad_name);
      }
      if (!detail::is_possible(one.kind, one.extent, one.bytes)) return fail(Errc::bad_extent);
      if (const auto fields = parse_schema(one.schema); !fields || (*fields).bytes != one.element_bytes) {
        return fail(Errc::bad_schema);
      }
      seats += one.extent.producers + one.extent.consumers;
    }
    if (seats > max_seats + 1) return fail(Errc::too_many_exchanges);
    detail::Walk walk(static_cast<std::uint32_t>(wanted.size()), seats);
    for (const Declaration& one : wanted) walk.advance(one.bytes, one.extent);
    return walk.end();
  }

  /// Lays the memory out, whatever it held before; nobody else may use it yet. `epoch` is a number that no earlier layout of this
  /// memory had, best a random one. Errors: too_many_exchanges, bad_name, bad_extent, bad_schema; does_not_fit; misaligned.
  [[nodiscard]] static Result<Layout> write(std::span<std::byte> memory, std::span<const Declaration> wanted,
                                            std::uint64_t epoch) noexcept {
    const Result<std::uint64_t> needed = bytes(wanted);
    if (!needed) return fail(needed.error());
    if (!is_aligned(memory.data())) return fail(Errc::misaligned);
    if (*needed > memory.size()) return fail(Errc::does_not_fit);
    // relaxed: nobody else is there yet; who comes too early reads a zero or is refused.
    magic_of(memory.data()).store(0, std::memory_order_relaxed);
    std::memset(memory.data() + sizeof(std::uint32_t), 0,
                static_cast<std::size_t>(*needed) - sizeof(std::uint32_t));
    detail::LayoutHeader header{.version = layout_version,
                                .word_bytes = sizeof(void*),
                                .exchanges = static_cast<std::uint32_t>(wanted.size()),
                                .bytes = *needed,
                                .epoch = epoch,
                                .seats = seats_of(wanted)};
    write_directory(memory.data(), wanted, header.seats);
    put(memory.data() + sizeof(header.magic),
        reinterpret_cast<const std::byte*>(&header) + sizeof(header.magic),
        sizeof header - sizeof header.magic);
    // release: whoever sees the number sees all that it stands for.
    magic_of(memory.data()).store(detail::magic, std::memory_order_release);
    return read(memory);
  }

  /// Reads and checks a layout. Errors: not_ready, not_a_segment, wrong_version, wrong_byte_order, wrong_word_size, wrong_size (it
  /// says that it is larger than `memory`), bad_directory, misaligned.
  [[nodiscard]] static Result<Layout> read(std::span<std::byte> memory) noexcept {
    return read(memory.data(), memory.size(), true);
  }
  /// The same over memory that may only be read: ends that write anything are then refused as read_only.
  [[nodiscard]] static Result<Layout> read_only(std::span<const std::byte> memory) noexcept {
    return read(const_cast<std::byte*>(memory.data()), memory.size(), false);
  }

  /// The end that writes, at one of the exchange's seats. It continues where a predecessor stopped. There must not be another one
  /// at this seat at the same time. Errors: no_such_exchange, wrong_kind, wrong_schema, wrong_extent, bad_directory, no_such_slot,
  /// read_only.
  template <class X>
  [[nodiscard]] Result<typename ExchangeTraits<X>::Producer> producer(std::string_view name,
                                                                      std::uint32_t seat = 0) const noexcept {
    const Result<const Exchange*> found = check<X>(name);
    if (!found) return fail(found.error());
    if (!writable_) return fail(Errc::read_only);
    if (seat >= (*found)->extent.producers) return fail(Errc::no_such_slot);
    return ExchangeTraits<X>::producer(at((*found)->offset), (*found)->extent, seat);
  }

  /// The end that reads. Of an exchange without seats for readers (a broadcast) there may be any number. Errors: as producer().
  template <class X>
  [[nodiscard]] Result<typename ExchangeTraits<X>::Consumer> consumer(std::string_view name,
                                                                      std::uint32_t seat = 0) const noexcept {
    const Result<const Exchange*> found = check<X>(name);
    if (!found) return fail(found.error());
    if (ExchangeTraits<X>::consumer_writes && !writable_) return fail(Errc::read_only);
    if (seat >= std::max<std::uint32_t>((*found)->extent.consumers, 1)) return fail(Errc::no_such_slot);
    return ExchangeTraits<X>::consumer(at((*found)->offset), (*found)->extent, seat);
  }

  /// The ends of exchanges whose elements are known at run time (opaque.hpp). Errors: as with types. Making readers of
  /// broadcasts allocates; where there is no memory left, it throws std::bad_alloc.
  template <class X>
  [[nodiscard]] Result<typename ExchangeTraits<X>::Producer> producer(std::string_view name,
                                                                      const Opaque& element) const noexcept {
    const Result<const Exchange*> found = check<X>(name, element);
    if (!found) return fail(found.error());
    if (!writable_) return fail(Errc::read_only);
    return ExchangeTraits<X>::producer(at((*found)->offset), (*found)->extent, as_found(element, **found));
  }
  template <class X>
  [[nodiscard]] Result<typename ExchangeTraits<X>::Consumer> consumer(std::string_view name,
                                                                      const Opaque& element) const {
    const Result<const Exchange*> found = check<X>(name, element);
    if (!found) return fail(found.error());
    if (ExchangeTraits<X>::consumer_writes && !writable_) return fail(Errc::read_only);
    return ExchangeTraits<X>::consumer(at((*found)->offset), (*found)->extent, as_found(element, **found));
  }

  [[nodiscard]] std::span<const Exchange> exchanges() const noexcept { return {exchanges_.data(), count_}; }

  /// Errors: no_such_exchange.
  [[nodiscard]] Result<const Exchange*> find(std::string_view name) const noexcept {
    for (const Exchange& exchange : exchanges()) {
      if (exchange.name() == name) return &exchange;
    }
    return fail(Errc::no_such_exchange);
  }

  /// The schema of an exchange of this layout, copied into `text`; whatever a peer has written there meanwhile, its fields make up
  /// exchange.element_bytes. Errors: bad_directory (it is not the one of the hash any more, or not of that length, or there is
  /// no such exchange).
  [[nodiscard]] Result<std::string_view> schema(const Exchange& exchange,
                                                std::array<char, max_schema>& text) const noexcept {
    if (exchange.index >= count_ || exchange.schema_length > text.size()) return fail(Errc::bad_directory);
    detail::LayoutRecord record;
    detail::copy_shared_words(&record, record_at(memory_, exchange.index), sizeof record);
    std::memcpy(text.data(), record.schema, sizeof record.schema);
    const std::string_view found(text.data(), exchange.schema_length);
    if (!describes(found, exchange.schema_hash, exchange.element_bytes)) return fail(Errc::bad_directory);
    return found;
  }

  /// The number of a seat among all of the segment's. Errors: no_such_slot.
  [[nodiscard]] static Result<std::uint32_t> seat_number(const Exchange& exchange, Role role,
                                                         std::uint32_t seat) noexcept {
    const bool writes = role == Role::producer;
    if (seat >= (writes ? exchange.extent.producers : exchange.extent.consumers))
      return fail(Errc::no_such_slot);
    return exchange.first_seat + (writes ? 0 : exchange.extent.producers) + seat;
  }

  /// Seats of all exchanges, and seat 0, which is the segment's own.
  [[nodiscard]] std::uint32_t seats() const noexcept { return seats_; }
  /// `number` is below seats(). The record of a seat; written only by who has its lock.
  [[nodiscard]] SeatRecord& seat(std::uint32_t number) const noexcept {
    const std::uint64_t seats_at = detail::Walk(static_cast<std::uint32_t>(count_), seats_).seats_at();
    return detail::object_at<SeatRecord>(at(seats_at + std::uint64_t{number} * sizeof(SeatRecord)));
  }

  /// The exchange's memory, for who knows its kind: tools.
  [[nodiscard]] std::span<const std::byte> memory_of(const Exchange& exchange) const noexcept {
    return {at(exchange.offset), static_cast<std::size_t>(exchange.bytes)};
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_; }  ///< bytes, all of it
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] bool is_writable() const noexcept { return writable_; }

 private:
  [[nodiscard]] static bool is_aligned(const std::byte* memory) noexcept {
    return reinterpret_cast<std::uintptr_t>(memory) % apart == 0;
  }
  [[nodiscard]] static std::atomic<std::uint32_t>& magic_of(std::byte* memory) noexcept {
    return detail::object_at<std::atomic<std::uint32_t>>(memory);
  }
  [[nodiscard]] static std::byte* record_at(std::byte* memory, std::size_t index) noexcept {
    return memory + sizeof(detail::LayoutHeader) + index * sizeof(detail::LayoutRecord);
  }
  [[nodiscard]] std::byte* at(std::uint64_t offset) const noexcept {
    return memory_ + static_cast<std::size_t>(offset);
  }
  static void put(std::byte* to, const void* from, std::size_t bytes) noexcept {
    std::memcpy(to, from, bytes);
  }

  [[nodiscard]] static std::uint32_t seats_of(std::span<const Declaration> wanted) noexcept {
    std::uint32_t seats = 1;
    for (const Declaration& one : wanted) seats += one.extent.producers + one.extent.consumers;
    return seats;
  }

  static void write_directory(std::byte* memory, std::span<const Declaration> wanted,
                              std::uint32_t seats) noexcept {
    detail::Walk walk(static_cast<std::uint32_t>(wanted.size()), seats);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Declaration& one = wanted[i];
      detail::LayoutRecord record;
      std::copy(one.name.begin(), one.name.end(), record.name);
      std::copy(one.schema.begin(), one.schema.end(), record.schema);
      record.kind = static_cast<std::uint32_t>(one.kind);
      record.element_bytes = one.element_bytes;
      record.element_alignment = one.element_alignment;
      record.capacity = one.extent.capacity;
      record.producers = one.extent.producers;
      record.consumers = one.extent.consumers;
      record.first_seat = walk.first_seat();
      record.schema_length = static_cast<std::uint32_t>(one.schema.size());
      record.schema_hash = fnv1a(one.schema);
      record.offset = walk.offset();
      record.bytes = one.bytes;
      put(record_at(memory, i), &record, sizeof record);
      walk.advance(one.bytes, one.extent);
    }
  }

  [[nodiscard]] static Result<Layout> read(std::byte* memory, std::size_t size, bool writable) noexcept {
    if (!is_aligned(memory)) return fail(Errc::misaligned);
    if (size < sizeof(detail::LayoutHeader)) return fail(Errc::wrong_size);
    // acquire: pairs with the writer's release; all that it wrote before is there.
    const std::uint32_t magic = magic_of(memory).load(std::memory_order_acquire);
    if (magic == 0) return fail(Errc::not_ready);
    if (magic == detail::other_magic) return fail(Errc::wrong_byte_order);
    if (magic != detail::magic) return fail(Errc::not_a_segment);
    detail::LayoutHeader header;
    detail::copy_shared_words(&header, memory, sizeof header);
    if (header.version != layout_version) return fail(Errc::wrong_version);
    if (header.word_bytes != sizeof(void*)) return fail(Errc::wrong_word_size);
    if (header.bytes > size) return fail(Errc::wrong_size);
    if (header.exchanges == 0 || header.exchanges > max_exchanges || header.seats > max_seats + 1) {
      return fail(Errc::bad_directory);
    }
    detail::Walk walk(header.exchanges, header.seats);
    if (walk.end() > header.bytes) return fail(Errc::bad_directory);
    Layout layout;
    layout.memory_ = memory;
    layout.writable_ = writable;
    layout.count_ = header.exchanges;
    layout.seats_ = header.seats;
    layout.bytes_ = header.bytes;
    layout.epoch_ = header.epoch;
    for (std::size_t i = 0; i < header.exchanges; ++i) {
      detail::LayoutRecord record;
      detail::copy_shared_words(&record, record_at(memory, i), sizeof record);
      Exchange& exchange = layout.exchanges_[i];
      if (!take(record, walk, exchange)) return fail(Errc::bad_directory);
      exchange.index = static_cast<std::uint32_t>(i);
      walk.advance(exchange.bytes, exchange.extent);
      for (std::size_t j = 0; j < i; ++j) {
        if (layout.exchanges_[j].name() == exchange.name()) return fail(Errc::bad_directory);
      }
    }
    if (walk.end() != header.bytes || walk.seats() != header.seats) return fail(Errc::bad_directory);
    return layout;
  }

  /// Whether `schema` is of this hash and its elements of this length. The hash alone is soon forged: the text may have been
  /// changed for one of larger elements.
  [[nodiscard]] static bool describes(std::string_view schema, std::uint64_t hash,
                                      std::uint32_t element_bytes) noexcept {
    if (fnv1a(schema) != hash) return false;
    const auto fields = parse_schema(schema);
    return fields && (*fields).bytes == element_bytes;
  }

  /// Checks one record, in a private copy, and takes it over.
  [[nodiscard]] static bool take(const detail::LayoutRecord& record, const detail::Walk& walk,
                                 Exchange& exchange) noexcept {
    if (record.name[max_exchange_name] != '\0' || !detail::is_exchange_name(record.name)) return false;
    if (record.kind == 0 || record.kind > last_kind) return false;
    if (record.element_bytes == 0 || record.element_bytes > max_element) return false;
    if (!std::has_single_bit(record.element_alignment) || record.element_alignment > apart) return false;
    if (record.schema_length > max_schema) return false;
    const std::string_view schema(record.schema, record.schema_length);
    if (!describes(schema, record.schema_hash, record.element_bytes)) return false;
    const Extent extent{record.capacity, record.producers, record.consumers};
    if (!detail::is_possible(static_cast<Kind>(record.kind), extent, record.bytes)) return false;
    if (record.offset != walk.offset() || record.first_seat != walk.first_seat()) return false;
    std::copy(std::begin(record.name), std::end(record.name), exchange.name_characters.begin());
    exchange.kind = static_cast<Kind>(record.kind);
    exchange.element_bytes = record.element_bytes;
    exchange.element_alignment = record.element_alignment;
    exchange.extent = extent;
    exchange.first_seat = record.first_seat;
    exchange.schema_length = record.schema_length;
    exchange.schema_hash = record.schema_hash;
    exchange.offset = record.offset;
    exchange.bytes = record.bytes;
    return true;
  }

  /// The exchange of this name, if it is of this kind and its elements are of this type.
  [[nodiscard]] Result<const Exchange*> check(std::string_view name, Kind kind, std::uint64_t hash,
                                              std::uint32_t element_bytes) const noexcept {
    const Result<const Exchange*> found = find(name);
    if (!found) return found;
    if ((*found)->kind != kind) return fail(Errc::wrong_kind);
    if ((*found)->schema_hash != hash || (*found)->element_bytes != element_bytes) {
      return fail(Errc::wrong_schema);
    }
    return found;
  }

  /// The exchange of this name, if it is an X.
  template <class X>
  [[nodiscard]] Result<const Exchange*> check(std::string_view name) const noexcept {
    using Traits = ExchangeTraits<X>;
    using Element = typename Traits::Element;
    const auto found = check(name, Traits::kind, schema_hash<Element>, sizeof(Element));
    if (!found) return found;
    const Exchange& exchange = **found;
    if (exchange.element_alignment != alignof(Element)) return fail(Errc::wrong_schema);
    if (Traits::extent(exchange.extent) != exchange.extent) return fail(Errc::wrong_extent);
    if (Traits::bytes(exchange.extent) != exchange.bytes) return fail(Errc::bad_directory);
    return found;
  }
  template <class X>
  [[nodiscard]] Result<const Exchange*> check(std::string_view name, const Opaque& element) const noexcept {
    using Traits = ExchangeTraits<X>;
    const auto found = check(name, Traits::kind, fnv1a(element.schema), element.bytes);
    if (!found) return found;
    const Exchange& exchange = **found;
    if (Traits::extent(exchange.extent) != exchange.extent) return fail(Errc::wrong_extent);
    if (Traits::bytes(exchange.extent, as_found(element, exchange)) != exchange.bytes)
      return fail(Errc::bad_directory);
    return found;
  }

  /// A schema does not tell when a type is aligned to more than its fields need.
  [[nodiscard]] static Opaque as_found(const Opaque& element, const Exchange& exchange) noexcept {
    return {element.schema, element.bytes, exchange.element_alignment};
  }

  std::byte* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t epoch_ = 0;
  std::size_t count_ = 0;
  std::uint32_t seats_ = 0;
  bool writable_ = false;
  std::array<Exchange, max_exchanges> exchanges_{};
};

}  // namespace takt::shm
