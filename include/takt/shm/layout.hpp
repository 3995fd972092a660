// Many exchanges in one piece of memory, found by name. Two programs that share memory, or two cores that
// share RAM, start with it. One side declares the exchanges and writes the layout. The other side reads it,
// checks every number and type, and gets the same ends as between threads.
//
//     // One program, first:
//     const std::array wanted = {declare<SpscRing<Reference>>("references", 256),
//                                declare<BroadcastValue<State>>("state")};
//     alignas(interference_size) static std::byte memory[65536];
//     auto layout = Layout::write(memory, wanted, epoch);
//     auto references = layout->consumer<SpscRing<Reference>>("references");  // RingConsumer<Reference>
//
//     // The other program, later:
//     auto layout = Layout::read(memory);
//     auto references = layout->producer<SpscRing<Reference>>("references");  // RingProducer<Reference>
//
// The memory begins with a header of one cache line and a directory of 512 bytes per exchange. One cache line
// per owner slot follows, then the exchanges at multiples of 128. The header's first word is written last;
// until then read() returns not_ready. Between processes, platform/segment.hpp provides the memory, and gives
// each owner slot to one process at a time.
//
// For set-up only: bounded time, no heap, no system call. The ends that it creates are real-time safe.
// Reading stays inside the memory and terminates, whatever the memory contains.
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

/// Version of the memory layout. read() rejects any other version.
inline constexpr std::uint32_t layout_version = 1;
/// Limits of a layout.
inline constexpr std::size_t max_exchanges = 32;
inline constexpr std::size_t max_exchange_name = 31;  ///< characters
/// Owner slots of all exchanges together. The segment itself has one more.
inline constexpr std::uint32_t max_owner_slots = 256;

/// A wanted exchange, made by declare(). The texts must outlive it.
struct Declaration {
  std::string_view name;  ///< 1 to 31 letters, digits, '_', '-' or '.'
  Kind kind = Kind::raw;
  Extent extent;
  std::uint32_t element_bytes = 0;      ///< size of an element
  std::uint32_t element_alignment = 0;  ///< bytes
  std::string_view schema;              ///< text of the element's schema
  std::uint64_t bytes = 0;              ///< size of the exchange
};

/// Declares an exchange X: SpscRing<T>, SlotRing<T>, ByteRing, BroadcastRing<T>, LatestValue<T>,
/// BroadcastValue<T>, JointSlots or RawMemory.
///
/// `capacity` counts messages of a ring, or bytes of ByteRing and RawMemory; it is rounded as by their
/// constructors. `producers` and `consumers` count owner slots. Classes with a fixed capacity or number of
/// owner slots ignore these arguments.
template <class X>
[[nodiscard]] constexpr Declaration declare(std::string_view name, std::uint32_t capacity = 1,
                                            std::uint32_t producers = 1,
                                            std::uint32_t consumers = 1) noexcept {
  using Traits = ExchangeTraits<X>;
  using Element = typename Traits::Element;
  static_assert(alignof(Element) <= interference_size,
                "an element that is shared is aligned to at most 128 bytes");
  const Extent extent = Traits::extent({capacity, producers, consumers});
  return {name,
          Traits::kind,
          extent,
          sizeof(Element),
          alignof(Element),
          schema_text<Element>(),
          Traits::bytes(extent)};
}

/// Declares an exchange of elements that are known at run time (opaque.hpp). X is SpscRing<Opaque>,
/// LatestValue<Opaque>, BroadcastValue<Opaque> or BroadcastRing<Opaque>.
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

/// An exchange found in memory. Its numbers have been checked.
struct Exchange {
  std::array<char, max_exchange_name + 1> name_characters{};
  Kind kind = Kind::raw;
  std::uint32_t element_bytes = 0;      ///< size of an element
  std::uint32_t element_alignment = 0;  ///< bytes
  Extent extent;
  std::uint32_t index = 0;  ///< index in the directory
  /// First owner slot within the segment; the producers' come first, then the consumers'.
  std::uint32_t first_owner_slot = 0;
  std::uint32_t schema_length = 0;  ///< characters
  std::uint64_t schema_hash = 0;    ///< fnv1a() of the schema
  std::uint64_t offset = 0;         ///< bytes from the beginning of the memory
  std::uint64_t bytes = 0;          ///< size of the exchange

