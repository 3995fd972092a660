#include "takt/platform/segment.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "platform/deadline.hpp"
#include "platform/descriptor.hpp"
#include "platform/identity.hpp"
#include "platform/lock_file.hpp"
#include "platform/mapping.hpp"
#include "takt/platform/steady_clock.hpp"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U  // Linux 6.3
#endif

namespace takt::platform {
namespace {

using detail::Descriptor;
using detail::Lock;
using detail::LockFile;
using detail::text_of;

constexpr std::string_view file_prefix = "takt.";
constexpr mode_t only_ours = 0600;
constexpr int not_waiting = O_NONBLOCK;  // for a pipe that another program has put there
// Time between two checks of another process's progress.
constexpr Duration step = std::chrono::milliseconds(1);

template <class T>
using Unexpected = tl::unexpected<T>;

/// The text of an error of this room or of shm.
std::string_view words_for(Error error) {
  return error.room == Room::shm ? describe(static_cast<shm::Errc>(error.code))
                                 : describe(static_cast<Errc>(error.code));
}

Unexpected<SetupError> failed(Error error, std::string_view segment, std::string_view why) {
  return fail(error, fmt::format("segment {}: {}", segment, why));
}
Unexpected<SetupError> failed(Errc error, std::string_view segment, std::string_view what, int number) {
  return failed(error, segment, fmt::format("{}: {}", what, text_of(number)));
}
Unexpected<SetupError> failed(Error error, std::string_view segment) {
  return failed(error, segment, words_for(error));
}

bool is_segment_name(std::string_view name) {
  return !name.empty() && name.size() <= 63 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

std::string path_of(std::string_view name) { return fmt::format("/{}{}", file_prefix, name); }

/// The bytes that the exchanges need. An error names the exchange at fault.
SetupResult<std::size_t> bytes_wanted(std::string_view segment, std::span<const shm::Declaration> wanted,
                                      const SegmentOptions& options) {
  const Result<std::uint64_t> bytes = shm::Layout::bytes(wanted);
  if (bytes && *bytes > options.max_bytes) {
    return failed(shm::Errc::does_not_fit, segment,
                  fmt::format("it needs {} bytes; at most {} are allowed", *bytes, options.max_bytes));
  }
  if (bytes) return static_cast<std::size_t>(*bytes);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (const auto alone = shm::Layout::bytes(wanted.subspan(i, 1)); !alone) {
      return failed(alone.error(), segment,
                    fmt::format("exchange {} (\"{}\"): {}", i, wanted[i].name, words_for(alone.error())));
    }
  }
  return failed(bytes.error(), segment);
}

/// The first difference between a layout and the wanted one; empty if they are equal.
std::optional<SetupError> difference(std::string_view segment, const shm::Layout& layout,
                                     std::span<const shm::Declaration> wanted) {
  const auto differs = [&](shm::Errc error, const std::string& how) {
    return SetupError{error, fmt::format("segment {}: {}", segment, how)};
  };
  for (const shm::Declaration& one : wanted) {
    const auto found = layout.find(one.name);
    if (!found) return differs(shm::Errc::no_such_exchange, fmt::format("it has no exchange {}", one.name));
    const shm::Exchange& exchange = **found;
    if (exchange.kind != one.kind) {
      return differs(shm::Errc::wrong_kind, fmt::format("exchange {} is a {}, not a {}", one.name,
                                                        kind_name(exchange.kind), kind_name(one.kind)));
    }
    if (exchange.extent != one.extent) {
      return differs(shm::Errc::wrong_extent,
                     fmt::format("exchange {} has capacity {}, not {}, or another number of owner slots",
                                 one.name, exchange.extent.capacity, one.extent.capacity));
    }
    if (exchange.schema_hash != fnv1a(one.schema) || exchange.element_bytes != one.element_bytes ||
        exchange.element_alignment != one.element_alignment || exchange.bytes != one.bytes) {
      return differs(shm::Errc::wrong_schema,
                     fmt::format("exchange {} does not hold \"{}\"", one.name, one.schema));
    }
  }
  if (layout.exchanges().size() != wanted.size()) {
    return differs(shm::Errc::no_such_exchange, "it has more exchanges than expected");
  }
  return std::nullopt;
}

/// A segment's file, and the lock that marks it as in use.
struct Opened {
  Descriptor file;
  std::unique_ptr<LockFile> presence;
};

SetupResult<void> check_file(int file, std::string_view name, const SegmentOptions& options) {
  struct stat about {};
  if (::fstat(file, &about) != 0) return failed(Errc::segment_failed, name, "fstat", errno);
  const std::uint32_t owner = options.owner.value_or(::geteuid());
  if (about.st_uid != owner) {
    return failed(Errc::wrong_owner, name, fmt::format("it belongs to user {}, not {}", about.st_uid, owner));
  }
  if (!S_ISREG(about.st_mode)) return failed(shm::Errc::not_a_segment, name, "it is not a file");
  if ((about.st_mode & 077) != 0) {
    return failed(Errc::wrong_mode, name,
                  fmt::format("its mode is {:04o}; allowed is {:04o}", about.st_mode & 07777, only_ours));
  }
  return {};
}

/// Whether the file's name was removed.
bool is_removed(int file) {
  struct stat about {};
  return ::fstat(file, &about) == 0 && about.st_nlink == 0;
}

/// Opens a named segment and marks it as in use. `flags`: as for open(2). Waits up to a second for a process
/// that is removing it.
SetupResult<Opened> open_named(const std::string& name, int flags, const SegmentOptions& options) {
  if (!is_segment_name(name)) return failed(Errc::bad_segment_name, name);
  const bool writable = options.access == Access::read_write;
  SteadyClock clock;
  for (const Time deadline = clock.now() + std::chrono::seconds(1); clock.now() < deadline;) {
    // shm_open() adds O_CLOEXEC and O_NOFOLLOW, so a link to another file is rejected.
    Opened opened{Descriptor(::shm_open(path_of(name).c_str(),
                                        flags | not_waiting | (writable ? O_RDWR : O_RDONLY), only_ours)),
                  {}};
    if (!opened.file.is_open()) {
      if (errno == ENOENT) return failed(Errc::no_such_segment, name);
      if (errno == EEXIST) return failed(Errc::segment_exists, name);
      if (errno == EACCES) return failed(Errc::wrong_owner, name, "it cannot be opened", errno);
      return failed(Errc::segment_failed, name, "shm_open", errno);
    }
    if (const auto checked = check_file(opened.file.get(), name, options); !checked) {
      return Unexpected<SetupError>(checked.error());
    }
    opened.presence = LockFile::reopen(opened.file.get(), writable);
    if (!opened.presence) return failed(Errc::segment_failed, name, "/proc/self/fd", errno);
    const bool present = opened.presence->take(detail::presence_byte, Lock::shared);
    if (!present && errno != EAGAIN && errno != EACCES) {
      return failed(Errc::segment_failed, name, "F_OFD_SETLK", errno);
    }
    if (present && !is_removed(opened.file.get())) return opened;
    clock.sleep_until(clock.now() + step);
  }
  return failed(Errc::segment_in_use, name, "another process is removing it and has not finished");
}

/// Sets the size of a file and allocates all pages now, so a later access cannot fail for lack of memory
/// (SIGBUS). Keeps the contents. The size changes last, so a process that sees a file with a size may touch
/// all of it.
SetupResult<void> allocate(int file, std::string_view name, std::size_t bytes) {
  const auto size = static_cast<off_t>(bytes);
  int error = 0;
  // A signal interrupts the call. The limit prevents an endless loop under frequent signals.
  for (int attempt = 0; attempt < 100; ++attempt) {
    error = ::posix_fallocate(file, 0, size);
    if (error != EINTR) break;
  }
  if (error == 0) return {};
  const bool full = error == ENOSPC || error == ENOMEM || error == EDQUOT || error == EFBIG;
  return failed(full ? Errc::memory_full : Errc::segment_failed, name,
                fmt::format("{} bytes: {}", bytes, text_of(error)));
}

}  // namespace

namespace detail {

/// The steps that all ways to create or attach a segment share.
class SegmentBuilder {
 public:
  SegmentBuilder(std::string name, const SegmentOptions& options) : options_(options) {
    segment_.name_ = std::move(name);
  }

