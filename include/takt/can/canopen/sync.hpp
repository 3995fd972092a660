// SYNC (CiA 301, 7.2.5): at this message all nodes latch their measured values and apply their commands. It
// may carry a counter. Real-time safe.
#pragma once

#include <cstdint>

#include "takt/can/canopen/object.hpp"

namespace takt::can::canopen {

/// A SYNC message. `counter` 0 means a SYNC without a counter.
struct Sync {
  std::uint8_t counter = 0;

  friend constexpr bool operator==(const Sync&, const Sync&) = default;
};

inline constexpr std::uint8_t max_sync_counter = 240;

/// Encodes a SYNC. Error: bad_value (counter).
[[nodiscard]] constexpr Status encode_into(Frame& frame, const Sync& sync) noexcept {
  if (sync.counter > max_sync_counter) return fail(Errc::bad_value);
  detail::begin(frame, sync_id, sync.counter == 0 ? 0 : 1);
  frame.data[0] = sync.counter;
  return {};
}

/// Decodes a SYNC. Errors: wrong_format, unexpected_id, wrong_length, bad_value (counter).
[[nodiscard]] constexpr Result<Sync> decode_sync(const Frame& frame) noexcept {
  if (const Status format = detail::check_format(frame); !format) return fail(format.error());
  if (frame.id != sync_id) return fail(Errc::unexpected_id);
  if (frame.length > 1) return fail(Errc::wrong_length);
  if (frame.length == 0) return Sync{};
  if (frame.data[0] == 0 || frame.data[0] > max_sync_counter) return fail(Errc::bad_value);
  return Sync{frame.data[0]};
}

/// Produces the SYNC messages of a bus.
class SyncProducer {
 public:
  /// Argument `overflow`: the value of object 1019h of the nodes. With 0 there is no counter. Otherwise the
  /// counter runs from 1 to it; values are clamped to 2 to 240.
  explicit constexpr SyncProducer(std::uint8_t overflow = 0) noexcept
      : overflow_(overflow == 0                 ? 0
                  : overflow < 2                ? 2
                  : overflow < max_sync_counter ? overflow
                                                : 240) {}

  /// Returns the next SYNC, with its counter.
  [[nodiscard]] constexpr Sync next() noexcept {
    if (overflow_ == 0) return {};
    counter_ = counter_ == overflow_ ? 1 : static_cast<std::uint8_t>(counter_ + 1);
    return {counter_};
  }
  /// Restarts the counter, for nodes that were stopped.
  constexpr void restart() noexcept { counter_ = 0; }

 private:
  std::uint8_t overflow_;
  std::uint8_t counter_ = 0;
};

}  // namespace takt::can::canopen
