// The right of one process to write or read at one place of a shared segment: an owner slot, called OwnerSlot
// in the code. Its lock is a file lock, which the kernel releases when the process dies for any reason. So it
// never stays taken, and two processes never have it. A record in the segment names the owner, for people and
// messages only.
//
// fork(): a child does not inherit owner slots. These locks belong to an open file, which a child would share
// with its parent. The parent's owner slot would then stay taken while any child lives. Therefore fork() and
// exec() close the file in the child. There is_taken() is false and beat() does nothing. Children of a bare
// clone(2) or vfork(2) are not covered.
//
// We cannot reopen the segment of another user (SegmentServerOptions::users), so the locks are on the mapped
// file itself. A child then loses the memory too, and an access to it faults. If you pass such a descriptor
// on without a server, open it anew for each receiver. Receivers that share one open file share their owner
// slots.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "takt/core/time.hpp"
#include "takt/shm/layout.hpp"

namespace takt::platform {

namespace detail {
class LockFile;
class Mapping;
class SegmentBuilder;
}  // namespace detail

/// The owner of an owner slot, or the last one, as that process has recorded it.
struct SlotOwner {
  std::uint32_t pid = 0;  ///< process id; 0: no owner
  /// Start of that process in clock ticks since boot. It distinguishes processes with the same id.
  std::uint64_t start_time = 0;
  std::uint64_t epoch = 0;  ///< a random number, new for each owner
};

/// The state of an owner slot as other processes see it.
struct OwnerSlotStatus {
  bool alive = false;                       ///< a process holds the lock; the only reliable member
  SlotOwner owner;                          ///< as recorded
  std::uint32_t takeovers = 0;              ///< how often it was taken over from a dead owner
  std::optional<Duration> since_heartbeat;  ///< whole ms, rounded down, up to 24 days; empty: never
};

/// An owner slot of this process. The destructor releases it. It keeps the segment's memory mapped. One
/// thread at a time may use it.
class OwnerSlot {
 public:
  OwnerSlot() noexcept;
  OwnerSlot(OwnerSlot&& other) noexcept;
  OwnerSlot& operator=(OwnerSlot&& other) noexcept;
  ~OwnerSlot();

  /// Whether this process owns the owner slot. False after a move, in a child of fork(), and for an end that
  /// needs no owner slot.
  [[nodiscard]] bool is_taken() const noexcept;

  /// The previous owner, if it died without releasing the owner slot.
  [[nodiscard]] const std::optional<SlotOwner>& predecessor() const noexcept { return predecessor_; }
  [[nodiscard]] const SlotOwner& owner() const noexcept { return owner_; }  ///< this process

  /// Records a heartbeat for other processes. `now` is SteadyClock's. Real-time safe.
  void beat(Time now) noexcept;

 private:
  friend class Segment;
  friend class detail::SegmentBuilder;
  /// Takes owner slot `number`, whose lock this process holds. Without a lock, takes none.
  OwnerSlot(std::shared_ptr<detail::Mapping> mapping, std::unique_ptr<detail::LockFile> lock,
            const shm::Layout& layout, std::uint32_t number);
  void give_back() noexcept;

  std::shared_ptr<detail::Mapping> mapping_;
  std::unique_ptr<detail::LockFile> lock_;
  shm::OwnerSlotRecord* record_ = nullptr;
  std::uint32_t number_ = 0;
  SlotOwner owner_;
  std::optional<SlotOwner> predecessor_;
};

}  // namespace takt::platform
