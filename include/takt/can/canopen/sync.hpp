// SYNC (CiA 301, 7.2.5): the message at which all nodes latch what they measured and take over what they were
// told, with or without a counter. Real-time safe.
#pragma once

#include <cstdint>

#include "takt/can/canopen/object.hpp"

namespace takt::can::canopen {

/// `counter` 0 stands for a SYNC without one.
struct Sync {
  std::uint8_t counter = 0;

  friend constexpr bool operator==(const Sync&, const Sync&) = default;
};

inline constexpr std::uint8_t max_sync_counter = 240;

/// Error: bad_value.
[[nodiscard]] constexpr Status encode_into(Frame& frame, const Sync& sync) noexcept {
  if (sync.counter > max_sync_counter) return fail(Errc::bad_value);
  detail::begin(frame, sync_id, sync.counter == 0 ? 0 : 1);
  frame.data[0] = sync.counter;
  return {};
}

/// Errors: wrong_format, unexpected_id, wrong_length, bad_value (counter).
[[nodiscard]] constexpr Result<Sync> decode_sync(const Frame& frame) noexcept {
  if (const Status format = detail::check_format(frame); !format) return fail(format.error());
  if (frame.id != sync_id) return fail(Errc::unexpected_id);
  if (frame.length > 1) return fail(Errc::wrong_length);
  if (frame.length == 0) return Sync{};
  if (frame.data[0] == 0 || frame.data[0] > max_sync_counter) return fail(Errc::bad_value);
  return Sync{frame.data[0]};
}

/// Makes one SYNC after the other.
class SyncProducer {
 public:
  /// `overflow` is what stands in object 1019h of the nodes: 0 for no counter, else the counter runs from 1
  /// to it (2..240, a number beyond is taken as the nearest).
  explicit constexpr SyncProducer(std::uint8_t overflow = 0) noexcept
      : overflow_(overflow == 0                 ? 0
                  : overflow < 2                ? 2
                  : overflow < max_sync_counter ? overflow
                                                : 240) {}

  [[nodiscard]] constexpr Sync next() noexcept {
    if (overflow_ == 0) return {};
    counter_ = counter_ == overflow_ ? 1 : static_cast<std::uint8_t>(counter_ + 1);
    return {counter_};
  }
  /// The next one is the first again: nodes that were stopped count anew.
  constexpr void restart() noexcept { counter_ = 0; }

 private:
  std::uint8_t overflow_;
  std::uint8_t counter_ = 0;
};

}  // namespace takt::can::canopen
