// A queue of records of different lengths between one producer and one consumer, without copies. The producer
// reserves a piece of the ring, fills it and commits it. The consumer peeks at a record and releases it.
// Every record is one contiguous span. Each side can publish or release several records at once. Neither side
// waits. Another process can take over either end while the ring is in use. Everything except construction is
// real-time safe.
//
// A record is a 4-byte length and its bytes, and starts at a multiple of 8. A record that does not fit before
// the end of the memory starts at the beginning; the length word at the end then holds `record_wrap`.
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

/// The length word, and padding that keeps records at multiples of 8.
inline constexpr std::uint32_t record_header = 8;
/// In place of a length: the record lies at the beginning of the memory.
inline constexpr std::uint32_t record_wrap = 0xffffffff;

/// Bytes of the ring that a record of `size` bytes takes.
[[nodiscard]] constexpr std::uint32_t record_footprint(std::uint32_t size) noexcept {
  return record_header + (size + 7) / 8 * 8;
}
}  // namespace detail

/// The writing end. One thread at a time may use it. Real-time safe.
template <class Machine>
class BasicByteProducer {
 public:
  /// `memory` is `capacity` bytes, aligned to 8. `capacity` is a power of two from 64 to 2^31.
  BasicByteProducer(BasicRingIndexes<Machine>& indexes, std::byte* memory, std::uint32_t capacity) noexcept
      : indexes_(&indexes),
        memory_(memory),
        capacity_(capacity),
        // relaxed: this thread is the only producer, so no other write can race. The mask repairs an index
        // that a peer has damaged.
        write_(indexes.written.load(std::memory_order_relaxed) & ~7u),
        limit_(write_) {}

  /// The longest record in bytes that always fits once the consumer has caught up.
  [[nodiscard]] std::size_t max_record() const noexcept { return capacity_ / 2 - detail::record_header; }

  /// Free bytes, including those that a record would leave unused at the end of the memory. 0 if the
  /// consumer's index is invalid.
  [[nodiscard]] std::uint32_t free_bytes() noexcept { return look_for_room(0) ? limit_ - write_ : 0; }

  /// Returns a piece of `size` bytes, aligned to 8, to fill and commit. Returns nothing if the ring has no
  /// room or `size` exceeds max_record(). The next try_reserve() drops a piece that was not committed.
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

  /// Publishes the first `size` bytes of the reserved piece (all of it if `size` is larger), and all staged
  /// records. No effect without a reserved piece.
  void commit(std::size_t size) noexcept {
    if (!reserved_) return;
    stage(size);
    publish();
  }

  /// Like commit(), but the next publish() or commit() publishes the record. The consumer then sees several
  /// records with one load. Staged records take space, and are lost if the producer dies. No effect without a
  /// reserved piece.
  void stage(std::size_t size) noexcept {
    if (!reserved_) return;
    const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(size, length_));
    put_length(record_, length);
    write_ = record_ + detail::record_footprint(length);
    reserved_ = false;
  }

  /// Publishes all staged records.
  void publish() noexcept {
    // release: a consumer that sees the new index sees the records below it.
    indexes_->written.store(write_, std::memory_order_release);
  }

  /// Appends a copy of `record` and publishes it with all staged records. Returns false without effect if
  /// there is no room.
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
    // acquire: pairs with the consumer's release of `released`, so the consumer has stopped reading the bytes
    // that we overwrite.
    const std::uint32_t released = indexes_->released.load(std::memory_order_acquire);
    limit_ = released + capacity_;
    if (write_ - released <= capacity_) return limit_ - write_ >= bytes;
    // A peer has damaged an index. As in spsc_ring.hpp, the next record goes to the consumer's index.
    write_ = released & ~7u;
    limit_ = write_ + capacity_;
    publish();
    return false;
  }

  BasicRingIndexes<Machine>* indexes_;
  std::byte* memory_;
  std::uint32_t capacity_;
  std::uint32_t write_;       // where the next record begins; staged records lie before it
  std::uint32_t limit_;       // writing may go up to here, by the last load of the consumer's index
  std::uint32_t record_ = 0;  // where the reserved record begins
  std::uint32_t length_ = 0;  // its reserved length in bytes
  bool reserved_ = false;
};

