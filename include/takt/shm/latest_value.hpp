// The newest value of something, from one writer to one reader: the writer never waits, the reader never
// waits and never sees a value that is half old and half new. Three slots: the writer fills one, the reader
// holds one, and the third changes hands through a single atomic word. Wait-free on both sides; real-time
// safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "takt/shm/memory.hpp"

namespace takt::shm {

/// What a read of a latest value found.
enum class Freshness : std::uint8_t {
  none,      ///< nothing was ever written
  old_data,  ///< the value that the last read gave as well
  new_data,  ///< a value not read before
};

/// A value from one writer to one reader. The functions of one side may be called by one thread at a time. T
/// is trivially copyable and default constructible.
template <class T>
class LatestValue {
  static_assert(std::is_trivially_copyable_v<T>, "values are copied as bytes");

 public:
  LatestValue() = default;
  LatestValue(const LatestValue&) = delete;
  LatestValue& operator=(const LatestValue&) = delete;

  /// Writer: publishes a copy of `value`.
  void write(const T& value) noexcept {
    begin_write() = value;
    publish();
  }

  /// Writer: the slot to fill in place. It holds some older value; fill all of it. Valid until publish().
  [[nodiscard]] T& begin_write() noexcept { return slots_[writer_.slot].value; }

  /// Writer: makes the filled slot the latest value.
  void publish() noexcept {
    // release: the value is complete for a reader that takes this slot. acquire: the slot that comes back was
    // put there by the reader (or by ourselves); its last reads are over before we write into it.
    writer_.slot = shared_.exchange(writer_.slot | fresh, std::memory_order_acq_rel) & slot_mask;
  }

  /// Reader: takes the latest value, in place, without copying it.
  Freshness update() noexcept {
    // relaxed: only a hint whether the exchange is worth while; the exchange itself orders everything.
    if ((shared_.load(std::memory_order_relaxed) & fresh) == 0) {
      return reader_.any ? Freshness::old_data : Freshness::none;
    }
    // acquire: pairs with the writer's release, the value is seen whole. release: our reads of the slot that
    // we give back are over before the writer writes into it.
    reader_.slot = shared_.exchange(reader_.slot, std::memory_order_acq_rel) & slot_mask;
    reader_.any = true;
    return Freshness::new_data;
  }

  /// Reader: the value that the last update() took; T{} before the first. Valid until the next update().
  [[nodiscard]] const T& value() const noexcept { return slots_[reader_.slot].value; }

  /// Reader: update() and a copy of the latest value, new or old. `value` stays as it is when there is none.
  [[nodiscard]] Freshness read(T& value) noexcept {
    const Freshness freshness = update();
    if (freshness != Freshness::none) value = this->value();
    return freshness;
  }

 private:
  static constexpr std::uint32_t slot_mask = 3;
  static constexpr std::uint32_t fresh =
      4;  // the slot in between holds a value that the reader has not taken

  struct alignas(cache_line) Slot {
    T value{};
  };
  struct alignas(cache_line) Writer {
    std::uint32_t slot = 0;
  };
  struct alignas(cache_line) Reader {
    std::uint32_t slot = 1;
    bool any = false;
  };

  alignas(cache_line) std::atomic<std::uint32_t> shared_{2};  // the slot in between, and whether it is fresh
  Slot slots_[3];
  Writer writer_;
  Reader reader_;
};
static_assert(sizeof(LatestValue<std::uint64_t>) == 6 * cache_line,
              "a line each for word, writer, reader and each slot");

}  // namespace takt::shm
