// The newest value, from one writer to any number of readers. The writer never waits, and no reader sees a
// value that mixes old and new data. The writer uses two slots in turn. A reader retries only if a whole
// write overtakes its read. If a writer dies during a write, the previous value stays readable.
//
// Versions have 32 bits and wrap. This has two consequences:
//
// - A reader that pauses for exactly 2^31 - 2 writes, one write less, or a multiple, takes the current value
//   for the one that it has read. It reports one of the next two values as new.
// - A reader accepts a torn value if it pauses in the middle of the copy for so many writes (35 minutes at
//   1e6 writes/s).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

#include "takt/shm/atomic_words.hpp"
#include "takt/shm/latest_value.hpp"
#include "takt/shm/machine.hpp"
#include "takt/shm/memory.hpp"

namespace takt::shm {

/// Attempts of one read.
inline constexpr int broadcast_attempts = 16;

namespace detail {

/// The version of a value: an even number that rises by 2 and wraps; 0 means no value. Odd multiples of 2 lie
/// in slot 1, the others in slot 0.
struct BroadcastVersion {
  static constexpr std::uint32_t writing = 1;  ///< set in the state while the value is being written

  [[nodiscard]] static constexpr std::uint32_t slot_of(std::uint32_t version) noexcept {
    return version / 2 % 2;
  }
  /// The newest complete version, given the states of both slots; 0 if none is complete.
  [[nodiscard]] static constexpr std::uint32_t newest(std::uint32_t a, std::uint32_t b) noexcept {
    if (a % 2 != 0 || a == 0) return b % 2 != 0 ? 0 : b;
    if (b % 2 != 0 || b == 0) return a;
    return is_older(a, b) ? b : a;
  }
  /// Whether no version was ever completed, given the states of two slots without a complete version. The
  /// first version goes to slot 1.
  [[nodiscard]] static constexpr bool is_empty(std::uint32_t a, std::uint32_t b) noexcept {
    return a == 0 && b <= (next(0) | writing);
  }
  /// The next version. It skips 0 and one more version at the wrap, so the slots keep alternating.
  [[nodiscard]] static constexpr std::uint32_t next(std::uint32_t version) noexcept {
    return version == 0xfffffffe ? 4 : version + 2;
  }

 private:
  [[nodiscard]] static constexpr bool is_older(std::uint32_t a, std::uint32_t b) noexcept {
    return b - a - 1 < 0x7fffffff;
  }
};

/// The writing end for any value type. `slots[i]` is a slot with words and a state. The state is the version
/// plus the `writing` bit.
template <class Slots, class Machine>
class BroadcastValueWriteEnd {
  using Version = BroadcastVersion;

 public:
  explicit BroadcastValueWriteEnd(Slots slots) noexcept
      : slots_(std::move(slots)),
        // relaxed: this thread is the only writer of these words, so no other write can race.
        version_(Version::newest(slots_[0].state.load(std::memory_order_relaxed),
                                 slots_[1].state.load(std::memory_order_relaxed))) {}

  /// Publishes a copy of `value`.
  template <class Value>
  void write(const Value& value) noexcept {
    publish([&](auto& words) noexcept { words.store(value); });
    // Readers had these lines last, so request them now. The first line is left alone because readers poll
    // it.
    prefetch_to_write<Machine>(slots_[Version::slot_of(Version::next(version_))], 1);
  }

  /// Publishes a value whose bytes are those of `head` and then those of `tail`.
  template <class Head, class Tail>
  void write_joined(const Head& head, const Tail& tail) noexcept {
    publish([&](auto& words) noexcept { words.store(head, tail); });
    prefetch_to_write<Machine>(slots_[Version::slot_of(Version::next(version_))], 1);
  }
  /// Publishes the value that the next slot holds, with `pieces` copied from `value`.
  template <class Value>
  void write(const Value& value, std::span<const Piece> pieces) noexcept {
    publish([&](auto& words) noexcept {
      for (const Piece& piece : pieces) words.store(value, piece);
    });
    auto& next = slots_[Version::slot_of(Version::next(version_))].words;
    for (const Piece& piece : pieces) next.prefetch_to_write(piece);
  }

 private:
  template <class Store>
  void publish(Store&& store) noexcept {
    version_ = Version::next(version_);
    auto&& slot = slots_[Version::slot_of(version_)];
    // relaxed: each word below is a release store, which orders this store before it.
    slot.state.store(version_ | Version::writing, std::memory_order_relaxed);
    store(slot.words);
    // release: a reader that sees this version sees all words of the value.
    slot.state.store(version_, std::memory_order_release);
  }

  Slots slots_;
  // Kept here because the version in the slot has gone to the readers' caches and would have to be fetched
  // back.
  std::uint32_t version_;
};

/// The reading end for any value type.
template <class Slots, int attempts>
class BroadcastValueReadEnd {
  using Version = BroadcastVersion;