  /// Maps a file and reads its layout.
  SetupResult<Segment> attach(Opened opened) {
    struct stat about {};
    if (::fstat(opened.file.get(), &about) != 0) return failed(Errc::segment_failed, name(), "fstat", errno);
    const auto size = static_cast<std::uint64_t>(about.st_size);
    if (size == 0) return failed(shm::Errc::not_ready, name());
    if (size < sizeof(shm::detail::LayoutHeader) || size > options_.max_bytes) {
      return failed(shm::Errc::wrong_size, name(),
                    fmt::format("it has {} bytes; at most {} are allowed", size, options_.max_bytes));
    }
    if (options_.access == Access::read_write) {
      // Holes and pages never written are not allocated yet.
      const auto filled = allocate(opened.file.get(), name(), static_cast<std::size_t>(size));
      if (!filled) return Unexpected<SetupError>(filled.error());
    }
    if (const auto mapped = map(std::move(opened), static_cast<std::size_t>(size)); !mapped) {
      return Unexpected<SetupError>(mapped.error());
    }
    const auto layout = options_.access == Access::read_write ? shm::Layout::read(memory())
                                                              : shm::Layout::read_only(memory());
    if (!layout) return failed(layout.error(), name());
    if (layout->size() != size) {
      return failed(shm::Errc::wrong_size, name(),
                    fmt::format("its header says {} bytes, but it has {}", layout->size(), size));
    }
    segment_.layout_ = *layout;
    return std::move(segment_);
  }