/// The reading end. One thread at a time may use it. Real-time safe. The spans stay inside the memory,
/// whatever a peer writes into indexes and lengths.
template <class Machine>
class BasicByteConsumer {
 public:
  /// `memory` and `capacity`: as for BasicByteProducer.
  BasicByteConsumer(BasicRingIndexes<Machine>& indexes, const std::byte* memory,
                    std::uint32_t capacity) noexcept
      : indexes_(&indexes),
        memory_(memory),
        capacity_(capacity),
        // relaxed: this thread is the only consumer, so no other write can race. The mask repairs an index
        // that a peer has damaged.
        read_(indexes.released.load(std::memory_order_relaxed) & ~7u),
        limit_(read_) {}

  /// The oldest record after the last advance(), aligned to 8, or nothing. Repeated calls return the same
  /// record until advance() or release(). It stays valid until release().
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
    // A peer may have written any length. It is loaded once, and accepted only if the record lies inside the
    // published bytes.
    if (length > capacity_) return broken(begin);
    footprint_ = detail::record_footprint(length);
    if (footprint_ > limit_ - read_ || footprint_ > capacity_ - offset(read_)) return broken(begin);
    return std::span<const std::byte>(memory_ + offset(read_) + detail::record_header, length);
  }

  /// Moves past the record that peek() returned and keeps its bytes reserved. The next release() frees it. No
  /// effect without a record.
  void advance() noexcept {
    read_ += footprint_;
    footprint_ = 0;
  }

  /// Gives the record of the last peek(), and all records passed by advance(), back to the producer. No
  /// effect without a record.
  void release() noexcept {
    advance();
    give_back();
  }

  /// Whether the producer wrote an invalid record. This end reads nothing more. Its successor skips what was
  /// published with that record, at most one ring full, which is lost. If records are still kept, the
  /// successor skips it only after release().
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
    // acquire: pairs with the producer's release of `written`, so the records below the index are visible.
    const std::uint32_t written = indexes_->written.load(std::memory_order_acquire);
    if (written - read_ > capacity_ || (written - read_) % 8 != 0) {
      broken_ = true;
      return false;
    }
    limit_ = written;
    return limit_ != read_;
  }
  /// The record at `begin` is invalid.
  [[nodiscard]] std::nullopt_t broken(std::uint32_t begin) noexcept {
    // relaxed: this thread is the only consumer, so no other write can race.
    const bool keeps_records = (indexes_->released.load(std::memory_order_relaxed) & ~7u) != begin;
    broken_ = true;
    footprint_ = 0;
    // Without this skip, a successor would find the same record again, and the ring would stay full for ever.
    read_ = limit_;
    if (!keeps_records) give_back();
    return std::nullopt;
  }
  void give_back() noexcept {
    // release: our reads of the records end before the producer may overwrite them.
    indexes_->released.store(read_, std::memory_order_release);
  }

  BasicRingIndexes<Machine>* indexes_;
  const std::byte* memory_;
  std::uint32_t capacity_;
  std::uint32_t read_;           // where the next record begins
  std::uint32_t limit_;          // reading may go up to here, by the last load of the producer's index
  std::uint32_t footprint_ = 0;  // of the record of the last peek()
  bool broken_ = false;
};

using ByteProducer = BasicByteProducer<Processor>;
using ByteConsumer = BasicByteConsumer<Processor>;

/// A byte ring with both ends and its own memory, for two threads of one process.
class ByteRing {
 public:
  /// Allocates `capacity` bytes, rounded up to a power of two, at least 64. Not real-time safe.
  explicit ByteRing(std::size_t capacity)
      : memory_(std::make_unique<Line[]>(lines_for(ring_capacity(std::max(capacity, cache_line))))),
        producer_{{indexes_, memory_[0].bytes, ring_capacity(std::max(capacity, cache_line))}},
        consumer_{{indexes_, memory_[0].bytes, ring_capacity(std::max(capacity, cache_line))}} {}
  ByteRing(const ByteRing&) = delete;
  ByteRing& operator=(const ByteRing&) = delete;

  /// The two ends. Each may be used by one thread at a time.
  [[nodiscard]] ByteProducer& producer() noexcept { return producer_.end; }
  [[nodiscard]] ByteConsumer& consumer() noexcept { return consumer_.end; }

 private:
  RingIndexes indexes_;
  std::unique_ptr<Line[]> memory_;
  OwnLine<ByteProducer> producer_;
  OwnLine<ByteConsumer> consumer_;
};

}  // namespace takt::shm