 public:
  explicit BroadcastValueReadEnd(Slots slots) noexcept : slots_(std::move(slots)) {}

  /// Copies the latest value. If it is not new, copies it only if `old_too` is set; otherwise leaves `out`
  /// unchanged.
  template <class Out>
  [[nodiscard]] Freshness read(Out&& out, bool old_too) noexcept {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      // acquire: pairs with the writer's last release, so the words of the version are visible.
      const std::uint32_t first = slots_[0].state.load(std::memory_order_acquire);
      const std::uint32_t second = slots_[1].state.load(std::memory_order_acquire);
      const std::uint32_t version = Version::newest(first, second);
      if (version == 0) {
        if (Version::is_empty(first, second)) break;
        continue;  // between the two loads one write ended and another began
      }
      // A write may hide the version that was read last while its predecessor still lies in the other slot.
      // No other older version is visible. So any other version is new, even after a long pause.
      if (Version::next(version) == seen_) continue;
      if (version == seen_ && !old_too) return Freshness::old_data;
      auto&& slot = slots_[Version::slot_of(version)];
      const auto copy = slot.words.load();
      // relaxed: the acquire loads of the words order this load after them.
      if (slot.state.load(std::memory_order_relaxed) != version) continue;
      copy.to(out);
      if (version == seen_) return Freshness::old_data;
      seen_ = version;
      return Freshness::new_data;
    }
    return seen_ == 0 ? Freshness::none : Freshness::old_data;
  }

 private:
  Slots slots_;
  std::uint32_t seen_ = 0;  // version that was read last; 0: none
};

}  // namespace detail

/// A value from one writer to many readers. The writer is wait-free. A reader retries when a whole write
/// overtakes its read, at most `attempts` times. Real-time safe. Zeroed memory is a value that was never
/// written.
template <class T, class Machine = Processor, int attempts = broadcast_attempts>
class BroadcastValue {
  struct alignas(cache_line) Slot {
    typename Machine::template Atomic<std::uint32_t> state{0};
    detail::AtomicWords<T, Machine> words;
  };

 public:
  BroadcastValue() = default;
  BroadcastValue(const BroadcastValue&) = delete;
  BroadcastValue& operator=(const BroadcastValue&) = delete;

  /// The writing end. One thread at a time may use it. A writer may die at any instruction; the next one
  /// continues.
  class Writer : private detail::BroadcastValueWriteEnd<Slot*, Machine> {
    using End = detail::BroadcastValueWriteEnd<Slot*, Machine>;

   public:
    explicit Writer(BroadcastValue& value) noexcept : End(value.slots_) {}

    /// Publishes a copy of `value`.
    void write(const T& value) noexcept { End::write(value); }
    /// Publishes a value whose bytes are those of `head`, a number of words, and then those of `tail`. So the
    /// caller needs no copy in which both lie.
    template <class Head, class Tail>
    void write_joined(const Head& head, const Tail& tail) noexcept {
      End::write_joined(head, tail);
    }

    /// Publishes a large value of which only the byte ranges `pieces` change. `pieces` must be the same in
    /// every call. The first two calls copy the whole value, because they fill the two slots; later calls
    /// cost only the pieces.
    void write(const T& value, std::span<const Piece> pieces) noexcept {
      if (unfilled_ == 0) return End::write(value, pieces);
      --unfilled_;
      End::write(value);
    }

   private:
    int unfilled_ = 2;  // slots that may still hold another writer's value
  };

  /// Publishes a copy of `value` by a temporary Writer. Each call first searches for the last version, so use
  /// a Writer for frequent writes.
  void write(const T& value) noexcept { Writer(*this).write(value); }

  /// One reader's view. Each thread has its own. The value must outlive it.
  class Reader : private detail::BroadcastValueReadEnd<const Slot*, attempts> {
    using End = detail::BroadcastValueReadEnd<const Slot*, attempts>;

   public:
    explicit Reader(const BroadcastValue& value) noexcept : End(value.slots_) {}

    /// Copies the latest value, new or old, to `out`. If no value was ever written, returns `none` and leaves
    /// `out` unchanged. If the writer overtakes every attempt, `out` is unchanged too; the result is
    /// `old_data`, or `none` before this reader's first value.
    [[nodiscard]] Freshness read(T& out) noexcept { return End::read(out, true); }

    /// Like read(), but copies only a new value. For a reader that keeps the last value itself.
    [[nodiscard]] Freshness read_new(T& out) noexcept { return End::read(out, false); }
  };

 private:
  Slot slots_[2];
};
static_assert(sizeof(BroadcastValue<std::uint64_t[7]>) == 2 * cache_line,
              "one line for each slot of up to 56 bytes");

}  // namespace takt::shm
