// The right to be the one who writes or reads at some place of a shared segment. A seat is a file lock, which the kernel takes
// back from a process that dies, however it dies: so a seat is never left taken, nor given to two. Beside the lock a record in the
// segment says who sits there, for people and messages; nothing is decided by it.
//
// fork(): a child does not inherit seats. Locks of this kind belong to an open file, which a child shares with its parent, so
// that a parent's seat would stay taken for as long as some child of it lives. Therefore the file is closed in every child, as well
// as by exec; there the seat is not taken any more, and beat() does nothing. Children made by a bare clone(2) or vfork(2) escape
// this.
//
// The segment of another user (SegmentServerOptions::users) cannot be opened anew by us, so our locks are on the file that is mapped.
// A child then has neither seats nor the memory: to touch it there is a fault. Who passes such a descriptor on without a server, to
// two processes or twice to one, lets them share their seats: each needs one that was opened for it alone.
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

/// Who sits, or sat, on a seat, as that process has written it down.
struct SeatOwner {
  std::uint32_t pid = 0;  ///< 0: nobody
  std::uint64_t start_time =
      0;  ///< of that process, in clock ticks since the machine started: tells it from a later one
  std::uint64_t epoch = 0;  ///< a random number, another one each time that the seat is taken
};

/// What others see of a seat.
struct SeatStatus {
  bool alive = false;                       ///< somebody has the lock: the truth
  SeatOwner owner;                          ///< what is written there
  std::uint32_t takeovers = 0;              ///< how often it was taken from one that had died
  std::optional<Duration> since_heartbeat;  ///< whole milliseconds, cut off, up to 24 days; none: never
};

/// A seat that this process has. Given back when it is destroyed; keeps the segment's memory mapped until then. One thread at a
/// time.
class Seat {
 public:
  Seat() noexcept;
  Seat(Seat&& other) noexcept;
  Seat& operator=(Seat&& other) noexcept;
  ~Seat();

  /// False for one that was moved from, in a child after fork(), and for an end of an exchange that has no seats.
  [[nodiscard]] bool is_taken() const noexcept;

  /// Who sat here before and died without giving the seat back, if somebody did.
  [[nodiscard]] const std::optional<SeatOwner>& predecessor() const noexcept { return predecessor_; }
  [[nodiscard]] const SeatOwner& owner() const noexcept { return owner_; }  ///< ourselves

  /// Tells the others that we are still at work; `now` is SteadyClock's. Real-time safe.
  void beat(Time now) noexcept;

 private:
  friend class Segment;
  friend class detail::SegmentBuilder;
  /// Sits down on the seat of this number, whose lock we have; without a lock, nowhere.
  Seat(std::shared_ptr<detail::Mapping> mapping, std::unique_ptr<detail::LockFile> lock,
       const shm::Layout& layout, std::uint32_t number);
  void give_back() noexcept;

  std::shared_ptr<detail::Mapping> mapping_;
  std::unique_ptr<detail::LockFile> lock_;
  shm::SeatRecord* record_ = nullptr;
  std::uint32_t number_ = 0;
  SeatOwner owner_;
  std::optional<SeatOwner> predecessor_;
};

}  // namespace takt::platform