  /// The name; valid while this object lives.
  [[nodiscard]] std::string_view name() const noexcept { return name_characters.data(); }
};

/// The end of an exchange that an owner slot is for.
enum class Role : std::uint8_t { producer, consumer };

/// The owner of an owner slot, in shared words, for people and messages. Only the lock of the owner slot
/// decides whether it is taken (OwnerSlot in platform/owner slot.hpp).
struct alignas(cache_line) OwnerSlotRecord {
  using Word = std::atomic<std::uint32_t>;
  Word pid{0};           ///< process id; 0: no owner
  Word start_time[2]{};  ///< start of the process in clock ticks since boot: low and high word
  Word epoch[2]{};       ///< a random number, new for each owner
  Word takeovers{0};     ///< how often it was taken over from a dead owner
  Word heartbeat{0};     ///< owner's clock in ms, wraps; 0: never
  Word unused[9]{};
};
static_assert(sizeof(OwnerSlotRecord) == cache_line);

namespace detail {

/// "TAK1". It also reveals the byte order.
inline constexpr std::uint32_t magic = 0x54414b31;
inline constexpr std::uint32_t other_magic = 0x314b4154;

struct LayoutHeader {
  std::uint32_t magic = 0;  ///< 0 until everything else is written
  std::uint32_t version = 0;
  std::uint32_t word_bytes = 0;  ///< size of a pointer; some exchanges move words of this size
  std::uint32_t exchanges = 0;
  std::uint64_t bytes = 0;  ///< total size
  std::uint64_t epoch = 0;
  std::uint32_t owner_slots = 0;
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
  std::uint32_t first_owner_slot = 0;
  std::uint32_t schema_length = 0;
  std::uint64_t schema_hash = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  char schema[max_schema] = {};
};
static_assert(sizeof(LayoutRecord) == 512);

/// Copies words that another process may be writing. Each word is copied atomically, all together are not.
inline void copy_shared_words(void* to, const std::byte* from, std::size_t bytes) noexcept {
  auto* out = static_cast<std::byte*>(to);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
    // relaxed: the acquire load of the magic number orders these loads. Only a faulty or hostile peer changes
    // a word later. Then any value may arrive, and each is checked.
    const std::uint32_t word =
        reinterpret_cast<const std::atomic<std::uint32_t>*>(from + at)->load(std::memory_order_relaxed);
    std::memcpy(out + at, &word, sizeof word);
  }
}

[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t bytes) noexcept {
  return (bytes + interference_size - 1) / interference_size * interference_size;
}

[[nodiscard]] constexpr bool is_exchange_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > max_exchange_name) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

/// Computes the position of each exchange, one after the other. Writer and reader compute the same positions,
/// and the reader rejects a directory with any others. So no exchange overlaps another or lies outside.
class Walk {
 public:
  constexpr Walk(std::uint32_t exchanges, std::uint32_t owner_slots) noexcept
      : owner_slots_at_(sizeof(LayoutHeader) + std::uint64_t{exchanges} * sizeof(LayoutRecord)),
        end_(round_up(owner_slots_at_ + std::uint64_t{owner_slots} * sizeof(OwnerSlotRecord))) {}

  /// Of the next exchange.
  [[nodiscard]] constexpr std::uint64_t offset() const noexcept { return end_; }
  [[nodiscard]] constexpr std::uint32_t first_owner_slot() const noexcept { return next_owner_slot_; }
  /// Neither sum overflows: an exchange has at most max_exchange_bytes, and there are at most max_exchanges.
  constexpr void advance(std::uint64_t bytes, const Extent& extent) noexcept {
    end_ = round_up(end_ + bytes);
    next_owner_slot_ += extent.producers + extent.consumers;
  }

  [[nodiscard]] constexpr std::uint64_t owner_slots_at() const noexcept { return owner_slots_at_; }
  [[nodiscard]] constexpr std::uint64_t end() const noexcept { return end_; }
  [[nodiscard]] constexpr std::uint32_t owner_slots() const noexcept { return next_owner_slot_; }

 private:
  std::uint64_t owner_slots_at_;
  std::uint64_t end_;
  std::uint32_t next_owner_slot_ = 1;  // owner slot 0 belongs to the segment itself
};

inline constexpr std::uint64_t max_exchange_bytes = std::uint64_t{1} << 57;