  /// Allocates a file, maps it and writes its layout. `lock` is the lock of owner slot 0. After an error the
  /// caller keeps it.
  SetupResult<Segment> build(Opened opened, std::unique_ptr<LockFile>& lock, std::size_t bytes,
                             std::span<const shm::Declaration> wanted, int seals) {
    const int file = opened.file.get();
    if (const auto done = allocate(file, name(), bytes); !done) return Unexpected<SetupError>(done.error());
    if (seals != 0 && ::fcntl(file, F_ADD_SEALS, seals) != 0) {
      return failed(Errc::segment_failed, name(), "F_ADD_SEALS", errno);
    }
    if (const auto done = map(std::move(opened), bytes); !done) return Unexpected<SetupError>(done.error());
    const auto layout = shm::Layout::write(memory(), wanted, random_number());
    if (!layout) return failed(layout.error(), name());
    segment_.layout_ = *layout;
    segment_.created_ = true;
    return own(std::move(segment_), std::move(lock));
  }

  /// Takes owner slot 0, whose lock this process holds.
  static Segment own(Segment segment, std::unique_ptr<LockFile> lock) {
    segment.owner_slot_ = OwnerSlot(segment.mapping_, std::move(lock), *segment.layout_, 0);
    return segment;
  }

 private:
  [[nodiscard]] const std::string& name() const { return segment_.name_; }
  [[nodiscard]] std::span<std::byte> memory() const { return segment_.mapping_->memory(); }

  SetupResult<void> map(Opened opened, std::size_t bytes) {
    const bool writable = options_.access == Access::read_write;
    void* address = ::mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                           MAP_SHARED | MAP_POPULATE, opened.file.get(), 0);
    if (address == MAP_FAILED) return failed(Errc::segment_failed, name(), "mmap", errno);
    segment_.mapping_ =
        std::make_shared<Mapping>(std::move(opened.file), std::move(opened.presence), address, bytes);
    if (writable) {
      // Before the first owner slot is taken, because fork() may come earlier.
      const auto lock = LockFile::reopen(segment_.descriptor(), true);
      if (lock && lock->is_shared()) segment_.mapping_->keep_from_children();
    }
    if (options_.lock_memory && ::mlock(address, bytes) != 0) {
      const int error = errno;
      rlimit limit{};
      ::getrlimit(RLIMIT_MEMLOCK, &limit);
      segment_.memory_lock_failure_ = SetupError{
          Errc::segment_failed,
          fmt::format("segment {}: {} bytes cannot be locked in memory: {} (RLIMIT_MEMLOCK, ulimit "
                      "-l, is {} bytes)",
                      name(), bytes, text_of(error), limit.rlim_cur)};
    }
    return {};
  }

