// The newest value of something, from one writer to any number of readers: the writer never waits for
// anybody, and no reader ever sees a value that is half old and half new. Two slots take turns, so that a
// reader meets the writer only when it is overtaken by a whole write, and a writer that dies in the middle of
// one leaves the value before it readable.
//
// Versions have 32 bits and run over. What this means: a reader that looks again after exactly 2^31 - 2 writes, one less, or a
// multiple, takes the value for one that it has read, and sees the one after it, or after that, as new; and a torn value would be
// taken for a whole one by a reader that stops in the middle of copying it for so long (35 minutes at a million writes a second).
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

/// How often a read tries.
inline constexpr int broadcast_attempts = 16;

namespace detail {

/// What is written beside a value: an even number that rises by 2 and runs over; 0 is none. Odd versions take slot 1 in turn with
/// slot 0.
struct BroadcastVersion {
  static constexpr std::uint32_t writing = 1;  ///< added to it while the value is still being written

  [[nodiscard]] static constexpr std::uint32_t slot_of(std::uint32_t version) noexcept {
    return version / 2 % 2;
  }
  /// Of the states of both slots: the newest version that is complete, 0 if none is.
  [[nodiscard]] static constexpr std::uint32_t newest(std::uint32_t a, std::uint32_t b) noexcept {
    if (a % 2 != 0 || a == 0) return b % 2 != 0 ? 0 : b;
    if (b % 2 != 0 || b == 0) return a;
    return is_older(a, b) ? b : a;
  }
  /// Of the states of both slots, none of which is complete: whether none ever was. The first version goes to slot 1.
  [[nodiscard]] static constexpr bool is_empty(std::uint32_t a, std::uint32_t b) noexcept {
    return a == 0 && b <= (next(0) | writing);
  }
  /// 0 is left out, and with it one more, so that the slots keep taking turns.
  [[nodiscard]] static constexpr std::uint32_t next(std::uint32_t version) noexcept {
    return version == 0xfffffffe ? 4 : version + 2;
  }

 private:
  [[nodiscard]] static constexpr bool is_older(std::uint32_t a, std::uint32_t b) noexcept {
    return b - a - 1 < 0x7fffffff;
  }
};

/// The writing end, whatever a value is. `slots[i]` is a slot, with its state (the version in it, and whether it is still being
/// written) and its words.
template <class Slots, class Machine>
class BroadcastValueWriteEnd {
  using Version = BroadcastVersion;

 public:
  explicit BroadcastValueWriteEnd(Slots slots) noexcept
      : slots_(std::move(slots)),
        // relaxed: only a writer writes these words, and this is the only one.
        version_(Version::newest(slots_[0].state.load(std::memory_order_relaxed),
                                 slots_[1].state.load(std::memory_order_relaxed))) {}

  /// Publishes a copy of `value`.
  template <class Value>
  void write(const Value& value) noexcept {
    publish([&](auto& words) noexcept { words.store(value); });
    // Readers had these lines last: get them while there is time. Not the first, at which readers look all the time.
    prefetch_to_write<Machine>(slots_[Version::slot_of(Version::next(version_))], 1);
  }

  /// Publishes what the slot of this turn holds, but for `pieces`, which are copied.
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
    // relaxed: ordered before the words, as each of them is a release store that comes after it.
    slot.state.store(version_ | Version::writing, std::memory_order_relaxed);
    store(slot.words);
    // release: a reader that sees the version sees all of its words.
    slot.state.store(version_, std::memory_order_release);
  }

  Slots slots_;
  // Kept here: what was written last has gone to the readers, and would have to come back.
  std::uint32_t version_;
};

/// The reading end, whatever a value is.
template <class Slots, int attempts>
class BroadcastValueReadEnd {
  using Version = BroadcastVersion;

 public:
  explicit BroadcastValueReadEnd(Slots slots) noexcept : slots_(std::move(slots)) {}

  /// Copies the latest value; leaves `out` as it is where it is not new, unless old ones are wanted too.
  template <class Out>
  [[nodiscard]] Freshness read(Out&& out, bool old_too) noexcept {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      // acquire: pairs with the writer's last release; the words of the version are there.
      const std::uint32_t first = slots_[0].state.load(std::memory_order_acquire);
      const std::uint32_t second = slots_[1].state.load(std::memory_order_acquire);
      const std::uint32_t version = Version::newest(first, second);
      if (version == 0) {
        if (Version::is_empty(first, second)) break;
        continue;  // between the two looks one write ended and another began
      }
      // The one that was read last may be hidden by the write that replaces it, while the one before it still stands in the other
      // slot. No other that is older can be seen; so whatever else comes is news, however long ago the last look was.
      if (Version::next(version) == seen_) continue;
      if (version == seen_ && !old_too) return Freshness::old_data;
      auto&& slot = slots_[Version::slot_of(version)];
      const auto copy = slot.words.load();
      // relaxed: ordered after the words by their acquires.
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
  std::uint32_t seen_ = 0;  // the version that was read last
};

}  // namespace detail

/// A value from one writer to many readers. Wait-free for the writer; a reader tries a bounded number of times: again when a write
/// overtakes it, and each failure takes a whole write within one read. Real-time safe.
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

  /// The writing end. One at a time; after the death of a writer, another goes on where it left off, at whatever instruction.
  class Writer : private detail::BroadcastValueWriteEnd<Slot*, Machine> {
    using End = detail::BroadcastValueWriteEnd<Slot*, Machine>;

   public:
    explicit Writer(BroadcastValue& value) noexcept : End(value.slots_) {}

    /// Publishes a copy of `value`.
    void write(const T& value) noexcept { End::write(value); }

    /// The same for large values of which little is in use: all that this writer publishes is alike, but for `pieces`, which lie in
    /// the value and are the same ones in every call. Costs what these cost, except for the first two calls, which fill the slots.
    void write(const T& value, std::span<const Piece> pieces) noexcept {
      if (unfilled_ == 0) return End::write(value, pieces);
      --unfilled_;
      End::write(value);
    }

   private:
    int unfilled_ = 2;  // slots that may still hold what another has written
  };

  /// As Writer(*this).write(value): for those who write now and then, as it first has to find out what was written last.
  void write(const T& value) noexcept { Writer(*this).write(value); }

  /// One reader's view; each thread has its own. The value must outlive it.
  class Reader : private detail::BroadcastValueReadEnd<const Slot*, attempts> {
    using End = detail::BroadcastValueReadEnd<const Slot*, attempts>;

   public:
    explicit Reader(const BroadcastValue& value) noexcept : End(value.slots_) {}

    /// Copies the latest value, new or old. `out` stays as it is when nothing was ever written, and when the writer overtook every
    /// attempt: told as old_data, or, by a reader that has not read anything yet, as none. So where it is not none, this reader has
    /// read a value; and none means that there is none yet, or that it could not be had.
    [[nodiscard]] Freshness read(T& out) noexcept { return End::read(out, true); }

    /// The same, but leaves `out` as it is unless the value is new: for a reader that keeps what it has read.
    [[nodiscard]] Freshness read_new(T& out) noexcept { return End::read(out, false); }
  };

 private:
  Slot slots_[2];
};
static_assert(sizeof(BroadcastValue<std::uint64_t[7]>) == 2 * cache_line,
              "one line for each slot of up to 56 bytes");

}  // namespace takt::shm
