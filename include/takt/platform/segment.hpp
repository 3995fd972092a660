// Memory that processes share, with named exchanges in it (shm/layout.hpp), each of whose ends has one owner at a time.
//
//     const std::array wanted = {declare<SpscRing<Reference>>("references", 256), declare<BroadcastValue<State>>("state")};
//
//     auto segment = Segment::create_sealed("motion", wanted);                   // the real-time process
//     SegmentServer server;
//     server.open("/run/takt/motion", *segment);                                 // platform/segment_server.hpp
//     auto references = segment->consumer<SpscRing<Reference>>("references");    // SetupResult<Claim<RingConsumer<Reference>>>
//     references->end.try_pop(reference);                                        // in the loop
//
//     auto segment = receive_segment("/run/takt/motion", 1s);                    // the other process
//     auto references = segment->producer<SpscRing<Reference>>("references");
//     references->end.try_push(reference);
//
// There are two kinds of segment.
//   Sealed: memory without a name (memfd), whose size nobody can change any more. A peer can write anything into it, but cannot
//     cut it off, which would kill whoever touches it (SIGBUS). A real-time process has only these. They vanish with the last
//     process that has them. What is left to a peer that may write: to punch holes, whose pages come back as zeros with a page
//     fault, even in locked memory (and with SIGBUS if the machine has no memory left). What is left to one that may only read:
//     a read lock on the file, which keeps a seat that is free from being taken; seats that are taken stay.
//   Named: files in /dev/shm, for processes that trust each other, of one user. They outlive their processes: who starts again
//     finds what was there and goes on. Whoever has such a file open holds a lock on it, so that `takt shm clean` knows what is
//     debris. Every process of that user can cut such a file off while others work on it, and nothing saves whoever then touches
//     it (SIGBUS). Other users cannot open it.
//
// Set-up is not real-time safe: system calls, heap. What is there afterwards is memory; all pages of it are allocated and touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/core/setup_error.hpp"
#include "takt/core/time.hpp"
#include "takt/platform/error.hpp"
#include "takt/platform/seat.hpp"
#include "takt/shm/layout.hpp"

namespace takt::platform {

namespace detail {
class SegmentBuilder;
}

enum class Access : std::uint8_t { read_write, read_only };

struct SegmentOptions {
  Access access = Access::read_write;  ///< read_only: for monitors; they have no seats
  bool lock_memory = false;            ///< keep it from being paged out; see memory_lock_failure()
  std::optional<std::uint32_t>
      owner;  ///< user number that it must belong to. Named: our own if not given. Sealed: any
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  ///< a larger one is neither attached nor made
};

/// An end of an exchange, and the seat that makes it ours. The end goes on where its predecessor stopped. Keep the whole claim for
/// as long as the end is used: an end that was copied out of it has neither the seat nor the memory.
template <class End>
struct Claim {
  Seat seat;  ///< not taken where readers need none
  End end;
};

/// A shared segment that this process has attached. Seats and claims keep its memory when it is gone.
class Segment {
 public:
  /// Makes sealed memory; `name` is for people (it shows in /proc). Errors: shm's for what is wanted, memory_full, segment_failed.
  [[nodiscard]] static SetupResult<Segment> create_sealed(const std::string& name,
                                                          std::span<const shm::Declaration> wanted,
                                                          const SegmentOptions& options = {});

  /// Attaches sealed memory that came as a descriptor, which stays the caller's. Holes in it are filled, if it is to be written.
  /// Errors: not_sealed, wrong_owner, memory_full, shm's for what was found, segment_failed.
  [[nodiscard]] static SetupResult<Segment> attach(int descriptor, const SegmentOptions& options = {});

  /// Makes a named segment that only we may open (mode 0600). `name`: 1 to 63 letters, digits, '_', '-' or '.'.
  /// Errors: segment_exists, bad_segment_name, memory_full, segment_failed, shm's for what is wanted.
  [[nodiscard]] static SetupResult<Segment> create(const std::string& name,
                                                   std::span<const shm::Declaration> wanted,
                                                   const SegmentOptions& options = {});

  /// Attaches a named segment. Errors: no_such_segment, wrong_owner, wrong_mode, bad_segment_name, memory_full, segment_failed,
  /// shm's for what was found; not_ready if it is not laid out yet.
  [[nodiscard]] static SetupResult<Segment> open(const std::string& name, const SegmentOptions& options = {});

  /// Attaches a named segment, or makes it. Of several that start at once, one makes it; the others wait up to `timeout` for it. If
  /// one died in the middle of that, the next does it again. A segment with other exchanges than those wanted is replaced if nobody
  /// has it. Errors: as create() and open(); wrong_schema, wrong_kind, wrong_extent or no_such_exchange when somebody has one that
  /// differs.
  [[nodiscard]] static SetupResult<Segment> open_or_create(const std::string& name,
                                                           std::span<const shm::Declaration> wanted,
                                                           Duration timeout = std::chrono::seconds(1),
                                                           const SegmentOptions& options = {});