  SegmentOptions options_;
  Segment segment_;
};

}  // namespace detail

namespace {

/// Locks owner slot 0. Only its holder may build the segment. Returns null with errno; EAGAIN if another
/// process holds it.
std::unique_ptr<LockFile> lock_owner_slot(int file) {
  auto lock = LockFile::reopen(file, true);
  return lock && lock->take(detail::owner_slot_byte(0), Lock::exclusive) ? std::move(lock) : nullptr;
}

/// Builds a named segment in an empty file. Removes the name if that fails.
SetupResult<Segment> build_named(const std::string& name, Opened opened, std::unique_ptr<LockFile> lock,
                                 std::size_t bytes, std::span<const shm::Declaration> wanted,
                                 const SegmentOptions& options) {
  const int file = lock->descriptor();
  auto built = detail::SegmentBuilder(name, options).build(std::move(opened), lock, bytes, wanted, 0);
  // While we hold the lock, so its next holder sees that the name is removed.
  if (!built && !is_removed(file)) ::shm_unlink(path_of(name).c_str());
  return built;
}

/// Rejects read-only options for a new segment.
SetupResult<void> check_writable(const std::string& name, const SegmentOptions& options) {
  if (options.access == Access::read_write) return {};
  return failed(shm::Errc::read_only, name, "a new segment must be open for writing");
}

}  // namespace

