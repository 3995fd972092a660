// The newest value from a thread without deadlines to a real-time loop: gains, goals, whole trajectories. The
// loop reads it in place. It neither copies nor frees: values that the loop has replaced are destroyed by the
// writing thread. So the type may own memory, such as a std::vector.
//
//     takt::rt::RealtimeBuffer<std::vector<double>> gains;
//     gains.write({1.0, 2.0});                              // any thread; one at a time
//     if (const auto* newest = gains.read()) use(*newest);  // the loop
//
// For the other direction, from the loop to one reader, use shm::LatestValue; for many readers,
// shm::BroadcastValue.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "takt/shm/latest_value.hpp"
#include "takt/shm/memory.hpp"

namespace takt::rt {

/// The newest value of any movable type, for one writing thread and one real-time reader. Three places hold
/// the values, and an shm::LatestWriter and LatestReader exchange the numbers of the places.
template <class T>
class RealtimeBuffer {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "a value moves into its place and is destroyed there, neither of which may fail");

 public:
  /// A buffer without a value: read() returns null until the first write().
  RealtimeBuffer() noexcept {
    for (std::uint32_t place = 0; place < 3; ++place) numbers_.slots[place].value = place;
  }
  /// A buffer that already has a value.
  explicit RealtimeBuffer(T initial) noexcept : RealtimeBuffer() { write(std::move(initial)); }
  RealtimeBuffer(const RealtimeBuffer&) = delete;
  RealtimeBuffer& operator=(const RealtimeBuffer&) = delete;

  /// Makes `value` the newest value. Destroys the value before the last one that the loop no longer holds, or
  /// the last one if the loop never read it. One thread at a time; several need a mutex of their own. Not
  /// real-time safe if T frees memory; it waits for nothing.
  void write(T value) noexcept {
    std::optional<T>& place = places_[writer_.end.begin_write()].value;
    newest_ = &place.emplace(std::move(value));
    writer_.end.publish();
    places_[writer_.end.begin_write()].value.reset();
  }

  /// The value of the last write(), for the writing thread; null before the first one. The loop may read it
  /// at the same time.
  [[nodiscard]] const T* last_written() const noexcept { return newest_; }

  /// The newest value, for the loop; null before the first write(). It is valid and unchanged until the next
  /// read(). Its address differs from that of the previous read() exactly if the value is new. Wait-free and
  /// real-time safe.
  [[nodiscard]] const T* read() noexcept {
    if (reader_.end.update() == shm::Freshness::none) return nullptr;
    return &*places_[reader_.end.value()].value;
  }

 private:
  struct alignas(shm::interference_size) Place {
    std::optional<T> value;
  };

  shm::LatestMemory<std::uint32_t> numbers_;  // each slot holds its place's number, always the same
  shm::OwnLine<shm::LatestWriter<std::uint32_t>> writer_{shm::LatestWriter<std::uint32_t>(numbers_)};
  shm::OwnLine<shm::LatestReader<std::uint32_t>> reader_{shm::LatestReader<std::uint32_t>(numbers_)};
  Place places_[3];
  const T* newest_ = nullptr;  // the writing thread's
};

}  // namespace takt::rt