  /// Removes the name; who has the memory keeps it. Errors: no_such_segment, segment_failed.
  static SetupResult<void> remove(const std::string& name);

  /// Whether a name is debris: takt's, ours, and nobody has it. Errors: segment_in_use, no_such_segment, wrong_owner, wrong_mode,
  /// shm's not_a_segment, segment_failed.
  static SetupResult<void> check_unused(const std::string& name);
  /// Removes the name if it is debris. Nobody can attach it in between; but who then removes it and makes another under this name
  /// loses that name. Errors: as check_unused().
  static SetupResult<void> remove_unused(const std::string& name);
  /// The names of all segments that there are, of any user: only such names as create() takes, so that they can be printed.
  [[nodiscard]] static std::vector<std::string> names();

  /// Takes a seat for writing at an exchange X and makes the end. Errors: slot_taken (says by whom); as Layout::producer().
  template <class X>
  [[nodiscard]] SetupResult<Claim<typename shm::ExchangeTraits<X>::Producer>> producer(
      std::string_view name, std::uint32_t seat = 0) {
    return claim<typename shm::ExchangeTraits<X>::Producer>(
        name, shm::Role::producer, seat, [&] { return layout().template producer<X>(name, seat); });
  }

  /// The same for reading. Where readers have no seats (a broadcast), any number may do this.
  template <class X>
  [[nodiscard]] SetupResult<Claim<typename shm::ExchangeTraits<X>::Consumer>> consumer(
      std::string_view name, std::uint32_t seat = 0) {
    return claim<typename shm::ExchangeTraits<X>::Consumer>(
        name, shm::Role::consumer, seat, [&] { return layout().template consumer<X>(name, seat); });
  }

  /// The same of elements known at run time (shm/opaque.hpp). Making readers of broadcasts throws std::bad_alloc where there is no
  /// memory left.
  template <class X>
  [[nodiscard]] SetupResult<Claim<typename shm::ExchangeTraits<X>::Producer>> producer(
      std::string_view name, const shm::Opaque& element) {
    return claim<typename shm::ExchangeTraits<X>::Producer>(
        name, shm::Role::producer, 0, [&] { return layout().template producer<X>(name, element); });
  }
  template <class X>
  [[nodiscard]] SetupResult<Claim<typename shm::ExchangeTraits<X>::Consumer>> consumer(
      std::string_view name, const shm::Opaque& element) {
    return claim<typename shm::ExchangeTraits<X>::Consumer>(
        name, shm::Role::consumer, 0, [&] { return layout().template consumer<X>(name, element); });
  }

  /// A seat by itself. Errors: slot_taken, no_such_exchange, no_such_slot, read_only.
  [[nodiscard]] SetupResult<Seat> take_seat(std::string_view exchange, shm::Role role,
                                            std::uint32_t seat = 0);

  /// Errors: no_such_exchange, no_such_slot.
  [[nodiscard]] Result<SeatStatus> seat_status(std::string_view exchange, shm::Role role, std::uint32_t seat,
                                               Time now) const;
  /// By its number in the layout; `number` is below layout().seats(). Seat 0 is taken by whoever made the segment.
  [[nodiscard]] SeatStatus seat_status(std::uint32_t number, Time now) const;

  [[nodiscard]] const shm::Layout& layout() const noexcept { return *layout_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool is_created() const noexcept { return created_; }  ///< by us, not found
  /// The seat of the one who made the segment or, of a named one, who took it over (open_or_create). Beat it to show life.
  [[nodiscard]] Seat& owner_seat() noexcept { return owner_seat_; }
  /// For passing on to other processes; stays ours, and valid as long as this object.
  [[nodiscard]] int descriptor() const noexcept;
  /// Why the memory is not locked although that was asked for; the segment can be used all the same.
  [[nodiscard]] const std::optional<SetupError>& memory_lock_failure() const noexcept {
    return memory_lock_failure_;
  }

 private:
  Segment() = default;
  [[nodiscard]] SetupError refusal(Error error, std::string_view exchange) const;
  [[nodiscard]] bool needs_seat(std::string_view exchange, shm::Role role) const noexcept;
  [[nodiscard]] Seat no_seat() const;

  template <class End, class Make>
  SetupResult<Claim<End>> claim(std::string_view name, shm::Role role, std::uint32_t seat, Make make) {
    // What cannot be is refused before the seat is taken; the end that counts is made when the seat is ours.
    auto tried = make();
    if (!tried) return tl::unexpected<SetupError>(refusal(tried.error(), name));
    if (!needs_seat(name, role)) return Claim<End>{no_seat(), std::move(*tried)};
    SetupResult<Seat> taken = take_seat(name, role, seat);
    if (!taken) return tl::unexpected<SetupError>(std::move(taken.error()));
    return Claim<End>{std::move(*taken), *make()};
  }

  friend class detail::SegmentBuilder;
  std::string name_;
  std::shared_ptr<detail::Mapping> mapping_;
  std::optional<shm::Layout> layout_;
  Seat owner_seat_;
  bool created_ = false;
  std::optional<SetupError> memory_lock_failure_;
};

}  // namespace takt::platform