[[nodiscard]] constexpr bool needs_power_of_two(Kind kind) noexcept {
  return kind == Kind::ring || kind == Kind::slot_ring || kind == Kind::byte_ring ||
         kind == Kind::broadcast_ring;
}

[[nodiscard]] constexpr bool is_possible(Kind kind, const Extent& extent, std::uint64_t bytes) noexcept {
  return extent.capacity >= 1 && extent.capacity <= std::uint32_t{1} << 31 &&
         extent.producers <= max_producers && extent.consumers <= max_consumers && bytes >= 1 &&
         bytes <= max_exchange_bytes && (!needs_power_of_two(kind) || std::has_single_bit(extent.capacity));
}

}  // namespace detail

/// The exchanges in a piece of memory. Holds a private copy of the directory, some KiB, so later changes in
/// memory have no effect. Copyable. The memory must outlive the layout and its ends.
class Layout {
 public:
  /// The bytes that the exchanges and their directory take. Errors: too_many_exchanges, bad_name, bad_extent,
  /// bad_schema.
  [[nodiscard]] static constexpr Result<std::uint64_t> bytes(std::span<const Declaration> wanted) noexcept {
    if (wanted.empty() || wanted.size() > max_exchanges) return fail(Errc::too_many_exchanges);
    std::uint32_t owner_slots = 1;
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
      owner_slots += one.extent.producers + one.extent.consumers;
    }
    if (owner_slots > max_owner_slots + 1) return fail(Errc::too_many_exchanges);
    detail::Walk walk(static_cast<std::uint32_t>(wanted.size()), owner_slots);
    for (const Declaration& one : wanted) walk.advance(one.bytes, one.extent);
    return walk.end();
  }

  /// Writes a layout into the memory and zeroes all exchanges. No other process may use the memory yet.
  /// `epoch` is a number that no earlier layout of this memory had, preferably random. Errors:
  /// too_many_exchanges, bad_name, bad_extent, bad_schema; does_not_fit; misaligned.
  [[nodiscard]] static Result<Layout> write(std::span<std::byte> memory, std::span<const Declaration> wanted,
                                            std::uint64_t epoch) noexcept {
    const Result<std::uint64_t> needed = bytes(wanted);
    if (!needed) return fail(needed.error());
    if (!is_aligned(memory.data())) return fail(Errc::misaligned);
    if (*needed > memory.size()) return fail(Errc::does_not_fit);
    // relaxed: no other process uses the memory yet. One that reads too early finds a zero or rejects the
    // rest.
    magic_of(memory.data()).store(0, std::memory_order_relaxed);
    std::memset(memory.data() + sizeof(std::uint32_t), 0,
                static_cast<std::size_t>(*needed) - sizeof(std::uint32_t));
    detail::LayoutHeader header{.version = layout_version,
                                .word_bytes = sizeof(void*),
                                .exchanges = static_cast<std::uint32_t>(wanted.size()),
                                .bytes = *needed,
                                .epoch = epoch,
                                .owner_slots = owner_slots_of(wanted)};
    write_directory(memory.data(), wanted, header.owner_slots);
    put(memory.data() + sizeof(header.magic),
        reinterpret_cast<const std::byte*>(&header) + sizeof(header.magic),
        sizeof header - sizeof header.magic);
    // release: a reader that sees the magic number sees the whole directory.
    magic_of(memory.data()).store(detail::magic, std::memory_order_release);
    return read(memory);
  }

  /// Reads and checks a layout. Errors: not_ready, not_a_segment, wrong_version, wrong_byte_order,
  /// wrong_word_size, wrong_size (the layout claims more bytes than `memory` has), bad_directory, misaligned.
  [[nodiscard]] static Result<Layout> read(std::span<std::byte> memory) noexcept {
    return read(memory.data(), memory.size(), true);
  }
  /// Like read(), for read-only memory. Ends that write then fail with read_only.
  [[nodiscard]] static Result<Layout> read_only(std::span<const std::byte> memory) noexcept {
    return read(const_cast<std::byte*>(memory.data()), memory.size(), false);
  }

  /// The writing end at owner slot `owner_slot` of the exchange. It continues where its predecessor stopped.
  /// Only one writing end may exist per owner slot. Errors: no_such_exchange, wrong_kind, wrong_schema,
  /// wrong_extent, bad_directory, no_such_slot, read_only.
  template <class X>
  [[nodiscard]] Result<typename ExchangeTraits<X>::Producer> producer(
      std::string_view name, std::uint32_t owner_slot = 0) const noexcept {
    const Result<const Exchange*> found = check<X>(name);
    if (!found) return fail(found.error());
    if (!writable_) return fail(Errc::read_only);
    if (owner_slot >= (*found)->extent.producers) return fail(Errc::no_such_slot);
    return ExchangeTraits<X>::producer(at((*found)->offset), (*found)->extent, owner_slot);
  }

  /// The reading end at owner slot `owner_slot`. An exchange without owner slots for readers (a broadcast)
  /// allows any number of reading ends. Errors: as producer().
  template <class X>
  [[nodiscard]] Result<typename ExchangeTraits<X>::Consumer> consumer(
      std::string_view name, std::uint32_t owner_slot = 0) const noexcept {
    const Result<const Exchange*> found = check<X>(name);
    if (!found) return fail(found.error());
    if (ExchangeTraits<X>::consumer_writes && !writable_) return fail(Errc::read_only);
    if (owner_slot >= std::max<std::uint32_t>((*found)->extent.consumers, 1)) return fail(Errc::no_such_slot);
    return ExchangeTraits<X>::consumer(at((*found)->offset), (*found)->extent, owner_slot);
  }

  /// The ends of exchanges whose elements are known at run time (opaque.hpp). Errors: as above. Readers of
  /// broadcasts allocate, and throw std::bad_alloc without memory.
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

  /// All exchanges, in the order of the directory.
  [[nodiscard]] std::span<const Exchange> exchanges() const noexcept { return {exchanges_.data(), count_}; }

  /// The exchange with this name. Errors: no_such_exchange.
  [[nodiscard]] Result<const Exchange*> find(std::string_view name) const noexcept {
    for (const Exchange& exchange : exchanges()) {
      if (exchange.name() == name) return &exchange;
    }
    return fail(Errc::no_such_exchange);
  }

  /// Copies the schema of an exchange into `text` and returns it. Its fields add up to
  /// exchange.element_bytes, whatever a peer has written since. Errors: bad_directory (no such exchange, or
  /// its schema has another hash or length now).
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

  /// The number of an owner slot within the segment. Errors: no_such_slot.
  [[nodiscard]] static Result<std::uint32_t> owner_slot_number(const Exchange& exchange, Role role,
                                                               std::uint32_t owner_slot) noexcept {
    const bool writes = role == Role::producer;
    if (owner_slot >= (writes ? exchange.extent.producers : exchange.extent.consumers))
      return fail(Errc::no_such_slot);
    return exchange.first_owner_slot + (writes ? 0 : exchange.extent.producers) + owner_slot;
  }

  /// The number of owner slots of all exchanges, plus owner slot 0 of the segment itself.
  [[nodiscard]] std::uint32_t owner_slots() const noexcept { return owner_slots_; }
  /// The record of owner slot `number`, which must be below owner slots(). Only the holder of its lock writes
  /// it.
  [[nodiscard]] OwnerSlotRecord& owner_slot(std::uint32_t number) const noexcept {
    const std::uint64_t owner_slots_at =
        detail::Walk(static_cast<std::uint32_t>(count_), owner_slots_).owner_slots_at();
    return detail::object_at<OwnerSlotRecord>(
        at(owner_slots_at + std::uint64_t{number} * sizeof(OwnerSlotRecord)));
  }

  /// The exchange's memory, for tools that know its kind.
  [[nodiscard]] std::span<const std::byte> memory_of(const Exchange& exchange) const noexcept {
    return {at(exchange.offset), static_cast<std::size_t>(exchange.bytes)};
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return bytes_; }  ///< total bytes
  /// The number that write() was given.
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  /// Whether the memory was opened for writing.
  [[nodiscard]] bool is_writable() const noexcept { return writable_; }

 private:
  [[nodiscard]] static bool is_aligned(const std::byte* memory) noexcept {
    return reinterpret_cast<std::uintptr_t>(memory) % interference_size == 0;
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

  [[nodiscard]] static std::uint32_t owner_slots_of(std::span<const Declaration> wanted) noexcept {
    std::uint32_t owner_slots = 1;
    for (const Declaration& one : wanted) owner_slots += one.extent.producers + one.extent.consumers;
    return owner_slots;
  }

  static void write_directory(std::byte* memory, std::span<const Declaration> wanted,
                              std::uint32_t owner_slots) noexcept {
    detail::Walk walk(static_cast<std::uint32_t>(wanted.size()), owner_slots);
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
      record.first_owner_slot = walk.first_owner_slot();
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
    // acquire: pairs with the writer's release, so the whole directory is visible.
    const std::uint32_t magic = magic_of(memory).load(std::memory_order_acquire);
    if (magic == 0) return fail(Errc::not_ready);
    if (magic == detail::other_magic) return fail(Errc::wrong_byte_order);
    if (magic != detail::magic) return fail(Errc::not_a_segment);
    detail::LayoutHeader header;
    detail::copy_shared_words(&header, memory, sizeof header);
    if (header.version != layout_version) return fail(Errc::wrong_version);
    if (header.word_bytes != sizeof(void*)) return fail(Errc::wrong_word_size);
    if (header.bytes > size) return fail(Errc::wrong_size);
    if (header.exchanges == 0 || header.exchanges > max_exchanges ||
        header.owner_slots > max_owner_slots + 1) {
      return fail(Errc::bad_directory);
    }
    detail::Walk walk(header.exchanges, header.owner_slots);
    if (walk.end() > header.bytes) return fail(Errc::bad_directory);
    Layout layout;
    layout.memory_ = memory;
    layout.writable_ = writable;
    layout.count_ = header.exchanges;
    layout.owner_slots_ = header.owner_slots;
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
    if (walk.end() != header.bytes || walk.owner_slots() != header.owner_slots)
      return fail(Errc::bad_directory);
    return layout;
  }

  /// Whether `schema` has this hash and describes elements of this length. The hash alone is not enough: a
  /// peer can forge it with a schema of larger elements.
  [[nodiscard]] static bool describes(std::string_view schema, std::uint64_t hash,
                                      std::uint32_t element_bytes) noexcept {
    if (fnv1a(schema) != hash) return false;
    const auto fields = parse_schema(schema);
    return fields && (*fields).bytes == element_bytes;
  }

  /// Checks one record, which is a private copy, and copies it to `exchange`.
  [[nodiscard]] static bool take(const detail::LayoutRecord& record, const detail::Walk& walk,
                                 Exchange& exchange) noexcept {
    if (record.name[max_exchange_name] != '\0' || !detail::is_exchange_name(record.name)) return false;
    if (record.kind == 0 || record.kind > last_kind) return false;
    if (record.element_bytes == 0 || record.element_bytes > max_element) return false;
    if (!std::has_single_bit(record.element_alignment) || record.element_alignment > interference_size)
      return false;
    if (record.schema_length > max_schema) return false;
    const std::string_view schema(record.schema, record.schema_length);
    if (!describes(schema, record.schema_hash, record.element_bytes)) return false;
    const Extent extent{record.capacity, record.producers, record.consumers};
    if (!detail::is_possible(static_cast<Kind>(record.kind), extent, record.bytes)) return false;
    if (record.offset != walk.offset() || record.first_owner_slot != walk.first_owner_slot()) return false;
    std::copy(std::begin(record.name), std::end(record.name), exchange.name_characters.begin());
    exchange.kind = static_cast<Kind>(record.kind);
    exchange.element_bytes = record.element_bytes;
    exchange.element_alignment = record.element_alignment;
    exchange.extent = extent;
    exchange.first_owner_slot = record.first_owner_slot;
    exchange.schema_length = record.schema_length;
    exchange.schema_hash = record.schema_hash;
    exchange.offset = record.offset;
    exchange.bytes = record.bytes;
    return true;
  }

  /// The exchange with this name, if its kind and element type match.
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

  /// The exchange with this name, if it is an X.
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

  /// The element with the alignment found in memory. A schema does not express an alignment beyond that of
  /// its fields.
  [[nodiscard]] static Opaque as_found(const Opaque& element, const Exchange& exchange) noexcept {
    return {element.schema, element.bytes, exchange.element_alignment};
  }

  std::byte* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t epoch_ = 0;
  std::size_t count_ = 0;
  std::uint32_t owner_slots_ = 0;
  bool writable_ = false;
  std::array<Exchange, max_exchanges> exchanges_{};
};

}  // namespace takt::shm
