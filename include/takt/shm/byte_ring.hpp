// A queue of records of different lengths between one producer and one consumer, without copying: the
// producer reserves a piece of the ring, fills it and commits; the consumer peeks at a piece and releases it.
// Every record is one contiguous span. Several records can be published at once, and given back at once.
// Neither side ever waits; either end can be taken over by another while the ring is in use; everything but
// construction is real-time safe.
//
// A record is a 4-byte length and its bytes, starting at a multiple of 8. One that would not fit before the
// end of the memory starts at the beginning, and the length word at the end says so.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::shm {

namespace detail {
inline constexpr std::uint32_t record_header =
    8;  // the length word, and padding that keeps records at multiples of 8
inline constexpr std::uint32_t record_wrap =
    0xffffffff;  // in place of a length: the record is at the beginning

/// What a record of `size` bytes takes of the ring.
[[nodiscard]] constexpr std::uint32_t record_footprint(std::uint32_t size) noexcept {
  return record_header + (size + 7) / 8 * 8;
}
}  // namespace detail

/// The writing end, over `capacity` bytes of memory aligned to 8. One thread at a time.
template <class Machine>
class BasicByteProducer {
 public:
  /// `capacity` is a power of two, 64 to 2^31.
  BasicByteProducer(BasicRingIndexes<Machine>& indexes, std::byte* memory, std::uint32_t capacity) noexcept
      : indexes_(&indexes),
        memory_(memory),
        capacity_(capacity),
        // relaxed: only a producer writes this word, and this is the only one. Where a peer has written it, still a multiple of 8.
        write_(indexes.written.load(std::memory_order_relaxed) & ~7u),
        limit_(write_) {}

  /// The longest record that always fits once the consumer has caught up.
  [[nodiscard]] std::size_t max_record() const noexcept { return capacity_ / 2 - detail::record_header; }

  /// Bytes that nothing lies in, counting those that a record will leave unused at the end of the memory. 0 when the consumer's
  /// index is none.
  [[nodiscard]] std::uint32_t free_bytes() noexcept { return look_for_room(0) ? limit_ - write_ : 0; }

  /// A piece of `size` bytes, aligned to 8, to be filled and committed; nothing when the ring has no room for
  /// it or `size` is above max_record(). A piece that was not committed is forgotten by the next
  /// try_reserve().
  [[nodiscard]] std::optional<std::span<std::byte>> try_reserve(std::size_t size) noexcept {
    reserved_ = false;
    if (size > max_record()) return std::nullopt;
    const auto length = static_cast<std::uint32_t>(size);
    const std::uint32_t footprint = detail::record_footprint(length);
    const std::uint32_t until_end = capacity_ - offset(write_);
    const std::uint32_t skip = footprint <= until_end ? 0 : until_end;
    if (limit_ - write_ < skip + footprint && !look_for_room(skip + footprint)) return std::nullopt;
    if (skip != 0) put_length(write_, detail::record_wrap);
    record_ = write_ + skip;
    length_ = length;
    reserved_ = true;
    return std::span<std::byte>(memory_ + offset(record_) + detail::record_header, size);
  }

  /// Publishes the first `size` bytes of the piece that was reserved last (all of it, if `size` is more), and what was staged
  /// before. Without a piece, no effect.
  void commit(std::size_t size) noexcept {
    if (!reserved_) return;
    stage(size);
    publish();
  }

  /// As commit(), but leaves the record to the next publish() or commit(): several then cost the consumer one look. What is staged
  /// takes space, and is lost with a producer that dies. Without a piece, no effect.
  void stage(std::size_t size) noexcept {
    if (!reserved_) return;
    const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(size, length_));
    put_length(record_, length);
    write_ = record_ + detail::record_footprint(length);
    reserved_ = false;
  }

  /// Publishes all that is staged.
  void publish() noexcept {
    // release: whoever sees the new index sees the records below it.
    indexes_->written.store(write_, std::memory_order_release);
  }

  /// Appends a copy of `record`, and publishes it with what was staged before; false, and no effect, when there is no room.
  [[nodiscard]] bool try_write(std::span<const std::byte> record) noexcept {
    const auto piece = try_reserve(record.size());
    if (!piece) return false;
    if (!record.empty()) Machine::copy(piece->data(), record.data(), record.size());
    commit(record.size());
    return true;
  }

 private:
  [[nodiscard]] std::uint32_t offset(std::uint32_t index) const noexcept { return index & (capacity_ - 1); }
  void put_length(std::uint32_t index, std::uint32_t length) noexcept {
    Machine::copy(memory_ + offset(index), &length, sizeof(length));
  }
  [[nodiscard]] bool look_for_room(std::uint32_t bytes) noexcept {
    // acquire: pairs with the consumer's release of `released`. Its reading is over before we write there.
    const std::uint32_t released = indexes_->released.load(std::memory_order_acquire);
    limit_ = released + capacity_;
    if (write_ - released <= capacity_) return limit_ - write_ >= bytes;
    // As in a ring of messages (spsc_ring.hpp): the next record goes where the consumer stands.
    write_ = released & ~7u;
    limit_ = write_ + capacity_;
    publish();
    return false;
  }

  BasicRingIndexes<Machine>* indexes_;
  std::byte* memory_;
  std::uint32_t capacity_;
  std::uint32_t write_;       // where the next record begins; what is staged lies before it
  std::uint32_t limit_;       // writing may go up to here, by the last look at the consumer's index
  std::uint32_t record_ = 0;  // where the reserved record begins
  std::uint32_t length_ = 0;  // how long it may be
  bool reserved_ = false;
};

