// The memory that a loop shares with a motion server in another process. Requests go one way; events and the
// state of the robot go the other way. RequestGateway is the loop's end, RemoteLoop the server's end. A link
// serves one server only. The next server gets new memory, so no earlier server, alive or dead, can reach it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "takt/core/fields.hpp"
#include "takt/core/hash.hpp"
#include "takt/motion/request.hpp"
#include "takt/motion/request_message.hpp"
#include "takt/motion/snapshot.hpp"
#include "takt/shm/broadcast_value.hpp"
#include "takt/shm/byte_ring.hpp"
#include "takt/shm/memory.hpp"
#include "takt/shm/spsc_ring.hpp"

namespace takt::motion {

/// An event for the server. A number stands for the request that it gives back.
struct LinkEvent {
  std::uint64_t request = 0;  ///< number of the request that is given back; 0 = none
  Event event;                ///< `retired` is null

  TAKT_FIELDS(LinkEvent, request, event)
};
static_assert(std::is_trivially_copyable_v<LinkEvent>);

/// The shared memory. The loop's process constructs it with `new (memory) Link` before the server's process
/// sees it. Each side reads each word of the other once and validates it.
struct alignas(shm::interference_size) Link {
  /// Changes whenever a field here, or a request as bytes, changes its meaning. Offsets are covered by
  /// link_layout.
  static constexpr std::uint32_t version = 2;
  /// Bytes of the request ring. A long request passes in pieces, so a stop waits for at most this much.
  static constexpr std::uint32_t request_bytes = 1U << 18;
  /// Slots of the event ring.
  static constexpr std::uint32_t event_count = 1024;

  /// Written by the loop's process only.
  struct alignas(shm::interference_size) LoopSide {
    std::atomic<std::uint64_t> layout{0};  ///< link_layout of the loop's process
    std::atomic<std::uint64_t> robot{0};   ///< robot::fingerprint()
    std::atomic<std::uint32_t> beat{0};    ///< changes while the gateway lives
    std::atomic<std::uint32_t> taken{0};   ///< requests that the loop took, or that it will never get
    std::atomic<std::uint32_t> over{0};    ///< not 0: the loop's side has ended this link
  };
  /// Written by the server's process only.
  struct alignas(shm::interference_size) ServerSide {
    std::atomic<std::uint64_t> layout{0};  ///< link_layout of the one server of this link; 0: none came yet
    std::atomic<std::uint32_t> beat{0};    ///< changes while the server lives
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  LoopSide loop;
  ServerSide server;
  shm::RingIndexes requests;
  shm::RingIndexes events;
  shm::BroadcastValue<Snapshot> state;
  alignas(shm::interference_size) std::array<std::byte, request_bytes> request_memory;
  alignas(shm::interference_size) std::array<std::byte, event_count * sizeof(LinkEvent)> event_memory;
};
static_assert(max_request_record <= Link::request_bytes / 8);

/// A hash over the layout of all that passes through a link. Two processes with equal values agree on the
/// meaning of its bytes. Not 0.
inline constexpr std::uint64_t link_layout = [] {
  Fnv1a hash;
  for (const std::uint64_t number :
       {std::size_t{Link::version}, sizeof(Link), offsetof(Link, requests), offsetof(Link, events),
        offsetof(Link, state), offsetof(Link, request_memory), offsetof(Link, event_memory)})
    hash.number(number);
  hash.number(layout_hash<LinkEvent>);
  hash.number(layout_hash<Snapshot>);
  return hash.value();
}();
static_assert(link_layout != 0);

/// Tells whether the other side's beat still changes. A pause of this process, or of the computer, is no
/// silence of the other side. So the time between two looks counts for an eighth of the patience at most.
class LinkHeartbeat {
 public:
  /// `patience`: how long the beat may stay the same. is_alive() must be called eight times in it, or more.
  explicit LinkHeartbeat(Duration patience) noexcept : patience_(patience) {}

  /// Starts again at the next call of is_alive().
  void reset() noexcept { looked_ = {}; }

  /// Whether the beat changed within the patience. `now` is the caller's clock. Real-time safe.
  [[nodiscard]] bool is_alive(std::uint32_t beat, Time now) noexcept {
    if (!looked_ || beat != beat_) {
      beat_ = beat;
      silence_ = {};
    } else {
      silence_ += std::min(now - *looked_, patience_ / 8);
    }
    looked_ = now;
    return silence_ <= patience_;
  }

 private:
  Duration patience_;
  std::uint32_t beat_ = 0;
  Duration silence_{};
  std::optional<Time> looked_;
};

}  // namespace takt::motion
