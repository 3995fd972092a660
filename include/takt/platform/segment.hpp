// Shared memory with named exchanges (shm/layout.hpp). Each end of an exchange has one owner at a time.
//
//     const std::array wanted = {declare<SpscRing<Reference>>("references", 256),
//                                declare<BroadcastValue<State>>("state")};
//
//     // The real-time process:
//     auto segment = Segment::create_sealed("motion", wanted);
//     SegmentServer server;                                       // platform/segment_server.hpp
//     (void)server.open("/run/takt/motion", *segment);
//     auto references = segment->consumer<SpscRing<Reference>>("references");
//     (void)references->end.try_pop(reference);                   // in the loop
//
//     // The other process:
//     auto segment = receive_segment("/run/takt/motion", 1s);
//     auto references = segment->producer<SpscRing<Reference>>("references");
//     (void)references->end.try_push(reference);
//
// There are two kinds of segment:
//
// - Sealed: memory without a name (memfd) whose size is fixed. A peer can write anything into it, but cannot
//   truncate it, which would kill any process that touches it (SIGBUS). A real-time process uses only this
//   kind. It vanishes with the last process that has it.
// - Named: a file in /dev/shm, for processes of one user that trust each other. It outlives its processes,
//   and a restarted process continues with its contents. Each process that has it open holds a lock, so `takt
//   shm clean` recognises unused files. Any process of the user can truncate the file; a process that then
//   touches it dies (SIGBUS). Other users cannot open it.
//
// A peer of a sealed segment can still do two things:
//
// - With write access it can punch holes. Their pages return as zeros after a page fault, even in locked
//   memory. Without free memory the fault is a SIGBUS.
// - With read access it can hold a read lock on the file. Then no process can take a free owner slot; taken
//   ones stay with their owners.
//
// Set-up is not real-time safe: system calls, heap. Afterwards all pages are allocated and touched, so access
// is real-time safe.
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
#include "takt/platform/owner_slot.hpp"
#include "takt/shm/layout.hpp"

namespace takt::platform {

namespace detail {
class SegmentBuilder;
}

/// How a process maps a segment.
enum class Access : std::uint8_t { read_write, read_only };

/// How to create or attach a segment.
struct SegmentOptions {
  Access access = Access::read_write;  ///< read_only: for monitors, without owner slots
  bool lock_memory = false;            ///< prevent paging; see memory_lock_failure()
  /// User id of the required owner. Empty: this user for named segments, any user for sealed ones.
  std::optional<std::uint32_t> owner;
  std::uint64_t max_bytes = std::uint64_t{1} << 30;  ///< larger segments are rejected
};

/// An end of an exchange and its owner slot. The end continues where its predecessor stopped. Keep the whole
/// claim while you use the end. A copy of the end alone keeps neither the owner slot nor the memory.
template <class End>
struct Claim {
  OwnerSlot owner_slot;  ///< not taken if readers need no owner slot
  End end;
};

/// A shared segment that this process has attached. Owner slots and claims keep its memory mapped after its
/// destruction.
class Segment {
 public:
  /// Creates sealed memory. `name` is for people and appears in /proc. Errors: the errors of
  /// shm::Layout::write() for `wanted`, memory_full, segment_failed.
  [[nodiscard]] static SetupResult<Segment> create_sealed(const std::string& name,
                                                          std::span<const shm::Declaration> wanted,
                                                          const SegmentOptions& options = {});

  /// Attaches sealed memory that was received as a descriptor. The caller keeps the descriptor. Fills holes
  /// in the memory unless it is mapped read-only. Errors: not_sealed, wrong_owner, memory_full,
  /// segment_failed, and the errors of shm::Layout::read().
  [[nodiscard]] static SetupResult<Segment> attach(int descriptor, const SegmentOptions& options = {});

  /// Creates a named segment that only this user may open (mode 0600). `name` has 1 to 63 letters, digits,
  /// '_', '-' or '.'. Errors: segment_exists, bad_segment_name, memory_full, segment_failed, and the errors
  /// of shm::Layout::write() for `wanted`.
  [[nodiscard]] static SetupResult<Segment> create(const std::string& name,
                                                   std::span<const shm::Declaration> wanted,
                                                   const SegmentOptions& options = {});

  /// Attaches a named segment. Errors: no_such_segment, wrong_owner, wrong_mode, bad_segment_name,
  /// memory_full, segment_failed, and the errors of shm::Layout::read(), such as not_ready for a segment
  /// without a layout.
  [[nodiscard]] static SetupResult<Segment> open(const std::string& name, const SegmentOptions& options = {});

  /// Attaches a named segment, or creates it. If several processes start together, one creates it and the
  /// others wait up to `timeout`. If that one dies, the next creates it. An unused segment with other
  /// exchanges than `wanted` is replaced.
  ///
  /// Errors: as create() and open(); wrong_schema, wrong_kind, wrong_extent or no_such_exchange if another
  /// process uses a different segment.
  [[nodiscard]] static SetupResult<Segment> open_or_create(const std::string& name,
                                                           std::span<const shm::Declaration> wanted,
                                                           Duration timeout = std::chrono::seconds(1),
                                                           const SegmentOptions& options = {});

