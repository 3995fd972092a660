// Locks on single bytes of a file that belong to one open file (F_OFD_SETLK). The kernel releases them when
// the file is closed, also by the death of the process. A child of fork() would share the open file and its
// locks, so the file is closed in every child.
//
// The kernel distinguishes open files, not the users of one open file. If a process cannot reopen the file,
// all its locks are on one open file. Therefore this process records the bytes that it has locked, and
// refuses a second lock.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/unshared_descriptor.hpp"

namespace takt::platform::detail {

enum class Lock : std::uint8_t { shared, exclusive };

// The meaning of the bytes that are locked. Their contents do not matter.

/// Shared lock of every process that has a named segment open.
inline constexpr std::int64_t presence_byte = 0;
/// Exclusive lock of the process that has owner slot `owner_slot` of the segment.
[[nodiscard]] constexpr std::int64_t owner_slot_byte(std::uint32_t owner_slot) noexcept {
  return std::int64_t{1} + owner_slot;
}

/// Identifies a file, even if it is open several times.
struct FileId {
  dev_t device = 0;
  ino_t number = 0;
};

class LockFile {
 public:
  /// Reopens the file of `descriptor`. If that is not permitted (another user's memory), shares the open
  /// file, which was opened for this process alone. Returns null, with errno, if both fail.
  [[nodiscard]] static std::unique_ptr<LockFile> reopen(int descriptor, bool writable);

  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  ~LockFile();

  /// Takes the lock or changes its kind, without waiting. Returns false with errno; EAGAIN if another
  /// LockFile has it.
  [[nodiscard]] bool take(std::int64_t byte, Lock kind);
  void give_back(std::int64_t byte) noexcept;

  /// False in a child after fork().
  [[nodiscard]] bool is_open() const noexcept { return file_.is_open(); }
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  /// Whether it shares the open file of `descriptor`.
  [[nodiscard]] bool is_shared() const noexcept { return shared_; }

 private:
  LockFile(Descriptor file, FileId id, bool shared) : file_(std::move(file)), id_(id), shared_(shared) {}

  UnsharedDescriptor file_;
  FileId id_;
  bool shared_;
};

/// The lock that another process or another LockFile has on the byte. Needs no write permission.
[[nodiscard]] std::optional<Lock> lock_on(int descriptor, std::int64_t byte) noexcept;

}  // namespace takt::platform::detail