/// The reading end. One thread at a time. Whatever a peer writes into indexes and lengths, the spans stay
/// within the memory.
template <class Machine>
class BasicByteConsumer {
 public:
  /// As ByteProducer's.
  BasicByteConsumer(BasicRingIndexes<Machine>& indexes, const std::byte* memory,
                    std::uint32_t capacity) noexcept
      : indexes_(&indexes),
        memory_(memory),
        capacity_(capacity),
        // relaxed: only a consumer writes this word, and this is the only one. Where a peer has written it, still a multiple of 8.
        read_(indexes.released.load(std::memory_order_relaxed) & ~7u),
        limit_(read_) {}

  /// The oldest record that was not gone past, aligned to 8, or nothing. It stays the same until advance() or release(), and valid
  /// until release().
  [[nodiscard]] std::optional<std::span<const std::byte>> peek() noexcept {
    if (read_ == limit_ && !look_for_records()) return std::nullopt;
    const std::uint32_t begin = read_;
    std::uint32_t length = get_length(begin);
    if (length == detail::record_wrap) {
      const std::uint32_t until_end = capacity_ - offset(begin);
      if (limit_ - begin <= until_end) return broken(begin);
      read_ += until_end;
      length = get_length(read_);
    }
    // The length is a peer's word: it is read once and believed only if the record lies within what was
    // published.
    if (length > capacity_) return broken(begin);
    footprint_ = detail::record_footprint(length);
    if (footprint_ > limit_ - read_ || footprint_ > capacity_ - offset(read_)) return broken(begin);
    return std::span<const std::byte>(memory_ + offset(read_) + detail::record_header, length);
  }

  /// Goes past the record that peek() showed, and keeps it: many can be looked at, and then given back at once. Without one, no
  /// effect.
  void advance() noexcept {
    read_ += footprint_;
    footprint_ = 0;
  }

  /// Gives the record that peek() showed back to the producer, and those gone past. Without any, no effect.
  void release() noexcept {
    advance();
    give_back();
  }

  /// The producer wrote something that is no record. This end reads nothing from then on; one that takes over goes on behind what
  /// was published with it, at most a ring full, which is lost. Where records are kept, that is so after release().
  [[nodiscard]] bool is_broken() const noexcept { return broken_; }

 private:
  [[nodiscard]] std::uint32_t offset(std::uint32_t index) const noexcept { return index & (capacity_ - 1); }
  [[nodiscard]] std::uint32_t get_length(std::uint32_t index) const noexcept {
    std::uint32_t length = 0;
    Machine::copy(&length, memory_ + offset(index), sizeof(length));
    return length;
  }
  [[nodiscard]] bool look_for_records() noexcept {
    if (broken_) return false;
    // acquire: pairs with the producer's release of `written`. The records below the index are seen whole.
    const std::uint32_t written = indexes_->written.load(std::memory_order_acquire);
    if (written - read_ > capacity_ || (written - read_) % 8 != 0) {
      broken_ = true;
      return false;
    }
    limit_ = written;
    return limit_ != read_;
  }
  /// What begins at `begin` is no record.
  [[nodiscard]] std::nullopt_t broken(std::uint32_t begin) noexcept {
    // relaxed: only a consumer writes this word, and this is the only one.
    const bool keeps_records = (indexes_->released.load(std::memory_order_relaxed) & ~7u) != begin;
    broken_ = true;
    footprint_ = 0;
    // Whoever takes over would come upon the same again, for ever, and the ring would stay full.
    read_ = limit_;
    if (!keeps_records) give_back();
    return std::nullopt;
  }
  void give_back() noexcept {
    // release: our reading of the records is over before the producer may write there again.
    indexes_->released.store(read_, std::memory_order_release);
  }

  BasicRingIndexes<Machine>* indexes_;
  const std::byte* memory_;
  std::uint32_t capacity_;
  std::uint32_t read_;           // where the next record begins
  std::uint32_t limit_;          // reading may go up to here, by the last look at the producer's index
  std::uint32_t footprint_ = 0;  // of the record that peek() showed
  bool broken_ = false;
};

using ByteProducer = BasicByteProducer<Processor>;
using ByteConsumer = BasicByteConsumer<Processor>;

/// A byte ring with both ends and its own memory, for two threads of one process.
class ByteRing {
 public:
  /// `capacity` bytes, rounded up to a power of two of at least 64. Allocates: not real-time safe.
  explicit ByteRing(std::size_t capacity)
      : memory_(std::make_unique<Line[]>(lines_for(ring_capacity(std::max(capacity, cache_line))))),
        producer_{{indexes_, memory_[0].bytes, ring_capacity(std::max(capacity, cache_line))}},
        consumer_{{indexes_, memory_[0].bytes, ring_capacity(std::max(capacity, cache_line))}} {}
  ByteRing(const ByteRing&) = delete;
  ByteRing& operator=(const ByteRing&) = delete;

  [[nodiscard]] ByteProducer& producer() noexcept { return producer_.end; }
  [[nodiscard]] ByteConsumer& consumer() noexcept { return consumer_.end; }

 private:
  RingIndexes indexes_;
  std::unique_ptr<Line[]> memory_;
  OwnLine<ByteProducer> producer_;
  OwnLine<ByteConsumer> consumer_;
};

}  // namespace takt::shm