SetupResult<Segment> Segment::create_sealed(const std::string& name, std::span<const shm::Declaration> wanted,
                                            const SegmentOptions& options) {
  if (!is_segment_name(name)) return failed(Errc::bad_segment_name, name);
  if (const auto checked = check_writable(name, options); !checked) {
    return Unexpected<SetupError>(checked.error());
  }
  const SetupResult<std::size_t> bytes = bytes_wanted(name, wanted, options);
  if (!bytes) return Unexpected<SetupError>(bytes.error());
  const std::string file_name = fmt::format("{}{}", file_prefix, name);
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Descriptor file(::memfd_create(file_name.c_str(), flags | MFD_NOEXEC_SEAL));
  if (!file.is_open() && errno == EINVAL) file = Descriptor(::memfd_create(file_name.c_str(), flags));
  if (!file.is_open()) return failed(Errc::segment_failed, name, "memfd_create", errno);
  // Otherwise a process with read access could reopen it through /proc for writing.
  if (::fchmod(file.get(), only_ours) != 0) return failed(Errc::segment_failed, name, "fchmod", errno);
  auto lock = lock_owner_slot(file.get());
  if (!lock) return failed(Errc::segment_failed, name, "the lock of owner slot 0", errno);
  return detail::SegmentBuilder(name, options)
      .build({std::move(file), nullptr}, lock, *bytes, wanted, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

SetupResult<Segment> Segment::attach(int descriptor, const SegmentOptions& options) {
  const std::string name = fmt::format("of descriptor {}", descriptor);
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 && errno == EBADF) return failed(Errc::segment_failed, name, "F_GET_SEALS", errno);
  constexpr int needed = F_SEAL_SHRINK | F_SEAL_GROW;
  if (seals < 0 || (seals & needed) != needed) return failed(Errc::not_sealed, name);
  // Other page kinds (MFD_HUGETLB) can run out at an access, which kills the process (SIGBUS).
  struct statfs system {};
  if (::fstatfs(descriptor, &system) != 0) return failed(Errc::segment_failed, name, "fstatfs", errno);
  if (system.f_type != TMPFS_MAGIC)
    return failed(shm::Errc::not_a_segment, name, "it is not ordinary memory (tmpfs)");
  struct stat about {};
  if (::fstat(descriptor, &about) != 0) return failed(Errc::segment_failed, name, "fstat", errno);
  if (options.owner && about.st_uid != *options.owner) {
    return failed(Errc::wrong_owner, name,
                  fmt::format("it belongs to user {}, not {}", about.st_uid, *options.owner));
  }
  const int mode = ::fcntl(descriptor, F_GETFL);
  if (options.access == Access::read_write && (mode & O_ACCMODE) != O_RDWR) {
    return failed(shm::Errc::read_only, name);
  }
  Descriptor ours(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!ours.is_open()) return failed(Errc::segment_failed, name, "F_DUPFD_CLOEXEC", errno);
  return detail::SegmentBuilder(name, options).attach({std::move(ours), nullptr});
}

SetupResult<Segment> Segment::create(const std::string& name, std::span<const shm::Declaration> wanted,
                                     const SegmentOptions& options) {
  if (const auto checked = check_writable(name, options); !checked) {
    return Unexpected<SetupError>(checked.error());
  }
  const SetupResult<std::size_t> bytes = bytes_wanted(name, wanted, options);
  if (!bytes) return Unexpected<SetupError>(bytes.error());
  for (;;) {
    auto opened = open_named(name, O_CREAT | O_EXCL, options);
    if (!opened) return Unexpected<SetupError>(std::move(opened.error()));
    auto lock = lock_owner_slot(opened->file.get());
    // Between the two calls another process may have started to build the segment here (open_or_create), or
    // have failed to.
    if (lock && is_removed(lock->descriptor())) continue;
    struct stat about {};
    if (!lock || ::fstat(opened->file.get(), &about) != 0 || about.st_size != 0) {
      return failed(Errc::segment_exists, name);
    }
    return build_named(name, std::move(*opened), std::move(lock), *bytes, wanted, options);
  }
}

SetupResult<Segment> Segment::open(const std::string& name, const SegmentOptions& options) {
  auto opened = open_named(name, 0, options);
  if (!opened) return Unexpected<SetupError>(std::move(opened.error()));
  return detail::SegmentBuilder(name, options).attach(std::move(*opened));
}

SetupResult<Segment> Segment::open_or_create(const std::string& name,
                                             std::span<const shm::Declaration> wanted, Duration timeout,
                                             const SegmentOptions& options) {
  if (const auto checked = check_writable(name, options); !checked) {
    return Unexpected<SetupError>(checked.error());
  }
  const SetupResult<std::size_t> bytes = bytes_wanted(name, wanted, options);
  if (!bytes) return Unexpected<SetupError>(bytes.error());
  SteadyClock clock;
  const Time deadline = detail::deadline_after(clock.now(), timeout);
  for (;;) {
    auto opened = open_named(name, O_CREAT, options);
    if (!opened) return Unexpected<SetupError>(std::move(opened.error()));
    auto lock = lock_owner_slot(opened->file.get());
    // The previous holder of the lock could not build the segment and removed the name.
    if (lock && is_removed(lock->descriptor())) continue;
    struct stat about {};
    if (::fstat(opened->file.get(), &about) != 0) return failed(Errc::segment_failed, name, "fstat", errno);
    // The file is empty and we hold the lock, so no other process builds or maps it.
    if (lock && about.st_size == 0) {
      return build_named(name, std::move(*opened), std::move(lock), *bytes, wanted, options);
    }
    auto found = detail::SegmentBuilder(name, options).attach(std::move(*opened));
    auto wrong = found ? difference(name, found->layout(), wanted) : std::optional(std::move(found.error()));
    if (!wrong && !lock) return found;
    if (!wrong) return detail::SegmentBuilder::own(std::move(*found), std::move(lock));
    const bool ours = wrong->error.room == Room::shm && wrong->error != shm::Errc::not_a_segment;
    const bool wait = ours && (lock || wrong->error == shm::Errc::not_ready);
    if (!wait || clock.now() >= deadline) return Unexpected<SetupError>(std::move(*wrong));
    found = failed(shm::Errc::not_ready, name);  // releases the segment
    // A dead process started it, or it has other exchanges, and no process uses it. So it is removed for a
    // new one. Our exclusive presence lock keeps other processes out meanwhile.
    if (lock && lock->take(detail::presence_byte, Lock::exclusive)) {
      if (!is_removed(lock->descriptor())) ::shm_unlink(path_of(name).c_str());
    } else {
      clock.sleep_until(clock.now() + step);
    }
  }
}

SetupResult<void> Segment::remove(const std::string& name) {
  if (!is_segment_name(name)) return failed(Errc::bad_segment_name, name);
  if (::shm_unlink(path_of(name).c_str()) == 0) return {};
  if (errno == ENOENT) return failed(Errc::no_such_segment, name);
  return failed(Errc::segment_failed, name, "shm_unlink", errno);
}

namespace {

/// Whether the file starts like a takt segment of any version, or was never written.
bool looks_like_ours(int file) {
  std::uint32_t magic = 0;
  if (::pread(file, &magic, sizeof magic, 0) < 0) return false;
  return magic == 0 || magic == shm::detail::magic || magic == shm::detail::other_magic;
}

/// Opens a segment for removal, if it is takt's and belongs to this user.
SetupResult<Descriptor> open_debris(const std::string& name) {
  if (!is_segment_name(name)) return failed(Errc::bad_segment_name, name);
  Descriptor file(::shm_open(path_of(name).c_str(), O_RDWR | not_waiting, 0));
  if (!file.is_open() && errno == ENOENT) return failed(Errc::no_such_segment, name);
  if (!file.is_open() && errno == EACCES)
    return failed(Errc::wrong_owner, name, "it cannot be opened", errno);
  if (!file.is_open()) return failed(Errc::segment_failed, name, "shm_open", errno);
  if (const auto checked = check_file(file.get(), name, {}); !checked) {
    return Unexpected<SetupError>(checked.error());
  }
  if (!looks_like_ours(file.get())) return failed(shm::Errc::not_a_segment, name);
  return file;
}

/// Locks an unused segment. No process can attach it while the result lives.
SetupResult<std::unique_ptr<LockFile>> hold_unused(const std::string& name) {
  const auto file = open_debris(name);
  if (!file) return Unexpected<SetupError>(file.error());
  auto lock = LockFile::reopen(file->get(), true);
  if (!lock) return failed(Errc::segment_failed, name, "/proc/self/fd", errno);
  if (!lock->take(detail::presence_byte, Lock::exclusive)) {
    if (errno == EAGAIN || errno == EACCES) return failed(Errc::segment_in_use, name);
    return failed(Errc::segment_failed, name, "F_OFD_SETLK", errno);
  }
  if (is_removed(file->get())) return failed(Errc::no_such_segment, name);
  return lock;
}

}  // namespace

SetupResult<void> Segment::check_unused(const std::string& name) {
  const auto file = open_debris(name);
  if (!file) return Unexpected<SetupError>(file.error());
  // Only checks and locks nothing, so it does not disturb a process that is creating the segment.
  if (detail::lock_on(file->get(), detail::presence_byte)) return failed(Errc::segment_in_use, name);
  if (is_removed(file->get())) return failed(Errc::no_such_segment, name);
  return {};
}

SetupResult<void> Segment::remove_unused(const std::string& name) {
  const auto held = hold_unused(name);
  if (!held) return Unexpected<SetupError>(held.error());
  return remove(name);
}

std::vector<std::string> Segment::names() {
  std::vector<std::string> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/dev/shm"), ::closedir);
  if (!folder) return found;
  while (const dirent* const entry = ::readdir(folder.get())) {
    const std::string_view file = entry->d_name;
    if (file.substr(0, file_prefix.size()) != file_prefix) continue;
    const std::string_view name = file.substr(file_prefix.size());
    if (is_segment_name(name)) found.emplace_back(name);  // other programs may create files of any name there
  }
  std::sort(found.begin(), found.end());
  return found;
}

SetupResult<OwnerSlot> Segment::take_owner_slot(std::string_view exchange, shm::Role role,
                                                std::uint32_t owner_slot) {
  const auto found = layout_->find(exchange);
  if (!found) return Unexpected<SetupError>(refusal(found.error(), exchange));
  const auto number = shm::Layout::owner_slot_number(**found, role, owner_slot);
  if (!number) return Unexpected<SetupError>(refusal(number.error(), exchange));
  if (!layout_->is_writable()) return Unexpected<SetupError>(refusal(shm::Errc::read_only, exchange));
  auto lock = LockFile::reopen(descriptor(), true);
  if (!lock) return failed(Errc::segment_failed, name_, "/proc/self/fd", errno);
  if (lock->is_shared()) mapping_->keep_from_children();
  if (!lock->take(detail::owner_slot_byte(*number), Lock::exclusive)) {
    if (errno != EAGAIN && errno != EACCES) return failed(Errc::segment_failed, name_, "F_OFD_SETLK", errno);
    const bool watched = detail::lock_on(descriptor(), detail::owner_slot_byte(*number)) == Lock::shared;
    const std::string by =
        watched ? "locked by a watcher, which may only read"
                : fmt::format("taken by process {}", detail::read_owner(layout_->owner_slot(*number)).pid);
    return failed(
        Errc::slot_taken, name_,
        fmt::format("{} slot {} of exchange {} is {}", role == shm::Role::producer ? "producer" : "consumer",
                    owner_slot, exchange, by));
  }
  return OwnerSlot(mapping_, std::move(lock), *layout_, *number);
}

Result<OwnerSlotStatus> Segment::owner_slot_status(std::string_view exchange, shm::Role role,
                                                   std::uint32_t owner_slot, Time now) const {
  const auto found = layout_->find(exchange);
  if (!found) return fail(found.error());
  const auto number = shm::Layout::owner_slot_number(**found, role, owner_slot);
  if (!number) return fail(number.error());
  return owner_slot_status(*number, now);
}

OwnerSlotStatus Segment::owner_slot_status(std::uint32_t number, Time now) const {
  const shm::OwnerSlotRecord& record = layout_->owner_slot(number);
  OwnerSlotStatus status;
  status.alive = detail::lock_on(descriptor(), detail::owner_slot_byte(number)) == Lock::exclusive;
  status.owner = detail::read_owner(record);
  // relaxed: for people; no other data depends on it.
  status.takeovers = record.takeovers.load(std::memory_order_relaxed);
  const std::uint32_t heartbeat = record.heartbeat.load(std::memory_order_relaxed);
  if (heartbeat != 0) {
    // The heartbeat may be later than `now`.
    const auto age = static_cast<std::int32_t>(detail::milliseconds(now) - heartbeat);
    status.since_heartbeat = std::chrono::milliseconds(std::max(age, 0));
  }
  return status;
}

int Segment::descriptor() const noexcept { return mapping_->descriptor(); }

bool Segment::needs_owner_slot(std::string_view exchange, shm::Role role) const noexcept {
  const auto found = layout_->find(exchange);
  if (!found) return true;
  return role == shm::Role::producer || (*found)->extent.consumers != 0;
}

OwnerSlot Segment::no_owner_slot() const { return {mapping_, nullptr, *layout_, 0}; }

SetupError Segment::refusal(Error error, std::string_view exchange) const {
  std::string found;
  for (const shm::Exchange& one : layout_->exchanges()) {
    if (one.name() != exchange) continue;
    std::array<char, shm::max_schema> text{};
    found = fmt::format(" (it is a {} of capacity {}, \"{}\", with {} producer and {} consumer slots)",
                        shm::kind_name(one.kind), one.extent.capacity,
                        layout_->schema(one, text).value_or("unknown"), one.extent.producers,
                        one.extent.consumers);
  }
  return {error, fmt::format("segment {}, exchange {}: {}{}", name_, exchange, words_for(error), found)};
}

}  // namespace takt::platform