  /// Removes the name. Processes that have the memory keep it. Errors: no_such_segment, segment_failed.
  static SetupResult<void> remove(const std::string& name);

  /// Succeeds if the segment is takt's, belongs to this user, and no process has it open. Errors:
  /// segment_in_use, no_such_segment, wrong_owner, wrong_mode, shm's not_a_segment, segment_failed.
  static SetupResult<void> check_unused(const std::string& name);
  /// Removes the name if check_unused() succeeds. No process can attach the segment in between. But if a
  /// process replaces the name in between, the new segment loses its name. Errors: as check_unused().
  static SetupResult<void> remove_unused(const std::string& name);
  /// The names of all segments of any user. Contains only names that create() accepts, so they are safe to
  /// print.
  [[nodiscard]] static std::vector<std::string> names();

  /// Takes owner slot `owner_slot` of the producers of exchange X and creates the writing end. Errors:
  /// slot_taken (the message names the owner), and as shm::Layout::producer().
  template <class X>
  [[nodiscard]] SetupResult<Claim<typename shm::ExchangeTraits<X>::Producer>> producer(
      std::string_view name, std::uint32_t owner_slot = 0) {
    return claim<typename shm::ExchangeTraits<X>::Producer>(name, shm::Role::producer, owner_slot, [&] {
      return layout().template producer<X>(name, owner_slot);
    });
  }

  /// Takes owner slot `owner_slot` of the consumers and creates the reading end. If readers need no owner
  /// slot (a broadcast), any number may exist. Errors: as producer().
  template <class X>
  [[nodiscard]] SetupResult<Claim<typename shm::ExchangeTraits<X>::Consumer>> consumer(
      std::string_view name, std::uint32_t owner_slot = 0) {
    return claim<typename shm::ExchangeTraits<X>::Consumer>(name, shm::Role::consumer, owner_slot, [&] {
      return layout().template consumer<X>(name, owner_slot);
    });
  }

  /// The same for elements known at run time (shm/opaque.hpp). Creating a reader of a broadcast throws
  /// std::bad_alloc without memory.
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

  /// Takes an owner slot without creating an end. Errors: slot_taken, no_such_exchange, no_such_slot,
  /// read_only.
  [[nodiscard]] SetupResult<OwnerSlot> take_owner_slot(std::string_view exchange, shm::Role role,
                                                       std::uint32_t owner_slot = 0);

  /// The state of an owner slot. `now` is SteadyClock's. Errors: no_such_exchange, no_such_slot.
  [[nodiscard]] Result<OwnerSlotStatus> owner_slot_status(std::string_view exchange, shm::Role role,
                                                          std::uint32_t owner_slot, Time now) const;
  /// The state of owner slot `number` of the layout, which must be below layout().owner_slots(). Owner slot 0
  /// belongs to the segment's creator.
  [[nodiscard]] OwnerSlotStatus owner_slot_status(std::uint32_t number, Time now) const;

  /// The exchanges of the segment.
  [[nodiscard]] const shm::Layout& layout() const noexcept { return *layout_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] bool is_created() const noexcept { return created_; }  ///< by this object, not found
  /// Owner slot 0. This process has it if it created the segment, or took a named one over in
  /// open_or_create(). Call beat() on it to show that the process is alive.
  [[nodiscard]] OwnerSlot& owner_slot() noexcept { return owner_slot_; }
  /// The descriptor to pass to other processes. This object keeps and closes it.
  [[nodiscard]] int descriptor() const noexcept;
  /// The reason if `lock_memory` was requested but failed. The segment is usable anyway.
  [[nodiscard]] const std::optional<SetupError>& memory_lock_failure() const noexcept {
    return memory_lock_failure_;
  }

 private:
  Segment() = default;
  [[nodiscard]] SetupError refusal(Error error, std::string_view exchange) const;
  [[nodiscard]] bool needs_owner_slot(std::string_view exchange, shm::Role role) const noexcept;
  [[nodiscard]] OwnerSlot no_owner_slot() const;

  template <class End, class Make>
  SetupResult<Claim<End>> claim(std::string_view name, shm::Role role, std::uint32_t owner_slot, Make make) {
    // Rejects impossible claims before it takes the owner slot. Creates the returned end only after it has
    // the owner slot.
    auto tried = make();
    if (!tried) return tl::unexpected<SetupError>(refusal(tried.error(), name));
    if (!needs_owner_slot(name, role)) return Claim<End>{no_owner_slot(), std::move(*tried)};
    SetupResult<OwnerSlot> taken = take_owner_slot(name, role, owner_slot);
    if (!taken) return tl::unexpected<SetupError>(std::move(taken.error()));
    return Claim<End>{std::move(*taken), *make()};
  }

  friend class detail::SegmentBuilder;
  std::string name_;
  std::shared_ptr<detail::Mapping> mapping_;
  std::optional<shm::Layout> layout_;
  OwnerSlot owner_slot_;
  bool created_ = false;
  std::optional<SetupError> memory_lock_failure_;
};

}  // namespace takt::platform
